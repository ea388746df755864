/**
 * Why work cannot begin: tables of conditions, each with the rule that refuses (decisions 3.2), the check under which people read
 * of it, and who can lift it. Three walkers read a table: the first refusal (the judge of a command), all rows (preflight), the
 * refusal of a request. A condition finds out what is so, changes nothing, and tells nobody.
 */
import * as v from 'valibot';
import { type Told, withTold } from '../../../../runtime/vocabulary/told.js';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import { conflict } from '../../../platform/base/refusal.js';
import { ToldSchema } from '../../runs/told-schema.js';
import { TIERS } from '../../../platform/http/tiers.js';
import type { ToldBy } from '../../../platform/http/replies.js';

/** Of a Restart, and of a Resume (restart-check.ts). */
export const RESTART_CHECKS = ['command', 'alarms', 'modes', 'devices', 'runtime-ready'] as const;

/** Of a Start, in the order in which people read them. */
export const PREFLIGHT_CHECKS = [
  'recipe-effective',
  'batch-id',
  'formula-limits',
  'batch-size',
  'equipment',
  'bindings',
  'devices',
  'configuration',
  'modes',
  'charts',
  'runtime-ready',
  'storage',
  'coordination',
] as const;

export type CheckName = (typeof PREFLIGHT_CHECKS | typeof RESTART_CHECKS)[number];

/** The least tier that may do it, and what there is to do; `holder` has the unit and gives it back by ending. */
export const LiftedBy = v.strictObject({ tier: v.picklist(TIERS), action: v.string(), holder: v.optional(v.string()) });
export type LiftedBy = ToldBy<typeof LiftedBy>;

/** A resource that a row is about: the way to it. `unit` is '' where it belongs to none. */
export const About = v.strictObject({ kind: v.string(), name: v.string(), unit: v.string() });
export type About = ToldBy<typeof About>;

/** What decides a row now: the value of a tag, and what it has to be; both as text, in the unit of measure of the tag. */
export const DecidedBy = v.strictObject({ address: v.string(), value: v.string(), wanted: v.picklist(['<=', '>=', '=']), limit: v.string() });
export type DecidedBy = ToldBy<typeof DecidedBy>;

/** One thing in the way. `severity` error where it is silent: a warning keeps nothing from starting. */
export interface Blocker {
  readonly message: string;
  /** Unit, step or parameter that it is about; stands beside the message in a row. */
  readonly element?: string;
  readonly liftedBy: LiftedBy;
  readonly severity?: 'warning';
  /** It was in the way and is so no more: people see what has been put right. */
  readonly isLifted?: true;
  readonly about?: About;
  readonly decidedBy?: DecidedBy;
  /** The same as `message`. */
  readonly told?: Told;
  /** The sentence of a refusal, which has no element beside it; the message where it is absent. */
  readonly refusal?: string;
  /** Instead of the rule of the condition. */
  readonly rule?: string;
  /** Units that a refusal names. */
  readonly units?: readonly string[];
  /** Members of the error body of a refused request. */
  readonly context?: Readonly<Record<string, unknown>>;
}

export interface StartCondition<Look> {
  /** Decisions 3.2; '' where no command is refused by it. */
  readonly rule: string;
  readonly check: CheckName;
  readonly find: (look: Look) => readonly Blocker[];
  /** One refusal of all that keep it from starting; that of the first where it is absent. */
  readonly refuse?: (blockers: readonly [Blocker, ...Blocker[]], look: Look) => Pick<Blocker, 'message' | 'told' | 'units' | 'context'>;
}

export interface StartRefusal {
  readonly rule: string;
  /** Of the error body of a refused request. */
  readonly code: string;
  readonly message: string;
  readonly told?: Told;
  readonly units: readonly string[];
  readonly context: Readonly<Record<string, unknown>>;
}

export const PreflightCheck = v.strictObject({
  check: v.picklist([...PREFLIGHT_CHECKS, ...RESTART_CHECKS]),
  ok: v.boolean(),
  severity: v.picklist(['error', 'warning']),
  message: v.string(),
  /** Unit, step or parameter that it is about. */
  element: v.string(),
  /** Absent when the check is passed. */
  liftedBy: v.optional(LiftedBy),
  about: v.optional(About),
  decidedBy: v.optional(DecidedBy),
  told: v.optional(ToldSchema),
});
export type PreflightCheck = ToldBy<typeof PreflightCheck>;

nameSchemas({ LiftedBy, PreflightAbout: About, PreflightDecidedBy: DecidedBy, PreflightCheck });

// ---------------------------------------------------------------- the three walkers

/** Of the first condition that keeps it from starting; those behind it are not looked at. */
export function firstRefusal<Look>(conditions: readonly StartCondition<Look>[], look: Look): StartRefusal | undefined {
  for (const { rule, find, refuse } of conditions) {
    const [first, ...others] = find(look).filter(({ severity, isLifted }) => severity !== 'warning' && !isLifted);
    if (!first) continue;
    const { message, told, units = [], context = {} } = refuse?.([first, ...others], look) ?? { ...first, message: first.refusal ?? first.message };
    return { rule: first.rule ?? rule, code: rule.replaceAll('-', '_'), message, ...withTold(told), units, context };
  }
  return undefined;
}

/** One row per blocker, or one that says that the check is passed; in the order of `checks`. */
export function checkRows<Look>(checks: readonly CheckName[], conditions: readonly StartCondition<Look>[], look: Look): PreflightCheck[] {
  return checks.flatMap((check) =>
    rowsOf(
      check,
      conditions.flatMap((condition) => (condition.check === check ? condition.find(look) : [])),
    ),
  );
}

export function rowsOf(check: CheckName, blockers: readonly Blocker[]): PreflightCheck[] {
  if (blockers.length === 0) return [{ check, ok: true, severity: 'error', message: '', element: '' }];
  return blockers.map(({ message, element, liftedBy, severity, isLifted, about, decidedBy, told }) => ({
    check,
    ok: isLifted === true,
    severity: severity ?? 'error',
    message,
    element: element ?? '',
    ...(isLifted ? {} : { liftedBy }),
    ...(about ? { about } : {}),
    ...(decidedBy ? { decidedBy } : {}),
    ...withTold(told),
  }));
}

/** Whether nothing but warnings is left. */
export function mayStart(rows: readonly PreflightCheck[]): boolean {
  return rows.every(({ ok, severity }) => ok || severity === 'warning');
}

/** @throws Refusal 409 whose code is the rule of the condition, before anything is recorded. */
export function refuseRequest<Look>(conditions: readonly StartCondition<Look>[], look: Look): void {
  const refusal = firstRefusal(conditions, look);
  if (refusal) throw conflict(refusal.code, refusal.message, refusal.context);
}
