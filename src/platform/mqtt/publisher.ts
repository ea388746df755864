/**
 * A client that only publishes retained messages (decisions Q-STREAM-17): nothing is subscribed, and nothing that a broker
 * sends is acted on. What a topic holds is a state, so of the messages that wait for a broker the newest of each topic counts:
 * an outage loses no last state, and costs no more memory than there are topics.
 *
 * Invariant: a message of QoS 1 is waiting, or under way and not yet acknowledged (the library sends it again after a
 * reconnect), or superseded by a newer one of its topic, or at the broker.
 */
import type { IClientOptions, MqttClient } from 'mqtt';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';

export type QoS = 0 | 1;

export interface Message {
  readonly topic: string;
  /** '' is the tombstone of a retained topic. */
  readonly payload: string;
  readonly qos: QoS;
}

const KEEP_ALIVE_S = 30;
const ANSWER_MS = 10_000;
const RETRY_MS = 5000;
const UNDER_WAY_MAX = 64;
/** Topics that wait for a broker; more than a plant has alarms and states. The oldest goes first. */
const WAITING_MAX = 100_000;
const STOP_MS = 2000;

export interface PublisherParts {
  /** `mqtt://host[:1883]` or `mqtts://host[:8883]`. */
  readonly url: string;
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Certificate authorities in PEM; undefined: those of the system. */
  readonly ca: string | undefined;
  /** Published by the broker, retained, when this client goes without saying so. */
  readonly will: Message;
  readonly clock: Clock;
  readonly log: Log;
  readonly retryMs?: number;
  /** Connected: everything that is known is to be published again. */
  readonly onConnected: () => void;
}

export class MqttPublisher {
  readonly #parts: PublisherParts;
  readonly #waiting = new Map<string, Message>();
  #underWay = 0;
  #client: MqttClient | undefined;
  /** What the log said last, once per outage. */
  #isAway = false;
  #fault = 'the broker closed the connection';

  constructor(parts: PublisherParts) {
    this.#parts = parts;
  }

  get connected(): boolean {
    return this.#client?.connected ?? false;
  }

  /** The library is loaded by whoever publishes only. */
  async start(): Promise<void> {
    const { connect } = await import('mqtt');
    const client = connect(this.#parts.url, optionsOf(this.#parts));
    this.#client = client;
    client.on('connect', () => {
      this.#isAway = false;
      this.#parts.log.info({ url: this.#parts.url }, 'the telemetry broker is connected');
      this.#parts.onConnected();
      this.#flush();
    });
    client.on('error', (error) => (this.#fault = error.message));
    client.on('close', () => this.#closed());
  }

  /** What the topic holds from now on. Without a broker QoS 0 is not kept: it is published again after the next connect. */
  set(topic: string, payload: string, qos: QoS): void {
    if (qos === 0 && !this.connected) return;
    this.#waiting.delete(topic); // the newest of a topic goes to the end of the line
    this.#waiting.set(topic, { topic, payload, qos });
    if (this.#waiting.size > WAITING_MAX) this.#waiting.delete(this.#waiting.keys().next().value as string);
    this.#flush();
  }

  /** Sends what waits if the broker takes it soon, says goodbye, and ends. */
  async stop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    if (!client) return;
    if (!client.connected) return client.endAsync(true);
    for (const message of this.#waiting.values()) client.publish(message.topic, message.payload, { qos: message.qos, retain: true });
    this.#waiting.clear();
    const cancel = this.#parts.clock.after(STOP_MS, () => client.end(true));
    await client.endAsync();
    cancel();
  }

  #closed(): void {
    for (const [topic, { qos }] of this.#waiting) if (qos === 0) this.#waiting.delete(topic);
    if (this.#isAway || this.#client === undefined) return;
    this.#isAway = true;
    this.#parts.log.warn({ fault: this.#fault, waiting: this.#waiting.size }, 'the telemetry broker is not reached');
  }

  /** A slow broker has few messages under way; what a topic was meanwhile is never sent. */
  #flush(): void {
    const client = this.#client;
    if (!client?.connected) return;
    for (const [topic, { payload, qos }] of this.#waiting) {
      if (this.#underWay >= UNDER_WAY_MAX) return;
      this.#waiting.delete(topic);
      this.#underWay += 1;
      client.publish(topic, payload, { qos, retain: true }, () => {
        this.#underWay -= 1;
        this.#flush();
      });
    }
  }
}

function optionsOf({ clientId, username, password, ca, will, retryMs = RETRY_MS }: PublisherParts): IClientOptions {
  return {
    protocolVersion: 4,
    clean: true, // everything is published again after each connect
    clientId,
    keepalive: KEEP_ALIVE_S,
    connectTimeout: ANSWER_MS,
    reconnectPeriod: retryMs,
    reconnectOnConnackError: true,
    queueQoSZero: false,
    will: { topic: will.topic, payload: Buffer.from(will.payload), qos: will.qos, retain: true },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(ca === undefined ? {} : { ca }),
  };
}
