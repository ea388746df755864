/** What a module says of outputs that somebody holds (ADR 0078): the probe withholds them with it, and the holder knows himself by it. */
export function heldBy(holder: string): string {
  return `the outputs are held by ${holder}`;
}
