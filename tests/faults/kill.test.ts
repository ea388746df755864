/** SIGKILL of the whole appliance at random moments of a batch: what was acknowledged is there, Restart finishes it (decisions 3.8, 8.7). */
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type ApiClient, eventually } from '../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';
import { ANSWERS, answerTo, outputOf, type Prompt, SITE, SMALL, unmeasured } from '../support/plant.js';

const MES = '/api/v1/mes/sites/demo';
const PASSWORD = 'correct horse battery';
const KILLS = 6;
/** The batch takes about 4 s at time scale 10. */
const MOMENT_MAX_MS = 4500;
/** By hand `KILLS=200` for a long run. */
const KILLS_IN_A_ROW = Number(process.env.KILLS ?? 6);
/** More of them eat up the time budget of a phase (600 s of plant time), which is spent by every part of its run. */
const KILLS_PER_BATCH = 10;
/** Between two kills of one batch: a few steps, so that it is hit in every one of its phases. */
const SHORT_RUN_MAX_MS = 1000;
const SEED = Number(process.env.KILL_SEED ?? 20261121);

const ENVIRONMENT = {
  LINESIDE_DEMO__ENABLED: 'true',
  LINESIDE_GATEWAY__OPERATINGMODE: 'development',
  LINESIDE_GATEWAY__RATELIMIT__ENABLED: 'false',
  LINESIDE_RUNTIME__TIMESCALE: '10',
  LINESIDE_LOG_LEVEL: 'warn',
};

/** mulberry32: the same moments in every run with the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Event {
  readonly id: number;
  readonly eventType: string;
  readonly eventSubType: string;
  readonly value: string;
  readonly message: string;
}

/** What the outside has been told before the kill. */
interface Told {
  readonly answered: Map<string, string>;
  delivered: string;
  events: readonly Event[];
  phase: string;
}

class Story {
  readonly box: ApplianceProcess;
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
    const key = await this.admin.post('/api/v1/mes/apikeys', { name: 'erp', site: 'demo' });
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
    return eventually('the units are ready', async () => {
      const units = (await this.admin.get(`${SITE}/units`)).body as { runtimeReady: boolean }[];
      return units.every((unit) => unit.runtimeReady) && (await unmeasured((path) => this.admin.get(path))).length === 0;
    });
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
      60_000,
    ).catch((fault: Error) => {
      throw new Error(`${fault.message}; it is ${seen}`);
    });
  }
}

function nothingTold(): Told {
  return { answered: new Map(), delivered: '', events: [], phase: 'Pending' };
}

async function start(story: Story, name: string): Promise<void> {
  await story.unitsReady();
  const answer = await story.command(name, 'Start');
  if (answer.status !== 200) throw new Error(answer.text);
}

/** Serves the batch until the appliance is killed after the given time. */
async function runUntilKilled(story: Story, name: string, afterMs: number, told: Told): Promise<Told> {
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

async function commissioned(t: Test): Promise<Story> {
  const box = await applianceProcess({ environment: ENVIRONMENT, bare: true });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  const story = new Story(box);
  await box.start();
  await story.commission();
  return story;
}

t.test('promise 1: killed at six random moments of a batch, nothing acknowledged is lost or doubled, and Restart finishes it', { timeout: 170_000 }, async (t) => {
  const story = await commissioned(t);
  const { box } = story;
  const random = randomFrom(SEED);
  for (let round = 1; round <= KILLS; round += 1) {
    const afterMs = Math.round(random() * MOMENT_MAX_MS);
    const name = await story.order(`WO-${round}`);
    await start(story, name);
    const told = await runUntilKilled(story, name, afterMs, nothingTold());
    await box.start();
    await story.signIn();
    await t.test(`round ${round}: killed after ${afterMs} ms, when it was ${told.phase} with ${told.events.length} events (seed ${SEED})`, async (t) =>
      afterKill(t, story, name, told, round),
    );
  }
});

t.test('promise 1: killed again and again in one batch, it goes on each time from where it was', { timeout: 60_000 + KILLS_IN_A_ROW * 10_000 }, async (t) => {
  const story = await commissioned(t);
  const { box } = story;
  const random = randomFrom(SEED + 1);
  let name = '';
  let told = nothingTold();
  const end = async (): Promise<void> => {
    await finished(story, name, told);
    await onRecord(t, story, name, told);
    name = '';
  };
  for (let kill = 1; kill <= KILLS_IN_A_ROW; kill += 1) {
    if (name === '') {
      name = await story.order(`WO-${kill}`);
      told = nothingTold();
      await start(story, name);
    }
    const afterMs = Math.round(random() * SHORT_RUN_MAX_MS);
    await runUntilKilled(story, name, afterMs, told);
    await box.start();
    await story.signIn();
    await t.test(`kill ${kill}: after ${afterMs} ms, when it was ${told.phase} with ${told.events.length} events (seed ${SEED})`, async (t) => {
      const { phase } = await kept(t, story, name, told);
      if (phase !== 'Complete') return goOn(t, story, name, phase);
      await onRecord(t, story, name, told);
      name = '';
    });
    if (name !== '' && kill % KILLS_PER_BATCH === 0) await end();
  }
  if (name !== '') await end();
});

/** What was told before the kill is there, in its order, and the audit chain verifies. */
async function kept(t: Test, story: Story, name: string, told: Told): Promise<{ readonly phase: string; readonly events: readonly Event[] }> {
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

async function afterKill(t: Test, story: Story, name: string, told: Told, round: number): Promise<void> {
  const orders = (await story.mes.get(`${MES}/work-orders`)).body as { workOrderID: string }[];
  t.equal(orders.length, round, 'every order is there, and the key');
  const { phase } = await kept(t, story, name, told);
  if (phase !== 'Complete') {
    await goOn(t, story, name, phase);
    await finished(story, name, told);
  }
  await onRecord(t, story, name, told);
}

/** Start of a batch that was not started yet, Restart of one that was held. */
async function goOn(t: Test, story: Story, name: string, phase: string): Promise<void> {
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

async function finished(story: Story, name: string, told: Told): Promise<void> {
  await eventually(
    'it is served to its end',
    async () => {
      await story.serve(name, told);
      return (await story.batch(name)).phase === 'Complete';
    },
    60_000,
  ).catch(async (fault: Error) => {
    throw new Error(`${fault.message}; it is ${JSON.stringify(await story.batch(name)).slice(0, 600)}`);
  });
}

/** Every acknowledged answer and result is in the audit trail and in the record, and once. */
async function onRecord(t: Test, story: Story, name: string, told: Told): Promise<void> {
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
