/** Answers that are made while they are sent: a reader that is slow, stops or goes away takes no memory and stops nobody. */
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { ok, type Route, routesFor, streamed, routeSet } from '../../../src/platform/http/route.js';
import { eventually } from '../../support/api-client.js';
import { startGatewayTest } from '../../support/gateway.js';

const CHUNK_BYTES = 1024 * 1024;
const CHUNKS = 64;
/** What the sockets of both ends hold at most, and a chunk on each side of them. */
const ON_THE_WAY_MAX = 32;

/** Of the last answer: how many chunks were taken, and whether somebody has said that no more are wanted. */
let made = { taken: 0, over: false };
let fails = Number.POSITIVE_INFINITY;

async function* noChunks(): AsyncGenerator<Uint8Array> {}

async function* chunks(): AsyncGenerator<Uint8Array> {
  const mine = { taken: 0, over: false };
  made = mine;
  try {
    for (let at = 0; at < CHUNKS; at += 1) {
      await new Promise((resolve) => setImmediate(resolve)); // as from another thread
      if (at === fails) throw new Error('the file is gone');
      mine.taken += 1;
      // odd lengths, and an empty one now and then
      yield at % 10 === 9 ? new Uint8Array() : Buffer.alloc(CHUNK_BYTES + at, 97 + (at % 26));
    }
  } finally {
    mine.over = true;
  }
}

/** A connection of the library that is read and not written to ends after 8 to 12 s. */
const LONGER_THAN_IDLE_MS = 13_000;
const LITTLE = Buffer.from('a line of a trail\n');

/** What is made more slowly than it is read: a little now and then, or nothing for long. */
async function* slowChunks(everyMs: number): AsyncGenerator<Uint8Array> {
  yield LITTLE;
  for (let pastMs = 0; pastMs < LONGER_THAN_IDLE_MS; pastMs += everyMs) {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    yield LITTLE;
  }
}

const EXPECTED = Array.from({ length: CHUNKS }, (_, at) => (at % 10 === 9 ? 0 : CHUNK_BYTES + at)).reduce((sum, bytes) => sum + bytes, 0);

/** What a test does while an answer is made. */
let asked = (): void => undefined;

/** A list as a panel reads it. */
const WIDE = Array.from({ length: 2000 }, (_, at) => ({ name: `alarm-${at}`, state: 'ActiveUnacknowledged', message: `Reactor ${at % 7} hotter than the recipe allows` }));

const route = routesFor<object>();
const rows: readonly Route<object>[] = [
  route({ method: 'GET', path: '/api/v1/long', action: 'long:read', tier: 'none', handle: () => Promise.resolve(streamed(chunks(), 'application/x-ndjson', { 'X-More': 'yes' })) }),
  route({ method: 'GET', path: '/api/v1/nothing', action: 'long:read', tier: 'none', handle: () => Promise.resolve(streamed(noChunks(), 'application/x-ndjson')) }),
  route({ method: 'GET', path: '/api/v1/at-once', action: 'long:read', tier: 'none', handle: () => streamed(chunks(), 'application/x-ndjson') }),
  route({
    method: 'GET',
    path: '/api/v1/slow/{everyMs}',
    action: 'long:read',
    tier: 'none',
    handle: ({ params }) => Promise.resolve(streamed(slowChunks(Number(params.everyMs)), 'application/x-ndjson')),
  }),
  route({ method: 'GET', path: '/api/v1/wide', action: 'wide:read', tier: 'none', handle: () => WIDE }),
  route({
    method: 'GET',
    path: '/api/v1/wider',
    action: 'wide:read',
    tier: 'none',
    handle: () => {
      asked();
      return Array.from({ length: 40 }, () => WIDE);
    },
  }),
  route({ method: 'GET', path: '/api/v1/narrow', action: 'wide:read', tier: 'none', handle: () => WIDE.slice(0, 10) }),
  route({ method: 'GET', path: '/api/v1/tagged', action: 'wide:read', tier: 'none', handle: () => ok(WIDE, { ETag: '"7"' }) }),
];

const gateway = await startGatewayTest({ routes: [routeSet(rows, {})] });
t.teardown(() => gateway.stop());

/** They take their time beside the other tests. */
const slow = [1000, LONGER_THAN_IDLE_MS].map((everyMs) => ({
  everyMs,
  answer: gateway.request('GET', `/api/v1/slow/${everyMs}`).then(
    ({ text }) => text,
    (fault: Error) => fault.message,
  ),
}));

/** A connection with the request on it, of which nothing is read before somebody asks. */
function opened(path = '/api/v1/long'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(gateway.port, '127.0.0.1', () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      resolve(socket.pause());
    });
    socket.once('error', reject);
  });
}

/** The sender takes no more chunks, though there are some: nobody reads. */
async function stalled(): Promise<number> {
  let before = -1;
  let same = 0;
  await eventually('the sender waits', async () => {
    same = made.taken > 0 && made.taken === before ? same + 1 : 0;
    before = made.taken;
    return same >= 10;
  });
  return before;
}

t.test('a long answer of which there is nothing leaves its connection open for the next request', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  for (let turn = 0; turn < 3; turn += 1) {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      get({ host: '127.0.0.1', port: gateway.port, path: '/api/v1/nothing', agent, timeout: 5000 }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      })
        .once('timeout', () => reject(new Error('the connection is not read any more')))
        .once('error', reject);
    });
    t.equal(status, 200);
  }
});

t.test('8.6: a long answer is sent whole, with its headers and its own media type', async (t) => {
  for (const path of ['/api/v1/long', '/api/v1/at-once']) {
    const answer = await gateway.request('GET', path);
    t.match(answer, { status: 200, headers: { 'content-type': 'application/x-ndjson', 'x-content-type-options': 'nosniff', 'transfer-encoding': 'chunked' } }, path);
    t.equal(answer.text.length, EXPECTED);
    t.equal(answer.text.replace(/(.)\1*/g, '$1').length, CHUNKS - Math.floor(CHUNKS / 10), 'in the order of its chunks');
    t.ok(made.over);
  }
  made = { taken: 0, over: false };
  t.match(await gateway.request('HEAD', '/api/v1/long'), { status: 200, headers: { 'content-type': 'application/x-ndjson', 'x-more': 'yes' }, text: '' });
  t.equal(made.taken, 0, 'nothing is made that nobody reads');
});

t.test('8.6: while the reader stops no more is made than the sockets hold; others are served, and he gets the rest', async (t) => {
  const socket = await opened();
  const held = await stalled();
  t.ok(held < ON_THE_WAY_MAX, `${held} of ${CHUNKS} chunks`);
  t.notOk(made.over);
  t.equal((await gateway.request('GET', '/readyz')).status, 200);
  let bytes = 0;
  let tail = '';
  socket.on('data', (data: Buffer) => {
    bytes += data.length;
    tail = (tail + data.subarray(-7).toString('latin1')).slice(-7);
  });
  socket.resume();
  await eventually('the end is there', async () => tail.endsWith('\r\n0\r\n\r\n'));
  t.ok(bytes > EXPECTED);
  t.ok(made.over);
  socket.destroy();
});

t.test('8.6: a reader that goes away ends the making; a making that fails cuts the reader off', async (t) => {
  const gone = await opened();
  await stalled();
  const last = made;
  gone.destroy();
  await eventually('the making has ended', async () => last.over);
  t.ok(last.taken < CHUNKS);

  for (const at of [0, 40]) {
    fails = at;
    await t.rejects(gateway.request('GET', '/api/v1/long'), { code: 'ECONNRESET' }, `chunk ${at}: no end that looks like one`);
  }
  fails = Number.POSITIVE_INFINITY;
  t.equal((await gateway.request('GET', '/api/v1/long')).text.length, EXPECTED, 'and the next one is whole');
});

t.test('8.6: a long answer that is made more slowly than it is read is not cut off', async (t) => {
  for (const { everyMs, answer } of slow) t.equal(await answer, LITTLE.toString().repeat(1 + LONGER_THAN_IDLE_MS / everyMs), `a chunk every ${everyMs} ms`);
});

t.test('RFC 9110, 12.5.3: a long list of JSON is packed for who takes it so, and for nobody else', async (t) => {
  const ask = (path: string, accepted: string): Promise<Response> => fetch(`http://127.0.0.1:${gateway.port}${path}`, { headers: { 'Accept-Encoding': accepted } });
  const packed = await ask('/api/v1/wide', 'gzip, br');
  t.equal(packed.headers.get('content-encoding'), 'gzip');
  t.equal(packed.headers.get('vary'), 'Accept-Encoding');
  t.ok(Number(packed.headers.get('content-length')) < JSON.stringify(WIDE).length / 10);
  t.same(await packed.json(), WIDE);
  for (const [path, accepted, why] of [
    ['/api/v1/wide', 'identity', 'not asked for'],
    ['/api/v1/wide', 'gzip;q=0', 'refused'],
    ['/api/v1/narrow', 'gzip', 'too short to be worth it'],
    ['/api/v1/tagged', 'gzip', 'its ETag is that of the bytes as they are'],
  ] as const) {
    const plain = await ask(path, accepted);
    t.equal(plain.headers.get('content-encoding'), null, why);
    t.ok(Array.isArray(await plain.json()));
  }
});

t.test('a request that comes while the answer before it is packed waits for it, and cuts nothing off', async (t) => {
  const socket = connect(gateway.port, '127.0.0.1');
  const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: lineside\r\nAccept-Encoding: gzip\r\n\r\n`;
  let told = '';
  socket.on('data', (data) => (told += data.toString('latin1')));
  const over = new Promise<string>((resolve) => socket.once('close', () => resolve('cut off')));
  asked = () => setImmediate(() => socket.write(request('/readyz'))); // the first has been read whole, its answer is on the thread that packs
  socket.write(request('/api/v1/wider'));
  const both = eventually('both answers are there', async () => (told.match(/HTTP\/1\.1 200 OK/g) ?? []).length === 2 && 'answered');
  t.equal(await Promise.race([both, over]), 'answered');
  socket.destroy();
  await both.catch(() => undefined);
});
