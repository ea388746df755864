/**
 * What one connection can show: a next request before the answer to the first, bytes behind a body, thousands of requests at once.
 * Nothing is carried out that is not answered, and no byte of a body or of what follows it runs as a request (RFC 9112, 9.3.2, 11.2).
 */
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { ApplianceTest, AT } from './appliance.js';

const test = await ApplianceTest.start();
t.teardown(() => test.stop());
const AREAS = `${AT}/areas`;
const REQUEST_END = '\r\n\r\n';

function create(name: string, nonce: string, framing?: string): string {
  const body = JSON.stringify({ name });
  const length = framing ?? `Content-Length: ${body.length}`;
  const text = framing === undefined ? body : `${body.length.toString(16)}\r\n${body}\r\n0\r\n`;
  return `POST ${AREAS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${test.admin.token}\r\nX-DCS-Nonce: ${nonce}\r\nContent-Type: application/json\r\n${length}${REQUEST_END}${text}`;
}
const GET = `GET /healthz HTTP/1.1\r\nHost: a${REQUEST_END}`;

class Line {
  received = '';
  readonly #socket: Socket;
  readonly closed: Promise<string>;

  constructor(text: string) {
    this.#socket = connect(test.port, '127.0.0.1', () => this.#socket.write(text));
    this.closed = new Promise((resolve) => this.#socket.on('close', () => resolve(this.received)));
    this.#socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')));
    this.#socket.on('error', () => undefined); // a connection that is cut: `closed` tells
  }

  /** Resolves when so many answers are there. */
  answers(count: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (statuses(this.received).length >= count) resolve(this.received);
      };
      this.#socket.on('data', look);
      this.#socket.on('close', () => reject(new Error(`closed after ${JSON.stringify(this.received.slice(0, 200))}`)));
      look();
    });
  }

  write(text: string): void {
    this.#socket.write(text);
  }

  end(): void {
    this.#socket.destroy();
  }
}

const statuses = (received: string): string[] => [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1] ?? '');
const exists = async (name: string): Promise<boolean> => (await test.admin.get(`${AREAS}/${name}`)).status === 200;

t.test('D-NONCE-01: a write with a next request behind it in one packet is not carried out, spends no nonce, and can be sent again', async (t) => {
  const nonce = randomUUID();
  t.same(statuses(await new Line(create('packed', nonce) + GET).closed), [], 'the connection is cut');
  t.notOk(await exists('packed'), 'nothing was done');
  const again = new Line(create('packed', nonce));
  t.same(statuses(await again.answers(1)), ['201']);
  again.end();
});

t.test('a next request that arrives before the answer waits for its turn', async (t) => {
  const line = new Line(create('first', randomUUID()));
  line.write(create('second', randomUUID()));
  line.write(GET);
  // either the packets came apart, and all are answered in order, or together, and nothing was done: never half
  const outcome = await Promise.race([line.answers(3), line.closed]);
  if (statuses(outcome).length === 0) t.notOk((await exists('first')) || (await exists('second')));
  else t.same(statuses(outcome), ['201', '201', '200']);
  line.end();

  const apart = new Line(create('third', randomUUID()));
  await test.admin.get('/healthz'); // a turn of the gateway later
  apart.write(GET);
  t.same(statuses(await apart.answers(2)), ['201', '200']);
  t.ok(await exists('third'));
  apart.end();
});

t.test('what follows a body in chunks is no request: the connection ends with the answer', async (t) => {
  const whole = create('chunked', randomUUID(), 'Transfer-Encoding: chunked');
  const good = new Line(`${whole}\r\n`);
  t.same(statuses(await good.closed), ['201']);
  t.ok(await exists('chunked'), 'a body in chunks is accepted');

  const smuggled = create('smuggled', randomUUID());
  t.notOk(statuses(await new Line(`${create('carrier', randomUUID(), 'Transfer-Encoding: chunked')}XX${smuggled}`).closed).includes('200'));
  const later = new Line(create('carrier-b', randomUUID(), 'Transfer-Encoding: chunked'));
  await later.answers(1);
  later.write(`XX${smuggled}`);
  t.equal(statuses(await later.closed).length, 1);
  t.notOk(await exists('smuggled'));
});

t.test('a write that states no length ends the connection: its header may have ended at a line without a name', async (t) => {
  const smuggled = create('hidden', randomUUID());
  const head = create('open', randomUUID())
    .replace(/Content-Length: \d+/, `: y\r\nContent-Length: ${smuggled.length}`)
    .split(REQUEST_END)[0];
  const line = new Line(`${head}${REQUEST_END}`);
  await line.answers(1);
  line.write(smuggled);
  t.equal(statuses(await line.closed).length, 1);
  await new Line(`${head}${REQUEST_END}${smuggled}`).closed;
  t.notOk(await exists('hidden'));
});

t.test('methods are spelled as they are: RFC 9110, 9.1', async (t) => {
  const line = new Line(GET.replace('GET', 'get'));
  t.same(statuses(await line.answers(1)), ['405']);
  line.end();
});

t.test('who sends thousands of reads at once is served beside the others', async (t) => {
  const burst = new Line(`GET ${AT}/units HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${test.admin.token}${REQUEST_END}`.repeat(3000));
  // answered in slices, or cut where a slice ended with the next read already there: its first answers may be lost with it, nothing else is
  await Promise.race([burst.answers(1), burst.closed]);
  t.equal((await test.admin.get('/healthz')).status, 200);
  t.ok(statuses(burst.received).length < 3000, 'somebody else was answered before the last of them');
  burst.end();
});

t.test('an answer says how long its connection is kept', async (t) => {
  t.match((await test.admin.get('/healthz')).headers, { 'keep-alive': 'timeout=5' });
});
