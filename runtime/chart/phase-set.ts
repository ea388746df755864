/**
 * All phases of one unit runtime: the door between its messages and its scan (decisions 2.4: charts run first, phases in
 * name order). Phases of one template share their compiled functions.
 */
import type { PhasePlan, RuntimeSettings, UnitInbound } from '../port.js';
import { assert } from '../vocabulary/assert.js';
import { type CompiledPhase, compilePhase, phaseKey } from './compile.js';
import { CompileError } from './emit-expression.js';
import type { RequestBuiltin } from './frame.js';
import type { ChartHost } from './host.js';
import { type PhaseContext, PhaseRun } from './phase-run.js';
import { orphanWait, type PhasesState } from './snapshot.js';
import { Any, type Raw, toValue } from './value.js';
import type { Wait } from './wait.js';
import type { Checksum } from '../vocabulary/checksum.js';
import type { Value } from '../vocabulary/data-types.js';
import type { Mode } from '../vocabulary/modes.js';
import { told } from '../vocabulary/told.js';
import type { ChartChange } from '../vocabulary/steering.js';

/** Compiled templates that are kept when no phase uses them any more. */
const COMPILED_MAX = 64;

/** More than a runtime can make of the time that passes until the next one begins. */
const REQUESTS_PER_MS = 1000;

/** Stands in for charts that cannot be compiled; Start of such a phase is refused. */
const NOTHING: CompiledPhase = { charts: new Map(), variables: [], addresses: [], signals: [] };

export class PhaseSet implements PhaseContext {
  readonly host: ChartHost;
  readonly settings: RuntimeSettings;
  readonly #phases = new Map<string, PhaseRun>();
  #order: PhaseRun[] = [];
  readonly #compiled = new Map<string, CompiledPhase>();
  readonly #requests = new Map<number, { readonly phase: PhaseRun; readonly wait: Wait }>();
  /** Ids of requests go on from here. */
  #lastRequest: number;
  #lastMonoMs: number;

  constructor(host: ChartHost, settings: RuntimeSettings) {
    this.host = host;
    this.settings = settings;
    this.#lastMonoMs = this.#monoMs();
    this.#lastRequest = firstRequest(this.#lastMonoMs);
  }

  /** Takes a phase over; with a checkpoint it goes on from there (decisions 3.8). */
  load(plan: PhasePlan): void {
    this.drop(plan.name);
    const { compiled, invalid } = this.#compile(plan);
    this.#phases.set(plan.name, new PhaseRun(plan, compiled, this, invalid));
    this.#sort();
  }

  drop(name: string): void {
    this.#phases.get(name)?.dropped();
    if (this.#phases.delete(name)) this.#sort();
  }

  scopeOf(name: string): string | undefined {
    return this.#phases.get(name)?.plan.scope;
  }

  hasScope(scope: string): boolean {
    return this.#order.some((phase) => phase.plan.scope === scope);
  }

  #sort(): void {
    this.#order = [...this.#phases.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #compile(plan: PhasePlan): { readonly compiled: CompiledPhase; readonly invalid: string } {
    const key = phaseKey(plan, this.settings);
    const known = this.#compiled.get(key);
    if (known) return { compiled: known, invalid: '' };
    try {
      const compiled = compilePhase(plan, this.settings);
      const [oldest] = this.#compiled.keys();
      if (this.#compiled.size >= COMPILED_MAX && oldest !== undefined) this.#compiled.delete(oldest);
      this.#compiled.set(key, compiled);
      return { compiled, invalid: '' };
    } catch (fault) {
      if (fault instanceof CompileError) return { compiled: NOTHING, invalid: fault.message };
      throw fault;
    }
  }

  /** The unit has a new plan: addresses get their new slots. */
  rebind(): void {
    for (const phase of this.#order) phase.rebind();
  }

  command(message: Extract<UnitInbound, { readonly type: 'command' }>): void {
    const phase = this.#phases.get(message.phase);
    if (phase) phase.command(message);
    else {
      const { id, command } = message;
      this.host.emit({
        type: 'command-result',
        id,
        phase: message.phase,
        command,
        accepted: false,
        rule: 'unit-not-allocated',
        message: `the unit has no phase ${message.phase}`,
        told: told('no-phase', { phase: message.phase }),
        state: 'Idle',
      });
    }
  }

  setMode(phase: string, mode: Mode): void {
    this.#phases.get(phase)?.setMode(mode);
  }

  steer(phase: string, change: ChartChange): void {
    this.#phases.get(phase)?.steer(change);
  }

  /** False when no wait of that id is open. */
  answer(phase: string, waitId: string, value: number | string): boolean {
    return this.#phases.get(phase)?.answer(waitId, value) ?? false;
  }

  requestResult(message: Extract<UnitInbound, { readonly type: 'request-result' }>): void {
    const entry = this.#requests.get(message.id);
    if (!entry) return;
    this.#requests.delete(message.id);
    settle(entry.wait, message);
    entry.phase.requestEnded();
  }

  signalsChanged(): void {
    for (const phase of this.#order) phase.signalsChanged();
  }

  /** The controller has not been heard for `runtime.orphanTimeout`: phases with edge-local hold go to Held. */
  controllerLost(): void {
    for (const phase of this.#order) phase.controllerLost();
  }

  scan(dtMs: number): void {
    const now = this.#monoMs();
    const times = { plantMs: dtMs, realMs: Math.max(0, now - this.#lastMonoMs) };
    this.#lastMonoMs = now;
    for (const phase of this.#order) phase.scan(times);
  }

  inspect(name: string): unknown {
    return this.#phases.get(name)?.inspect() ?? null;
  }

  /** All phases with everything they carry from scan to scan. */
  snapshot(): PhasesState {
    return {
      settings: this.settings,
      phases: [...this.#phases.values()].map((phase) => phase.snapshot()),
      requests: [...this.#requests].map(([id, { phase, wait }]) => ({ id, phase: phase.name, builtin: wait.builtin })),
      lastRequest: this.#lastRequest,
      lastWallMs: this.#lastMonoMs,
    };
  }

  restore(saved: PhasesState): void {
    for (const phase of saved.phases) {
      this.load(phase.plan);
      this.#phases.get(phase.plan.name)?.resume(phase);
    }
    for (const { id, phase: name, builtin } of saved.requests) {
      const phase = this.#phases.get(name);
      if (phase) this.#requests.set(id, { phase, wait: [...phase.waits()].find((wait) => wait.requestId === id) ?? orphanWait(builtin) });
    }
    this.#lastRequest = saved.lastRequest;
    this.#lastMonoMs = saved.lastWallMs;
  }

  /** Adds where every phase stands; once in some scans. */
  sum(checksum: Checksum): void {
    for (const phase of this.#order) phase.sum(checksum);
  }

  #monoMs(): number {
    return this.host.monoMs?.() ?? this.host.nowMs();
  }

  // -------------------------------------------------------------- PhaseContext

  request(name: string, wait: Wait, step: string, builtin: RequestBuiltin, args: readonly Raw[]): number {
    const phase = this.#phases.get(name);
    assert(phase, 'a phase that asks is loaded');
    this.#lastRequest += 1;
    const id = this.#lastRequest;
    this.#requests.set(id, { phase, wait });
    this.host.emit({ type: 'request', id, phase: name, step, builtin, args: args.map(toValue), atMonoMs: this.#monoMs() });
    return id;
  }

  forget(wait: Wait): void {
    this.giveUp(wait);
    this.#requests.delete(wait.requestId);
  }

  giveUp({ requestId: id }: Wait): void {
    const asked = this.#requests.get(id);
    if (asked) this.host.emit({ type: 'request-given-up', id, phase: asked.phase.plan.name });
  }
}

/**
 * Where a unit that begins now counts its requests from: the gateway may still be at those of the runtime before, and answers
 * them to this one. By the monotonic clock, so that no id of before comes again, and a replay has the same.
 */
function firstRequest(monoMs: number): number {
  return Math.floor(monoMs) * REQUESTS_PER_MS;
}

/** COMMAND and MODE answer FALSE when refused; the others fail with the rule of the gateway, as does a COMMAND by which the phase holds itself (decisions 3.5, 4.5). */
function settle(wait: Wait, message: Extract<UnitInbound, { readonly type: 'request-result' }>): void {
  const verdict = (wait.builtin === 'COMMAND' || wait.builtin === 'MODE') && message.rule !== 'st-command';
  if (verdict) wait.answer(message.ok && message.value !== false);
  else if (!message.ok) wait.fail(message.rule ?? 'service-failed', message.message ?? `${wait.builtin} failed`);
  else if (wait.builtin === 'CALL_SERVICE') wait.answer(serviceResult(message.value ?? true));
  else if (wait.builtin === 'MTP_STATE') wait.answer(String(message.value ?? ''));
  else wait.answer(message.value !== false);
}

/** A number from a device is REAL: an integral one must not turn a later division into an integer division. */
function serviceResult(value: Value): Any {
  if (typeof value === 'boolean') return new Any('BOOL', value);
  return typeof value === 'number' ? new Any('REAL', value) : new Any('STRING', String(value));
}
