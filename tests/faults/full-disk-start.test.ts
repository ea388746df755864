/** Started on a disk that takes nothing: what ran is shown as held, because nothing is driven, and is held as soon as that can be written (D-C-08, D-C-09). */
import { statSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { WebSocket } from 'ws';
import { eventually } from '../support/api-client.js';
import { applianceProcess } from '../support/appliance-process.js';
import { canLimitFiles, limitFiles } from '../support/disk-limit.js';
import { SITE, unitsReady } from '../support/plant.js';
import { at } from '../support/at.js';

const ENVIRONMENT = {
  LINESIDE_AUTH__MODE: 'none',
  LINESIDE_DEMO__ENABLED: 'true',
  LINESIDE_GATEWAY__OPERATINGMODE: 'development',
  LINESIDE_LOG_LEVEL: 'error',
};
const NOT_DRIVEN = 'the storage refuses changes; nothing is driven';
/** Room for the lock and the process id, none for what is behind the end of the WAL. */
const ROOM_BYTES = 65_536;

/** A phase that goes on until somebody ends it: what runs when it is looked at runs when the process is killed. */
const ENDLESS = { steps: [{ name: 'wait', initial: true }, { name: 'end' }], transitions: [{ from: 'wait', to: 'end', conditionST: 'FALSE' }] };
const RECIPE = {
  name: 'endless',
  spec: {
    equipmentRequirements: [{ capability: 'reactor', defaultUnit: 'rx101' }],
    procedure: {
      chart: {
        steps: [
          {
            name: 'up',
            stepLevel: 'UnitProcedure',
            targetCapability: 'reactor',
            subChart: {
              steps: [{ name: 'op', stepLevel: 'Operation', subChart: { steps: [{ name: 'phase', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'endless' }] } }],
            },
          },
        ],
      },
    },
  },
};
const LISTS = ['phases', 'operations', 'unitprocedures', 'procedures'];

/** The states of the site as the stream tells them, by `kind/name`: first the snapshot, then each change. */
async function statesOf(port: number): Promise<{ readonly now: Map<string, string>; readonly told: Map<string, string[]>; close(): void }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/v1/ws`);
  const [now, told] = [new Map<string, string>(), new Map<string, string[]>()];
  socket.on('message', (data: Buffer) => {
    const { type, kind, name, state } = JSON.parse(data.toString());
    if (type !== 'state') return;
    now.set(`${kind}/${name}`, state);
    told.set(`${kind}/${name}`, [...(told.get(`${kind}/${name}`) ?? []), state]);
  });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.send(JSON.stringify({ type: 'subscribe', id: 'states', channel: 'states', filter: { site: 'demo' } }));
  return { now, told, close: () => socket.terminate() };
}

t.test('a batch that ran is shown Held while the storage refuses, and is Held afterwards', async (t) => {
  if (!canLimitFiles(t)) return;
  const box = await applianceProcess({ environment: ENVIRONMENT, bare: true });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  await box.start();
  await unitsReady(box.api);
  for (const made of [
    await box.api.post(`${SITE}/units`, { name: 'lone', processCellName: 'resin-train' }),
    await box.api.post(`${SITE}/phasetemplates`, { name: 'endless', spec: ENDLESS }),
    await box.api.post(`${SITE}/recipes/master`, RECIPE),
  ])
    t.equal(made.status, 201, made.text);
  const run = await eventually('a run is launched', async () => {
    const launched = await box.api.post(`${SITE}/units/lone/execute-phase`, { phaseTemplateRef: 'endless' });
    return launched.status === 201 ? (launched.body.name as string) : undefined;
  });
  await eventually('it runs', async () => (await box.api.get(`${SITE}/phases/${run}`)).body.state === 'Running');
  const batch = (await box.api.post(`${SITE}/batches`, { batchID: 'b-1', masterRecipeRef: 'endless' })).body.name as string;
  t.equal((await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Start' })).status, 200);
  // the run on the other unit is a phase only: elements of the batch stand on every level
  await eventually('the batch runs on every level', async () => {
    const lists = await Promise.all(LISTS.map(async (list) => (await box.api.get(`${SITE}/${list}?batch=${batch}`)).body as { state: string }[]));
    return lists.every((items) => items.some(({ state }) => state === 'Running'));
  });
  await eventually('its unit shows it', async () => (await box.api.get(`${SITE}/units/rx101`)).body.state === 'Running');
  t.match((await box.api.get(`${SITE}/units/rx101`)).body, { state: 'Running', allocatedTo: batch });
  const running = (await Promise.all(LISTS.map(async (list) => (await box.api.get(`${SITE}/${list}`)).body as { name: string; state: string }[]))).map((items) =>
    items.filter(({ state }) => state === 'Running').map(({ name }) => name),
  );
  // what is read may not be on disk yet; commits are in order, so all of it is before the answer to this one
  t.equal((await box.api.post(`${SITE}/phasetemplates`, { name: 'behind', spec: ENDLESS })).status, 201);
  await eventually('the WAL is longer than the room', async () => statSync(path.join(box.dataDir, 'state.db-wal')).size > ROOM_BYTES);
  await box.end('SIGKILL');

  box.fileBytesMax = ROOM_BYTES; // before its first look at the WAL, which it may copy and begin anew
  await box.launch();
  const refusing = await eventually('the storage refuses', async () => {
    const answer = await box.api.get('/readyz').catch(() => undefined);
    return answer?.body.status === 'storage_unavailable' ? answer : undefined;
  });
  t.match(refusing, { status: 503, body: { message: /Reason: the disk refused a commit/ } });
  const stream = await statesOf(box.port);
  const shownRunning = (kind?: string): string[] => [...stream.now].filter(([key, state]) => state === 'Running' && (!kind || key.startsWith(`${kind}/`))).map(([key]) => key);
  await eventually('the stream has told the batch and its units', async () => stream.now.has(`Batch/${batch}`) && stream.now.has('Unit/rx101') && stream.now.has(`Phase/${run}`));
  for (let look = 0; look < 3; look += 1) {
    t.match((await box.api.get(`${SITE}/batches/${batch}`)).body, { phase: 'Held', blockedBecause: NOT_DRIVEN });
    t.match((await box.api.get(`${SITE}/units/rx101`)).body, { state: 'Held', blockedBecause: NOT_DRIVEN });
    t.ok(((await box.api.get(`${SITE}/batches`)).body as { phase: string }[]).every(({ phase }) => phase === 'Held'));
    t.equal(((await box.api.get(`${SITE}/batches?state=Running`)).body as unknown[]).length, 0);
    for (const [level, list] of LISTS.entries()) {
      const items = (await box.api.get(`${SITE}/${list}`)).body as { name: string; state: string }[];
      for (const name of at(running, level)) {
        t.match(
          items.find((item) => item.name === name),
          { state: 'Held', blockedBecause: NOT_DRIVEN },
          `${list} ${name} in the list`,
        );
        t.match((await box.api.get(`${SITE}/${list}/${name}`)).body, { state: 'Held', blockedBecause: NOT_DRIVEN }, `${list} ${name}`);
      }
      t.same(
        items.filter(({ state }) => state === 'Running'),
        [],
        `nothing of ${list} is shown running`,
      );
    }
    const { body: overview } = await box.api.get(`${SITE}/overview`);
    t.match(
      overview.units.find(({ name }: { name: string }) => name === 'rx101'),
      { state: 'Held', activeWork: { state: 'Held' } },
    );
    t.match(
      overview.units.find(({ name }: { name: string }) => name === 'lone'),
      { state: 'Held', allocatedTo: run },
    );
    t.match(overview.batches, [{ name: batch, state: 'Held' }]);
    t.notOk(JSON.stringify((await box.api.get(`${SITE}/units/rx101/runtime/status`)).body.elements).includes('Running'));
    t.match((await box.api.get('/api/v1/mes/sites/demo/work-orders')).body, [{ status: 'Held' }]);
    t.match((await box.api.get('/api/v1/mes/sites/demo/equipment/lone/status')).body, { state: 'Held' });
    t.same(shownRunning(), [], 'nor does the stream tell that anything runs');
  }
  t.equal(stream.now.get(`Batch/${batch}`), 'Held');
  t.equal(stream.now.get(`Phase/${run}`), 'Held');
  limitFiles(box.pid, undefined);
  await eventually('writes are accepted', async () => (await box.api.get('/readyz')).status === 200);
  const held = await eventually('the batch is held', async () => {
    const { body } = await box.api.get(`${SITE}/batches/${batch}`);
    return body.phase === 'Held' && body.recovery ? body : undefined;
  });
  await eventually('the run is held', async () => {
    const { body } = await box.api.get(`${SITE}/phases/${run}`);
    return body.state === 'Held' && body.blockedBecause !== NOT_DRIVEN;
  });
  await eventually(
    'the stream tells what is stored',
    async () => stream.now.get(`Batch/${batch}`) === 'Held' && stream.now.get(`Phase/${run}`) === 'Held' && shownRunning().length === 0,
  );
  stream.close();
  t.match(held, { recovery: { cause: 'ApplianceRestart', operator: { needed: true, command: 'Restart' } } });
});
