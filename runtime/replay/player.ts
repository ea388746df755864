/**
 * Executes a recording again: the scan loop of the unit runtime, with the recorded clocks, messages and latched inputs in the
 * place of the world. It says at which scan it went another way than the worker did.
 */
import type { MonoMs, WallMs } from '../vocabulary/times.js';
import { PhaseSet } from '../chart/phase-set.js';
import type { IoLink } from '../network/io-link.js';
import type { RecordedMessage, RecordingPart, RecordingStart, UnitInbound } from '../port.js';
import type { AlarmImage } from '../scan/alarm-image.js';
import { ScanClock } from '../scan/clock.js';
import { UnitLoop } from '../scan/loop.js';
import { Checksum } from '../vocabulary/checksum.js';
import { firstDifference } from './difference.js';
import { ByteReader, InputCells } from './inputs.js';
import { Ports } from './ports.js';
import { ALARM_IMAGE_STALE_BIT, MARK, RECORDING_FORM } from './recorder.js';
import { withMemory } from './shared-memory.js';
import type { UnitState } from './unit-state.js';

/** The replay differs from what was recorded. */
export class Divergence extends Error {
  readonly scan: number;

  constructor(scan: number, message: string) {
    super(message);
    this.scan = scan;
  }
}

export class Player {
  readonly start: RecordingStart;
  readonly loop: UnitLoop;
  /** Number of the last scan, its wall time, and how many checksums have been met. */
  scan: number;
  wallMs: WallMs;
  checksums = 0;
  /** The end of the recording was met, and with it the same state. */
  ended = false;
  readonly #inbox: UnitInbound[] = [];
  readonly #sum = new Checksum();
  #monoMs = 0;
  #bytes = new ByteReader(new Uint8Array(0));
  #cells: InputCells | undefined;
  #io: IoLink | undefined;
  #ports: Ports | undefined;
  #portsOf: unknown;
  #lastGood: number;

  /** @throws Error when the recording is of another form, or its state of another version of the product. */
  constructor(start: RecordingStart) {
    if (start.form !== RECORDING_FORM) throw new Error(`the recording has form ${start.form}; this version of the product replays form ${RECORDING_FORM}`);
    this.start = start;
    this.scan = start.scan;
    this.#lastGood = start.scan;
    this.wallMs = start.wallMs;
    const monoMs = (): number => this.#monoMs;
    this.loop = new UnitLoop({
      receive: () => this.#inbox.shift(),
      post: () => undefined,
      clock: new ScanClock({ monoMs }),
      monoMs,
      cold: true,
      wallMs: () => this.wallMs,
      phases: (host, settings) => new PhaseSet(host, settings),
      inputs: (io) => this.#latch(io),
      alarmImage: (alarmImage) => this.#alarmImage(alarmImage),
    });
    this.loop.restore(withMemory(start.plan), start.state as UnitState);
  }

  /** Ports of the present plan. */
  get ports(): Ports {
    const { networks, texts } = this.loop;
    if (!networks) throw new Error('a replay has networks from its start');
    if (!this.#ports || this.#portsOf !== networks) this.#ports = new Ports(networks, texts);
    this.#portsOf = networks;
    return this.#ports;
  }

  /** @throws Divergence */
  play(part: RecordingPart, eachScan: () => void = () => undefined): void {
    switch (part.kind) {
      case 'scans':
        return this.#playScans(part.bytes, eachScan);
      case 'message':
        return this.#playMessage(part.message, part.wallMs, part.monoMs);
      case 'texts':
        for (const text of part.texts) this.loop.texts.intern(text);
        return;
      case 'end':
        return this.#compareEnd(part.state);
      case 'start':
      case 'refused':
        return;
    }
  }

  #playScans(bytes: Uint8Array, eachScan: () => void): void {
    const from = new ByteReader(bytes);
    this.#bytes = from;
    while (!from.done) {
      const mark = from.byte();
      if (mark === MARK.scan) {
        const elapsed = from.varint();
        this.wallMs = from.number();
        this.#monoMs = from.number();
        this.#run(elapsed);
        eachScan();
      } else if (mark === MARK.alarmImage) {
        this.wallMs = from.number();
        this.#monoMs = from.number();
        this.loop.judgeAlarms();
      } else if (mark === MARK.checksum) this.#check(from.word(), from.word());
      else throw new Divergence(this.scan + 1, `scan ${this.scan + 1}: the recorded inputs cannot be read (mark ${mark})`);
    }
  }

  #run(elapsed: number): void {
    this.scan += 1;
    try {
      this.loop.scan(elapsed);
    } catch (fault) {
      throw new Divergence(this.scan, `scan ${this.scan}: ${fault instanceof Error ? fault.message : String(fault)}`);
    }
  }

  #latch(io: IoLink): void {
    if (!this.#cells || this.#io !== io) this.#cells = new InputCells(io);
    this.#io = io;
    this.#cells.read(this.#bytes, this.#monoMs);
  }

  #alarmImage(alarmImage: AlarmImage): void {
    for (const tag of alarmImage.tags) {
      const value = this.#bytes.number();
      const code = this.#bytes.byte();
      alarmImage.set(tag, value, code & ~ALARM_IMAGE_STALE_BIT, (code & ALARM_IMAGE_STALE_BIT) !== 0);
    }
  }

  #check(low: number, high: number): void {
    const sum = this.#sum.reset();
    this.loop.networks?.sum(sum);
    this.loop.phases?.sum(sum);
    const since = this.#lastGood;
    if (sum.low !== low || sum.high !== high) {
      throw new Divergence(this.scan, `scan ${this.scan}: the ports differ from the recorded ones; they were the same until scan ${since}`);
    }
    this.#lastGood = this.scan;
    this.checksums += 1;
  }

  #playMessage(message: RecordedMessage, wallMs: WallMs, monoMs: MonoMs): void {
    this.wallMs = wallMs;
    this.#monoMs = monoMs;
    this.#inbox.push(message.type === 'plan' ? { type: 'plan', plan: withMemory(message.plan) } : message);
    this.loop.receive();
  }

  #compareEnd(recorded: unknown): void {
    this.ended = true;
    if (recorded === undefined) return;
    const path = firstDifference(this.loop.snapshot(), recorded);
    if (path !== undefined) throw new Divergence(this.scan, `scan ${this.scan}: the state at the end differs from the recorded one in ${path}`);
  }
}
