/** Alarms of definitions: the state table walked whole, the routes, shelves, gates, states, and what is left of it all. */
import t from 'tap';
import { publishAlarms } from '../../../src/domains/alarms/alarm-channel.js';
import { alarmDto } from '../../../src/domains/alarms/dto.js';
import { shelfObstacle } from '../../../src/domains/alarms/transitions.js';
import { Alarm, AlarmDefinition, type AlarmStatus } from '../../../src/domains/alarms/kind.js';
import { IOModule } from '../../../src/domains/io-modules/kind.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { Phase, type PhaseSpec } from '../../../src/domains/procedures/kind.js';
import { Terms } from '../../../src/platform/base/term.js';
import { alarmPlan, type TagDefinition } from '../../../src/domains/alarms/plan.js';
import { signIn } from '../../support/gateway.js';
import { ALARMS, RETENTION_MS, SHORT, SPEC, startAlarmBench } from './bench.js';
import { at, leading } from '../../support/at.js';

const bench = await startAlarmBench();
t.teardown(() => bench.stop());
const { plant, operator, engineer } = bench;
const DEFINITION = 'full';
const HOUR_MS = 3_600_000;
await bench.define(DEFINITION, SPEC);

function definition(name = DEFINITION) {
  const found = plant.store.get(AlarmDefinition, 'demo', name);
  if (!found) throw new Error(`there is no definition ${name}`);
  return found;
}

// ---------------------------------------------------------------- the state table

type Trigger = 'true' | 'false' | 'acknowledge' | 'shelve' | 'unshelve' | 'disarm' | 'delete';

const TRIGGERS: Readonly<Record<Trigger, () => Promise<string>>> = {
  true: () => bench.edge(DEFINITION, 'raised', 91.5).then(() => ''),
  false: () => bench.edge(DEFINITION, 'cleared', 89).then(() => ''),
  acknowledge: async () => {
    const { status } = await operator.post(`${ALARMS}/full-9/acknowledge`);
    await bench.settle();
    const verdict = plant.audits.findLast((record) => record.action === 'Acknowledge' && record.actorType === 'component');
    return status === 200 ? `${status} ${verdict?.rule ?? verdict?.result}` : String(status);
  },
  shelve: async () => String((await operator.post(`${ALARMS}/full-9/shelve`, { duration: '2h' })).status),
  unshelve: async () => String((await operator.post(`${ALARMS}/full-9/unshelve`)).status),
  disarm: () => bench.define(DEFINITION, { enabled: false }).then(() => ''),
  delete: async () => String((await engineer.delete(`${ALARMS}/full-9`)).status),
};

/** Decisions Q-ALARM-02: what is answered, then the alarms there are, by name. */
const TABLE: readonly [state: string, cells: Readonly<Record<Trigger, string>>][] = [
  ['', { true: 'AU', false: '', acknowledge: '404', shelve: '404', unshelve: '404', disarm: '', delete: '404' }],
  ['AU', { true: 'AU', false: 'CU', acknowledge: '200 Success AA', shelve: '409 AU', unshelve: '409 AU', disarm: 'CU', delete: '409 AU' }],
  ['AU+', { true: 'AU+', false: 'CU+', acknowledge: '200 Success AA+', shelve: '409 AU+', unshelve: '200 AU', disarm: 'CU+', delete: '409 AU+' }],
  ['AA', { true: 'AA', false: 'CA', acknowledge: '200 already-acknowledged AA', shelve: '200 AA+', unshelve: '409 AA', disarm: 'CA', delete: '204' }],
  ['AA+', { true: 'AA+', false: 'CA+', acknowledge: '200 already-acknowledged AA+', shelve: '200 AA+', unshelve: '200 AA', disarm: 'CA+', delete: '204' }],
  ['CU', { true: 'AU x2', false: 'CU', acknowledge: '200 Success CA', shelve: '409 CU', unshelve: '409 CU', disarm: 'CU', delete: '409 CU' }],
  ['CA', { true: 'AU CA', false: 'CA', acknowledge: '200 resolved CA', shelve: '409 CA', unshelve: '409 CA', disarm: 'CA', delete: '204' }],
  ['CA+', { true: 'AU+ CA', false: 'CA+', acknowledge: '200 resolved CA+', shelve: '409 CA+', unshelve: '200 CA', disarm: 'CA+', delete: '204' }],
];

async function placeAlarm(state: string): Promise<void> {
  const removes = plant.store.list(Alarm, 'demo').map(({ metadata }) => ({ kind: 'Alarm', site: 'demo', name: metadata.name }));
  await plant.store.write({ removes });
  await bench.define(DEFINITION, { enabled: true });
  if (state === '') return;
  const spec = {
    source: 'ControlModule/li101',
    type: 'Process',
    severity: 'High',
    message: 'too full',
    definitionRef: DEFINITION,
    conditionType: 'TagHigh',
    setpoint: '90',
    value: '95',
  } as const;
  const at = new Date(plant.clock.wallMs()).toISOString();
  const status: AlarmStatus = {
    ...Alarm.initialStatus(spec),
    state: SHORT[state.slice(0, 2) as keyof typeof SHORT],
    unit: 'rx101',
    activatedAt: at,
    ...(state.startsWith('C') ? { clearedAt: at } : {}),
    ...(state[1] === 'A' ? { acknowledgedAt: at, acknowledgedBy: 'somebody' } : {}),
    ...(state.endsWith('+') ? { shelvedUntil: new Date(plant.clock.wallMs() + HOUR_MS).toISOString(), shelvedBy: 'somebody' } : {}),
    origin: 'definition',
  };
  await plant.store.write({ puts: [{ kind: Alarm, site: 'demo', name: 'full-9', spec, status }] });
  await bench.settle();
}

t.test('ALARM-11 ALARM-12 ALARM-14 ALARM-15 ALARM-16 ALARM-17 Q-ALARM-02: every cell of the state table', async (t) => {
  for (const [state, cells] of TABLE) {
    for (const [trigger, expected] of Object.entries(cells) as [Trigger, string][]) {
      await placeAlarm(state);
      const answer = await TRIGGERS[trigger]();
      await bench.settle();
      t.equal([answer, bench.shown(DEFINITION)].filter(Boolean).join(' '), expected, `${state || 'none'}: ${trigger}`);
    }
  }
  await placeAlarm('');
});

// ---------------------------------------------------------------- life of an alarm

t.test('ALARM-01 ALARM-02 ALARM-03 ALARM-04 ALARM-05 ALARM-07 ALARM-08, ALARM-18, ALARM-25, ALARM-26, ADEF-09: an alarm from its activation to its resolution', async (t) => {
  bench.recorded.length = 0;
  plant.audits.length = 0;
  await bench.edge(DEFINITION, 'raised', 91.25);
  const { metadata } = at(plant.store.list(Alarm, 'demo'), 0);
  const { name } = metadata;
  t.match(definition().status, { activeAlarmRef: name, armed: true, suppressedBy: '' });
  t.same((await operator.get(`${ALARMS}/${name}`)).body, {
    name,
    source: 'ControlModule/li101',
    type: 'Process',
    severity: 'High',
    state: 'ActiveUnacknowledged',
    message: 'too full',
    definitionRef: DEFINITION,
    conditionType: 'TagHigh',
    setpoint: '90',
    value: '91.25',
    acknowledgedBy: '',
    shelved: false,
    shelvedUntil: '',
    unit: 'rx101',
    occurrences: 1,
    activatedAt: '2026-01-31T09:00:00.000Z',
    clearedAt: null,
    acknowledgedAt: null,
    shelvedBy: '',
    priority: 700,
    evaluable: true,
    origin: 'definition',
  });
  plant.clock.advance(1000);
  t.match(await operator.post(`${ALARMS}/${name}/acknowledge`, { comment: 'seen it' }), { status: 200, body: { ok: true, name, shelved: false, shelvedUntil: '' } });
  await bench.settle();
  t.match((await operator.get(`${ALARMS}/${name}`)).body, { state: 'ActiveAcknowledged', acknowledgedBy: operator.username, acknowledgedAt: '2026-01-31T09:00:01.000Z' });
  const [accepted, verdict] = leading(
    plant.audits.filter((record) => record.action === 'Acknowledge'),
    2,
  );
  t.match(accepted, { result: 'Accepted', actorType: 'human', displayName: operator.username, target: { kind: 'Alarm', name }, details: { comment: 'seen it' } });
  t.match(verdict, { result: 'Success', component: 'alarm-controller', correlationID: accepted.correlationID });
  await bench.edge(DEFINITION, 'cleared', 88);
  t.match((await operator.get(`${ALARMS}/${name}`)).body, { state: 'ClearedAcknowledged', clearedAt: '2026-01-31T09:00:01.000Z' });
  t.equal(definition().status.activeAlarmRef, '');

  const { items } = (await operator.get(`/api/v1/sites/demo/alarmevents?alarm=${name}&order=asc`)).body;
  t.match(items, [
    {
      event: 'Activated',
      state: 'ActiveUnacknowledged',
      value: '91.25',
      unit: 'rx101',
      timestamp: '2026-01-31T09:00:00.000Z',
      definitionRef: DEFINITION,
      source: 'ControlModule/li101',
    },
    { event: 'Acknowledged', state: 'ActiveAcknowledged', displayName: operator.username },
    { event: 'Cleared', state: 'ClearedAcknowledged' },
  ]);
  t.notOk('accountId' in items[0], 'nobody raised it');
  t.same(bench.recorded, items, 'the historian has the same events');
});

t.test('Q-ALARM-02: names count on per definition and are never used again', async (t) => {
  const before = definition().status.raised ?? 0;
  for (let n = 1; n <= 2; n += 1) {
    await bench.edge(DEFINITION, 'raised');
    const { activeAlarmRef } = definition().status;
    t.equal(activeAlarmRef, `full-${before + n}`);
    await operator.post(`${ALARMS}/${activeAlarmRef}/acknowledge`);
    await bench.settle();
    await bench.edge(DEFINITION, 'cleared');
    t.equal((await engineer.delete(`${ALARMS}/${activeAlarmRef}`)).status, 204);
  }
  const long = `a${'b'.repeat(61)}c`;
  await bench.define(long, SPEC);
  await bench.edge(long, 'raised');
  const { activeAlarmRef } = definition(long).status;
  t.match(activeAlarmRef, /^ab{51}-[0-9a-f]{8}-1$/);
  t.equal(activeAlarmRef.length, 63);

  await bench.define('again', SPEC);
  for (let n = 1; n <= 3; n += 1) {
    await bench.edge('again', 'raised');
    const { activeAlarmRef: name } = definition('again').status;
    t.equal(name, `again-${n}`, 'also over a definition that was deleted and made anew: the history has the names of before');
    await operator.post(`${ALARMS}/${name}/acknowledge`);
    await bench.settle();
    await bench.edge('again', 'cleared');
    t.equal((await engineer.delete(`${ALARMS}/${name}`)).status, 204);
    t.equal((await engineer.delete('/api/v1/sites/demo/alarmdefinitions/again')).status, 204);
    await bench.define('again', SPEC);
  }
});

t.test('Q-ALARM-06: after a delete in ActiveAcknowledged the scan is told that no alarm stands, and raises a new one', async (t) => {
  await bench.edge(DEFINITION, 'raised');
  const { activeAlarmRef } = definition().status;
  await operator.post(`${ALARMS}/${activeAlarmRef}/acknowledge`);
  await bench.settle();
  t.match(bench.gates.get(DEFINITION), { armed: true, active: false }, 'what an edge has told is not told back');
  bench.gates.delete(DEFINITION);
  t.equal((await engineer.delete(`${ALARMS}/${activeAlarmRef}`)).status, 204);
  await bench.settle();
  t.match(bench.gates.get(DEFINITION), { armed: true, active: false });
  await bench.edge(DEFINITION, 'raised');
  t.not(definition().status.activeAlarmRef, activeAlarmRef);
  await bench.edge(DEFINITION, 'cleared');
});

// ---------------------------------------------------------------- what alarms came of

t.test('D-ALARM-01: an alarm names the one it came of and how that is known; what nothing is known of stands alone', async (t) => {
  const shown = async (name: string) =>
    (await operator.get(`${ALARMS}/${name}`)).body as { readonly name: string; readonly cause?: { readonly alarm: string; readonly by: string } };
  await bench.define('stirrer', { ...SPEC, sourceName: 'ag101', conditionType: 'TagFalse', tagName: 'running', exceptionAction: 'Hold' });
  await bench.define('hot', { ...SPEC, sourceName: 'tic101', follows: ['stirrer', 'no-such-definition'] });
  await bench.define('hotter', { ...SPEC, sourceName: 'tic101' });
  await bench.define('alone', { ...SPEC, sourceName: 'pi101' });
  await bench.edge('alone', 'raised');
  plant.clock.advance(1000);
  await bench.edge('hot', 'raised');
  t.notOk((await shown(definition('hot').status.activeAlarmRef)).cause, 'its cause does not stand');
  await bench.edge('hot', 'cleared');
  plant.clock.advance(1000);
  await bench.edge('stirrer', 'raised', 0);
  const root = definition('stirrer').status.activeAlarmRef;
  t.notOk((await shown(root)).cause);
  plant.clock.advance(1000);
  await bench.edge('hot', 'raised');
  t.same((await shown(definition('hot').status.activeAlarmRef)).cause, { alarm: root, by: 'definition' }, 'it has come back meanwhile, and now something explains it');
  plant.clock.advance(1000);
  await bench.edge('hotter', 'raised');
  t.same((await shown(definition('hotter').status.activeAlarmRef)).cause, { alarm: root, by: 'source' }, 'the first of all, not the one between');
  t.notOk((await shown(definition('alone').status.activeAlarmRef)).cause, 'that it stood at the same time explains nothing');
  await bench.define('held', { ...SPEC, sourceKind: 'Unit', sourceName: 'rx101', conditionType: 'StateEquals', stateValue: 'Held', tagName: '', threshold: '' });
  const unit = plant.store.get(Unit, 'demo', 'rx101');
  await plant.store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: { ...unit?.status, state: 'Held' } }] });
  await bench.settle();
  t.same((await shown(definition('held').status.activeAlarmRef)).cause, { alarm: root, by: 'command' }, 'an alarm commanded the unit');
  const { items } = (await operator.get('/api/v1/sites/demo/alarmevents?definition=hotter')).body;
  t.match(items[0], { event: 'Activated', cause: root }, 'the history has it too');
  await plant.store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: { ...unit?.status, state: '' } }] });
  for (const name of ['stirrer', 'hot', 'hotter', 'alone']) {
    await bench.edge(name, 'cleared');
    await operator.post(`${ALARMS}/${definition(name).status.activeAlarmRef}/acknowledge`);
    await bench.settle();
  }
});

t.test('Q-ALARM-03 D-ERR-03: why an alarm is shelved, and what was done when it was acknowledged, stand in its history and its audit record', async (t) => {
  await placeAlarm('AU');
  await operator.post(`${ALARMS}/full-9/acknowledge`, { comment: 'overload, reset at the switchboard' });
  await bench.settle();
  const before = await operator.get(`${ALARMS}/full-9`);
  t.match(await operator.post(`${ALARMS}/full-9/shelve`, { duration: '1h', reason: 'no' }), { status: 400, body: { code: 'reason_too_short', field: 'reason' } });
  t.match(await operator.post(`${ALARMS}/full-9/shelve`, { duration: '1h', reason: 7 }), { status: 400, body: { field: 'reason' } });
  t.same((await operator.get(`${ALARMS}/full-9`)).body, before.body, 'nothing has changed');
  plant.audits.length = 0;
  t.equal((await operator.post(`${ALARMS}/full-9/shelve`, { duration: '1h', reason: ' sensor is being changed ' })).status, 200);
  t.match((await operator.get(`${ALARMS}/full-9`)).body, { shelved: true, shelveReason: 'sensor is being changed' });
  t.match(
    plant.audits.filter(({ action }) => action === 'Shelve'),
    [{ details: { operatorReason: 'sensor is being changed' } }],
  );
  t.equal((await operator.post(`${ALARMS}/full-9/unshelve`)).status, 200);
  t.notOk('shelveReason' in (await operator.get(`${ALARMS}/full-9`)).body, 'it goes with the shelf');
  const { items } = (await operator.get('/api/v1/sites/demo/alarmevents?alarm=full-9&limit=3')).body;
  t.match(items, [{ event: 'Unshelved' }, { event: 'Shelved', comment: 'sensor is being changed' }, { event: 'Acknowledged', comment: 'overload, reset at the switchboard' }]);
});

t.test('ALARM-13 ALARM-14: a shelf ends by itself, with a record and an event', async (t) => {
  await placeAlarm('AA');
  plant.audits.length = 0;
  t.match(await operator.post(`${ALARMS}/full-9/shelve`, { duration: '1m30s' }), { status: 200, body: { shelved: true, state: 'ActiveAcknowledged' } });
  t.match((await operator.get(`${ALARMS}?shelved=true`)).body, [{ name: 'full-9', shelvedBy: operator.username }]);
  plant.clock.advance(90_000 - 1);
  await bench.settle();
  t.equal(bench.shown(DEFINITION), 'AA+');
  plant.clock.advance(1);
  await bench.settle();
  t.equal(bench.shown(DEFINITION), 'AA');
  t.match(
    plant.audits.filter((record) => record.action === 'Unshelve'),
    [{ result: 'Success', component: 'alarm-controller' }],
  );
  t.match((await operator.get('/api/v1/sites/demo/alarmevents?alarm=full-9&event=Unshelved')).body.items[0], { event: 'Unshelved', state: 'ActiveAcknowledged' });
});

t.test('ALARM-09 ALARM-10: the flag is judged when it is read; the deadline may outlive its shelf', async (t) => {
  await placeAlarm('AA+');
  const found = plant.store.get(Alarm, 'demo', 'full-9');
  if (!found) throw new Error('there is no full-9');
  const { shelvedUntil } = found.status;
  const terms = (ms: number) => {
    const wallMs = Date.parse(shelvedUntil) + ms;
    return new Terms(plant.clock, { wallMs, bootID: '', bootMs: 0 }, false);
  };
  const at = (ms: number) => alarmDto(found, terms(ms), true);
  t.match(
    [at(-1), at(0)],
    [
      { shelved: true, shelvedUntil },
      { shelved: false, shelvedUntil },
    ],
  );
  t.match(shelfObstacle('unshelve', 'full-9', found.status, terms(0)), /is not shelved/);
  t.match((await operator.get(`${ALARMS}?shelved=true`)).body, [{ name: 'full-9', shelved: true, shelvedUntil }]);
  // the alarm controller has not come to it yet: nobody has ended the shelf, and still nothing is suppressed
  const frames: { readonly frame: Readonly<Record<string, unknown>> }[] = [];
  const over = new Date(plant.clock.wallMs()).toISOString();
  plant.store.apply({ puts: [{ kind: Alarm, site: 'demo', name: 'full-9', status: { ...found.status, shelvedUntil: over } }] });
  publishAlarms({ hub: { publish: (event) => frames.push(event) }, store: plant.store, clock: plant.clock });
  t.match(
    frames.map(({ frame }) => frame).find(({ name }) => name === 'full-9'),
    { shelved: false, shelvedUntil: over, state: 'ActiveAcknowledged' },
  );
});

t.test('ALARM-21 Q-ALARM-05: durations of a shelf', async (t) => {
  await placeAlarm('AA');
  for (const duration of ['', '30', '0s', '999ms', '1d', '24h1s', '-1h', 'soon', '1h ']) {
    t.match(await operator.post(`${ALARMS}/full-9/shelve`, { duration }), { status: 400, body: { field: 'duration', max: '86400s' } }, duration);
  }
  t.match(await operator.post(`${ALARMS}/full-9/shelve`), { status: 400, body: { field: 'duration' } });
  for (const duration of ['1s', '90m', '1h30m', '24h']) t.equal((await operator.post(`${ALARMS}/full-9/shelve`, { duration })).status, 200, duration);
});

t.test('ALARM-19 ALARM-20 ALARM-21 ALARM-22 ALARM-23 ALARM-24: who may, and what does not exist', async (t) => {
  await placeAlarm('AA');
  const viewer = await plant.as('viewer');
  t.equal((await viewer.get(ALARMS)).status, 200);
  t.equal((await viewer.get('/api/v1/sites/demo/alarmevents')).status, 200);
  for (const verb of ['acknowledge', 'shelve', 'unshelve']) t.equal((await viewer.post(`${ALARMS}/full-9/${verb}`)).status, 403, verb);
  t.equal((await operator.delete(`${ALARMS}/full-9`)).status, 403);
  t.equal((await operator.post(ALARMS, { name: 'x' })).status, 405, 'ALARM-24: none is created over the API');
  t.match(await operator.post(`${ALARMS}/full-9/acknowledge`, { comment: 'x'.repeat(1025) }), { status: 400 });
});

t.test('Q-ALARM-07: filters of the list and of the history', async (t) => {
  await placeAlarm('AU');
  const names = async (query: string): Promise<string[]> => (await operator.get(`${ALARMS}?${query}`)).body.map((alarm: { name: string }) => alarm.name);
  t.same(await names('state=ActiveUnacknowledged,ActiveAcknowledged&severity=High&type=Process'), ['full-9']);
  t.same(await names('source=ControlModule/li101&unit=rx101&definition=full&shelved=false&active=true'), ['full-9']);
  for (const query of ['state=ClearedAcknowledged', 'severity=Low', 'type=Safety', 'source=Unit/x', 'unit=mx101', 'definition=x', 'shelved=true', 'active=false']) {
    t.same(await names(query), [], query);
  }
  const events = async (query: string): Promise<{ items: { sequence: number; event: string }[]; nextCursor: string | null }> =>
    (await operator.get(`/api/v1/sites/demo/alarmevents?${query}`)).body;
  t.ok((await events('definition=full&severity=High&unit=rx101&event=Cleared')).items.every(({ event }) => event === 'Cleared'));
  t.same((await events('unit=mx101')).items, []);
  t.same((await events('from=2030-01-01T00:00:00Z')).items, []);
  const first = await events('limit=2');
  t.equal(first.items.length, 2);
  t.ok(at(first.items, 0).sequence > at(first.items, 1).sequence, 'newest first');
  t.equal(at((await events(`limit=2&cursor=${first.nextCursor}`)).items, 0).sequence, at(first.items, 1).sequence - 1);
});

t.test('ALARM-19 ALARM-23 Q-ERR-14: a read of one alarm has an ETag that every member is under; who deletes another state than he has read is told', async (t) => {
  await placeAlarm('AA');
  const alarm = `${ALARMS}/full-9`;
  const tagOf = async (): Promise<string> => String((await operator.get(alarm)).headers.etag);
  const etag = await tagOf();
  t.match(etag, /^"\d+-[0-9a-f]{12}"$/);
  t.equal((await operator.get(alarm, { headers: { 'If-None-Match': etag } })).status, 304);
  await bench.edge(DEFINITION, 'lost');
  t.match(await operator.get(alarm, { headers: { 'If-None-Match': etag } }), { status: 200, body: { evaluable: false } }, 'what is not stored counts too');
  await bench.edge(DEFINITION, 'evaluable');
  t.equal(await tagOf(), etag);
  t.equal((await operator.post(`${alarm}/shelve`, { duration: '1h' })).status, 200);
  t.match(await engineer.delete(alarm, { headers: { 'If-Match': etag } }), { status: 412, body: { code: 'precondition_failed', currentETag: await tagOf() } });
  t.equal((await engineer.delete(alarm, { headers: { 'If-Match': await tagOf() } })).status, 204);
});

t.test('ALARM-19 ADEF-15 Q-ALARM-07: a filter that names no word there is, is refused: an empty list would say that all is well', async (t) => {
  await placeAlarm('AU');
  const wrong: [string, string, string][] = [
    ['alarms', 'state=ActiveUnacknowleged', 'state'],
    ['alarms', 'state=ActiveAcknowledged,active', 'state'],
    ['alarms', 'state=ActiveAcknowledged,', 'state'],
    ['alarms', 'severity=high', 'severity'],
    ['alarms', 'type=process', 'type'],
    ['alarms', 'shelved=yes', 'shelved'],
    ['alarms', 'active=1', 'active'],
    ['alarmevents', 'event=Raised', 'event'],
    ['alarmevents', 'event=Activated,Cleared', 'event'],
    ['alarmevents', 'severity=high', 'severity'],
    ['alarmdefinitions', 'source_kind=controlmodule', 'source_kind'],
  ];
  for (const [list, query, field] of wrong) {
    const { status, body } = await operator.get(`/api/v1/sites/demo/${list}?${query}`);
    t.match({ status, body }, { status: 400, body: { code: 'invalid_query', field, allowed: Array, error: new RegExp(`^${field} must be `) } }, `${list}?${query}`);
  }
  const count = async (query: string): Promise<number> => (await operator.get(`${ALARMS}?definition=${DEFINITION}&${query}`)).body.length;
  t.equal(await count('state=ClearedAcknowledged&state=ActiveUnacknowledged&severity=Low&severity=High'), 1, 'one word at a time');
  for (const query of ['state=&severity=&type=&source=&unit=&shelved=&active=', 'active=true&shelved=false', 'severity=Low,High']) t.equal(await count(query), 1, query);
});

// ---------------------------------------------------------------- gates, states, quality, exception actions

async function putPhase(name: string, state: string): Promise<void> {
  const known = plant.store.get(Phase, 'demo', name);
  const spec = { ...known?.spec, templateRef: 'react', unitRef: 'rx101', mode: '' } as unknown as PhaseSpec;
  const status = { ...Phase.initialStatus(spec), state: state as 'Running' };
  await plant.store.write({ puts: [{ kind: Phase, site: 'demo', name, spec, status }] });
  await bench.settle();
}

t.test('ADEF-12 Q-ALARM-13: an arming gate opens and closes with the phases of its template on its unit', async (t) => {
  const gated = 'tic101-low-react';
  const seen = () => [definition(gated).status.armed, definition(gated).status.suppressedBy, bench.gates.get(gated)?.armed];
  await bench.settle();
  t.same(seen(), [false, 'NotArmed', false]);
  await putPhase('p1', 'Running');
  t.same(seen(), [true, '', true]);
  await bench.edge(gated, 'raised', 70);
  t.equal(bench.shown(gated), 'AU');
  await putPhase('p1', 'Held');
  t.same(seen(), [false, 'NotArmed', false]);
  t.equal(bench.shown(gated), 'CU', 'a closing gate clears');
  await bench.edge(gated, 'raised', 70);
  t.equal(bench.shown(gated), 'CU', 'an edge that was on its way counts no more');
  await putPhase('p1', 'Running');
  await bench.edge(gated, 'raised', 69);
  t.equal(bench.shown(gated), 'AU x2');
  t.equal(plant.store.list(Alarm, 'demo').find(({ spec }) => spec.definitionRef === gated)?.status.value, '69');
  const events = (await operator.get(`/api/v1/sites/demo/alarmevents?definition=${gated}&order=asc`)).body.items;
  t.same(
    events.map(({ event }: { event: string }) => event),
    ['Activated', 'Suppressed', 'Unsuppressed', 'Activated'],
  );
  await putPhase('p1', 'Complete');
  await bench.define(gated, { enabled: false });
  t.same(seen(), [false, 'Disabled', false]);
});

async function setState(kind: typeof Unit | typeof IOModule, name: string, state: string): Promise<void> {
  const found = plant.store.get(kind as typeof Unit, 'demo', name);
  if (!found) throw new Error(`there is no ${name}`);
  await plant.store.write({ puts: [{ kind: kind as typeof Unit, site: 'demo', name, status: { ...found.status, state: state as 'Held' } }] });
  await bench.settle();
}

t.test('ADEF-04 ADEF-20: StateEquals reacts to the state of a unit or an I/O module within one reconcile', async (t) => {
  t.equal(bench.shown('rx101-held'), '');
  await setState(Unit, 'rx101', 'Held');
  t.equal(bench.shown('rx101-held'), 'AU');
  t.match(plant.store.list(Alarm, 'demo').find(({ spec }) => spec.definitionRef === 'rx101-held')?.spec, { setpoint: 'Held', value: 'Held', source: 'Unit/rx101', type: 'System' });
  await setState(Unit, 'rx101', 'Running');
  t.equal(bench.shown('rx101-held'), 'CU');
  await setState(Unit, 'rx101', 'Idle');
  bench.commands.length = 0;
  await setState(IOModule as unknown as typeof Unit, 'io-rx101', 'Disconnected');
  t.equal(bench.shown('io-rx101-lost'), 'AU');
  t.match(bench.commands, [['demo', ['rx101'], 'Hold', /^io-rx101-lost-\d+$/]], 'ADEF-10: once, to every unit with a tag on the module');
});

t.test('ADEF-08: the debounce of a state is plant time too', async (t) => {
  await bench.define('slow', {
    ...SPEC,
    sourceKind: 'Unit',
    sourceName: 'tk201',
    conditionType: 'StateEquals',
    stateValue: 'Held',
    tagName: '',
    threshold: '',
    debounceSeconds: 20,
  });
  await setState(Unit, 'tk201', 'Held');
  plant.clock.advance(1999);
  await bench.settle();
  t.equal(bench.shown('slow'), '', '20 s of plant time are 2 s at time scale 10');
  await setState(Unit, 'tk201', 'Running');
  await setState(Unit, 'tk201', 'Held');
  plant.clock.advance(1999);
  await bench.settle();
  t.equal(bench.shown('slow'), '', 'a break begins it anew');
  plant.clock.advance(1);
  await bench.settle();
  t.equal(bench.shown('slow'), 'AU');
});

t.test('ADEF-10 Q-ALARM-02: exceptionAction on activation and on each return, never on acknowledgement or unshelve', async (t) => {
  const name = 'xv101-fault';
  bench.commands.length = 0;
  await bench.edge(name, 'raised');
  const { activeAlarmRef } = definition(name).status;
  const hold = ['demo', ['rx101'], 'Hold', activeAlarmRef];
  t.same(bench.commands, [hold]);
  await bench.edge(name, 'raised');
  t.same(bench.commands, [hold], 'an edge told twice is one activation');
  await bench.edge(name, 'cleared');
  await bench.edge(name, 'raised');
  t.same(bench.commands, [hold, hold]);
  await operator.post(`${ALARMS}/${activeAlarmRef}/acknowledge`);
  await bench.settle();
  await operator.post(`${ALARMS}/${activeAlarmRef}/shelve`, { duration: '1h' });
  await operator.post(`${ALARMS}/${activeAlarmRef}/unshelve`);
  await bench.settle();
  t.same(bench.commands, [hold, hold]);
});

t.test('Q-ALARM-02: evaluable tells whether the value can be judged; a worker that begins anew is told what stands', async (t) => {
  const name = 'xv101-fault';
  const read = async () => (await operator.get(`${ALARMS}?definition=${name}`)).body[0];
  await bench.edge(name, 'lost');
  t.match(await read(), { evaluable: false, state: 'ActiveAcknowledged' });
  await bench.edge(name, 'evaluable');
  t.match(await read(), { evaluable: true });
  bench.reconciler.linkChanged(bench.link, 'down');
  t.match(await read(), { evaluable: false }, 'without its runtime nothing is judged');
  bench.gates.clear();
  bench.reconciler.linkChanged(bench.link, 'plan');
  t.match(await read(), { evaluable: true });
  t.same(bench.gates.get(name), { definition: name, armed: true, active: true, evaluable: true });
  t.same(bench.gates.get('tic101-high'), { definition: 'tic101-high', armed: true, active: false, evaluable: true });
  t.notOk(bench.gates.has('rx101-held'), 'states are not judged by the scan');
});

t.test('a burst of edges is taken in slices, in order, and all of it before whatever changes the link', async (t) => {
  const names = ['burst-a', 'burst-b', 'burst-c', 'burst-d'];
  const raise = (definition: string): void => bench.reconciler.take(bench.link, { type: 'alarm-edge', definition, edge: 'raised', value: 91, atMs: plant.clock.wallMs() });
  const shown = () => names.map(bench.shown);
  for (const name of names) await bench.define(name, SPEC);
  let isSlow = true;
  plant.store.watch(Alarm, () => {
    if (isSlow) plant.clock.advance(5); // each alarm takes longer than a slice
  });
  raise('burst-a');
  raise('burst-b');
  raise('burst-c');
  t.same(shown(), ['AU', '', '', ''], 'the rest waits for the next turns');
  await new Promise(setImmediate);
  t.same(shown().slice(0, 3), ['AU', 'AU', ''], 'one slice a turn');
  // the scan takes another condition over: what it told before is not judged by it
  bench.scanned.set('burst-d', alarmPlan('burst-d', { ...(definition('burst-d').spec as TagDefinition), threshold: '99' }, 0));
  raise('burst-d');
  bench.scanned.clear();
  bench.reconciler.linkChanged(bench.link, 'plan');
  t.same(shown(), ['AU', 'AU', 'AU', ''], 'all of it, at once');
  t.match(bench.gates.get('burst-c'), { active: true }, 'and the scan is told what it has raised');
  isSlow = false;
  await bench.settle();
  const alarms = plant.store.list(Alarm, 'demo').filter(({ spec }) => names.includes(spec.definitionRef));
  await plant.store.write({
    removes: [...names.map((name) => ({ kind: AlarmDefinition.kind, site: 'demo', name })), ...alarms.map(({ metadata: { name } }) => ({ kind: Alarm.kind, site: 'demo', name }))],
  });
  await bench.settle();
});

t.test('ALARM-02 ALARM-05 ALARM-07 ADEF-17: an alarm stays what it was raised for; a definition that is set on something else raises one of its own', async (t) => {
  const name = 'wander';
  const known = () => plant.store.list(Alarm, 'demo').filter(({ spec }) => spec.definitionRef === name);
  await bench.define(name, SPEC);
  await bench.edge(name, 'raised', 91);
  bench.scanned.set(name, alarmPlan(name, definition(name).spec as TagDefinition, 0));
  bench.gates.clear();
  await bench.define(name, { sourceName: 'tic101', conditionType: 'TagHighHigh', threshold: '70', message: 'too hot', severity: 'Critical' });
  t.equal(bench.shown(name), 'CU', 'nobody judges the old condition any more');
  t.notOk(bench.gates.has(name), 'the scan still judges the old condition: it is not told to raise it anew');
  await bench.edge(name, 'raised', 92);
  t.equal(bench.shown(name), 'CU', 'nor does an edge of the old condition raise an alarm of the new one');
  bench.scanned.clear();
  bench.reconciler.linkChanged(bench.link, 'plan');
  t.same(bench.gates.get(name), { definition: name, armed: true, active: false, evaluable: true });
  await bench.edge(name, 'raised', 75);
  t.equal(bench.shown(name), 'CU AU');
  t.match(
    known().map(({ spec, status }) => [spec.source, spec.conditionType, spec.setpoint, spec.message, spec.severity, status.value]),
    [
      ['ControlModule/li101', 'TagHigh', '90', 'too full', 'High', '91'],
      ['ControlModule/tic101', 'TagHighHigh', '70', 'too hot', 'Critical', '75'],
    ],
  );
  t.match(definition(name).status, { activeAlarmRef: 'wander-2' });
  await bench.define(name, { tagName: 'sp' });
  t.equal(bench.shown(name), 'CU CU', 'another tag is another condition');
  await bench.define(name, { tagName: 'pv' });
  await bench.edge(name, 'raised', 76);
  await operator.post(`${ALARMS}/wander-2/acknowledge`);
  await bench.settle();
  t.equal(bench.shown(name), 'CU AA x2', 'and the old one comes back as itself');
  await bench.define(name, { sourceKind: 'Unit', sourceName: 'rx101', conditionType: 'StateEquals', stateValue: 'Idle', tagName: '', threshold: '' });
  t.equal(bench.shown(name), 'CU CA x2 AU', 'what nobody has acknowledged is announced');
  t.match(known()[2], { spec: { source: 'Unit/rx101', setpoint: 'Idle', value: 'Idle' } });
  await bench.define(name, { stateValue: 'Held' });
  t.equal(bench.shown(name), 'CU CA x2 CU', 'as another state is another condition');
});

t.test('ADEF-09 ALARM-07: an alarm that comes back has the limit, the message and the severity that its definition has now', async (t) => {
  const name = 'reworded';
  await bench.define(name, SPEC);
  await bench.edge(name, 'raised', 91);
  await bench.edge(name, 'cleared', 80);
  await bench.define(name, { threshold: '85', message: 'nearly full', severity: 'Critical', priority: 900 });
  await bench.edge(name, 'raised', 86);
  t.match((await operator.get(`${ALARMS}?definition=${name}`)).body, [
    { name: 'reworded-1', occurrences: 2, setpoint: '85', value: '86', message: 'nearly full', severity: 'Critical', priority: 900 },
  ]);
});

t.test('Q-ALARM-02: a resolved alarm is readable for its retention, then only in the history', async (t) => {
  await placeAlarm('CA');
  plant.clock.advance(RETENTION_MS - 1);
  await bench.settle();
  t.equal(bench.shown(DEFINITION), 'CA');
  plant.clock.advance(1);
  await bench.settle();
  t.equal(bench.shown(DEFINITION), '');
});

t.test('D-C-07: a wall clock that is set neither ends a shelf nor makes it longer, and removes no resolved alarm', async (t) => {
  for (const stepMs of [2 * HOUR_MS, -2 * HOUR_MS]) {
    await placeAlarm('AA');
    t.match(await (await signIn(plant, ['operator'])).post(`${ALARMS}/full-9/shelve`, { duration: '1h' }), { status: 200 });
    plant.clock.jump(stepMs);
    plant.clock.advance(HOUR_MS - 1);
    await bench.settle();
    t.equal(bench.shown(DEFINITION), 'AA+', `${stepMs} ms, within its hour`);
    plant.clock.advance(1);
    await bench.settle();
    t.equal(bench.shown(DEFINITION), 'AA', `${stepMs} ms, after its hour`);
    plant.clock.jump(-stepMs);
  }
  await placeAlarm('CU');
  t.equal((await (await signIn(plant, ['operator'])).post(`${ALARMS}/full-9/acknowledge`, {})).status, 200);
  await bench.settle();
  plant.clock.jump(10 * RETENTION_MS);
  plant.clock.advance(RETENTION_MS - 1);
  await bench.settle();
  t.equal(bench.shown(DEFINITION), 'CA', 'resolved, and its time has not passed');
  plant.clock.advance(1);
  await bench.settle();
  t.equal(bench.shown(DEFINITION), '');
  plant.clock.jump(-10 * RETENTION_MS);
});
