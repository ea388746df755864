/** What a module says of outputs that somebody holds (ADR 0078): the probe withholds them with it, and the holder knows himself by it. */
export function heldBy(holder: string): string {
  return `${HELD}${holder}`;
}

/** Whether what a module says of its outputs is that somebody holds them. */
export function isHeld(reason: string): boolean {
  return reason.startsWith(HELD);
}

const HELD = 'the outputs are held by ';
