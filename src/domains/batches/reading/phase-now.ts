/**
 * What the chart of a phase waits for, with the values of now: a chart that waits tells nothing, and in Manual, Paused and Held it judges
 * nothing either. It is evaluated for whoever looks, with the rules of the chart, and fires nothing. What only the chart can know (a variable
 * that it computes in each scan, what a call has answered) stays as it was told last, and says so.
 */
import { type ConditionResult, evaluateCondition, explainCondition, type EvaluationScope } from '../../../../runtime/language/evaluate.js';
import { printTime } from '../../../../runtime/language/time-text.js';
import { parseDecimal, parseValueText } from '../../../../runtime/language/value-text.js';
import { Any, anyOf } from '../../../../runtime/language/values.js';
import type { SfcStatus, TransitionReport } from '../../../../runtime/port.js';
import { QUALITY, qualityWord } from '../../../../runtime/vocabulary/quality.js';
import type { State } from '../../../../runtime/vocabulary/states.js';
import { inside } from '../../../platform/base/assert.js';
import type { Resource } from '../../../platform/store/resource.js';
import { readSign } from '../../../platform/store/life-sign.js';
import type { Store } from '../../../platform/store/store.js';
import { trueNames } from '../../coordination/progress.js';
import { conditionOf } from '../../placement/conditions.js';
import { isWithinAge, type TagAge, type UnitLink, type UnitRuntimes } from '../../placement/runtimes.js';
import type { ConditionPart, TransitionState } from '../../procedures/chart-status.js';
import type { ElementStatus, PhaseSpec } from '../../procedures/kind.js';
import { scopeOf } from '../../procedures/roots.js';
import { boundRoles } from '../phases/phase-plan.js';
import { elementIndex } from '../tree/element-index.js';
import { giversOf, type SideNames, withSides } from './condition-sides.js';

type PhaseResource = Resource<PhaseSpec, ElementStatus>;

export interface NowWorld {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
}

/** States in which the times of the steps of the running chart go on; in all others they stand. */
const RUNS: readonly State[] = ['Running', 'Pausing'];

export function sfcNow(phase: PhaseResource, chart: SfcStatus, which: 'running' | 'exception', world: NowWorld) {
  if (chart.transitionStates.length === 0) return chart;
  const names = new PhaseNames(phase, which, world);
  return { ...chart, transitionStates: chart.transitionStates.map((report) => transitionNow(report, names)) };
}

/** A report of the chart with the values of now. */
export function transitionNow(report: TransitionReport, names: PhaseNames): TransitionState {
  const { conditionST, fromStep } = report;
  const told = { ...report, subConditions: report.subConditions.map((part) => withSides(part, names.sides)) };
  if (conditionST.trim() === '') return told; // whether an action has finished is told as soon as it is so
  const expression = conditionOf(conditionST);
  if (!expression) return told;
  const subConditions = report.subConditions.map((part) => partNow(part, names));
  const { verdict, unknown } = names.judged((scope) => evaluateCondition(expression, scope));
  if (unknown !== '') return { ...told, subConditions, asTold: unknown };
  const { reason: _then, ...rest } = told;
  const { result } = verdict;
  // one that was without a value says nothing of its branches
  const isReady = report.evaluated || (report.result !== 'TRUE' && report.result !== 'FALSE' && !names.joinsBranches(fromStep));
  const evaluated = isReady && result !== 'INVALID';
  const reason = 'reason' in verdict ? verdict.reason : isReady ? undefined : 'the branches have not finished';
  return { ...rest, evaluated, met: evaluated && result === 'TRUE', result, ...(reason === undefined ? {} : { reason }), subConditions };
}

function partNow(part: ConditionPart, names: PhaseNames): ConditionPart {
  return withSides(judgedNow(part, names), names.sides);
}

function judgedNow(part: ConditionPart, names: PhaseNames): ConditionPart {
  const expression = conditionOf(part.expression);
  if (!expression || names.judged((scope) => evaluateCondition(expression, scope)).unknown !== '') return { ...part, asTold: true };
  const [now] = explainCondition(expression, names);
  return now ? { ...now, expression: part.expression } : { ...part, asTold: true };
}

/** Names of a phase chart as the gateway sees them: parameters, variables as last told, times of steps, signals, tags as they are now. */
export class PhaseNames implements EvaluationScope {
  readonly #phase: PhaseResource;
  readonly #which: 'running' | 'exception';
  readonly #store: Store;
  readonly #link: UnitLink | undefined;
  readonly #roles: Readonly<Record<string, string>>;
  readonly #parameters: ReadonlyMap<string, string>;
  readonly #variables: ReadonlyMap<string, string>;
  readonly #types: ReadonlyMap<string, Parameters<typeof anyOf>[0]>;
  /** Why what was asked for last is not known here; '' where all was. */
  #unknown = '';

  constructor(phase: PhaseResource, which: 'running' | 'exception', { store, runtimes }: NowWorld) {
    const { spec, status, metadata } = phase;
    this.#phase = phase;
    this.#which = which;
    this.#store = store;
    const link = runtimes.link(metadata.site, spec.unitRef);
    this.#link = link?.ready ? link : undefined;
    this.#link?.refresh();
    this.#roles = boundRoles(store, metadata.site, spec);
    const given = (name: string): string => spec.parameterValues.find((value) => value.name.toLowerCase() === name.toLowerCase())?.value ?? '';
    this.#parameters = lowerCased(Object.fromEntries(spec.parameters.map(({ name, defaultValue }) => [name, given(name) || defaultValue])));
    this.#variables = lowerCased(status.sfcStatus?.variableSnapshot ?? {});
    this.#types = new Map([...spec.parameters, ...spec.variables, ...spec.outputs].map(({ name, type }) => [name.toLowerCase(), type]));
  }

  /** For what a condition compares. */
  get sides(): SideNames {
    const { spec, metadata } = this.#phase;
    return {
      scope: this,
      place: (address) => this.#place(address),
      engUnits: (name) => [...spec.parameters, ...spec.outputs].find((each) => each.name.toLowerCase() === name.toLowerCase())?.unit ?? '',
      givers: (word) => giversOf(this.#store, metadata.site, scopeOf(this.#store, this.#phase), word),
    };
  }

  #place(address: string): { readonly unit: string; readonly address: string } | undefined {
    const [head = '', ...rest] = address.split('.');
    const [, module = head] = Object.entries(this.#roles).find(([name]) => name.toLowerCase() === head.toLowerCase()) ?? [];
    return { unit: this.#phase.spec.unitRef, address: [module, ...rest].join('.') };
  }

  /** @returns with it why it cannot be known here; '' where it is. */
  judged(work: (scope: EvaluationScope) => ConditionResult): { readonly verdict: ConditionResult; readonly unknown: string } {
    this.#unknown = '';
    const verdict = work(this);
    return { verdict, unknown: this.#unknown || (verdict.result === 'ERROR' ? 'what it asks is answered to the chart alone' : '') };
  }

  /** A transition behind the end of branches waits for all of them. */
  joinsBranches(from: string): boolean {
    return this.#phase.spec.divergences.some(({ name, type }) => name === from && type === 'SimultaneousConverge');
  }

  name(name: string): Any | undefined {
    const key = name.toLowerCase();
    const parameter = this.#parameters.get(key);
    if (parameter === undefined && this.#computes) return this.#notKnown(`${name} is computed in each scan`);
    const text = parameter ?? this.#variables.get(key);
    if (text === undefined || text === '') return undefined;
    const type = this.#types.get(key) ?? (parseDecimal(text) === null ? 'STRING' : 'REAL');
    return anyOf(type, parseValueText(type, text));
  }

  /** An active step runs its action in every scan, which tells no changes of variables. */
  get #computes(): boolean {
    const { spec, status } = this.#phase;
    return this.#runs && spec.steps.some(({ name, actionMode }) => actionMode === 'cyclic' && status.sfcStatus?.activeSteps.includes(name));
  }

  /** Of the chart that is looked at. */
  get #runs(): boolean {
    return this.#which === 'exception' || RUNS.includes(this.#phase.status.state);
  }

  member(step: string, member: string): Any | undefined {
    const { status } = this.#phase;
    const chart = this.#which === 'running' ? status.sfcStatus : status.chartStatus;
    const isActive = chart?.activeSteps.some((name) => name.toLowerCase() === step.toLowerCase()) ?? false;
    if (member.toUpperCase() === 'X') return new Any('BOOL', isActive);
    const elapsedMs = member.toUpperCase() === 'T' && isActive ? this.#stepTimeMs(step) : undefined;
    return elapsedMs === undefined ? this.#notKnown(`${step}.${member} is known to the chart alone`) : anyOf('TIME', Math.round(elapsedMs));
  }

  /** Plant time: what the last report says, and what has passed since while the chart runs. */
  #stepTimeMs(step: string): number | undefined {
    const { checkpoint, savedAt } = this.#phase.status;
    const record = this.#which === 'running' ? checkpoint?.running : checkpoint?.exception;
    const told = record?.steps.find((each) => each.step.toLowerCase() === step.toLowerCase())?.elapsedMs;
    if (told === undefined) return undefined;
    if (!this.#runs) return told;
    const sign = readSign(savedAt);
    const sinceMs = sign && this.#link ? this.#store.terms.elapsedMs(sign) : undefined;
    return sinceMs === undefined || !this.#link ? undefined : told + sinceMs * this.#link.timeScale;
  }

  read(address: string): Any | undefined {
    const [prefix = '', word = ''] = address.split(':', 2);
    if (prefix.toLowerCase() === 'signal' || prefix.toLowerCase() === 'barrier') return this.#signal(word);
    const link = this.#link;
    if (!link) return this.#notKnown(`the runtime of ${this.#phase.spec.unitRef} is not there`);
    const { index } = this.#tag(link, address);
    if (index < 0) return this.#notKnown(`${address} is no tag of ${this.#phase.spec.unitRef} now`);
    const { value, quality, atMs, age } = link.reading(index);
    return atMs === 0 || quality > QUALITY.Uncertain || !isWithinAge(age) ? undefined : anyOf(inside(link.tags, index, 'an address has the place of its tag').type, value);
  }

  /** A role is named with its module, which people find in the plant. */
  why(address: string): string {
    if (!this.#link) return '';
    const { index, module } = this.#tag(this.#link, address);
    if (index < 0) return '';
    const { quality, atMs, age } = this.#link.reading(index);
    const named = module === undefined ? address : `${address} (${module})`;
    if (atMs === 0) return `${named} has no value yet`;
    if (quality > QUALITY.Uncertain) return `${named} is ${qualityWord(quality)}`;
    return age && !isWithinAge(age) ? `${named} is ${ageWords(age)}` : '';
  }

  #tag(link: UnitLink, address: string): { readonly index: number; readonly module: string | undefined } {
    const [head = '', ...rest] = address.split('.');
    const [, module] = Object.entries(this.#roles).find(([name]) => name.toLowerCase() === head.toLowerCase()) ?? [];
    return { index: link.tagIndex(module === undefined ? address : [module, ...rest].join('.')), module };
  }

  #signal(word: string): Any | undefined {
    const { site } = this.#phase.metadata;
    const elements = elementIndex(this.#store);
    const scope = scopeOf(this.#store, this.#phase);
    return new Any(
      'BOOL',
      trueNames(elements.blocksOf(site, scope), elements.barriersOf(site, scope)).some((name) => name.toLowerCase() === word.toLowerCase()),
    );
  }

  #notKnown(why: string): undefined {
    this.#unknown ||= why;
    return undefined;
  }
}

export function lowerCased(entries: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(Object.entries(entries).map(([name, text]) => [name.toLowerCase(), text]));
}

/** Of a value that its tag takes for too old (ADR 0070). */
function ageWords({ ageMs, maxAgeMs }: TagAge): string {
  const limit = `its maximum age of ${printTime(maxAgeMs).slice(2)}`;
  return ageMs === null ? `not sampled within ${limit}` : `${printTime(ageMs).slice(2)} old, older than ${limit}`;
}
