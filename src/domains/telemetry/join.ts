/** Telemetry to a broker, as the settings want it: hears what the streams hear. */
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import type { Part } from '../../platform/base/parts.js';
import type { Store } from '../../platform/store/store.js';
import type { SettingsOf } from '../../settings.js';
import { publishAlarms } from '../alarms/alarm-channel.js';
import { publishStates } from '../batches/reading/state-channel.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import type { TagCatalog } from '../tags/catalog.js';
import { publishTags } from '../tags/tag-sources.js';
import { openTelemetry } from './open.js';

export interface TelemetryParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly deviceId: string;
  readonly runtimes: UnitRuntimes;
  readonly catalog: TagCatalog;
  readonly settings: SettingsOf<'mqtt'>;
}

/** Nothing to start or stop where no broker is set. */
export function joinTelemetry({ store, clock, log, deviceId, runtimes, catalog, settings }: TelemetryParts): Part {
  if (settings.mqttUrl === null || !settings.mqttEnabled) return {};
  const { telemetry, start, stop } = openTelemetry(
    {
      url: settings.mqttUrl,
      clientId: settings.mqttClientId,
      username: settings.mqttUsername,
      passwordFile: settings.mqttPasswordFile,
      caFile: settings.mqttCaFile,
      topicPrefix: settings.mqttTopicPrefix,
      sites: settings.mqttSites,
      tagIntervalMs: settings.mqttTagIntervalMs,
      tagRefreshMs: settings.mqttTagRefreshMs,
    },
    { store, clock, log, deviceId },
  );
  publishTags({ hub: telemetry, runtimes, catalog, store });
  publishAlarms({ hub: telemetry, store, clock });
  publishStates({ hub: telemetry, store });
  return { start, stop };
}
