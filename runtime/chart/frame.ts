/**
 * The builtins of step actions and conditions (decisions 4.5) for one phase: addresses as slots, waits, messages. One
 * frame serves every chart of its phase; `context` says whose text is running.
 */
import { inside } from '../vocabulary/assert.js';
import type { Mode } from '../vocabulary/modes.js';
import { printTime } from '../language/time-text.js';
import { QUALITY, qualityWord } from '../vocabulary/quality.js';
import { type Told, told } from '../vocabulary/told.js';
import type { PhasePlan, PromptWait, UnitOutbound } from '../port.js';
import type { ChartRun } from './chart-run.js';
import type { CompiledPhase, CompiledTransition } from './compile.js';
import type { Site } from './emit-expression.js';
import type { ChartHost } from './host.js';
import { Any, coerceAny, fromValue, invalid, type Raw, StError, stError, toValue } from './value.js';
import type { FrameState } from './snapshot.js';
import { Wait } from './wait.js';
import type { Frame } from './functions.js';

export type RequestBuiltin = Extract<UnitOutbound, { readonly type: 'request' }>['builtin'];

/** Whose text is being executed. */
export interface FrameContext {
  readonly run: ChartRun;
  readonly step: number;
  /** Null in an action. */
  readonly transition: CompiledTransition | null;
  readonly sites: readonly Site[];
  /** Looks only: starts nothing and marks nothing. */
  readonly peek: boolean;
}

export interface FrameOwner {
  readonly plan: PhasePlan;
  readonly host: ChartHost;
  readonly compiled: CompiledPhase;
  /** Sends a request to the gateway; its id. */
  request(wait: Wait, step: string, builtin: RequestBuiltin, args: readonly Raw[]): number;
  /** First TRUE read of a signal, first read of a barrier; false when it is on record already. */
  markRead(name: string): boolean;
  event(text: string, as: Told): void;
  wrote(slot: number, address: string, step: string): void;
}

type Bound =
  | { readonly kind: 'tag'; readonly address: string; readonly slot: number }
  | { readonly kind: 'signal' | 'barrier'; readonly address: string; readonly name: string }
  | { readonly kind: 'none'; readonly error: () => StError };

const COMPILED = 'an action speaks of addresses, variables and calls of the phase it was compiled for';
const IN_CHART = 'a step that acts is one of its chart';

const SEVERITIES = ['Info', 'Warning', 'Error'] as const;
const SERVICE_SECONDS = 1000;
/** Addresses built at run time that are remembered per phase. */
const TEXT_ADDRESSES_MAX = 256;

export class PhaseFrame implements Frame {
  readonly assigned: Uint8Array;
  context: FrameContext | null = null;
  readonly #owner: FrameOwner;
  readonly #roles: ReadonlyMap<string, string>;
  readonly #signals: ReadonlyMap<string, string>;
  #bound: readonly Bound[] = [];
  readonly #texts = new Map<string, Bound>();
  readonly #lastGood = new Map<number, Raw>();
  readonly #raised = new Map<string, boolean>();
  readonly #warned = new Set<string>();

  constructor(owner: FrameOwner) {
    this.#owner = owner;
    this.assigned = new Uint8Array(owner.compiled.variables.length);
    this.#roles = new Map(Object.entries(owner.plan.roles).map(([role, module]) => [role.toLowerCase(), module]));
    this.#signals = new Map(owner.plan.knownSignals.map((name) => [name.toLowerCase(), name]));
    this.rebind();
  }

  /** Slots of the present plan; called when the phase is loaded and when the unit gets a new plan. What was good goes on under its new slot. */
  rebind(): void {
    const good = new Map(this.#bound.flatMap((bound) => (bound.kind === 'tag' && this.#lastGood.has(bound.slot) ? [[bound.address, this.#lastGood.get(bound.slot)]] : [])));
    this.#texts.clear();
    this.#lastGood.clear();
    this.#bound = this.#owner.compiled.addresses.map((address) => this.#resolve(address));
    for (const bound of this.#bound) if (bound.kind === 'tag') this.#keepGood(bound, good.get(bound.address));
    this.refreshSignals();
  }

  /** A tag that has another type now has no good value yet. */
  #keepGood({ slot }: Extract<Bound, { kind: 'tag' }>, value: Raw | undefined): void {
    const kept = value === undefined ? null : fromValue(this.#owner.host.type(slot), toValue(value));
    if (kept !== null) this.#lastGood.set(slot, kept);
  }

  /** Slot of an address in the present plan; -1 when it names no tag. */
  slotOf(address: string): number {
    const bound = this.#resolve(address);
    return bound.kind === 'tag' ? bound.slot : -1;
  }

  refreshSignals(): void {
    const { host, plan } = this.#owner;
    for (const name of this.#signals.values()) this.#raised.set(name, host.signal(plan.scope, name));
  }

  snapshot(): FrameState {
    return { assigned: this.assigned.slice(), lastGood: [...this.#lastGood], raised: [...this.#raised], warned: [...this.#warned] };
  }

  restore(saved: FrameState): void {
    this.assigned.set(saved.assigned);
    this.#lastGood.clear();
    for (const [slot, value] of saved.lastGood) this.#lastGood.set(slot, value);
    this.#raised.clear();
    for (const [name, value] of saved.raised) this.#raised.set(name, value);
    this.#warned.clear();
    for (const address of saved.warned) this.#warned.add(address);
  }

  /** Keeps the last good value of every tag the texts name, for charts that must go on without it (decisions 3.5). */
  rememberGood(): void {
    const { host } = this.#owner;
    for (const bound of this.#bound) {
      if (bound.kind !== 'tag' || host.quality(bound.slot) > QUALITY.Uncertain || host.stale(bound.slot)) continue;
      const value = fromValue(host.type(bound.slot), host.read(bound.slot));
      if (value !== null) this.#lastGood.set(bound.slot, value);
    }
  }

  /** A new run of an exception chart warns anew. */
  forgetWarnings(): void {
    this.#warned.clear();
  }

  /** Still Manual, still bad: what keeps a failure active (decisions 3.5). */
  stillFails(rule: string, subject: string): boolean {
    if (rule === 'io-lost') return this.#owner.host.ioLost(subject);
    const bound = this.#resolve(subject);
    if (bound.kind !== 'tag') return false;
    if (rule === 'write-mode-manual') return this.#owner.host.mode(bound.slot) === 'Manual';
    return rule === 'read-bad-quality' && this.#badReason(bound.slot) !== '';
  }

  // -------------------------------------------------------------- addresses (decisions 2.3)

  #resolve(address: string): Bound {
    const colon = address.indexOf(':');
    const prefix = colon > 0 ? address.slice(0, colon).toLowerCase() : '';
    if (prefix === 'signal' || prefix === 'barrier') return this.#resolveSignal(prefix, address.slice(colon + 1));
    const dot = address.indexOf('.');
    const role = colon < 0 && dot > 0 ? this.#roles.get(address.slice(0, dot).toLowerCase()) : undefined;
    const slot = this.#owner.host.slot(role === undefined ? address : `${role}${address.slice(dot)}`);
    if (slot >= 0) return { kind: 'tag', address, slot };
    if (role !== undefined || colon >= 0) return { kind: 'none', error: () => stError('unknown-tag', `${address} names no tag`, 0, address) };
    return { kind: 'none', error: () => stError('unbound-role', `${address} is no bound role, control module or program variable of the unit`, 0, address) };
  }

  #resolveSignal(kind: 'signal' | 'barrier', word: string): Bound {
    const name = this.#signals.get(word.toLowerCase());
    if (name !== undefined) return { kind, address: `${kind}:${word}`, name };
    return { kind: 'none', error: () => stError('unknown-signal', `${kind}:${word} is not known in this batch`, 0, `${kind}:${word}`) };
  }

  #textBound(address: string): Bound {
    const known = this.#texts.get(address);
    if (known) return known;
    if (this.#texts.size >= TEXT_ADDRESSES_MAX) this.#texts.clear();
    const bound = this.#resolve(address);
    this.#texts.set(address, bound);
    return bound;
  }

  read(address: number, line: number): Any {
    return this.#read(inside(this.#bound, address, COMPILED), line);
  }

  readText(address: string, line: number): Any {
    return this.#read(this.#textBound(address), line);
  }

  #read(bound: Bound, line: number): Any {
    if (bound.kind === 'none') throw bound.error();
    if (bound.kind !== 'tag') return new Any('BOOL', this.#readSignal(bound));
    const { host } = this.#owner;
    const type = host.type(bound.slot);
    if (this.#badReason(bound.slot) !== '') return new Any(type, this.#readBad(bound));
    const value = fromValue(type, host.read(bound.slot));
    if (value === null) throw stError('type-mismatch', `${bound.address} has no value of type ${type}`, line, bound.address);
    return new Any(type, value);
  }

  /** Empty for a value that may be used: quality Good or Uncertain, not stale. */
  #badReason(slot: number): string {
    const { host } = this.#owner;
    const quality = host.quality(slot);
    if (quality > QUALITY.Uncertain) return qualityWord(quality);
    if (host.stale(slot)) return olderWords(host.exceededAgeMs?.(slot) ?? 0);
    return host.read(slot) === null ? 'without value' : '';
  }

  #badTold({ address, slot }: Extract<Bound, { kind: 'tag' }>): Told {
    const { host } = this.#owner;
    const quality = host.quality(slot);
    if (quality > QUALITY.Uncertain) return told('value-bad', { address, quality: qualityWord(quality) });
    const maxAgeMs = host.exceededAgeMs?.(slot) ?? 0;
    return host.stale(slot) ? told('value-old', { address, maxAge: maxAgeMs > 0 ? printTime(maxAgeMs).slice(2) : '' }) : told('value-none', { address });
  }

  /** Decisions 2.4: INVALID in a condition. 3.5: a failure in running and restarting actions, the last good value in others. */
  #readBad(bound: Extract<Bound, { kind: 'tag' }>): Raw {
    const reason = this.#badReason(bound.slot);
    if (this.context?.transition !== null) throw invalid(`${bound.address} is ${reason}`);
    const last = this.#lastGood.get(bound.slot);
    if (this.#strict || last === undefined) throw new StError('read-bad-quality', `${bound.address} is ${reason}`, bound.address, this.#badTold(bound));
    if (!this.#warned.has(bound.address)) {
      this.#warned.add(bound.address);
      this.#owner.event(`${bound.address} is ${reason}; its last good value is used`, told('last-good-used', { address: bound.address }, this.#badTold(bound)));
    }
    return last;
  }

  /** Running and restarting charts: the mode barrier and the quality rule apply (contract 3, Structured-text language). */
  get #strict(): boolean {
    const name = this.context?.run.chart.name;
    return name === 'running' || name === 'restarting';
  }

  #readSignal(bound: Extract<Bound, { kind: 'signal' | 'barrier' }>): boolean {
    const { host, plan } = this.#owner;
    const value = this.#raised.get(bound.name) ?? false;
    if (this.context?.peek) return value;
    const consumed = bound.kind === 'signal';
    if ((consumed ? value : true) && this.#owner.markRead(`${bound.kind}:${bound.name}`)) {
      host.emit({ type: 'signal-read', phase: plan.name, scope: plan.scope, name: bound.name, consumed, atMs: host.nowMs() });
    }
    return value;
  }

  write(address: number, value: Any, line: number): true {
    return this.#write(inside(this.#bound, address, COMPILED), value, line);
  }

  writeText(address: string, value: Any, line: number): true {
    return this.#write(this.#textBound(address), value, line);
  }

  #write(bound: Bound, value: Any, line: number): true {
    if (bound.kind === 'none') throw bound.error();
    if (bound.kind !== 'tag') throw new StError('write-read-only', `${bound.address} cannot be written`, '', told('write-read-only', { address: bound.address }));
    const { host } = this.#owner;
    const raw = coerceAny(value, host.type(bound.slot), line);
    const mode: Mode = host.mode(bound.slot);
    if (this.#strict && mode === 'Manual') throw this.#inManual(bound.address);
    const refusal = host.write(bound.slot, toValue(raw));
    if (refusal) throw new StError(refusal.rule, `${bound.address}: ${refusal.message}`, '', refusal.told && addressed(refusal.told, bound.address));
    this.#owner.wrote(bound.slot, bound.address, this.#stepName);
    return true;
  }

  /** A role is named with its module, which is what people give another mode. */
  #inManual(address: string): StError {
    const [head = ''] = address.split('.', 1);
    const module = this.#roles.get(head.toLowerCase());
    const text = `${address}${module === undefined ? '' : ` (${module})`} is in Manual: set it to Automatic or Semi-Automatic`;
    return new StError('write-mode-manual', text, address, told('module-in-manual', { address, module: module ?? head }));
  }

  // -------------------------------------------------------------- messages and steps

  get #stepName(): string {
    return this.context ? inside(this.context.run.chart.steps, this.context.step, IN_CHART).name : '';
  }

  message(text: string, severity: string | undefined, line: number): true {
    const { host, plan } = this.#owner;
    const word = SEVERITIES.find((entry) => entry === (severity ?? 'Info'));
    if (!word) throw stError('argument', `MESSAGE has no severity ${severity}`, line, 'MESSAGE');
    host.emit({ type: 'message', phase: plan.name, step: this.#stepName, severity: word, text, atMs: host.nowMs() });
    return true;
  }

  stepTime(step: number): number {
    return Math.round(this.context?.run.stepTime(step) ?? 0);
  }

  stepActive(step: number): boolean {
    return this.context?.run.stepActive(step) ?? false;
  }

  unset(slot: number, line: number): never {
    const { name } = inside(this.#owner.compiled.variables, slot, COMPILED);
    if (this.context?.transition) throw invalid(`${name} is unset`);
    throw stError('unset-variable', `${name} has no value yet`, line, name);
  }

  // -------------------------------------------------------------- suspension

  suspend(site: number, args: readonly (Raw | Any)[], line: number): void {
    const { context } = this;
    if (!context) return;
    inside(context.run.steps, context.step, IN_CHART).wait = this.#open(inside(context.sites, site, COMPILED), args, line);
  }

  answer(): Raw | Any {
    const step = this.context?.run.steps[this.context.step];
    const wait = step?.wait;
    if (!step || !wait) throw new StError('outcome-unknown', 'the answer of a suspended call is missing');
    step.wait = null;
    return result(wait);
  }

  /** A call with an effect in a condition (decisions 4.5): once per activation of the source step and call site. */
  kept(index: number, args: () => readonly (Raw | Any)[], line: number): Raw | Any {
    const { context } = this;
    if (!context?.transition) throw invalid('not evaluated');
    const { kept } = inside(context.run.steps, context.step, IN_CHART);
    const key = `${context.transition.index}:${index}`;
    const site = inside(context.sites, index, COMPILED);
    const found = kept.get(key);
    if (found && 'value' in found) return found.value;
    if (found && found.wait.isPolled) return this.#polled(found.wait, () => kept.set(key, { wait: this.#again(found.wait, site, args, line) }));
    if (found) {
      if (!found.wait.answered) throw invalid(`${site.builtin} is waiting`);
      return result(found.wait);
    }
    if (context.peek) throw invalid(`${site.builtin} has not run`);
    const values = args();
    if (site.builtin === 'WRITE' || site.builtin === 'MESSAGE') {
      if (site.builtin === 'WRITE') this.writeText(String(values[0]), values[1] as Any, line);
      else this.message(String(values[0]), values[1] === undefined ? undefined : String(values[1]), line);
      kept.set(key, { value: true });
      return true;
    }
    kept.set(key, { wait: this.#open(site, values, line) });
    throw invalid(`${site.builtin} is waiting`);
  }

  #again(wait: Wait, site: Site, args: () => readonly (Raw | Any)[], line: number): Wait {
    const next = this.#open(site, args(), line);
    next.last = wait.failure ? undefined : wait.value;
    return next;
  }

  #polled(wait: Wait, ask: () => void): Raw | Any {
    if (wait.isStale && !this.context?.peek) ask();
    if (wait.answered && wait.failure) throw invalid(wait.failure.message);
    const value = wait.answered ? wait.value : wait.last;
    if (value === undefined) throw invalid(`${wait.builtin} is waiting`);
    return value;
  }

  #open(site: Site, args: readonly (Raw | Any)[], line: number): Wait {
    const plain = args.map((arg) => (arg instanceof Any ? arg.value : arg));
    switch (site.builtin) {
      case 'PROMPT':
        return new Wait(site.builtin, this.#prompt('acknowledge', String(plain[0]), {}));
      case 'PROMPT_CHOICE':
        return new Wait(site.builtin, this.#choicePrompt(plain.map(String), line));
      case 'PROMPT_VALUE':
      case 'AWAIT_RESULT':
        return new Wait(site.builtin, this.#valuePrompt(site.builtin, plain, line));
      case 'WAIT':
        return new Wait(site.builtin, null, Number(plain[0]));
      case 'WAITSECONDS':
        return new Wait(site.builtin, null, Number(plain[0]) * SERVICE_SECONDS);
      default:
        return this.#request(site, plain);
    }
  }

  #request(site: Site, args: readonly Raw[]): Wait {
    const wait = new Wait(site.builtin, null);
    const first = String(args[0]);
    const module = site.builtin === 'MODE' ? (this.#roles.get(first.toLowerCase()) ?? first) : first;
    wait.requestId = this.#owner.request(wait, this.#stepName, site.builtin as RequestBuiltin, [module, ...args.slice(1)]);
    return wait;
  }

  #choicePrompt([text = '', ...choices]: readonly string[], line: number): PromptWait {
    if (new Set(choices).size !== choices.length) throw stError('argument', 'the options of PROMPT_CHOICE must be distinct', line, 'PROMPT_CHOICE');
    return this.#prompt('choice', text, { choices });
  }

  #valuePrompt(builtin: string, [text, min, max, unit]: readonly Raw[], line: number): PromptWait {
    const bounds = { min: Number(min), max: Number(max), unit: String(unit) };
    if (bounds.min > bounds.max) throw stError('bounds', `${builtin} has min ${bounds.min} above max ${bounds.max}`, line, builtin);
    return this.#prompt('value', String(text), builtin === 'AWAIT_RESULT' ? { ...bounds, resultKey: String(text) } : bounds);
  }

  #prompt(kind: PromptWait['kind'], text: string, rest: Partial<PromptWait>): PromptWait {
    const { host } = this.#owner;
    return { id: host.uuid(), kind, text, stepName: this.#stepName, openedAtMs: host.nowMs(), ...rest };
  }
}

function result(wait: Wait): Raw | Any {
  if (wait.failure) throw new StError(wait.failure.rule, wait.failure.message, '', wait.failure.told);
  if (wait.value === undefined) throw new StError('outcome-unknown', `${wait.builtin} ended without a value`, '', told('call-unanswered', { call: wait.builtin }));
  return wait.value;
}

/** By the address that the chart has for it. */
function addressed(of: Told, address: string): Told {
  return { ...of, parts: { ...of.parts, address } };
}

/** Why a stale value is none: by the maximum age of its tag (ADR 0070), else by that of its I/O module. */
function olderWords(maxAgeMs: number): string {
  return maxAgeMs > 0 ? `older than its maximum age of ${printTime(maxAgeMs).slice(2)}` : 'stale';
}
