/**
 * The two versions of one action. The first holds every INT as a number and calls a helper, exact in 64 bits, for each
 * operation beyond 2^53; a run that needs it often makes the action wide, and from then on the second version
 * (emit-wide.ts) executes it.
 *
 * The change comes between two runs only: the run that left 2^53 is exact and goes to its end or to its next suspension
 * where it is. Nothing is executed again, so no write, message or request can be doubled. Between runs an action is
 * (label, temporaries, slots); both versions have the same labels and temporaries and keep INT outside as number within
 * 2^53 and bigint beyond, so a suspended action (WAIT, PROMPT) goes on in whichever version is due, also after a restart
 * or in a replay, for which reason neither the record nor a snapshot says which one it was.
 *
 * Conditions have one version: they contain no loop, so that taking their slots apart would cost what the helper costs.
 */
import { wideOperationCount } from './value.js';
import type { ActionFunction } from './functions.js';

/** Operations beyond 2^53 in one run from which on the wide version pays. */
const WIDE_AFTER = 16;

/** Longer ones stay narrow: the wide version is made within a scan (about 3 ms for this length), and an engine hardly optimises what is longer. */
const SOURCE_MAX = 20_000;

export class ActionVersions {
  readonly #makeWide: () => ActionFunction;
  readonly #mayWiden: boolean;
  #narrow: ActionFunction | null = null;
  #wide: ActionFunction | null = null;

  constructor(sourceLength: number, makeWide: () => ActionFunction) {
    this.#makeWide = makeWide;
    this.#mayWiden = sourceLength <= SOURCE_MAX;
  }

  link(narrow: ActionFunction): void {
    this.#narrow = narrow;
  }

  get narrow(): ActionFunction {
    if (!this.#narrow) throw new Error('an action is used before its phase is linked');
    return this.#narrow;
  }

  /** Compiled when it is asked for: most actions never need it. */
  get wide(): ActionFunction {
    this.#wide ??= this.#makeWide();
    return this.#wide;
  }

  get isWide(): boolean {
    return this.#wide !== null;
  }

  readonly run: ActionFunction = (frame, variables, temporaries, label, budget) => {
    if (this.#wide) return this.#wide(frame, variables, temporaries, label, budget);
    const before = wideOperationCount();
    const next = this.narrow(frame, variables, temporaries, label, budget);
    if (this.#mayWiden && wideOperationCount() - before >= WIDE_AFTER) this.#wide = this.#makeWide();
    return next;
  };
}
