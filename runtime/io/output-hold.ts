/**
 * The outputs of one module in the hand of one holder (ADR 0078): a loop check sets them one after the other, while what logic commands
 * is withheld and told so.
 *
 * Invariants: what was set goes back when the holder lets go, when he gives no sign for his lease, when the module is no longer
 * served, and behind a connection that was lost, before anything else is written. What logic commands by then is not put back: it is
 * written anew. Nothing is set while another one holds the outputs or while this box does not drive them.
 */
import type { ChannelSample, HeldOutput, HoldAsk, LeftOutput, ProbeChannel } from '../port.js';
import type { Clock } from '../vocabulary/clock.js';
import type { Value } from '../vocabulary/data-types.js';
import { heldBy } from '../vocabulary/held-by.js';
import type { MonoMs } from '../vocabulary/times.js';
import type { WriteOutcome } from './driver.js';
import { type HoldReply, holdRefused } from './module-runner.js';
import { exactValue } from './values.js';

/** Decisions 5.2: an output is written at least every second; a device with a time-out for writes gets it three times within. */
const REFRESH_MS = 900;
const REFRESHES_PER_TIMEOUT = 3;
/** What could not be put back is tried again after so long, for as long as the module is served; */
const AGAIN_MS = 500;
/** what the device refuses, which may only be busy, for so long. */
const REFUSED_MS = 10_000;

/** What is known of an output without asking the device. */
export interface KnownOutput {
  /** By logic, or by the fail-safe table. */
  readonly isCommanded: boolean;
  readonly isFailSafe: boolean;
  /** What is commanded; null where nothing is. */
  readonly commanded: Value;
  readonly written: Value;
  readonly failSafe: Value;
}

/** What the hold asks of the module that it is part of. */
export interface HoldHost {
  readonly clock: Clock;
  /** Equal for modules of one device. */
  device(): string;
  outputs(): readonly ProbeChannel[];
  /** Straight to the device, past what withholds the logic. */
  write(channel: ProbeChannel, value: number | string): Promise<WriteOutcome>;
  /** What the device has been ordered, at the addresses of the outputs themselves. A readback would not do: whoever checks it does not know yet that it is true. */
  read(channels: readonly string[]): Promise<readonly ChannelSample[]>;
  known(channel: ProbeChannel): KnownOutput;
  /** Why this box does not write the device, whoever holds it; empty: it does. */
  withheld(): string;
  /** It is known that another one drives the device, or that this box does not: there is nothing to wait for. */
  isOthers(): boolean;
  /** Why the fail-safe values are taken; empty: they are not. */
  failSafe(): string;
  /** 0: the device takes no fail-safe values of its own. */
  failSafeTimeoutMs(): number;
  /** Held, or not held any more. */
  changed(): void;
  /** The module is no longer served, and nobody can be asked any more: what became of the outputs of its last holder. */
  ended(holder: string, outputs: readonly HeldOutput[]): void;
  fault(fault: unknown): void;
}

interface Place {
  readonly channel: ProbeChannel;
  readonly before: HeldOutput;
  /** It was set by the holder; the others have only been kept as they were. */
  isSet: boolean;
  /** What is written again while it is held; undefined: nobody wrote it before either. */
  now: number | string | undefined;
}

const UNREACHABLE = 'the device is not connected';
const OTHER_DEVICE = 'the module was changed, and stands for another device now';
const NO_OUTPUT = 'the module has no such output any more';
const NOT_SET = 'it was not set';

export class OutputHold {
  readonly #host: HoldHost;
  #holder = '';
  #places = new Map<string, Place>();
  #until: MonoMs = 0;
  #cancel: () => void = () => undefined;
  /** The holder has gone: what he has set is put back as soon as that is possible. */
  #returning: Promise<readonly HeldOutput[]> | undefined;
  #isReturning = false;
  #isClosed = false;
  /** What became of the outputs of the last holder, for him who asks late. */
  #last: { readonly holder: string; readonly outputs: readonly HeldOutput[]; readonly untouched: ReadonlySet<string> } | undefined;
  /** The fail-safe values have taken the outputs from their holder. */
  #isTaken = false;
  #isRefreshing = false;
  /** When the way back has begun. */
  #returnedMonoMs: MonoMs = 0;

  constructor(host: HoldHost) {
    this.#host = host;
  }

  /** For people and for logic; empty: nobody holds the outputs. */
  get reason(): string {
    return this.#holder === '' ? '' : heldBy(this.#holder);
  }

  async ask(holder: string, ask: HoldAsk): Promise<HoldReply> {
    if (ask.kind === 'return') return this.#giveBack(holder, ask.device, ask.before);
    if (ask.kind === 'take') return this.#take(holder, ask.leaseMs);
    if (this.#holder !== holder || this.#isReturning) return this.#notHeld(holder);
    this.#until = this.#host.clock.monoMs() + ask.leaseMs;
    return ask.kind === 'renew' ? { ok: true, message: '', outputs: [] } : this.#set(ask.channel, ask.value);
  }

  #notHeld(holder: string): HoldReply {
    const message = `the outputs are not held by ${holder} any more`;
    return this.#isTaken ? holdRefused('fail_safe_taken', `${message}: ${this.#host.failSafe() || 'fail-safe values were written'}`) : holdRefused('not_held', message);
  }

  async #take(holder: string, leaseMs: number): Promise<HoldReply> {
    if (this.#holder !== '') return holdRefused('not_held', this.reason);
    const withheld = this.#host.withheld();
    if (withheld !== '') return holdRefused('outputs_withheld', withheld);
    const failSafe = this.#host.failSafe();
    if (failSafe !== '') return holdRefused('fail_safe_taken', failSafe);
    const channels = this.#host.outputs();
    // what the device has is forgotten while nothing is written for logic
    const known = channels.map((channel) => this.#host.known(channel));
    this.#begin(holder, leaseMs);
    const found = await this.#host.read(channels.map(({ name }) => name));
    if (this.#holder !== holder || this.#isReturning) return this.#notHeld(holder);
    for (const [at, channel] of channels.entries()) {
      const { isCommanded = false, written = null, failSafe = null } = known[at] ?? {};
      const before = beforeOf(channel, found[at], written, failSafe);
      const now = isCommanded && written !== null ? exactValue(written, channel.dataType) : undefined;
      this.#places.set(channel.name, { channel, before, isSet: false, now });
    }
    return { ok: true, message: '', outputs: [...this.#places.values()].map(({ before }) => before) };
  }

  #begin(holder: string, leaseMs: number): void {
    this.#holder = holder;
    this.#places = new Map();
    this.#until = this.#host.clock.monoMs() + leaseMs;
    this.#isReturning = false;
    this.#isTaken = false;
    this.#last = undefined;
    this.#host.changed();
    this.#keep();
  }

  /** Looks after the lease and writes again what is held. */
  #keep(): void {
    this.#cancel();
    const timeoutMs = this.#host.failSafeTimeoutMs();
    const everyMs = timeoutMs > 0 ? Math.min(REFRESH_MS, timeoutMs / REFRESHES_PER_TIMEOUT) : REFRESH_MS;
    this.#cancel = this.#host.clock.after(everyMs, () => {
      if (this.#holder === '' || this.#isReturning) return;
      if (this.#host.clock.monoMs() >= this.#until) {
        this.#attend(this.#return());
        return;
      }
      if (!this.#isRefreshing) this.#attend(this.#refresh());
      this.#keep();
    });
  }

  /** One write after the other, and no second round while one lasts: a slow line has turns for its reads, and no old value waits before the way back. */
  async #refresh(): Promise<void> {
    const places = this.#places;
    this.#isRefreshing = true;
    try {
      for (const place of places.values()) {
        if (this.#places !== places || this.#isReturning || this.#host.withheld() !== '') return;
        if (place.now !== undefined) await this.#host.write(place.channel, place.now);
      }
    } finally {
      this.#isRefreshing = false;
    }
  }

  #attend(work: Promise<unknown>): void {
    work.catch((fault: unknown) => this.#host.fault(fault));
  }

  async #set(name: string, value: Value): Promise<HoldReply> {
    const withheld = this.#host.withheld();
    if (withheld !== '') return holdRefused('outputs_withheld', withheld);
    const place = this.#places.get(name);
    if (!place) return holdRefused('unknown_channel', `output ${name} is not held`);
    const exact = exactValue(value, place.channel.dataType);
    if (exact === undefined) return holdRefused('invalid_value', `${String(value)} is not a ${place.channel.dataType}`);
    place.isSet = true; // before it is on its way: what may have reached the device is put back
    place.now = exact;
    const outcome = await this.#host.write(place.channel, exact);
    if (outcome.ok) return { ok: true, message: '', outputs: [] };
    const code = outcome.reason === 'unreachable' ? 'device_unreachable' : outcome.reason === 'invalid' ? 'invalid_value' : 'device_write_failed';
    return { ...holdRefused(code, outcome.message), ...(outcome.isUnknown ? { isUnknown: true } : {}) };
  }

  // -------------------------------------------------------------- the way back

  /** A holder that this probe never knew: its outputs stand as an earlier life has left them. */
  async #giveBack(holder: string, device: string, before: readonly LeftOutput[]): Promise<HoldReply> {
    if (this.#last?.holder === holder) return { ok: true, message: '', outputs: answered(before, this.#last.outputs, this.#last.untouched) };
    if (this.#holder !== '' && this.#holder !== holder) return holdRefused('not_held', this.reason);
    if (this.#holder === '') {
      // it goes to the very outputs that were held, and to none that has taken their names
      if (device !== this.#host.device()) return { ok: true, message: '', outputs: before.map((row) => lost(row, OTHER_DEVICE)) };
      this.#begin(holder, 0);
      const known = this.#host.outputs();
      for (const left of before) {
        const channel = known.find(({ address, dataType }) => address === left.address && dataType === left.dataType);
        const { address: _address, dataType: _dataType, ...row } = left;
        if (channel) this.#places.set(left.channel, { channel, before: row, isSet: true, now: undefined });
      }
    }
    const untouched = this.#untouched();
    const outputs = await this.#return();
    const isDone = this.#last?.holder === holder;
    return isDone ? { ok: true, message: '', outputs: answered(before, outputs, untouched) } : { ...holdRefused('device_unreachable', UNREACHABLE), outputs };
  }

  #untouched(): ReadonlySet<string> {
    return new Set([...this.#places.values()].flatMap(({ isSet, before }) => (isSet ? [] : [before.channel])));
  }

  /** The fail-safe values are taken: they go before whoever holds the outputs. */
  yieldToFailSafe(): void {
    if (this.#holder === '') return;
    this.#isTaken = true;
    this.#attend(this.#return());
  }

  /** The device is there again. */
  connected(): void {
    if (this.#isReturning) this.#attend(this.#return());
  }

  #return(): Promise<readonly HeldOutput[]> {
    if (!this.#isReturning) this.#returnedMonoMs = this.#host.clock.monoMs();
    this.#isReturning = true;
    this.#cancel();
    this.#returning ??= this.#putBack().finally(() => {
      this.#returning = undefined;
    });
    return this.#returning;
  }

  async #putBack(): Promise<readonly HeldOutput[]> {
    const holder = this.#holder;
    const outputs: HeldOutput[] = [];
    let isReachable = true;
    for (const place of this.#places.values()) {
      if (!place.isSet) continue;
      const { row, isOver } = await this.#putOneBack(place);
      if (!isOver) isReachable = false;
      outputs.push(row);
    }
    if (this.#holder !== holder) return outputs;
    if (isReachable) this.#letGo(holder, outputs);
    else if (!this.#isClosed) {
      this.#cancel = this.#host.clock.after(AGAIN_MS, () => {
        if (this.#isReturning) this.#attend(this.#return());
      });
    }
    return outputs;
  }

  async #putOneBack({ channel, before }: Place): Promise<{ readonly row: HeldOutput; readonly isOver: boolean }> {
    const withheld = this.#host.withheld();
    if (withheld !== '') return { row: { ...before, isReturned: false, message: withheld }, isOver: this.#host.isOthers() };
    const { isCommanded, isFailSafe, commanded, failSafe } = this.#host.known(channel);
    if (isFailSafe)
      return { row: { ...before, value: commanded, source: 'fail-safe', isReturned: false, message: 'fail-safe values are taken: this one is written' }, isOver: true };
    if (isCommanded) return { row: { ...before, value: commanded, isReturned: true, message: 'logic commands it, and goes on to' }, isOver: true };
    const value = before.value ?? failSafe;
    const exact = value === null ? undefined : exactValue(value, channel.dataType);
    if (exact === undefined) return { row: { ...before, isReturned: false, message: 'what it had before is not known, and it has no fail-safe value' }, isOver: true };
    const outcome = await this.#host.write(channel, exact);
    if (outcome.ok) return { row: { ...before, value, isReturned: true, message: '' }, isOver: true };
    // a device that is busy refuses, and takes it a moment later
    const isWaited = outcome.reason === 'unreachable' || (outcome.reason === 'refused' && this.#host.clock.monoMs() - this.#returnedMonoMs < REFUSED_MS);
    return { row: { ...before, isReturned: false, message: outcome.message }, isOver: !isWaited };
  }

  #letGo(holder: string, outputs: readonly HeldOutput[]): void {
    this.#last = { holder, outputs, untouched: this.#untouched() };
    this.#holder = '';
    this.#isReturning = false;
    this.#places = new Map();
    this.#cancel();
    this.#host.changed();
  }

  /** The module is no longer served: one attempt, and nothing after it. Its holder is told how that ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const holder = this.#holder;
    if (holder === '') {
      if (this.#last) this.#host.ended(this.#last.holder, this.#last.outputs);
      return;
    }
    const outputs = await this.#return();
    this.#cancel();
    this.#host.ended(holder, outputs);
  }

  /** The process ends by a fault: fail-safe values go before what was there, and whoever writes them is not withheld any more. */
  async end(hasFailSafe: (channel: ProbeChannel) => boolean): Promise<void> {
    if (this.#holder === '') return;
    const places = [...this.#places.values()].filter(({ channel, isSet }) => isSet && !hasFailSafe(channel));
    this.#letGo(this.#holder, []);
    await Promise.all(places.map((place) => this.#putOneBack(place)));
  }
}

const lost = ({ address: _address, dataType: _dataType, ...row }: LeftOutput, message: string): HeldOutput => ({ ...row, isReturned: false, message });

/** A row for each output that was asked for: what nothing is known of is not back. */
function answered(before: readonly LeftOutput[], outputs: readonly HeldOutput[], untouched: ReadonlySet<string>): readonly HeldOutput[] {
  const told = new Set(outputs.map(({ channel }) => channel));
  const others = before.filter(({ channel }) => !told.has(channel));
  return [...outputs, ...others.map((row) => (untouched.has(row.channel) ? { ...lost(row, NOT_SET), isReturned: true } : lost(row, NO_OUTPUT)))];
}

function beforeOf({ name }: ProbeChannel, sample: ChannelSample | undefined, written: Value, failSafe: Value): HeldOutput {
  if (sample?.quality === 'Good' && sample.value !== null) return { channel: name, value: sample.value, source: 'read' };
  if (written !== null) return { channel: name, value: written, source: 'written' };
  if (failSafe !== null) return { channel: name, value: failSafe, source: 'fail-safe' };
  return { channel: name, value: null, source: 'unknown' };
}
