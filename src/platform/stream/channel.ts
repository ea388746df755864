/**
 * A channel of the live streams (contract 2, Events). Its owner publishes frames with the hub; the hub keeps numbers,
 * snapshots, filters, gaps and shedding for both transports.
 */
export const CHANNELS = ['tags', 'alarms', 'states', 'cmhealth'] as const;
export type ChannelName = (typeof CHANNELS)[number];

/** Action of tier read that a subscriber needs. */
export const CHANNEL_ACTION: Readonly<Record<ChannelName, string>> = {
  tags: 'tag:read',
  alarms: 'alarm:list',
  states: 'overview:read',
  cmhealth: 'controlmodule:list',
};

/**
 * An event on a channel other than `tags`: the frame without seq, eventId, subscriptionId and replay. `key` names the
 * object it describes; its last frame is the snapshot. `unit` is used by the unit filter; '' resolves to no unit.
 */
export interface ChannelEvent {
  readonly channel: Exclude<ChannelName, 'tags'>;
  readonly key: string;
  readonly site: string;
  readonly unit: string;
  readonly frame: Readonly<Record<string, unknown>>;
  /** The object is gone: nothing is replayed for it any more. */
  readonly forget?: boolean;
}

/** The tags of one unit as the hub publishes them: descriptors fixed per plan revision, values read from the tag table. */
export interface TagSource {
  readonly site: string;
  readonly unit: string;
  readonly addresses: readonly string[];
  /**
   * Fills value text (JSON), quality code and timestamp (wall ms) of a tag. Called from the publishing slice only, after
   * `refresh` has copied one consistent snapshot.
   */
  refresh(): void;
  valueJson(index: number): string;
  qualityWord(index: number): string;
  timestampMs(index: number): number;
  /** Rises when value or quality of the tag changes (for resume by Last-Event-ID). */
  changed(index: number): boolean;
}
