/**
 * What stood against a batch, from its execution events (decisions 8.3): each time it or a part of
 * it was held, paused, stopped or aborted is one spell with its causes in the order in which they came. The first cause stays
 * the first: what is refused or found while a batch is held already says nothing of why it is held.
 */
import type { BatchEvent } from './types.js';

export interface Cause {
  readonly ts: string;
  /** A person by name, or the controller that commanded; empty when it was a failure of an element. */
  readonly who: string;
  /** The command, when it was one. */
  readonly command: string;
  /** Why the command was refused; empty when it was carried out. */
  readonly refused: string;
  /** The reason that was given, or the failure in the gateway's words. */
  readonly text: string;
  /** Steps of the procedure it was found at; empty for the batch itself. */
  readonly paths: readonly string[];
}

export interface Spell {
  readonly from: string;
  /** Empty while it lasts. */
  readonly to: string;
  /** What it came to: `Held`, `Paused`, `Stopped`, `Aborted` or `Failed`. */
  readonly state: string;
  /** The batch itself ran on: only parts of it stood. */
  readonly inside: boolean;
  readonly causes: readonly Cause[];
}

/** On the way to a state as in it: one spell. */
const COMES_TO: Readonly<Record<string, string>> = { Holding: 'Held', Held: 'Held', Restarting: 'Held', Pausing: 'Paused', Paused: 'Paused' };
const ENDS_AS: Readonly<Record<string, string>> = { Stopping: 'Stopped', Stopped: 'Stopped', Aborting: 'Aborted', Aborted: 'Aborted', Failed: 'Failed' };
const WEIGHT: readonly string[] = ['Paused', 'Held', 'Stopped', 'Aborted', 'Failed'];
const INTERRUPTING: readonly string[] = ['Hold', 'Pause', 'Stop', 'Abort'];
/** Causes of state changes that only pass on what another event tells. */
const PASSED_ON: readonly string[] = ['', 'Start', 'Hold', 'Restart', 'Pause', 'Resume', 'Stop', 'Abort', 'Reset', 'procedure', 'complete', 'failure'];

interface Open {
  from: string;
  state: string;
  inside: boolean;
  readonly causes: Cause[];
}

/** @param events oldest first. @returns oldest first. */
export function spellsOf(events: readonly BatchEvent[]): Spell[] {
  const spells: Spell[] = [];
  /** Elements that stand, the batch among them. */
  const standing = new Set<string>();
  let open: Open | undefined;
  /** Commands of the transaction that a state change tells of may come before or after it. */
  let asked: Cause[] = [];
  const begin = (ts: string): Open => {
    open ??= { from: ts, state: '', inside: true, causes: [] };
    return open;
  };
  for (const event of events) {
    const { ts, value, message } = event;
    if (event.eventType === 'Alarm' && open && value.startsWith('Active')) note(open.causes, causeOf(event, { text: message }));
    if (event.eventSubType === 'State Command' && INTERRUPTING.includes(value)) {
      const cause = causeOf(event, {
        who: event.person?.displayName ?? '',
        command: value,
        refused: event.previousValue === '' ? '' : message,
        text: event.previousValue === '' ? message : '',
      });
      if (open) note(open.causes, cause);
      else if (cause.refused === '') asked = [...asked.filter((each) => each.ts === ts), cause];
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
    const spell = begin(ts);
    for (const cause of asked) note(spell.causes, cause);
    asked = [];
    if (isBatch) spell.inside = false;
    if (WEIGHT.indexOf(state) > WEIGHT.indexOf(spell.state)) spell.state = state;
    if (!PASSED_ON.includes(message)) note(spell.causes, causeOf(event, { text: message }));
  }
  if (open) spells.push(closed(open, ''));
  return spells;
}

function causeOf({ ts, element }: BatchEvent, parts: Partial<Cause>): Cause {
  return { ts, who: '', command: '', refused: '', text: '', paths: element.path === '' ? [] : [element.path], ...parts };
}

/** A failure that several elements tell is one cause. */
function note(causes: Cause[], cause: Cause): void {
  const at = causes.findIndex(
    (known) => known.command === cause.command && known.who === cause.who && known.text === cause.text && known.refused === cause.refused && cause.command === '',
  );
  if (at < 0) causes.push(cause);
  else causes[at] = { ...causes[at], paths: [...new Set([...causes[at].paths, ...cause.paths])] };
}

function closed(open: Open, to: string): Spell {
  return { ...open, to };
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

/** What a reader looks for; how a command passes down the procedure is told by the tree. */
export function isTold({ eventType, eventSubType, element, message }: BatchEvent): boolean {
  if (eventSubType === 'Parameter Data' || eventSubType === 'Allocation' || eventSubType === 'Deallocation') return false;
  if (eventSubType === 'State Change') return element.kind === 'Batch' || !PASSED_ON.includes(message);
  return eventType !== 'Message';
}
