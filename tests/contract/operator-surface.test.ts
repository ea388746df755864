/**
 * The operator surface as a customer tries it: real accounts, real unit runtimes, real streams over sockets. What single
 * parts do with a runtime that the test holds is in tests/domains/tags and tests/domains/alarms; here nothing is replaced.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import t from 'tap';
import { EventClient, refusal, SocketClient } from '../platform/stream/clients.js';
import type { Received } from '../platform/stream/scripted.js';
import { eventually } from '../support/api-client.js';
import { type Client, PASSWORD } from '../support/gateway.js';
import { ApplianceTest, AT, SITE } from './appliance.js';

/** An operator whose deployment takes single actions away (contract 2, Authentication 6). */
const GAGGED = { group: '{prefix}-gagged', tier: 'operate', deny: ['tag:write', 'alarm:list'] };
const test = await ApplianceTest.start({ LINESIDE_AUTH__ROLES: JSON.stringify([GAGGED]) });
t.teardown(() => test.stop());
const url = `http://127.0.0.1:${test.port}`;
const admin = test.admin;
const [viewer, operator, second, engineer] = [await test.as('viewer'), await test.as('operator'), await test.as('operator', 'viewer'), await test.as('engineer')];
await admin.post('/api/v1/sites', { name: 'south' });
const confined = await test.as('operator', 'site-south');

const SETPOINT = 'units/rx101/tags/tic101.sp';
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

async function did(answer: Promise<{ readonly status: number; readonly text: string }>, wanted = 200): Promise<void> {
  const { status, text } = await answer;
  if (status !== wanted) throw new Error(`${status} ${text}`);
}

const setMode = (name: string, mode: string): Promise<void> => did(operator.post(`${AT}/mode`, { kind: 'ControlModule', name, mode }));
/** By hand; the module stays in Manual. */
async function setpoint(value: number): Promise<void> {
  await setMode('tic101', 'Manual');
  await did(operator.post(`${AT}/${SETPOINT}`, { value }));
  await test.until(`tic101.sp is ${value}`, `${AT}/${SETPOINT}`, (tag) => tag.value === value);
}

async function openSocket(t: { teardown(call: () => unknown): void }, client: Client): Promise<SocketClient> {
  const socket = await SocketClient.open(url, client.token);
  t.teardown(() => socket.close());
  return socket;
}

async function openEvents(t: { teardown(call: () => unknown): void }, client: Client, query: string, headers: Record<string, string> = {}): Promise<EventClient> {
  const events = await EventClient.open(url, `${AT}/events/sse${query}`, { Authorization: `Bearer ${client.token}`, ...headers });
  t.teardown(() => events.close());
  return events;
}

/** The next frame that is wanted; those before it are left out. */
async function frame(source: { next(): Promise<Received> }, wanted: (frame: Received) => boolean): Promise<Received> {
  for (;;) {
    const found = await source.next();
    if (wanted(found)) return found;
  }
}

async function newestWrite(): Promise<Record<string, unknown>> {
  return (await viewer.get(`${AT}/audit?category=tag-write&limit=1`)).body.items[0];
}

t.test('TAG-01 TAG-02 TAG-04 TAG-05 TAG-06 TAG-07 TAG-08 TAG-09 TAG-11 TAG-15 TAG-16 TAG-17 TAG-18 TAG-20: every route tells the same of a tag', async (t) => {
  const { body: descriptors } = await viewer.get(`${AT}/tags`);
  t.ok(descriptors.length > 150);
  for (const descriptor of descriptors) {
    const { name, address, dataType, accessLevel, controlModule, moduleType, unit, equipmentModule } = descriptor;
    for (const text of [name, address, controlModule, moduleType, unit, equipmentModule]) if (typeof text !== 'string') t.fail(JSON.stringify(descriptor));
    if (!['Float', 'Boolean', 'Integer', 'String', 'Time'].includes(dataType) || !['read', 'readwrite'].includes(accessLevel)) t.fail(JSON.stringify(descriptor));
    if (controlModule !== '' && address !== `${controlModule}.${name}`) t.fail(`${address} of ${controlModule}`);
  }
  const { body: browsed } = await viewer.get(`${AT}/tags/browse?unit=rx101&moduleType=on-off-valve`);
  t.same(
    browsed.map(({ value: _value, quality: _quality, timestamp: _timestamp, ...descriptor }: Received) => descriptor),
    descriptors.filter(({ unit, moduleType }: Received) => unit === 'rx101' && moduleType === 'on-off-valve'),
    'both filters together',
  );
  t.ok(browsed.length > 0 && browsed.every(({ quality, timestamp }: Received) => quality === 'Good' && TIME.test(timestamp)));
  const ofUnit = (await viewer.get(`${AT}/units/rx101/tags`)).body;
  t.same(
    ofUnit.map(({ address }: Received) => address),
    descriptors.filter(({ unit }: Received) => unit === 'rx101').map(({ address }: Received) => address),
  );
  const one = (await viewer.get(`${AT}/units/rx101/tags/tic101%2Epv`)).body;
  t.match(one, { address: 'tic101.pv', value: Number, quality: 'Good', timestamp: TIME, engUnits: 'degC' });
  const { value: _value, timestamp: _timestamp, ...rest } = one;
  t.match((await viewer.get(`${AT}/controlmodules/tic101/tags/pv`)).body, rest);
  t.match(
    (await viewer.get(`${AT}/controlmodules/tic101/tags`)).body.find(({ name }: Received) => name === 'pv'),
    rest,
  );
  t.match(
    ofUnit.find(({ address }: Received) => address === 'tic101.pv'),
    rest,
  );
  for (const path of ['units/mx101/tags/tic101.pv', 'controlmodules/tic101/tags/nothing'])
    t.match(await viewer.get(`${AT}/${path}`), { status: 404, body: { code: 'unknown_tag' } });
  for (const path of ['units/nowhere/tags', 'controlmodules/nowhere/tags']) t.match(await viewer.get(`${AT}/${path}`), { status: 404, body: { code: 'not_found' } });
});

t.test('TAG-03 TAG-18 TAG-21 TAG-28 MODE-07: a device tag is read and written by its protocol address, and by its name', async (t) => {
  const tags = [
    { name: 'level', dataType: 'Float', channel: 'io-rx101:lt101' },
    { name: 'stroke', dataType: 'Float', accessLevel: 'readwrite', channel: 'io-rx101:tcv101.out', engMin: '0', engMax: '100' },
  ];
  await did(engineer.post('/api/v1/controlmoduletemplates', { name: 'bare', moduleType: 'sensor', tags }), 201);
  await did(engineer.post(`${AT}/controlmodules`, { name: 'bare1', templateRef: 'bare', parentName: 'rx101', parentKind: 'Unit' }), 201);
  const byAddress = `${AT}/units/rx101/tags/io-rx101:tcv101.out`;
  await test.until('the device tag is measured', `${AT}/units/rx101/tags/io-rx101:lt101`, (tag) => tag.quality === 'Good');
  t.match((await viewer.get(`${AT}/units/rx101/tags/io-rx101%3Alt101`)).body, { name: 'level', address: 'io-rx101:lt101', controlModule: 'bare1', value: Number });
  t.match((await viewer.get(`${AT}/controlmodules/bare1/tags/level`)).body, { address: 'io-rx101:lt101', quality: 'Good' });
  t.match(await operator.post(byAddress, { value: 101 }), { status: 400, body: { code: 'out_of_range', tag: 'io-rx101:tcv101.out', engMin: 0, engMax: 100 } });
  t.match(await operator.post(byAddress, { value: 12 }), { status: 200, body: { ok: true, address: 'io-rx101:tcv101.out', message: /was written/ } }, 'bare1 is in Automatic');
  t.match(await newestWrite(), { result: 'Success', target: { kind: 'Tag', name: 'io-rx101:tcv101.out' }, details: { deviceAddress: true, controlModule: 'bare1' } });
  const byName = `${AT}/controlmodules/bare1/tags/stroke`;
  t.match(await operator.post(byName, { value: 13 }), { status: 403, body: { code: 'automatic_mode', controlModule: 'bare1' } });
  await setMode('bare1', 'Semi-Automatic');
  t.match(await operator.post(byName, { value: 13 }), { status: 200, body: { ok: true, address: 'io-rx101:tcv101.out' } });
});

t.test('TAG-10 TAG-14 TAG-27 TAG-29 WS-18 WS-19: tags of a unit without a runtime are listed with nothing in them; a write says why it was not taken, on record', async (t) => {
  await did(engineer.post('/api/v1/controlmoduletemplates', { name: 'note', moduleType: 'note', tags: [{ name: 'word', dataType: 'Float', accessLevel: 'readwrite' }] }), 201);
  // a runtime comes up within some tenths of a second: each look has a unit that was made in the request before it
  const justMade = async (unit: string): Promise<string> => {
    const manifest = (apiVersion: string, kind: string, name: string, spec: object) => ({ apiVersion, kind, metadata: { name, namespace: `site-${SITE}` }, spec });
    const module = { templateRef: 'note', parentName: unit, parentKind: 'Unit', mode: 'Manual' };
    const manifests = [manifest('physical.lineside.io/v1alpha1', 'Unit', unit, {}), manifest('control.lineside.io/v1alpha1', 'ControlModule', `note-${unit}`, module)];
    await did(engineer.post('/api/v1/apply', manifests), 200);
    return `note-${unit}`;
  };
  const offline = await justMade('spare-0').then(() => viewer.get(`${AT}/tags/browse?unit=spare-0&moduleType=note`));
  t.match(offline, { status: 200, body: [{ address: 'note-spare-0.word', unit: 'spare-0', value: null, quality: 'Uncertain', timestamp: null }] });
  const paths: readonly ((unit: string, module: string) => string)[] = [
    (unit) => `units/${unit}/tags`,
    (unit, module) => `units/${unit}/tags/${module}.word`,
    (_, module) => `controlmodules/${module}/tags`,
    (_, module) => `controlmodules/${module}/tags/word`,
  ];
  for (const [at, path] of paths.entries()) {
    const unit = `spare-${at + 1}`;
    const answer = await justMade(unit).then((module) => viewer.get(`${AT}/${path(unit, module)}`));
    t.match(
      answer,
      { status: 503, headers: { 'retry-after': '1' }, body: { code: 'runtime_unreachable', error: new RegExp(`unit ${unit} is not reachable`) } },
      path(unit, 'note'),
    );
  }
  const record = (module: string) => ({ result: 'Failed', reason: 'RuntimeUnreachable', target: { name: `${module}.word` }, after: 1 });
  const written = await justMade('spare-5').then((module) => operator.post(`${AT}/units/spare-5/tags/${module}.word`, { value: 1 }));
  t.match(written, { status: 503, body: { code: 'runtime_unreachable' } });
  t.match(await newestWrite(), record('note-spare-5'));
  const socket = await openSocket(t, operator);
  const said = await justMade('spare-6').then((module) => socket.ask({ type: 'write', requestId: 'w', site: SITE, unit: 'spare-6', address: `${module}.word`, value: 1 }));
  t.match(said, { type: 'result', requestId: 'w', ok: false, message: /unit spare-6 is not reachable/ });
  t.match(await newestWrite(), record('note-spare-6'));
});

t.test('TAG-19 TAG-21 TAG-22 TAG-23 TAG-24 TAG-25 TAG-26 TAG-29 MODE-06 MODE-07 WS-04 WS-17 WS-22: three ways in, one answer, and the record before it', async (t) => {
  const sockets = new Map<Client, SocketClient>();
  for (const client of [viewer, operator, confined]) sockets.set(client, await openSocket(t, client));
  const body = (value: unknown): object => (value === undefined ? {} : { value });
  const ways: Readonly<Record<string, (client: Client, tag: string, value: unknown) => Promise<{ readonly code: string | undefined; readonly said: Received }>>> = {
    'unit route': async (client, tag, value) => {
      const { status, body: said } = await client.post(`${AT}/units/rx101/tags/tic101.${tag}`, body(value));
      return { code: status === 200 ? undefined : `${status} ${said.code}`, said };
    },
    'module route': async (client, tag, value) => {
      const { status, body: said } = await client.post(`${AT}/controlmodules/tic101/tags/${tag}`, body(value));
      return { code: status === 200 ? undefined : `${status} ${said.code}`, said };
    },
    frame: async (client, tag, value) => {
      const said = await (sockets.get(client) as SocketClient).ask({ type: 'write', requestId: 'same', site: SITE, unit: 'rx101', address: `tic101.${tag}`, ...body(value) });
      t.equal(said.requestId, 'same');
      return { code: said.type === 'result' ? undefined : String(said.code), said };
    },
  };
  const refused: readonly [who: Client, mode: string, tag: string, value: unknown, status: number, code: string, reason: string, says: RegExp][] = [
    [confined, 'Manual', 'sp', 20, 403, 'site_scope', 'SiteScope', /demo/],
    [viewer, 'Manual', 'sp', 20, 403, 'action_missing', 'ActionMissing', /:write/],
    [operator, 'Manual', 'nothing', 20, 404, 'unknown_tag', 'UnknownTag', /nothing/],
    [operator, 'Automatic', 'sp', 20, 403, 'automatic_mode', 'AutomaticMode', /tic101 is in Automatic/],
    [operator, 'Automatic', 'pv', 20, 403, 'automatic_mode', 'AutomaticMode', /tic101/],
    [operator, 'Manual', 'pv', 20, 403, 'read_only_tag', 'ReadOnlyTag', /can only be read/],
    [operator, 'Manual', 'sp', undefined, 400, 'missing_field', 'MissingField', /value/],
    [operator, 'Manual', 'sp', 'hot', 400, 'invalid_value', 'InvalidValue', /tic101\.sp is Float/],
    [operator, 'Manual', 'sp', 110.01, 400, 'out_of_range', 'OutOfRange', /110\.01 is outside 0 to 110 of tag tic101\.sp/],
    [operator, 'Semi-Automatic', 'sp', '-0.01', 400, 'out_of_range', 'OutOfRange', /outside 0 to 110/],
  ];
  for (const [who, mode, tag, value, status, code, reason, says] of refused) {
    await setMode('tic101', mode);
    for (const [way, write] of Object.entries(ways)) {
      const answer = await write(who, tag, value);
      const what = `${way}: ${tag} = ${String(value)} in ${mode} by ${who.username}`;
      t.equal(answer.code, way === 'frame' ? code : `${status} ${code}`, what);
      t.match(answer.said.error ?? answer.said.message, says, what);
      t.match(await newestWrite(), { action: 'Update', result: 'Rejected', reason, sourceIP: '127.0.0.1', target: { kind: 'Tag', name: `tic101.${tag}` } }, `${what} is on record`);
    }
  }
  await setMode('tic101', 'Manual');
  let value = 30;
  for (const [way, write] of Object.entries(ways)) {
    for (const bound of [0, 110, ++value]) {
      const answer = await write(operator, 'sp', bound);
      t.equal(answer.code, undefined, `${way}: ${bound}`);
      t.match(answer.said, { ok: true, message: 'tag tic101.sp was written' });
      t.match(await newestWrite(), { result: 'Success', after: bound, displayName: 'operator' }, way);
    }
    await test.until(`${way} wrote ${value}`, `${AT}/${SETPOINT}`, (tag) => tag.value === value);
  }
  t.match(await (sockets.get(operator) as SocketClient).ask({ type: 'write', requestId: 'r', site: SITE, unit: 'tic101', address: 'tic101.sp', value: 1 }), {
    type: 'error',
    code: 'not_found',
    requestId: 'r',
  });
});

t.test('MODE-01 MODE-02 MODE-04 MODE-05 MODE-08: a module goes from any mode to any other, on record, and keeps what was written', async (t) => {
  t.match((await viewer.get(`${AT}/controlmodules/xv101`)).body, { mode: 'Automatic' }, 'nobody has set it');
  let previousMode = 'Automatic';
  for (const mode of ['Semi-Automatic', 'Manual', 'Automatic', 'Manual', 'Semi-Automatic', 'Automatic', 'Automatic']) {
    const answer = await operator.post(`${AT}/mode`, { kind: 'ControlModule', name: 'xv101', mode });
    t.match(answer, { status: 200, body: { ok: true, kind: 'ControlModule', name: 'xv101', mode, previousMode } });
    t.match((await viewer.get(`${AT}/audit?category=mode&limit=1`)).body.items, [{ action: 'Update', result: 'Success', target: { name: 'xv101' }, after: { mode } }]);
    previousMode = mode;
  }
  t.match(await viewer.post(`${AT}/mode`, { kind: 'ControlModule', name: 'xv101', mode: 'Manual' }), { status: 403, body: { action: 'mode:set' } });
  await setpoint(44);
  await setMode('tic101', 'Automatic');
  const { timestamp } = (await viewer.get(`${AT}/${SETPOINT}`)).body;
  const later = await test.until('more scans have been', `${AT}/${SETPOINT}`, (tag) => Date.parse(tag.timestamp) > Date.parse(timestamp) + 300);
  t.match(later, { value: 44, quality: 'Good' });
});

const HIGH = { sourceKind: 'ControlModule', sourceName: 'tic101', conditionType: 'TagHigh', tagName: 'sp', threshold: '80', deadband: '2', message: 'setpoint too high' };

function untilAlarm(definition: string, state: string): Promise<Received> {
  return test.until(`an alarm of ${definition} is ${state}`, `${AT}/alarms?definition=${definition}&state=${state}`, (alarms) => alarms.length === 1).then(([alarm]) => alarm);
}

t.test('ALARM-08 ALARM-12 ALARM-16 ALARM-20 ALARM-25 ALARM-26: two operators acknowledge at once: both are recorded, one verdict is Success', async (t) => {
  await setpoint(20);
  await did(engineer.post(`${AT}/alarmdefinitions`, { ...HIGH, name: 'both' }), 201);
  await setpoint(90);
  const { name } = await untilAlarm('both', 'ActiveUnacknowledged');
  t.match(await operator.post(`${AT}/alarms/${name}/shelve`, { duration: '1m' }), { status: 409, body: { code: 'not_active_acknowledged' } });
  t.match(await viewer.post(`${AT}/alarms/${name}/acknowledge`), { status: 403 });
  const answers = await Promise.all([operator, second].map((who) => who.post(`${AT}/alarms/${name}/acknowledge`, { comment: `seen by ${who.username}` })));
  for (const { status, body } of answers) t.match({ status, body }, { status: 200, body: { ok: true, name, shelved: false, shelvedUntil: '' } });
  const records = await Promise.all(
    answers.map(({ headers }) => test.until('the verdict is there', `${AT}/audit/correlation/${headers['x-correlation-id']}`, (trail) => trail.length === 2)),
  );
  for (const [index, [dispatch]] of records.entries())
    t.match(dispatch, { action: 'Acknowledge', result: 'Accepted', displayName: ['operator', 'operator viewer'][index], actorType: 'human' });
  const verdicts = records.map(([, verdict]) => verdict);
  t.ok(verdicts.every(({ component, actorType }) => component === 'alarm-controller' && actorType === 'component'));
  t.same(verdicts.map(({ result }) => result).sort(), ['Rejected', 'Success']);
  t.equal(verdicts.find(({ result }) => result === 'Rejected').rule, 'already-acknowledged');
  const { acknowledgedBy } = await untilAlarm('both', 'ActiveAcknowledged');
  t.equal(acknowledgedBy, verdicts.find(({ result }) => result === 'Success').details.requestedBy);
  await setpoint(20);
  await untilAlarm('both', 'ClearedAcknowledged');
});

t.test('ALARM-05 ALARM-07 ALARM-23 ADEF-12 ADEF-17 ADEF-19: a definition is set on something else, then deleted, while its alarm stands', async (t) => {
  await did(engineer.post(`${AT}/alarmdefinitions`, { ...HIGH, name: 'wander' }), 201);
  await setpoint(90);
  const events = await openEvents(t, viewer, '?channel=alarms');
  await untilAlarm('wander', 'ActiveUnacknowledged');
  const elsewhere = { sourceName: 'li101', tagName: 'pv', conditionType: 'TagLow', threshold: '99', message: 'nearly empty', severity: 'Critical' };
  t.match(await engineer.put(`${AT}/alarmdefinitions/wander`, elsewhere), { status: 200, body: { ...elsewhere, armed: true } });
  const fresh = await untilAlarm('wander', 'ActiveUnacknowledged').then(() => test.until('the new alarm stands', `${AT}/alarms/wander-2`, (alarm) => alarm.name === 'wander-2'));
  t.match(fresh, { source: 'ControlModule/li101', conditionType: 'TagLow', setpoint: '99', message: 'nearly empty', severity: 'Critical', state: 'ActiveUnacknowledged' });
  t.match((await viewer.get(`${AT}/alarms/wander-1`)).body, {
    source: 'ControlModule/tic101',
    conditionType: 'TagHigh',
    setpoint: '80',
    value: '90',
    message: HIGH.message,
    state: 'ClearedUnacknowledged',
  });
  t.match((await viewer.get(`${AT}/alarmdefinitions/wander`)).body, { activeAlarmRef: 'wander-2' });
  const told: string[] = [];
  await frame(events, ({ data }) => {
    if (data?.name?.startsWith('wander-') && !told.includes(`${data.name} ${data.state}`)) told.push(`${data.name} ${data.state}`);
    return data?.name === 'wander-2';
  });
  t.same(told, ['wander-1 ActiveUnacknowledged', 'wander-1 ClearedUnacknowledged', 'wander-2 ActiveUnacknowledged']);
  t.match(await engineer.delete(`${AT}/alarmdefinitions/wander`), { status: 409, body: { code: 'alarm_unacknowledged' } });
  for (const name of ['wander-1', 'wander-2']) await did(operator.post(`${AT}/alarms/${name}/acknowledge`));
  await untilAlarm('wander', 'ActiveAcknowledged');
  await test.until('the old one is resolved', `${AT}/alarms/wander-1`, ({ state }) => state === 'ClearedAcknowledged');
  await did(engineer.delete(`${AT}/alarmdefinitions/wander`), 204);
  t.match((await viewer.get(`${AT}/alarms/wander-2`)).body, { state: 'ActiveAcknowledged', definitionRef: 'wander' }, 'an orphan, which nobody evaluates');
  t.match(await operator.delete(`${AT}/alarms/wander-2`), { status: 403, body: { action: 'alarm:delete' } });
  t.equal((await engineer.delete(`${AT}/alarms/wander-2`)).status, 204);
  t.equal((await viewer.get(`${AT}/alarms/wander-2`)).status, 404);
  await setpoint(20);
});

t.test(
  'STREAM-01 STREAM-02 STREAM-05 STREAM-07 WS-02 EVT-01 EVT-05 EVT-08 HEALTH-02 HEALTH-04: what the channels replay is what the routes answer, and tags go on coming',
  async (t) => {
    const socket = await openSocket(t, viewer);
    const seqs: number[] = [];
    const next = async (): Promise<Received> => {
      const received = await socket.next();
      seqs.push(received.seq);
      return received;
    };
    const snapshotOf = async (channel: string, count: number): Promise<Received[]> => {
      socket.send({ type: 'subscribe', id: channel, channel, filter: { site: SITE } });
      t.match(await next(), { type: 'subscribed', subscriptionId: channel, channel, filter: { site: SITE } });
      const frames: Received[] = [];
      while (frames.length < count) frames.push(await next());
      t.ok(
        frames.every(({ replay, subscriptionId, eventId, site }) => replay === true && subscriptionId === channel && Number.isInteger(eventId) && site === SITE),
        channel,
      );
      return frames;
    };
    const isKnown = ({ parentName, state }: Received): boolean => parentName !== 'mx101' || state === 'Running';
    const modules = await test.until('the modules of every unit are scanned', `${AT}/controlmodules`, (all) => all.every(isKnown));
    const health = await snapshotOf('cmhealth', modules.length);
    t.same(health.map(({ name, state }) => `${name} ${state}`).sort(), modules.map(({ name, state }: Received) => `${name} ${state}`).sort());
    const { units } = (await viewer.get(`${AT}/overview`)).body;
    const states = await snapshotOf('states', units.length);
    t.same(states.map(({ kind, name, state, mode }) => [kind, name, state, mode]).sort(), units.map(({ name, state, mode }: Received) => ['Unit', name, state, mode]).sort());
    const { modelRevision } = (await viewer.get(`${AT}/overview`)).body;
    const told = await openSocket(t, viewer); // what was engineered last is told within a second
    told.send({ type: 'subscribe', id: 'm', channel: 'model', filter: { site: SITE } });
    let model = await told.next();
    while (!(model.revision >= modelRevision)) model = await told.next(); // what changed meanwhile is told with it
    t.match(await snapshotOf('model', 1), [{ type: 'model', revision: model.revision, ts: TIME }]);
    const alarms = (await viewer.get(`${AT}/alarms`)).body;
    const replayed = await snapshotOf('alarms', alarms.length);
    t.same(replayed.map(({ name, state }) => `${name} ${state}`).sort(), alarms.map(({ name, state }: Received) => `${name} ${state}`).sort());
    socket.send({ type: 'subscribe', id: 't', channel: 'tags', filter: { site: SITE, unit: 'rx101', addressPattern: 'tic101.[ps][vp]' } });
    t.match(await next(), { type: 'subscribed', filter: { unit: 'rx101', addressPattern: 'tic101.[ps][vp]' } });
    const first = [await next(), await next()];
    t.same(first.map(({ address, replay }) => [address, replay]).sort(), [
      ['tic101.pv', true],
      ['tic101.sp', true],
    ]);
    const live = new Map<string, Received[]>();
    while ([...live.values()].filter((frames) => frames.length >= 5).length < 2) {
      const received = await next();
      t.equal(received.replay, undefined);
      live.set(received.address, [...(live.get(received.address) ?? []), received]);
    }
    for (const frames of live.values()) {
      t.ok(
        frames.every(({ eventId, ts }, n) => n === 0 || (eventId > frames[n - 1].eventId && Date.parse(ts) >= Date.parse(frames[n - 1].ts))),
        `${frames[0].address} comes again and again`,
      );
    }
    t.ok(Math.abs((live.get('tic101.pv') as Received[]).length - (live.get('tic101.sp') as Received[]).length) <= 1, 'each as often as the other, changed or not');
    t.same(
      seqs,
      seqs.map((_, n) => n + 1),
      'numbered from 1 without a hole',
    );
  },
);

t.test('STREAM-13 STREAM-15 STREAM-17 STREAM-19 STREAM-22 WS-16 WS-17 WS-23 SSE-09 SSE-10 SSE-11 SSE-16: rights and sessions end what they opened', async (t) => {
  const { key } = (await admin.post('/api/v1/mes/apikeys', { name: 'stream-key', site: SITE })).body;
  t.match(await refusal(SocketClient.open(url, key, { query: true })), { status: 403, body: { code: 'api_key_fence' } });
  t.match(await test.request('GET', `${AT}/events/sse`, { key }), { status: 403, body: { code: 'api_key_fence' } });
  t.match(await confined.get(`${AT}/events/sse`), { status: 403, body: { code: 'site_scope' } });
  const away = await openSocket(t, confined);
  t.match(await away.ask({ type: 'subscribe', id: 'a', channel: 'alarms', filter: { site: SITE } }), { type: 'error', code: 'site_scope', subscriptionId: 'a' });

  const username = 'mobile';
  const account = { username, password: PASSWORD, displayName: 'Mobile', groups: ['lineside-operator'], mustChangePassword: false };
  await did(admin.post('/api/v1/auth/users', account), 201);
  const mobile = await test.signIn(username);
  const socket = await openSocket(t, mobile);
  const write = { type: 'write', requestId: 'w', site: SITE, unit: 'rx101', address: 'tic101.sp', value: 20 };
  t.match(await socket.ask(write), { type: 'result', ok: true });
  t.match(await socket.ask({ type: 'subscribe', id: 'none', channel: 'tags', filter: { addressPattern: 'nothing' } }), { type: 'subscribed' });
  await did(admin.put(`/api/v1/auth/users/${username}`, { groups: ['lineside-viewer'] }));
  t.match(await socket.ask(write), { type: 'error', code: 'action_missing', action: 'tag:write', requestId: 'w' }, 'for the very next frame');
  await did(admin.put(`/api/v1/auth/users/${username}`, { groups: [] }));
  socket.send(write);
  t.match(await frame(socket, ({ subscriptionId }) => subscriptionId === 'none'), { type: 'error', code: 'action_missing', action: 'tag:read' });
  t.match(await mobile.get(`${AT}/events/sse?channel=cmhealth`), { status: 403, body: { code: 'action_missing' } });

  await did(admin.put(`/api/v1/auth/users/${username}`, { groups: ['lineside-viewer'] }));
  const ended = await openEvents(t, mobile, '?channel=cmhealth');
  await did(admin.delete(`/api/v1/auth/sessions/${mobile.sessionId}`), 204);
  t.same(await socket.closed, { code: 4001, reason: 'session ended: terminated by administrator' });
  const last = await frame(ended, ({ event }) => event === 'session-ended');
  t.match(last, { data: { type: 'session-ended', seq: Number, reason: 'session ended: terminated by administrator' } });
  t.equal(last.id, undefined);
  await ended.closed;
  t.match(await refusal(SocketClient.open(url, mobile.token)), { status: 401 });
  t.match(await mobile.get(`${AT}/events/sse`), { status: 401 });
});

t.test('AUTH-35 AUTH-36 WS-16 SSE-11: an action that the deployment denies is refused over every transport alike, and nothing else is', async (t) => {
  const gagged = await test.as('gagged');
  const socket = await openSocket(t, gagged);
  t.match(await gagged.post(`${AT}/${SETPOINT}`, { value: 20 }), { status: 403, body: { code: 'action_missing', action: 'tag:write' } });
  const write = { type: 'write', requestId: 'w', site: SITE, unit: 'rx101', address: 'tic101.sp', value: 20 };
  t.match(await socket.ask(write), { type: 'error', code: 'action_missing', action: 'tag:write', requestId: 'w' });
  t.match(await gagged.get(`${AT}/alarms`), { status: 403, body: { code: 'action_missing', action: 'alarm:list' } });
  t.match(await socket.ask({ type: 'subscribe', id: 'a', channel: 'alarms' }), { type: 'error', code: 'action_missing', action: 'alarm:list', subscriptionId: 'a' });
  t.match(await socket.ask({ type: 'unsubscribe', id: 'a' }), { type: 'error', code: 'not_found' }, 'nothing was registered');
  for (const query of ['', '?channel=tags,alarms']) t.match(await gagged.get(`${AT}/events/sse${query}`), { status: 403, body: { action: 'alarm:list' } }, 'refused whole');
  await openEvents(t, gagged, '?channel=tags,states,cmhealth');
  t.equal((await gagged.post(`${AT}/mode`, { kind: 'ControlModule', name: 'xv101', mode: 'Automatic' })).status, 200);
});

t.test('SSE-03 SSE-04 SSE-05 SSE-07 SSE-08 SSE-12 SSE-13: an event stream goes on where it was cut', async (t) => {
  const whole = await openEvents(t, viewer, '');
  const kinds = new Set<string>();
  while (kinds.size < 3) kinds.add((await whole.next()).event);
  t.same([...kinds].sort(), ['alarm', 'state', 'tag'], 'the channels of one that names none');
  whole.close();
  for (const query of ['?channel=', '?channel=news', '?channel=tags,']) t.match(await viewer.get(`${AT}/events/sse${query}`), { status: 400, body: { field: 'channel' } }, query);
  const known = (await viewer.get(`${AT}/alarms`)).body.length;
  t.ok(known >= 2);
  const first = await openEvents(t, viewer, '?channel=alarms');
  const snapshot = await first.take(known);
  const { id } = snapshot.at(-1) as Received;
  t.match(id, /^[0-9a-f]{12}-\d+$/);
  first.close();
  const [instance, point] = String(id).split('-');
  await setpoint(90);
  const changed = await untilAlarm('both', 'ActiveUnacknowledged');
  const resumed = await openEvents(t, viewer, '?channel=alarms', { 'Last-Event-ID': String(id) });
  t.match(await resumed.next(), { event: 'alarm', data: { name: changed.name, state: 'ActiveUnacknowledged', replay: true, seq: 1 } });
  await did(operator.post(`${AT}/alarms/${changed.name}/acknowledge`));
  t.match(await resumed.next(), { data: { name: changed.name, state: 'ActiveAcknowledged', seq: 2 } }, 'nothing else was replayed: the next is live');
  resumed.close();
  const now = (await viewer.get(`${AT}/alarms`)).body.length;
  for (const strange of [`${instance}-0`, `${instance}-${Number(point) + 1_000_000_000}`, `0123456789ab-${point}`, `${instance}-x`, 'garbage', `${instance}-9${'9'.repeat(30)}`]) {
    const again = await openEvents(t, viewer, '?channel=alarms', { 'Last-Event-ID': strange });
    const frames = await again.take(now);
    t.ok(
      frames.every(({ data }) => data.replay === true),
      `${strange} gets everything`,
    );
    again.close();
  }
  await setpoint(20);
  await eventually('its streams are gone', async () => {
    const sessions = (await admin.get('/api/v1/auth/sessions')).body as { username: string; streams: number }[];
    return sessions.find((session) => session.username === viewer.username)?.streams === 0;
  });
});

t.test('AUTH-07 AUTH-17 AUTH-19 AUTH-32 AUTH-33 GEN-15: who may do what is the same in the policy, in `me` and at the routes of tags and keys', async (t) => {
  const rank = ['read', 'operate', 'operate-lead', 'engineer', 'supervise', 'admin'];
  const { actions } = (await admin.get('/api/v1/auth/policy')).body as {
    actions: { action: string; tier: string; groups: string[]; routes: { method: string; path: string }[] }[];
  };
  const may = async (who: Client): Promise<string[]> => (await who.get('/api/v1/auth/me')).body.actions;
  for (const [who, tier] of [
    [viewer, 'read'],
    [operator, 'operate'],
    [engineer, 'engineer'],
  ] as const)
    t.same(
      await may(who),
      actions
        .filter((entry) => rank.includes(entry.tier) && rank.indexOf(entry.tier) <= rank.indexOf(tier))
        .map(({ action }) => action)
        .sort(),
      `${tier} and what lies below it, nothing else`,
    );
  const heldBy = (group: string): string[] => actions.filter(({ groups }) => groups.includes(group)).map(({ action }) => action);
  t.same(heldBy('lineside-operator'), await may(operator), 'the policy tells the groups that hold each action');
  const all = await may(admin);
  t.same(
    actions.filter(({ action, tier }) => tier !== 'none' && tier !== 'self' && !all.includes(action)),
    [],
    'an administrator holds every permission, those outside the tiers too',
  );
  for (const [action, tier] of Object.entries({ 'tag:read': 'read', 'tag:browse': 'read', 'tag:write': 'operate', 'command:send': 'operate' }))
    t.equal(actions.find((entry) => entry.action === action)?.tier, tier, action);
  const routes = actions.flatMap((entry) => entry.routes.map(({ method, path }) => `${method} ${path}`));
  t.equal(new Set(routes).size, routes.length, 'AUTH-13: a route has one action');
  for (const who of [engineer, await test.as('supervisor')]) {
    t.match(await who.get('/api/v1/mes/apikeys'), { status: 403, body: { action: 'apikey:list' } });
    t.match(await who.post('/api/v1/mes/apikeys', { name: 'mine', site: SITE }), { status: 403, body: { action: 'apikey:create' } });
    t.match(await who.delete('/api/v1/mes/apikeys/mine'), { status: 403, body: { action: 'apikey:delete' } });
  }
});

t.test('KEY-02 KEY-03 KEY-05 KEY-06 KEY-07 AUTH-07: a key is told once, opens the MES routes of its site, and nothing after it was revoked', async (t) => {
  const keys = '/api/v1/mes/apikeys';
  const orders = `/api/v1/mes/sites/${SITE}/work-orders`;
  const made = await admin.post(keys, { name: 'once', site: SITE });
  t.match(made, { status: 201, body: { name: 'once', site: SITE, key: String } });
  for (const path of [keys, `${keys}/once`, '/api/v1/audit?limit=50', '/api/v1/search?q=once']) {
    const { status, text } = await admin.get(path);
    t.equal(status, 200);
    t.notOk(text.includes(made.body.key), path);
  }
  t.match(await admin.post(keys, { name: 'once', site: SITE }), { status: 409 }, 'asking again does not tell it');
  const { key } = made.body;
  t.equal((await test.request('GET', orders, { key })).status, 200);
  t.match(await test.request('GET', orders.replace(SITE, 'south'), { key }), { status: 403 });
  t.equal((await test.request('GET', orders, { token: key })).status, 401, 'a key is no bearer token');
  t.equal((await admin.delete(`${keys}/once`)).status, 204);
  t.equal((await test.request('GET', orders, { key })).status, 401);
});

t.test('GEN-03 NONCE-13 ERR-17 ERR-18 LIMIT-06: frames carry no nonce and may repeat; tags come every 200 ms on both transports', async (t) => {
  const socket = await openSocket(t, operator);
  await setMode('tic101', 'Manual');
  const write = { type: 'write', requestId: 'same', site: SITE, unit: 'rx101', address: 'tic101.sp', value: 20 };
  for (let turn = 0; turn < 3; turn++) t.match(await socket.ask(write), { type: 'result', requestId: 'same', ok: true });
  t.match(await socket.ask({ ...write, address: 'tic101.pv' }), { type: 'error', code: 'read_only_tag', requestId: 'same' }, 'a refusal of the gateway is an error frame');
  const FRAMES = 12;
  const times = async (next: () => Promise<Received>): Promise<number[]> => {
    const all: number[] = [];
    while (all.length < FRAMES) {
      const { type, data = {}, address = data.address, replay = data.replay } = await next();
      if ((type ?? data.type) === 'tag' && address === 'tic101.sp' && replay !== true) all.push(performance.now());
    }
    return all;
  };
  const askedAt = performance.now();
  socket.send({ type: 'subscribe', id: 'period', channel: 'tags', filter: { site: SITE, unit: 'rx101', addressPattern: 'tic101.sp' } });
  const events = await openEvents(t, viewer, '?channel=tags&unit=rx101');
  // what came while somebody else had the processor is read at once: the whole of it is never quicker, and a loaded machine is slower
  for (const all of await Promise.all([times(() => socket.next()), times(() => events.next())])) {
    const tookMs = (all.at(-1) as number) - askedAt;
    t.ok(tookMs > (FRAMES - 1) * 180, `${FRAMES} frames in ${tookMs} ms`);
    const quickestMs = Math.min(...all.slice(1).map((time, at) => time - (all[at] as number)));
    t.ok(quickestMs < 400, `${quickestMs} ms between two of them`);
  }
});

t.test('LIMIT-05 STREAM-24: the eleventh stream of one address is refused, whatever the ten are', async (t) => {
  const open: { close(): void }[] = [];
  let refused: Received | undefined;
  while (refused === undefined && open.length < 12) {
    const one =
      open.length % 2 === 0 ? SocketClient.open(url, viewer.token) : EventClient.open(url, `${AT}/events/sse?channel=cmhealth`, { Authorization: `Bearer ${viewer.token}` });
    await one.then(
      (stream) => open.push(stream),
      (fault) => (refused = fault),
    );
  }
  t.match(refused, { status: 429, body: { code: 'too_many_streams', limit: 10 } });
  t.ok(open.length <= 10);
  for (const stream of open) stream.close();
});

t.test('GEN-16 GEN-17: the gateway is the only door: the process listens on its port and nowhere else', { skip: process.platform !== 'linux' }, async (t) => {
  const inodes = new Set(
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1] ?? [];
      } catch {
        return []; // closed in the meantime
      }
    }),
  );
  const listening = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/self/net/${table}`, 'latin1')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((columns) => columns[3] === '0A' && inodes.has(columns[9] ?? '')) // 0A: TCP_LISTEN
      .map((columns) => Number.parseInt(columns[1]?.split(':')[1] ?? '', 16)),
  );
  t.same([...new Set(listening)], [test.port]);
});
