/** Telemetry as the settings want it: a broker's address, who this device is there, and its last will. */
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { brokerOf, type BrokerSettings } from '../../platform/mqtt/broker.js';
import { MqttPublisher } from '../../platform/mqtt/publisher.js';
import type { Store } from '../../platform/store/store.js';
import { deviceTopic, Telemetry } from './telemetry.js';

export interface TelemetrySettings extends BrokerSettings {
  readonly clientId: string | null;
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
    ...brokerOf(settings),
    clientId: settings.clientId ?? `lineside-${deviceId}`,
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
