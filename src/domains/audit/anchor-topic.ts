/**
 * Anchors at a broker (ADR 0128): the newest signed end of the trail, retained, so that whoever subscribes at any time has it, and keeps those that
 * come, holds an export of this box against them. Nothing is read back: a broker that lies changes nothing here.
 */
import type { Clock } from '../../platform/base/clock.js';
import { Stopwatch } from '../../platform/base/elapsed.js';
import type { Log } from '../../platform/base/log.js';
import { brokerOf, type BrokerSettings } from '../../platform/mqtt/broker.js';
import { MqttPublisher } from '../../platform/mqtt/publisher.js';

export interface AnchorTopicParts extends BrokerSettings {
  /** Setting `audit.anchors.mqttTopic`: boxes with one configuration have a topic each below it. */
  readonly topic: string;
  readonly clientId: string | null;
  readonly deviceId: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Between two tries to reach the broker. */
  readonly retryMs?: number;
}

/** An outage that is shorter calls nobody. */
const AWAY_MS = 120_000;

export class AnchorTopic {
  readonly topic: string;
  readonly #publisher: MqttPublisher;
  /** Since the broker had all there was. */
  readonly #owed: Stopwatch;
  #newest = '';

  constructor({ topic, clientId, deviceId, clock, log, retryMs, ...broker }: AnchorTopicParts) {
    this.topic = `${topic}/${deviceId}`;
    this.#owed = new Stopwatch(clock);
    this.#publisher = new MqttPublisher({
      ...brokerOf(broker),
      clientId: `${clientId ?? 'lineside'}-${deviceId}-anchors`, // of two clients with one id a broker throws out one, of two boxes with one configuration too
      clock,
      log,
      ...(retryMs === undefined ? {} : { retryMs }),
      onConnected: () => this.#publish(), // it may have lost what it held
    });
  }

  /** Why the broker has not had the newest end for a while; undefined when it has. */
  get fault(): string | undefined {
    if (!this.#publisher.owes(this.topic)) this.#owed.restart();
    if (this.#owed.elapsedMs < AWAY_MS) return undefined;
    return `the end of the audit trail cannot be published outside (audit.anchors.mqttTopic): ${this.#publisher.fault}`;
  }

  start(): Promise<void> {
    return this.#publisher.start();
  }

  publish(line: string): void {
    if (!this.#publisher.owes(this.topic)) this.#owed.restart();
    this.#newest = line.trimEnd();
    this.#publish();
  }

  stop(): Promise<void> {
    return this.#publisher.stop();
  }

  #publish(): void {
    if (this.#newest !== '') this.#publisher.set(this.topic, this.#newest, 1);
  }
}
