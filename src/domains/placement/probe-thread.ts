/** One I/O probe as a worker thread: its plans, its requests, its life and its end. */
import { Worker } from 'node:worker_threads';
import type { ProbeInbound, ProbeOutbound, ProbePlan, ProbeThread, SimulationForce } from '../../../runtime/port.js';
import { ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import type { Clock } from '../../platform/base/clock.js';
import { contain, guarded, guardedPromise } from '../../platform/base/guarded.js';
import type { Log } from '../../platform/base/log.js';

const REQUEST_TIMEOUT_MS = 10_000;
const RESTART_DELAY_MS = 1000;
/** The time to end (2 s), the pause, and the start of a thread on a busy box. */
const PROBE_RESTART_MAX_MS = 20_000;
const LOOK_MS = 1000;
/** Then its inputs are Bad: a silent source is within 3 s (decisions 7). */
const SILENT_LOOKS = 3;
/** Then it is ended and started again, as a scan thread is. */
const STUCK_LOOKS = 15;
/** One that was ended and is still there by then does not let go: it hangs below JavaScript, and only the end of the process ends it. */
const ENDED_LOOKS = 5;

type ModuleMessage = Extract<ProbeOutbound, { readonly type: 'module' }>;

/** A module as the thread was given it last. */
interface Hand {
  readonly site: string;
  readonly channels: number;
  readonly image: SharedArrayBuffer;
  /** Revision of the plan that it is in no more; undefined: it is planned. */
  leftAt: number | undefined;
}

interface ProbeParts {
  readonly name: string;
  readonly entry: URL;
  readonly thread: ProbeThread;
  readonly clock: Clock;
  readonly log: Log;
  take(message: ProbeOutbound): void;
  /** Told when the thread ends and nobody has asked it to. */
  died(name: string, fault: string): void;
  /** A module that is planned here no more: nothing here drives its device, or looks at its image, from now on. */
  letGo(site: string, module: string): void;
  /** The probe that had its images before: two threads never serve one image. */
  readonly after: Promise<void> | undefined;
}

/** One thread of I/O, from its first plan to its end. */
export class Probe {
  readonly #name: string;
  readonly #entry: URL;
  readonly #thread: ProbeThread;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #take: (message: ProbeOutbound) => void;
  readonly #died: (name: string, fault: string) => void;
  readonly #letGo: (site: string, module: string) => void;
  /** What the thread has in its hands by name: what is planned, and what has left the plan and was not let go yet. */
  readonly #hands = new Map<string, Hand>();
  /** Until then the images are another thread's. */
  #waits: boolean;
  /** The thread that was asked to end. */
  #asked: Worker | undefined;
  #lastFault = '';
  #worker: Worker | undefined;
  #plan: ProbePlan | undefined;
  #stopping = false;
  #revision = 0;
  #nextId = 1;
  readonly #pending = new Map<number, (message: ProbeOutbound | undefined) => void>();
  /** Told when a thread that was restarted is there. */
  readonly #awaited = new Set<(isBack: boolean) => void>();

  /** What each module has said of itself last: told again when a thread that was silent comes round. */
  readonly #said = new Map<string, ModuleMessage>();
  #rounds = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #seenRounds = 0;
  #silentLooks = 0;

  constructor({ name, entry, thread, clock, log, take, died, letGo, after }: ProbeParts) {
    this.#name = name;
    this.#entry = entry;
    this.#thread = thread;
    this.#clock = clock;
    this.#log = log;
    this.#take = take;
    this.#died = died;
    this.#letGo = letGo;
    this.#waits = after !== undefined;
    if (after) guardedPromise('start of an I/O probe', () => after.then(() => this.#begin()));
  }

  #begin(): void {
    this.#waits = false;
    this.#comeBack();
  }

  get state(): string {
    if (!this.#worker) return 'ended';
    return this.#silentLooks >= SILENT_LOOKS ? 'does not come round' : 'serves';
  }

  get hung(): string | undefined {
    if (!this.#worker || this.#silentLooks < STUCK_LOOKS + ENDED_LOOKS) return undefined;
    return `the I/O probe ${this.#name} has not come round for ${(this.#silentLooks * LOOK_MS) / 1000} s and cannot be ended`;
  }

  nextRevision(): number {
    this.#revision += 1;
    return this.#revision;
  }

  serves(site: string, module: string): boolean {
    return this.#plan?.modules.some((candidate) => candidate.site === site && candidate.module === module) ?? false;
  }

  load(plan: ProbePlan): void {
    this.#leave(plan);
    this.#plan = plan;
    for (const { site, module, channels, image } of plan.modules) {
      this.#hands.set(module, { site, channels: channels.length, image, leftAt: undefined });
      new ProcessImage(channels.length, image).setSilent(this.#silentLooks >= SILENT_LOOKS);
    }
    if (this.#worker) this.send({ type: 'plan', plan });
    else if (!this.#waits) this.#start();
  }

  /** What a module that leaves has sampled is worth nothing from now on, however long its connection takes to be closed. */
  #leave(plan: ProbePlan): void {
    for (const [module, hand] of this.#hands) {
      const stays = plan.modules.find((each) => each.module === module);
      if (stays?.image === hand.image) continue;
      new ProcessImage(hand.channels, hand.image).setSilent(true);
      if (!stays) hand.leftAt ??= plan.revision;
      if (!stays && !this.#worker) this.#forget(module, hand);
    }
  }

  #forget(module: string, { site }: Hand): void {
    this.#hands.delete(module);
    this.#letGo(site, module);
  }

  send(message: ProbeInbound): void {
    this.#worker?.postMessage(message);
  }

  keepForces(site: string, name: string, forces: readonly SimulationForce[]): void {
    if (!this.#plan || !this.serves(site, name)) return;
    const modules = this.#plan.modules.map((each) => (each.module === name && each.simulation ? { ...each, simulation: { ...each.simulation, forces } } : each));
    this.#plan = { ...this.#plan, modules };
  }

  /** A thread that comes after this one begins with it, too. */
  setTimeScale(timeScale: number): void {
    if (this.#plan) this.#plan = { ...this.#plan, timeScale };
    this.send({ type: 'time-scale', timeScale });
  }

  request(build: (id: number) => ProbeInbound, timeoutMs = REQUEST_TIMEOUT_MS): Promise<ProbeOutbound | undefined> {
    if (!this.#worker) return Promise.resolve(undefined); // between two of its lives nobody would answer
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const cancel = this.#clock.after(timeoutMs, () => finish(undefined));
      const finish = (message: ProbeOutbound | undefined): void => {
        cancel();
        this.#pending.delete(id);
        resolve(message);
      };
      this.#pending.set(id, finish);
      this.send(build(id));
    });
  }

  /** One that has ended by itself is on its way back already. Fulfilled when the next thread is there. */
  restart(): Promise<boolean> {
    const worker = this.#worker;
    if (this.#stopping) return Promise.resolve(false);
    const back = new Promise<boolean>((resolve) => {
      const cancel = this.#clock.after(PROBE_RESTART_MAX_MS, () => finish(false));
      const finish = (isBack: boolean): void => {
        cancel();
        this.#awaited.delete(finish);
        resolve(isBack);
      };
      this.#awaited.add(finish);
    });
    if (worker) guardedPromise('restart of an I/O probe', () => this.#end(worker));
    return back;
  }

  modules(site: string): readonly string[] {
    return this.planned().flatMap((each) => (each.site === site ? [each.module] : []));
  }

  planned(): readonly { readonly site: string; readonly module: string }[] {
    return (this.#plan?.modules ?? []).map(({ site, module }) => ({ site, module }));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#isBack(false);
    if (this.#worker) await this.#end(this.#worker);
  }

  async #end(worker: Worker): Promise<void> {
    this.#asked = worker;
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    const cancel = this.#clock.after(2000, () => guardedPromise('end of an I/O probe', () => worker.terminate()));
    worker.postMessage({ type: 'stop' } satisfies ProbeInbound);
    await exited;
    cancel();
  }

  #isBack(isBack: boolean): void {
    for (const finish of [...this.#awaited]) finish(isBack);
  }

  /** Unless it was stopped in the meantime, or a new plan has started it already. */
  #comeBack(): void {
    if (!this.#stopping && !this.#worker) this.#start();
  }

  #start(): void {
    const rounds = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const worker = new Worker(this.#entry, { name: `probe ${this.#name}`, workerData: { ...this.#thread, rounds } satisfies ProbeThread, execArgv: [] });
    this.#worker = worker;
    this.#rounds = new Int32Array(rounds);
    this.#said.clear();
    worker.on('message', (message: ProbeOutbound) => guarded('message of an I/O probe', () => this.#hear(worker, message)));
    worker.on('error', (fault) => {
      this.#lastFault = fault.message;
      this.#log.error({ probe: this.#name, fault: fault.message }, 'I/O probe failed');
    });
    worker.on('exit', () => {
      if (worker !== this.#worker) return;
      this.#worker = undefined;
      guarded('end of an I/O probe', () => this.#gone()); // whatever that meets: its modules wait for another one
      if (worker !== this.#asked) guarded('death of a thread', () => this.#died(`I/O probe ${this.#name}`, this.#lastFault || 'it said nothing'));
      this.#lastFault = '';
      for (const finish of [...this.#pending.values()]) finish(undefined);
      if (!this.#stopping) this.#clock.after(RESTART_DELAY_MS, () => this.#comeBack());
    });
    if (this.#plan) worker.postMessage({ type: 'plan', plan: this.#plan } satisfies ProbeInbound);
  }

  #hear(worker: Worker, message: ProbeOutbound): void {
    if (message.type === 'ready') {
      this.#lookLater(worker);
      if (worker !== this.#asked) this.#isBack(true);
    }
    if (message.type === 'let-go') {
      const hand = this.#hands.get(message.module);
      if (hand?.leftAt !== undefined && message.revision >= hand.leftAt) this.#forget(message.module, hand);
      return;
    }
    if (message.type === 'fault') return contain(message.seam, new Error(message.fault));
    if (message.type === 'module') this.#said.set(message.module, message);
    if ('id' in message) this.#pending.get(message.id)?.(message);
    else this.#take(message);
  }

  // ---------------------------------------------------------------- threads that no longer come round

  #lookLater(worker: Worker): void {
    this.#clock.after(LOOK_MS, () => {
      if (worker !== this.#worker) return;
      guarded('look at an I/O probe', () => this.#look(worker));
      this.#lookLater(worker);
    });
  }

  /** Looks are counted, not time: when the whole process stood still, nobody is to blame. */
  #look(worker: Worker): void {
    const rounds = Atomics.load(this.#rounds, 0);
    const wasSilent = this.#silentLooks >= SILENT_LOOKS;
    this.#silentLooks = rounds === this.#seenRounds ? this.#silentLooks + 1 : 0;
    this.#seenRounds = rounds;
    if (this.#silentLooks === SILENT_LOOKS) {
      this.#log.error({ probe: this.#name }, `the I/O probe has not come round for ${SILENT_LOOKS} s: its inputs are Bad`);
      for (const image of this.#images()) image.setSilent(true);
      this.#sayLost('its I/O thread does not answer');
    } else if (wasSilent && this.#silentLooks === 0) {
      this.#log.warn({ probe: this.#name }, 'the I/O probe comes round again');
      for (const image of this.#images()) image.setSilent(false);
      for (const message of this.#said.values()) this.#take(message);
    }
    if (this.#silentLooks !== STUCK_LOOKS) return;
    this.#lastFault = `it has not come round for ${STUCK_LOOKS} s`;
    this.#log.error({ probe: this.#name }, `the I/O probe is ended: ${this.#lastFault}`);
    guardedPromise('end of an I/O probe', () => worker.terminate());
  }

  /** With the thread went every connection: what its images show is of before, at once and not when it has grown old. */
  #gone(): void {
    this.#silentLooks = 0;
    this.#seenRounds = 0;
    for (const [module, hand] of [...this.#hands]) {
      const image = new ProcessImage(hand.channels, hand.image);
      image.abandonInputs(QUALITY.Bad);
      if (hand.leftAt === undefined) image.setSilent(false);
      else this.#forget(module, hand);
    }
    if (!this.#stopping) this.#sayLost('its I/O thread has ended and is started again');
  }

  #images(): ProcessImage[] {
    return (this.#plan?.modules ?? []).map(({ channels, image }) => new ProcessImage(channels.length, image));
  }

  #sayLost(message: string): void {
    for (const said of this.#said.values()) this.#take({ ...said, state: 'Disconnected', message, atMs: this.#clock.wallMs() });
  }
}
