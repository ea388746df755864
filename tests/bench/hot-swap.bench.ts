/**
 * Download of a changed 1,000-block network into a running unit worker (performance notes, E): what compiling costs, and
 * whether a scan of that unit is late. Once as 100 instances of one module template, once as one network without
 * repetition. Goals: at most 50 ms of CPU time to compile in the median, and no scan of a 100 ms unit late by more than one period.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { NetworkSet } from '../../runtime/network/network-set.js';
import { TextTable } from '../../runtime/network/texts.js';
import type { NetworkPlan, UnitOutbound, UnitPlan } from '../../runtime/port.js';
import type { BlockSpec } from '../../runtime/vocabulary/network.js';
import { STAT, TagTable } from '../../runtime/vocabulary/tag-table.js';
import { network, tags, unitPlan, wires } from '../runtime/network/plans.js';

const BLOCKS = 1000;
const PERIOD_MS = 100;
const SWAPS = 12;
const SCANS_PER_SWAP = 4;
const COMPILE_MS_MAX = 50;

/** Numbers that look random and are the same in every run. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

const REAL_TYPES = ['ADD', 'SUB', 'MUL', 'LIMIT', 'LAG', 'PID', 'MAX', 'SEL'];
const BOOL_TYPES = ['GT', 'LT', 'AND', 'OR', 'TON', 'SR'];
const INPUTS: Readonly<Record<string, string>> = {
  ADD: 'IN1:r IN2:r',
  SUB: 'IN1:r IN2:r',
  MUL: 'IN1:r',
  LIMIT: 'IN:r',
  LAG: 'IN:r',
  PID: 'PV:r',
  MAX: 'IN1:r IN2:r',
  SEL: 'G:b IN0:r IN1:r',
  GT: 'IN1:r',
  LT: 'IN1:r',
  AND: 'IN1:b IN2:b',
  OR: 'IN1:b IN2:b',
  TON: 'IN:b',
  SR: 'S1:b R:b',
};
const PARAMS: Readonly<Record<string, BlockSpec['params']>> = {
  MUL: { IN2: 0.5 },
  LIMIT: { MN: 0, MX: 100 },
  PID: { kp: 2, ti: 'T#20s', SP: 50 },
  LAG: { tau: 'T#5s' },
  GT: { IN2: 20 },
  LT: { IN2: 80 },
  TON: { PT: 'T#2s' },
};

interface Sources {
  readonly r: string[];
  readonly b: string[];
}

/** Blocks wired at random to earlier ones: no two seeds give the same shape, so every download compiles anew. */
function wired(name: string, blocks: number, seed: number): NetworkPlan {
  const pick = generator(seed);
  const sources: Sources = { r: ['start.OUT'], b: ['seen.OUT'] };
  const specs: BlockSpec[] = [
    { name: 'start', type: 'ADD', params: { IN1: 20, IN2: 22 } },
    { name: 'seen', type: 'GT', params: { IN1: 1.5, IN2: 0.5 } },
  ];
  const connections: string[] = [];
  for (let n = specs.length; n < blocks; n += 1) {
    const isReal = pick(3) > 0;
    const types = isReal ? REAL_TYPES : BOOL_TYPES;
    const type = types[pick(types.length)];
    const params = PARAMS[type];
    specs.push({ name: `x${n}`, type, ...(params && { params }) });
    for (const input of INPUTS[type].split(' ')) {
      const [port, kind] = input.split(':');
      const from = sources[kind as keyof Sources];
      connections.push(`${from[pick(from.length)]} > x${n}.${port}`);
    }
    sources[isReal ? 'r' : 'b'].push(`x${n}.${type === 'TON' ? 'Q' : type === 'SR' ? 'Q1' : 'OUT'}`);
  }
  return network({ name, shape: name, scanIntervalMs: PERIOD_MS, hash: String(seed), blocks: specs, connections: wires(...connections) });
}

interface Form {
  readonly title: string;
  readonly networks: (seed: number) => NetworkPlan[];
}

const FORMS: readonly Form[] = [
  { title: '100 instances of a template of 10', networks: (seed) => Array.from({ length: BLOCKS / 10 }, (_, n) => ({ ...wired(`m${n}`, 10, seed), shape: 'template' })) },
  { title: 'one network of 1,000', networks: (seed) => [wired('free', BLOCKS, seed)] },
];

function planOf(form: Form, seed: number): UnitPlan {
  const networks = form.networks(seed);
  return unitPlan({ revision: seed, scanIntervalMs: PERIOD_MS, tags: tags(`${networks[0].name}.start start.OUT REAL`), networks });
}

/** CPU time of this thread: other programs of the machine must not count. */
const threadMs = (): number => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;

/** CPU time of everything of a download but the warm-up, whose time is over at once on this clock. */
function compileMs(plan: UnitPlan): number {
  let now = 0;
  const clockMs = (): number => {
    now += 1e9;
    return now;
  };
  const began = threadMs();
  const set = new NetworkSet(plan, { texts: new TextTable(), clockMs });
  const took = threadMs() - began;
  for (const { state, message } of set.reports()) if (state !== 'Running') throw new Error(message);
  if (set.blockCount !== BLOCKS) throw new Error(`${set.blockCount} blocks`);
  return took;
}

/** A unit worker as the product starts it. */
class TestUnit {
  readonly worker = new Worker(fileURLToPath(new URL('../../runtime/worker.js', import.meta.url)), {
    workerData: null,
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 },
  });
  #table: TagTable | undefined;

  /** Milliseconds from sending the plan to the message that it is loaded: a scan may be waited for first. */
  async load(plan: UnitPlan): Promise<void> {
    this.worker.postMessage({ type: 'plan', plan });
    for (;;) {
      const [message] = (await once(this.worker, 'message')) as [UnitOutbound];
      if (message.type !== 'plan-loaded' || message.revision !== plan.revision) continue;
      const broken = message.networks.find(({ state }) => state !== 'Running');
      if (broken) throw new Error(broken.message);
      this.#table = new TagTable(plan.tags.length, plan.table);
      return;
    }
  }

  /** The latest that one of the next scans began, in ms; the worker wakes us after each. */
  latest(scans: number): { readonly lateMs: number; readonly missed: number } {
    const table = this.#table;
    if (!table) throw new Error('no plan');
    let lateMs = 0;
    let last = -1;
    for (let seen = 0; seen < scans; ) {
      const version = Atomics.load(table.version, 0);
      const count = table.stats[STAT.scanCount];
      if (version % 2 === 0 && version > 0 && count !== last) {
        last = count;
        seen += 1;
        lateMs = Math.max(lateMs, table.stats[STAT.latenessUs] / 1000);
      }
      if (seen < scans && Atomics.wait(table.version, 0, version, 5000) === 'timed-out') throw new Error('the worker has not scanned for 5 s');
    }
    return { lateMs, missed: table.stats[STAT.missed] };
  }
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1];
let failed = false;
console.log(`${SWAPS} downloads of ${BLOCKS} changed blocks into a running unit of ${PERIOD_MS} ms, each a shape nobody has seen; ms`);
console.log('form                                 compile: median   max   scan late: median   max  periods missed');
for (const form of FORMS) {
  // The first is the download of a plant that just started: nothing waits for it.
  const compile = Array.from({ length: SWAPS + 1 }, (_, n) => compileMs(planOf(form, 1000 + n))).slice(1);
  const unit = new TestUnit();
  await unit.load(planOf(form, 1));
  const { missed: missedBefore } = unit.latest(SCANS_PER_SWAP);
  const late: number[] = [];
  let missed = missedBefore;
  for (let swap = 0; swap < SWAPS; swap += 1) {
    await unit.load(planOf(form, swap + 2));
    const seen = unit.latest(SCANS_PER_SWAP);
    late.push(seen.lateMs);
    missed = seen.missed;
  }
  await unit.worker.terminate();
  const good = median(compile) <= COMPILE_MS_MAX && Math.max(...late) <= PERIOD_MS && missed === missedBefore;
  if (!good) failed = true;
  const cell = (value: number, width: number): string => value.toFixed(1).padStart(width);
  console.log(
    `${form.title.padEnd(37)}${cell(median(compile), 15)}${cell(Math.max(...compile), 6)}${cell(median(late), 20)}${cell(Math.max(...late), 6)}${String(missed - missedBefore).padStart(16)}  ${good ? 'ok' : 'MISSED'}`,
  );
}
console.log(`goals: compile <= ${COMPILE_MS_MAX} ms in the median, late <= ${PERIOD_MS} ms, no period missed`);
if (failed) process.exitCode = 1;
