/**
 * Trust that ends while a connection stands: an authority that a person takes away, or whose validity ends, counts for the connections that there are as it does
 * for new ones (ADR 0095). What the module says of trust is not looked at here: with another security block it connects anew.
 */
import type { Clock } from '../../vocabulary/clock.js';

/** Between two looks, and of one at most: a connection that is no longer trusted ends within twice that, and what the looks take. */
export const TRUST_LOOK_MS = 4500;
/** A file that is being replaced is not there for a moment. */
const DOUBTS_MAX = 2;

/** Why the server is not trusted now, as a sentence for the operator; '' while it is. */
export type Judge = () => Promise<string>;

/** `end` is called once, with what the second look in a row has found. @returns ends the watch. */
export function watchTrust(judge: Judge, end: (reason: string) => void, clock: Clock): () => void {
  let doubts = 0;
  let isStopped = false;
  let cancel = (): void => {};
  const judged = (reason: string): void => {
    doubts = reason === '' ? 0 : doubts + 1;
    if (doubts < DOUBTS_MAX) lookLater();
    else end(reason);
  };
  const look = (): void => {
    let isOver = false;
    const once = (reason: string): void => {
      if (isOver || isStopped) return;
      isOver = true;
      cancel();
      judged(reason);
    };
    cancel = clock.after(TRUST_LOOK_MS, () => once(`whether the server is trusted could not be looked up within ${TRUST_LOOK_MS / 1000} s`)); // a share that hangs
    judge().then(once, (fault: unknown) => once(fault instanceof Error ? fault.message : String(fault)));
  };
  const lookLater = (): void => {
    cancel = clock.after(TRUST_LOOK_MS, look);
  };
  lookLater();
  return () => {
    isStopped = true;
    cancel();
  };
}
