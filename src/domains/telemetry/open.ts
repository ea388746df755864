/** Telemetry as the settings want it: a broker's address, who this device is there, and its last will. */
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { readPlainFile } from '../../platform/base/plain-file.js';
import { MqttPublisher } from '../../platform/mqtt/publisher.js';
import type { Store } from '../../platform/store/store.js';
import { deviceTopic, Telemetry } from './telemetry.js';

export interface TelemetrySettings {
  /** `mqtt://host[:1883]` or `mqtts://host[:8883]`. */
  readonly url: string;
  readonly clientId: string | null;
  readonly username: string | null;
  readonly passwordFile: string | null;
  readonly caFile: string | null;
  readonly topicPrefix: string;
  readonly sites: readonly string[];
  readonly tagIntervalMs: number;
  readonly tagRefreshMs: number;
}

export interface OpenTelemetry {
  /** Hears what the stream hub hears. */
  readonly telemetry: Telemetry;
  /** Connects; what was heard before is sent then. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface OpenParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly deviceId: string;
  /** Between two tries to reach the broker. */
  readonly retryMs?: number;
}

export function openTelemetry(settings: TelemetrySettings, { store, clock, log, deviceId, retryMs }: OpenParts): OpenTelemetry {
  const online = deviceTopic(settings.topicPrefix, deviceId);
  const publisher = new MqttPublisher({
    url: settings.url,
    clientId: settings.clientId ?? `lineside-${deviceId}`,
    username: settings.username ?? undefined,
    password: textOf(settings.passwordFile)?.trim(),
    ca: textOf(settings.caFile),
    will: { topic: online, payload: JSON.stringify({ online: false }), qos: 1 },
    ...(retryMs === undefined ? {} : { retryMs }),
    clock,
    log,
    onConnected: () => {
      publisher.set(online, JSON.stringify({ online: true, ts: timestamp(clock.wallMs()) }), 1);
      telemetry.connected();
    },
  });
  const { topicPrefix: prefix, sites, tagIntervalMs, tagRefreshMs } = settings;
  const telemetry = new Telemetry({ publisher, store, clock, prefix, sites, tagIntervalMs, tagRefreshMs });
  return {
    telemetry,
    async start() {
      await publisher.start();
      telemetry.start();
    },
    async stop() {
      telemetry.stop();
      // a device that says goodbye says itself what its will would say
      if (publisher.connected) publisher.set(online, JSON.stringify({ online: false }), 1);
      await publisher.stop();
    },
  };
}

/** Certificates of many authorities. */
const FILE_BYTES_MAX = 4 * 1024 ** 2;

function textOf(file: string | null): string | undefined {
  return file === null ? undefined : readPlainFile(file, FILE_BYTES_MAX).toString('utf8');
}
