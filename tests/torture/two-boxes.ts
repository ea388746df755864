/**
 * Two boxes that are configured to drive one device (D-C-06, ADR 0015): a real Modbus device, whole appliances, every order of their
 * starts. At no time do both write; the one that came second says so.
 */
import { cpSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/appliance-process.js';
import { type Plant, startPlant } from '../support/plant.js';
import { manifest, outputs, OWNERSHIP_INTERVAL_MS, PLC, plc, until } from '../support/shared-device.js';
import { type ModbusDevice, startModbusPeer } from '../smoke/modbus-device.js';
import type { Bench } from './bench.js';
import type { Round } from './scenario.js';

const TWO_INTERVALS_MS = 2 * OWNERSHIP_INTERVAL_MS;
/** Between what a probe knows and what the gateway serves, on a busy machine. */
const TOLD_AFTER_MS = 1000;
const WATCHED_MS = 6 * OWNERSHIP_INTERVAL_MS;
const LOOK_EVERY_MS = 25;
/** Output `coil`: on at first, as every even coil of the device is not. */
const COIL = 1;

interface Stage {
  readonly device: ModbusDevice;
  readonly port: number;
  /** A box in production, or one of a developer; it ends with the round. */
  box(production?: boolean): Promise<Plant>;
}

type Order = (stage: Stage) => Promise<readonly string[]>;

/** What the plant has. */
const configured = (port: number) => [manifest('Site', 'north', {}, {}), manifest('IOModule', 'plc', plc(`127.0.0.1:${port}`))];

async function configure(box: Plant, port: number): Promise<void> {
  const { status, text } = await box.api.post('/api/v1/apply', configured(port));
  if (status !== 200) throw new Error(text);
}

/** The box drives the device, and has switched the output on. */
async function master(stage: Stage): Promise<Plant> {
  const box = await stage.box();
  await configure(box, stage.port);
  await until(box, 'the first box drives the device', 'live');
  const { status, text } = await box.api.post(`${PLC}/write`, { channel: 'coil', value: true });
  if (status !== 200) throw new Error(text);
  return box;
}

async function copied(from: Plant, to: Plant): Promise<void> {
  const { status, text } = await to.api.post('/api/v1/apply', (await from.api.get('/api/v1/export')).body);
  if (status !== 200) throw new Error(text);
}

/** Looks at everybody for a while; sentences of what must not be. `among`: how many of them drive the device in the end. */
async function watched(device: ModbusDevice, boxes: readonly Plant[], { among = boxes.length, writes = [] as readonly Plant[], isOn = true } = {}): Promise<string[]> {
  const problems = new Set<string>();
  const begun = performance.now();
  let bothMs = 0;
  let last = begun;
  let live = 0;
  while (performance.now() - begun < WATCHED_MS) {
    const states = await Promise.all(boxes.map((box) => outputs(box)));
    live = states.filter(({ state }) => state === 'live').length;
    const now = performance.now();
    if (live > 1) bothMs += now - last;
    last = now;
    for (const box of writes) {
      const { status, text } = await box.api.post(`${PLC}/write`, { channel: 'coil', value: false });
      if (status === 200) problems.add(`a box that must not drive the device wrote its output: ${text}`);
    }
    if (isOn && (await device.get('coil', COIL)) !== 1) problems.add('the output of the first box was written by somebody else');
    await pause(LOOK_EVERY_MS);
  }
  if (bothMs > TWO_INTERVALS_MS + TOLD_AFTER_MS) problems.add(`both boxes were live for ${Math.round(bothMs)} ms, two intervals are ${TWO_INTERVALS_MS} ms`);
  if (live !== among) problems.add(`${live} boxes drive the device in the end, in place of ${among}`);
  return [...problems];
}

const ORDERS: readonly (readonly [what: string, order: Order])[] = [
  [
    'an applied export: nothing is written before it is enabled, nor after while the first drives the device',
    async (stage) => {
      const one = await master(stage);
      const two = await stage.box();
      await copied(one, two);
      const problems: string[] = [];
      const { state } = await outputs(two);
      if (state !== 'disabled') problems.push(`it arrived ${state}`);
      problems.push(...(await watched(stage.device, [one, two], { among: 1, writes: [two] })));
      await two.api.put(PLC, { enabled: true });
      return [...problems, ...(await watched(stage.device, [one, two], { among: 1, writes: [two] }))];
    },
  ],
  [
    'the box that came second starts first',
    async (stage) => {
      const one = await master(stage);
      const two = await stage.box();
      await configure(two, stage.port);
      await one.stop();
      await two.restart();
      const alone = await watched(stage.device, [two], { among: 0, writes: [two] }); // the other may come back
      await one.start();
      await until(one, 'the first box drives the device again', 'live');
      return [...alone, ...(await watched(stage.device, [one, two], { among: 1, writes: [two] }))];
    },
  ],
  [
    'a new device comes to two boxes at once',
    async (stage) => {
      const one = await master(stage);
      const two = await stage.box();
      await configure(two, stage.port);
      await stage.device.plugIn(); // its registers are empty again
      await one.look('one of them drives the device', async () => {
        const states = await Promise.all([one, two].map((box) => outputs(box)));
        return { done: states.some(({ state }) => state === 'live') || undefined, seen: JSON.stringify(states) };
      });
      return watched(stage.device, [one, two], { among: 1, isOn: false });
    },
  ],
  [
    'a box in development writes nothing to a device',
    async (stage) => {
      const one = await master(stage);
      const two = await stage.box(false);
      await configure(two, stage.port);
      const both = await watched(stage.device, [one, two], { among: 1, writes: [two] });
      await one.stop();
      return [...both, ...(await watched(stage.device, [two], { among: 0, writes: [two] }))];
    },
  ],
  [
    'a copy of the data directory on another machine',
    async (stage) => {
      const one = await master(stage);
      await one.stop();
      const two = await stage.box();
      await two.stop();
      rmSync(two.dataDir, { recursive: true });
      cpSync(one.dataDir, two.dataDir, { recursive: true });
      await one.start();
      await until(one, 'the first box drives the device again', 'live');
      await two.start();
      return watched(stage.device, [one, two], { among: 1, writes: [two] });
    },
  ],
];

export async function* twoBoxes(bench: Bench, rounds: number): AsyncIterable<Round> {
  for (let round = 0; round < rounds; round += 1) {
    const row = ORDERS[round % ORDERS.length];
    if (row === undefined) return;
    const [what, order] = row;
    yield { what, problems: await staged(bench, order) };
  }
}

async function staged(bench: Bench, order: Order): Promise<readonly string[]> {
  const port = await freePort();
  const device = await startModbusPeer(port);
  const boxes: Plant[] = [];
  const end = async (): Promise<void> => {
    for (const box of boxes.splice(0)) await box.end();
    await device.stop();
  };
  bench.atEnd(end);
  try {
    return await order({
      device,
      port,
      async box(production = true) {
        const box = await startPlant({ production: true, environment: production ? {} : { LINESIDE_GATEWAY__OPERATINGMODE: 'development' } });
        boxes.push(box);
        return box;
      },
    });
  } finally {
    await end();
  }
}
