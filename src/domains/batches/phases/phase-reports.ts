/**
 * What unit runtimes say of their phases becomes resource status and facts here: state changes, prompts, messages, signals
 * (design, way of a command: phase engine -> state event -> resource status -> hub). One message is one change.
 */
import type { MonoMs, WallMs } from '../../../platform/base/times.js';
import { guarded, guardedPromise } from '../../../platform/base/guarded.js';
import type { PhaseReport, PromptWait, UnitOutbound } from '../../../../runtime/port.js';
import type { State } from '../../../../runtime/vocabulary/states.js';
import { told, toldFailure, withTold } from '../../../../runtime/vocabulary/told.js';
import { isFinal } from '../../../../runtime/vocabulary/transitions.js';
import type { Value } from '../../../../runtime/vocabulary/data-types.js';
import { MODES, type Mode } from '../../../../runtime/vocabulary/modes.js';
import { COMMAND_WITHDRAWN } from '../../../../runtime/vocabulary/service-rules.js';
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import type { Log } from '../../../platform/base/log.js';
import type { Moment } from '../../../platform/base/moment.js';
import { lifeSign } from '../../../platform/store/life-sign.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Change, Put, Store } from '../../../platform/store/store.js';
import { CoordinationBlock, type CoordinationBlockStatus, SyncBarrier } from '../../coordination/kind.js';
import { arrive, barrierWord, consume } from '../../coordination/progress.js';
import { type ElementStatus, type PendingPrompt, Phase, type PhaseSpec } from '../../procedures/kind.js';
import { type ElementFailure } from '../../runs/failures.js';
import { promptAges } from '../../procedures/prompt-ages.js';
import { scopeOf } from '../../procedures/roots.js';
import type { UnitLink } from '../../placement/runtimes.js';
import { elementIndex } from '../tree/element-index.js';
import { Batch } from '../kind.js';
import { materialText, materialUses } from './materials.js';
import { batchMessage, type ElementRef, executionEvent, type PendingFact, PROMPT_CANCELLED, stateEntry } from '../../runs/execution-log.js';

type PhaseResource = Resource<PhaseSpec, ElementStatus>;

/** Messages kept while they are not on disk. A unit tells of its phases a few times a second; this is hours of a full disk. */
const KEPT_MAX = 50_000;

/** Builtins of one unit that are carried out at a time: one whose step was left goes on here, and a chart may begin another in every scan. */
const REQUESTS_MAX = 100;

/** States in which a prompt goes away with its step only. */
const PROMPTING: readonly State[] = ['Running', 'Pausing', 'Restarting'];

const ENDS_ALARM_FAILURE: readonly State[] = ['Restarting', 'Resetting', 'Idle'];

interface Kept {
  readonly link: UnitLink;
  readonly message: UnitOutbound;
  /** When it came. */
  readonly at: Moment;
  /** Commits on their way; a message with none left is on disk. */
  waiting: number;
  /** It has to be taken again: a commit of it was refused, or it came while nothing could be written. */
  again: boolean;
}

/** What a phase may ask of the gateway (decisions 4.5): answered with a value, or refused with a rule. */
export interface PhaseRequests {
  /** COMMAND(target, command, reason): whether it was recorded; Hold to itself is a failure of the phase, `st-command` (decisions 3.5). */
  command(phase: PhaseResource, target: string, command: string, reason: string): Promise<RequestAnswer>;
  /** MODE(module, mode). */
  mode(phase: PhaseResource, module: string, mode: Mode): Promise<boolean>;
  /** CALL_SERVICE on an I/O module; undefined when its protocol has no services. */
  callService(phase: PhaseResource, args: readonly Value[]): Promise<RequestAnswer>;
  mtpCommand(phase: PhaseResource, args: readonly Value[], asked: Asked): Promise<RequestAnswer>;
  mtpState(phase: PhaseResource, service: string): Promise<RequestAnswer>;
  mtpCommandEnabled(phase: PhaseResource, service: string, command: string): Promise<RequestAnswer>;
}

/** A request that is good only while its chart waits. */
export interface Asked {
  readonly atMonoMs: MonoMs;
  /** False when the chart has given up, is held, stopped or aborted, or its runtime has ended. */
  readonly stillWaits: () => boolean;
  /** Aborted when the chart says that it has given up: nobody has to look meanwhile. */
  readonly gaveUp: AbortSignal;
}

export interface RequestAnswer {
  readonly ok: boolean;
  readonly value?: Value;
  readonly rule?: string;
  readonly message?: string;
}

export class PhaseReports {
  readonly #store: Store;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #wake: (site: string, batch: string) => void;
  readonly #orderAnswered: (site: string, phase: string, id: number, accepted: boolean) => void;
  readonly #signalsChanged: (site: string, scope: string) => void;
  readonly #requests: PhaseRequests;
  /** In order of arrival, until they are on disk. */
  #kept: Kept[] = [];
  #taking: Kept | undefined;
  readonly #requestsOf = new WeakMap<UnitLink, Map<number, AbortController>>();

  constructor(parts: {
    readonly store: Store;
    readonly log: Log;
    readonly clock: Clock;
    readonly requests: PhaseRequests;
    wake(site: string, batch: string): void;
    orderAnswered(site: string, phase: string, id: number, accepted: boolean): void;
    signalsChanged(site: string, scope: string): void;
  }) {
    this.#store = parts.store;
    this.#log = parts.log;
    this.#clock = parts.clock;
    this.#requests = parts.requests;
    this.#wake = parts.wake;
    this.#orderAnswered = parts.orderAnswered;
    this.#signalsChanged = parts.signalsChanged;
  }

  /**
   * Takes a message. Scans go on while the disk is full, so what cannot be written is kept in its order and taken when
   * there is space again: no state, message or signal of a phase is lost (decisions 8.7).
   */
  take(link: UnitLink, message: UnitOutbound): void {
    if (!('phase' in message)) return;
    if (message.type === 'request-given-up') return this.#giveUp(link, message.id);
    const kept: Kept = { link, message, at: this.#store.terms.now(), waiting: 0, again: !this.#store.accepting };
    this.#kept.push(kept);
    if (this.#kept.length > KEPT_MAX) {
      this.#kept.shift();
      this.#log.error({ unit: link.unit, kept: KEPT_MAX }, 'storage was away so long that the oldest phase message was dropped');
    }
    if (!kept.again) this.#takeNow(kept);
  }

  /** After the store accepts changes again. */
  takeKept(): void {
    if (!this.#store.accepting) return;
    for (const kept of this.#kept.filter((entry) => entry.again)) {
      if (!this.#store.accepting) return;
      kept.again = false;
      guarded('message of a phase that was kept', () => this.#takeNow(kept));
    }
  }

  /** One that cannot be handled would not be the next time either: it is told by its seam, and is not kept. */
  #takeNow(kept: Kept): void {
    this.#taking = kept;
    try {
      this.#handle(kept.link, kept.message);
    } finally {
      this.#taking = undefined;
      if (kept.waiting === 0) this.#settled(kept);
    }
  }

  #settled(kept: Kept): void {
    const at = this.#kept.indexOf(kept);
    if (at >= 0) this.#kept.splice(at, 1);
  }

  #apply(change: Change): void {
    const kept = this.#taking;
    const { durable } = this.#store.apply(change);
    if (!kept) return;
    kept.waiting += 1;
    durable.then(
      () => {
        kept.waiting -= 1;
        if (kept.waiting === 0 && !kept.again) this.#settled(kept);
      },
      () => {
        kept.waiting -= 1;
        kept.again = true;
      },
    );
  }

  #handle(link: UnitLink, message: UnitOutbound): void {
    const phase = 'phase' in message ? this.#store.get(Phase, link.site, message.phase) : undefined;
    if (!phase) return;
    switch (message.type) {
      case 'phase':
        this.#report(phase, message);
        return;
      case 'command-result':
        this.#orderAnswered(link.site, message.phase, message.id, message.accepted);
        if (!message.accepted) this.#refused(phase, message);
        this.#wake(link.site, scopeOf(this.#store, phase));
        return;
      case 'message':
        this.#tell(
          phase,
          [{ eventType: 'Message', eventSubType: 'Message', message: message.text, value: message.severity, at: message.atMs }],
          batchMessage(link.site, scopeOf(this.#store, phase), {
            ts: timestamp(message.atMs),
            severity: message.severity,
            type: 'Message',
            text: message.text,
            element: elementOf(phase),
            stepName: message.step,
          }),
        );
        return;
      case 'prompt-cancelled':
        this.#cancelled(phase, message);
        return;
      case 'event':
        this.#tell(phase, [{ eventType: 'General', eventSubType: 'System', message: message.text, ...withTold(message.told), at: message.atMs }]);
        return;
      case 'alarm':
        this.#tell(phase, [{ eventType: 'Alarm', eventSubType: 'Process', value: message.severity, message: message.message, ...withTold(message.told), at: message.atMs }]);
        return;
      case 'signal-raised':
        this.#raised(link.site, message.scope, message.signal, message.atMs);
        return;
      case 'signal-read':
        this.#read(link.site, phase, message);
        return;
      case 'request':
        guardedPromise('request of a phase', () => this.#request(link, phase, message));
        return;
      default:
        return;
    }
  }

  // ------------------------------------------------------------ reports

  #report(phase: PhaseResource, report: PhaseReport): void {
    const ts = timestamp(report.atMs);
    const before = phase.status;
    const facts: PendingFact[] = [];
    if (before.state !== report.state) facts.push(...this.#stateFacts(phase, report, ts));
    if (report.prompt && report.prompt.id !== before.pendingPrompt?.id) facts.push(...this.#promptFacts(phase, report.prompt));
    if (isFinal(report.state) && before.state !== report.state) facts.push(...this.#outputFacts(phase, report, ts));
    const status = { ...statusOf(phase, report, ts), savedAt: lifeSign(this.#store, this.#taking?.at) };
    if (status.pendingPrompt) promptAges(this.#store).ageMs(phase.metadata.site, phase.metadata.name, status.pendingPrompt, this.#clock); // it begins to wait
    this.#apply({ puts: [{ kind: Phase, site: phase.metadata.site, name: phase.metadata.name, status } as Put], facts });
    this.#wake(phase.metadata.site, scopeOf(this.#store, phase));
  }

  #stateFacts(phase: PhaseResource, report: PhaseReport, ts: string): PendingFact[] {
    const { site } = phase.metadata;
    const element = elementOf(phase);
    const unit = phase.spec.unitRef;
    const failure = report.checkpoint.failure;
    const failed = failure && report.cause === 'failure' ? failure : undefined;
    return [
      executionEvent(site, scopeOf(this.#store, phase), ts, {
        eventType: 'Procedural Execution',
        eventSubType: 'State Change',
        element,
        unit,
        value: report.state,
        previousValue: phase.status.state,
        message: failed ? `${failed.rule}: ${failed.message}` : report.cause,
        ...withTold(failed && toldFailure(failed)),
      }),
      stateEntry(site, scopeOf(this.#store, phase), {
        ts,
        ...element,
        unit,
        templateRef: phase.spec.templateRef,
        run: report.checkpoint.runCount,
        state: report.state,
        previousState: phase.status.state,
        cause: report.rule ?? report.cause,
      }),
    ];
  }

  #promptFacts(phase: PhaseResource, prompt: PromptWait): PendingFact[] {
    const { site } = phase.metadata;
    const ts = timestamp(prompt.openedAtMs);
    const element = elementOf(phase);
    return [
      executionEvent(site, scopeOf(this.#store, phase), ts, {
        eventType: 'Operator',
        eventSubType: 'Prompt',
        element,
        unit: phase.spec.unitRef,
        value: prompt.text,
        message: prompt.resultKey ?? prompt.kind,
      }),
      batchMessage(site, scopeOf(this.#store, phase), { ts, severity: 'Info', type: 'Prompt', text: prompt.text, element, stepName: prompt.stepName }),
    ];
  }

  /** A prompt that was told and will not be answered: beside the one that told of it, as a kind of its own (decisions 2.2, 8.3). */
  #cancelled(phase: PhaseResource, { prompt, state, atMs }: Extract<UnitOutbound, { type: 'prompt-cancelled' }>): void {
    const why = PROMPTING.includes(state) ? `step ${prompt.stepName} was left or begun anew` : `the phase is ${state}`;
    const as = told('prompt-cancelled', { step: PROMPTING.includes(state) ? prompt.stepName : '', state });
    const text = `${prompt.text}: cancelled without an answer, ${why}`;
    this.#tell(
      phase,
      [{ eventType: 'Operator', eventSubType: 'Prompt', value: prompt.text, previousValue: PROMPT_CANCELLED, message: `cancelled without an answer: ${why}`, told: as, at: atMs }],
      batchMessage(phase.metadata.site, scopeOf(this.#store, phase), {
        ts: timestamp(atMs),
        severity: 'Info',
        type: 'System',
        text,
        told: as,
        element: elementOf(phase),
        stepName: prompt.stepName,
      }),
    );
  }

  #outputFacts(phase: PhaseResource, report: PhaseReport, ts: string): PendingFact[] {
    const { site } = phase.metadata;
    const scope = scopeOf(this.#store, phase);
    const fact = (event: Parameters<typeof executionEvent>[3]): PendingFact => executionEvent(site, scope, ts, { element: elementOf(phase), unit: phase.spec.unitRef, ...event });
    const lot = this.#store.get(Batch, site, scope)?.spec.lotID ?? scope;
    return [
      ...report.outputs.map(({ name, value }) => fact({ eventType: 'Procedural Execution', eventSubType: 'Parameter Data', value, message: name })),
      ...materialUses(phase.spec, report.outputs, lot, ts).map(({ direction, material, lotID, quantity, unit }) =>
        fact({
          eventType: 'Material',
          eventSubType: direction === 'input' ? 'Consume' : 'Produce',
          value: quantity,
          previousValue: lotID,
          message: materialText(material, unit),
          told: told('material', { material, engUnits: unit }),
        }),
      ),
    ];
  }

  #refused(phase: PhaseResource, message: Extract<UnitOutbound, { type: 'command-result' }>): void {
    this.#tell(phase, [
      {
        eventType: 'Procedural Execution',
        eventSubType: 'State Command',
        value: message.command,
        previousValue: message.rule ?? '',
        message: message.message ?? 'rejected',
        ...withTold(message.told),
        at: this.#clock.wallMs(),
      },
    ]);
  }

  #tell(phase: PhaseResource, events: readonly (Parameters<typeof executionEvent>[3] & { readonly at: number })[], ...more: readonly PendingFact[]): void {
    const { site } = phase.metadata;
    const facts = events.map(({ at, ...event }) =>
      executionEvent(site, scopeOf(this.#store, phase), timestamp(at), { element: elementOf(phase), unit: phase.spec.unitRef, ...event }),
    );
    this.#apply({ facts: [...facts, ...more] });
  }

  // ------------------------------------------------------------ signals

  #raised(site: string, scope: string, signal: string, atMs: WallMs): void {
    for (const block of elementIndex(this.#store).blocksOf(site, scope)) {
      if (block.spec.signal?.signalName !== signal || block.status.signalRaised) continue;
      const status: CoordinationBlockStatus = {
        ...block.status,
        phase: block.status.phase === 'Idle' ? 'Active' : block.status.phase,
        activeAt: block.status.activeAt || timestamp(atMs),
        signalRaised: true,
        signalRaisedAt: timestamp(atMs),
      };
      this.#apply({ puts: [{ kind: CoordinationBlock, site, name: block.metadata.name, status } as Put] });
    }
    this.#signalsChanged(site, scope);
    this.#wake(site, scope);
  }

  /** The first TRUE read of a signal, the first read of a barrier (decisions 2.7). */
  #read(site: string, phase: PhaseResource, message: Extract<UnitOutbound, { type: 'signal-read' }>): void {
    const { name } = phase.metadata;
    const index = elementIndex(this.#store);
    for (const block of index.blocksOf(site, message.scope)) {
      if (!message.consumed || block.spec.signal?.signalName !== message.name) continue;
      const status = consume(block.spec, block.status, name, message.atMs);
      if (status) this.#apply({ puts: [{ kind: CoordinationBlock, site, name: block.metadata.name, status } as Put] });
    }
    for (const barrier of index.barriersOf(site, message.scope)) {
      if (message.consumed || barrierWord(barrier) !== message.name) continue;
      const status = arrive(barrier.spec, barrier.status, name, message.atMs);
      if (!status) continue;
      this.#apply({ puts: [{ kind: SyncBarrier, site, name: barrier.metadata.name, status } as Put] });
      this.#signalsChanged(site, message.scope);
      this.#wake(site, message.scope);
    }
  }

  // ------------------------------------------------------------ requests of builtins

  async #request(link: UnitLink, phase: PhaseResource, message: Extract<UnitOutbound, { type: 'request' }>): Promise<void> {
    const underWay = this.#underWay(link);
    if (underWay.size >= REQUESTS_MAX) {
      const text = `${REQUESTS_MAX} requests of unit ${link.unit} are being carried out; this one is refused`;
      return link.send({ type: 'request-result', id: message.id, ok: false, rule: 'service-failed', message: text });
    }
    const giveUp = new AbortController();
    underWay.set(message.id, giveUp);
    const { epoch } = link;
    const { signal: gaveUp } = giveUp;
    const stillWaits = (): boolean => !gaveUp.aborted && link.ready && link.epoch === epoch;
    try {
      const answer = await this.#carryOut(phase, message, { atMonoMs: message.atMonoMs, gaveUp, stillWaits });
      link.send({ type: 'request-result', id: message.id, ...answer });
    } catch (fault) {
      const text = fault instanceof Error ? fault.message : String(fault);
      this.#log.warn({ phase: phase.metadata.name, builtin: message.builtin, fault: text }, 'builtin refused');
      link.send({ type: 'request-result', id: message.id, ok: false, rule: 'service-failed', message: text });
    } finally {
      underWay.delete(message.id);
    }
  }

  #underWay(link: UnitLink): Map<number, AbortController> {
    const known = this.#requestsOf.get(link) ?? new Map<number, AbortController>();
    this.#requestsOf.set(link, known);
    return known;
  }

  /** At once, also while nothing can be written: a request that was kept for then is not carried out any more, and its chart is told so. */
  #giveUp(link: UnitLink, id: number): void {
    const at = this.#kept.findIndex((kept) => kept.link === link && kept.message.type === 'request' && kept.message.id === id);
    if (at >= 0) {
      this.#kept.splice(at, 1);
      const message = 'it did not go out, because nothing could be written before its phase was held or waited no more';
      link.send({ type: 'request-result', id, ok: false, rule: COMMAND_WITHDRAWN, message });
    }
    this.#requestsOf.get(link)?.get(id)?.abort();
  }

  async #carryOut(phase: PhaseResource, { builtin, args }: Extract<UnitOutbound, { type: 'request' }>, asked: Asked): Promise<RequestAnswer> {
    const text = (at: number): string => String(args[at] ?? '');
    switch (builtin) {
      case 'COMMAND':
        return this.#requests.command(phase, text(0), text(1), text(2));
      case 'MODE': {
        const mode = MODES.find((word) => word === text(1));
        return { ok: true, value: mode !== undefined && (await this.#requests.mode(phase, text(0), mode)) };
      }
      case 'CALL_SERVICE':
        return this.#requests.callService(phase, args);
      case 'MTP_COMMAND':
        return this.#requests.mtpCommand(phase, args, asked);
      case 'MTP_STATE':
        return this.#requests.mtpState(phase, text(0));
      case 'MTP_COMMAND_ENABLED':
        return this.#requests.mtpCommandEnabled(phase, text(0), text(1));
    }
  }
}

function elementOf(phase: PhaseResource): ElementRef {
  return { kind: 'Phase', name: phase.metadata.name, path: phase.spec.stepPath };
}

function statusOf(phase: PhaseResource, report: PhaseReport, ts: string): ElementStatus {
  const before = phase.status;
  // the mode is given here: a report that was on its way when it changed must not take it back
  const { failure: _failure, pendingPrompt: _prompt, chartStatus: _chart, answer, ...kept } = before;
  const started = before.state === 'Idle' && report.state === 'Running';
  const failure = failureNow(before, report);
  const stillWaiting = answer !== undefined && report.prompt?.id === answer.waitId;
  return {
    ...kept,
    state: report.state,
    ...(before.state === report.state ? {} : { stateAt: ts }),
    runCount: report.checkpoint.runCount,
    startedAt: started ? ts : before.startedAt,
    endedAt: isFinal(report.state) ? (before.state === report.state ? before.endedAt : ts) : '',
    outputs: report.outputs.map((output) => ({ ...output, unit: phase.spec.outputs.find((spec) => spec.name.toLowerCase() === output.name.toLowerCase())?.unit ?? '' })),
    sfcStatus: report.sfc,
    checkpoint: report.checkpoint,
    pausedAt: report.checkpoint.pausedAt ?? '',
    ...(before.resetFailed === undefined && before.state !== 'Resetting' ? {} : { resetFailed: resetFailed(before, report) }),
    ...(report.chart ? { chartStatus: { ...report.chart, ...(report.chart.activeChart ? { chart: report.chart.activeChart } : {}) } } : {}),
    ...(failure ? { failure } : {}),
    ...(report.prompt ? { pendingPrompt: servedPrompt(report.prompt, phase.spec) } : {}),
    ...(stillWaiting ? { answer } : {}),
  };
}

function failureOf(report: PhaseReport): ElementFailure | undefined {
  const failure = report.checkpoint.failure;
  if (!failure) return undefined;
  return {
    class: failure.class,
    rule: failure.rule,
    message: failure.message,
    ...withTold(failure.told),
    step: failure.step,
    since: timestamp(failure.sinceMs),
    active: failure.active,
    auditRecordRef: '',
  };
}

/** What an alarm has done to a phase that is a root is known here only; it ends with the Restart that follows, or with Reset. */
function failureNow({ state, failure }: ElementStatus, report: PhaseReport): ElementFailure | undefined {
  const own = failureOf(report);
  const isOver = ENDS_ALARM_FAILURE.includes(report.state) || (state === 'Held' && report.state === 'Running');
  return failure?.alarms && !isOver && own?.class !== 'fail' ? failure : own;
}

/** A reset that ends anywhere but in Idle has failed, and stays so until it is tried again (decisions 3.1, 3.5). */
function resetFailed({ state, resetFailed: before = '' }: ElementStatus, report: PhaseReport): string {
  if (report.state === 'Resetting' || report.state === 'Idle' || report.state === 'Running') return '';
  if (state !== 'Resetting') return before;
  return (report.cause === 'failure' && report.checkpoint.failure?.message) || `the reset was ended by ${report.cause}`;
}

function servedPrompt(prompt: PromptWait, spec: PhaseSpec): PendingPrompt {
  return {
    id: prompt.id,
    text: prompt.text,
    timestamp: timestamp(prompt.openedAtMs),
    stepName: prompt.stepName,
    type: prompt.kind,
    ...(prompt.choices ? { choices: prompt.choices } : {}),
    ...(prompt.min === undefined ? {} : { min: String(prompt.min) }),
    ...(prompt.max === undefined ? {} : { max: String(prompt.max) }),
    ...(prompt.unit === undefined ? {} : { unit: prompt.unit }),
    ...(prompt.resultKey === undefined ? {} : { resultKey: prompt.resultKey }),
    ...(asksTwo(spec, prompt.stepName) ? { secondSigner: true } : {}),
  };
}

/** Of charts that have a step of the same name the strictest counts: a prompt names its step alone. */
function asksTwo(spec: PhaseSpec, step: string): boolean {
  const charts = [spec, ...Object.values(spec.charts ?? {})];
  return charts.some((chart) => chart?.steps?.some(({ name, secondSigner }) => name === step && secondSigner === true));
}
