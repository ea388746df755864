/**
 * Health of control modules and the `cmhealth` channel (contract 2, Control-module health; decisions Q-PROG-02): what the
 * unit runtime last reported of the module's network, and whether that runtime is there at all. One frame per change.
 */
import type { NetworkReport } from '../../../runtime/port.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { Store } from '../../platform/store/store.js';
import type { Hub } from '../../platform/stream/hub.js';
import { ControlModule } from './kind.js';
import { Unit } from '../plant/kind.js';
import { NO_CELL } from '../plant/rules.js';
import type { UnitLink, UnitRuntimes } from '../placement/runtimes.js';
import { unitOf } from '../plant/unit-of.js';

export type HealthWord = 'Running' | 'Down' | 'CompileError' | 'Unknown';

export interface ModuleHealth {
  readonly state: HealthWord;
  readonly message: string;
}

const WORDS: Readonly<Record<NetworkReport['state'], HealthWord>> = { Running: 'Running', Degraded: 'Running', Error: 'CompileError' };

export interface HealthDeps {
  readonly hub: Pick<Hub, 'publish'>;
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly clock: Clock;
}

export class ModuleHealths {
  readonly #deps: HealthDeps;
  /** Unit, then network: the last report of the plan that is loaded. */
  readonly #reports = new Map<string, Map<string, NetworkReport>>();
  /** What was last published, by `site/module`. */
  readonly #published = new Map<string, ModuleHealth>();

  constructor(deps: HealthDeps) {
    this.#deps = deps;
    const { store, runtimes } = deps;
    runtimes.onMessage((link, message) => {
      if (message.type === 'plan-loaded') {
        this.#reports.set(unitKey(link.site, link.unit), new Map(message.networks.map((report) => [report.network, report])));
      } else if (message.type === 'network') {
        this.#reports.get(unitKey(link.site, link.unit))?.set(message.network, message);
        this.#judge(link.site, message.network);
      }
    });
    runtimes.onChange((link) => this.#judgeUnit(link));
    store.watch(ControlModule, ({ type, resource }) => {
      const { site, name } = resource.metadata;
      if (type === 'remove') this.#forget(site, name);
      else this.#judge(site, name);
    });
    store.watch(Unit, ({ configuration, resource }) => {
      if (configuration) this.#judgeUnit({ site: resource.metadata.site, unit: resource.metadata.name });
    });
    store.watchReload(() => this.#judgeAll());
    this.#judgeAll();
  }

  of(site: string, module: string): ModuleHealth {
    const { store, runtimes } = this.#deps;
    const resource = store.get(ControlModule, site, module);
    const unit = resource ? unitOf(store, site, resource.spec) : '';
    if (unit !== '' && store.get(Unit, site, unit)?.spec.processCellName === '') return { state: 'Down', message: NO_CELL };
    const link = unit === '' ? undefined : runtimes.link(site, unit);
    if (!link || (!link.ready && link.planRevision === 0)) return { state: 'Unknown', message: '' };
    if (!link.ready) return { state: 'Down', message: link.message };
    const report = this.#reports.get(unitKey(site, unit))?.get(module);
    // a module without blocks has no network that could fail: it runs while its unit runtime does
    return report ? { state: WORDS[report.state], message: report.message } : { state: 'Running', message: '' };
  }

  #judgeAll(): void {
    for (const { metadata } of this.#deps.store.list(ControlModule)) this.#judge(metadata.site, metadata.name);
  }

  #judgeUnit({ site, unit }: Pick<UnitLink, 'site' | 'unit'>): void {
    const { store } = this.#deps;
    for (const module of store.list(ControlModule, site)) {
      if (unitOf(store, site, module.spec) === unit) this.#judge(site, module.metadata.name);
    }
  }

  #judge(site: string, module: string): void {
    const { hub, store, clock } = this.#deps;
    const resource = store.get(ControlModule, site, module);
    if (!resource) return;
    const key = unitKey(site, module);
    const health = this.of(site, module);
    const before = this.#published.get(key);
    if (before?.state === health.state && before.message === health.message) return;
    this.#published.set(key, health);
    hub.publish({
      channel: 'cmhealth',
      key: module,
      site,
      unit: unitOf(store, site, resource.spec),
      unrecorded: true,
      frame: {
        type: 'cmhealth',
        site,
        kind: 'ControlModule',
        name: module,
        state: health.state,
        ...(health.message === '' ? {} : { message: health.message }),
        ts: timestamp(clock.wallMs()),
      },
    });
  }

  #forget(site: string, module: string): void {
    if (!this.#published.delete(unitKey(site, module))) return;
    this.#deps.hub.publish({ channel: 'cmhealth', key: module, site, unit: '', frame: {}, forget: true, unrecorded: true });
  }
}

function unitKey(site: string, name: string): string {
  return `${site}/${name}`;
}
