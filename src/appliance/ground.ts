/**
 * What every domain stands on: settings and log, the times of the plant, what is stored, the keys that sign, and the threads that drive. A domain
 * takes of it what it needs. None of it is a domain of its own; all of it is there before the first one joins.
 */
import { PlantTimeScale } from '../domains/demo/time-scale.js';
import { DeviceSecrets, placeHere } from '../domains/index.js';
import type { Clock } from '../platform/base/clock.js';
import type { Log } from '../platform/base/log.js';
import { Sealing } from '../platform/base/sealing.js';
import type { Settings } from '../settings.js';
import { freeBytes } from './data-dir.js';
import type { Storage } from './storage.js';

export interface GroundParts {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly storage: Storage;
}

export function layGround({ settings, log, clock, storage }: GroundParts) {
  const { dataDir } = settings;
  const { store, queries, died } = storage;
  const production = settings.operatingMode === 'production';
  const keys = { ...storage.keys, algorithm: settings.signingAlgorithm, authMode: settings.authMode };
  const scale = new PlantTimeScale({ store, log, production, initial: settings.timeScale });
  return {
    settings,
    dataDir,
    production,
    log,
    clock,
    scale,
    timeScale: () => scale.value,
    onTimeScale: (listener: (value: number) => void) => scale.onChange(listener),
    store,
    queries,
    facts: queries,
    storageLow: () => freeBytes(dataDir) < settings.storageReserveBytes,
    keys,
    deviceId: keys.deviceId,
    secrets: new DeviceSecrets({ store, sealing: new Sealing(keys.privateKey, 'device secrets'), folder: settings.secretsDir }),
    ...placeHere({ clock, log, settings, died }),
  };
}
