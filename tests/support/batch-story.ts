/**
 * One batch of the demo plant as its people see it, on an appliance that may be killed at any moment: what was acknowledged is
 * noted, and afterwards looked for.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import { type ApiClient, eventually, PATIENCE_MS } from './api-client.js';
import type { ApplianceProcess } from './appliance-process.js';
import { ANSWERS, answerTo, outputOf, type Prompt, SITE, SMALL, unitsReady } from './plant.js';

export const MES = '/api/v1/mes/sites/demo';
export const PASSWORD = 'correct horse battery';

/** The demo plant ten times as fast; what a batch leaves behind leaves the memory at once, so that kills and cuts meet it. */
export const ENVIRONMENT = {
  LINESIDE_BATCH__PASTAFTER: '1ms',
  LINESIDE_BATCH__RECORDPASTAFTER: '1ms',
  LINESIDE_DEMO__ENABLED: 'true',
  LINESIDE_GATEWAY__OPERATINGMODE: 'development',
  LINESIDE_GATEWAY__RATELIMIT__ENABLED: 'false',
  LINESIDE_RUNTIME__MAXTHREADS: '12', // these two as the product runs: its promises are judged
  LINESIDE_RUNTIME__REALTIME: 'true',
  LINESIDE_RUNTIME__TIMESCALE: '10',
  LINESIDE_LOG_LEVEL: 'warn',
};

/** mulberry32: the same moments in every run with the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Event {
  readonly id: number;
  readonly eventType: string;
  readonly eventSubType: string;
  readonly value: string;
  readonly message: string;
}

/** What the outside has been told before the kill. */
export interface Told {
  readonly answered: Map<string, string>;
  delivered: string;
  events: readonly Event[];
  phase: string;
}

export class Story {
  /** Another process on the same data follows one that was killed. */
  box: ApplianceProcess;
  admin!: ApiClient;
  mes!: ApiClient;

  constructor(box: ApplianceProcess) {
    this.box = box;
  }

  async commission(): Promise<void> {
    const code = await this.box.commissioningCode();
    const first = await this.box.api.post('/api/v1/auth/first-admin', { code, username: 'anna', password: PASSWORD });
    if (first.status !== 201) throw new Error(first.text);
    await this.signIn();
    await this.makeKey('erp');
  }

  /** The MES speaks with this key from now on. */
  async makeKey(name: string): Promise<void> {
    const key = await this.admin.post('/api/v1/mes/apikeys', { name, site: 'demo' });
    this.mes = this.box.api.with(`ApiKey ${key.body.key}`);
  }

  async signIn(): Promise<void> {
    const login = await this.box.api.post('/api/v1/auth/login', { username: 'anna', password: PASSWORD });
    if (login.status !== 200) throw new Error(login.text);
    this.admin = this.box.api.with(`Bearer ${login.body.accessToken}`);
  }

  async order(workOrderID: string): Promise<string> {
    const made = await this.mes.post(`${MES}/work-orders?dispatch=immediate`, { workOrderID, productDefinition: 'resin-a', ...SMALL });
    if (made.status !== 201) throw new Error(made.text);
    return made.body.batchName as string;
  }

  /** Every unit is scanned, and what it reads is measured. */
  unitsReady() {
    return unitsReady(this.admin);
  }

  command(name: string, command: string) {
    return this.admin.post(`${SITE}/command`, { kind: 'Batch', name, command });
  }

  async batch(name: string) {
    return (await this.admin.get(`${SITE}/batches/${name}`)).body;
  }

  async events(name: string): Promise<Event[]> {
    return (await this.admin.get(`${SITE}/batches/${name}/events?limit=1000&order=asc`)).body.items;
  }

  /** Answers what is open and notes what was acknowledged; a refused or cut connection notes nothing. */
  async serve(name: string, told: Told): Promise<void> {
    for (const prompt of (await this.admin.get(`${SITE}/prompts`)).body as Prompt[]) {
      if (prompt.batch !== name) continue;
      if (prompt.resultKey) {
        const delivery = { resultID: prompt.id, resultKey: prompt.resultKey, value: ANSWERS.viscosity, externalSystem: 'LIMS', sampleID: `S-${name}` };
        if ((await this.mes.post(`${MES}/phases/${prompt.phase}/external-result`, delivery)).status === 200) told.delivered = prompt.id;
      } else {
        const answer = await this.admin.post(`${SITE}/phases/${prompt.phase}/prompt-response`, {
          promptID: prompt.id,
          response: answerTo(prompt, ANSWERS),
          reason: 'measured at the bench',
        });
        if (answer.status === 200) told.answered.set(prompt.id, answer.body.auditRecordRef);
      }
    }
  }

  inState(name: string, ...states: string[]) {
    let seen = '';
    return eventually(
      `batch ${name} is ${states.join(' or ')}`,
      async () => {
        const body = await this.batch(name);
        seen = `${body.phase}: ${body.blockedBecause}`;
        return states.includes(body.phase) ? body : undefined;
      },
      PATIENCE_MS,
    ).catch((fault: Error) => {
      throw new Error(`${fault.message}; it is ${seen}`);
    });
  }
}

export function nothingTold(): Told {
  return { answered: new Map(), delivered: '', events: [], phase: 'Pending' };
}

export async function startBatch(story: Story, name: string): Promise<void> {
  await story.unitsReady();
  const answer = await story.command(name, 'Start');
  if (answer.status !== 200) throw new Error(answer.text);
}

/** Serves the batch until the appliance is killed after the given time. */
export async function runUntilKilled(story: Story, name: string, afterMs: number, told: Told): Promise<Told> {
  let alive = true;
  const killed = pause(afterMs).then(async () => {
    await story.box.end('SIGKILL');
    alive = false;
  });
  while (alive) {
    try {
      await story.serve(name, told);
      const { phase } = await story.batch(name);
      told.events = await story.events(name); // answered when all that was before is on disk: so is the state
      told.phase = phase;
      await pause(20);
    } catch {
      break; // the appliance is gone in the middle of a request
    }
  }
  await killed;
  return told;
}

/** What was told before the kill is there, in its order, and the audit chain verifies. */
export async function kept(t: Test, story: Story, name: string, told: Told): Promise<{ readonly phase: string; readonly events: readonly Event[] }> {
  const { phase } = await story.inState(name, 'Held', 'Pending', 'Complete');
  if (told.phase === 'Complete') t.equal(phase, 'Complete', 'it stays as it was');
  const events = await story.events(name);
  t.same(events.slice(0, told.events.length), told.events, 'every event that was served is there, as it was');
  t.same(
    events.map((event) => event.id),
    events.map((_, index) => index + 1),
    'numbered without a gap',
  );
  t.match((await story.admin.get('/api/v1/audit/verify')).body, { ok: true, problems: [] }, 'the audit chain verifies');
  return { phase, events };
}

/** Start of a batch that was not started yet, Restart of one that was held. */
export async function goOn(t: Test, story: Story, name: string, phase: string): Promise<void> {
  await story.unitsReady();
  if (phase === 'Held')
    t.ok(
      (await story.events(name)).some((event) => event.value === 'RuntimeRestart'),
      'the gap is on record',
    );
  const go = await story.command(name, phase === 'Pending' ? 'Start' : 'Restart');
  t.equal(go.status, 200, go.text);
  await story.inState(name, 'Running', 'Complete');
}

export async function finished(story: Story, name: string, told: Told): Promise<void> {
  await eventually(
    'it is served to its end',
    async () => {
      await story.serve(name, told);
      return (await story.batch(name)).phase === 'Complete';
    },
    PATIENCE_MS,
  ).catch(async (fault: Error) => {
    throw new Error(`${fault.message}; it is ${JSON.stringify(await story.batch(name)).slice(0, 600)}`);
  });
}

/** Every acknowledged answer and result is in the audit trail and in the record, and once. */
export async function onRecord(t: Test, story: Story, name: string, told: Told): Promise<void> {
  const done = await story.batch(name);
  t.equal(outputOf(done, 'ph'), 7.2);
  t.equal(outputOf(done, 'viscosity'), 420);
  const trail = (await story.admin.get(`${SITE}/audit?action=PromptAcknowledge&limit=1000`)).body.items as { name: string; details: { promptID: string; batch: string } }[];
  const own = trail.filter((record) => record.details.batch === name);
  t.equal(new Set(own.map((record) => record.details.promptID)).size, own.length, 'no prompt was answered twice');
  for (const [id, ref] of told.answered) t.equal(own.find((record) => record.details.promptID === id)?.name, ref, 'an acknowledged answer is on record');
  const record = (await story.admin.get(`${SITE}/batches/${name}/record`)).body as { externalResults: { sampleID: string; value: string }[]; executionEvents: Event[] };
  t.match(record.externalResults, [{ sampleID: `S-${name}`, value: '420' }], 'the result of the laboratory, once');
  t.equal(record.externalResults.length, 1);
  t.equal(record.executionEvents.filter((event) => event.eventSubType === 'Prompt Response').length, own.length, 'each answer is one event');
}
