import t from 'tap';
import { startPlant, type PlantOptions } from '../../domains/tags/plant.js';
import { eventually } from '../../support/api-client.js';
import { EventClient, refusal } from './clients.js';
import { person, ScriptedClock } from './scripted.js';

const NORTH = '/api/v1/sites/north/events/sse';

async function gateway(t: { teardown(call: () => unknown): void }, options: PlantOptions = {}) {
  const clock = new ScriptedClock();
  const plant = await startPlant({ clock, ...options });
  const clients: EventClient[] = [];
  t.teardown(async () => {
    for (const client of clients) client.close();
    await plant.stop();
  });
  const open = async (query = '', headers?: Record<string, string>) => {
    const client = await EventClient.open(plant.url, `${NORTH}${query}`, headers);
    clients.push(client);
    return client;
  };
  const published = () => new Promise<void>((resolve) => setImmediate(resolve));
  const alarm = (name: string, unit = 'rx101', site = 'north') =>
    plant.hub.publish({
      channel: 'alarms',
      key: name,
      site,
      unit,
      frame: { type: 'alarm', site, name, severity: 'High', state: 'ActiveUnacknowledged', message: 'x', shelved: false, shelvedUntil: '' },
    });
  const health = (name: string) =>
    plant.hub.publish({
      channel: 'cmhealth',
      key: name,
      site: 'north',
      unit: 'rx101',
      frame: { type: 'cmhealth', site: 'north', kind: 'ControlModule', name, state: 'Down', ts: '' },
    });
  const state = (name: string) =>
    plant.hub.publish({ channel: 'states', key: `Unit/${name}`, site: 'north', unit: name, frame: { type: 'state', site: 'north', kind: 'Unit', name, state: 'Idle' } });
  return { clock, plant, open, alarm, health, state, published };
}

t.test('SSE-01 SSE-04 SSE-07 SSE-08 EVT-05: the default channels, as a snapshot and then live', async (t) => {
  const { clock, plant, open, alarm, health, state, published } = await gateway(t);
  plant.hub.start();
  alarm('a1');
  alarm('elsewhere', 'rx1', 'south');
  health('v101');
  state('rx101');
  await published();
  const client = await open();
  t.match(client.headers, { 'content-type': /^text\/event-stream/, 'cache-control': 'no-store' });
  const snapshot = await client.take(16 + 2);
  t.same([...new Set(snapshot.map(({ event }) => event))].sort(), ['alarm', 'state', 'tag']);
  t.ok(snapshot.every(({ data }) => data.replay === true && data.subscriptionId === undefined));
  alarm('a2');
  const live = await client.next();
  t.match(live, { event: 'alarm', id: `${plant.hub.instance}-${plant.hub.eventId}`, data: { type: 'alarm', name: 'a2', seq: 19, eventId: plant.hub.eventId } });
  clock.advance(200);
  const tags = await client.take(16);
  t.ok(tags.every(({ event, id, data }) => event === 'tag' && id === `${plant.hub.instance}-${data.eventId}`));
  t.same(
    tags.map(({ data }) => data.seq),
    Array.from({ length: 16 }, (_, index) => 20 + index),
  );
  t.match(plant.hub.instance, /^[0-9a-f]{12}$/);
});

t.test('SSE-02 SSE-03 SSE-05: query unit and channel', async (t) => {
  const { open, alarm, health, published } = await gateway(t);
  alarm('a1');
  health('v101');
  await published();
  const one = await open('?channel=cmhealth,cmhealth,alarms');
  t.same((await one.take(4)).map(({ event }) => event).sort(), ['alarm', 'cmhealth', 'cmhealth', 'cmhealth'], 'one per module, though the channel was named twice');
  const several = await open('?channel=cmhealth&channel=alarms');
  t.same((await several.take(4)).map(({ event }) => event).sort(), ['alarm', 'cmhealth', 'cmhealth', 'cmhealth'], 'a channel at a time');
  const unit = await open('?unit=away&channel=tags,alarms');
  alarm('a2', 'away');
  t.match(await unit.next(), { event: 'alarm', data: { name: 'a2' } });
  for (const query of ['?channel=news', '?channel=', '?channel=tags,', '?channel=Tags'])
    t.match(await refusal(open(query)), { status: 400, body: { code: 'invalid_query', field: 'channel' } }, query);
  t.match(await refusal(open('?unit=nope')), { status: 404, body: { code: 'not_found' } });
});

t.test('SSE-06 SSE-10 SSE-11 STREAM-15 STREAM-17 STREAM-22: who may connect', async (t) => {
  const { plant, open } = await gateway(t);
  await open('?token=all&channel=alarms', {});
  t.match(await refusal(open('', {})), { status: 401 });
  t.match(await refusal(open('?token=all', { Authorization: 'Bearer nobody' })), { status: 401 }, 'the header wins');
  t.match(await refusal(open('?token=lsk_key', {})), { status: 403, body: { code: 'api_key_fence' } });
  t.match(await refusal(open('', { Authorization: 'ApiKey lsk_key' })), { status: 403, body: { code: 'api_key_fence' } });
  t.match(await refusal(open('', { Authorization: 'Bearer south' })), { status: 403, body: { code: 'site_scope' } });
  t.match(await refusal(open('', { Authorization: 'Bearer reader' })), { status: 403, body: { code: 'action_missing', action: 'alarm:list' } }, 'refused whole');
  await open('?channel=tags', { Authorization: 'Bearer reader' });
  t.match(await refusal(EventClient.open(plant.url, '/api/v1/sites/nowhere/events/sse')), { status: 404 });
  t.equal(plant.hub.connectionCount, 2);
});

t.test('SSE-12 SSE-13 SSE-15: Last-Event-ID resumes with what changed while away', async (t) => {
  const { clock, plant, open, alarm, published } = await gateway(t);
  plant.hub.start();
  clock.advance(400);
  alarm('a1');
  await published();
  const first = await open();
  const whole = await first.take(17);
  const last = whole.at(-1).id;
  t.ok(whole.slice(0, -1).every(({ id }) => id === `${plant.hub.instance}-0`));
  first.close();
  plant.link.set('v101.sp', 99);
  clock.advance(200);
  alarm('a2');
  await published();
  const bearer = { Authorization: 'Bearer all' };
  const again = await open('', { ...bearer, 'Last-Event-ID': last });
  const resumed = await again.take(2);
  t.match(resumed, [
    { id: last, data: { address: 'v101.sp', value: 99, replay: true } },
    { id: `${plant.hub.instance}-${plant.hub.eventId}`, data: { name: 'a2', replay: true } },
  ]);
  const asked = await open(`?lastEventId=${last}`, bearer);
  t.same(await asked.take(2), resumed, 'an EventSource that sends no headers asks with the query');
  const strange = await open('', { ...bearer, 'Last-Event-ID': '0123456789ab-5' });
  t.equal((await strange.take(18)).length, 18);
});

t.test('SSE-09 SSE-16 STREAM-13: the end of the session is said, then the stream closes; a server that stops says nothing', async (t) => {
  const { clock, plant, open } = await gateway(t);
  plant.hub.start();
  plant.callers.callers.set('short', person({ expiresAtMs: clock.wallMs() + 10_000, sessionId: 's9' }));
  const logout = await open('?channel=alarms');
  const short = await open('?channel=alarms', { Authorization: 'Bearer short' });
  plant.sessions.end('s1', 'session ended: logout');
  const end = await logout.next();
  t.same(end, { event: 'session-ended', data: { seq: 1, type: 'session-ended', reason: 'session ended: logout' } });
  await logout.closed;
  clock.advance(25_000);
  let event = await short.next();
  if (event.comment) event = await short.next();
  t.match(event, { event: 'session-ended', data: { reason: 'access token expired' } });
  await short.closed;
  const quiet = await open('?channel=alarms');
  await plant.hub.endAll();
  await quiet.closed;
  t.equal(quiet.arrived, 0);
  t.equal(plant.hub.streamCount('127.0.0.1'), 0);
});

t.test('LIMIT-07 SSE-17: a comment keeps the stream alive every 25 seconds, and takes no number', async (t) => {
  const { clock, open, alarm } = await gateway(t);
  const client = await open('?channel=alarms');
  clock.advance(25_000);
  t.same(await client.next(), { comment: 'keepalive' });
  clock.advance(25_000);
  t.same(await client.next(), { comment: 'keepalive' });
  alarm('a1');
  t.match(await client.next(), { data: { seq: 1 } });
});

t.test('STREAM-24: a peer that reads nothing is cut off soon after its socket is full, without any clock of ours, and its place is free; quiet ones stay', async (t) => {
  const { clock, plant, open, alarm } = await gateway(t);
  const healthy = await open('?channel=alarms');
  const stopped = await open('?channel=tags');
  await stopped.take(6);
  stopped.stopReading();
  plant.hub.start();
  plant.link.set('v101.text', 'x'.repeat(100_000));
  t.equal(plant.hub.streamCount('127.0.0.1'), 2);
  const cut = async (): Promise<boolean> => {
    if (plant.hub.shedTotal === 0) clock.advance(200); // the kernel takes some megabytes, then 256 frames wait
    return plant.hub.streamCount('127.0.0.1') === 1;
  };
  await eventually('the stopped reader is cut off', cut, 120_000, 10);
  alarm('a1');
  let event = await healthy.next();
  while (event.comment === 'keepalive') event = await healthy.next();
  t.match(event, { data: { name: 'a1' } }, 'a client that has nothing to read is no stopped one');
});

t.test('STREAM-24: SSE counts with the WebSockets of the source', async (t) => {
  const { open } = await gateway(t, { perSourceMax: 1 });
  await open('?channel=alarms');
  t.match(await refusal(open('?channel=alarms')), { status: 429, body: { code: 'too_many_streams', limit: 1 } });
});

t.test('SSE-11 (D-STREAM-02): a permission lost ends the stream', async (t) => {
  const { clock, plant, open } = await gateway(t);
  plant.hub.start();
  const client = await open('?channel=alarms');
  plant.sessions.refreshed = (caller) => ({ ...caller, may: () => false });
  clock.advance(25_000);
  await client.closed;
});
