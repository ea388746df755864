/**
 * Speed of plant time (decisions 6.7, D-C-07): above or below 1 only in development mode and while every device is
 * simulated. It falls to 1 in the moment a real one appears, and stays there until somebody sets it again.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '../../platform/base/log.js';
import { component } from '../../platform/store/audit-record.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { guarded } from '../../platform/base/guarded.js';
import type { Store } from '../../platform/store/store.js';
import { IOModule, type IOModuleSpec } from '../io-modules/kind.js';
import { isEnabled } from '../io-modules/outputs.js';

export interface TimeScaleParts {
  readonly store: Store;
  readonly log: Log;
  readonly production: boolean;
  /** Of the settings. */
  readonly initial: number;
}

/** The first device that is not simulated; one that is disabled is not there. */
export function realDevice(read: StoreReader): Resource<IOModuleSpec, unknown> | undefined {
  return read.list(IOModule).find(({ spec }) => spec.protocol !== 'simulation' && isEnabled(spec));
}

export class PlantTimeScale {
  readonly #parts: TimeScaleParts;
  readonly #listeners: ((value: number) => void)[] = [];
  #value: number;

  constructor(parts: TimeScaleParts) {
    this.#parts = parts;
    this.#value = parts.production ? 1 : parts.initial;
    this.#fall();
    parts.store.watch(IOModule, ({ type, configuration }) => {
      if (type === 'put' && configuration) this.#fall();
    });
  }

  get value(): number {
    return this.#value;
  }

  /** Whoever sets it has asked `DemoPlant.checkTimeScale`; a device that came since then has its way all the same. */
  set(value: number): void {
    if (value !== this.#value) this.#change(value);
    this.#fall();
  }

  onChange(listener: (value: number) => void): void {
    this.#listeners.push(listener);
  }

  #change(value: number): void {
    this.#value = value;
    for (const listener of this.#listeners) guarded('listener of the time scale', () => listener(value));
  }

  #fall(): void {
    const { store, log } = this.#parts;
    const device = this.#value === 1 ? undefined : realDevice(store);
    if (!device) return;
    const before = this.#value;
    const { site, name } = device.metadata;
    this.#change(1);
    log.warn({ site, ioModule: name, before }, 'the time scale falls to 1: this I/O module is a real device');
    if (!store.accepting) return;
    store.apply({
      audits: [
        {
          site,
          actor: component('runtime'),
          action: 'Update',
          category: 'demo',
          target: { kind: 'IOModule', name, site },
          result: 'Success',
          reason: 'TimeScaleFell',
          before: { timeScale: before },
          after: { timeScale: 1 },
          correlationID: randomUUID(),
        },
      ],
    });
  }
}
