/**
 * Keeps every unit's runtime running with the plan its configuration calls for (decisions PROG, 3.8). Woken by changes of
 * what a plan is made of; an unchanged plan is not sent again.
 */
import { isDeepStrictEqual } from 'node:util';
import type { NetworkReport, RetainedNetwork, RuntimeSettings, UnitOutbound } from '../../../runtime/port.js';
import { systemClock, timestamp } from '../../platform/base/clock.js';
import type { Key, Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Put, Store } from '../../platform/store/store.js';
import * as v from 'valibot';
import { ControlProgram } from '../logic/kind.js';
import { Unit } from '../plant/kind.js';
import type { LocalRuntimes } from '../placement/local-runtimes.js';
import { type ImageSource, type PlanContent, planContent, withTable } from './plan.js';
import type { UnitLink } from './runtimes.js';

/** What a worker asked to be kept over restarts (decisions 3.8); written by the gateway, never served. */
export interface RetainedSpec {
  readonly networks: Readonly<Record<string, RetainedNetwork>>;
}

export const RetainedValues: Kind<RetainedSpec, Readonly<Record<string, never>>> = {
  kind: 'RetainedValues',
  group: 'system',
  scope: 'site',
  action: 'unit',
  spec: v.looseObject({}) as unknown as v.GenericSchema<unknown, RetainedSpec>,
  body: 'document',
  apply: { how: 'no', reason: 'retained values are written by the unit runtime' },
  initialStatus: () => ({}),
};

export interface UnitReconcilerParts {
  readonly store: Store;
  readonly runtimes: LocalRuntimes;
  readonly image: (site: string) => ImageSource;
  readonly settings: RuntimeSettings;
  readonly timeScale: () => number;
}

export class UnitReconciler implements Reconciler {
  readonly name = 'unit';
  readonly #parts: UnitReconcilerParts;
  readonly #sent = new Map<string, PlanContent>();
  /** Last report per network and unsaved retained values per unit, for the time when the disk accepts changes again. */
  readonly #reports = new Map<string, { readonly link: UnitLink; readonly report: NetworkReport }>();
  readonly #unsaved = new Map<string, { readonly link: UnitLink; readonly networks: RetainedSpec['networks'] }>();
  #revision = 0;

  constructor(parts: UnitReconcilerParts) {
    this.#parts = parts;
  }

  keys(): Iterable<Key> {
    return this.#parts.store.list(Unit).map((unit) => ({ site: unit.metadata.site, name: unit.metadata.name }));
  }

  async reconcile({ site, name }: Key): Promise<Outcome> {
    const { store, runtimes } = this.#parts;
    const key = `${site}/${name}`;
    const retained = store.get(RetainedValues, site, name)?.spec.networks ?? {};
    const content = planContent(site, name, { read: store, image: this.#parts.image(site), settings: this.#parts.settings, timeScale: this.#parts.timeScale(), retained });
    if (!content) {
      this.#sent.delete(key);
      await runtimes.remove(site, name);
      return 'settled';
    }
    const before = this.#sent.get(key);
    if (before && isDeepStrictEqual(before, content)) return 'settled';
    this.#sent.set(key, content);
    this.#revision += 1;
    runtimes.run(withTable(content, this.#revision, retained));
    return 'settled';
  }

  /** Readiness of the worker as the unit's status shows it. */
  linkChanged(link: UnitLink): void {
    const { store } = this.#parts;
    const unit = store.get(Unit, link.site, link.unit);
    if (!unit || !store.accepting) return;
    const runtime = { ready: link.ready, message: link.message, podName: `${link.unit}-runtime`, node: '', epoch: link.epoch };
    const state = unit.status.state === '' && link.ready ? 'Idle' : unit.status.state;
    if (isDeepStrictEqual(runtime, unit.status.runtime) && state === unit.status.state) return;
    store.apply({ puts: [{ kind: Unit, site: link.site, name: link.unit, status: { ...unit.status, runtime, state } } as Put] });
  }

  take(link: UnitLink, message: UnitOutbound): void {
    if (message.type === 'retained') this.#retain(link, message.networks);
    if (message.type === 'network') this.#reported(link, message);
    if (message.type === 'plan-loaded') for (const report of message.networks) this.#reported(link, report);
  }

  /** What could not be written while the disk was full. */
  catchUp(): void {
    const { store, runtimes } = this.#parts;
    if (!store.accepting) return;
    for (const link of runtimes.links()) this.linkChanged(link);
    for (const { link, report } of this.#reports.values()) this.#programState(link, report);
    for (const { link, networks } of [...this.#unsaved.values()]) this.#retain(link, networks);
  }

  #reported(link: UnitLink, report: NetworkReport): void {
    this.#reports.set(`${link.site}/${report.network}`, { link, report });
    if (this.#parts.store.accepting) this.#programState(link, report);
  }

  #retain(link: UnitLink, networks: RetainedSpec['networks']): void {
    const { store } = this.#parts;
    const key = `${link.site}/${link.unit}`;
    if (!store.accepting) {
      this.#unsaved.set(key, { link, networks: { ...this.#unsaved.get(key)?.networks, ...networks } });
      return;
    }
    this.#unsaved.delete(key);
    const known = store.get(RetainedValues, link.site, link.unit)?.spec.networks ?? {};
    store.apply({ puts: [{ kind: RetainedValues, site: link.site, name: link.unit, spec: { networks: { ...known, ...networks } } } as Put] });
  }

  #programState(link: UnitLink, report: NetworkReport): void {
    const { store } = this.#parts;
    const program = store.get(ControlProgram, link.site, report.network);
    if (!program || program.spec.unitRef !== link.unit) return;
    const { state, message, faultedBlocks } = report;
    if (program.status.state === state && program.status.message === message && isDeepStrictEqual(program.status.faultedBlocks, faultedBlocks)) return;
    const loadedAt = program.status.loadedAt || timestamp(systemClock.wallMs());
    store.apply({ puts: [{ kind: ControlProgram, site: link.site, name: report.network, status: { ...program.status, state, message, faultedBlocks, loadedAt } } as Put] });
  }
}
