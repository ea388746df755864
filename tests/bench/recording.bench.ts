/**
 * What a recording costs the scan of a unit (ADR 0005): two unit loops of 1,000 blocks on 300 channels in one run, one of them
 * recording, scanned in turns; every analog input changes in every scan, which is the worst there is.
 * By hand: `node --expose-gc dist/tests/bench/recording.bench.js`. Goals: at most 0.1 % of a period of 100 ms; at most 5 ms to
 * begin, once; on the heap only what the message of each second is made of, at most 256 bytes a scan.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { PhaseSet } from '../../runtime/chart/phase-set.js';
import type { RecordingPart, UnitInbound, UnitOutbound } from '../../runtime/port.js';
import { ScanClock } from '../../runtime/scan/clock.js';
import { UnitLoop } from '../../runtime/scan/loop.js';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { image, unitPlan } from '../runtime/network/plans.js';
import { median, tell, verdict } from './judge.js';
import { channelsOf, loop } from './loop-network.js';

const LOOPS = 100;
const SCANS = 500;
const ROUNDS = 15;
const SHARE_MAX = 0.001;
const PERIOD_MS = 100;
const BEGIN_MS_MAX = 5;
const HEAP_BYTES_MAX = 256;
const HEAP_ROUNDS = 9;

const CHANNELS = channelsOf(LOOPS);

class Bench {
  readonly #inbox: UnitInbound[] = [];
  readonly #image: ProcessImage;
  readonly #loop: UnitLoop;
  readonly #out: MessagePort;
  readonly #gateway: MessagePort;
  #nowMs = 1_790_000_000_000;
  #scan = 0;
  bytes = 0;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    [this.#out, this.#gateway] = [port1, port2];
    const io = image('io', ...CHANNELS);
    this.#image = new ProcessImage(CHANNELS.length, io.buffer);
    const nowMs = (): number => this.#nowMs;
    this.#loop = new UnitLoop({
      receive: () => this.#inbox.shift(),
      post: (message, transfer) => this.#post(message, transfer),
      clock: new ScanClock({ monoMs: nowMs }),
      monoMs: nowMs,
      wallMs: nowMs,
      phases: (host, settings) => new PhaseSet(host, settings),
    });
    this.send({ type: 'plan', plan: unitPlan({ images: [io], networks: Array.from({ length: LOOPS }, (_, n) => loop(n)) }) });
  }

  /** As the worker does. What is read of it later takes the time of the gateway, and none of the scan. */
  #post(message: UnitOutbound, transfer: readonly ArrayBuffer[] = []): void {
    if (message.type === 'recording') this.#out.postMessage(message.part, transfer);
  }

  /** What the gateway does. */
  #read(): void {
    for (let got = receiveMessageOnPort(this.#gateway); got; got = receiveMessageOnPort(this.#gateway)) {
      const part = got.message as RecordingPart;
      if (part.kind === 'scans') this.bytes += part.bytes.length;
    }
  }

  send(message: UnitInbound): number {
    this.#inbox.push(message);
    const began = performance.now();
    this.#loop.receive();
    const tookMs = performance.now() - began;
    this.#read();
    return tookMs;
  }

  /** CPU time of one scan in microseconds, over all of a round. */
  round(): number {
    const { value, sampledAtMs, sampledMonoMs, quality } = this.#image;
    const began = process.cpuUsage();
    for (let scan = 0; scan < SCANS; scan += 1) {
      this.#scan += 1;
      this.#nowMs += PERIOD_MS;
      this.#image.beginInputs();
      for (let n = 0; n < LOOPS; n += 1) {
        value[3 * n] = 8 + ((this.#scan + 2 * n) % 64) * 0.125;
        value[3 * n + 1] = 8 + ((this.#scan + 2 * n + 1) % 64) * 0.125;
      }
      sampledAtMs.fill(this.#nowMs);
      sampledMonoMs.fill(this.#nowMs);
      quality.fill(0);
      this.#image.endInputs();
      this.#loop.scan(1);
    }
    const { user, system } = process.cpuUsage(began);
    this.#read();
    return (user + system) / SCANS;
  }

  /** Bytes allocated on the heap per scan, before any of them is collected. */
  allocated(): number {
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    this.round();
    return (process.memoryUsage().heapUsed - before) / SCANS;
  }
}

const [plain, recorded] = [new Bench(), new Bench()];
for (let round = 0; round < 4; round += 1) for (const bench of [plain, recorded]) bench.round();
const record: UnitInbound = { type: 'record', recording: 'r', durationMaxMs: 10 ** 9, bytesMax: 2 ** 31 };
const begins: number[] = [];
for (let begin = 0; begin < 9; begin += 1) {
  begins.push(recorded.send(record));
  recorded.send({ type: 'record-stop', recording: 'r' });
}
recorded.send(record);
for (const bench of [plain, recorded]) bench.round();
const bytesBefore = recorded.bytes;
const times: { readonly plain: number[]; readonly recorded: number[] } = { plain: [], recorded: [] };
for (let round = 0; round < ROUNDS; round += 1) {
  times.plain.push(plain.round());
  times.recorded.push(recorded.round());
}
const bytes = (recorded.bytes - bytesBefore) / ROUNDS / SCANS;
const heaps: { readonly plain: number[]; readonly recorded: number[] } = { plain: [], recorded: [] };
for (let round = 0; round < HEAP_ROUNDS; round += 1) {
  heaps.plain.push(plain.allocated());
  heaps.recorded.push(recorded.allocated());
}
const heap = { plain: median(heaps.plain), recorded: median(heaps.recorded) };
const [plainUs, recordedUs, beginMs] = [median(times.plain), median(times.recorded), median(begins)];
const addedUs = recordedUs - plainUs;
const addedBytes = heap.recorded - heap.plain;
console.log(`1,000 blocks, 300 channels, 200 of them changing in every scan; ${ROUNDS} interleaved rounds of ${SCANS} scans`);
console.log(`scan without recording      ${plainUs.toFixed(1).padStart(8)} us, ${heap.plain.toFixed(0).padStart(5)} bytes of heap`);
console.log(`scan with recording         ${recordedUs.toFixed(1).padStart(8)} us, ${heap.recorded.toFixed(0).padStart(5)} bytes of heap`);
console.log(
  `added per scan              ${addedUs.toFixed(1).padStart(8)} us, ${((addedUs / 1000 / PERIOD_MS) * 100).toFixed(3)} % of ${PERIOD_MS} ms (at most ${SHARE_MAX * 100} %)`,
);
console.log(`recorded inputs per scan    ${bytes.toFixed(0).padStart(8)} bytes, ${((bytes * 36_000) / 2 ** 20).toFixed(0)} MiB an hour`);
console.log(`begin of a recording        ${beginMs.toFixed(2).padStart(8)} ms (at most ${BEGIN_MS_MAX} ms)`);
tell('added per scan, % of its period', (addedUs / 1000 / PERIOD_MS) * 100);
tell('begin of a recording, ms', beginMs);
console.log(verdict(addedUs / 1000 <= PERIOD_MS * SHARE_MAX && beginMs <= BEGIN_MS_MAX && addedBytes <= HEAP_BYTES_MAX));
