/**
 * What another limit, deadband or debounce would have done (ISA-18.2-2016, clause 16: what assessment finds is tried before
 * it is changed): the samples of the historian go through the evaluator of the scan twice, as the definition is and as it
 * would be. Changes nothing. Not shown in the contract; an added route.
 */
import type { WallMs } from '../../platform/base/times.js';
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { conflict, invalid, missing } from '../../platform/base/refusal.js';
import type { History } from '../../platform/history/history.js';
import { readInstant } from '../../platform/http/instant-field.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { type Route, routesFor } from '../../platform/http/route.js';
import { checkReferences } from '../../platform/store/references.js';
import type { Store } from '../../platform/store/store.js';
import { AlarmReplay, ReplayReport } from './alarm-replay.js';
import { type GateHistory, gateHistory, openMs } from './gate-history.js';
import { AlarmDefinition, AlarmDefinitionSpec } from './kind.js';
import { addressOf, alarmPlan, isKnownCondition, isOnTag, type TagDefinition } from './plan.js';
import { admitDefinition } from './rules.js';

export interface WhatIfDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Absent when `historian.enabled` is false. */
  readonly history?: Pick<History, 'series' | 'eventsJson'> | undefined;
  readonly timeScale: () => number;
  /** Setting `historian.minInterval`. */
  readonly intervalMinMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WINDOW_MAX_MS = 31 * DAY_MS;
/** What came so long before the window decides whether an alarm stood when it began. */
const BEFORE_MS = HOUR_MS;
/** At a sample a second some 20,000: replayed in a few milliseconds, so that nobody waits behind it. */
const PIECE_MS = 6 * HOUR_MS;
const SAMPLE_AT_LEAST_S = 60; // decisions 8.9
const SAMPLED_CHANGE = 0.001; // of the range of the tag; decisions 8.9

const CHANGES = ['threshold', 'setpoint', 'deadband', 'debounceSeconds'] as const;
const { threshold, setpoint, deadband, debounceSeconds } = AlarmDefinitionSpec.entries;

const Body = v.strictObject({
  threshold: v.optional(threshold.wrapped),
  setpoint: v.optional(setpoint.wrapped),
  deadband: v.optional(deadband.wrapped),
  debounceSeconds: v.optional(debounceSeconds.wrapped),
  from: v.optional(v.string()),
  to: v.optional(v.string()),
});
type Body = v.InferOutput<typeof Body>;

const Limits = v.strictObject({ threshold: v.string(), setpoint: v.string(), deadband: v.string(), debounceSeconds: v.number() });
const Replayed = v.strictObject({ ...Limits.entries, ...ReplayReport.entries });
const WhatIf = v.strictObject({
  definition: v.string(),
  address: v.string(),
  from: v.string(),
  to: v.string(),
  samples: v.number(),
  gaps: v.number(),
  now: Replayed,
  changed: Replayed,
  resolution: v.strictObject({ closestSeconds: v.number(), atLeastEverySeconds: v.number(), changeOfRange: v.number(), armingGate: v.string() }),
});
type WhatIf = ToldBy<typeof WhatIf>;

nameSchemas({ AlarmWhatIfBody: Body, ReplayedLimits: Replayed, AlarmWhatIf: WhatIf });

interface Window {
  readonly fromMs: WallMs;
  readonly toMs: WallMs;
}

const route = routesFor<WhatIfDeps>();

export const whatIfRoutes: readonly Route<WhatIfDeps>[] = [
  route({
    method: 'POST',
    path: '/api/v1/sites/{site}/alarmdefinitions/{name}/what-if',
    action: 'alarmdefinition:what-if',
    tier: 'read',
    computes: true,
    body: Body,
    reply: WhatIf,
    errors: { 409: ['historian_disabled'] },
    summary: 'How often a definition on a tag would have raised its alarm with other limits; from, to default to the last 24 h, at most 31 days',
    exists: ({ site, name }, { store }) => {
      if (!store.get(AlarmDefinition, site, name)) throw missing(AlarmDefinition.kind, name);
    },
    async handle({ params: { site, name }, body }, deps): Promise<WhatIf> {
      const { store, history, timeScale, intervalMinMs } = deps;
      const found = store.get(AlarmDefinition, site, name);
      if (!found) throw missing(AlarmDefinition.kind, name);
      const before = onTag(found.spec);
      const asked = { ...before, ...changesOf(body) };
      checkReferences(AlarmDefinition, asked, site, store);
      const after = onTag(admitDefinition(asked, { read: store, site, name, via: 'rest', before: found }));
      const window = readWindow(body, deps.clock.wallMs());
      if (!history) throw conflict('historian_disabled', 'the historian is off, so there is nothing to replay; set historian.enabled');
      const gated = before.armingGate && { gate: before.armingGate, site, fromMs: window.fromMs - BEFORE_MS, nowMs: deps.clock.wallMs() };
      const gate = gated ? await gateHistory(gated, store, history) : undefined;
      const replayOf = (spec: TagDefinition): AlarmReplay => new AlarmReplay(alarmPlan(name, spec, 0), window.fromMs, timeScale(), gate);
      const replays = { before: replayOf(before), after: replayOf(after) };
      for (let fromMs = window.fromMs - BEFORE_MS; fromMs < window.toMs; fromMs += PIECE_MS) {
        const series = await history.series(site, addressOf(before), fromMs, Math.min(fromMs + PIECE_MS, window.toMs));
        if (series) for (const replay of Object.values(replays)) replay.take(series);
      }
      const now = { ...limitsOf(before), ...replays.before.report(window.toMs) };
      const changed = { ...limitsOf(after), ...replays.after.report(window.toMs) };
      const { samples, gaps } = replays.before;
      return {
        definition: name,
        address: addressOf(before),
        from: timestamp(window.fromMs),
        to: timestamp(window.toMs),
        samples,
        gaps,
        now,
        changed,
        // what came and went between two samples is not seen here, though the scan has seen it
        resolution: { closestSeconds: intervalMinMs / 1000, atLeastEverySeconds: SAMPLE_AT_LEAST_S, changeOfRange: SAMPLED_CHANGE, armingGate: gateWords(before, gate, window) },
      };
    },
  }),
];

/** What of the arming gate went into the answer. */
function gateWords({ armingGate }: AlarmDefinitionSpec, gate: GateHistory | undefined, { fromMs, toMs }: Window): string {
  if (!armingGate) return 'none';
  if (!gate) return 'not replayed: taken as open, because the unit has changed its states too often; choose a shorter window';
  const left = gate.unknownPhases === 0 ? '' : `; ${gate.unknownPhases} phases whose template is not recorded are left out`;
  return `replayed: open for ${Math.round(openMs(gate, fromMs, toMs) / 1000)} s of the window${left}`;
}

/** @throws Refusal for a definition whose condition the scan does not evaluate. */
function onTag(spec: AlarmDefinitionSpec): TagDefinition {
  if (!isKnownCondition(spec)) throw invalid('invalid_field', 'conditionType', `${spec.conditionType} is no condition; give the definition one that is`);
  if (!isOnTag(spec)) throw invalid('invalid_field', 'conditionType', 'the definition watches a state; only conditions on tags have samples to replay');
  return spec;
}

function changesOf(body: Body): Partial<AlarmDefinitionSpec> {
  return Object.fromEntries(CHANGES.flatMap((field) => (body[field] === undefined ? [] : [[field, body[field]]])));
}

function limitsOf({ threshold, setpoint, deadband, debounceSeconds }: AlarmDefinitionSpec): ToldBy<typeof Limits> {
  return { threshold, setpoint, deadband, debounceSeconds };
}

/** @throws Refusal `invalid_field` naming the field. */
function readWindow(body: Body, nowMs: WallMs): Window {
  const toMs = Math.min(timeOf(body, 'to') ?? nowMs, nowMs);
  const fromMs = timeOf(body, 'from') ?? toMs - DAY_MS;
  if (fromMs >= toMs) throw invalid('invalid_field', 'from', 'from must be earlier than to, and than now');
  if (toMs - fromMs > WINDOW_MAX_MS) throw invalid('invalid_field', 'from', 'from and to must be at most 31 days apart', { max: '31d' });
  return { fromMs, toMs };
}

function timeOf(body: Body, field: 'from' | 'to'): number | undefined {
  const text = body[field];
  return text === undefined || text === '' ? undefined : readInstant(text, field);
}
