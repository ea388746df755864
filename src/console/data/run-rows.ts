/** A batch as it ran, from its timeline and events (decisions 8.3): rows of units and elements for a time bar, and what each element took. Pure. */
import { isResting, isStanding } from './states.js';
import type { BatchEvent, Timeline } from './types.js';
import type { TimeSpan } from '../parts/time-bar.js';

type Lane = Timeline['lanes'][number];

/** Of one element: its run, which ends where it came to an end. */
export interface ElementRun {
  readonly path: string;
  readonly kind: string;
  readonly unit: string;
  readonly state: string;
  /** '' before its turn. */
  readonly from: string;
  /** '' while it is not over. */
  readonly to: string;
  /** In which it stood: held or paused. */
  readonly stoodMs: number;
}

const msOf = (ts: string, elseMs: number): number => (ts === '' ? elseMs : Date.parse(ts));

/** By path; of an element that ran several times the last run. */
export function runsOf({ lanes }: Timeline, nowMs: number): ReadonlyMap<string, ElementRun> {
  return new Map(lanes.flatMap((lane) => (lane.kind === 'Batch' ? [] : [[lane.path, runOf(lane, nowMs)] as const])));
}

function runOf({ path, kind, unit, spans }: Lane, nowMs: number): ElementRun {
  const worked = spans.filter(({ state }) => !isResting(state));
  const begun = spans.findLastIndex(({ state }, at) => !isResting(state) && isResting(spans[at - 1]?.state ?? ''));
  const run = begun < 0 ? [] : spans.slice(begun);
  const stoodMs = worked.filter(({ state }) => isStanding(state)).reduce((sum, { from, to }) => sum + msOf(to, nowMs) - Date.parse(from), 0);
  const end = run.find(({ state }) => isResting(state));
  return { path, kind, unit, state: spans.at(-1)?.state ?? '', from: run[0]?.from ?? '', to: end?.from ?? '', stoodMs };
}

/** How long it took, or has taken so far; undefined before its turn. */
export function tookMs({ from, to }: ElementRun, nowMs: number): number | undefined {
  return from === '' ? undefined : msOf(to, nowMs) - Date.parse(from);
}

export interface UnitRow {
  readonly unit: string;
  readonly spans: readonly TimeSpan[];
}

/** The phases of each unit; those at work at once stand in rows below each other. */
export function unitRows({ lanes }: Timeline, events: readonly BatchEvent[], nowMs: number, stateText: (state: string) => string): readonly UnitRow[] {
  const phases = lanes.filter(({ kind, spans }) => kind === 'Phase' && spans.some(({ state }) => !isResting(state)));
  const units = [...new Set(phases.map(({ unit }) => unit))];
  const asked = promptSpans(events, nowMs);
  return units.flatMap((unit) => {
    const rows: TimeSpan[][] = [];
    for (const lane of phases.filter((each) => each.unit === unit)) {
      const spans = spansOf(
        lane,
        asked.filter(({ path }) => path === lane.path),
        nowMs,
        stateText,
      );
      const first = spans[0];
      if (!first) continue;
      const row = rows.find((each) => (each.at(-1)?.toMs ?? 0) <= first.fromMs);
      if (row) row.push(...spans);
      else rows.push([...spans]);
    }
    return rows.map((spans) => ({ unit, spans }));
  });
}

/** What a phase did: at work, asking somebody, or standing. */
function spansOf({ path, spans }: Lane, asked: readonly PromptSpan[], nowMs: number, stateText: (state: string) => string): TimeSpan[] {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const merged: TimeSpan[] = [];
  for (const { state, from, to } of spans) {
    if (isResting(state)) continue;
    const stands = isStanding(state);
    const span: TimeSpan = { fromMs: Date.parse(from), toMs: msOf(to, nowMs), look: stands ? 'held' : 'step', text: stands ? stateText(resting(state)) : name };
    const last = merged.at(-1);
    if (last && last.look === span.look && last.toMs === span.fromMs) merged[merged.length - 1] = { ...last, toMs: span.toMs, text: stands ? span.text : last.text };
    else merged.push(span);
  }
  return merged.flatMap((span) => (span.look === 'step' ? withWaits(span, asked) : [span]));
}

function resting(state: string): string {
  return state === 'Holding' ? 'Held' : state === 'Pausing' ? 'Paused' : state;
}

function withWaits(span: TimeSpan, asked: readonly PromptSpan[]): TimeSpan[] {
  const parts: TimeSpan[] = [];
  let fromMs = span.fromMs;
  for (const { fromMs: askedMs, toMs } of asked) {
    const [begin, end] = [Math.max(span.fromMs, askedMs), Math.min(span.toMs, toMs)];
    if (begin >= end) continue;
    if (begin > fromMs) parts.push({ ...span, fromMs, toMs: begin });
    parts.push({ ...span, fromMs: begin, toMs: end, look: 'waits', text: `${span.text} ?` });
    fromMs = end;
  }
  if (fromMs < span.toMs) parts.push({ ...span, fromMs });
  return parts;
}

interface PromptSpan {
  readonly path: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** From the question to its answer, or until it went. */
function promptSpans(events: readonly BatchEvent[], nowMs: number): PromptSpan[] {
  const spans: PromptSpan[] = [];
  const open = new Map<string, number>();
  for (const { ts, eventType, eventSubType, element, previousValue } of events) {
    if (eventType !== 'Operator') continue;
    const isAsked = eventSubType === 'Prompt' && previousValue !== 'PromptCancelled';
    if (isAsked) {
      open.set(element.path, Date.parse(ts));
      continue;
    }
    const fromMs = open.get(element.path);
    if (fromMs === undefined) continue;
    spans.push({ path: element.path, fromMs, toMs: Date.parse(ts) });
    open.delete(element.path);
  }
  return [...spans, ...[...open].map(([path, fromMs]) => ({ path, fromMs, toMs: nowMs }))];
}

/** One row for the whole: the operations of the unit that was longest at work, and where the batch itself stood. */
export function wholeSpans({ lanes }: Timeline, nowMs: number, stateText: (state: string) => string): readonly TimeSpan[] {
  const operations = lanes.filter(({ kind }) => kind === 'Operation').map((lane) => runOf(lane, nowMs));
  const byUnit = new Map<string, number>();
  for (const run of operations) byUnit.set(run.unit, (byUnit.get(run.unit) ?? 0) + (tookMs(run, nowMs) ?? 0));
  const [longest] = [...byUnit].sort(([, a], [, b]) => b - a);
  const steps = operations
    .filter(({ unit, from }) => unit === longest?.[0] && from !== '')
    .map(({ path, from, to }): TimeSpan => ({ fromMs: Date.parse(from), toMs: msOf(to, nowMs), text: path.slice(path.lastIndexOf('/') + 1), look: 'step' }));
  const batch = lanes.find(({ kind }) => kind === 'Batch');
  const stood = batch ? spansOf(batch, [], nowMs, stateText).filter(({ look }) => look === 'held') : [];
  return [...steps, ...stood.map((span) => ({ ...span, text: '' }))];
}
