import t from 'tap';
import { Refusal } from '../../../src/platform/base/refusal.js';
import { startPlant, type PlantOptions } from '../../domains/tags/plant.js';
import { refusal, SocketClient } from './clients.js';
import { person, type Received, ScriptedClock, tagSource, tagsNamed } from './scripted.js';
import type { Caller } from '../../../src/platform/http/caller.js';
import { at } from '../../support/at.js';

async function gateway(t: Tap.Test, options: PlantOptions = {}) {
  const clock = new ScriptedClock();
  const plant = await startPlant({ clock, ...options });
  const clients: SocketClient[] = [];
  t.teardown(async () => {
    for (const client of clients) client.close();
    await plant.stop();
  });
  const open = async (token?: string, more?: { readonly query?: boolean; readonly autoPong?: boolean }) => {
    const client = await SocketClient.open(plant.url, token, more);
    clients.push(client);
    return client;
  };
  return { clock, plant, open };
}

declare namespace Tap {
  type Test = { teardown(call: () => unknown): void };
}

/** A client that has stopped reading; the kernel takes some megabytes first, then 256 frames wait and the rest is shed. */
async function stalled(t: Tap.Test, shedMin: number) {
  const { clock, plant, open } = await gateway(t);
  plant.hub.start();
  plant.link.set('v101.text', 'x'.repeat(100_000));
  const client = await open();
  await client.ask({ type: 'subscribe', id: 'a', channel: 'tags' });
  await client.take(16);
  client.socket.pause();
  for (let period = 0; period < 250 && plant.hub.shedTotal < shedMin; period += 1) {
    clock.advance(200);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return { clock, plant, client };
}

/** Waits until the server has noticed that a connection is gone, without a clock. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise<void>((resolve) => setImmediate(resolve));
}

t.test('WS-01 WS-02 EVT-01 EVT-05 STREAM-07: subscribe, snapshot and live tags over a real socket', async (t) => {
  const { clock, plant, open } = await gateway(t);
  plant.hub.start();
  const client = await open();
  client.send({ type: 'subscribe', id: 'mine', channel: 'tags', filter: { site: 'north', unit: 'rx101', addressPattern: 'v101.*' } });
  t.match(await client.next(), { type: 'subscribed', seq: 1, subscriptionId: 'mine', channel: 'tags', filter: { site: 'north', unit: 'rx101', addressPattern: 'v101.*' } });
  const snapshot = await client.take(6);
  t.ok(snapshot.every(({ replay, type }) => replay === true && type === 'tag'));
  t.match(
    snapshot.find(({ address }) => address === 'v101.sp'),
    { value: 20, quality: 'Good', ts: '2026-01-31T00:00:00.000Z' },
  );
  plant.link.set('v101.sp', 21);
  clock.advance(200);
  const live = await client.take(6);
  t.match(
    live.find(({ address }) => address === 'v101.sp'),
    { value: 21, site: 'north', unit: 'rx101' },
  );
  t.same(
    live.map(({ seq }) => seq),
    [8, 9, 10, 11, 12, 13],
  );
});

t.test('STREAM-15 STREAM-16 STREAM-17: token by header or query; no token, a bad one and an API key are refused before the upgrade', async (t) => {
  const { plant, open } = await gateway(t);
  await open('all', { query: true });
  t.match(await refusal(open('nobody')), { status: 401 });
  t.match(await refusal(open('lsk_key')), { status: 403, body: { code: 'api_key_fence' } });
  t.match(await refusal(open('lsk_key', { query: true })), { status: 403, body: { code: 'api_key_fence' } });
  t.match(await plant.request('GET', '/api/v1/ws'), { status: 400, body: { code: 'upgrade_required' } });
});

t.test('STREAM-24: the eleventh stream of one source is refused with 429, and room is made by closing one', async (t) => {
  const { plant, open } = await gateway(t, { perSourceMax: 3 });
  const first = await open();
  await open();
  await open();
  t.match(await refusal(open()), { status: 429, body: { code: 'too_many_streams', limit: 3 } });
  first.close();
  await until(() => plant.hub.connectionCount === 2);
  await open();
});

t.test('WS-03 WS-04 WS-06 WS-17 WS-18 WS-19 WS-22 STREAM-12: write frames', async (t) => {
  const { plant, open } = await gateway(t);
  const client = await open();
  const write = (address: string, value: unknown, more: object = {}) => client.ask({ type: 'write', requestId: 'r1', site: 'north', unit: 'rx101', address, value, ...more });
  t.match(await write('v101.sp', 33), { type: 'result', seq: 1, requestId: 'r1', ok: true, message: 'written' });
  t.match(
    plant.audits.map(({ result }) => result),
    ['Accepted', 'Success'],
  );
  t.equal(at(plant.audits, 0).sourceIP, '127.0.0.1');
  t.equal(plant.sessions.touched, 1, 'a write frame is activity');
  const rows: [Promise<Received> | (() => Promise<Received>), object, string][] = [
    [() => write('v102.sp', 1), { type: 'error', code: 'automatic_mode', requestId: 'r1' }, 'AutomaticMode'],
    [() => write('v101.pv', 1), { type: 'error', code: 'read_only_tag' }, 'ReadOnlyTag'],
    [() => write('v101.sp', 121), { type: 'error', code: 'out_of_range', tag: 'v101.sp', engMin: 0, engMax: 120 }, 'OutOfRange'],
    [() => write('v101.sp', 'hot'), { type: 'error', code: 'invalid_value' }, 'InvalidValue'],
    [() => write('v101.nope', 1), { type: 'error', code: 'unknown_tag' }, 'UnknownTag'],
    [() => write('v101.sp', 1, { unit: 'v101' }), { type: 'error', code: 'not_found' }, 'NotFound'],
    [() => write('v101.sp', 1, { site: 'nowhere' }), { type: 'error', code: 'not_found' }, 'NotFound'],
  ];
  for (const [ask, expected, reason] of rows) {
    plant.audits.length = 0;
    t.match(await (ask as () => Promise<Received>)(), expected, reason);
    t.match(plant.audits, [{ result: 'Rejected', reason, category: 'tag-write', action: 'Update' }], `${reason} is on record before the frame`);
  }
  plant.link.answer = { ok: false, code: 'write_failed', message: 'the device said no' };
  t.match(await write('v101.sp', 1), { type: 'result', ok: false, message: 'the device said no', requestId: 'r1' });
  plant.link.ready = false;
  t.match(await write('v101.sp', 1), { type: 'result', ok: false, message: /not reachable/ });
  t.match(plant.audits.at(-1), { result: 'Failed', reason: 'RuntimeUnreachable' });
});

t.test('WS-17 TAG-22: a caller without the action or the site gets an error frame, on record', async (t) => {
  const { plant, open } = await gateway(t);
  const frame = { type: 'write', requestId: 'r', site: 'north', unit: 'rx101', address: 'v101.sp', value: 1 };
  t.match(await (await open('reader')).ask(frame), { type: 'error', code: 'action_missing', action: 'tag:write', requestId: 'r' });
  t.match(await (await open('south')).ask(frame), { type: 'error', code: 'site_scope', requestId: 'r' });
  t.match(
    plant.audits.map(({ reason, result }) => [reason, result]),
    [
      ['ActionMissing', 'Rejected'],
      ['SiteScope', 'Rejected'],
    ],
  );
  t.same(plant.link.written, []);
});

t.test('WS-05 WS-20 WS-21: command frames go to the commands domain with reason, its refusals come back as error frames', async (t) => {
  const seen: unknown[] = [];
  const { open } = await gateway(t, {
    frames: {
      command: async (frame, caller, sourceIP) => {
        seen.push([frame, caller.accountId, sourceIP]);
        if (frame.command === 'Abort') throw new Refusal('invalid', 'reason must be at least 10 characters', { code: 'reason_too_short', field: 'reason', minLength: 10 });
        return { ok: true, message: 'Hold recorded' };
      },
    },
  });
  const client = await open();
  t.match(await client.ask({ type: 'command', requestId: 'c1', site: 'north', kind: 'Batch', name: 'b-1', command: 'Hold', reason: 'pump is leaking' }), {
    type: 'result',
    requestId: 'c1',
    ok: true,
    message: 'Hold recorded',
  });
  t.match(await client.ask({ type: 'command', requestId: 'c1', site: 'north', kind: 'Batch', name: 'b-1', command: 'Abort' }), {
    type: 'error',
    requestId: 'c1',
    code: 'reason_too_short',
    minLength: 10,
  });
  t.match(seen[0], [{ site: 'north', kind: 'Batch', name: 'b-1', command: 'Hold', reason: 'pump is leaking' }, 'a1', '127.0.0.1']);
  t.match(await client.ask({ type: 'command', requestId: 'c1', site: 'north', kind: 'Batch', command: 'Hold' }), {
    type: 'error',
    code: 'missing_field',
    field: 'name',
    requestId: 'c1',
  });
});

t.test('WS-12 WS-13 WS-16 STREAM-11: what is wrong with a frame gets an error frame, and the connection stays', async (t) => {
  const { plant, open } = await gateway(t);
  const client = await open('reader');
  const rows: [unknown, object][] = [
    ['{', { code: 'malformed_frame' }],
    ['[]', { code: 'malformed_frame' }],
    ['7', { code: 'malformed_frame' }],
    [{ id: 'x' }, { code: 'malformed_frame' }],
    [{ type: 'shout' }, { code: 'unknown_type' }],
    [
      { type: 'subscribe', id: 'a', channel: 'news' },
      { code: 'unknown_channel', subscriptionId: 'a' },
    ],
    [
      { type: 'subscribe', channel: 'tags' },
      { code: 'invalid_field', field: 'id' },
    ],
    [
      { type: 'subscribe', id: '', channel: 'tags' },
      { code: 'invalid_field', field: 'id' },
    ],
    [
      { type: 'subscribe', id: 'x'.repeat(65), channel: 'tags' },
      { code: 'invalid_field', field: 'id' },
    ],
    [
      { type: 'subscribe', id: 'a', channel: 'tags', filter: { pattern: 'x' } },
      { code: 'unknown_field', field: 'filter.pattern' },
    ],
    ...['site', 'unit', 'addressPattern'].map((member): (typeof rows)[number] => [
      { type: 'subscribe', id: 'a', channel: 'tags', filter: { [member]: '' } },
      { code: 'invalid_field', field: `filter.${member}`, subscriptionId: 'a' },
    ]),
    [
      { type: 'subscribe', id: 'a', channel: 'tags', filter: { addressPattern: '[z-a]' } },
      { code: 'invalid_field', subscriptionId: 'a' },
    ],
    [
      { type: 'subscribe', id: 'a', channel: 'alarms', filter: { addressPattern: '[' } },
      { code: 'action_missing', action: 'alarm:list' },
    ],
    [{ type: 'subscribe', id: 'a', channel: 'tags', filter: { site: 'nowhere' } }, { code: 'not_found' }],
    [
      { type: 'unsubscribe', id: 'a' },
      { code: 'not_found', subscriptionId: 'a' },
    ],
    [
      { type: 'write', requestId: 'r', site: 'north', unit: 'rx101', value: 1 },
      { code: 'missing_field', field: 'address', requestId: 'r' },
    ],
  ];
  for (const [frame, expected] of rows) t.match(await client.ask(frame), { type: 'error', ...expected }, JSON.stringify(frame));
  client.socket.send(Buffer.from('{}'));
  t.match(await client.next(), { type: 'error', code: 'malformed_frame' }, 'a binary frame');
  t.match(await client.ask({ type: 'subscribe', id: 'a', channel: 'tags', filter: { addressPattern: 'none' } }), { type: 'subscribed', seq: rows.length + 2 });
  t.match(await client.ask({ type: 'subscribe', id: 'a', channel: 'tags' }), { code: 'already_subscribed', subscriptionId: 'a' });
  t.match(await client.ask({ type: 'unsubscribe', id: 'a' }), { type: 'unsubscribed', subscriptionId: 'a' });
  const south = await open('south');
  t.match(await south.ask({ type: 'subscribe', id: 'a', channel: 'tags', filter: { site: 'north' } }), { code: 'site_scope' });
  t.equal(plant.hub.connectionCount, 2);
});

t.test('WS-02 (decisions Q-STREAM-06): 64 KiB a frame, 50 frames a second after a burst of 100', async (t) => {
  const { clock, open } = await gateway(t);
  const client = await open();
  for (let n = 0; n < 101; n += 1) client.send({ type: 'unsubscribe', id: `n${n}` });
  const answers = await client.take(101);
  t.ok(answers.slice(0, 100).every(({ code }) => code === 'not_found'));
  t.match(answers[100], { code: 'rate_limited', subscriptionId: 'n100' });
  clock.advance(20);
  t.match(await client.ask({ type: 'unsubscribe', id: 'x' }), { code: 'not_found' });
  t.match(await client.ask({ type: 'unsubscribe', id: 'x' }), { code: 'rate_limited' });
  clock.advance(1000);
  client.send({ type: 'subscribe', id: 'x', channel: 'tags', filter: { addressPattern: 'y'.repeat(65 * 1024) } });
  t.match(await client.closed, { code: 1009 });
});

t.test('WS-02 (decisions Q-STREAM-06): who goes on flooding after a thousand refusals is cut off, and large frames are refused unread', async (t) => {
  const { clock, open } = await gateway(t);
  const client = await open();
  for (let n = 0; n < 100; n += 1) client.send({ type: 'unsubscribe', id: 'x' });
  client.send({ type: 'unsubscribe', id: 'x', ballast: 'y'.repeat(5000) });
  const answers = await client.take(101);
  t.match(answers[100], { code: 'rate_limited' });
  t.equal(answers[100].subscriptionId, undefined);
  clock.advance(1000);
  t.match(await client.ask({ type: 'unsubscribe', id: 'x' }), { code: 'not_found' }, 'a pause makes up for it');
  for (let n = 0; n < 1200; n += 1) client.send('{');
  t.match(await client.closed, { code: 1008, reason: 'far too many frames' });
});

t.test('WS-02 EVT-05: a snapshot of the whole plant counts as several frames, so that asking on does not keep the gateway busy', async (t) => {
  const { clock, plant, open } = await gateway(t);
  plant.hub.placeTags(tagSource('north', 'rx1', tagsNamed(20_000)));
  const client = await open();
  const answers: string[] = [];
  for (let n = 0; n < 7; n += 1) {
    const { type, code } = await client.ask({ type: 'subscribe', id: `t${n}`, channel: 'tags', filter: { addressPattern: 'm*.pv' } });
    answers.push(code ?? type);
    if (type === 'subscribed') await client.take(20_000);
  }
  t.same(answers, [...Array<string>(5).fill('subscribed'), 'rate_limited', 'rate_limited']);
  clock.advance(1000);
  t.match(await client.ask({ type: 'subscribe', id: 'a', channel: 'alarms' }), { type: 'subscribed' });
});

t.test('WS-12 STREAM-11: what a client makes up is not sent back to it at length', async (t) => {
  const { open } = await gateway(t);
  const client = await open();
  const long = 'z'.repeat(60_000);
  for (const frame of [{ type: long }, { type: 'subscribe', id: 'a', channel: 'tags', [long]: 1 }, { type: 'subscribe', id: 'a', channel: long }]) {
    const answer = await client.ask(frame);
    t.equal(answer.type, 'error');
    t.ok(JSON.stringify(answer).length < 500, `${JSON.stringify(answer).length} characters`);
  }
});

t.test('STREAM-14 STREAM-24: a client that asks on and reads nothing is cut off, and its place is free', async (t) => {
  const { clock, plant, client } = await stalled(t, 300);
  for (let n = 0; n < 300; n += 1) {
    client.send({ type: 'unsubscribe', id: 'x' });
    if (n % 40 === 39) clock.advance(1000);
  }
  await until(() => plant.hub.connectionCount === 0);
  t.equal(plant.hub.streamCount('127.0.0.1'), 0);
});

t.test('WS-17 STREAM-13 (D-STREAM-02): a right that was lost and a session that ended are lost for the very next frame', async (t) => {
  const { clock, plant, open } = await gateway(t);
  const write = { type: 'write', requestId: 'r', site: 'north', unit: 'rx101', address: 'v101.sp', value: 1 };
  const client = await open();
  plant.sessions.refreshed = (caller) => ({ ...caller, may: (action) => action !== 'tag:write' });
  t.match(await client.ask(write), { type: 'error', code: 'action_missing', action: 'tag:write' });
  const free = (caller: Caller): Caller => ({ ...caller, mustEnrol: false, mustChangePassword: false, may: () => true });
  for (const [duty, code] of [
    [{ mustEnrol: true }, 'second_factor_enrolment_required'],
    [{ mustChangePassword: true }, 'password_change_required'],
  ] as const) {
    plant.sessions.refreshed = (caller) => ({ ...free(caller), ...duty });
    const frames = [write, { type: 'command', requestId: 'c', site: 'north', target: 'rx101', command: 'Hold', reason: 'looks wrong to me' }];
    for (const frame of [...frames, { type: 'subscribe', id: 'a', channel: 'alarms' }]) t.match(await client.ask(frame), { type: 'error', code });
  }
  plant.sessions.refreshed = free;
  t.match(await client.ask({ type: 'subscribe', id: 'a', channel: 'none' }), { code: 'unknown_channel' }, 'and the same connection goes on when it is done');
  plant.sessions.refreshed = undefined;
  plant.callers.callers.set('short', person({ expiresAtMs: clock.wallMs() + 10_000, sessionId: 's9' }));
  const short = await open('short');
  clock.advance(10_000);
  short.send(write);
  t.same(await short.closed, { code: 4001, reason: 'access token expired' });
  plant.sessions.state = 'inactive';
  client.send(write);
  t.same(await client.closed, { code: 4001, reason: 'session terminated after inactivity' });
  t.same(plant.link.written, []);
  t.equal(plant.sessions.touched, 1, 'the refused write of a living session only: an ended one is not brought back');
});

t.test('ERR-19 WS-23 STREAM-13 STREAM-18 STREAM-19 STREAM-20 STREAM-22: the end of the session closes with 4001 and its reason', async (t) => {
  const { clock, plant, open } = await gateway(t);
  plant.hub.start();
  plant.callers.callers.set('short', person({ expiresAtMs: clock.wallMs() + 10_000, sessionId: 's9' }));
  const short = await open('short');
  const admin = await open();
  plant.sessions.end('s1', 'session ended: terminated by administrator');
  t.same(await admin.closed, { code: 4001, reason: 'session ended: terminated by administrator' });
  clock.advance(25_000);
  t.same(await short.closed, { code: 4001, reason: 'access token expired' });
  plant.callers.callers.delete('short');
  t.match(await refusal(open('short')), { status: 401 }, 'reconnecting on the same credential');
  const idle = await open();
  plant.sessions.state = 'inactive';
  clock.advance(25_000);
  t.same(await idle.closed, { code: 4001, reason: 'session terminated after inactivity' });
  t.same(plant.callers.touched, [], 'an open stream is not activity (STREAM-21)');
});

t.test('WS-23 (decisions Q-STREAM-15): a server that stops closes with 1001', async (t) => {
  const clock = new ScriptedClock();
  const plant = await startPlant({ clock });
  const client = await SocketClient.open(plant.url);
  await plant.stop();
  t.match(await client.closed, { code: 1001 });
});

t.test('WS-24: silence is asked after 56 s and given up after 60 s; a pong is a sign of life', async (t) => {
  const { clock, plant, open } = await gateway(t);
  const alive = await open();
  const dead = await open('all', { autoPong: false });
  clock.advance(56_000);
  await Promise.all([alive.pings, dead.pings]);
  // the pong has arrived when a later frame of the same connection was answered
  await alive.ask({ type: 'unsubscribe', id: 'x' });
  clock.advance(4_000);
  t.match(await dead.closed, { code: 1006 });
  await until(() => plant.hub.connectionCount === 1);
  t.match(await alive.ask({ type: 'unsubscribe', id: 'x' }), { code: 'not_found' });
});

t.test('STREAM-18 (D-STREAM-01): an authenticate frame moves the expiry, only for the same account and session', async (t) => {
  const { clock, plant, open } = await gateway(t);
  plant.hub.start();
  plant.callers.callers.set('short', person({ expiresAtMs: clock.wallMs() + 10_000 }));
  const client = await open('short');
  plant.sessions.accepts = (token) => {
    if (token === 'other') return person({ sessionId: 's2' });
    if (token === 'colleague') return { ...person(), accountId: 'a2' };
    if (token === 'machine') return { ...person(), kind: 'apiKey' };
    if (token === 'bad') throw new Refusal('unauthenticated', 'the token does not hold', { code: 'invalid_token' });
    return person({ expiresAtMs: clock.wallMs() + 900_000 });
  };
  t.match(await client.ask({ type: 'authenticate', token: 'bad' }), { type: 'error', code: 'invalid_token' });
  t.match(await client.ask({ type: 'authenticate', token: 'other' }), { type: 'error', code: 'other_identity' });
  t.match(await client.ask({ type: 'authenticate', token: 'colleague' }), { type: 'error', code: 'other_identity' });
  t.match(await client.ask({ type: 'authenticate', token: 'machine' }), { type: 'error', code: 'other_identity' });
  t.match(await client.ask({ type: 'authenticate', token: 'good' }), { type: 'authenticated', seq: 5, expiresAt: '2026-01-31T09:20:07.123Z' });
  clock.advance(50_000);
  t.match(await client.ask({ type: 'unsubscribe', id: 'x' }), { code: 'not_found' }, 'still open');
});

t.test('STREAM-03 (decisions Q-STREAM-03): the loss of the runtimes is pushed; values stay, their quality goes', async (t) => {
  const { clock, plant, open } = await gateway(t);
  plant.hub.start();
  const client = await open();
  plant.runtimes.tell('down');
  t.match(await client.next(), { type: 'broker-status', status: 'disconnected' });
  t.match(await (await open()).next(), { type: 'broker-status', seq: 1, status: 'disconnected' }, 'and directly after a connect');
  client.send({ type: 'subscribe', id: 'a', channel: 'tags', filter: { addressPattern: 'v101.sp' } });
  await client.take(2);
  clock.advance(200);
  t.match(await client.next(), { address: 'v101.sp', value: 20, quality: 'Uncertain' });
  plant.runtimes.tell('ready');
  t.match(await client.next(), { type: 'broker-status', status: 'connected' });
  clock.advance(200);
  t.match(await client.next(), { value: 20, quality: 'Good' });
});

t.test('EVT-12 EVT-13 STREAM-14: a client that stops reading gets gaps that account for every frame, once it reads again', async (t) => {
  const { plant, client } = await stalled(t, 1000);
  const shed = plant.hub.shedTotal;
  t.ok(shed >= 1000, `shed ${shed}`);
  client.socket.resume();
  let expected = 18;
  let dropped = 0;
  while (dropped < shed) {
    const frame = await client.next();
    if (frame.type === 'gap') {
      dropped += frame.dropped;
      expected += frame.dropped;
    }
    t.equal(frame.seq, expected);
    expected += 1;
  }
  t.equal(dropped, shed);
});
