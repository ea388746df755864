/**
 * What a simulated plant holds over a restart of the appliance. A real vessel keeps its contents when the control computer
 * loses power; a simulated one would be empty and cold again, and no interrupted batch could go on. So the values of the
 * behaviours that build on themselves are read back from the probe once a plant second and become their start values: what
 * a kill takes from the vessels is then the same at any time scale.
 */
import { isSimulated } from '../../../runtime/catalog.js';
import { guardedPromise } from '../../platform/base/guarded.js';
import * as v from 'valibot';
import { isDeepStrictEqual } from 'node:util';
import type { Behavior } from '../../../runtime/port.js';
import type { Clock } from '../../platform/base/clock.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Put, Store } from '../../platform/store/store.js';
import type { LocalProbes } from '../placement/local-probes.js';
import { IOModule, SimulationPreset } from './kind.js';

/** Plant time. */
const SAVE_INTERVAL_MS = 1000;
/** Wall time, because each is a commit. */
const SAVE_INTERVAL_MIN_MS = 100;
/** Behaviour types whose next value depends on the last one (decisions 6.2). */
const CUMULATIVE = ['TankLevel', 'RandomWalk', 'PIDResponse'];

export interface ContentsSpec {
  readonly values: Readonly<Record<string, number>>;
}

/** One per simulated module, of the same name; written by the gateway, never served. */
export const SimulationContents: Kind<ContentsSpec, Readonly<Record<string, never>>> = {
  kind: 'SimulationContents',
  group: 'system',
  scope: 'site',
  besideSite: true,
  action: 'iomodule',
  spec: v.looseObject({ values: v.record(v.string(), v.number()) }),
  body: 'document',
  apply: { how: 'no', reason: 'the contents of a simulated plant are written by its probe' },
  initialStatus: () => ({}),
};

export class ContentsKeeper {
  readonly #store: Store;
  readonly #probes: LocalProbes;
  readonly #clock: Clock;
  readonly #timeScale: () => number;
  /** As found at start; later values live in the probes themselves. */
  readonly #found: ReadonlyMap<string, ContentsSpec['values']>;
  #cancel: () => void = () => undefined;
  #stopped = false;

  constructor(parts: { readonly store: Store; readonly probes: LocalProbes; readonly clock: Clock; readonly timeScale: () => number }) {
    this.#store = parts.store;
    this.#probes = parts.probes;
    this.#clock = parts.clock;
    this.#timeScale = parts.timeScale;
    this.#found = new Map(this.#store.list(SimulationContents).map(({ metadata, spec }) => [`${metadata.site}/${metadata.name}`, spec.values]));
  }

  /** The behaviours with their start values replaced by what the plant held. */
  restore(site: string, module: string, behaviors: readonly Behavior[]): readonly Behavior[] {
    const values = this.#found.get(`${site}/${module}`);
    if (!values) return behaviors;
    return behaviors.map((behavior) => {
      const held = isCumulative(behavior) && Object.hasOwn(values, behavior.address) ? values[behavior.address] : undefined;
      return held === undefined ? behavior : { ...behavior, params: { ...behavior.params, initial: held } };
    });
  }

  start(): void {
    this.#cancel = this.#clock.after(Math.max(SAVE_INTERVAL_MS / this.#timeScale(), SAVE_INTERVAL_MIN_MS), () => {
      guardedPromise('contents of the simulation', () =>
        this.save().finally(() => {
          if (!this.#stopped) this.start();
        }),
      );
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.save();
  }

  async save(): Promise<void> {
    const puts: Put[] = [];
    for (const module of this.#store.list(IOModule)) {
      if (!isSimulated(module.spec.protocol)) continue;
      const { site, name } = module.metadata;
      const preset = module.spec.simulation?.preset ?? '';
      const behaviors = [...(this.#store.get(SimulationPreset, site, preset)?.spec.behaviors ?? []), ...(module.spec.simulation?.behaviors ?? [])];
      const addresses = behaviors.filter(isCumulative).map((behavior) => behavior.address);
      if (addresses.length === 0) continue;
      const samples = await this.#probes.read(site, name, addresses);
      if (!samples) continue;
      const values = Object.fromEntries(samples.flatMap(({ address, value, quality }) => (typeof value === 'number' && quality === 'Good' ? [[address, value]] : [])));
      if (Object.keys(values).length > 0 && !isDeepStrictEqual(values, this.#store.get(SimulationContents, site, name)?.spec.values)) {
        puts.push({ kind: SimulationContents, site, name, spec: { values } } as Put);
      }
    }
    if (puts.length > 0 && this.#store.accepting) this.#store.apply({ puts });
  }
}

/** An expression builds on itself when it names `self`. */
function isCumulative({ type, params }: Pick<Behavior, 'type' | 'params'>): boolean {
  return CUMULATIVE.includes(type) || (type === 'Expr' && /\bself\b/.test(String(params.expr ?? '')));
}
