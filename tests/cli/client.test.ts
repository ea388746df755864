/** The client of the interface against answers that are none: cut off, of somebody else, or sent on to another machine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import t from 'tap';
import { Api, ApiError } from '../../src/client/api.js';
import { Cursors, WholeList } from '../../src/client/pages.js';
import { KnownBoxes } from '../../src/cli/remote/boxes.js';
import { followEvents } from '../../src/cli/remote/event-stream.js';
import { failureOf } from '../../src/cli/remote/outcome.js';
import { boxContext, rowOf } from './support.js';

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const heard: string[] = [];
const other = await serve((request, response) => {
  heard.push(`${request.method} ${request.url}`);
  response.end('{}');
});
/** A long text of what stands around values. */
const WORDS = ',{["\\'.repeat(1_500_000);
const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/cut': (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' });
    response.write('{"batchID": "B-1", ', () => response.destroy());
  },
  '/slow': (response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).write('{'),
  '/page': (response) => void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>sign in</html>'),
  '/refused': (response) => void response.writeHead(502).end('<html>bad gateway</html>'),
  '/moved': (response) => void response.writeHead(307, { Location: `${other}/moved` }).end(),
  '/text': (response) => void response.writeHead(200).end(JSON.stringify([WORDS, { a: WORDS }])),
  '/nothing': (response) => void response.writeHead(200, { 'Content-Length': '0' }).end(),
};
/** As long as somebody reads it, never all at once. */
function endless(text: string): Readable {
  return Readable.from(
    (function* () {
      for (;;) yield text;
    })(),
  );
}

const MIB = 'x'.repeat(1024 ** 2);
let pages = 0;
/** Bodies and lists without an end. */
const ENDLESS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/body': (response) => void endless(MIB).pipe(response.writeHead(200, { 'Content-Type': 'application/json' })),
  '/packed': (response) =>
    void endless(MIB)
      .pipe(createGzip({ level: 1 }))
      .pipe(response.writeHead(200, { 'Content-Encoding': 'gzip' })),
  '/refusal': (response) => void endless(MIB).pipe(response.writeHead(400, { 'Content-Type': 'application/json' })),
  '/unauthorised': (response) => void endless(MIB).pipe(response.writeHead(401, { 'Content-Type': 'application/json' })),
  '/circle': (response) => void response.writeHead(200, { Link: '</circle>; rel="next"' }).end('[1]'),
  '/spiral': (response) => void response.writeHead(200, { Link: '</spiral/1>; rel="next"' }).end('[1]'),
  '/spiral/1': (response) => void response.writeHead(200, { Link: '</spiral/2>; rel="next"' }).end('[1]'),
  '/spiral/2': (response) => void response.writeHead(200, { Link: '</spiral/1>; rel="next"' }).end('[1]'),
  '/elsewhere': (response) => void response.writeHead(200, { Link: `<@${new URL(other).host}/x>; rel="next"` }).end('[1]'),
  '/values': (response) => void response.writeHead(200).end(`[${'{},'.repeat(5_000_000)}{}]`),
  '/nested': (response) => void response.writeHead(200).end(`[${'['.repeat(9_000_000)}`),
  '/refused-values': (response) => void response.writeHead(400).end(`{"a": [${'0,'.repeat(2_000_000)}0]}`),
  '/no-list': (response) => void response.writeHead(200).end('{"items": []}'),
  '/sites/north/events/sse': (response) => void endless(`data: ${MIB}`).pipe(response.writeHead(200, { 'Content-Type': 'text/event-stream' })),
};

function answered({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const path = url.replace(/^\/api\/v1/, '').replace(/\?.*/, '');
  const answer = ANSWERS[path] ?? ENDLESS[path];
  if (answer) return answer(response);
  pages += 1;
  if (path.endsWith('/runtime/logs')) {
    const item = { ts: '2026-11-21T08:30:00Z', level: 'info', message: `line ${pages}`, fields: {} };
    response.end(JSON.stringify({ items: [item], nextCursor: `cursor ${pages < 600 ? pages : 590 + (pages % 7)}` }));
  } else response.writeHead(200, { Link: `<${url.replace(/\?.*/, '')}?page=${pages}>; rel="next"` }).end(`["${MIB}"]`);
}

const base = await serve(answered);
const api = (withinMs: number): Api => new Api({ base, withinMs }, { token: () => 'secret', renew: async () => false });
const fault = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (taken) => taken,
    (told: unknown) => told,
  );

t.test('an answer that was cut off, is no JSON or does not end in time is none', async (t) => {
  for (const [path, withinMs] of [
    ['/cut', 60_000],
    ['/page', 60_000],
    ['/slow', 200],
  ] as const) {
    const told = await fault(api(withinMs).get(path));
    t.ok(told instanceof ApiError, path);
    t.match(told, { status: 0, code: 'no_answer' }, path);
    t.match(failureOf(told, base), { exitCode: 6, told: { code: 'no_answer' } });
  }
  t.match(await fault(api(60_000).text('/cut')), { status: 0, code: 'no_answer' });
  t.match(await fault(api(60_000).getList('/cut')), { status: 0, code: 'no_answer' });
  t.match(await fault(api(200).text('/slow')), { body: { cause: 'timeout' } });
  t.match(await fault(api(60_000).get('/refused')), { status: 502, message: 'HTTP 502' });
  t.equal(await api(60_000).get('/nothing'), undefined);
  t.ok(Object.is((await api(60_000).getList<string>('/text')).items[0]?.length, WORDS.length), 'what stands in a text is no value');
});

t.test('a request is not sent on to another address: the token stays with the box', async (t) => {
  for (const told of [await fault(api(60_000).get('/moved')), await fault(api(60_000).post('/moved', { password: 'x' })), await fault(api(60_000).text('/moved'))]) {
    t.ok(told instanceof ApiError);
    t.match(failureOf(told, base), { exitCode: 4, told: { code: 'redirected', status: 307, location: `${other}/moved` }, message: /which is not followed/ });
  }
  t.strictSame(heard, [], 'nobody there was asked');
});

t.test('an answer without an end takes no more memory than the longest one that there is', async (t) => {
  for (const [path, message] of [
    ['/body', /answer of http.*\/body is longer than 64 MiB/],
    ['/refusal', /longer than 16 MiB/],
    ['/unauthorised', /longer than 16 MiB/],
    ['/circle', /in a circle/],
    ['/spiral', /in a circle/],
    ['/endless', /does not end within 10000 pages and 128 MiB/],
    ['/elsewhere', /no address of the box/],
    ['/values', /of more than 4194304 values/],
    ['/nested', /of more than 4194304 values/],
    ['/refused-values', /of more than 1048576 values/],
    ['/no-list', /something that is no list/],
  ] as const) {
    const told = await fault(api(60_000).getAll(path));
    t.ok(told instanceof ApiError, path);
    t.match(told, { message }, path);
    const { exitCode } = failureOf(told, base);
    t.equal(exitCode, 4, `${path} is not asked again`);
  }
  for (const path of ['/body', '/packed']) t.match(await fault(api(60_000).text(path, { bytesMax: 1024 })), { code: 'answer_too_long' }, path);
  t.strictSame(heard, [], 'nobody else was asked');
});

t.test('a list of long pages is read whole, and a way of many pages is followed', (t) => {
  const list = new WholeList<number>('');
  list.add({ items: Array.from({ length: 400_000 }, (_, n) => n), characters: 1, next: 'a' });
  t.equal(list.items.length, 400_000);
  t.throws(() => {
    for (let n = 0; ; n += 1) list.add({ items: [], characters: 2, next: String(n) });
  }, /does not end within 10000 pages/);
  const cursors = new Cursors('');
  for (let n = 1; n < 100_000; n += 1) cursors.advance(String(n));
  for (const [lead, length] of [
    [0, 1],
    [0, 2],
    [7, 13],
    [100, 3],
  ] as const) {
    const circle = new Cursors('0');
    t.throws(() => {
      for (let n = 1; n < 1000; n += 1) circle.advance(String(n <= lead ? n : lead + ((n - lead) % length)));
    }, /in a circle/);
  }
  t.end();
});

t.test('logs go on through as many pages as there are and notice a circle; an event without an end is none', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-client-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const boxes = new KnownBoxes(folder);
  boxes.keep('hostile', { url: base, username: '', accessToken: '', refreshToken: '', site: 'north' });
  const printed: string[] = [];
  pages = 0;
  const context = { ...boxContext(boxes, ['rx101'], { since: '2026-11-21T08:30:00Z' }), print: async (_: unknown, line: string) => void printed.push(line) };
  await t.rejects(rowOf('logs').run(context), /in a circle/);
  t.ok(printed.length >= 600 && printed.length < 2000, `${printed.length} lines`);
  const listener = { onFrame: async () => undefined, onBack: async () => undefined, onLost: async () => undefined };
  const wish = { site: 'north', channels: ['states'], unit: undefined };
  await t.rejects(followEvents(boxContext(boxes, []).box, wish, listener, new AbortController().signal), /an event that does not end/);
});
