/** The client of the interface against answers that are none: cut off, of somebody else, or sent on to another machine. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { Api, ApiError } from '../../src/client/api.js';
import { failureOf } from '../../src/cli/remote/outcome.js';

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
const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/cut': (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' });
    response.write('{"batchID": "B-1", ', () => response.destroy());
  },
  '/slow': (response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).write('{'),
  '/page': (response) => void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>sign in</html>'),
  '/refused': (response) => void response.writeHead(502).end('<html>bad gateway</html>'),
  '/moved': (response) => void response.writeHead(307, { Location: `${other}/moved` }).end(),
  '/nothing': (response) => void response.writeHead(200, { 'Content-Length': '0' }).end(),
};
const base = await serve((request, response) => ANSWERS[request.url ?? '']?.(response));
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
});

t.test('a request is not sent on to another address: the token stays with the box', async (t) => {
  for (const told of [await fault(api(60_000).get('/moved')), await fault(api(60_000).post('/moved', { password: 'x' })), await fault(api(60_000).text('/moved'))]) {
    t.ok(told instanceof ApiError);
    t.match(failureOf(told, base), { exitCode: 4, told: { code: 'redirected', status: 307, location: `${other}/moved` }, message: /which is not followed/ });
  }
  t.strictSame(heard, [], 'nobody there was asked');
});
