/** While nothing can be written an operator can still hold, stop and abort; the plant obeys at once, the records follow (D-C-09). */
import t from 'tap';
import { canLimitFiles, limitFiles } from '../support/disk-limit.js';
import { SITE, startPlant } from '../support/plant.js';

const UNIT = 'rx101';

const writable = (is: boolean): void => limitFiles(process.pid, is ? undefined : 0);

t.test('D-C-09: Hold, Stop and Abort are carried out while nothing can be written', async (t) => {
  if (!canLimitFiles(t)) return;
  process.on('SIGXFSZ', () => undefined); // the write fails with EFBIG, as the command line of the appliance has it
  const plant = await startPlant();
  t.teardown(async () => {
    writable(true);
    await plant.end();
  });
  await plant.recipeOf('waits', { steps: [{ name: 'ask', initial: true, actionST: "said := PROMPT('Go on?');" }], transitions: [] });

  for (const [commands, state] of [
    [['Hold'], 'Held'],
    [['Hold', 'Stop'], 'Stopped'],
    [['Abort', 'Hold'], 'Aborted'],
  ] as const) {
    const batch = await plant.runBatch({ masterRecipeRef: 'waits' });
    await plant.untilPhase(batch, 'waits', 'Running');
    writable(false);
    const givenAt: string[] = [];
    for (const command of commands) {
      const answer = await plant.command(batch, command);
      t.match(answer, { status: 200, body: { ok: true, command, recorded: false } }, `${commands.join(', ')}: ${answer.text}`);
      givenAt.push(new Date().toISOString());
    }
    t.match(await plant.command(batch, 'Restart'), { status: 503, body: { code: 'storage_unavailable' } }, 'what sets the plant going waits');
    const scans = async (): Promise<number> => (await plant.api.get(`${SITE}/units/${UNIT}/runtime/status`)).body.scanCount;
    const before = await scans();
    await plant.look('the charts are scanned on', async () => {
      const now = await scans();
      return { done: now > before + 3 || undefined, seen: `${now}` };
    });
    const writableAt = new Date().toISOString();
    writable(true);
    await plant.until(batch, state);
    const events = (await plant.api.get(`${SITE}/batches/${batch}/events`)).body.items as { value: string; element?: { kind: string }; ts: string }[];
    const came = events.find(({ value, element }) => value === state && element?.kind === 'Phase');
    t.ok(came && came.ts < writableAt, `the phase was ${state} at ${came?.ts}, before ${writableAt}`);
    const { items } = (await plant.api.get('/api/v1/audit?category=command&limit=50')).body as {
      items: { result: string; target: { name: string }; details: Record<string, string> }[];
    };
    const told = items.filter(({ target, details, result }) => target.name === batch && result === 'Accepted' && details.happenedAt !== undefined);
    t.same(told.map(({ details }) => details.command).sort(), [...commands].sort(), 'every order is on record with its time');
    t.ok(told.every(({ details }) => String(details.happenedAt) <= (givenAt.at(-1) as string)));
    if (state === 'Held') {
      await plant.command(batch, 'Abort');
      await plant.until(batch, 'Aborted');
    }
    await plant.command(batch, 'Reset');
    await plant.look('the unit is free', async () => {
      const { state: shown, allocatedTo } = await plant.unit(UNIT);
      return { done: (shown === 'Idle' && allocatedTo === '') || undefined, seen: `${shown} of '${allocatedTo}'` };
    });
  }

  // a motor in Manual without any batch: it is stopped at once too, and nothing else is written
  const [motor, valve] = ['ag111', 'xv111'].map((name) => `${SITE}/controlmodules/${name}/tags`) as [string, string];
  for (const name of ['ag111', 'xv111']) t.equal((await plant.api.post(`${SITE}/mode`, { kind: 'ControlModule', name, mode: 'Manual' })).status, 200);
  t.equal((await plant.api.post(`${motor}/cmd`, { value: true })).status, 200);
  const runs = (is: boolean) =>
    plant.look(`the motor ${is ? 'runs' : 'is at rest'}`, async () => {
      const { value } = (await plant.api.get(`${motor}/out`)).body;
      return { done: value === is || undefined, seen: `${value}` };
    });
  await runs(true);
  writable(false);
  await plant.api.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode: 'Manual' }); // from now on the storage is known to refuse
  const stop = await plant.api.post(`${motor}/cmd`, { value: false });
  t.match(stop, { status: 200, body: { ok: true, address: 'ag111.cmd', recorded: false, message: /record follows/ } }, stop.text);
  await runs(false);
  for (const value of [true, 'no', 0]) t.not((await plant.api.post(`${motor}/cmd`, { value })).status, 200, `${value} is no stop`);
  t.match(await plant.api.post(`${motor}/cmd`, { value: true }), { status: 503, body: { code: 'storage_unavailable' } }, 'what starts it waits');
  t.match(await plant.api.post(`${motor}/reset`, { value: false }), { status: 503, body: { code: 'storage_unavailable' } }, 'as everything that is no stop');
  t.match(await plant.api.post(`${valve}/cmd`, { value: false }), { status: 200, body: { recorded: false } }, 'a valve takes its position without power');
  writable(true);
  await plant.look('it is on record', async () => {
    const { items } = (await plant.api.get('/api/v1/audit?category=tag-write&limit=20')).body as {
      items: { result: string; after: unknown; target: { name: string }; details: Record<string, string> }[];
    };
    const told = items.filter(({ target, after, result }) => target.name === 'ag111.cmd' && after === false && result === 'Success');
    return { done: (told.length === 1 && told[0]?.details.happenedAt !== undefined) || undefined, seen: JSON.stringify(told) };
  });

  const others: string[] = [];
  for (let at = 0; at < 67; at += 1) others.push((await plant.api.post(`${SITE}/batches`, { batchID: `other-${at}`, masterRecipeRef: 'waits' })).body.name);
  const batch = await plant.runBatch({ masterRecipeRef: 'waits' });
  await plant.untilPhase(batch, 'waits', 'Running');
  writable(false);
  await plant.api.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode: 'Manual' });
  for (const other of others) for (const command of ['Hold', 'Stop', 'Abort']) await plant.command(other, command); // more than is kept
  const last = await plant.command(batch, 'Hold');
  t.match(last, { status: 200, body: { recorded: false, message: /given to 1 phase .* no room left to keep its record/ } }, last.text);
  writable(true);
  await plant.untilPhase(batch, 'waits', 'Held'); // it alone: the batch was never told
});
