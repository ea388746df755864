/** Probes of a whole box against a device of another maker: what they count, how they are restarted, what they sign in with, and fail-safe values. */
import { existsSync } from 'node:fs';
import t from 'tap';
import { ModbusPeer } from '../drivers/modbus-peer.js';
import type { ApiAnswer } from '../support/api-client.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { manifest } from '../support/manifest.js';
import { startPlant } from '../support/plant.js';
import { NORTH } from '../support/shared-device.js';

const peer = await ModbusPeer.start();
const wires = await Promise.all([FaultProxy.start(() => peer.port), FaultProxy.start(() => peer.port)]);
const [wireA, wireB] = wires as [FaultProxy, FaultProxy];
const box = await startPlant({ production: true });
t.teardown(async () => {
  await box.end();
  await Promise.all(wires.map((wire) => wire.stop()));
  await peer.kill();
});

const IO = `${NORTH}/iomodules`;
const RESTART = '/api/v1/system/services/io/restart';
const REASON = 'asked for by the suite';
const options = { pollInterval: '50ms', timeout: '300ms', retries: 0 };
/** A machine at work is no silent device: there is time enough for every answer, and nobody is away but by the hand of the test. */
const PATIENT = { options: { ...options, timeout: '2500ms' } };
const device = (wire: FaultProxy, more: object = {}) => ({
  protocol: 'modbus',
  address: `127.0.0.1:${wire.port}`,
  options,
  channels: [
    { name: 'level', address: 'holding:11' },
    { name: 'nowhere', address: 'holding:40000' },
    { name: 'valve', address: 'coil:1', direction: 'output' },
  ],
  ...more,
});
const plant = [
  manifest('Site', 'north', {}, {}),
  manifest('Area', 'hall', {}),
  manifest('ProcessCell', 'cell', { areaName: 'hall' }),
  manifest('Unit', 'u1', { processCellName: 'cell' }),
  manifest('PhaseTemplate', 'endless', { steps: [{ name: 'wait', initial: true }, { name: 'end' }], transitions: [{ from: 'wait', to: 'end', conditionST: 'FALSE' }] }),
  manifest('ControlModuleTemplate', 'opener', { blocks: [{ name: 'valve', type: 'DO', params: { addr: 'b:coil:1', IN: true } }] }, {}),
  manifest('ControlModule', 'xv1', { parentKind: 'Unit', parentName: 'u1', templateRef: 'opener' }),
  manifest('IOModule', 'a', device(wireA, PATIENT)),
  manifest(
    'IOModule',
    'b',
    device(wireB, { failSafe: { posture: 'supervisory', timeout: '2s', outputs: [{ channel: 'valve', value: false }] }, security: { secretRef: { name: 'plc-b' } } }),
  ),
];

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
const counted = async (name: string): Promise<any> => (await box.api.get(`${IO}/${name}/statistics`)).body.counted;

/** Until the counts of a module are so. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
const until = (what: string, name: string, isSo: (counts: any) => boolean): Promise<any> =>
  box.look(what, async () => {
    const counts = await counted(name);
    return { done: counts && isSo(counts) ? counts : undefined, seen: JSON.stringify(counts) };
  });

const connected = (name: string): Promise<unknown> =>
  box.look(`${name} is served`, async () => {
    const { state, message } = (await box.api.get(`${IO}/${name}`)).body;
    return { done: ['Connected', 'Degraded'].includes(state) || undefined, seen: `${state}: ${message}` };
  });

const audits = async (answer: ApiAnswer, count: number): Promise<{ result: string; actor: { kind: string }; details: object }[]> => {
  const id = answer.headers.get('x-correlation-id');
  return box.look('the records', async () => {
    const { body } = await box.api.get(`/api/v1/audit?correlationID=${id}&order=asc`);
    return { done: body.items?.length >= count ? body.items : undefined, seen: JSON.stringify(body) };
  });
};

t.before(async () => {
  const made = await box.api.post('/api/v1/apply', plant);
  if (made.status !== 200) throw new Error(made.text);
  await Promise.all(['a', 'b'].map(connected));
});

t.test('ADR 0076: polls and round trips are counted, a refused channel by itself, and a silent and a lost device by what they are', async (t) => {
  const quiet = await until('it is polled', 'a', ({ polls, errors }) => polls >= 5 && errors.refused >= 5);
  t.match(quiet, { since: /Z$/, reconnects: 0, errors: { silent: 0, lost: 0, malformed: 0 } });
  const [level, nowhere, valve] = quiet.channels;
  t.match(level, { channel: 'level', address: 'holding:11', direction: 'input', errors: { silent: 0, refused: 0, lost: 0, malformed: 0 } });
  t.ok(level.lastGoodAgeMs >= 0);
  t.match(nowhere, { channel: 'nowhere', lastGoodAgeMs: null });
  t.ok(nowhere.errors.refused >= 5 && quiet.errors.refused >= 5, 'the device refuses an address that it has not');
  t.match(valve, { channel: 'valve', direction: 'output', lastGoodAgeMs: null, errors: { refused: 0 } });
  const { meanMs, maxMs, buckets } = quiet.roundTrip;
  t.ok(meanMs > 0 && maxMs >= meanMs);
  t.same(
    buckets.map(({ upToMs }: { upToMs: number | null }) => upToMs),
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, null],
  );
  t.equal(
    buckets.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
    quiet.polls,
    'every poll was answered',
  );

  wireA.mode = 'half-open';
  // the poll that is under way may have had the answer for its first channel
  const silent = await until('it is silent, and a poll that hangs is late', 'a', ({ channels: [first], latePolls }) => first.errors.silent > 0 && latePolls > 0);
  t.ok(silent.errors.silent > 0);
  wireA.mode = 'pass';
  const back = await until('it is back', 'a', ({ reconnects, channels }) => reconnects > 0 && channels[0].lastGoodAgeMs !== null && channels[0].lastGoodAgeMs < 1000);
  wireA.reset();
  const lost = await until('it was lost', 'a', ({ reconnects }) => reconnects > back.reconnects);
  t.ok(lost.polls > quiet.polls, 'what was counted goes on over a lost connection');
  t.equal(lost.since, quiet.since);
  const answer = await box.api.get(`${IO}/a/statistics`);
  t.match(answer.body, { ioModule: 'a', measured: true, reason: '' }, answer.text);
});

t.test('D-IO-02: a module whose device is away says when it is tried again, and discovery tries at once', async (t) => {
  wireA.refuse(true);
  wireA.reset();
  // the back-off has grown: the next attempt is far off
  await box.look('it is away', async () => {
    const { state, connectivity } = (await box.api.get(`${IO}/a`)).body;
    const { nextAttemptAt = '' } = connectivity;
    return { done: (state === 'Disconnected' && Date.parse(nextAttemptAt) - Date.now() > 3000) || undefined, seen: `${state} ${nextAttemptAt}` };
  });
  const refused = await box.api.post(`${IO}/a/discover`, {});
  t.match(refused, { status: 503, body: { code: 'device_unreachable', error: /cannot be asked: ./ } }, refused.text);
  wireA.refuse(false);
  t.match(await box.api.post(`${IO}/a/discover`, {}), { status: 200, body: { ioModule: 'a' } });
  await connected('a');
  t.notOk('nextAttemptAt' in (await box.api.get(`${IO}/a`)).body.connectivity);
  t.notOk('nextAttemptAt' in (await box.api.get(`${IO}/b`)).body.connectivity);
});

t.test('ADR 0075, IO-06: a rotated secret connects the module that names it anew, and no other', async (t) => {
  t.match((await box.api.get(`${IO}/b`)).body, { credentials: 'unresolved' });
  const [others, before] = [wireA.accepted, wireB.accepted];
  const set = (password: string) => box.api.put(`${NORTH}/secrets/plc-b`, { username: 'line', password });
  t.match(await set('first-of-b'), { status: 200, body: { usedBy: ['b'] } });
  await box.look('it has connected anew', async () => ({ done: wireB.accepted > before || undefined, seen: String(wireB.accepted) }));
  t.match((await box.api.get(`${IO}/b`)).body, { credentials: 'secret', security: { secretRef: { name: 'plc-b' } } });
  const once = wireB.accepted;
  await set('second-of-b');
  await box.look('and again', async () => ({ done: wireB.accepted > once || undefined, seen: String(wireB.accepted) }));
  await connected('b');
  t.equal(wireA.accepted, others, 'the other one was left alone');
  const told = [await box.api.get(`${IO}/b`), await box.api.get('/api/v1/audit?limit=1000'), await box.api.get('/api/v1/export'), await box.api.get('/api/v1/backup/crds')];
  for (const { text } of told) t.notOk(/(first|second)-of-b/.test(text));
});

t.test('IO-15, IO-16: the probe is restarted for those who have seen what may go to fail-safe values', async (t) => {
  const restart = `${IO}/a/ioprobe/restart`;
  t.match(await box.api.post(restart, { reason: REASON }), {
    status: 409,
    body: { code: 'fail_safe_not_acknowledged', error: /b after 2s/, failSafeArmed: [{ ioModule: 'b', timeout: '2s', outputs: [{ channel: 'valve', value: false }] }] },
  });
  const { since } = await counted('a');
  const answer = await box.api.post(restart, { reason: REASON, acknowledgeFailSafe: true });
  t.match(answer, { status: 200, body: { ioModule: 'a', pod: /^probe-/, servedModules: ['a', 'b'], failSafeArmed: [{ ioModule: 'b' }], status: 'Restarting' } });
  const next = await until('another probe counts', 'a', (counts) => counts.since !== since && counts.polls > 0);
  t.equal(next.reconnects, 0);
  t.same(
    (await audits(answer, 2)).map(({ result }) => result),
    ['Accepted', 'Success'],
  );
});

t.test('Q-CHANGE-13, ROUTE-07: the component io is restarted probe by probe, not over the head of a batch, and on record', async (t) => {
  t.match(await box.api.post(RESTART, { reason: 'short' }), { status: 400, body: { code: 'reason_too_short' } });
  t.match(await box.api.post('/api/v1/system/services/nobody/restart', { reason: REASON }), { status: 404 });
  t.match(await box.api.post('/api/v1/system/services/historian/restart', { reason: REASON }), { status: 409, body: { code: 'not_restartable' } });
  t.match(await box.api.post(RESTART, { reason: REASON }), { status: 409, body: { code: 'fail_safe_not_acknowledged', failSafeArmed: [{ ioModule: 'b' }] } });
  await box.look('the unit is scanned', async () => {
    const { runtimeReady } = (await box.api.get(`${NORTH}/units/u1`)).body;
    return { done: runtimeReady || undefined, seen: String(runtimeReady) };
  });
  const launched = await box.api.post(`${NORTH}/units/u1/execute-phase`, { phaseTemplateRef: 'endless' });
  t.equal(launched.status, 201, launched.text);
  t.match(await box.api.post(RESTART, { reason: REASON, acknowledgeFailSafe: true }), { status: 409, body: { code: 'active_batch', unit: 'u1' } });
  await box.look('it runs', async () => {
    const { state } = (await box.api.get(`${NORTH}/phases/${launched.body.name}`)).body;
    return { done: state === 'Running' || undefined, seen: state };
  });
  const aborted = await box.api.post(`${NORTH}/command`, { kind: 'Phase', name: launched.body.name, command: 'Abort', reason: REASON });
  t.equal(aborted.status, 200, aborted.text);
  await box.look('the unit is free', async () => {
    const { allocatedTo, state } = (await box.api.get(`${NORTH}/units/u1`)).body;
    const { state: phase } = (await box.api.get(`${NORTH}/phases/${launched.body.name}`)).body;
    return { done: (phase === 'Aborted' && allocatedTo === '') || undefined, seen: `${phase} ${state} ${allocatedTo}` };
  });

  await connected('a');
  const { since } = await counted('a');
  const answer = await box.api.post(RESTART, { reason: REASON, acknowledgeFailSafe: true });
  t.match(answer, { status: 200, body: { component: 'io', status: 'Restarting', at: /Z$/ } }, answer.text);
  t.match(await box.api.post(RESTART, { reason: REASON, acknowledgeFailSafe: true }), { status: 409, body: { code: 'already_running' } });
  await until('another probe counts', 'a', (counts) => counts.since !== since && counts.polls > 0);
  const [accepted, done] = await audits(answer, 2);
  t.match(accepted, { result: 'Accepted', operatorReason: REASON, target: { kind: 'Component', name: 'io' }, details: { servedModules: ['north/a', 'north/b'] } });
  t.match(done, { result: 'Success', details: { restarted: ['north/shared'], notBack: [] } });
});

t.test('decisions 7.6: when nothing scans the unit any more, its probe writes the fail-safe values, one that was restarted meanwhile too', async (t) => {
  const valve = async (): Promise<boolean> => (await box.api.post(`${IO}/a/read`, { channel: 'valve' })).body.value;
  await Promise.all(['a', 'b'].map(connected));
  await box.look('its network opens the valve', async () => ({ done: (await valve()) || undefined, seen: 'it is closed' }));
  t.match(await box.api.put(`${NORTH}/units/u1`, { processCellName: '' }), { status: 200 });
  await box.look('the valve is closed', async () => {
    const isOpen = await valve();
    const [module, unit] = [(await box.api.get(`${IO}/b`)).body, (await box.api.get(`${NORTH}/units/u1`)).body];
    return { done: isOpen ? undefined : { closed: true }, seen: `it is open; b is ${module.state}: ${module.message}; u1 ${unit.runtimeReady ? 'scans' : unit.runtimeMessage}` };
  });
  t.match((await box.api.get(`${IO}/b`)).body, { state: 'Degraded', message: /fail-safe values written/ });
  t.match(
    (await box.api.get(`${IO}/b`)).body.conditions.find(({ type }: { type: string }) => type === 'FailSafeArmed'),
    { status: 'True', reason: 'Taken' },
  );
});

t.test(
  'decisions 7.3: a serial line is read and written by the thread of a probe',
  { skip: existsSync('/dev/pts/ptmx') ? false : 'this machine has no pseudo terminals (/dev/pts)' },
  async (t) => {
    const serial = await ModbusPeer.start(0, 'serial');
    t.teardown(() => serial.kill());
    const line = { protocol: 'modbus', address: `rtu://${serial.place}?baud=19200&parity=none`, options: { ...options, timeout: '1s' } };
    const channels = [
      { name: 'level', address: 'holding:11' },
      { name: 'valve', address: 'coil:1', direction: 'output' },
    ];
    t.equal((await box.api.post('/api/v1/apply', [manifest('IOModule', 'line', { ...line, channels })])).status, 200);
    await connected('line');
    t.match((await box.api.get(`${IO}/line/tags/level`)).body, { quality: 'Good', value: 65000 });
    t.match((await box.api.post(`${IO}/line/write`, { channel: 'valve', value: true })).status, 200);
  },
);
