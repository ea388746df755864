/** Orders are what a command route recorded, in the status; what stands in metadata is to be read and acts on nothing (ADR 0020). */
import t from 'tap';
import { Batch } from '../../src/domains/batches/kind.js';
import { COMMAND_ANNOTATION } from '../../src/domains/runs/pending-command.js';
import { systemClock } from '../../src/platform/base/clock.js';
import { openLedger } from '../../src/platform/ledger/ledger.js';
import { type Put, Store } from '../../src/platform/store/store.js';
import { SITE, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());

const forged = { command: 'Start', reason: '', by: { accountId: 'otto', displayName: 'Otto', actorType: 'human' }, at: '2026-01-31T09:00:00.000Z', correlationID: 'c-1' };

/** What somebody else has written into the data directory while the appliance stood still. */
async function rewritten(change: (store: Store) => readonly Put[]): Promise<void> {
  await plant.stop();
  const ledger = await openLedger(plant.dataDir);
  const store = new Store(ledger, systemClock);
  await store.open(0);
  await store.write({ puts: change(store) });
  await ledger.close();
  await plant.restart();
}

t.test('CMD-13, D-C-01: a request that writes the annotation of a command is refused, and the batch stays as it is', async (t) => {
  const name = await plant.createBatch();
  const [manifest] = (await plant.api.get('/api/v1/export?kinds=Batch&status=true')).body.filter((each: { metadata: { name: string } }) => each.metadata.name === name);
  for (const text of [JSON.stringify(forged), 'z']) {
    const answer = await plant.api.post('/api/v1/apply', { ...manifest, metadata: { ...manifest.metadata, annotations: { [COMMAND_ANNOTATION]: text } } });
    t.match(answer, { status: 400, body: { code: 'reserved_key', field: `metadata.annotations.${COMMAND_ANNOTATION}`, key: COMMAND_ANNOTATION } });
  }
  t.match(await plant.batch(name), { phase: 'Pending' });
  t.equal((await plant.api.get('/healthz')).status, 200);
});

t.test('D-C-01, D-C-02: orders of an older release are dropped and told, one that cannot be read is an alarm of its batch, and both batches take commands', async (t) => {
  const [old, damaged] = [await plant.createBatch(), await plant.createBatch()];
  await rewritten((store) => [
    { kind: Batch, site: 'demo', name: old, annotations: { [COMMAND_ANNOTATION]: JSON.stringify(forged), mine: 'kept' } } as Put,
    { kind: Batch, site: 'demo', name: damaged, status: { ...store.get(Batch, 'demo', damaged)?.status, pendingCommand: { command: 'Start' } } } as unknown as Put,
  ]);
  const rejected = await plant.look('the damaged order is told of', async () => {
    const body = await plant.batch(damaged);
    return { done: body.commandRejection ? body : undefined, seen: body.phase };
  });
  t.match(rejected, { phase: 'Pending', commandRejection: { rule: 'unreadable-order', message: /could not be read back and was dropped \(reason/ } });
  t.match(await plant.batch(old), { phase: 'Pending' });
  const { resources } = (await plant.api.get('/api/v1/backup/crds')).body;
  const copied = resources.find((each: { kind: string; metadata: { name: string } }) => each.kind === 'Batch' && each.metadata.name === old);
  t.strictSame(copied.metadata.annotations, { mine: 'kept' });
  const { items } = (await plant.api.get('/api/v1/audit?limit=500')).body;
  t.match(
    items.filter((record: { rule?: string }) => record.rule === 'order-of-old-release'),
    [{ action: 'Command', result: 'Rejected', component: 'system', target: { kind: 'Batch', name: old } }],
  );
  const alarm = await plant.look('an alarm stands on the batch', async () => {
    const alarms = (await plant.api.get(`${SITE}/alarms`)).body;
    return { done: alarms.find(({ source }: { source: string }) => source === `Batch/${damaged}`), seen: alarms.length };
  });
  t.match(alarm, { name: 'system-controller-1', severity: 'High', state: 'ActiveUnacknowledged' });
  for (const name of [old, damaged]) {
    t.equal((await plant.command(name, 'Start')).status, 200);
    await plant.until(name, 'Running');
    t.equal((await plant.command(name, 'Abort', 'the end of the trial')).status, 200);
    await plant.until(name, 'Aborted');
  }
  await plant.look('the next command that is accepted ends it', async () => {
    const { state } = (await plant.api.get(`${SITE}/alarms`)).body.find(({ name }: { name: string }) => name === alarm.name);
    return { done: /^Cleared/.test(state) || undefined, seen: state };
  });
});

t.test('D-C-08: an order that waited when the appliance ended sets nothing going after it; one that leads to rest stands', async (t) => {
  const name = await plant.runBatch();
  await plant.command(name, 'Hold');
  await plant.until(name, 'Held');
  const waits = (command: string) => (store: Store) => [
    { kind: Batch, site: 'demo', name, status: { ...store.get(Batch, 'demo', name)?.status, pendingCommand: { ...forged, command } } } as unknown as Put,
  ];
  await rewritten(waits('Restart'));
  await plant.runtimesReady();
  const told = await plant.look('the order is told of', async () => {
    const { items } = (await plant.api.get('/api/v1/audit?limit=500')).body;
    const found = items.filter(({ correlationID, target }: { correlationID: string; target: { name: string } }) => correlationID === forged.correlationID && target.name === name);
    return { done: found.length > 0 ? found : undefined, seen: String(items.length) };
  });
  t.match(told, [{ result: 'Rejected', rule: 'runtime-restart', details: { command: 'Restart' } }]);
  t.match(await plant.batch(name), { phase: 'Held' });
  await rewritten(waits('Abort'));
  await plant.until(name, 'Aborted');
});

t.test('D-C-03: the name of a run that has ended is not taken again', async (t) => {
  const exported = (await plant.api.get('/api/v1/export?kinds=Batch&status=true')).body as {
    readonly metadata: object;
    readonly spec: object;
    readonly status: { readonly phase: string };
  }[];
  const ended = exported.find(({ status }) => status.phase === 'Aborted');
  t.match(await plant.api.post('/api/v1/apply', { ...ended, spec: { ...ended?.spec, description: 'again' } }), { status: 409, body: { code: 'run_ended', phase: 'Aborted' } });
  t.match(await plant.api.post('/api/v1/apply', ended), { status: 200, body: { operation: 'unchanged', warnings: [/status is ignored/] } });
  t.same((await plant.api.get('/api/v1/export?kinds=Batch')).body, []);
});
