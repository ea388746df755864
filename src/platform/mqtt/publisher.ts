/**
 * A client that only publishes retained messages (decisions Q-STREAM-17): nothing is subscribed, and nothing that a broker
 * sends is acted on. What a topic holds is a state, so of the messages that wait for a broker the newest of each topic counts:
 * an outage loses no last state, and costs no more memory than there are topics.
 *
 * Invariant: a message of QoS 1 is waiting, or under way and not yet acknowledged (the library sends it again after a
 * reconnect, before it says that it is connected), or superseded by a newer one of its topic, or at the broker, or told of as a
 * fault because the library threw at it: trying it again would throw again, and hold up the topics behind it. Of a topic one
 * message is under way at most, so that one that comes back unsent cannot overtake a newer one.
 */
import type { IClientOptions, MqttClient } from 'mqtt';
import type { Clock } from '../base/clock.js';
import { contain, guarded } from '../base/guarded.js';
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
  readonly will?: Message;
  readonly clock: Clock;
  readonly log: Log;
  readonly retryMs?: number;
  /** Connected: everything that is known is to be published again. */
  readonly onConnected: () => void;
}

const CLOSED = 'the broker closed the connection';

export class MqttPublisher {
  readonly #parts: PublisherParts;
  readonly #waiting = new Map<string, Message>();
  /** Given to the library, by topic. */
  readonly #underWay = new Map<string, Message>();
  #client: MqttClient | undefined;
  /** The library calls itself connected while it still sends again what was under way; here it is not yet. */
  #isConnected = false;
  #isFlushing = false;
  #whenSettled: () => void = () => undefined;
  /** What the log said last, once per outage. */
  #isAway = false;
  #fault = CLOSED;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
  }

  get connected(): boolean {
    return this.#isConnected;
  }

  /** Whether a message of the topic waits, or is under way and not acknowledged. */
  owes(topic: string): boolean {
    return this.#waiting.has(topic) || this.#underWay.has(topic);
  }

  /** Why the broker is not reached. */
  get fault(): string {
    return this.#isConnected ? 'the broker does not acknowledge what it is sent' : this.#fault;
  }

  /** The library is loaded by whoever publishes only. */
  async start(): Promise<void> {
    const { connect } = await import('mqtt');
    const client = connect(this.#parts.url, optionsOf(this.#parts));
    this.#client = client;
    client.on('connect', () => guarded('telemetry: connect', () => this.#opened()));
    client.on('error', (error) => (this.#fault = error.message));
    client.on('close', () => guarded('telemetry: close', () => this.#closed()));
  }

  /** What the topic holds from now on. Without a broker QoS 0 is not kept: it is published again after the next connect. */
  set(topic: string, payload: string, qos: QoS): void {
    if (qos === 0 && !this.#isConnected) return;
    this.#waiting.delete(topic); // the newest of a topic goes to the end of the line
    this.#waiting.set(topic, { topic, payload, qos });
    if (this.#waiting.size > WAITING_MAX) this.#waiting.delete(this.#waiting.keys().next().value as string);
    this.#flush();
  }

  /** Sends what waits if the broker takes it soon, says goodbye, and ends: after `STOP_MS`, whatever the broker does. */
  async stop(): Promise<void> {
    const client = this.#client;
    if (!client) return;
    // a line that says nothing ends neither by an acknowledgement nor by a goodbye, and a second `end` does nothing
    const cancel = this.#parts.clock.after(STOP_MS, () => client.stream.destroy());
    if (this.#isConnected) await new Promise<void>((resolve) => this.#settle(resolve));
    this.#client = undefined;
    await client.endAsync(!this.#isConnected);
    cancel();
  }

  #opened(): void {
    this.#isConnected = true;
    this.#isAway = false;
    this.#fault = CLOSED;
    this.#parts.log.info({ url: this.#parts.url }, 'the telemetry broker is connected');
    guarded('telemetry: connected', this.#parts.onConnected);
    this.#flush();
  }

  #closed(): void {
    this.#isConnected = false;
    for (const messages of [this.#waiting, this.#underWay]) {
      for (const [topic, { qos }] of messages) if (qos === 0) messages.delete(topic); // its callback may never come
    }
    this.#whenSettled();
    if (this.#isAway || this.#client === undefined) return;
    this.#isAway = true;
    this.#parts.log.warn({ fault: this.#fault, waiting: this.#waiting.size }, 'the telemetry broker is not reached');
  }

  /** Calls back when the broker has everything, or is gone. */
  #settle(settled: () => void): void {
    this.#whenSettled = settled;
    this.#flush();
  }

  /** A slow broker has few messages under way; what a topic was meanwhile is never sent. */
  #flush(): void {
    if (this.#isFlushing) return; // the library may call back at once
    this.#isFlushing = true;
    try {
      for (const [topic, message] of this.#waiting) {
        if (!this.#isConnected || this.#underWay.size >= UNDER_WAY_MAX) break;
        if (this.#underWay.has(topic)) continue;
        this.#waiting.delete(topic);
        this.#send(message);
      }
    } finally {
      this.#isFlushing = false;
    }
    if (this.#waiting.size + this.#underWay.size === 0) this.#whenSettled();
  }

  #send(message: Message): void {
    const { topic, payload, qos } = message;
    this.#underWay.set(topic, message);
    try {
      this.#client?.publish(topic, payload, { qos, retain: true }, (error) => this.#sent(message, error));
    } catch (fault) {
      this.#underWay.delete(topic);
      contain('telemetry: publish', fault);
    }
  }

  #sent(message: Message, error: Error | undefined): void {
    const { topic, qos } = message;
    if (this.#underWay.get(topic) !== message) return;
    this.#underWay.delete(topic);
    if (!error) guarded('telemetry: flush', () => this.#flush());
    else if (qos === 1 && !this.#waiting.has(topic)) this.#waiting.set(topic, message); // goes with the next, at the latest after a connect
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
    ...(will === undefined ? {} : { will: { topic: will.topic, payload: Buffer.from(will.payload), qos: will.qos, retain: true } }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(ca === undefined ? {} : { ca }),
  };
}
