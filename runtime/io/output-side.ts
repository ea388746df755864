/**
 * The outputs of a network module: from the process image to the device, read-back, heartbeat and fail-safe values
 * (decisions 7.6, 7.7).
 *
 * Invariants: one write of a channel in flight, the newest value wins; a value is written when it changes, after a
 * reconnect, and often enough to keep a device with a fail-safe time-out from tripping; `outDone` reaches a sequence
 * only when its value has been dealt with.
 */
import type { ProbeModule } from '../port.js';
import { type ProcessImage, WRITE_STATUS } from '../vocabulary/process-image.js';
import type { Link, WriteOutcome } from './driver.js';
import { decideFailSafe, RuntimeWatch } from './fail-safe.js';
import type { ImagePoint } from './image-sink.js';
import { type RunnerHost, type WriteReply, writeRefused } from './module-runner.js';
import { readbackAgrees } from './readback.js';
import { convertValue, messageValue } from './values.js';

const HEARTBEAT_MS = 1000; // decisions 7.6: toggled every second
const READBACK_POLL_MS = 200;
/** A device that waits for writes gets an unchanged value three times within its time-out. */
const REFRESHES_PER_TIMEOUT = 3;

type Status = (typeof WRITE_STATUS)[keyof typeof WRITE_STATUS];

interface Verification {
  readonly value: number | string;
  readonly deadlineMonoMs: number;
  /** Newest sequence that carries this value; undefined when a request wrote it. */
  sequence: number | undefined;
  /** The last value read back. */
  read: number | string | undefined;
  /** `none`: another write came before the value was read back. */
  readonly settle: (status: Status) => void;
}

interface Output {
  readonly channel: number;
  readonly name: string;
  seen: number;
  busy: boolean;
  dirty: boolean;
  /** What the device has, as far as we know. */
  written: number | string | undefined;
  writtenMonoMs: number;
  /** How the last dealt-with value ended. */
  verdict: Status;
  verification: Verification | undefined;
}

const decoder = new TextDecoder();

export class OutputSide {
  readonly #host: RunnerHost;
  readonly #readPoint: (point: ImagePoint) => Promise<void>;
  readonly #watch: RuntimeWatch;
  #module: ProbeModule;
  #image: ProcessImage;
  #outputs: Output[] = [];
  #link: Link | undefined;
  #failSafeTaken = false;
  #heartbeat = false;
  #heartbeatMonoMs = 0;

  constructor(module: ProbeModule, image: ProcessImage, host: RunnerHost, readPoint: (point: ImagePoint) => Promise<void>) {
    this.#module = module;
    this.#image = image;
    this.#host = host;
    this.#readPoint = readPoint;
    this.#watch = new RuntimeWatch(image);
    this.#outputs = this.#bind(new Map());
  }

  #bind(before: ReadonlyMap<string, Output>): Output[] {
    return this.#module.channels.flatMap((channel, index) => {
      if (channel.direction !== 'output') return [];
      const kept = before.get(channel.address);
      return [
        {
          channel: index,
          name: channel.name,
          seen: 0,
          busy: false,
          dirty: false,
          written: kept?.written,
          writtenMonoMs: kept?.writtenMonoMs ?? 0,
          verdict: kept?.verdict ?? WRITE_STATUS.none,
          verification: undefined,
        },
      ];
    });
  }

  update(module: ProbeModule, image: ProcessImage): void {
    const before = this.#module;
    this.#module = module;
    if (image === this.#image && JSON.stringify(before.channels) === JSON.stringify(module.channels)) return;
    const kept = new Map(this.#outputs.map((output) => [before.channels[output.channel].address, output]));
    this.#settleAll();
    if (image !== this.#image) this.#watch.rebind(image);
    this.#image = image;
    this.#outputs = this.#bind(kept);
  }

  connected(link: Link): void {
    this.#link = link;
    for (const output of this.#outputs) output.written = undefined;
    if (this.#failSafeTaken) this.#writeFailSafe();
    else this.#rewrite();
  }

  disconnected(): void {
    this.#link = undefined;
    this.#settleAll();
  }

  #settleAll(): void {
    for (const output of this.#outputs) {
      output.written = undefined;
      output.verification?.settle(WRITE_STATUS.failed);
    }
  }

  /** Everything a runtime has ever written goes out again. */
  #rewrite(): void {
    for (const output of this.#outputs) {
      if (Atomics.load(this.#image.outSeq, output.channel) === 0) continue;
      output.written = undefined;
      this.#start(output);
    }
  }

  failSafeMessage(): string {
    return this.#failSafeTaken ? 'the unit runtime is silent: fail-safe values written' : '';
  }

  /** True when the fail-safe state changed. */
  look(): boolean {
    const nowMs = this.#host.clock.monoMs();
    const moved = this.#watch.look(nowMs);
    const step = decideFailSafe(this.#failSafeTaken, moved, this.#watch.silentMs(nowMs), this.#module.failSafe?.timeoutMs ?? 0);
    if (step === 'take') {
      this.#failSafeTaken = true;
      this.#writeFailSafe();
    }
    if (step === 'leave') {
      this.#failSafeTaken = false;
      this.#rewrite();
    }
    for (const output of this.#outputs) {
      const sequence = Atomics.load(this.#image.outSeq, output.channel);
      if (sequence === output.seen) continue;
      output.seen = sequence;
      this.#start(output);
    }
    this.#beat(nowMs);
    return step !== 'none';
  }

  #start(output: Output): void {
    output.dirty = true;
    if (!output.busy) void this.#carryOut(output);
  }

  async #carryOut(output: Output): Promise<void> {
    output.busy = true;
    while (output.dirty) {
      output.dirty = false;
      const image = this.#image;
      const sequence = Atomics.load(image.outSeq, output.channel);
      const value = this.#commanded(output);
      if (this.#isKnown(output, value)) {
        if (output.verification) output.verification.sequence = sequence;
        else this.#finish(image, output, sequence, output.verdict);
        continue;
      }
      output.verification?.settle(WRITE_STATUS.none);
      const outcome = await this.#writeDevice(output.channel, value);
      this.#concludeWrite(image, output, sequence, value, outcome);
    }
    output.busy = false;
  }

  #commanded(output: Output): number | string {
    const { dataType } = this.#module.channels[output.channel];
    if (dataType === 'string') return decoder.decode(this.#image.getText(output.channel));
    const value = this.#image.out[output.channel];
    return dataType === 'bool' ? Number(value !== 0) : value;
  }

  /** The device has this value already and does not wait for another write. */
  #isKnown(output: Output, value: number | string): boolean {
    if (output.written !== value) return false;
    const timeoutMs = this.#module.failSafe?.timeoutMs ?? 0;
    return timeoutMs === 0 || this.#host.clock.monoMs() - output.writtenMonoMs < timeoutMs / REFRESHES_PER_TIMEOUT;
  }

  async #writeDevice(channel: number, value: number | string): Promise<WriteOutcome> {
    if (this.#module.failSafe?.posture === 'observed') return { ok: false, reason: 'refused', message: 'the module is observed only; nothing is written' };
    const link = this.#link;
    if (!link) return { ok: false, reason: 'unreachable', message: `module ${this.#module.module} is not connected` };
    if (typeof value === 'number' && !Number.isFinite(value)) return { ok: false, reason: 'invalid', message: 'the value is not a finite number' };
    const { address, dataType } = this.#module.channels[channel];
    try {
      return await link.write({ address, dataType }, dataType === 'bool' ? value !== 0 : value);
    } catch (error) {
      return { ok: false, reason: 'unreachable', message: error instanceof Error ? error.message : String(error) };
    }
  }

  #concludeWrite(image: ProcessImage, output: Output, sequence: number, value: number | string, outcome: WriteOutcome): void {
    if (!outcome.ok) {
      output.written = undefined;
      this.#finish(image, output, sequence, WRITE_STATUS.failed);
      return;
    }
    this.#remember(output, value);
    if (this.#module.channels[output.channel]?.readbackAddress === '') {
      this.#show(image, output, value);
      this.#finish(image, output, sequence, WRITE_STATUS.done);
      return;
    }
    this.#verify(output, value, sequence, (status, verification) => {
      if (status !== WRITE_STATUS.none) this.#finish(image, output, verification.sequence ?? sequence, status);
    });
  }

  #remember(output: Output, value: number | string): void {
    output.written = value;
    output.writtenMonoMs = this.#host.clock.monoMs();
  }

  /** Without a readback the input side of an output shows what the device confirmed. */
  #show(image: ProcessImage, output: Output, value: number | string): void {
    image.beginInputs();
    if (typeof value === 'number') {
      image.value[output.channel] = value;
      image.readback[output.channel] = value;
    }
    image.sampledAtMs[output.channel] = this.#host.clock.wallMs();
    image.quality[output.channel] = 0;
    image.endInputs();
  }

  #finish(image: ProcessImage, output: Output, sequence: number, status: Status): void {
    output.verdict = status;
    image.outStatus[output.channel] = status;
    Atomics.store(image.outDone, output.channel, sequence);
  }

  // -------------------------------------------------------------- read-back

  /** Reads back until the value agrees or `io.readbackTimeout` is over. */
  #verify(output: Output, value: number | string, sequence: number | undefined, done: (status: Status, verification: Verification) => void): void {
    const verification: Verification = {
      value,
      sequence,
      read: undefined,
      deadlineMonoMs: this.#host.clock.monoMs() + this.#host.settings().readbackTimeoutMs,
      settle: (status) => {
        if (output.verification !== verification) return;
        output.verification = undefined;
        done(status, verification);
      },
    };
    output.verification?.settle(WRITE_STATUS.none);
    output.verification = verification;
    void this.#chase(output, verification);
  }

  async #chase(output: Output, verification: Verification): Promise<void> {
    const channel = this.#module.channels[output.channel];
    const point: ImagePoint = { address: channel.readbackAddress, dataType: channel.dataType, channel: output.channel, pollMs: 0, readback: true };
    while (output.verification === verification) {
      await this.#readPoint(point);
      if (output.verification !== verification) return;
      if (this.#host.clock.monoMs() >= verification.deadlineMonoMs) {
        verification.settle(verification.read === undefined ? WRITE_STATUS.failed : WRITE_STATUS.mismatch);
        return;
      }
      await new Promise<void>((resolve) => {
        this.#host.clock.after(READBACK_POLL_MS, resolve);
      });
    }
  }

  /** A sample of the readback address arrived, from a poll or from a check after a write. */
  readback(channel: number, read: number | string): void {
    const output = this.#outputs.find((row) => row.channel === channel);
    if (!output) return;
    const { dataType, span } = this.#module.channels[channel];
    const { verification } = output;
    if (verification) {
      verification.read = read;
      if (readbackAgrees(verification.value, read, dataType, span)) verification.settle(WRITE_STATUS.done);
      return;
    }
    // A device that took its time ends the mismatch by itself.
    if (output.verdict !== WRITE_STATUS.mismatch || output.written === undefined) return;
    if (!readbackAgrees(output.written, read, dataType, span)) return;
    output.verdict = WRITE_STATUS.done;
    this.#image.outStatus[channel] = WRITE_STATUS.done;
  }

  // -------------------------------------------------------------- heartbeat and fail-safe

  #beat(nowMs: number): void {
    const name = this.#module.failSafe?.heartbeatChannel ?? '';
    if (name === '' || !this.#link || !this.#watch.alive(nowMs) || nowMs - this.#heartbeatMonoMs < HEARTBEAT_MS) return;
    const channel = this.#module.channels.findIndex((row) => row.name === name || row.address === name);
    if (channel < 0) return;
    this.#heartbeatMonoMs = nowMs;
    this.#heartbeat = !this.#heartbeat;
    void this.#writeDevice(channel, this.#heartbeat ? 1 : 0);
  }

  #writeFailSafe(): void {
    for (const { channel: name, value } of this.#module.failSafe?.outputs ?? []) {
      const index = this.#module.channels.findIndex((row) => row.name === name || row.address === name);
      const channel = this.#module.channels[index];
      const converted = channel ? convertValue(value, channel.dataType) : undefined;
      if (!channel || converted === undefined) continue;
      const output = this.#outputs.find((row) => row.channel === index);
      if (output) output.written = undefined;
      void this.#writeDevice(index, converted);
    }
  }

  // -------------------------------------------------------------- requests

  /** A write of `iomodules/{name}/write`: at once, whatever control writes next. */
  async writeByRequest(channel: number, value: number | string): Promise<WriteReply> {
    const output = this.#outputs.find((row) => row.channel === channel);
    const outcome = await this.#writeDevice(channel, value);
    if (output) output.written = undefined;
    if (!outcome.ok) {
      const code = outcome.reason === 'unreachable' ? 'device_unreachable' : outcome.reason === 'invalid' ? 'invalid_value' : 'device_write_failed';
      return writeRefused(code, outcome.message);
    }
    const { dataType, readbackAddress } = this.#module.channels[channel];
    const wire = (read: number | string): ReturnType<typeof messageValue> => (typeof read === 'string' ? read : messageValue(read, undefined, dataType));
    if (!output || readbackAddress === '') return { ok: true, message: '', forced: false, readback: null };
    return new Promise((resolve) => {
      this.#verify(output, value, undefined, (status, { read }) => {
        const readback = read === undefined ? null : wire(read);
        if (status === WRITE_STATUS.done) resolve({ ok: true, message: '', forced: false, readback });
        else if (status === WRITE_STATUS.none) resolve({ ok: true, message: 'control wrote the channel again before this value was read back', forced: false, readback });
        else if (status === WRITE_STATUS.failed) resolve(writeRefused('device_unreachable', 'written, but the value could not be read back'));
        else resolve({ ...writeRefused('device_write_failed', `wrote ${wire(value)} but read back ${readback}`), readback });
      });
    });
  }
}
