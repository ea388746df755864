/** What `system/health` says of each part of the box, as a sentence, and what to do where it is not well. */
import type { Health } from '../../data/types.js';
import { fullMomentText } from '../../common/text.js';
import { text } from './box-words.js';

export interface Part {
  readonly name: keyof typeof text.parts;
  readonly ok: boolean;
  readonly says: string;
  /** '' where nothing is to be done. */
  readonly todo: string;
  /** Where more is told of it. */
  readonly view?: 'backups' | 'integrity';
}

/** Of the box, and of the screen that shows it. */
export interface Clocks {
  readonly boxMs: number;
  readonly screenMs: number;
}

/** A code of an authenticator app that is so much older is refused. */
const CLOCKS_APART_MS = 60_000;
const DAY_MS = 86_400_000;
/** A certificate is renewed before it ends: who has to ask somebody for it needs some weeks. */
const CERTIFICATE_DAYS = 30;
/** Of what its profile carries: then a larger box is thought of. */
const NEARLY_FULL = 0.9;

type Told = Omit<Part, 'name'>;
const well = (says: string): Told => ({ ok: true, says, todo: '' });
const look = (says: string, todo: string): Told => ({ ok: false, says, todo });

const PARTS: Readonly<Record<Part['name'], (health: Health, clocks: Clocks) => Told>> = {
  storage: ({ storage: { accepting, unfit } }) => {
    if (!accepting) return look(text.storage.refuses, text.storage.free);
    if (unfit.length > 0) return look(text.storage.unfit(unfit.map(({ kind, name }) => `${kind} ${name}`).join(', ')), text.storage.discard);
    return well(text.storage.good);
  },
  control: ({ runtimes }) => {
    const down = runtimes.filter(({ ready }) => !ready);
    if (down.length > 0) return look(text.control.down(down.map(({ unit, message }) => `${unit}: ${message}`).join('; ')), text.control.restart);
    return well(text.control.good(runtimes.length));
  },
  realtime: ({ realtime: { granted, reason } }) => (granted ? well(text.realtime.good) : look(text.realtime.refused(reason), text.realtime.grant)),
  clock: (_, { boxMs, screenMs }) => {
    const apartMs = Math.abs(boxMs - screenMs);
    return apartMs < CLOCKS_APART_MS ? well(text.clock.good) : look(text.clock.apart(Math.round(apartMs / 1000)), text.clock.set);
  },
  backup: ({ backup: { configured, ok, lastAt, message } }) => {
    if (!configured) return { ...look(text.backup.off, text.backup.configure), view: 'backups' };
    if (ok === null) return { ...look(text.backup.never, text.backup.make), view: 'backups' };
    return ok ? well(text.backup.good(fullMomentText(lastAt))) : { ...look(text.backup.bad(message), text.backup.make), view: 'backups' };
  },
  integrity: ({ integrity: { ok, checkedAt, problems } }) => {
    if (ok === null) return well(text.integrity.never);
    return ok ? well(text.integrity.good(fullMomentText(checkedAt))) : { ...look(text.integrity.bad(problems), text.integrity.read), view: 'integrity' };
  },
  syslog: ({ syslog: { configured, state, receiver, message } }) => {
    if (!configured) return well(text.syslog.off);
    return state === 'connected' ? well(text.syslog.good(receiver)) : look(text.syslog.waits(receiver, message), text.syslog.reach);
  },
  certificate: ({ tls: { on, source, notAfter } }, { boxMs }) => {
    if (!on) return look(text.certificate.off, text.certificate.make);
    const days = Math.floor((Date.parse(notAfter) - boxMs) / DAY_MS);
    const says = text.certificate.until(fullMomentText(notAfter), days);
    return days >= CERTIFICATE_DAYS || source === 'acme' || source === 'self-signed' ? well(says) : look(says, text.certificate.renew);
  },
  replay: ({ antiReplay: { enabled } }) => (enabled ? well(text.replay.good) : look(text.replay.off, text.replay.turnOn)),
  room: ({ box: { used, limits } }) => {
    if (!used) return well(text.room.unknown);
    const full = (['units', 'tags', 'streams'] as const).filter((what) => used[what] > limits[what] * NEARLY_FULL);
    return full.length === 0 ? well(text.room.good) : look(text.room.full(full.map((what) => text.room[what]).join(', ')), text.room.larger);
  },
  faults: ({ contained: { total, seams } }) => (total === 0 ? well(text.faults.none) : look(text.faults.some(total, seams.at(-1)?.message ?? ''), text.faults.tell)),
};

export function partsOf(health: Health, clocks: Clocks): readonly Part[] {
  return (Object.keys(PARTS) as Part['name'][]).map((name) => ({ name, ...PARTS[name](health, clocks) }));
}
