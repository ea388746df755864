/**
 * The retained telemetry over MQTT (contract 2, Events 7; decisions Q-STREAM-17): it hears what the stream hub hears, and
 * holds for each tag, alarm and state the topic with its last word. A deleted or forgotten alarm leaves a tombstone, an empty
 * retained message, so that nobody who connects later takes it for one that is there.
 */
import { assert } from '../../platform/base/assert.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { MonoMs } from '../../platform/base/times.js';
import { contain, guarded, guardedPromise } from '../../platform/base/guarded.js';
import type { MqttPublisher } from '../../platform/mqtt/publisher.js';
import type { Store } from '../../platform/store/store.js';
import { CHANNEL_ROWS, type ChannelEvent, type TagSource } from '../../platform/stream/channel.js';
import { unstoredAlarms } from '../alarms/unstored-alarms.js';

/** Tags are looked at in portions, so that no turn of the gateway is long. */
const PORTIONS = 10;

export interface TelemetryParts {
  readonly publisher: Pick<MqttPublisher, 'set' | 'connected'>;
  readonly store: Store;
  readonly clock: Clock;
  /** First topic level. */
  readonly prefix: string;
  /** Sites published; all when empty. */
  readonly sites: readonly string[];
  readonly tagIntervalMs: number;
  readonly tagRefreshMs: number;
}

interface TagTopics {
  readonly source: TagSource;
  readonly topics: readonly string[];
  readonly heads: readonly string[];
  /** What was last sent, value and quality; '' after a connect. */
  readonly sent: string[];
  readonly sentAtMs: Float64Array;
}

export class Telemetry {
  readonly #parts: TelemetryParts;
  /** Newest message of every alarm and state, to be sent again after a connect. */
  readonly #held = new Map<string, string>();
  /** Ends of resolved alarms. */
  readonly #forgets = new Map<string, () => void>();
  readonly #units = new Map<string, TagTopics>();
  #portion = 0;
  #cancel: () => void = () => undefined;

  constructor(parts: TelemetryParts) {
    this.#parts = parts;
  }

  start(): void {
    const { clock, tagIntervalMs } = this.#parts;
    this.#cancel = clock.after(tagIntervalMs / PORTIONS, () => {
      guarded('telemetry: tags', () => this.#sendTags());
      this.start();
    });
  }

  stop(): void {
    this.#cancel();
    for (const cancel of this.#forgets.values()) cancel();
  }

  /** The broker may have lost everything: it is told all of it again. */
  connected(): void {
    for (const [topic, payload] of this.#held) this.#parts.publisher.set(topic, payload, 1);
    for (const { sent } of this.#units.values()) sent.fill('');
  }

  // ------------------------------------------------------------------ what the hub hears

  /** Sent once it is on record, like every frame that tells of a change (contract 2, Events 6); what waits for no record at once. */
  publish(event: ChannelEvent): void {
    const how = CHANNEL_ROWS[event.channel].telemetry;
    if (!this.#wants(event.site) || how === undefined) return;
    const tell = (): void => (how === 'alarm' ? this.#alarm(event) : this.#state(event));
    queueMicrotask(() => {
      if (event.unrecorded) guarded('telemetry: event', tell);
      else guardedPromise('telemetry: event', () => this.#parts.store.recorded.then(tell, () => event.dropped?.()));
    });
  }

  placeTags(source: TagSource): void {
    const { site, unit, addresses } = source;
    if (!this.#wants(site)) return;
    const topics = addresses.map((address) => this.#topic(site, 'tags', unit, address));
    const kept = new Set(topics);
    for (const topic of this.#units.get(`${site}/${unit}`)?.topics ?? []) if (!kept.has(topic)) this.#parts.publisher.set(topic, '', 0);
    this.#units.set(`${site}/${unit}`, {
      source,
      topics,
      heads: addresses.map((address) => JSON.stringify({ site, unit, address }).slice(0, -1)),
      sent: addresses.map(() => ''),
      sentAtMs: new Float64Array(addresses.length),
    });
  }

  removeTags(site: string, unit: string): void {
    const removed = this.#units.get(`${site}/${unit}`);
    this.#units.delete(`${site}/${unit}`);
    for (const topic of removed?.topics ?? []) this.#parts.publisher.set(topic, '', 0);
  }

  /** The loss of the runtimes shows in the quality of the tags. */
  setBroker(): void {}

  // ------------------------------------------------------------------ topics

  #wants(site: string): boolean {
    return this.#parts.sites.length === 0 || this.#parts.sites.includes(site);
  }

  #topic(...levels: readonly string[]): string {
    return [this.#parts.prefix, ...levels.map(topicLevel)].join('/');
  }

  #hold(topic: string, payload: string): void {
    if (payload === '') this.#held.delete(topic);
    else this.#held.set(topic, payload);
    this.#parts.publisher.set(topic, payload, 1);
  }

  #alarm({ site, key, frame, forget, retainMs }: ChannelEvent): void {
    const { store, clock } = this.#parts;
    const topic = this.#topic(site, 'alarms', key);
    this.#forgets.get(topic)?.();
    this.#forgets.delete(topic);
    const alarm = unstoredAlarms(store).get(site, key);
    if (forget || !alarm) return this.#hold(topic, '');
    const { name, severity, state, message, shelved, shelvedUntil } = frame;
    const { source, type } = alarm.spec;
    this.#hold(topic, JSON.stringify({ site, name, source, type, severity, state, message, shelved, shelvedUntil, ts: timestamp(clock.wallMs()) }));
    if (retainMs === undefined) return;
    const cancel = clock.after(retainMs, () => {
      this.#forgets.delete(topic);
      this.#hold(topic, '');
    });
    this.#forgets.set(topic, cancel);
  }

  /** An ended batch keeps its last state; a removed object leaves a tombstone. */
  #state({ site, key, frame }: ChannelEvent): void {
    const [kind, , name] = key.split('/');
    assert(kind !== undefined && name !== undefined, 'the key of a state is kind, site and name');
    const topic = this.#topic(site, 'states', kind, name);
    this.#hold(topic, typeof frame.type === 'string' ? JSON.stringify(frame) : '');
  }

  #sendTags(): void {
    const { publisher, clock } = this.#parts;
    const portion = this.#portion;
    this.#portion = (portion + 1) % PORTIONS;
    if (!publisher.connected) return;
    const nowMs = clock.monoMs();
    for (const unit of this.#units.values()) {
      try {
        this.#sendOf(unit, portion, nowMs);
      } catch (fault) {
        contain('telemetry: tags', fault); // the other units are told
      }
    }
  }

  #sendOf({ source, topics, heads, sent, sentAtMs }: TagTopics, portion: number, nowMs: MonoMs): void {
    const { publisher, tagRefreshMs } = this.#parts;
    source.refresh();
    for (let index = portion; index < topics.length; index += PORTIONS) {
      const now = `${source.valueJson(index)},"quality":"${source.qualityWord(index)}"`;
      if (now === sent[index] && nowMs - (sentAtMs[index] ?? 0) < tagRefreshMs) continue;
      const topic = topics[index];
      assert(topic !== undefined, 'each tag of a unit has its topic');
      sent[index] = now;
      sentAtMs[index] = nowMs;
      const atMs = source.timestampMs(index);
      publisher.set(topic, `${heads[index]},"value":${now},"ts":${atMs === 0 ? 'null' : `"${timestamp(atMs)}"`}}`, 0);
    }
  }
}

/** One topic level, whatever the name: separators and wildcards of MQTT are percent-encoded. */
export function topicLevel(name: string): string {
  return name.replace(/[%/+#\0]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/** Topic of the device itself: online as long as it is connected. */
export function deviceTopic(prefix: string, deviceId: string): string {
  return `${prefix}/_device/${topicLevel(deviceId)}`;
}
