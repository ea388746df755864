/** What happened in a span, as marks of a trend: alarms that came, phases that began, batches that began and ended. */
import { get } from './api.js';
import { logPage } from './listed.js';
import { atSite, site } from './plant.js';
import { can } from './session.js';
import type { Span } from './trend.js';
import type { AlarmEvent, LogPage, RecordedState } from './types.js';

export interface Happening {
  readonly atMs: number;
  readonly kind: 'alarm' | 'phase' | 'batch';
  /** Of a phase the last part of its name, of a batch its state. */
  readonly text: string;
  readonly unit: string;
}

/** More are no marks any more. */
const MARKS_MAX = 500;
const STARTS = 'Running';

/** Of the units that the pens are of, ascending. */
export async function readHappenings(units: readonly string[], { fromMs, toMs }: Span): Promise<Happening[]> {
  const question = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), limit: String(MARKS_MAX) };
  const [came, states] = await Promise.all([
    can('alarm:history') ? logPage<AlarmEvent>(atSite('alarmevents'), { ...question, event: 'Activated' }, '', { background: true }).then(({ items }) => items) : [],
    can('historian:states') ? Promise.all(units.map((unit) => statesOf(unit, question))).then((each) => each.flat()) : [],
  ]);
  const alarms = came
    .filter(({ unit }) => units.includes(unit))
    .map(({ timestamp, message, alarm, unit }) => ({ atMs: Date.parse(timestamp), kind: 'alarm' as const, text: message || alarm, unit }));
  const begun = states
    .filter(({ kind, from, to }) => kind === 'Phase' && to === STARTS && (from === 'Idle' || from === ''))
    .map(({ ts, name, templateRef, unit }) => ({ atMs: Date.parse(ts), kind: 'phase' as const, text: templateRef ?? lastPart(name), unit }));
  return [...alarms, ...begun].sort((a, b) => a.atMs - b.atMs);
}

async function statesOf(unit: string, question: Readonly<Record<string, string>>): Promise<readonly RecordedState[]> {
  const query = new URLSearchParams({ site: site.peek(), unit, ...question });
  return (await get<LogPage<RecordedState>>(`/api/v1/historian/states?${query}`, { background: true })).items;
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
