/**
 * Faults of every kind in an order that a seed draws: pulls, resets, half-open connections, lost, late, slow, doubled and false answers, restarts, with
 * orders given in between. Counted is what must never be: a value that is Good while its device is gone or that the device never had, a connection that
 * stays behind, an output that is driven without an order.
 */
import type { Test } from 'tap';
import { CONNECTION, ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../runtime/vocabulary/quality.js';
import { at } from '../support/at.js';
import { FaultProxy } from '../support/fault-proxy.js';
import type { DeviceHandle, FaultCase } from './conformance-faults.js';
import { channelsOf, connectionOf, type Probe, RECONNECT_MIN_MS, startProbe, until, valueOf } from './probe-harness.js';
import { randomOf } from './random.js';

/** Benches beside each other: most of the time goes into waiting. */
export const LANES = 4;
/** One of so many faults is a restart of the device: a process takes its time. */
const RESTART_EACH = 100;
/** Time-out of a module, where its case names none. */
const TIMEOUT_MS = 200;
/** Turns of the event loop for which a device that is gone is looked at. */
const AWAY_TURNS_MAX = 40;
const MESSAGES_KEPT = 200;
/** A long run says how far it is. */
const TOLD_EACH = 1000;

export interface FaultCounts {
  faults: number;
  orders: number;
  /** Writes that went on to the device. */
  written: number;
  goodWhileGone: number;
  wrongValues: number;
  socketsLeft: number;
  outputsNobodyCommanded: number;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

class Lane {
  readonly #case: FaultCase;
  readonly #proxy: FaultProxy;
  readonly #random: () => number;
  readonly #counts: FaultCounts;
  readonly #timeoutMs: number;
  /** By the value of an order, the last connection that may carry it: any until it is answered, those of before where nobody knows what became of it. */
  readonly #carries = new Map<number, number>();
  /** 0, 1, 2, ...: values of one lane are those of no other. */
  readonly #number: number;
  #module: ReturnType<FaultCase['module']>;
  #probe: Probe | undefined;
  #orders = 0;
  #ordering: Promise<unknown> = Promise.resolve();

  constructor(number: number, faultCase: FaultCase, proxy: FaultProxy, random: () => number, counts: FaultCounts) {
    this.#number = number;
    this.#case = faultCase;
    this.#proxy = proxy;
    this.#random = random;
    this.#counts = counts;
    this.#timeoutMs = faultCase.timeoutMs ?? TIMEOUT_MS;
    const { row } = faultCase.output;
    const rows = [...faultCase.inputs.map((input) => input.row), [row[0], row[1], row[2], { direction: 'output' }] as const];
    this.#module = faultCase.module('io', proxy.port, channelsOf(rows), { pollInterval: '10ms', timeout: `${this.#timeoutMs}ms`, retries: 1 });
    proxy.delivered = (request, connection) => {
      for (const value of faultCase.written?.(request) ?? []) {
        counts.written += 1;
        if (connection > (this.#carries.get(value) ?? -1)) counts.outputsNobodyCommanded += 1;
      }
    };
  }

  async start(t: Test): Promise<void> {
    const { drivers } = this.#case;
    this.#probe = await startProbe(t, [this.#module], { random: () => 0.5, reconnectMaxMs: RECONNECT_MIN_MS, ...(drivers ? { drivers } : {}) });
  }

  #isGood(): boolean {
    return connectionOf(this.#module) === CONNECTION.connected && this.#case.inputs.every(({ row: [name] }) => valueOf(this.#module, name).quality === QUALITY.Good);
  }

  #isBad(): boolean {
    const { quality } = new ProcessImage(this.#module.channels.length, this.#module.image);
    return this.#case.inputs.every((_, place) => quality[place] === QUALITY.Bad);
  }

  #judgeValues(): void {
    for (const { row, value: wanted } of this.#case.inputs) {
      const { value, quality } = valueOf(this.#module, row[0]);
      if (quality === QUALITY.Good && value !== wanted) this.#counts.wrongValues += 1;
    }
  }

  /** Until the last fault has no trace any more. */
  async good(): Promise<void> {
    await this.#ordering; // whoever gave an order is told how it ended, whatever happened meanwhile
    await until(`good after ${this.#counts.faults} faults`, () => this.#isGood()).catch((fault: unknown) => {
      throw new Error(`${String(fault)}: ${this.#probe?.state()}, ${this.#probe?.message()}`, { cause: fault });
    });
    this.#judgeValues();
    if (this.#proxy.open > (this.#case.sockets ?? 1)) this.#counts.socketsLeft += 1;
    const { messages } = this.#probe ?? { messages: [] };
    if (messages.length > MESSAGES_KEPT) messages.length = 0;
  }

  #order(): void {
    this.#orders += 1;
    this.#counts.orders += 1;
    const value = 1 + this.#number + LANES * (this.#orders % 8000);
    this.#carries.set(value, Number.POSITIVE_INFINITY);
    const [channel] = this.#case.output.row;
    const answered = this.#probe?.ask({ type: 'write', id: this.#orders, module: 'io', channel, value }, 'write-result');
    this.#ordering = Promise.resolve(answered).then((result) => this.#carries.set(value, result?.isUnknown ? this.#proxy.accepted : -1));
  }

  async fault(): Promise<void> {
    await this.good();
    this.#counts.faults += 1;
    for (let turns = Math.floor(this.#random() * 20); turns > 0; turns -= 1) await turn();
    const isOrdered = this.#random() < 0.5;
    const isOrderedFirst = this.#random() < 0.5;
    if (isOrdered && isOrderedFirst) this.#order();
    const harm = at(this.#harms, Math.floor(this.#random() * this.#harms.length));
    const harmed = harm();
    if (isOrdered && !isOrderedFirst) this.#order();
    await harmed;
    this.#judgeValues();
    this.#mend();
  }

  #mend(): void {
    this.#proxy.release();
    this.#proxy.delayMs = 0;
    this.#proxy.refuse(false);
  }

  readonly #harms: readonly (() => Promise<void>)[] = [
    () => this.#gone(() => this.#proxy.reset()),
    () => this.#gone(() => this.#proxy.reset()),
    async () => this.#proxy.reset(),
    () => this.#gone(() => (this.#proxy.mode = 'half-open')),
    () => this.#ill('half-open', this.#timeoutMs / 2),
    () => this.#ill('bytes', this.#timeoutMs / 2),
    () => this.#ill('hold', this.#timeoutMs / 2),
    () => this.#ill('hold', this.#timeoutMs * 2.5),
    () => this.#ill('double', this.#timeoutMs / 4),
    () => this.#late(),
    () => this.#lie(),
  ];

  /** Nobody answers and nobody listens: it is Bad in time, and stays so. */
  async #gone(how: () => void): Promise<void> {
    this.#proxy.refuse(true);
    how();
    await this.away();
    this.#proxy.reset();
  }

  /** As long as the device is gone. */
  async away(): Promise<void> {
    await until('bad', () => this.#isBad());
    for (let turns = Math.floor(this.#random() * AWAY_TURNS_MAX); turns > 0; turns -= 1) {
      await turn();
      if (!this.#isBad()) this.#counts.goodWhileGone += 1;
    }
  }

  async #ill(mode: FaultProxy['mode'], ms: number): Promise<void> {
    this.#proxy.mode = mode;
    await sleep(this.#random() * ms);
  }

  async #late(): Promise<void> {
    this.#proxy.delayMs = this.#random() * this.#timeoutMs * 1.5;
    await sleep(this.#random() * this.#timeoutMs);
  }

  async #lie(): Promise<void> {
    const { lies } = this.#case;
    if (lies.length === 0) return;
    this.#proxy.rewrite = at(lies, Math.floor(this.#random() * lies.length)).of;
    await this.#ill('rewrite', this.#timeoutMs / 4);
  }

  /** An order goes out when nothing harms it any more. */
  async end(): Promise<void> {
    await this.good();
    this.#order();
    await this.#ordering;
    await this.#probe?.core.receive({ type: 'stop' });
    await until('closed', () => this.#proxy.open === 0).catch(() => void (this.#counts.socketsLeft += this.#proxy.open));
  }
}

async function restarts(count: number, device: DeviceHandle, lanes: readonly Lane[], counts: FaultCounts): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    await Promise.all(lanes.map((lane) => lane.good()));
    counts.faults += 1;
    await device.kill();
    await Promise.all(lanes.map((lane) => lane.away()));
    await device.restart();
  }
  await Promise.all(lanes.map((lane) => lane.good()));
}

/** Runs `faults` of them; the result is what was counted. */
export async function randomFaults(t: Test, setup: () => FaultCase, faults: number, seed: number): Promise<FaultCounts> {
  const counts: FaultCounts = { faults: 0, orders: 0, written: 0, goodWhileGone: 0, wrongValues: 0, socketsLeft: 0, outputsNobodyCommanded: 0 };
  const faultCase = setup();
  const device = await faultCase.device(t);
  const lanes: Lane[] = [];
  for (let number = 0; number < LANES; number += 1) {
    const proxy = await FaultProxy.start(() => device.port);
    t.teardown(() => proxy.stop());
    const lane = new Lane(number, faultCase, proxy, randomOf(seed + number), counts);
    await lane.start(t);
    lanes.push(lane);
  }
  const ofRestart = Math.ceil(faults / RESTART_EACH);
  const ofWire = faults - ofRestart;
  await Promise.all(
    lanes.map(async (lane) => {
      while (counts.faults < ofWire) {
        await lane.fault();
        if (counts.faults % TOLD_EACH === 0) t.comment(JSON.stringify(counts));
      }
    }),
  );
  await restarts(ofRestart, device, lanes, counts);
  await Promise.all(lanes.map((lane) => lane.end()));
  return counts;
}
