/** Where a scenario works: a folder of its own, one appliance on it, chance from a seed, and what is looked at after each round. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from '../../src/platform/base/sqlite.js';
import { eventually } from '../support/api-client.js';
import { ApplianceProcess, freePort } from '../support/appliance-process.js';
import { ENVIRONMENT, type Event, nothingTold, randomFrom, startBatch, Story, type Told } from '../support/batch-story.js';
import { MixedLoad } from './load.js';

/** What drives equipment; a start must not bring any of it about. */
const MOVING = ['Running', 'Starting', 'Restarting', 'Resuming', 'Completing'];

export class Bench {
  readonly random: () => number;
  readonly work: string;
  readonly dataDir: string;
  #box!: ApplianceProcess;
  #port = 0;
  story!: Story;
  load!: MixedLoad;
  batch = '';
  told: Told = nothingTold();
  #orders = 0;
  readonly #others: ApplianceProcess[] = [];
  readonly #atEnd: (() => Promise<void>)[] = [];

  private constructor(seed: number) {
    this.random = randomFrom(seed);
    this.work = mkdtempSync(path.join(tmpdir(), 'lineside-torture-'));
    this.dataDir = path.join(this.work, 'data');
    mkdirSync(this.dataDir);
  }

  static open(seed: number): Bench {
    return new Bench(seed);
  }

  get box(): ApplianceProcess {
    return this.#box;
  }

  /** Starts the appliance (on its data directory) with what the fault adds to its environment; ms until it was ready. */
  async start(environment: Readonly<Record<string, string>> = {}): Promise<number> {
    if (this.#port === 0) this.#port = await freePort();
    this.#box = new ApplianceProcess(this.dataDir, this.#port, { ...ENVIRONMENT, ...environment }, true);
    const first = this.story === undefined;
    const ms = await this.#box.start();
    if (first) {
      this.story = new Story(this.#box);
      this.load = new MixedLoad(this.story);
      await this.story.commission();
    } else {
      this.story.box = this.#box;
      await this.story.signIn();
    }
    return ms;
  }

  /** Another appliance than the one on `dataDir`; it ends with the scenario at the latest. */
  async appliance(dataDir: string, environment: Readonly<Record<string, string>> = {}): Promise<ApplianceProcess> {
    const box = new ApplianceProcess(dataDir, await freePort(), { ...ENVIRONMENT, ...environment }, true);
    this.#others.push(box);
    return box;
  }

  /** Also where a round hangs and is given up. */
  atEnd(call: () => Promise<void>): void {
    this.#atEnd.push(call);
  }

  /** A batch is under way: the one of the last round goes on, or another one is ordered and started. */
  async running(): Promise<void> {
    const { phase } = this.batch === '' ? { phase: 'Complete' } : await this.story.batch(this.batch);
    await this.story.unitsReady();
    if (phase === 'Held') {
      const restarted = await this.story.command(this.batch, 'Restart');
      if (restarted.status === 200) return;
    }
    if (phase === 'Pending') return startBatch(this.story, this.batch);
    if (phase !== 'Complete') await this.#giveUp();
    this.#orders += 1;
    this.batch = await this.story.order(`B-${this.#orders}`);
    this.told = nothingTold();
    await startBatch(this.story, this.batch);
  }

  /** A batch that cannot go on is ended as an operator would. */
  async #giveUp(): Promise<void> {
    const reason = 'it could not go on after the fault';
    await this.story.admin.post('/api/v1/sites/demo/command', { kind: 'Batch', name: this.batch, command: 'Abort', reason });
    await this.story.inState(this.batch, 'Aborted');
    await this.story.admin.post('/api/v1/sites/demo/command', { kind: 'Batch', name: this.batch, command: 'Reset', reason });
    await eventually('its units are free', async () =>
      ((await this.story.admin.get('/api/v1/sites/demo/units')).body as { allocatedTo: string }[]).every(({ allocatedTo }) => allocatedTo !== this.batch),
    );
  }

  /** What must hold after every fault, before anybody acts: sentences of what does not. */
  async examine(): Promise<readonly string[]> {
    const problems: string[] = [...(await this.load.lost())];
    const { admin } = this.story;
    const batches = (await admin.get('/api/v1/sites/demo/batches')).body as { name: string; phase: string }[];
    for (const { name, phase } of batches) if (MOVING.includes(phase)) problems.push(`batch ${name} is ${phase} and nobody has acted`);
    const phases = (await admin.get('/api/v1/sites/demo/phases')).body as { name: string; state: string }[];
    for (const { name, state } of phases) if (MOVING.includes(state)) problems.push(`phase ${name} is ${state} and nobody has acted`);
    const verified = (await admin.get('/api/v1/audit/verify')).body;
    if (verified?.ok !== true) problems.push(`the audit chain: ${JSON.stringify(verified).slice(0, 300)}`);
    const seals = (await admin.get('/api/v1/sites/demo/batchrecord-seals')).body;
    if (seals?.ok !== true) problems.push(`the seals: ${JSON.stringify(seals).slice(0, 300)}`);
    if (this.batch !== '') {
      const events: readonly Event[] = await this.story.events(this.batch);
      const kept = this.told.events.every((event, index) => JSON.stringify(events[index]) === JSON.stringify(event));
      if (!kept) problems.push(`events of ${this.batch} that were served are gone or read otherwise`);
      if (!events.every((event, index) => event.id === index + 1))
        problems.push(`events of ${this.batch} are not numbered without a gap: ${events.map(({ id }) => id).filter((id, index) => id !== index + 1)[0]} of ${events.length}`);
    }
    return problems;
  }

  /** With nobody at the files: whether SQLite finds them whole. */
  filesWhole(): readonly string[] {
    const db = new Database(path.join(this.dataDir, 'state.db'));
    try {
      const found = db.pragma('integrity_check', { simple: true });
      return found === 'ok' ? [] : [`integrity_check of state.db: ${String(found).slice(0, 200)}`];
    } finally {
      db.close();
    }
  }

  /** Waits for a process that ends itself. */
  ended(timeoutMs: number): Promise<boolean> {
    return eventually('the process has ended', async () => this.#box.hasEnded, timeoutMs, 5).then(
      () => true,
      () => false,
    );
  }

  async close(): Promise<void> {
    await this.load?.stop().catch(() => undefined); // its writers end with the appliance
    for (const box of [this.#box, ...this.#others]) await box?.end('SIGKILL');
    for (const call of this.#atEnd) await call();
    rmSync(this.work, { recursive: true, force: true });
  }
}
