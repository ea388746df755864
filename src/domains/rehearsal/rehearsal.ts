/**
 * The controller side of a rehearsal (ADR 0006): the parts that carry out a batch, as the appliance joins them, on a store in
 * memory and on units that go on only when they are told to. Plant time is the only time there is.
 */
import type { RehearsalAlarm, RehearsalMessage, RehearsalOutbound, RehearsalPlan, UnitInbound, UnitOutbound } from '../../../runtime/port.js';
import { progression } from '../../../runtime/vocabulary/transitions.js';
import type { Clock } from '../../platform/base/clock.js';
import type { MonoMs } from '../../platform/base/times.js';
import { timestamp } from '../../platform/base/clock.js';
import { createLog } from '../../platform/base/log.js';
import type { Fact } from '../../platform/ledger/protocol.js';
import { component } from '../../platform/store/audit-record.js';
import type { Put, StoreEvent } from '../../platform/store/store.js';
import { Store } from '../../platform/store/store.js';
import { type BatchControl, joinBatchControl } from '../batches/batch-control.js';
import { batchBlockedBy, type Blocker, blockedBecause } from '../batches/reading/blocked-by.js';
import { batchOutputs } from '../batches/reading/batch-outputs.js';
import type { PendingCommand } from '../runs/pending-command.js';
import { type StateEntry, streamOf } from '../runs/execution-log.js';
import { Batch, type BatchSpec, type BatchStatus, isFinalBatch } from '../batches/kind.js';
import { PhaseCommands } from '../batches/phases/phase-commands.js';
import { phaseRequests } from '../commands/phase-requests.js';
import { Unit } from '../plant/kind.js';
import { type ElementStatus, Operation, Phase, type PhaseSpec, Procedure, UnitProcedure } from '../procedures/kind.js';
import { MasterRecipe } from '../recipes/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { answerTo } from './answers.js';
import { parameterChecks, recipeChecks } from './checks.js';
import { copiedPlant } from './copied-plant.js';
import { CopiedUnits } from './copied-units.js';
import { Coverage, type ElementResource } from './coverage.js';
import { BoundedList, type RehearsalCheck, type RehearsalFindings, type RehearsalOutcome, type RehearsedAlarm, type RehearsedPrompt, type TimelineEntry } from './findings.js';
import { MemoryLedger } from './memory-ledger.js';
import { REHEARSED_BATCH, type RehearsalOrder } from './order.js';

/** The plant side, wherever it runs. */
export interface PlantSide {
  open(plan: RehearsalPlan): Promise<RehearsalOutbound>;
  advance(untilMs: number, messages: readonly RehearsalMessage<UnitInbound>[]): Promise<RehearsalOutbound>;
}

/** Plant time before Start, in which inputs are measured and valves find their position. */
const SETTLING_MS = 2000;
/** A batch settles within a few looks; more in one instant would be a fault of ours. */
const LOOKS_MAX = 1000;
const ELEMENTS = [Procedure, UnitProcedure, Operation, Phase] as const;
/** Wall time between two words on how far it has come. */
const PROGRESS_EVERY_MS = 200;
/** Outputs of alarm blocks behind the second limit. */
const SEVERE = ['HH', 'LL'];
const ALWAYS_ASSUMED = [
  'the plant is at rest, its units are Idle, and simulated equipment is as its configuration starts it',
  'values retained by the unit runtimes (written setpoints, integrals) are not taken over',
  'prompts are answered at once',
];

type PhaseResource = Resource<PhaseSpec, ElementStatus>;
type BatchResource = Resource<BatchSpec, BatchStatus>;

export async function rehearse(order: RehearsalOrder, plant: PlantSide, monoMs: () => number, progress?: (plantSeconds: number) => void): Promise<RehearsalFindings> {
  const rehearsal = new Rehearsal(order, plant, monoMs, progress);
  await rehearsal.prepare();
  return rehearsal.findings(await rehearsal.run());
}

class Rehearsal {
  readonly #order: RehearsalOrder;
  readonly #plant: PlantSide;
  readonly #monoMs: () => number;
  readonly #endsMonoMs: MonoMs;
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #coverage = new Coverage();
  readonly #timeline = new BoundedList<TimelineEntry>();
  readonly #prompts = new BoundedList<RehearsedPrompt>();
  readonly #alarms = new BoundedList<RehearsedAlarm>();
  readonly #answered = new Set<string>();
  readonly #usedAnswers = new Set<string>();
  readonly #assumptions: string[];
  #checks: RehearsalCheck[] = [];
  #units = new CopiedUnits({ units: [], modules: [], startWallMs: 0 });
  #control: BatchControl | undefined;
  #plantMs = 0;
  #startMs = 0;
  /** Something has changed that the batch controller has not looked at. */
  #changed = false;
  /** Plant time of the next look that the batch controller has asked for. */
  #lookAtMs = Number.POSITIVE_INFINITY;

  readonly #progress: ((plantSeconds: number) => void) | undefined;
  #toldMonoMs = 0;

  constructor(order: RehearsalOrder, plant: PlantSide, monoMs: () => number, progress?: (plantSeconds: number) => void) {
    this.#progress = progress;
    this.#order = order;
    this.#plant = plant;
    this.#monoMs = monoMs;
    this.#endsMonoMs = monoMs() + order.wallMsMax;
    this.#assumptions = [...ALWAYS_ASSUMED, ...order.assumptions];
    this.#clock = { wallMs: () => order.startWallMs + this.#plantMs, monoMs: () => this.#plantMs, after: () => () => undefined };
    this.#store = new Store(new MemoryLedger(order.resources, (fact) => this.#fact(fact)), this.#clock);
  }

  // ---------------------------------------------------------------- before Start

  async prepare(): Promise<void> {
    await this.#store.open(0);
    const { plan, assumptions } = copiedPlant(this.#store, this.#order);
    this.#assumptions.push(...assumptions);
    this.#units = new CopiedUnits(plan);
    this.#join();
    this.#hear(await this.#plant.open(plan));
    while (this.#plantMs < SETTLING_MS && !this.#outOfTime) this.#hear(await this.#plant.advance(SETTLING_MS, []));
    this.#startMs = this.#plantMs;
    const recipe = this.#store.get(MasterRecipe, this.#order.site, this.#order.batch.masterRecipeRef);
    if (recipe) this.#checks = recipeChecks(this.#store, this.#order.site, recipe.spec, this.#order.batch);
  }

  /** For one batch. */
  #join(): void {
    const store = this.#store;
    const runtimes = this.#units;
    const clock = this.#clock;
    const { tree } = this.#order;
    const wake = (): void => {
      this.#changed = true;
    };
    this.#control = joinBatchControl({
      store,
      runtimes,
      clock,
      log: createLog(),
      settings: { ...tree, production: false, storageLow: () => false, runsUnfitValues: true },
      phases: new PhaseCommands(store, runtimes),
      requests: phaseRequests({ store, runtimes, clock, reasonLengthMin: tree.reasonLengthMin }),
      wake,
    });
    for (const kind of [Batch, Unit]) store.watch(kind, wake);
    for (const kind of ELEMENTS) store.watch(kind, (event) => this.#elementChanged(event));
  }

  // ---------------------------------------------------------------- the run

  async run(): Promise<RehearsalOutcome> {
    this.#orderStart();
    await this.#settle();
    this.#checks.push(...parameterChecks(this.#elements()));
    let outcome = this.#outcome();
    while (outcome === undefined) {
      await this.#goOn();
      await this.#settle();
      outcome = this.#outcome();
    }
    return outcome;
  }

  #orderStart(): void {
    const { site, batch } = this.#order;
    const by = component('rehearsal');
    const pending: PendingCommand = { command: 'Start', reason: 'rehearsal', by, at: timestamp(this.#clock.wallMs()), correlationID: 'rehearsal' };
    this.#store.apply({ puts: [{ kind: Batch, site, name: REHEARSED_BATCH, spec: batch, status: { ...Batch.initialStatus(batch), pendingCommand: pending } } as Put] });
  }

  async #goOn(): Promise<void> {
    const untilMs = Math.min(this.#startMs + this.#order.plantMsMax, this.#lookAtMs);
    const told = await this.#plant.advance(untilMs, this.#units.takeOutbox());
    if (told.plantMs >= untilMs) this.#changed = true;
    this.#tellProgress(told.plantMs);
    this.#hear(told);
    // what a chart has asked for is carried out in promises: the plant waits for them
    if (told.messages.some(({ message }) => message.type === 'request')) await new Promise((resolve) => setImmediate(resolve));
  }

  #tellProgress(plantMs: number): void {
    if (!this.#progress || this.#monoMs() - this.#toldMonoMs < PROGRESS_EVERY_MS) return;
    this.#toldMonoMs = this.#monoMs();
    this.#progress(this.#seconds(plantMs));
  }

  async #settle(): Promise<void> {
    for (let looks = 0; this.#changed; looks += 1) {
      if (looks === LOOKS_MAX) throw new Error('the batch controller does not come to rest');
      this.#changed = false;
      const outcome = await this.#control?.reconciler.reconcile({ site: this.#order.site, name: REHEARSED_BATCH });
      this.#lookAtMs = typeof outcome === 'object' ? this.#plantMs + outcome.lookAgainMs : Number.POSITIVE_INFINITY;
    }
  }

  get #outOfTime(): boolean {
    return this.#monoMs() >= this.#endsMonoMs;
  }

  #batch(): BatchResource {
    const batch = this.#store.get(Batch, this.#order.site, REHEARSED_BATCH);
    if (!batch) throw new Error('the rehearsed batch is there from Start on');
    return batch;
  }

  /** Undefined while it goes on. */
  #outcome(): RehearsalOutcome | undefined {
    const { phase, commandRejection, heldInside } = this.#batch().status;
    if (phase === 'Pending' && commandRejection) return 'NotStarted';
    if (isFinalBatch(phase) || phase === 'Held' || phase === 'Paused') return phase as RehearsalOutcome;
    if (heldInside && !this.#phases().some(({ status }) => progression(status.state) === 'acting')) return 'Held';
    if (this.#plantMs - this.#startMs >= this.#order.plantMsMax) return 'TimeLimit';
    return this.#outOfTime ? 'WallLimit' : undefined;
  }

  #phases(): readonly PhaseResource[] {
    return this.#store.list(Phase, this.#order.site);
  }

  #elements(): ElementResource[] {
    return ELEMENTS.flatMap((kind) => [...this.#store.list(kind as typeof Phase, this.#order.site)]);
  }

  // ---------------------------------------------------------------- what is seen

  #seconds(plantMs: number): number {
    return Math.round(plantMs - this.#startMs) / 1000;
  }

  #hear({ plantMs, messages, alarms, problems }: RehearsalOutbound): void {
    this.#plantMs = plantMs;
    for (const { module, message } of problems) this.#assumptions.push(`I/O module ${module} cannot be simulated, its inputs are Bad: ${message}`);
    for (const alarm of alarms) this.#alarmBlock(alarm);
    for (const { unit, message } of messages) this.#take(unit, message);
  }

  #take(unit: string, message: UnitOutbound): void {
    const link = this.#units.link(this.#order.site, unit);
    if (!link) return;
    link.heard(message);
    this.#control?.reports.take(link, message);
    if (message.type === 'alarm') {
      const element = this.#store.get(Phase, this.#order.site, message.phase)?.spec.stepPath ?? message.phase;
      this.#alarms.add({ element, severity: message.severity, message: message.message, atSeconds: this.#seconds(this.#plantMs) });
    }
    if (message.type === 'phase' && message.prompt) this.#answer(message.phase, (waitId, value) => link.send({ type: 'answer', phase: message.phase, waitId, value }));
  }

  #alarmBlock({ source, unit, output, atMs }: RehearsalAlarm): void {
    if (this.#startMs === 0) return; // inputs that were never measured
    const module = source.slice(0, source.indexOf('.'));
    this.#alarms.add({ module, severity: SEVERE.includes(output) ? 'High' : 'Medium', message: `${source}.${output} on unit ${unit}`, atSeconds: this.#seconds(atMs) });
  }

  #answer(name: string, send: (waitId: string, value: number | string) => void): void {
    const phase = this.#store.get(Phase, this.#order.site, name);
    const prompt = phase?.status.pendingPrompt;
    if (!phase || !prompt || this.#answered.has(prompt.id)) return;
    this.#answered.add(prompt.id);
    const path = phase.spec.stepPath;
    const { text, value, key, message } = answerTo(prompt, path, this.#order.answers);
    if (key !== '') this.#usedAnswers.add(key);
    this.#prompts.add({
      atSeconds: this.#seconds(this.#plantMs),
      path,
      step: prompt.stepName,
      type: prompt.type,
      text: prompt.text,
      resultKey: prompt.resultKey ?? '',
      answer: text,
      from: key === '' || message !== '' ? 'default' : 'answers',
      message,
    });
    if (message !== '') this.#checks.push({ check: 'answers', ok: false, message });
    send(prompt.id, value);
  }

  /** State changes, in the order in which they were committed. */
  #fact({ stream, body }: Fact): void {
    if (stream !== streamOf('states', this.#order.site, REHEARSED_BATCH)) return;
    const { ts, kind, path, state, cause } = body as StateEntry;
    this.#timeline.add({ ts: this.#seconds(Date.parse(ts) - this.#order.startWallMs), element: kind, path, state, cause });
  }

  #elementChanged({ type, resource, before }: StoreEvent): void {
    if (type === 'remove') return;
    const element = resource as ElementResource;
    this.#coverage.note(element);
    if (element.kind !== Phase.kind) return;
    const known = stepsOf(before as ElementResource | undefined);
    for (const step of stepsOf(element)) {
      if (known.has(step)) continue;
      this.#timeline.add({ ts: this.#seconds(this.#plantMs), element: 'Phase', path: element.spec.stepPath, state: element.status.state, cause: 'step', step });
    }
  }

  // ---------------------------------------------------------------- the answer

  findings(outcome: RehearsalOutcome): RehearsalFindings {
    const elements = this.#elements();
    const blockers = batchBlockedBy({ store: this.#store, clock: this.#clock, runtimes: this.#units }, this.#batch());
    const unreachedSteps = BoundedList.of(this.#coverage.unreachedSteps(elements));
    const unfiredTransitions = BoundedList.of(this.#coverage.unfiredTransitions(elements, blockers));
    const outputs = BoundedList.of(batchOutputs(this.#store, this.#order.site, REHEARSED_BATCH) as RehearsalFindings['outputs']);
    const checks = BoundedList.of([...this.#checks, ...this.#startCheck(), ...this.#unusedAnswers(outcome)]);
    const lists = { timeline: this.#timeline, prompts: this.#prompts, checks, outputs, alarms: this.#alarms, unreachedSteps, unfiredTransitions };
    return {
      ok: outcome === 'Complete' && checks.items.every(({ ok }) => ok),
      outcome,
      plantSeconds: this.#seconds(this.#plantMs),
      blockedBecause: outcome === 'Complete' ? '' : this.#blockedBecause(outcome, blockers),
      timeline: this.#timeline.items,
      prompts: this.#prompts.items,
      checks: checks.items,
      outputs: outputs.items,
      alarms: this.#alarms.items,
      unreachedSteps: unreachedSteps.items,
      unfiredTransitions: unfiredTransitions.items,
      assumptions: this.#assumptions,
      truncated: Object.fromEntries(Object.entries(lists).flatMap(([list, { omitted }]) => (omitted > 0 ? [[list, omitted]] : []))),
    };
  }

  #startCheck(): RehearsalCheck[] {
    const rejection = this.#batch().status.commandRejection;
    return [{ check: 'start', ok: rejection === undefined, message: rejection ? `${rejection.rule}: ${rejection.message}` : '' }];
  }

  /** Of a batch that has come to its end: a key that nothing asked for is most likely misspelt. */
  #unusedAnswers(outcome: RehearsalOutcome): RehearsalCheck[] {
    if (outcome !== 'Complete') return [];
    const unused = Object.keys(this.#order.answers).filter((key) => !this.#usedAnswers.has(key));
    const asked = [...new Set(this.#prompts.items.map(({ resultKey, path, step }) => (resultKey === '' ? `${path}/${step}` : resultKey)))];
    const way = asked.length === 0 ? 'nothing was asked at all' : `asked were ${asked.join(', ')}`;
    return unused.map((key) => ({ check: 'answers', ok: false, message: `answers.${key}: nothing asked for it; ${way}` }));
  }

  #blockedBecause(outcome: RehearsalOutcome, blockers: readonly Blocker[]): string {
    const { failure, phase } = this.#batch().status;
    return blockedBecause(blockers) || (failure ? `${failure.rule}: ${failure.message}` : `the batch is ${phase} after ${this.#seconds(this.#plantMs)} s (${outcome})`);
  }
}

function stepsOf(element: ElementResource | undefined): ReadonlySet<string> {
  const { activeSteps = [], completedSteps = [] } = element?.status.sfcStatus ?? {};
  return new Set([...completedSteps, ...activeSteps]);
}
