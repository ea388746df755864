/**
 * What costs by being there. Each row is a box with something beside a box without it; both have their data directory and are started
 * again, round by round, so that what is measured is what a box takes day by day and not what a change takes.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/api-client.js';
import { apply, atWork, ok } from './costs-box.js';
import { broker, modbusDevice, type Peer } from './costs-peers.js';
import { alarms, ground, quickRecipe, recipes, SITE, unitNames, UNITS, units } from './costs-plant.js';
import { at } from '../support/at.js';

export interface Peers {
  readonly modbus: Peer;
  /** Undefined where mosquitto is not installed. */
  readonly broker: Peer | undefined;
}

export async function startPeers(): Promise<Peers> {
  return { modbus: await modbusDevice(), broker: await broker() };
}

export interface StandingCase {
  readonly name: string;
  /** Of the domain or protocol whose row it is. */
  readonly what: string;
  /** What is there; of one of so many. */
  readonly load: string;
  /** The case without it; none: the box itself. */
  readonly beyond?: string;
  readonly count: number;
  readonly settings?: (peers: Peers) => Readonly<Record<string, string>>;
  readonly prepare: (api: ApiClient, peers: Peers) => Promise<unknown>;
  /** Names something of this run, such as the port of a device: made anew each time. */
  readonly isOfRun?: boolean;
  /** What the machine would have to have; the row says that it is not there. */
  readonly needs?: (peers: Peers) => string | undefined;
}

const ONE_THREAD = (): Readonly<Record<string, string>> => ({ LINESIDE_RUNTIME__MAXTHREADS: '1' });
const THREADS = `${UNITS} units of 50 tags in 10 modules, scanned every 100 ms`;
const BATCHES = 240;
/** Records, and batches after them, go behind their elements. */
const GOING_MS = 40_000;
const RECIPES = 500;
const ORDERS = 500;
const ALARMS = 1000;

const simulated = async (api: ApiClient): Promise<void> => {
  await apply(api, [...ground, ...units('simulation')]);
  await atWork(api);
};

export const STANDING: readonly StandingCase[] = [
  { name: 'empty', what: 'the box itself', load: 'a site, nothing that scans, nobody who asks', count: 1, prepare: (api) => apply(api, ground) },
  {
    name: 'units',
    what: 'unit with a thread of its own',
    load: `each of ${THREADS}, its inputs not bound`,
    beyond: 'empty',
    count: UNITS,
    prepare: (api) => apply(api, [...ground, ...units('none')]),
  },
  {
    name: 'units-sharing',
    what: 'unit that shares a thread',
    load: `each of ${THREADS}, all of them in one thread`,
    beyond: 'empty',
    count: UNITS,
    settings: ONE_THREAD,
    prepare: (api) => apply(api, [...ground, ...units('none')]),
  },
  {
    name: 'simulation',
    what: 'simulation, and what moving values take',
    load: `each of ${UNITS} devices of 10 inputs that move, tick of 100 ms, recorded by the historian`,
    beyond: 'units',
    count: UNITS,
    prepare: simulated,
  },
  {
    name: 'modbus',
    what: 'Modbus TCP, and what moving values take',
    load: `each of ${UNITS} devices of 10 registers that move, polled every 100 ms, recorded by the historian`,
    beyond: 'units',
    count: UNITS,
    isOfRun: true,
    prepare: async (api, { modbus }) => {
      await apply(api, [...ground, ...units({ modbusPort: modbus.port })]);
      await atWork(api);
    },
  },
  {
    name: 'mqtt',
    what: 'MQTT telemetry',
    load: `${UNITS * 50} tags, of them ${UNITS * 10} that move, each at most once per second`,
    beyond: 'simulation',
    count: 1,
    settings: (peers) => ({ LINESIDE_MQTT__ENABLED: 'true', LINESIDE_MQTT__URL: `mqtt://127.0.0.1:${peers.broker?.port ?? 0}` }),
    needs: (peers) => (peers.broker ? undefined : "Debian's mosquitto is not installed here"),
    prepare: simulated,
  },
  {
    name: 'no-historian',
    what: 'historian',
    load: `${UNITS * 50} tags, of them ${UNITS * 10} that move, recorded at most once per second`,
    beyond: 'simulation',
    count: -1, // the box without it stands below the one with it
    settings: () => ({ LINESIDE_HISTORIAN__ENABLED: 'false' }),
    prepare: simulated,
  },
  {
    name: 'alarms',
    what: 'alarm definition',
    load: `each of ${ALARMS} limits on the values of ${UNITS} units, none of them active`,
    beyond: 'simulation',
    count: ALARMS,
    prepare: async (api) => {
      await apply(api, [...ground, ...units('simulation'), ...alarms(ALARMS)]);
      await atWork(api);
    },
  },
  {
    name: 'recipes',
    what: 'recipe',
    load: `each of ${RECIPES} of one operation with five phases, as drafts`,
    beyond: 'empty',
    count: RECIPES,
    prepare: (api) => apply(api, [...ground, ...recipes(RECIPES)]),
  },
  {
    name: 'orders',
    what: 'work order of the MES',
    load: `each of ${ORDERS} that wait, with its batch`,
    beyond: 'empty',
    count: ORDERS,
    prepare: async (api) => {
      await apply(api, [
        ...ground,
        ...units('none')
          .filter(({ kind }) => kind === 'Unit')
          .slice(0, 1),
        ...quickRecipe,
      ]);
      await released(api, 'quick');
      await inTurns(ORDERS, 8, async (n) => {
        const order = { workOrderID: `WO-${n}`, productDefinition: 'quick', quantity: '100', engineeringUnit: 'kg' };
        ok(await api.post('/api/v1/mes/sites/costs/work-orders?dispatch=immediate', order), 'work order');
      });
    },
  },
  {
    name: 'batches',
    what: 'ended batch with its record',
    load: `each of ${BATCHES} of five phases, before they are past`,
    beyond: 'units',
    count: BATCHES,
    settings: () => ({ LINESIDE_BATCH__PASTAFTER: '0', LINESIDE_BATCH__RECORDPASTAFTER: '0' }),
    prepare: endedBatches,
  },
  {
    name: 'past-batches',
    what: 'ended batch that is past',
    load: `each of ${BATCHES} of five phases, whose rows have left the memory`,
    beyond: 'units',
    count: BATCHES,
    settings: () => ({ LINESIDE_BATCH__PASTAFTER: '1ms', LINESIDE_BATCH__RECORDPASTAFTER: '1ms' }),
    async prepare(api) {
      await endedBatches(api);
      await pause(GOING_MS);
    },
  },
];

export async function released(api: ApiClient, recipe: string): Promise<void> {
  for (const step of ['approve', 'release', 'activate']) ok(await api.post(`${SITE}/recipes/master/${recipe}/${step}`, { reason: 'for the bench of costs' }), step);
}

async function endedBatches(api: ApiClient): Promise<void> {
  await apply(api, [...ground, ...units('none'), ...quickRecipe]);
  await atWork(api);
  await released(api, 'quick');
  await Promise.all(
    unitNames.map(async (unit) => {
      for (let n = 0; n < BATCHES / UNITS; n += 1) {
        const name = await startedBatch(api, 'quick', unit, n);
        await eventually('the batch has ended', async () => ok(await api.get(`${SITE}/batches/${name}`), 'batch').body.phase === 'Complete', 60_000, 100);
      }
    }),
  );
  await eventually(
    'all records are made',
    async () => (ok(await api.get(`${SITE}/batchrecords?limit=500`), 'records').body.items as readonly unknown[]).length === BATCHES,
    60_000,
    500,
  );
}

/** @returns the name of its resource. */
export async function startedBatch(api: ApiClient, recipe: string, unit: string, n: number): Promise<string> {
  const { name } = ok(await api.post(`${SITE}/batches`, { batchID: `B-${unit}-${n}`, masterRecipeRef: recipe, equipment: { bench: unit } }), 'batch').body as {
    readonly name: string;
  };
  ok(await api.post(`${SITE}/command`, { kind: 'Batch', name, command: 'Start' }), 'Start');
  return name;
}

/** So many at once. */
async function inTurns(count: number, atOnce: number, work: (n: number) => Promise<void>): Promise<void> {
  const left = Array.from({ length: count }, (_, n) => n);
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left.length > 0) await work(at(left.splice(0, 1), 0));
    }),
  );
}
