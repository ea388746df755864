/**
 * What stood against a batch, from its execution events (decisions 8.3): each time it or a part of
 * it was held, paused, stopped or aborted is one spell with its causes in the order in which they came. The first cause stays
 * the first: what is refused or found while a batch is held already says nothing of why it is held.
 */
import type { BatchEvent } from './types.js';

export interface Cause {
  /** Of the event: the order in which they came, whatever the clock said. */
  readonly id: number;
  readonly ts: string;
  /** A person by name, or the controller that commanded; empty when it was a failure of an element. */
  readonly who: string;
  /** The command, when it was one. */
  readonly command: string;
  /** Why the command was refused; empty when it was carried out. */
  readonly refused: string;
  /** The reason that was given, or the failure in the gateway's words. */
  readonly text: string;
  /** The same as `text` or `refused`. */
  readonly told: BatchEvent['told'];
  /** Steps of the procedure it was found at; empty for the batch itself. */
  readonly paths: readonly string[];
  /** Nobody controlled from then to `ts`: the appliance, or the runtime of the unit, had ended. `from` is empty when nobody knows. */
  readonly gap: { readonly from: string; readonly unit: string } | null;
  /** Where it is on record; '' for what a component did by itself. */
  readonly audit: string;
  readonly unit: string;
  /** The module that it is about; '' for none. */
  readonly equipment: string;
  /** Name of the alarm that it is; '' for what is none. */
  readonly alarm: string;
  /** What a person did to the equipment while the batch stood, or shortly before; null for what is none. */
  readonly deed: BatchEvent | null;
}

export interface Spell {
  readonly from: string;
  /** Empty while it lasts. */
  readonly to: string;
  /** What it came to: `Held`, `Paused`, `Stopped`, `Aborted` or `Failed`. */
  readonly state: string;
  /** When it began to come to that. */
  readonly since: string;
  /** The batch itself ran on: only parts of it stood. */
  readonly inside: boolean;
  readonly causes: readonly Cause[];
  /** Alarms that stood when it began, and had come while the batch ran, with what people had done to the units of those that commanded: what may have led to it. */
  readonly before: readonly Cause[];
}

/** On the way to a state as in it: one spell. */
const COMES_TO: Readonly<Record<string, string>> = { Holding: 'Held', Held: 'Held', Restarting: 'Held', Pausing: 'Paused', Paused: 'Paused' };
const ENDS_AS: Readonly<Record<string, string>> = { Stopping: 'Stopped', Stopped: 'Stopped', Aborting: 'Aborted', Aborted: 'Aborted', Failed: 'Failed' };
const WEIGHT: readonly string[] = ['Paused', 'Held', 'Stopped', 'Aborted', 'Failed'];
const INTERRUPTING: readonly string[] = ['Hold', 'Pause', 'Stop', 'Abort'];
/** Causes of state changes that only pass on what another event tells. */
const PASSED_ON: readonly string[] = ['', 'Start', 'Hold', 'Restart', 'Pause', 'Resume', 'Stop', 'Abort', 'Reset', 'procedure', 'complete', 'failure'];

/** What a hold after an interruption gives as its rule; the interruption itself says more. */
const INTERRUPTED = 'runtime-restart';
const STANDS: readonly string[] = ['Holding', 'Held'];

interface Open {
  from: string;
  state: string;
  since: string;
  inside: boolean;
  /** Somebody has sent it on: an element that is held now is held anew. */
  leaving: boolean;
  readonly causes: Cause[];
  readonly before: readonly Cause[];
  /** All that people had done to the equipment until then. */
  readonly deeds: readonly Cause[];
}

/** What people did so long before an alarm may have led to it. */
const LEADS_MS = 5 * 60_000;

/** @param events oldest first. @returns oldest first. */
export function spellsOf(events: readonly BatchEvent[]): Spell[] {
  const spells: Spell[] = [];
  /** Elements that stand, the batch among them. */
  const standing = new Set<string>();
  let open: Open | undefined;
  /** Commands of the transaction that a state change tells of may come before or after it. */
  let asked: Cause[] = [];
  /** By name. */
  const alarms = new Map<string, Cause>();
  const deeds: Cause[] = [];
  const begin = (ts: string): Open => {
    open ??= { from: ts, state: '', since: ts, inside: true, leaving: false, causes: [], before: [...alarms.values()], deeds: [...deeds] };
    return open;
  };
  for (const event of events) {
    const { ts, value, previousValue, message } = event;
    if (event.eventType === 'Alarm') {
      const cause = causeOf(event, { text: message });
      const name = cause.alarm || cause.equipment; // an earlier release does not name it
      if (open && value.startsWith('Active')) note(open.causes, cause);
      if (!value.startsWith('Active')) alarms.delete(name);
      else if (!alarms.has(name)) alarms.set(name, cause);
    }
    if (isGap(event)) {
      const cause = causeOf(event, { gap: { from: previousValue, unit: event.unit } });
      if (open) note(open.causes, cause);
      else asked = [...asked.filter((each) => each.ts === ts), cause];
    }
    if (value === 'HoldCause' && open) {
      // what the batch itself keeps as the cause; its failure may have ended the element in place of holding it
      const text = message === '' ? previousValue : `${previousValue}: ${message}`;
      const bare = open.causes.findIndex((cause) => cause.text === previousValue);
      if (bare >= 0) open.causes.splice(bare, 1, causeOf(event, { text }));
    }
    if (event.eventSubType === 'State Command' && INTERRUPTING.includes(value)) {
      const cause = causeOf(event, {
        who: event.person?.displayName ?? '',
        command: value,
        refused: previousValue === '' ? '' : message,
        text: previousValue === '' ? message : '',
      });
      if (open) note(open.causes, cause);
      else if (cause.refused === '') asked = [...asked.filter((each) => each.ts === ts), cause];
    }
    if (isDeed(event)) {
      const deed = causeOf(event, { who: event.person?.displayName ?? '', deed: event });
      deeds.push(deed);
      open?.causes.push(deed);
    }
    if (event.eventSubType !== 'State Change') continue;
    const isBatch = event.element.kind === 'Batch';
    const key = `${event.element.kind}/${event.element.name}`;
    const state = COMES_TO[value] ?? (isBatch ? ENDS_AS[value] : undefined);
    if (state === undefined) {
      standing.delete(key);
      if (open && standing.size === 0) {
        spells.push(closed(open, ts));
        open = undefined;
      }
      continue;
    }
    standing.add(key);
    if (open?.leaving && STANDS.includes(value) && !STANDS.includes(previousValue)) {
      spells.push(closed(open, ts));
      open = undefined;
    }
    const spell = begin(ts);
    for (const cause of asked) note(spell.causes, cause);
    asked = [];
    if (isBatch) spell.inside = false;
    if (isBatch && value === 'Restarting') spell.leaving = true;
    if (WEIGHT.indexOf(state) > WEIGHT.indexOf(spell.state)) Object.assign(spell, { state, since: ts });
    if (!PASSED_ON.includes(message)) note(spell.causes, causeOf(event, { text: message }));
  }
  if (open) spells.push(closed(open, ''));
  return spells;
}

function causeOf({ id, ts, element, told, auditRecordRef: audit, unit, equipment }: BatchEvent, parts: Partial<Cause>): Cause {
  return {
    id,
    ts,
    who: '',
    command: '',
    refused: '',
    text: '',
    paths: element.path === '' ? [] : [element.path],
    gap: null,
    told,
    audit,
    unit,
    equipment,
    alarm: alarmOf(told),
    deed: null,
    ...parts,
  };
}

/** A mode, a value or a bypass that a person has set: the batch does not stand by it, and may not get far because of it. */
function isDeed({ eventType, eventSubType, person }: BatchEvent): boolean {
  return eventType === 'Equipment' && eventSubType === 'Modification' && person !== null;
}

const DEEDS: readonly string[] = ['State Command', 'Mode Command', 'Modification'];

/** What a person did last to the batch or to its equipment. */
export function lastDeed(events: readonly BatchEvent[]): BatchEvent | undefined {
  return events.findLast(({ eventType, eventSubType, person }) => person !== null && (DEEDS.includes(eventSubType) || eventType === 'Operator' || eventType === 'Alarm'));
}

/** The alarm whose event it is; '' for what is none, and in what an earlier release has kept. */
export function alarmOf(told: BatchEvent['told']): string {
  return told?.code === 'alarm-event' ? (told.parts.alarm ?? '') : '';
}

/** Alarms that a failure names, because they have commanded. */
function alarmsIn(told: BatchEvent['told']): readonly string[] {
  const of = told?.because ?? told;
  return of?.code === 'alarms-hold' ? (of.parts.alarms ?? '').split(', ') : [];
}

/** All that led to it and came while it lasted, in the order in which it came; an alarm that stood before and is told again is one. */
export function chainOf({ before, causes }: Spell): readonly Cause[] {
  const earlier = before.filter(({ alarm }) => alarm === '' || !causes.some((cause) => cause.alarm === alarm));
  // that an alarm has commanded is told by the alarm and by the command
  const own = causes.filter(({ told }) => !earlier.some(({ alarm }) => alarmsIn(told).includes(alarm)));
  return [...earlier, ...own];
}

/** The appliance is back, or the runtime of a unit that had ended alone: that the others are scanned again follows the first. */
function isGap({ eventSubType, value, element }: BatchEvent): boolean {
  return eventSubType === 'System' && value === 'RuntimeRestart' && element.kind === 'Batch';
}

/** A failure that several elements tell is one cause; levels above pass on its rule alone. */
function note(causes: Cause[], cause: Cause): void {
  if (cause.gap) {
    const bare = causes.findIndex(({ text }) => text === INTERRUPTED);
    if (bare >= 0) causes.splice(bare, 1, cause);
    else causes.push(cause);
    return;
  }
  if (cause.command === '' && causes.some(({ text, gap }) => text.startsWith(`${cause.text}: `) || (gap !== null && cause.text === INTERRUPTED))) return;
  const at = causes.findIndex(
    (known) =>
      known.deed === null && known.command === cause.command && known.who === cause.who && known.text === cause.text && known.refused === cause.refused && cause.command === '',
  );
  const known = causes[at];
  if (known === undefined) causes.push(cause);
  else causes[at] = { ...known, paths: [...new Set([...known.paths, ...cause.paths])] };
}

function closed({ deeds, before, ...open }: Open, to: string): Spell {
  const led = deedsBefore(deeds, [...before, ...open.causes], open.causes);
  return { ...open, to, before: [...led, ...before].sort((a, b) => a.id - b.id) };
}

/** What people did to the unit of an alarm that has commanded, in the minutes before it came. */
function deedsBefore(deeds: readonly Cause[], alarms: readonly Cause[], causes: readonly Cause[]): readonly Cause[] {
  const commanded = new Set(causes.flatMap(({ told }) => (told?.code === 'alarm-commands' ? [told.parts.alarm ?? ''] : alarmsIn(told))));
  const came = alarms.filter(({ alarm }) => commanded.has(alarm));
  return deeds.filter(({ unit, id, ts }) => came.some((alarm) => alarm.unit === unit && id < alarm.id && Date.parse(alarm.ts) - Date.parse(ts) <= LEADS_MS));
}

/** Facts are numbered in the order in which they were written, whatever the clock said: `news` may tell again what is known. */
export function withNews(known: readonly BatchEvent[], news: readonly BatchEvent[]): readonly BatchEvent[] {
  const last = known.at(-1)?.id ?? 0;
  const found = news.filter(({ id }) => id > last);
  return found.length > 0 ? [...known, ...found] : known;
}

/** The refusal that the batch still shows, with who had asked. */
export function refusedBy(events: readonly BatchEvent[], command: string): string {
  const asked = events.findLast((event) => event.eventSubType === 'State Command' && event.value === command && event.previousValue !== '');
  return asked?.person?.displayName ?? '';
}

/** What a state change gives as its cause where it says nothing that the change itself does not say. */
const SAYS_NOTHING: readonly string[] = ['', 'procedure', 'complete', 'failure'];

export function saysWhy({ message }: Pick<BatchEvent, 'message'>): boolean {
  return !SAYS_NOTHING.includes(message);
}

/** What a reader looks for; how a command passes down the procedure is told by the tree, and that it is the cause of a hold by the command. */
export function isTold({ eventType, eventSubType, element, message, value, told }: BatchEvent): boolean {
  if (value === 'HoldCause' && told?.code === 'held-by') return false;
  if (eventSubType === 'Parameter Data' || eventSubType === 'Allocation' || eventSubType === 'Deallocation') return false;
  if (eventSubType === 'State Change') return element.kind === 'Batch' || !PASSED_ON.includes(message);
  return eventType !== 'Message';
}
