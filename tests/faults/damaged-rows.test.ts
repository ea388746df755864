/** What a start does with rows of the store that are not as they were written: each is one named fault, the plant goes on. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import Database from '../../src/platform/base/sqlite.js';
import { eventually } from '../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';
import { SITE, unitsReady } from '../support/plant.js';

const ENVIRONMENT = {
  LINESIDE_AUTH__MODE: 'none',
  LINESIDE_DEMO__ENABLED: 'true',
  LINESIDE_GATEWAY__OPERATINGMODE: 'development',
  LINESIDE_LOG_LEVEL: 'error',
};

interface Row {
  readonly kind: string;
  readonly site: string;
  readonly name: string;
}

function edit(box: ApplianceProcess, change: (database: Database.Database) => void): void {
  const database = new Database(path.join(box.dataDir, 'state.db'));
  change(database);
  database.close();
}

const setBody = (box: ApplianceProcess, { kind, site, name }: Row, body: (before: string) => string): void =>
  edit(box, (database) => {
    const key = [kind, site, name];
    const before = database.prepare('SELECT body FROM resources WHERE kind = ? AND site = ? AND name = ?').pluck().get(key) as string;
    database.prepare('UPDATE resources SET body = ? WHERE kind = ? AND site = ? AND name = ?').run(body(before), ...key);
  });

/** The batch of the seeds. */
let batch = '';

/** Data directories of the demonstration plant, stopped: with a batch that was made, and with one that ran. */
async function seed(): Promise<{ readonly made: string; readonly running: string }> {
  const box = await applianceProcess({ environment: ENVIRONMENT });
  await box.start();
  batch = (await box.api.post(`${SITE}/batches`, { batchID: 'b-1', masterRecipeRef: 'resin-a' })).body.name as string;
  await box.end();
  const made = mkdtempSync(path.join(tmpdir(), 'lineside-rows-'));
  cpSync(box.dataDir, made, { recursive: true });
  await box.start();
  await unitsReady(box.api);
  await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Start' });
  await eventually('the batch runs', async () => (await box.api.get(`${SITE}/phases`)).body.length > 0);
  await box.end();
  return { made, running: box.dataDir };
}

const seeded = await seed();
t.teardown(() => {
  for (const dir of [seeded.made, seeded.running]) rmSync(dir, { recursive: true, force: true });
});

/** A phase that runs, and is on disk as it runs: what is read may be ahead of the disk, and a write that is answered is behind it. */
async function phaseAtWork({ api }: ApplianceProcess): Promise<{ readonly name: string }> {
  const running = await eventually('a phase runs', async () =>
    ((await api.get(`${SITE}/phases?atWork=true`)).body as { name: string; state: string }[]).find(({ state }) => state === 'Running'),
  );
  const answered = await api.post(`${SITE}/batches`, { batchID: 'b-2', masterRecipeRef: 'resin-a' });
  assert.equal(answered.status, 201, answered.text);
  return running;
}

/** An appliance with a copy of a seed, not started. */
async function boxOf(test: { teardown(call: () => unknown): void }, from: string): Promise<ApplianceProcess> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-rows-'));
  cpSync(from, dataDir, { recursive: true });
  const box = await applianceProcess({ dataDir, environment: ENVIRONMENT });
  test.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  return box;
}

t.test('D-C-02: what the product wrote itself fits, of every kind', async (t) => {
  const box = await boxOf(t, seeded.running);
  await box.start();
  await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Abort', reason: 'enough has been seen of it' });
  await eventually('its record is made', async () => (await box.api.get(`${SITE}/batchrecords/${batch}`)).status === 200);
  await box.end();
  await box.start();
  const health = (await box.api.get('/api/v1/system/health')).body;
  t.same(health.storage, { accepting: true, unfit: [] });
});

t.test('one row that cannot be read is named, and the rest of the plant starts', async (t) => {
  const box = await boxOf(t, seeded.made);
  setBody(box, { kind: 'Batch', site: 'demo', name: batch }, () => '{');
  setBody(box, { kind: 'AlarmDefinition', site: 'demo', name: firstOf(box, 'AlarmDefinition') }, (body) => body.replace('"spec":{', '"spec":[],"was":{'));
  await box.start();
  const health = (await box.api.get('/api/v1/system/health')).body;
  t.match(health.storage.unfit, [
    { kind: 'AlarmDefinition', fault: /spec/ },
    { kind: 'Batch', site: 'demo', name: batch, fault: /is not JSON/, kept: false },
  ]);
  t.equal(health.status, 'degraded');
  const alarm = await eventually('the alarm stands', async () =>
    ((await box.api.get(`${SITE}/alarms?type=System`)).body as { name: string; message: string }[]).find(({ name }) => name.startsWith('system-stored-data')),
  );
  t.match(alarm, { severity: 'High', message: new RegExp(`Batch demo/${batch} cannot be used and is left out`) });
  await eventually('the units run', async () => ((await box.api.get(`${SITE}/units`)).body as { runtimeReady: boolean }[]).every((unit) => unit.runtimeReady));
  const refused = { status: 404, body: { code: 'unreadable_row', error: /is stored, and its row cannot be read.*storage.unfit.*discard/ } };
  t.match(await box.api.get(`${SITE}/batches/${batch}`), refused, 'it is there, and the answer says so');
  t.match(await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Start' }), refused);
  t.match(await box.api.get(`${SITE}/batches/nobody`), { status: 404, body: { code: 'not_found' } });

  const discard = { kind: 'Batch', site: 'demo', name: batch, reason: 'the file was damaged by hand' };
  t.match(await box.api.post('/api/v1/system/stored-data/discard', { ...discard, name: 'nobody' }), { status: 404 });
  t.match(await box.api.post('/api/v1/system/stored-data/discard', discard), { status: 200, body: { discarded: { name: batch } } });
  const records = (await box.api.get(`/api/v1/audit?kind=Batch&name=${batch}&action=Delete`)).body.items;
  t.match(records, [{ result: 'Success', operatorReason: discard.reason, details: { fault: /is not JSON/ } }]);
  await box.end();
  await box.start();
  t.match((await box.api.get('/api/v1/system/health')).body.storage.unfit, { length: 1 }, 'it is gone from the file too');
});

function firstOf(box: ApplianceProcess, kind: string): string {
  const database = new Database(path.join(box.dataDir, 'state.db'), { readonly: true });
  const name = database.prepare('SELECT name FROM resources WHERE kind = ? ORDER BY name').pluck().get(kind) as string;
  database.close();
  return name;
}

t.test('a row of any kind that has lost its shape lets the start go on, and is named', async (t) => {
  const box = await boxOf(t, seeded.made);
  const database = new Database(path.join(box.dataDir, 'state.db'));
  const kinds = database.prepare('SELECT DISTINCT kind FROM resources ORDER BY kind').pluck().all() as string[];
  const edited: Row[] = [];
  // alarms of the box are of this machine: its disk was slow just now, or will be; then the row that is damaged here is written anew
  const ofPlant = database.prepare("SELECT kind, site, name, body FROM resources WHERE kind = ? AND name NOT LIKE 'system%' ORDER BY name DESC");
  for (const kind of kinds.filter((each) => !['DemoMark', 'Site'].includes(each))) {
    const row = ofPlant.get(kind) as (Row & { body: string }) | undefined;
    if (!row) continue;
    const resource = JSON.parse(row.body) as { spec: Record<string, unknown> };
    for (const member of Object.keys(resource.spec)) resource.spec[member] = typeof resource.spec[member] === 'string' ? { was: 'text' } : 'not what it was';
    database.prepare('UPDATE resources SET body = ? WHERE kind = ? AND site = ? AND name = ?').run(JSON.stringify(resource), row.kind, row.site, row.name);
    edited.push(row);
  }
  database.close();
  await box.start();
  const { unfit } = (await box.api.get('/api/v1/system/health')).body.storage as { unfit: Row[] };
  const free = ['BatchRecord', 'ControlRecipe', 'RecipeRevision', 'SignatureRecord']; // theirs is checked by who reads them
  for (const row of edited.filter(({ kind }) => !free.includes(kind)))
    t.ok(
      unfit.some(({ kind, name }) => kind === row.kind && name === row.name),
      `${row.kind} ${row.name} is named`,
    );
  for (const route of ['overview', 'units', 'batches', 'alarms', 'phases', 'controlmodules', 'iomodules', 'recipes/master']) {
    t.match(await box.api.get(`${SITE}/${route}`), { status: 200 }, `${route} is served`);
  }
  await eventually('the other units run', async () => ((await box.api.get(`${SITE}/units`)).body as { runtimeReady: boolean }[]).some((unit) => unit.runtimeReady));
  const stopped = await box.end();
  t.equal(stopped, 0);
});

t.test('D-C-02: elements that have lost their shape are named; their batch is shown, is not gone on with, and can be aborted', async (t) => {
  const box = await boxOf(t, seeded.made);
  await box.start();
  await unitsReady(box.api);
  await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Start' });
  const running = await phaseAtWork(box);
  const operation = firstOf(box, 'Operation');
  const procedure = firstOf(box, 'UnitProcedure');
  await box.end('SIGKILL');
  const changed = (body: string, part: 'spec' | 'status', members: object): string => {
    const resource = JSON.parse(body) as { spec: object; status: object };
    return JSON.stringify({ ...resource, [part]: { ...resource[part], ...members } });
  };
  const lost = { steps: [null], transitions: [null] };
  setBody(box, { kind: 'Phase', site: 'demo', name: running.name }, (body) => changed(changed(body, 'status', { conditions: 5, outputs: null }), 'spec', { parameters: 'none' }));
  setBody(box, { kind: 'Operation', site: 'demo', name: operation }, (body) => changed(body, 'spec', { chart: lost, parameterValues: null }));
  setBody(box, { kind: 'UnitProcedure', site: 'demo', name: procedure }, (body) => changed(body, 'status', { outputs: {} }));
  await box.start();
  const { unfit } = (await box.api.get('/api/v1/system/health')).body.storage as { unfit: object[] };
  t.match(unfit, [
    { kind: 'Operation', name: operation, kept: true, fault: /^spec\.(chart|parameterValues)/ },
    { kind: 'Phase', name: running.name, kept: true, fault: /^spec\.parameters/ },
    { kind: 'UnitProcedure', name: procedure, kept: true, fault: 'status.outputs is object where a list is expected' },
  ]);
  for (const route of ['phases', 'operations', 'unitprocedures', `batches/${batch}`, `batches/${batch}/record`, `phases/${running.name}`])
    t.match(await box.api.get(`${SITE}/${route}`), { status: 200 }, `${route} is served`);
  await eventually('the batch is held', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Held');
  await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Restart' });
  const rejected = await eventually('the verdict on it', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.commandRejection as { rule: string; message: string });
  t.match(rejected, { rule: 'stored-data', message: /is not stored as it was written .* it can be stopped and aborted/ });
  t.equal((await box.api.get(`${SITE}/batches/${batch}`)).body.phase, 'Held');
  await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Abort', reason: 'its rows were damaged by hand' });
  await eventually('it is aborted', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Aborted');
  await eventually('its record is made', async () => (await box.api.get(`${SITE}/batchrecords/${batch}`)).status === 200);
  await box.end();
  setBody(box, { kind: 'Operation', site: 'demo', name: operation }, (body) => {
    t.match(JSON.parse(body), { spec: { chart: { steps: [null] }, parameterValues: null } }, 'what was found is not replaced on disk');
    return body;
  });
});

t.test('D-C-02: members of a status that a run may have are named where they are not what they were; their batch can be aborted', async (t) => {
  const box = await boxOf(t, seeded.made);
  await box.start();
  await unitsReady(box.api);
  await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Start' });
  const running = await phaseAtWork(box);
  const names = Object.fromEntries(['Operation', 'UnitProcedure', 'Procedure'].map((kind) => [kind, firstOf(box, kind)]));
  await box.end('SIGKILL');
  const setStatus = (kind: string, name: string, members: object): void =>
    setBody(box, { kind, site: 'demo', name }, (body) => {
      const resource = JSON.parse(body) as { status: object };
      return JSON.stringify({ ...resource, status: { ...resource.status, ...members } });
    });
  setStatus('Batch', batch, { allocations: [null], holds: 'none', recovery: {} });
  setStatus('Procedure', names.Procedure as string, { progress: { active: 'x', completed: [], fired: [], activations: {} } });
  setStatus('UnitProcedure', names.UnitProcedure as string, { progress: { active: [null], completed: [], fired: [] }, failure: 5 });
  setStatus('Operation', names.Operation as string, { failure: [], ranMs: 'long', escalated: {} });
  setStatus('Phase', running.name, { checkpoint: { state: 'Running', running: 5 }, sfcStatus: [], pendingPrompt: 'x' });
  await box.start();
  const { unfit } = (await box.api.get('/api/v1/system/health')).body.storage as { unfit: object[] };
  t.match(unfit, [
    { kind: 'Batch', name: batch, kept: true, fault: /^status\.allocations\.0: .*null/ },
    { kind: 'Operation', name: names.Operation, kept: true, fault: /^status\.failure/ },
    { kind: 'Phase', name: running.name, kept: true, fault: /^status\.(checkpoint|sfcStatus|pendingPrompt)/ },
    { kind: 'Procedure', name: names.Procedure, kept: true, fault: /^status\.progress\.active/ },
    { kind: 'UnitProcedure', name: names.UnitProcedure, kept: true, fault: /^status\.(failure|progress)/ },
  ]);
  for (const route of ['phases', 'operations', 'unitprocedures', 'procedures', 'batches', `batches/${batch}`, `batches/${batch}/record`, `phases/${running.name}`])
    t.match(await box.api.get(`${SITE}/${route}`), { status: 200 }, `${route} is served`);
  const held = await eventually('the phase is held', async () => {
    const { body } = await box.api.get(`${SITE}/phases/${running.name}`);
    return body.state === 'Held' ? (body as { failure: object }) : undefined;
  });
  t.match(held.failure, { rule: 'stored-data', active: true }, 'and does not go on from where nobody knows that it stood');
  await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Abort', reason: 'its rows were damaged by hand' });
  await eventually('it is aborted', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Aborted');
  await eventually('its record is made', async () => (await box.api.get(`${SITE}/batchrecords/${batch}`)).status === 200);
});

t.test('D-C-02: equipment whose status has lost its shape is named and worked with: its plant starts, its batch can be stopped, all of it is listed', async (t) => {
  const box = await boxOf(t, seeded.made);
  await box.start();
  await unitsReady(box.api);
  await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Start' });
  const running = await phaseAtWork(box);
  const unit = (await box.api.get(`${SITE}/phases/${running.name}`)).body.unit as string;
  await box.end('SIGKILL');
  const damaged: string[] = [];
  const setStatus = (kind: string, name: string, members: object): void => {
    damaged.push(`${kind} ${name}`);
    setBody(box, { kind, site: 'demo', name }, (body) => {
      const resource = JSON.parse(body) as { status: object };
      return JSON.stringify({ ...resource, status: { ...resource.status, ...members } });
    });
  };
  const lists = [null];
  setStatus('Unit', unit, { runtime: 5, autoFailover: { suspended: false, triedNodes: lists, summary: '' }, conditions: lists, lastWork: 'x', activeWork: [], allocatedTo: 7 });
  setStatus('ControlModule', firstOf(box, 'ControlModule'), { overrides: lists, tuning: lists, interlockBypass: { active: true, interlocks: lists, term: 5 }, conditions: lists });
  setStatus('IOModule', firstOf(box, 'IOModule'), { connectivity: null, probe: lists, outputs: 'x', discoveredReadbacks: lists, conditions: lists });
  setStatus('ControlProgram', firstOf(box, 'ControlProgram'), { faultedBlocks: lists, hotSwapOverride: 5 });
  setStatus('AlarmDefinition', firstOf(box, 'AlarmDefinition'), { armed: lists });
  const recipe = firstOf(box, 'MasterRecipe');
  setStatus('MasterRecipe', recipe, { lifecycle: lists, templateEdits: lists });
  await box.start();
  const { unfit } = (await box.api.get('/api/v1/system/health')).body.storage as { unfit: { kind: string; name: string; kept: boolean }[] };
  t.same(unfit.map(({ kind, name }) => `${kind} ${name}`).sort(), damaged.sort());
  for (const { kind, kept } of unfit) t.equal(kept, kind !== 'MasterRecipe', `${kind} is worked with, and a recipe without its signatures is not`);
  await unitsReady(box.api);
  for (const route of ['overview', 'units', `units/${unit}`, 'controlmodules', 'iomodules', 'fbnetworks', 'alarmdefinitions', 'recipes/master', 'alarms', 'batches', 'phases'])
    t.match(await box.api.get(`${SITE}/${route}`), { status: 200 }, `${route} is served`);
  t.equal((await box.api.get(`${SITE}/units/${unit}`)).body.allocatedTo, batch, 'the work that is found on the unit has it');
  t.match(await box.api.get(`${SITE}/recipes/master/${recipe}`), { status: 404 });
  t.equal((await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Stop', reason: 'its rows were damaged by hand' })).status, 200);
  await eventually('it is stopped', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Stopped');
  await box.end();
  await box.start();
  const again = (await box.api.get('/api/v1/system/health')).body.storage.unfit as { kind: string }[];
  t.notOk(
    again.some(({ kind }) => kind === 'Unit'),
    'what was written since fits',
  );
});

t.test('a status that has lost a list does not break the list of its kind', async (t) => {
  const box = await boxOf(t, seeded.made);
  const name = firstOf(box, 'ControlModule');
  setBody(box, { kind: 'ControlModule', site: 'demo', name }, (body) => body.replace(/"conditions":\[.*?\]/, '"conditions":null'));
  await box.start();
  t.match((await box.api.get('/api/v1/system/health')).body.storage.unfit, [{ kind: 'ControlModule', name, fault: 'status.conditions is null where a list is expected' }]);
  t.match(await box.api.get(`${SITE}/controlmodules`), { status: 200 });
});

t.test('results of verifications that cannot be read stop no start: the plant runs, and it is told', async (t) => {
  const box = await boxOf(t, seeded.made);
  edit(box, (database) => {
    for (const stream of ['integrity', 'archive-integrity']) database.prepare('INSERT OR REPLACE INTO facts (stream, sequence, body) VALUES (?, 99, ?)').run(stream, '{');
  });
  await box.start();
  await eventually('the units run', async () => ((await box.api.get(`${SITE}/units`)).body as { runtimeReady: boolean }[]).every((unit) => unit.runtimeReady));
  const { integrity, warnings } = (await box.api.get('/api/v1/system/health')).body as { integrity: unknown; warnings: string[] };
  t.match(integrity, { ok: false });
  t.match(warnings.join(), /evidence is not what was recorded/);
  await box.end();
  edit(box, (database) => {
    for (const stream of ['integrity', 'archive-integrity']) database.prepare('UPDATE facts SET body = ? WHERE stream = ? AND sequence = 99').run('{"ok":false}', stream);
  });
  await box.start();
  t.match((await box.api.get('/api/v1/system/health')).body, { integrity: { ok: false } }, 'nor one that is no result');
});

const storedDataAlarm = ({ api }: ApplianceProcess, wanted: RegExp): Promise<{ readonly message: string }> =>
  eventually('the alarm stands', async () =>
    ((await api.get(`${SITE}/alarms?type=System`)).body as { name: string; message: string }[]).find(
      ({ name, message }) => name.startsWith('system-stored-data') && wanted.test(message),
    ),
  );

t.test('what a verification finds of the stored rows is the alarm of stored data too', async (t) => {
  const box = await boxOf(t, seeded.made);
  edit(box, (database) => database.prepare("UPDATE resources SET body = json_set(body, '$.spec.description', 'edited') WHERE kind = 'Batch'").run());
  await box.start();
  t.same((await box.api.get('/api/v1/system/health')).body.storage.unfit, [], 'it fits');
  const { message } = await storedDataAlarm(box, /Batch/);
  t.match(message, `Batch ${batch} of site demo: it is not what was recorded of it; GET /api/v1/system/integrity tells all of it`);
});

t.test(
  'a row that had a wrong mark is written again, and a verification finds all rows as they were recorded: the alarm of stored data goes, that of evidence stays',
  async (t) => {
    const box = await boxOf(t, seeded.made);
    const name = firstOf(box, 'AlarmDefinition');
    edit(box, (database) => t.equal(database.prepare("UPDATE resources SET past = 'zz' WHERE kind = 'AlarmDefinition' AND name = ?").run(name).changes, 1));
    await box.start();
    await storedDataAlarm(box, new RegExp(`AlarmDefinition demo/${name} .*marked as past`));
    const isActive = async (topic: string): Promise<boolean> =>
      ((await box.api.get(`${SITE}/alarms?type=System&active=true`)).body as { name: string }[]).some((alarm) => alarm.name.startsWith(`system-${topic}`));
    t.match(await box.api.put(`${SITE}/alarmdefinitions/${name}`, { severity: 'Low' }), { status: 200 });
    const { problems } = (await box.api.post('/api/v1/system/integrity')).body as { problems: unknown };
    t.match(problems, [{ part: 'seal', problem: new RegExp(`AlarmDefinition ${name} .* was marked as past`) }], 'what it was is told by every verification');
    await eventually('that of evidence is raised', () => isActive('integrity'));
    await eventually('that of stored data is gone', async () => !(await isActive('stored-data')));
    t.equal(await isActive('integrity'), true);
  },
);

t.test('a phase and the events of a batch at work that somebody has marked as past are there behind the start, and told; the batch goes on', async (t) => {
  const box = await boxOf(t, seeded.made);
  await box.start();
  await unitsReady(box.api);
  await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Start' });
  const phase = await phaseAtWork(box);
  await box.end('SIGKILL');
  edit(box, (database) => {
    t.equal(database.prepare("UPDATE resources SET past = 'zz' WHERE kind = 'Phase' AND name = ?").run(phase.name).changes, 1);
    t.equal(database.prepare(`UPDATE streams SET past = 'Batch/demo/${batch}' WHERE stream = 'events/demo/${batch}'`).run().changes, 1);
  });
  await box.start();
  t.match((await box.api.get('/api/v1/system/health')).body.storage, { accepting: true, unfit: [{ kind: 'Phase', name: phase.name, kept: true, fault: /marked as past/ }] });
  await storedDataAlarm(box, new RegExp(`Phase demo/${phase.name} .*marked as past`));
  await eventually('the phase is held', async () => (await box.api.get(`${SITE}/phases/${phase.name}`)).body.state === 'Held');
  const integrity = await box.api.post('/api/v1/system/integrity');
  t.match(JSON.stringify(integrity.body.problems), new RegExp(`the stream events/demo/${batch} was marked as past`));
  await eventually('it is held', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Held');
  t.equal((await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Restart', reason: 'the mark is gone' })).status, 200);
  await eventually('the phase goes on', async () => ['Restarting', 'Running'].includes((await box.api.get(`${SITE}/phases/${phase.name}`)).body.state as string));
  const events = (await box.api.get(`${SITE}/batches/${batch}/events?limit=1000`)).body as { id: number }[] | { items: { id: number }[] };
  const ids = (Array.isArray(events) ? events : events.items).map(({ id }) => id).sort((a, b) => a - b);
  t.same(
    ids,
    ids.map((_, n) => n + 1),
    'its events go on with their numbers',
  );
});

t.test('all elements of a batch at work are marked as past: an Abort arrives', async (t) => {
  const box = await boxOf(t, seeded.running);
  edit(box, (database) => {
    const { changes } = database.prepare("UPDATE resources SET past = 'Procedure/demo/' || ? WHERE kind IN ('Procedure', 'UnitProcedure', 'Operation', 'Phase')").run(batch);
    t.ok(changes > 3, String(changes));
  });
  await box.start();
  t.equal((await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Abort', reason: 'its rows were damaged by hand' })).status, 200);
  await eventually('it is aborted', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Aborted');
  await eventually('its record is made', async () => (await box.api.get(`${SITE}/batchrecords/${batch}`)).status === 200);
});

/** Held, and what it shows once it has been recovered, which is a write of its own. */
const heldAnew = (box: ApplianceProcess) =>
  eventually('it is held and recovered', async () => {
    const { body } = await box.api.get(`${SITE}/batches/${batch}`);
    return body.phase === 'Held' && body.conditions.some(({ type }: { type: string }) => type === 'Recovered') ? body : undefined;
  });

const LOST: readonly (readonly [string, string, RegExp])[] = [
  ['is gone', 'DELETE FROM resources WHERE kind = ? AND name = ?', /its row is gone/],
  ['cannot be read', "UPDATE resources SET body = '{' WHERE kind = ? AND name = ?", /its row could not be read/],
];

for (const [how, statement, cause] of LOST) {
  t.test(`D-C-02: the row of a batch at work ${how}: it is made anew from its control recipe, Held; it can be aborted, and its units come free`, async (t) => {
    const box = await boxOf(t, seeded.running);
    edit(box, (database) => t.equal(database.prepare(statement).run('Batch', batch).changes, 1));
    await box.start();
    const held = await heldAnew(box);
    t.match(held, {
      batchID: 'b-1',
      lotID: 'b-1',
      recipe: { name: 'resin-a' },
      procedure: { name: batch },
      conditions: [{ type: 'MadeAnew', message: cause }, { type: 'Recovered' }],
      recovery: { operator: { needed: true, text: /Stop or Abort ends it/ } },
      failure: { rule: 'stored-data', message: cause, active: true },
    });
    t.notOk(held.recovery.operator.command);
    t.same(held.validCommands, ['Stop', 'Abort'], 'nothing else is offered');
    t.ok(held.holds.at(-1), 'and why it is held stays to be seen');
    t.match((await box.api.get(`/api/v1/audit?kind=Batch&name=${batch}&action=Create`)).body.items[0], { category: 'recovery', rule: 'stored-data', details: { cause } });
    const told = (await box.api.post(`${SITE}/batches/preflight`, { batch, command: 'Restart' })).body as { checks: { ok: boolean; message: string }[] };
    t.match(
      told.checks.filter(({ ok }) => !ok),
      [{ check: 'command', message: cause, liftedBy: { action: 'Stop or Abort the batch' } }],
    );
    await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Restart' });
    await eventually('it is not gone on with', async () => cause.test((await box.api.get(`${SITE}/batches/${batch}`)).body.commandRejection?.message ?? ''));
    const units = ((await box.api.get(`${SITE}/units`)).body as { name: string; allocatedTo: string }[]).filter(({ allocatedTo }) => allocatedTo === batch);
    t.ok(units.length > 0, 'it has its units');
    await box.end('SIGKILL');
    await box.start();
    await heldAnew(box);
    await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Abort', reason: 'its row was damaged by hand' });
    await eventually('it is aborted', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Aborted');
    const record = await eventually('its record is made', async () => {
      const answer = await box.api.get(`${SITE}/batchrecords/${batch}`);
      return answer.status === 200 ? answer.body : undefined;
    });
    const { states } = record.spec.phaseHistory.find(({ kind }: { kind: string }) => kind === 'Procedure');
    t.match([states[0].state, states.at(-1).state], ['Running', 'Aborted'], 'what happened to it before is in its record');
    for (const { name } of units) t.equal((await box.api.get(`${SITE}/units/${name}`)).body.allocatedTo, '');
  });
}

t.test('D-C-02: of the row of a batch at work what can be read is kept, and the rest of it stays as evidence', async (t) => {
  const box = await boxOf(t, seeded.running);
  setBody(box, { kind: 'Batch', site: 'demo', name: batch }, (body) => body.replace('"labels":{}', '"labels":{"n":7}').replace('"lotID":"b-1"', '"lotID":"L-17"'));
  await box.start();
  t.match(await heldAnew(box), { spec: { batchID: 'b-1', lotID: 'L-17', priority: 100 }, conditions: [{ type: 'MadeAnew', message: /could not be read \(metadata.labels/ }, {}] });
  t.match((await box.api.get(`/api/v1/audit?kind=Batch&name=${batch}&action=Create`)).body.items[0], { details: { row: /"labels":\{"n":7\}.*"lotID":"L-17"/ } });
});

t.test('D-C-02: without a whole procedure of its name nothing is made: where it stood nobody knows', async (t) => {
  const box = await boxOf(t, seeded.running);
  edit(box, (database) => database.prepare("DELETE FROM resources WHERE kind = 'Batch' AND name = ?").run(batch));
  setBody(box, { kind: 'Procedure', site: 'demo', name: batch }, (body) => body.replace(/"state":"(Idle|Running)"/, '"state":7'));
  await box.start();
  await unitsReady(box.api);
  t.match(await box.api.get(`${SITE}/batches/${batch}`), { status: 404 });
  t.same((await box.api.get(`${SITE}/batches`)).body, []);
});

t.test('D-C-02: a control recipe that was edited is not taken for the batch that was lost', async (t) => {
  const box = await boxOf(t, seeded.running);
  edit(box, (database) => database.prepare("DELETE FROM resources WHERE kind = 'Batch' AND name = ?").run(batch));
  setBody(box, { kind: 'ControlRecipe', site: 'demo', name: batch }, (body) => body.replace('"allocation":{', '"allocation":{"nobody":"nowhere",'));
  await box.start();
  t.match(await heldAnew(box), { batchID: batch, spec: { masterRecipeRef: 'unknown', equipment: {} } });
});

t.test('D-C-02: all elements of a batch at work are gone: it can be aborted, and its units come free', async (t) => {
  const box = await boxOf(t, seeded.running);
  edit(box, (database) => void database.prepare("DELETE FROM resources WHERE kind IN ('Procedure', 'UnitProcedure', 'Operation', 'Phase')").run());
  await box.start();
  await unitsReady(box.api);
  t.equal((await box.api.get(`${SITE}/units/rx101`)).body.allocatedTo, batch);
  await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Abort', reason: 'its rows were taken away by hand' });
  await eventually('it is aborted', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Aborted');
  for (const { allocatedTo } of (await box.api.get(`${SITE}/units`)).body as { allocatedTo: string }[]) t.equal(allocatedTo, '');
  await eventually('its record is made', async () => (await box.api.get(`${SITE}/batchrecords/${batch}`)).status === 200);
});

const without = (member: string) => (status: Record<string, unknown>) => Object.fromEntries(Object.entries(status).filter(([name]) => name !== member));
const SHAPELESS: readonly (readonly [string, string, (status: Record<string, unknown>) => unknown])[] = [
  ['status of the batch is empty', 'Batch', () => ({})],
  ['status of the batch is a list', 'Batch', () => []],
  ['batch has no allocations', 'Batch', without('allocations')],
  ['batch has no conditions', 'Batch', without('conditions')],
  ['status of the procedure is empty', 'Procedure', () => ({})],
  ['status of the procedure is a list', 'Procedure', () => []],
  ['status of a phase is a list', 'Phase', () => []],
  ['status of a unit is a list', 'Unit', () => []],
  ['status of a unit is empty', 'Unit', () => ({})],
];

for (const [what, kind, changed] of SHAPELESS) {
  t.test(`D-C-02: ${what}: it is named, the plant starts, lists are served, the batch can be aborted`, async (t) => {
    const box = await boxOf(t, seeded.running);
    const name = kind === 'Unit' ? 'rx101' : kind === 'Phase' ? firstOf(box, 'Phase') : batch;
    setBody(box, { kind, site: 'demo', name }, (body) => {
      const row = JSON.parse(body) as { status: Record<string, unknown> };
      return JSON.stringify({ ...row, status: changed(row.status) });
    });
    await box.start();
    const told = ((await box.api.get('/api/v1/system/health')).body.storage.unfit as { name: string }[]).some((fault) => fault.name === name);
    const anew = kind === 'Batch' && (await box.api.get(`${SITE}/batches/${batch}`)).body.conditions.some(({ type }: { type: string }) => type === 'MadeAnew');
    t.ok(told || anew, 'it is told');
    for (const list of ['batches', 'procedures', 'phases', 'units']) t.equal((await box.api.get(`${SITE}/${list}`)).status, 200, list);
    await unitsReady(box.api);
    await heldAnew(box);
    await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Abort', reason: 'its rows were damaged by hand' });
    await eventually('it is aborted', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Aborted');
    await eventually('its record is made', async () => (await box.api.get(`${SITE}/batchrecords/${batch}`)).status === 200);
    await eventually('its units are free', async () => ((await box.api.get(`${SITE}/units`)).body as { allocatedTo: string }[]).every(({ allocatedTo }) => allocatedTo === ''));
  });
}

t.test('D-C-02: the spec of a unit is a list: it is left out and named, the others start', async (t) => {
  const box = await boxOf(t, seeded.made);
  setBody(box, { kind: 'Unit', site: 'demo', name: 'rx101' }, (body) => JSON.stringify({ ...JSON.parse(body), spec: [] }));
  await box.start();
  t.match((await box.api.get('/api/v1/system/health')).body.storage.unfit, [{ kind: 'Unit', name: 'rx101', fault: /spec is a list/, kept: false }]);
  t.equal((await box.api.get(`${SITE}/units`)).body.length, 2);
});

const STREAMS: readonly (readonly [string, string])[] = [
  ['2^53-1', '9007199254740991'],
  ['2^63-1', '9223372036854775807'],
  ['below what is there', '0'],
];

for (const [what, last] of STREAMS) {
  t.test(`streams that count to ${what}: told, and the batch goes on from the number of its last event`, async (t) => {
    const box = await boxOf(t, seeded.running);
    edit(box, (database) => database.exec(`UPDATE streams SET last = ${last}`));
    await box.start();
    t.equal((await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Abort', reason: 'enough has been seen of it' })).status, 200);
    await eventually('its record is made', async () => (await box.api.get(`${SITE}/batchrecords/${batch}`)).status === 200);
    const { status, storage, warnings } = (await box.api.get('/api/v1/system/health')).body;
    t.match({ status, storage, warnings }, { status: 'degraded', storage: { accepting: true } });
    t.ok(
      warnings.some((warning: string) => /stream .* counts to .* and its last entry is \d+/.test(warning)),
      JSON.stringify(warnings),
    );
  });
}
