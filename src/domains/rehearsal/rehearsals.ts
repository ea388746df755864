/** Runs rehearsals in threads of their own, one at a time (ADR 0006). The gateway thread waits for nothing and computes nothing. */
import * as v from 'valibot';
import type { ToldBy } from '../../platform/http/replies.js';
import type { Clock } from '../../platform/base/clock.js';
import type { MonoMs } from '../../platform/base/times.js';
import type { Log } from '../../platform/base/log.js';
import { conflict, Refusal } from '../../platform/base/refusal.js';
import { RehearsalFindings } from './findings.js';
import type { RehearsalOrder } from './order.js';
import { ThreadPair } from './thread-pair.js';

/** Both sides keep the limit of the order themselves; after this long a side that does not is ended. */
const GRACE_MS = 15_000;
/** An engineer who tries a recipe tries it again; threads that nobody has asked for so long give their memory back. */
export const KEPT_MS = 300_000;

export const RehearsalResult = v.strictObject({
  ...RehearsalFindings.entries,
  wallMs: v.number(),
  /** Plant time per wall time, the start of the threads included where they had to be started. */
  speed: v.number(),
});
export type RehearsalResult = ToldBy<typeof RehearsalResult>;

/** One rehearsal, from its begin to what is known of it afterwards. */
export interface RehearsalRun {
  /** What it is of: `<site>/<recipe>`. */
  readonly of: string;
  readonly version: string;
  readonly limitSeconds: number;
  readonly beganMonoMs: MonoMs;
  /** How far it has come. */
  plantSeconds: number;
  result?: RehearsalResult;
  refusal?: Refusal;
  readonly ended: Promise<RehearsalResult>;
}

/** Runs that are kept to be read, each up to some MB of lists. */
const KEPT_MAX = 4;

export class Rehearsals {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #heapMb: number;
  #end: ((reason: string) => void) | undefined;
  /** The threads of what has run last, while they wait for the next one. */
  #kept: { readonly pair: ThreadPair; readonly cancel: () => void } | undefined;
  #ending = Promise.resolve();
  /** The last ones, oldest first. */
  #runs: RehearsalRun[] = [];

  /** `heapMb`: limit of each of the two threads. */
  constructor(parts: { readonly clock: Clock; readonly log: Log; readonly heapMb: number }) {
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#heapMb = parts.heapMb;
  }

  /** @throws Refusal 409 while another one runs, 503 when a thread fails. */
  async run(order: () => RehearsalOrder): Promise<RehearsalResult> {
    return this.begin('', '', order).ended;
  }

  /** @throws Refusal 409 while another one runs; what fails later is the refusal of the run. */
  begin(of: string, version: string, order: () => RehearsalOrder): RehearsalRun {
    if (this.#end) throw conflict('rehearsal_active', 'another rehearsal runs; one at a time');
    const given = order();
    const beganMonoMs = this.#clock.monoMs();
    const progress = (plantSeconds: number): void => {
      run.plantSeconds = plantSeconds;
    };
    const ended = this.#findings(given, progress).then((findings) => {
      const wallMs = Math.round(this.#clock.monoMs() - beganMonoMs);
      return { ...findings, wallMs, speed: Math.round((10_000 * findings.plantSeconds) / Math.max(1, wallMs)) / 10 };
    });
    const run: RehearsalRun = { of, version, limitSeconds: given.plantMsMax / 1000, beganMonoMs, plantSeconds: 0, ended };
    ended.then(
      (result) => {
        run.result = result;
      },
      (fault: unknown) => {
        run.refusal = fault instanceof Refusal ? fault : new Refusal('unavailable', 'the rehearsal failed', { code: 'rehearsal_failed' });
      },
    );
    this.#runs = [...this.#runs.filter((other) => other.of !== of), run].slice(-KEPT_MAX);
    return run;
  }

  /** Its result once it has ended, but not for longer than that; what has failed is refused. */
  async within(run: RehearsalRun, waitMs: number): Promise<RehearsalResult | undefined> {
    const late = new Promise<undefined>((resolve) => {
      const cancel = this.#clock.after(waitMs, () => resolve(undefined));
      run.ended.then(cancel, cancel);
    });
    return Promise.race([run.ended, late]);
  }

  /** The last one of a recipe, while it is kept. */
  last(of: string): RehearsalRun | undefined {
    return this.#runs.find((run) => run.of === of);
  }

  wallMsOf(run: RehearsalRun): number {
    return run.result?.wallMs ?? Math.round(this.#clock.monoMs() - run.beganMonoMs);
  }

  /** Ends the one that runs; its caller is refused. */
  async stop(): Promise<void> {
    this.#end?.('the appliance stops');
    const pair = this.#keptPair();
    if (pair) this.#endThreads(pair);
    await this.#ending;
  }

  #findings(order: RehearsalOrder, progress: (plantSeconds: number) => void): Promise<RehearsalFindings> {
    const kept = this.#keptPair();
    if (kept && !kept.isWhole) this.#endThreads(kept); // one of them ended while they waited
    const pair = kept?.isWhole ? kept : new ThreadPair(this.#heapMb);
    return new Promise((resolve, reject) => {
      const fail = (reason: string): void => {
        cancel();
        this.#end = undefined;
        this.#endThreads(pair);
        reject(new Refusal('unavailable', `the rehearsal failed: ${reason}`, { code: 'rehearsal_failed' }));
      };
      const cancel = this.#clock.after(order.wallMsMax + GRACE_MS, () => fail('it did not end in time'));
      this.#end = fail;
      pair.rehearse(order, {
        progress,
        findings: (findings) => {
          cancel();
          this.#end = undefined;
          this.#keep(pair);
          resolve(findings);
        },
        failed: (reason, fault) => {
          if (fault) this.#log.error({ fault: fault.stack ?? fault.message, recipe: order.batch.masterRecipeRef }, 'a rehearsal failed');
          fail(reason);
        },
      });
    });
  }

  #keep(pair: ThreadPair): void {
    const cancel = this.#clock.after(KEPT_MS, () => {
      this.#kept = undefined;
      this.#endThreads(pair);
    });
    this.#kept = { pair, cancel };
  }

  /** It is waited for no longer. */
  #keptPair(): ThreadPair | undefined {
    const kept = this.#kept;
    this.#kept = undefined;
    kept?.cancel();
    return kept?.pair;
  }

  #endThreads(pair: ThreadPair): void {
    this.#ending = Promise.all([this.#ending, pair.end()]).then(() => undefined);
  }
}
