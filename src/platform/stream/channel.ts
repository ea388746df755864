/**
 * A channel of the live streams (contract 2, Events). Its owner publishes frames with the hub; the hub keeps numbers,
 * snapshots, filters, gaps and shedding for both transports.
 */
interface ChannelRow {
  /** Of tier read: that of the route whose answer the channel keeps up to date. */
  readonly action: string;
  /** Opened by an event stream that names no channel. */
  readonly unasked?: true;
  /** How telemetry tells it; without it telemetry leaves it out. */
  readonly telemetry?: 'alarm' | 'state';
}

const ROWS = {
  tags: { action: 'tag:read', unasked: true },
  alarms: { action: 'alarm:list', unasked: true, telemetry: 'alarm' },
  states: { action: 'overview:read', unasked: true, telemetry: 'state' },
  cmhealth: { action: 'controlmodule:list' },
  model: { action: 'overview:read' },
} as const satisfies Readonly<Record<string, ChannelRow>>;

export type ChannelName = keyof typeof ROWS;
/** Those whose frames their owner publishes; tags are read from the tag tables. */
export type EventChannel = Exclude<ChannelName, 'tags'>;

export const CHANNEL_ROWS: Readonly<Record<ChannelName, ChannelRow>> = ROWS;
export const CHANNELS = Object.keys(ROWS) as readonly ChannelName[];
export const EVENT_CHANNELS = CHANNELS.filter((name) => name !== 'tags');

export function isChannel(word: string): word is ChannelName {
  return (CHANNELS as readonly string[]).includes(word);
}

/**
 * An event on a channel other than `tags`: the frame without seq, eventId, subscriptionId and replay, `type` first.
 * `key` names the object it describes (unique in its site and channel); its last frame is the snapshot. `unit` is used
 * by the unit filter; '' resolves to no unit.
 */
export interface ChannelEvent {
  readonly channel: EventChannel;
  readonly key: string;
  readonly site: string;
  readonly unit: string;
  /** An empty object together with `forget` publishes nothing. */
  readonly frame: Readonly<Record<string, unknown>>;
  /** The object is gone: nothing is replayed for it any more. */
  readonly forget?: boolean;
  /** The frame is replayed for this long only (a resolved alarm: 15 minutes, contract 2, Limits); without it for ever. */
  readonly retainMs?: number;
  /**
   * It waits for no record, because there will be none or it is on disk already: it leaves at once, also while the storage
   * refuses changes, when the frames of changes are dropped with them.
   */
  readonly unrecorded?: true;
  /** The frame was dropped: a change of its turn could not be stored, its own or another one. */
  readonly dropped?: () => void;
}

/** The tags of one unit as the hub publishes them: addresses fixed per plan revision, values read from the tag table. */
export interface TagSource {
  readonly site: string;
  readonly unit: string;
  readonly addresses: readonly string[];
  /** Copies one consistent snapshot; called once per publishing slice before the reads below. */
  refresh(): void;
  /** JSON text of the value; the same string object as long as the value did not change. */
  valueJson(index: number): string;
  qualityWord(index: number): string;
  /** Wall ms; 0 when the tag was never written. */
  timestampMs(index: number): number;
}
