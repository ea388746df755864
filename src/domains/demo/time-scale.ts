/**
 * Speed of plant time (decisions 6.7, D-C-07): above or below 1 only in development mode and while every device is
 * simulated. It falls to 1 in the moment a real one appears, and stays there until somebody sets it again.
 */
import { isSimulated } from '../../../runtime/catalog.js';
import { randomUUID } from 'node:crypto';
import type { Log } from '../../platform/base/log.js';
import { component } from '../../platform/store/audit-record.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { contain } from '../../platform/base/guarded.js';
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
  return read.list(IOModule).find(({ spec }) => !isSimulated(spec.protocol) && isEnabled(spec));
}

export class PlantTimeScale {
  readonly #parts: TimeScaleParts;
  readonly #listeners: ((value: number) => void)[] = [];
  /** Those that threw when they were told of the value that is. */
  #behind: readonly ((value: number) => void)[] = [];
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

  /** @returns why some did not follow. */
  #change(value: number): readonly string[] {
    this.#value = value;
    return this.#tellAll(this.#listeners);
  }

  #tellAll(listeners: readonly ((value: number) => void)[]): readonly string[] {
    const failed = listeners.flatMap((listener) => {
      try {
        listener(this.#value);
        return [];
      } catch (fault) {
        contain('listener of the time scale', fault);
        return [{ listener, why: fault instanceof Error ? fault.message : String(fault) }];
      }
    });
    this.#behind = failed.map(({ listener }) => listener);
    return failed.map(({ why }) => why);
  }

  #fall(): void {
    if (this.#behind.length > 0) this.#tellAll(this.#behind); // a part that goes on faster than a real device is tried again
    const { store, log } = this.#parts;
    const device = this.#value === 1 ? undefined : realDevice(store);
    if (!device) return;
    const before = this.#value;
    const { site, name } = device.metadata;
    const notFollowed = this.#change(1);
    log.warn({ site, ioModule: name, before, notFollowed }, 'the time scale falls to 1: this I/O module is a real device');
    if (!store.accepting) return;
    store.apply({
      audits: [
        {
          site,
          actor: component('runtime'),
          action: 'Update',
          category: 'demo',
          target: { kind: 'IOModule', name, site },
          result: notFollowed.length === 0 ? 'Success' : 'Failed',
          reason: 'TimeScaleFell',
          before: { timeScale: before },
          after: { timeScale: 1 },
          ...(notFollowed.length === 0 ? {} : { details: { notFollowed } }),
          correlationID: randomUUID(),
        },
      ],
    });
  }
}
