/**
 * Restart of the component `io` (decisions Q-CHANGE-13): every I/O probe, one after the other, so that only the modules of one are away at a time.
 * The next one is not touched before the last is back, or has not come back in its time.
 */
import { guardedPromise } from '../../platform/base/guarded.js';
import type { Log } from '../../platform/base/log.js';
import { conflict, Refusal } from '../../platform/base/refusal.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import { component } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import { type Armed, armedOf, refuseUnacknowledged } from '../io-modules/fail-safe-ceremony.js';
import { unitsAtWork } from '../logic/active-work.js';
import { Unit } from '../plant/kind.js';
import type { LocalProbes } from '../placement/local-probes.js';

export interface RestartAsked {
  readonly caller: Caller;
  readonly acknowledgeFailSafe: boolean;
}

/** What a restart would take away for a while. */
export interface IOInUse {
  readonly probes: readonly string[];
  readonly servedModules: readonly string[];
  readonly failSafeArmed: readonly Armed[];
}

export class IORestart {
  readonly #store: Store;
  readonly #probes: LocalProbes;
  readonly #log: Log;
  #isRunning = false;

  constructor({ store, probes, log }: { readonly store: Store; readonly probes: LocalProbes; readonly log: Log }) {
    this.#store = store;
    this.#probes = probes;
    this.#log = log;
  }

  /** @throws Refusal 403 `site_scope`, 409 `already_running`, `active_batch`, `fail_safe_not_acknowledged`. */
  judge({ caller, acknowledgeFailSafe }: RestartAsked): IOInUse {
    const served = this.#probes.served();
    const modules = served.flatMap(({ modules }) => modules);
    const sites = [...new Set(modules.map(({ site }) => site))].sort();
    if (!sites.every((site) => mayVisit(caller, site)))
      throw new Refusal('forbidden', 'the component io serves sites outside of yours; restart the probes of your modules by themselves', { code: 'site_scope' });
    if (this.#isRunning) throw conflict('already_running', 'the probes are being restarted already, one after the other');
    for (const site of new Set(this.#store.list(Unit).map(({ metadata }) => metadata.site))) {
      const units = this.#store.list(Unit, site).map(({ metadata }) => metadata.name);
      for (const { refusal } of unitsAtWork(site, units, this.#store, 'end that work before the component io is restarted')) throw refusal;
    }
    const failSafeArmed = sites.flatMap((site) => armedOf(this.#store, site, modules.flatMap((each) => (each.site === site ? [each.module] : [])).sort()));
    refuseUnacknowledged(failSafeArmed, acknowledgeFailSafe);
    return { probes: served.map(({ probe }) => probe), servedModules: modules.map(({ site, module }) => `${site}/${module}`).sort(), failSafeArmed };
  }

  /** In the turn of the judgement. What came of it is on record under the same correlation id. */
  begin(correlationID: string): void {
    this.#isRunning = true;
    guardedPromise('restart of the component io', () =>
      this.#run(correlationID).finally(() => {
        this.#isRunning = false;
      }),
    );
  }

  async #run(correlationID: string): Promise<void> {
    const notBack: string[] = [];
    const served = this.#probes.served();
    for (const { probe, modules } of served) {
      const [first] = modules;
      if (first && !(await this.#probes.restart(first.site, first.module))) notBack.push(probe);
    }
    if (notBack.length > 0) this.#log.error({ probes: notBack }, 'I/O probes have not come back after their restart');
    await this.#store.write({
      audits: [
        {
          site: '',
          actor: component('io'),
          action: 'Request',
          category: 'system',
          target: { kind: 'Component', name: 'io', site: '' },
          result: notBack.length === 0 ? 'Success' : 'Failed',
          ...(notBack.length === 0 ? {} : { reason: 'ProbeNotBack' }),
          details: { restarted: served.map(({ probe }) => probe).filter((probe) => !notBack.includes(probe)), notBack },
          correlationID,
        },
      ],
    });
  }
}
