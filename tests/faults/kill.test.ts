/** SIGKILL of the whole appliance at random moments of a batch: what was acknowledged is there, Restart finishes it (decisions 3.8, 8.7). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { applianceProcess } from '../support/appliance-process.js';
import { patientDemo } from '../support/patient-demo.js';
import { ENVIRONMENT, finished, goOn, kept, MES, nothingTold, onRecord, randomFrom, runUntilKilled, startBatch, Story, type Told } from '../support/batch-story.js';

/** So few because the torture, which is part of the gate too, kills batches under load dozens of times (scenarios kill, kill-inside, kill-record). */
const KILLS = 3;
/** The batch takes about 4 s at time scale 10. */
const MOMENT_MAX_MS = 4500;
/** By hand `KILLS=200` for a long run. */
const KILLS_IN_A_ROW = Number(process.env.KILLS ?? 4);
/** More of them eat up the time budget of a phase (600 s of plant time), which is spent by every part of its run. */
const KILLS_PER_BATCH = 10;
/** Between two kills of one batch: a few steps, so that it is hit in every one of its phases. */
const SHORT_RUN_MAX_MS = 1000;
const SEED = Number(process.env.KILL_SEED ?? 20261121);

async function commissioned(t: Test): Promise<Story> {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-kill-'));
  const environment = { ...ENVIRONMENT, LINESIDE_DEMO__DIR: patientDemo(path.join(folder, 'demo')) };
  const box = await applianceProcess({ dataDir: path.join(folder, 'data'), environment, bare: true });
  t.teardown(async () => {
    await box.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const story = new Story(box);
  await box.start();
  await story.commission();
  return story;
}

t.test('promise 1: killed at three random moments of a batch, nothing acknowledged is lost or doubled, and Restart finishes it', async (t) => {
  const story = await commissioned(t);
  const { box } = story;
  const random = randomFrom(SEED);
  for (let round = 1; round <= KILLS; round += 1) {
    const afterMs = Math.round(random() * MOMENT_MAX_MS);
    const name = await story.order(`WO-${round}`);
    await startBatch(story, name);
    const told = await runUntilKilled(story, name, afterMs, nothingTold());
    await box.start();
    await story.signIn();
    await t.test(`round ${round}: killed after ${afterMs} ms, when it was ${told.phase} with ${told.events.length} events (seed ${SEED})`, async (t) =>
      afterKill(t, story, name, told, round),
    );
  }
});

t.test('promise 1: killed again and again in one batch, it goes on each time from where it was', async (t) => {
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
      await startBatch(story, name);
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
