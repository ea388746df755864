/** A real worker with a real tag table and process image: what the gateway and a probe see of it. */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { monotonicMs } from '../../../runtime/vocabulary/monotonic.js';
import type { ScanThreadInbound, ScanThreadOutbound, ScanThreadStart, UnitInbound, UnitOutbound, UnitPlan } from '../../../runtime/port.js';
import { CONNECTION, IMAGE_HEADER, ProcessImage, WRITE_STATUS } from '../../../runtime/vocabulary/process-image.js';
import { osThreadId, Waker } from '../../../runtime/vocabulary/scan-thread.js';
import { STAT, TagTable } from '../../../runtime/vocabulary/tag-table.js';
import { image, network, tags, unitPlan, wires } from '../network/plans.js';
import { at } from '../../support/at.js';

/** The start of the thread included, which takes seconds on a busy machine. */
const NO_SCAN_MS_MAX = 60_000;
const ENTRY = fileURLToPath(new URL('../../../runtime/worker.js', import.meta.url));

/** A scan thread of one unit with everything that has said so far; `until` waits for the next message that fits. */
class TestUnit {
  readonly worker = new Worker(ENTRY, { workerData: { cells: new Waker().memory } satisfies ScanThreadStart });
  readonly messages: UnitOutbound[] = [];
  /** Of the thread, not of its unit. */
  readonly told: ScanThreadOutbound[] = [];

  constructor() {
    this.worker.on('message', (message: ScanThreadOutbound) => {
      if (message.type === 'unit') this.messages.push(message.message);
      else this.told.push(message);
    });
    this.#tell({ type: 'host', runtime: 1 });
  }

  #tell(message: ScanThreadInbound): void {
    this.worker.postMessage(message);
  }

  send(message: UnitInbound): void {
    this.#tell({ type: 'unit', runtime: 1, message });
  }

  async until<T extends UnitOutbound['type']>(type: T, fits: (message: Extract<UnitOutbound, { type: T }>) => boolean = () => true): Promise<Extract<UnitOutbound, { type: T }>> {
    for (;;) {
      const found = this.messages.find((message): message is Extract<UnitOutbound, { type: T }> => message.type === type && fits(message as Extract<UnitOutbound, { type: T }>));
      if (found) return found;
      await once(this.worker, 'message');
    }
  }

  /** A sample that was made before the thread was there would be too old for its first scan. */
  async ready(): Promise<Extract<ScanThreadOutbound, { type: 'ready' }>> {
    for (;;) {
      const [first] = this.told;
      if (first?.type === 'ready') return first;
      await once(this.worker, 'message');
    }
  }

  async stop(): Promise<void> {
    this.send({ type: 'stop' });
    await this.until('stopped');
    this.#tell({ type: 'close' });
    await once(this.worker, 'exit');
  }
}

/** Waits for the scan of the worker, through the version word of the table, until the condition holds. */
async function untilTable(table: TagTable, holds: () => boolean): Promise<void> {
  while (!holds()) {
    const seen = Atomics.load(table.version, 0);
    if (holds()) return;
    const wait = (Atomics as unknown as { waitAsync(cell: Int32Array, index: number, value: number, ms: number): { value: Promise<string> | string } }).waitAsync(
      table.version,
      0,
      seen,
      NO_SCAN_MS_MAX,
    );
    if ((await wait.value) === 'timed-out') throw new Error(`the worker has not scanned for ${NO_SCAN_MS_MAX / 1000} s`);
  }
}

function loopPlan(part: Partial<UnitPlan> = {}): UnitPlan {
  return unitPlan({
    scanIntervalMs: 10,
    tags: tags(
      'tic.pv ai.OUT REAL',
      'tic.high gt.OUT BOOL',
      'tic.limit gt.IN2 REAL w',
      'tic.out ao.OUT REAL w',
      'tic.count ctu.CV INT',
      'tic.state v.STATE STRING',
      'tic.ok ao.OK BOOL',
    ),
    images: [image('io', 'tt input', 'vlv output')],
    networks: [
      network({
        name: 'tic',
        scanIntervalMs: 10,
        blocks: [
          { name: 'ai', type: 'AI', params: { addr: '', rawMin: 4, rawMax: 20, engMin: 0, engMax: 100 } },
          { name: 'gt', type: 'GT', params: { IN2: 50 } },
          { name: 'sel', type: 'SEL', params: { IN0: 10, IN1: 90 } },
          { name: 'ao', type: 'AO', params: { addr: '' } },
          { name: 'ctu', type: 'CTU', params: { PV: 5 } },
          { name: 'v', type: 'VALVE' },
        ],
        connections: wires('ai.OUT > gt.IN1', 'gt.OUT > sel.G', 'sel.OUT > ao.IN', 'gt.OUT > ctu.CU', 'gt.OUT > v.CMD'),
        channels: [
          { block: 'ai', image: 0, channel: 0 },
          { block: 'ao', image: 0, channel: 1 },
        ],
      }),
    ],
    ...part,
  });
}

function sample(io: ProcessImage, raw: number): void {
  Atomics.store(io.header, IMAGE_HEADER.connection, CONNECTION.connected);
  io.beginInputs();
  io.value[0] = raw;
  io.quality[0] = 0;
  io.stamp(0, Date.now(), monotonicMs());
  io.endInputs();
}

t.test('Decisions 2.4: a unit runtime scans its plan, takes writes, swaps plans keeping state, and stops', async (t) => {
  const unit = new TestUnit();
  const ready = await unit.ready();
  t.ok(ready.osThreadId > 0, 'names its thread to the operating system');
  const plan = loopPlan();
  const io = new ProcessImage(2, at(plan.images, 0).buffer);
  const table = new TagTable(plan.tags.length, plan.table);
  sample(io, 16);
  unit.send({ type: 'plan', plan });
  const loaded = await unit.until('plan-loaded');
  t.strictSame(loaded.networks, [{ network: 'tic', state: 'Running', message: '', faultedBlocks: [] }]);

  await untilTable(table, () => {
    sample(io, 16); // a machine so slow that the sample is old at the first scan must not make it bad for good
    return table.values[0] === 75 && table.quality[0] === 0;
  });
  t.equal(table.values[1], 1, '75 is above the limit of 50');
  t.equal(io.out[1], 90, 'the output is in the process image');
  t.ok(Atomics.load(io.outSeq, 1) > 0, 'and its sequence tells the probe');
  const opening = table.values[5];
  t.match(await unit.until('text', (message) => message.id === opening), { text: 'Opening' }, 'a text is announced with the id that is published');

  unit.send({ type: 'write', id: 7, address: 'tic.limit', value: 80 });
  t.match(await unit.until('write-result', (message) => message.id === 7), { ok: true });
  await untilTable(table, () => table.values[1] === 0);
  t.equal(table.values[3], 10);
  unit.send({ type: 'write', id: 8, address: 'tic.pv', value: 1 });
  t.match(await unit.until('write-result', (message) => message.id === 8), { ok: false, code: 'read_only_tag' });
  unit.send({ type: 'write', id: 9, address: 'tic.nothing', value: 1 });
  t.match(await unit.until('write-result', (message) => message.id === 9), { ok: false, code: 'unknown_tag' });
  unit.send({ type: 'write', id: 10, address: 'tic.limit', value: 'warm' });
  t.match(await unit.until('write-result', (message) => message.id === 10), { ok: false, code: 'invalid_value' });
  unit.send({ type: 'write', id: 11, address: 'tic.out', value: 33 });
  t.match(await unit.until('write-result', (message) => message.id === 11), { ok: false, code: 'write_failed' }, 'an output cannot be overridden in Automatic');

  unit.send({ type: 'inspect', id: 1, what: 'network', name: 'tic' });
  const seen = (await unit.until('inspect-result', (message) => message.id === 1)).result as { executionOrder: string[]; scanCount: number };
  t.strictSame(seen.executionOrder, ['ai', 'gt', 'sel', 'ao', 'ctu', 'v']);
  unit.send({ type: 'inspect', id: 2, what: 'diagnostics', name: '' });
  const diagnostics = (await unit.until('inspect-result', (message) => message.id === 2)).result as { unit: string; scan: { count: number; p99Ms: number } };
  t.equal(diagnostics.unit, 'u1');
  t.ok(diagnostics.scan.count > 2 && diagnostics.scan.p99Ms > 0);

  const saved = await unit.until('retained', (message) => message.networks.tic?.blocks.gt?.IN2 === 80);
  t.equal(saved.networks.tic?.hash, 'h1', 'the written limit is retained under the hash of the network');

  const next = loopPlan({ revision: 2, images: plan.images });
  const nextTable = new TagTable(next.tags.length, next.table);
  const counted = at(table.values, 4);
  unit.send({ type: 'plan', plan: next });
  await unit.until('plan-loaded', (message) => message.revision === 2);
  await untilTable(nextTable, () => {
    sample(io, 18);
    return nextTable.values[0] === 87.5 && nextTable.quality[0] === 0;
  });
  t.equal(nextTable.values[2], 80, 'the written limit stands after the swap');
  t.equal(nextTable.values[4], counted + 1, 'the counter went on counting');
  t.ok(at(nextTable.stats, STAT.scanCount) > 0 && at(nextTable.stats, STAT.heartbeatAtMs) > 0);
  await unit.stop();
  t.strictSame(unit.told.at(-1), { type: 'ended', runtime: 1, fault: '' });
});

t.test('Decisions 3.8: a written value is retained with its scan, whatever the interval', async (t) => {
  const unit = new TestUnit();
  await unit.ready();
  const base = loopPlan();
  const plan = { ...base, settings: { ...base.settings, retainIntervalMs: 3_600_000 } };
  const table = new TagTable(plan.tags.length, plan.table);
  const io = new ProcessImage(2, at(plan.images, 0).buffer);
  sample(io, 4);
  unit.send({ type: 'plan', plan });
  await untilTable(table, () => {
    sample(io, 4);
    return at(table.stats, STAT.scanCount) > 0 && table.quality[0] === 0;
  });
  unit.send({ type: 'write', id: 1, address: 'tic.limit', value: 71 });
  const saved = await unit.until('retained', (message) => message.networks.tic?.blocks.gt?.IN2 === 71);
  t.equal(saved.networks.tic?.hash, 'h1');
  await unit.stop();
});

t.test('Decisions 3.8, 5.1 rule 7, 6.7: retained values of an earlier epoch, overrides, time scale', async (t) => {
  const unit = new TestUnit();
  const plan = loopPlan({ retained: { tic: { hash: 'h1', blocks: { ctu: { cv: 41 }, gt: { IN2: 60 } } } }, moduleModes: { tic: 'Manual' } });
  const io = new ProcessImage(2, at(plan.images, 0).buffer);
  const table = new TagTable(plan.tags.length, plan.table);
  sample(io, 4);
  unit.send({ type: 'plan', plan });
  await untilTable(table, () => table.values[4] === 41);
  t.equal(table.values[2], 60, 'the written value came back');

  unit.send({ type: 'write', id: 1, address: 'tic.out', value: 150 });
  t.match(await unit.until('write-result', (message) => message.id === 1), { ok: true }, 'Manual allows the override');
  await untilTable(table, () => table.values[3] === 100);
  t.equal(io.out[1], 100, 'the override is clamped and written');
  unit.send({ type: 'module-mode', module: 'tic', mode: 'Automatic' });
  await untilTable(table, () => {
    sample(io, 4); // a machine so slow that the first sample is old must not hold the output at its last value
    return table.values[3] === 10;
  });
  t.pass('the override ended with the return to Automatic');

  Atomics.store(io.outDone, 1, Atomics.load(io.outSeq, 1));
  io.outStatus[1] = WRITE_STATUS.done;
  await untilTable(table, () => table.values[6] === 1);
  t.pass('the acknowledged write is OK');
  const before = at(table.stats, STAT.plantMs);
  unit.send({ type: 'time-scale', timeScale: 5 });
  await untilTable(table, () => table.stats[STAT.timeScale] === 5 && at(table.stats, STAT.plantMs) > before + 100);
  t.equal(at(table.stats, STAT.plantMs) % 10, 0, 'plant time goes in whole scan intervals');
  await unit.stop();
});

t.test('the number of a thread is the last part of where /proc/thread-self leads; where there is no /proc it is 0', async (t) => {
  const asked: string[] = [];
  const leads = (link: string): string => {
    asked.push(link);
    return '412/task/415';
  };
  t.equal(osThreadId(leads), 415);
  t.same(asked, ['/proc/thread-self']);
  const missing = (): string => {
    throw new Error('ENOENT');
  };
  t.equal(osThreadId(missing), 0);
});
