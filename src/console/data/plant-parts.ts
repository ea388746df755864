/** What of a site is read: the panel shows all of it always, the records and data console some of it in some of its views, and reads it from the first look on. */

export type Part = 'plant' | 'batches' | 'prompts' | 'alarms';

const looked = new Set<Part>();
let isPanel = true;
let follow: (part: Part) => void = () => undefined;

/** @param onPanel everything is read and kept up. @param first called with each part that is looked at for the first time. */
export function startParts(onPanel: boolean, first: (part: Part) => void): void {
  isPanel = onPanel;
  follow = first;
}

export function readsAll(): boolean {
  return isPanel;
}

export function reads(part: Part): boolean {
  return isPanel || looked.has(part);
}

/** Of a signal: the first who looks at it has it read. */
export function ofPart(part: Part): { watched(): void } {
  return {
    watched: () => {
      if (reads(part)) return;
      looked.add(part);
      follow(part);
    },
  };
}
