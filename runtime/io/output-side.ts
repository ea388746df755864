/**
 * The outputs of a network module: who commands them, when they are written, and what is told of it (decisions 5.2, 7.6, 7.7; ADR 0015). What is known of
 * each stands in output-state.ts; output-writer.ts is the way to the device, readback-check.ts the look back.
 *
 * Invariants: an output is written with what its owner commands now and with nothing else: an order that was given while
 * the device was away or the outputs withheld is refused and gone. One write of a channel in flight, the newest value wins;
 * what is in flight holds its output and never a position: channels that change in the meantime make new outputs. A value
 * is written when it changes and at least every second; `outDone` reaches a sequence only when its value has been dealt with.
 */
import type { MonoMs } from '../vocabulary/times.js';
import type { ProbeChannel, ProbeModule } from '../port.js';
import type { Value } from '../vocabulary/data-types.js';
import { IMAGE_HEADER, OUTPUTS, type ProcessImage, WRITE_STATUS } from '../vocabulary/process-image.js';
import { QUALITY } from '../vocabulary/quality.js';
import type { Barred, Link, WriteOutcome } from './driver.js';
import type { KnownOutput } from './output-hold.js';
import { decideFailSafe, RuntimeWatch } from './fail-safe.js';
import type { ImagePoint } from './image-sink.js';
import { type RunnerHost, type WriteReply, writeRefused } from './module-runner.js';
import { boundOutputs, dealtWith, failSafeValues, type Output, type Status, wireValue } from './output-state.js';
import { OutputWriter } from './output-writer.js';
import { readbackAgrees } from './readback.js';
import { ReadbackCheck } from './readback-check.js';

const HEARTBEAT_MS = 1000; // decisions 7.6: toggled every second
/** Decisions 5.2: at least every second; the rest is what a look and the way to the device take. */
const REFRESH_MS = 900;
/** A device that waits for writes gets an unchanged value three times within its time-out. */
const REFRESHES_PER_TIMEOUT = 3;
/** A network commands an output until three of its own intervals have passed without a write, */
const COMMANDING_INTERVALS = 3;
/** and for at least this long: an unchanged value is written once per second. */
const COMMANDING_MS_MIN = 2000;
/** What is not written again so long after a device came is no longer told as a part of its coming. */
const RESUME_MS = 5000;

export interface ResumedOutput {
  readonly channel: string;
  readonly value: Value;
}

const decoder = new TextDecoder();

export class OutputSide {
  readonly #host: RunnerHost;
  readonly #writer: OutputWriter;
  readonly #check: ReadbackCheck;
  readonly #changed: () => void;
  readonly #watch: RuntimeWatch;
  #module: ProbeModule;
  #image: ProcessImage;
  #outputs: readonly Output[] = [];
  #failSafeValues: ReadonlyMap<string, number | string> = new Map();
  #link: Link | undefined;
  /** Why nothing is written; empty: it is. */
  #withheld = '';
  /** Nothing is written for logic, and the device is told all the same that somebody is there. */
  #beatsOn = false;
  #failSafeTaken = false;
  /** Nothing is written after the fail-safe values: the process ends. */
  #isLast = false;
  #heartbeat = false;
  #heartbeatMonoMs = 0;
  #isRefreshing = false;
  /** What is written since the device came, until all of it is. */
  #resuming: { readonly left: Set<Output>; readonly rows: ResumedOutput[]; readonly untilMonoMs: MonoMs } | undefined;

  /** `changed` is called when the comparison of a readback ends another way than before. */
  constructor(module: ProbeModule, image: ProcessImage, host: RunnerHost, readPoint: (point: ImagePoint) => Promise<void>, changed: () => void) {
    this.#module = module;
    this.#image = image;
    this.#host = host;
    this.#writer = new OutputWriter(host.clock, { module: () => this.#module, link: () => this.#link, withheld: () => this.#withheld, has: (channel) => this.#has(channel) });
    this.#check = new ReadbackCheck(host, readPoint, (fault) => host.fault(module.module, fault));
    this.#changed = changed;
    this.#watch = new RuntimeWatch(image);
    this.#failSafeValues = failSafeValues(module);
    this.#outputs = boundOutputs(module, image, []);
  }

  update(module: ProbeModule, image: ProcessImage): void {
    const before = this.#module;
    this.#module = module;
    if (image === this.#image && JSON.stringify(before.channels) === JSON.stringify(module.channels)) {
      this.#failSafeValues = failSafeValues(module);
      return;
    }
    const outputs = this.#outputs;
    for (const output of outputs) {
      output.replaced = true;
      output.verification?.settle('replaced');
      // the write under way may or may not reach the device: what it has is not known before the next one
      if (output.busy) output.written = undefined;
    }
    this.#resuming = undefined;
    if (image !== this.#image) this.#watch.rebind(image);
    this.#image = image;
    this.#failSafeValues = failSafeValues(module);
    this.#outputs = boundOutputs(module, image, outputs);
  }

  connected(link: Link): void {
    this.#link = link;
    this.#resume();
  }

  disconnected(): void {
    this.#link = undefined;
    this.#tellResumed();
    this.#forgetDevice();
  }

  get withheld(): string {
    return this.#withheld;
  }

  /** Writes nothing for the reason given, or again everything that is commanded when it is empty. */
  withhold(reason: string, beatsOn = false): void {
    const was = this.#withheld;
    this.#withheld = reason;
    this.#beatsOn = beatsOn;
    Atomics.store(this.#image.header, IMAGE_HEADER.outputs, reason === '' ? OUTPUTS.live : OUTPUTS.withheld);
    if (was === '' && reason !== '') this.#forgetDevice();
    if (was !== '' && reason === '') this.#resume();
  }

  /** Nothing is known of what the device has, and what waits for it has failed. */
  #forgetDevice(): void {
    for (const output of this.#outputs) {
      output.written = undefined;
      output.verification?.settle(WRITE_STATUS.failed);
    }
  }

  /** The device is there, or its outputs are ours again: what is commanded now goes out, and nothing that was ordered before. */
  #resume(): void {
    if (!this.#link || this.#withheld !== '') return;
    const nowMs = this.#host.clock.monoMs();
    const commanded = this.#outputs.filter((output) => this.#isHeld(output) && output.seen !== 0);
    this.#resuming = commanded.length > 0 ? { left: new Set(commanded), rows: [], untilMonoMs: nowMs + RESUME_MS } : undefined;
    for (const output of this.#outputs) {
      output.written = undefined;
      if (this.#isCommanded(output, nowMs)) this.#start(output);
    }
  }

  #noteResumed(output: Output, value: number | string): void {
    const resuming = this.#resuming;
    if (!resuming?.left.delete(output)) return;
    resuming.rows.push({ channel: output.channel.name, value: wireValue(value, output.channel) });
    if (resuming.left.size === 0) this.#tellResumed();
  }

  #tellResumed(): void {
    const rows = this.#resuming?.rows ?? [];
    this.#resuming = undefined;
    if (rows.length > 0) this.#host.resumed(this.#module.module, rows);
  }

  // -------------------------------------------------------------- who commands

  /** What is known of an output without asking the device (ADR 0078). */
  known({ address, dataType }: ProbeChannel): KnownOutput {
    const output = this.#outputs.find(({ channel }) => channel.address === address && channel.dataType === dataType);
    const failSafe = this.#failSafeValues.get(address);
    const isCommanded = output !== undefined && this.#isCommanded(output, this.#host.clock.monoMs());
    return {
      isCommanded,
      isFailSafe: output !== undefined && this.#failSafeValue(output) !== undefined,
      commanded: isCommanded ? wireValue(this.#commandedValue(output), output.channel) : null,
      written: output?.written === undefined ? null : wireValue(output.written, output.channel),
      failSafe: output === undefined || failSafe === undefined ? null : wireValue(failSafe, output.channel),
    };
  }

  #has({ name, address, dataType }: ProbeChannel): boolean {
    return this.#outputs.some(({ channel }) => channel.name === name && channel.address === address && channel.dataType === dataType);
  }

  /** Straight to the device for whoever holds the outputs, past what withholds the logic. */
  async writeHeld(channel: ProbeChannel, value: number | string, barred?: Barred): Promise<WriteOutcome> {
    const outcome = await this.#writer.writePast(channel, value, barred);
    if (outcome.ok && channel.readbackAddress === '') this.#showHeld(channel, value);
    return outcome;
  }

  #showHeld({ address, dataType }: ProbeChannel, value: number | string): void {
    const output = this.#outputs.find(({ channel }) => channel.address === address && channel.dataType === dataType);
    if (output) this.#show(output, value);
  }

  #failSafeValue({ channel }: Output): number | string | undefined {
    return this.#failSafeTaken ? this.#failSafeValues.get(channel.address) : undefined;
  }

  /** By a network or by the fail-safe table, not by an order. */
  #isHeld(output: Output): boolean {
    return this.#failSafeValue(output) !== undefined || output.image.held[output.slot] === 1;
  }

  /** Somebody commands it at this moment. */
  #isCommanded(output: Output, nowMs: number): boolean {
    if (this.#failSafeValue(output) !== undefined) return true;
    if (output.image.held[output.slot] === 0 || output.movedMonoMs === undefined) return false;
    return nowMs - output.movedMonoMs < Math.max(COMMANDING_INTERVALS * output.intervalMs, COMMANDING_MS_MIN);
  }

  #commandedValue(output: Output): number | string {
    const failSafe = this.#failSafeValue(output);
    if (failSafe !== undefined) return failSafe;
    const { image, slot, channel } = output;
    if (channel.dataType === 'string') return decoder.decode(image.getText(slot));
    const value = image.commanded(slot);
    return channel.dataType === 'bool' ? Number(value !== 0) : value;
  }

  // -------------------------------------------------------------- writing

  /** Empty: they are not taken. What the device did not take is named. */
  failSafeMessage(): string {
    if (!this.#failSafeTaken) return '';
    const refused = this.#outputs
      .filter((output) => this.#failSafeValue(output) !== undefined && output.failure !== '')
      .map(({ channel, failure }) => `${channel.name} (${failure})`);
    return `the unit runtime is silent: fail-safe values ${refused.length > 0 ? `written, except ${refused.join(', ')}` : 'written'}`;
  }

  /** Channels that do not read back what was written. */
  mismatched(): readonly string[] {
    return this.#outputs.filter((output) => output.verdict === WRITE_STATUS.mismatch).map((output) => output.channel.name);
  }

  /** True when the fail-safe state changed. */
  look(): boolean {
    if (this.#isLast) return false;
    const nowMs = this.#host.clock.monoMs();
    const moved = this.#watch.look(nowMs);
    const step = decideFailSafe(this.#failSafeTaken, moved, this.#watch.silentMs(nowMs), this.#module.failSafe?.timeoutMs ?? 0);
    if (step !== 'none') {
      this.#failSafeTaken = step === 'take';
      for (const output of this.#outputs) if (this.#failSafeValues.has(output.channel.address)) output.written = undefined;
    }
    for (const output of this.#outputs) {
      const sequence = Atomics.load(output.image.outSeq, output.slot);
      if (sequence === output.seen) {
        if (step !== 'none' && this.#isCommanded(output, nowMs)) this.#start(output);
        continue;
      }
      output.seen = sequence;
      if (output.movedMonoMs !== undefined) output.intervalMs = nowMs - output.movedMonoMs;
      output.movedMonoMs = nowMs;
      this.#start(output);
    }
    if (this.#resuming && nowMs >= this.#resuming.untilMonoMs) this.#tellResumed();
    this.#refreshNext();
    this.#beat(nowMs);
    return step !== 'none';
  }

  /** A module whose fail-safe has no time-out has declared none: what it has stays. */
  async takeFailSafe(): Promise<void> {
    this.#isLast = true;
    if ((this.#module.failSafe?.timeoutMs ?? 0) <= 0) return;
    this.#failSafeTaken = true;
    const outputs = this.#outputs.filter((output) => this.#failSafeValue(output) !== undefined);
    for (const output of outputs) {
      output.written = undefined;
      this.#start(output);
    }
    await Promise.all(outputs.flatMap(({ work }) => work ?? []));
  }

  #start(output: Output): void {
    output.due = true;
    if (output.busy) return;
    output.busy = true;
    output.work = this.#carryOut(output)
      .catch((fault: unknown) => this.#host.fault(this.#module.module, fault))
      .finally(() => {
        output.work = undefined;
      });
  }

  async #carryOut(output: Output): Promise<void> {
    try {
      await output.after;
      while (output.due && !output.replaced) {
        output.due = false;
        await this.#carryOutNewest(output);
      }
    } finally {
      output.busy = false;
    }
  }

  /** An order is written each time it is given, nobody refreshes it; what is held is passed over while the device is known to have it. */
  async #carryOutNewest(output: Output): Promise<void> {
    const { refresh } = output;
    output.refresh = false;
    const sequence = Atomics.load(output.image.outSeq, output.slot);
    const value = this.#commandedValue(output);
    if (output.written === value && !refresh && this.#isHeld(output)) {
      if (output.verification) output.verification.sequence = sequence;
      else this.#finish(output, sequence, output.verdict);
      return;
    }
    if (output.written !== value) output.verification?.settle('overtaken');
    output.triedMonoMs = this.#host.clock.monoMs();
    const outcome = await this.#writer.write(output.channel, value);
    if (!output.replaced) this.#concludeWrite(output, sequence, value, outcome);
  }

  /** One at a time and the longest untold first: an unchanged value never goes before one that changed, nor many before the reads. */
  #refreshNext(): void {
    if (this.#isRefreshing || !this.#link || this.#withheld !== '') return;
    const nowMs = this.#host.clock.monoMs();
    const { failSafe } = this.#module;
    const everyMs = failSafe && failSafe.timeoutMs > 0 ? Math.min(REFRESH_MS, failSafe.timeoutMs / REFRESHES_PER_TIMEOUT) : REFRESH_MS;
    let oldest: Output | undefined;
    for (const output of this.#outputs) {
      if (output.busy || nowMs - output.triedMonoMs < everyMs || output.triedMonoMs >= (oldest?.triedMonoMs ?? Number.POSITIVE_INFINITY)) continue;
      if (this.#isCommanded(output, nowMs)) oldest = output;
    }
    if (!oldest) return;
    oldest.refresh = true;
    this.#isRefreshing = true;
    this.#start(oldest);
    const next = (): void => {
      this.#isRefreshing = false;
      this.#refreshNext();
    };
    oldest.work?.then(next).catch((fault: unknown) => this.#host.fault(this.#module.module, fault));
  }

  #concludeWrite(output: Output, sequence: number, value: number | string, outcome: WriteOutcome): void {
    const failure = outcome.ok ? '' : outcome.message;
    const tells = this.#failSafeTaken && failure !== output.failure;
    output.failure = failure;
    if (tells) this.#changed();
    this.#doubt(output, outcome);
    if (!outcome.ok) {
      output.written = undefined;
      output.verification?.settle('overtaken');
      this.#finish(output, sequence, WRITE_STATUS.failed);
      return;
    }
    const isRepeated = output.written === value;
    this.#remember(output, value);
    this.#noteResumed(output, value);
    if (output.channel.readbackAddress === '') {
      this.#show(output, value);
      this.#finish(output, sequence, WRITE_STATUS.done);
    } else if (!isRepeated || !this.#isHeld(output)) {
      this.#check.begin(output, value, sequence, (settled, verification) => {
        if (typeof settled === 'number') this.#finish(output, verification.sequence ?? sequence, settled);
      });
    } else if (output.verification) {
      output.verification.sequence = sequence;
    } else {
      this.#finish(output, sequence, output.verdict);
    }
  }

  #remember(output: Output, value: number | string): void {
    const nowMs = this.#host.clock.monoMs();
    if (output.written !== value) output.sinceMonoMs = nowMs;
    output.written = value;
    output.writtenMonoMs = nowMs;
  }

  /** Without a readback the input side of an output shows what the device confirmed. */
  #show({ image, slot }: Output, value: number | string): void {
    image.beginInputs();
    if (typeof value === 'number') {
      image.value[slot] = value;
      image.readback[slot] = value;
    }
    image.stamp(slot, this.#host.clock.wallMs(), this.#host.clock.monoMs());
    image.quality[slot] = QUALITY.Good;
    image.endInputs();
  }

  /** Whether the device took it is known to nobody: what is shown of the output is worth nothing before the next word of the device. */
  #doubt({ image, slot, replaced }: Output, outcome: WriteOutcome): void {
    if (outcome.ok || !outcome.isUnknown || replaced) return;
    image.beginInputs();
    image.quality[slot] = QUALITY.Bad;
    image.endInputs();
  }

  #finish(output: Output, sequence: number, status: Status): void {
    this.#judge(output, status);
    dealtWith(output.image, output.slot, sequence, status);
  }

  #judge(output: Output, verdict: Status): void {
    const tells = (output.verdict === WRITE_STATUS.mismatch) !== (verdict === WRITE_STATUS.mismatch);
    output.verdict = verdict;
    if (tells) this.#changed();
  }

  // -------------------------------------------------------------- read-back

  /** A sample of the readback address arrived, from a poll or from a check after a write, that was asked for at `askedMonoMs`. */
  readback(image: ProcessImage, slot: number, read: number | string, askedMonoMs: MonoMs): void {
    const output = this.#outputs.find((row) => row.image === image && row.slot === slot);
    if (!output) return;
    const { dataType, span } = output.channel;
    const { verification } = output;
    if (verification) {
      verification.read = read;
      if (readbackAgrees(verification.value, read, dataType, span)) verification.settle(WRITE_STATUS.done);
      return;
    }
    // compared for as long as the value stands: a device that took its time ends a mismatch, one that drops its outputs begins one
    const { verdict, written } = output;
    if (written === undefined || output.busy || askedMonoMs < output.sinceMonoMs) return;
    if (verdict !== WRITE_STATUS.done && verdict !== WRITE_STATUS.mismatch) return;
    const found = readbackAgrees(written, read, dataType, span) ? WRITE_STATUS.done : WRITE_STATUS.mismatch;
    if (found === verdict) return;
    this.#judge(output, found);
    image.outStatus[slot] = found;
  }

  // -------------------------------------------------------------- heartbeat

  #beat(nowMs: number): void {
    const name = this.#module.failSafe?.heartbeatChannel ?? '';
    if (name === '' || !this.#link || !this.#watch.alive(nowMs) || nowMs - this.#heartbeatMonoMs < HEARTBEAT_MS) return;
    const output = this.#outputs.find(({ channel }) => channel.name === name || channel.address === name);
    if (!output) return;
    this.#heartbeatMonoMs = nowMs;
    this.#heartbeat = !this.#heartbeat;
    const beat = this.#heartbeat ? 1 : 0;
    const writing = this.#beatsOn ? this.#writer.writePast(output.channel, beat) : this.#writer.write(output.channel, beat);
    writing.catch((fault: unknown) => this.#host.fault(this.#module.module, fault));
  }

  // -------------------------------------------------------------- requests

  /** A write of `iomodules/{name}/write`: at once, whatever control writes next. What is not sent by `untilMonoMs` is never sent. */
  async writeByRequest(address: string, value: number | string, untilMonoMs: MonoMs): Promise<WriteReply> {
    const output = this.#outputs.find((row) => row.channel.address === address);
    if (!output) return writeRefused('unknown_channel', `module ${this.#module.module} has no output ${address}`);
    if (this.#failSafeValue(output) !== undefined) return writeRefused('outputs_withheld', `output ${output.channel.name} has its fail-safe value: ${this.failSafeMessage()}`);
    const outcome = await this.#writer.write(output.channel, value, untilMonoMs);
    output.written = undefined;
    this.#doubt(output, outcome);
    if (!outcome.ok) return { ...writeRefused(REFUSALS[outcome.reason], outcome.message), ...('isUnknown' in outcome ? { isUnknown: true } : {}) };
    if (output.replaced) return this.#replacedReply(output);
    if (output.channel.readbackAddress === '') {
      this.#show(output, value);
      return { ok: true, message: '', forced: false, readback: null };
    }
    return new Promise((resolve) => {
      this.#check.begin(output, value, undefined, (settled, { read }) => {
        const readback = read === undefined ? null : wireValue(read, output.channel);
        if (settled === 'replaced') resolve(this.#replacedReply(output));
        else if (settled === WRITE_STATUS.done) resolve({ ok: true, message: '', forced: false, readback });
        else if (settled === 'overtaken') resolve({ ok: true, message: 'control wrote the channel again before this value was read back', forced: false, readback });
        else if (settled === WRITE_STATUS.mismatch)
          resolve({ ...writeRefused('device_write_failed', `wrote ${wireValue(value, output.channel)} but read back ${readback}`), readback });
        else resolve(writeRefused('device_unreachable', 'written, but the value could not be read back'));
      });
    });
  }

  #replacedReply({ channel }: Output): WriteReply {
    return writeRefused(
      'device_write_failed',
      `the channels of module ${this.#module.module} were changed while the value of channel ${channel.name} was on its way to ${channel.address}; read that address to see whether the device took it`,
    );
  }
}

const REFUSALS = { unreachable: 'device_unreachable', invalid: 'invalid_value', refused: 'device_write_failed', withheld: 'outputs_withheld' } as const;
