/**
 * The `alarms` channel (contract 2, Events): one frame per transition of an alarm or of its flags. Watches the store, so
 * that whoever changes an alarm is announced without knowing of streams. An alarm that cannot be stored is told at once.
 */
import type { Clock } from '../../platform/base/clock.js';
import type { Terms } from '../../platform/base/term.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import type { ChannelEvent } from '../../platform/stream/channel.js';
import type { Hub } from '../../platform/stream/hub.js';
import { Untold } from '../../platform/stream/untold.js';
import { isShelved } from './counts.js';
import type { AlarmBody } from './dto.js';
import { Alarm, type AlarmSpec, type AlarmStatus } from './kind.js';
import { resolvedAtMs } from './transitions.js';
import { unstoredAlarms } from './unstored-alarms.js';

const RESOLVED_REPLAY_MS = 15 * 60_000; // contract 2, Limits

export function publishAlarms({ hub, store, clock }: { readonly hub: Pick<Hub, 'publish'>; readonly store: Store; readonly clock: Clock }): void {
  const announce = (alarm: Resource<AlarmSpec, AlarmStatus>, before: Resource<AlarmSpec, AlarmStatus> | undefined): void => {
    const { site, name } = alarm.metadata;
    const frame = frameOf(alarm, store.terms);
    if (before && JSON.stringify(frameOf(before, store.terms)) === JSON.stringify(frame) && before.status.shelvedUntil === alarm.status.shelvedUntil) return;
    const resolvedMs = alarm.status.state === 'ClearedAcknowledged' ? clock.wallMs() - resolvedAtMs(alarm.status, alarm.metadata.updatedAt) : undefined;
    if (resolvedMs !== undefined && resolvedMs >= RESOLVED_REPLAY_MS) return forget(alarm); // resolved before this process began
    hub.publish({
      channel: 'alarms',
      key: name,
      site,
      unit: alarm.status.unit,
      frame,
      ...(resolvedMs === undefined ? {} : { retainMs: RESOLVED_REPLAY_MS - Math.max(0, resolvedMs) }),
      ...again(alarm),
    });
  };
  const forget = (alarm: Resource<AlarmSpec, AlarmStatus>): void =>
    hub.publish({ channel: 'alarms', key: alarm.metadata.name, site: alarm.metadata.site, unit: alarm.status.unit, frame: {}, forget: true, ...again(alarm) });
  const untold = new Untold(store);
  /** What is told while the storage refuses is told again, and on disk; a frame that is dropped is told again in its turn. */
  const again = (alarm: Resource<AlarmSpec, AlarmStatus>): Pick<ChannelEvent, 'unrecorded' | 'dropped'> => {
    const { site, name } = alarm.metadata;
    const present = (): void => {
      const stored = store.get(Alarm, site, name);
      if (stored) announce(stored, undefined);
      else if (!unstoredAlarms(store).get(site, name)) forget(alarm);
    };
    return { ...(store.accepting ? {} : { unrecorded: true }), dropped: () => untold.retell(`${site}/${name}`, present) };
  };
  store.watch(Alarm, ({ type, resource, before, past }) => {
    if (past) return; // what was told of it stays told for its time
    const alarm = resource as Resource<AlarmSpec, AlarmStatus>;
    if (type === 'put') announce(alarm, before as Resource<AlarmSpec, AlarmStatus> | undefined);
    else forget(alarm);
  });
  // what was told from memory meanwhile may have ended without a change of what is stored
  store.watchReload(() => {
    if (store.accepting) for (const alarm of store.list(Alarm)) announce(alarm, undefined);
  });
  unstoredAlarms(store).onChange((alarm, what) => {
    const { site, name } = alarm.metadata;
    const event = { channel: 'alarms', key: name, site, unit: alarm.status.unit, unrecorded: true } as const;
    if (what === 'stands') hub.publish({ ...event, frame: frameOf(alarm, store.terms) });
    else if (!store.get(Alarm, site, name)) hub.publish({ ...event, frame: {}, forget: true });
  });
  for (const alarm of store.list(Alarm)) announce(alarm, undefined);
}

/** A frame of the channel without what every frame has. */
export type AlarmFrame = Pick<AlarmBody, 'name' | 'severity' | 'state' | 'message' | 'shelved' | 'shelvedUntil'> & { readonly type: 'alarm'; readonly site: string };

function frameOf({ metadata, spec, status }: Resource<AlarmSpec, AlarmStatus>, terms: Terms): AlarmFrame {
  const { shelvedUntil } = status;
  return {
    type: 'alarm',
    site: metadata.site,
    name: metadata.name,
    severity: spec.severity,
    state: status.state,
    message: spec.message,
    shelved: isShelved(status, terms),
    shelvedUntil,
  };
}
