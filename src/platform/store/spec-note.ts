/** A sentence about a spec that is taken all the same, with the member it is about. */
export interface SpecNote {
  /** For example `steps[open].actionST`; an entry of a list by its name or its place. '' for the spec as a whole. */
  readonly path: string;
  readonly text: string;
}

/** As warnings are told: the member first, so that an editor finds it. */
export function saidNote({ path, text }: SpecNote): string {
  return path === '' ? text : `spec.${path}: ${text}`;
}
