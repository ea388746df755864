/**
 * What costs by being asked for. All of them go at one box with units, simulated devices and values that move: seconds with the load and
 * seconds without it, in turns.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { ApiClient } from '../support/api-client.js';
import { at } from '../support/at.js';
import type { ApplianceProcess } from '../support/appliance-process.js';
import { apply, ok } from './costs-box.js';
import { ground, longRecipe, recipes, SITE, unitNames, UNITS, units } from './costs-plant.js';
import { released, startedBatch } from './costs-standing.js';
import { OpenLoop } from './open-loop.js';

export interface Running {
  /** How often the thing was done since the start. */
  stop(): Promise<number>;
}

export interface LoadCase {
  readonly what: string;
  readonly load: string;
  /** What one is; without it the load is a state and no count of things. */
  readonly each?: string;
  /** It cannot be taken back: seconds without it come first, all of them. */
  readonly stays?: boolean;
  start(api: ApiClient, box: ApplianceProcess): Promise<Running>;
}

const READS = 100;
const STREAMS = 10;
const CELLS = 20;
const ORDERS = 5;

/** At a rate of its own, one after the other where the box is slower than that. */
function repeated(perSecond: number, work: (n: number) => Promise<unknown>): Running {
  let [isStopped, count] = [false, 0];
  const began = performance.now();
  const done = (async (): Promise<void> => {
    while (!isStopped) {
      await work(count);
      count += 1;
      await pause(Math.max(0, began + (count * 1000) / perSecond - performance.now()));
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await done;
      return count;
    },
  };
}

let orders = 0;
const plant = [...ground, ...units('simulation')];

export async function prepareForLoads(api: ApiClient): Promise<void> {
  await apply(api, [...plant, ...longRecipe, ...recipes(1)]);
  await released(api, 'long');
}

export const LOADS: readonly LoadCase[] = [
  {
    what: 'read of a tag (gateway, access, tags)',
    load: `${READS} requests per second, signed in, on connections that stay`,
    each: 'request',
    async start(api, box) {
      const loop = new OpenLoop({ port: box.port, path: `${SITE}/units/u01/tags/m01-u01.pv`, credential: api.credential ?? '', perSecond: READS });
      return { stop: async () => (await loop.stop()).length };
    },
  },
  {
    what: 'streams',
    load: `${STREAMS} WebSockets, each told all ${UNITS * 50} tags five times a second`,
    async start(api, box) {
      const sockets = await Promise.all(Array.from({ length: STREAMS }, () => subscribed(api, box)));
      return {
        async stop() {
          for (const socket of sockets) socket.terminate();
          return STREAMS;
        },
      };
    },
  },
  {
    what: 'write with an audit record (store, audit)',
    load: `${CELLS} changes of a resource per second, each on a connection of its own`,
    each: 'write',
    start: async (api) => repeated(CELLS, async (n) => ok(await api.put(`${SITE}/areas/hall`, { description: `hall ${n % 1000}` }), 'write')),
  },
  {
    what: 'sign-in (access)',
    load: '2 per second, with a password',
    each: 'sign-in',
    start: async (_api, box) => repeated(2, async () => ok(await box.api.post('/api/v1/auth/login', { username: 'anna', password: 'a long bench password' }), 'sign-in')),
  },
  {
    what: 'apply of what is there',
    load: `${plant.length} manifests, of which none differs, once a second`,
    each: 'manifest',
    async start(api) {
      const running = repeated(1, () => apply(api, plant));
      return { stop: async () => (await running.stop()) * plant.length };
    },
  },
  {
    what: 'search',
    load: '10 questions per second',
    each: 'question',
    start: async (api) => repeated(10, async (n) => ok(await api.get(`/api/v1/search?q=m${String((n % 10) + 1).padStart(2, '0')}`), 'search')),
  },
  {
    what: 'historian, asked',
    load: 'one tag of the last hour, 10 times per second',
    each: 'question',
    async start(api) {
      return repeated(10, async (n) => ok(await api.get(`/api/v1/historian/tags?site=costs&unit=u01&address=m${String((n % 10) + 1).padStart(2, '0')}-u01.pv`), 'historian'));
    },
  },
  {
    what: 'console',
    load: 'the page of the operator and all that it loads first, once per second, nothing kept',
    each: 'load',
    start: async (api) => repeated(1, () => page(api)),
  },
  {
    what: 'rehearsal of a recipe',
    load: 'one operation with five phases of 10 s, once per second',
    each: 'rehearsal',
    start: async (api) => repeated(1, async () => ok(await api.post(`${SITE}/recipes/master/recipe-0/rehearse`, { seed: 1, waitSeconds: 60 }), 'rehearsal')),
  },
  {
    what: 'work order of the MES, created',
    load: `${ORDERS} per second, each with its batch`,
    each: 'order',
    stays: true,
    start: async (api) =>
      repeated(ORDERS, async () => {
        orders += 1;
        const order = { workOrderID: `WO-${orders}`, productDefinition: 'long', quantity: '100', engineeringUnit: 'kg' };
        ok(await api.post('/api/v1/mes/sites/costs/work-orders?dispatch=immediate', order), 'work order');
      }),
  },
  {
    what: 'running batch',
    load: `${UNITS} batches, one on each unit, in a phase that waits`,
    stays: true,
    async start(api) {
      await Promise.all(unitNames.map((unit) => startedBatch(api, 'long', unit, 0)));
      return { stop: async () => UNITS };
    },
  },
];

/** Its frames are counted by nobody: what reading costs is not the box's. */
function subscribed(api: ApiClient, box: ApplianceProcess): Promise<WebSocket> {
  const socket = new WebSocket(`${box.base.replace('http', 'ws')}/api/v1/ws`, { headers: { authorization: api.credential ?? '' } });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => socket.send(JSON.stringify({ type: 'subscribe', id: 't', channel: 'tags', filter: { site: 'costs' } })));
    let frames = 0;
    socket.on('message', () => {
      frames += 1;
      if (frames === 2) resolve(socket);
    });
  });
}

async function page(api: ApiClient): Promise<void> {
  const { text } = ok(await api.get('/hmi'), 'page');
  const named = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((found) => at(found, 1));
  for (const name of new Set(named)) ok(await api.get(name), name);
}
