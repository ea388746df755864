/** Options of I/O modules as tables (decisions 7.2, 7.3): name, type, default, bounds; one walk checks and reads them. */
import { parseDuration } from '../language/time-text.js';

export interface OptionSpec {
  readonly name: string;
  readonly type: 'duration' | 'integer' | 'boolean' | 'text' | 'choice';
  /** As served; a duration text of `''` means "derived". */
  readonly default: string | number | boolean;
  /** In ms for durations. */
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly string[];
  /** What a text has to be beside a text: the sentence that refuses it. */
  readonly problem?: (text: string) => string | undefined;
  /** Never served and never logged. */
  readonly secret?: boolean;
  readonly meaning: string;
}

export type OptionValue = string | number | boolean;

/** Decisions 7.2. */
export const COMMON_OPTIONS: readonly OptionSpec[] = [
  { name: 'pollInterval', type: 'duration', default: '500ms', min: 10, max: 3_600_000, meaning: 'time between two reads of a channel' },
  { name: 'timeout', type: 'duration', default: '1s', min: 1, max: 600_000, meaning: 'time a device has to answer one request' },
  { name: 'retries', type: 'integer', default: 2, min: 0, max: 100, meaning: 'repetitions of an unanswered request before the connection is rebuilt' },
  { name: 'staleAfter', type: 'duration', default: '', min: 1, meaning: 'age at which a sample becomes Uncertain; empty: 3 poll periods, at least 2 s' },
];

function outside(spec: OptionSpec, value: number): boolean {
  return (spec.min !== undefined && value < spec.min) || (spec.max !== undefined && value > spec.max);
}

function boundsText(spec: OptionSpec): string {
  const unit = spec.type === 'duration' ? ' ms' : '';
  if (spec.max === undefined) return `at least ${spec.min}${unit}`;
  return `${spec.min ?? 0} to ${spec.max}${unit}`;
}

function readDuration(spec: OptionSpec, given: OptionValue): number | string {
  if (given === '' && spec.default === '') return 0;
  const ms = typeof given === 'number' ? given : parseDuration(String(given).trim());
  if (ms === null || !Number.isFinite(ms)) return `option ${spec.name} must be a duration such as 500ms or 2s`;
  return outside(spec, ms) ? `option ${spec.name} must be ${boundsText(spec)}` : ms;
}

function readInteger(spec: OptionSpec, given: OptionValue): number | string {
  const value = typeof given === 'boolean' || given === '' ? Number.NaN : Number(given);
  if (!Number.isInteger(value)) return `option ${spec.name} must be a whole number`;
  return outside(spec, value) ? `option ${spec.name} must be ${boundsText(spec)}` : value;
}

type Read = { readonly ok: true; readonly value: OptionValue } | { readonly ok: false; readonly message: string };

function numeric(result: number | string): Read {
  return typeof result === 'number' ? { ok: true, value: result } : { ok: false, message: result };
}

/** One option in working form: durations in ms, `0` for an empty duration. */
export function readOption(spec: OptionSpec, given: OptionValue): Read {
  switch (spec.type) {
    case 'duration':
      return numeric(readDuration(spec, given));
    case 'integer':
      return numeric(readInteger(spec, given));
    case 'boolean':
      if (typeof given === 'boolean') return { ok: true, value: given };
      if (given === 'true' || given === 'false') return { ok: true, value: given === 'true' };
      return { ok: false, message: `option ${spec.name} must be true or false` };
    case 'choice':
      if (spec.choices?.includes(String(given))) return { ok: true, value: String(given) };
      return { ok: false, message: `option ${spec.name} must be one of ${spec.choices?.join(', ')}` };
    case 'text': {
      const problem = spec.problem?.(String(given));
      return problem === undefined ? { ok: true, value: String(given) } : { ok: false, message: `option ${spec.name}: ${problem}` };
    }
  }
}

/** Problems of the options given; an unknown name is one (decisions 7.1). */
export function optionProblems(table: readonly OptionSpec[], given: Readonly<Record<string, OptionValue>>): { option: string; message: string }[] {
  return Object.entries(given).flatMap(([option, value]) => {
    const spec = table.find((row) => row.name === option);
    if (!spec) return [{ option, message: `option ${option} is not known; known are ${table.map((row) => row.name).join(', ')}` }];
    const result = readOption(spec, value);
    return result.ok ? [] : [{ option, message: result.message }];
  });
}

/** All options in working form, defaults filled in; one that does not read falls back to its default. */
export function resolveOptions(table: readonly OptionSpec[], given: Readonly<Record<string, OptionValue>>): Record<string, OptionValue> {
  return Object.fromEntries(
    table.map((spec) => {
      const result = readOption(spec, given[spec.name] ?? spec.default);
      if (result.ok) return [spec.name, result.value];
      const fallback = readOption(spec, spec.default);
      return [spec.name, fallback.ok ? fallback.value : spec.default];
    }),
  );
}

export function numberOption(options: Readonly<Record<string, OptionValue>>, name: string): number {
  return Number(options[name]);
}
