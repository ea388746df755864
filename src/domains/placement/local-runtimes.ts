/**
 * Unit runtimes as worker threads of this process: the placement every box starts with. A worker that stops unexpectedly
 * is started again, at most 3 times in 60 s, and then stays down until somebody restarts it (D-UNIT-04); its link stays.
 */
import { Worker } from 'node:worker_threads';
import type { PhasePlan, TagPlan, UnitInbound, UnitOutbound, UnitPlan } from '../../../runtime/port.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { type Prioritise, REALTIME_UNASKED, RealtimePriority } from './realtime.js';
import type { Realtime, ScanStatistics, TagReading, UnitLink, UnitRuntimes, WriteResult } from '../units/runtimes.js';
import { TagView } from '../units/tag-view.js';

const RESTARTS_MAX = 3;
const RESTART_WINDOW_MS = 60_000;
const REQUEST_TIMEOUT_MS = 5000;

const WORKER = new URL('../../../runtime/worker.js', import.meta.url);

type Change = 'ready' | 'down' | 'plan';

export class LocalRuntimes implements UnitRuntimes {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #heapMb: number;
  readonly #links = new Map<string, LocalLink>();
  readonly #messageListeners: ((link: UnitLink, message: UnitOutbound) => void)[] = [];
  readonly #changeListeners: ((link: UnitLink, what: Change) => void)[] = [];
  #sorted: readonly UnitLink[] = [];
  readonly #priority: RealtimePriority;

  /** Real-time priority is asked for unless the setting says no. */
  constructor(options: { readonly clock: Clock; readonly log: Log; readonly heapMb: number; readonly realtime?: boolean; readonly prioritise?: Prioritise }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#heapMb = options.heapMb;
    this.#priority = new RealtimePriority({ wanted: options.realtime ?? true, log: options.log, ...(options.prioritise && { prioritise: options.prioritise }) });
  }

  /** Of the scan threads of this box. */
  get realtime(): Realtime {
    return this.#priority.state;
  }

  link(site: string, unit: string): LocalLink | undefined {
    return this.#links.get(`${site}/${unit}`);
  }

  links(): readonly UnitLink[] {
    return this.#sorted;
  }

  onMessage(listener: (link: UnitLink, message: UnitOutbound) => void): void {
    this.#messageListeners.push(listener);
  }

  onChange(listener: (link: UnitLink, what: Change) => void): void {
    this.#changeListeners.push(listener);
  }

  /** Starts the unit's worker when there is none, and gives it the plan. */
  run(plan: UnitPlan): void {
    const key = `${plan.site}/${plan.unit}`;
    let link = this.#links.get(key);
    if (!link) {
      link = new LocalLink(plan, {
        clock: this.#clock,
        log: this.#log,
        heapMb: this.#heapMb,
        message: (from, message) => {
          for (const listener of this.#messageListeners) listener(from, message);
        },
        change: (from, what) => {
          for (const listener of this.#changeListeners) listener(from, what);
        },
        prioritise: (osThreadId) => this.#priority.ask(osThreadId),
      });
      this.#links.set(key, link);
      this.#sorted = [...this.#links.values()].sort((a, b) => (`${a.site}/${a.unit}` < `${b.site}/${b.unit}` ? -1 : 1));
      link.start();
      return;
    }
    link.load(plan);
  }

  async remove(site: string, unit: string): Promise<void> {
    const key = `${site}/${unit}`;
    const link = this.#links.get(key);
    if (!link) return;
    this.#links.delete(key);
    this.#sorted = this.#sorted.filter((other) => other !== link);
    await link.stop();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.stop()));
  }
}

interface LinkParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly heapMb: number;
  message(link: LocalLink, message: UnitOutbound): void;
  change(link: LocalLink, what: Change): void;
  prioritise(osThreadId: number): Promise<Realtime>;
}

class LocalLink implements UnitLink {
  readonly site: string;
  readonly unit: string;
  epoch = 0;
  ready = false;
  message = 'starting';
  startedAtMs = 0;
  realtime: Realtime = REALTIME_UNASKED;
  readonly #parts: LinkParts;
  #worker: Worker | undefined;
  #stopping = false;
  #plan: UnitPlan;
  /** Sent and not loaded yet, in order; the worker skips those that another one overtook. */
  #coming: UnitPlan[] = [];
  /** Of the loaded plan. */
  readonly #view = new TagView();
  /** What the worker asked to be kept: a restarted one begins with this, not with what its plan once carried (decisions 3.8). */
  #retained: UnitPlan['retained'];
  #restartsAtMs: number[] = [];
  #nextId = 1;
  readonly #pending = new Map<number, { resolve: (message: UnitOutbound | undefined) => void; cancel: () => void }>();

  constructor(plan: UnitPlan, parts: LinkParts) {
    this.site = plan.site;
    this.unit = plan.unit;
    this.#plan = plan;
    this.#retained = plan.retained;
    this.#parts = parts;
  }

  start(): void {
    this.epoch += 1;
    this.realtime = REALTIME_UNASKED;
    this.#view.forgetTexts();
    this.#coming = [this.#plan];
    const worker = new Worker(WORKER, {
      name: `unit ${this.site}/${this.unit}`,
      resourceLimits: { maxOldGenerationSizeMb: this.#parts.heapMb, maxYoungGenerationSizeMb: 8 },
      workerData: { site: this.site, unit: this.unit },
    });
    this.#worker = worker;
    this.startedAtMs = this.#parts.clock.wallMs();
    worker.on('message', (message: UnitOutbound) => this.#take(message));
    worker.on('error', (fault) => this.#parts.log.error({ unit: this.unit, site: this.site, fault: fault.stack ?? fault.message }, 'unit runtime failed'));
    worker.on('exit', (code) => this.#exited(worker, code));
    this.#parts.log.info({ unit: this.unit, site: this.site, epoch: this.epoch, threadId: worker.threadId }, 'unit runtime started');
    worker.postMessage({ type: 'plan', plan: { ...this.#plan, retained: this.#retained } } satisfies UnitInbound);
  }

  load(plan: UnitPlan): void {
    this.#plan = plan;
    this.#retained = { ...plan.retained, ...this.#retained };
    this.#coming.push(plan);
    this.send({ type: 'plan', plan });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.ready = false;
    const worker = this.#worker;
    if (!worker) return;
    const stopped = new Promise<void>((resolve) => {
      worker.once('exit', () => resolve());
      const cancel = this.#parts.clock.after(2000, () => void worker.terminate());
      worker.once('exit', cancel);
    });
    worker.postMessage({ type: 'stop' } satisfies UnitInbound);
    await stopped;
  }

  /** Ends the worker at once; the supervision starts it again (runtime/restart). */
  async restart(): Promise<void> {
    this.#restartsAtMs = [];
    if (this.#worker) await this.#worker.terminate();
    else this.start();
  }

  get planRevision(): number {
    return this.#view.revision;
  }

  get tags(): readonly TagPlan[] {
    return this.#view.tags;
  }

  tagIndex(address: string): number {
    return this.#view.tagIndex(address);
  }

  refresh(): boolean {
    return this.#view.refresh();
  }

  reading(index: number): TagReading {
    return this.#view.reading(index);
  }

  statistics(): ScanStatistics {
    return this.#view.statistics();
  }

  networkScans(network: string): number {
    return this.#view.networkScans(network);
  }

  networkHash(network: string): string {
    return this.#view.networkHash(network);
  }

  async write(address: string, value: Value): Promise<WriteResult> {
    const reply = await this.#request((id) => ({ type: 'write', id, address, value }));
    if (reply?.type !== 'write-result') return { ok: false, code: 'runtime_unreachable', message: `the runtime of unit ${this.unit} does not answer` };
    return { ok: reply.ok, ...(reply.code ? { code: reply.code } : {}), message: reply.message };
  }

  async inspect(what: 'network' | 'diagnostics' | 'phase', name: string): Promise<unknown> {
    const reply = await this.#request((id) => ({ type: 'inspect', id, what, name }));
    return reply?.type === 'inspect-result' ? reply.result : undefined;
  }

  loadPhase(phase: PhasePlan): void {
    this.send({ type: 'phase', phase });
  }

  send(message: UnitInbound): void {
    this.#worker?.postMessage(message);
  }

  #request(build: (id: number) => UnitInbound): Promise<UnitOutbound | undefined> {
    if (!this.ready) return Promise.resolve(undefined);
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.after(REQUEST_TIMEOUT_MS, () => {
        this.#pending.delete(id);
        resolve(undefined);
      });
      this.#pending.set(id, { resolve, cancel });
      this.send(build(id));
    });
  }

  #take(message: UnitOutbound): void {
    switch (message.type) {
      case 'ready':
        void this.#prioritise(message.osThreadId);
        break;
      case 'text':
        this.#view.addText(message.id, message.text);
        break;
      case 'plan-loaded':
        this.#adopt(message.revision);
        break;
      case 'retained':
        this.#retained = { ...this.#retained, ...message.networks };
        break;
      case 'write-result':
      case 'inspect-result':
        this.#settle(message.id, message);
        break;
      default:
        break;
    }
    this.#parts.message(this, message);
    if (message.type === 'plan-loaded') this.#parts.change(this, 'plan');
  }

  /** The worker now writes the table of this plan: readers move over together with its tag list. */
  #adopt(revision: number): void {
    const loaded = this.#coming.findIndex((plan) => plan.revision === revision);
    if (loaded < 0) return;
    const plan = this.#coming[loaded];
    this.#coming = this.#coming.slice(loaded + 1);
    this.#view.adopt(plan);
    if (!this.ready && plan === this.#plan) {
      this.ready = true;
      this.message = '';
      this.#parts.change(this, 'ready');
    }
  }

  /** The answer counts for the worker that asked, not for one that was started meanwhile. */
  async #prioritise(osThreadId: number): Promise<void> {
    const { epoch } = this;
    const realtime = await this.#parts.prioritise(osThreadId);
    if (epoch === this.epoch) this.realtime = realtime;
  }

  #settle(id: number, message: UnitOutbound): void {
    const waiting = this.#pending.get(id);
    if (!waiting) return;
    this.#pending.delete(id);
    waiting.cancel();
    waiting.resolve(message);
  }

  #exited(worker: Worker, code: number): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    this.ready = false;
    for (const waiting of this.#pending.values()) {
      waiting.cancel();
      waiting.resolve(undefined);
    }
    this.#pending.clear();
    if (this.#stopping) return;
    this.#parts.log.warn({ unit: this.unit, site: this.site, epoch: this.epoch, code }, 'unit runtime ended');
    const now = this.#parts.clock.monoMs();
    this.#restartsAtMs = this.#restartsAtMs.filter((at) => now - at < RESTART_WINDOW_MS);
    const again = this.#restartsAtMs.length < RESTARTS_MAX;
    this.message = again ? 'restarting' : `the runtime stopped ${RESTARTS_MAX} times within ${RESTART_WINDOW_MS / 1000} s; restart it when the cause is found`;
    this.#parts.change(this, 'down');
    if (!again) return;
    this.#restartsAtMs.push(now);
    this.start();
  }
}
