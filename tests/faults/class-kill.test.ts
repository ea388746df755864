/** SIGKILL of the appliance while batches choose their units from a class (D-C-12): a unit is the batch's own, with all its elements, or not at all. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { applianceProcess } from '../support/appliance-process.js';
import { ENVIRONMENT, randomFrom } from '../support/batch-story.js';
import { patientDemo } from '../support/patient-demo.js';
import { SITE } from '../support/plant.js';

const KILLS = Number(process.env.KILLS ?? 3);
const SEED = Number(process.env.KILL_SEED ?? 20261127);
/** A batch has its unit some tens of ms after its Start. */
const MOMENT_MAX_MS = 120;
const VESSELS = ['mx101', 'tk201'];

const folder = mkdtempSync(path.join(tmpdir(), 'lineside-class-kill-'));
const environment = { ...ENVIRONMENT, LINESIDE_AUTH__MODE: 'none', LINESIDE_DEMO__DIR: patientDemo(path.join(folder, 'demo')) };
const box = await applianceProcess({ dataDir: path.join(folder, 'data'), environment, bare: true });
t.teardown(async () => {
  await box.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const asking = {
  steps: [{ name: 'ask', initial: true, actionST: "said := PROMPT('Go on?');" }, { name: 'done' }],
  transitions: [{ from: 'ask', to: 'done', conditionST: "said = 'Acknowledged'" }],
};
const operation = {
  name: 'work',
  stepLevel: 'Operation',
  subChart: { steps: [{ name: 'ask', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'vessel-asking' }] },
};
const chart = { steps: [{ name: 'fill', stepLevel: 'UnitProcedure', targetCapability: 'vessel', subChart: { steps: [operation] } }] };

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
async function read(of: string): Promise<any> {
  return (await box.api.get(`${SITE}/${of}`)).body;
}

async function done(answer: Promise<{ readonly status: number; readonly text: string }>): Promise<void> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`${status} ${text}`);
}

async function prepare(): Promise<void> {
  await box.start();
  for (const unit of VESSELS) {
    await eventually(`${unit} is scanned`, async () => (await read(`units/${unit}`)).runtimeReady === true, 20_000, 20);
    const { capabilities } = await read(`units/${unit}`);
    await done(box.api.put(`${SITE}/units/${unit}`, { capabilities: [...capabilities, 'vessel'] }));
  }
  await done(box.api.post(`${SITE}/phasetemplates`, { name: 'vessel-asking', spec: asking }));
  await done(box.api.post(`${SITE}/recipes/master`, { name: 'vessels', spec: { allocation: 'OnDemand', procedure: { chart } } }));
}

const command = (name: string, word: string) => box.api.post(`${SITE}/command`, { kind: 'Batch', name, command: word, reason: 'asked for by the test' });

t.test('D-C-12, decisions 3.8: killed while it chooses, a batch has its unit with everything on it, or asks for it again', async (t) => {
  await prepare();
  const random = randomFrom(SEED);
  for (let round = 1; round <= KILLS; round += 1) {
    const made = await Promise.all([1, 2, 3].map((one) => box.api.post(`${SITE}/batches`, { batchID: `K-${round}-${one}`, masterRecipeRef: 'vessels' })));
    const names = made.map(({ body }) => body.name as string);
    const afterMs = Math.round(random() * MOMENT_MAX_MS);
    const orders = names.map((name) => command(name, 'Start').catch(() => undefined));
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await box.end('SIGKILL');
    await Promise.all(orders);
    await box.start();
    for (const unit of VESSELS) await eventually(`${unit} is scanned`, async () => (await read(`units/${unit}`)).runtimeReady === true, 20_000, 20);
    await t.test(`kill ${round}: ${afterMs} ms after three starts for two units (seed ${SEED})`, async (t) => {
      const owned = new Map<string, string>();
      for (const unit of VESSELS) owned.set(unit, (await read(`units/${unit}`)).allocatedTo);
      const units: string[] = [];
      for (const name of names) {
        const batch = await read(`batches/${name}`);
        const unit = batch.allocations[0]?.unit ?? '';
        if (unit !== '') t.equal(owned.get(unit), name, `${name} has ${unit}`);
        units.push(unit);
        const elements = [...(await read('phases')), ...(await read('unitprocedures'))].filter((element: { batch: string }) => element.batch === name);
        t.ok(
          elements.every((element: { unit: string }) => element.unit === unit),
          `${name}: its elements are on ${unit || 'no unit'}`,
        );
        if (unit === '') t.notOk([...owned.values()].includes(name), 'without a choice it has no unit');
      }
      const chosen = units.filter((unit) => unit !== '');
      t.equal(new Set(chosen).size, chosen.length, 'no unit twice');
      // those that had begun go on where they were; then all are ended
      const begun = names.filter((_name, at) => units[at] !== '');
      for (const name of begun) {
        await eventually(`${name} is held`, async () => (await read(`batches/${name}`)).phase === 'Held', 20_000, 20);
        await command(name, 'Restart');
        await eventually(`${name} asks on its unit`, async () => (await read('prompts')).some((prompt: { batch: string; unit: string }) => prompt.batch === name), 20_000, 20);
        t.equal((await read(`batches/${name}`)).allocations[0].unit, units[names.indexOf(name)], 'on the same unit as before');
      }
      for (const name of names) {
        const { phase } = await read(`batches/${name}`);
        if (phase === 'Pending') await done(box.api.delete(`${SITE}/batches/${name}`));
        else await command(name, 'Abort');
      }
      for (const unit of VESSELS) await eventually(`${unit} is free`, async () => (await read(`units/${unit}`)).allocatedTo === '', 20_000, 20);
    });
  }
});
