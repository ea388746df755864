/**
 * One I/O module on a network: connects, polls, writes, reads back, and says Bad in time (decisions 7, D-IO-01..03).
 *
 * A silent device is Bad after one poll period and its time-out, and never later than 3 s: channels polled more slowly
 * than that are checked in between with one small read. Nothing that a driver does ends the probe.
 */
import type { ChannelSample, HoldAsk, ProbeModule, ProbeStatistics } from '../port.js';
import { inside } from '../vocabulary/assert.js';
import type { Value } from '../vocabulary/data-types.js';
import { CONNECTION, IMAGE_HEADER, ProcessImage } from '../vocabulary/process-image.js';
import type { CallOutcome, Driver, Link, ReadOutcome } from './driver.js';
import type { Exchange } from './device-answers.js';
import { AskedByCharts, AskedByPeople } from './asked.js';
import { type DiscoverReply, discoverOver, notDiscovered } from './discovery.js';
import { badSample, type HoldReply, type ModuleRunner, type ModuleState, type OutputFacts, type RunnerHost, type WriteReply, writeRefused } from './module-runner.js';
import { OutputHold } from './output-hold.js';
import { OutputSide } from './output-side.js';
import { Ownership } from './ownership.js';
import { numberOption, type OptionValue, resolveOptions } from './options.js';
import { Reconnection } from './reconnection.js';
import { collectSamples } from './sample-collector.js';
import { ImageSink, type ImagePoint } from './image-sink.js';
import { Signal } from './signal.js';
import { StateReports } from './state-reports.js';
import { type ChannelCounts, ModuleStatistics } from './statistics.js';
import { exactValue } from './values.js';

/** A channel is looked at this often at least, so that with the time-out below silence shows within 3 s. */
const CHECK_MS_MAX = 1500;
const SILENCE_MS_MAX = 2900;
/** What a person asks of the device is begun so long after it was asked at most, less its time-out, and at least after the second. */
const ASKED_WAIT_MS = 9000;
const ASKED_WAIT_MS_MIN = 1000;
/** Proofs of a subscription that may be missing before its samples are stale (ADR 0083). */
const STALE_PROOFS = 3;
const WORD_MAX = 2 ** 31 - 1;
/** A module that never comes to rest tells of itself once in so many times the first back-off: every 2 s (ADR 0091). */
const REPORT_TIMES = 4;

interface Group {
  readonly points: readonly ImagePoint[];
  /** The first point alone: the small read between two polls of a slow group. */
  readonly check: readonly ImagePoint[];
  readonly stepMs: number;
  /** Every n-th step is a full poll. */
  readonly fullEvery: number;
  steps: number;
  silent: boolean;
  /** A first read has ended, well or badly. */
  judged: boolean;
  cancel: () => void;
  cancelWatch: () => void;
}

export class NetworkModule implements ModuleRunner {
  readonly #driver: Driver;
  readonly #host: RunnerHost;
  readonly #options: Readonly<Record<string, OptionValue>>;
  readonly #closed = new Signal();
  readonly #outputs: OutputSide;
  readonly #hold: OutputHold;
  readonly #ownership: Ownership | undefined;
  readonly #finished: Promise<void>;
  readonly #statistics: ModuleStatistics;
  #module: ProbeModule;
  #image: ProcessImage;
  #sink: ImageSink;
  #link: Link | undefined;
  #isConnecting = false;
  #groups: Group[] = [];
  readonly #charts = new AskedByCharts((names) => this.#sample(names));
  readonly #people: AskedByPeople;
  readonly #pauses = new Set<{ cancel: () => void; readonly resolve: () => void }>();
  /** Of the connection before. */
  #lastExchange: Exchange | undefined;
  readonly #reconnection: Reconnection;
  readonly #reports: StateReports;
  /** Whoever waits for the next attempt to connect to end, well or badly. */
  #attempted: (() => void)[] = [];
  /** Why there is no connection; empty: none was tried yet. */
  #away = '';
  #connectedMonoMs = 0;
  #lastAnswerMonoMs = 0;
  /** Why this side gave the connection up; empty: it did not. */
  #givenUp = '';

  constructor(module: ProbeModule, driver: Driver, host: RunnerHost) {
    this.#driver = driver;
    this.#host = host;
    this.#options = resolveOptions(driver.options, module.options);
    this.#module = module;
    this.#image = new ProcessImage(module.channels.length, module.image);
    this.#sink = new ImageSink(this.#image, module.channels.length, host.clock);
    this.#people = new AskedByPeople(host.clock, this.#charts);
    this.#reconnection = new Reconnection(host, (atMs) => host.nextAttempt(module.module, atMs));
    this.#reports = new StateReports(
      host.clock,
      () => REPORT_TIMES * host.settings().reconnectMinMs,
      ({ state, message, outputs }) => host.report(module.module, state, message, outputs),
    );
    this.#statistics = new ModuleStatistics(module.channels.length, host.clock.wallMs());
    this.#outputs = new OutputSide(
      module,
      this.#image,
      host,
      (point) => this.#readNow([point]),
      () => this.#settleState(),
    );
    this.#hold = this.#holdOf(host);
    this.#ownership = module.ownership && new Ownership(module.ownership, driver.registers);
    this.#withhold();
    this.#allBad('not connected yet');
    this.#finished = this.#guarded(this.#run());
  }

  #holdOf(host: RunnerHost): OutputHold {
    return new OutputHold({
      clock: host.clock,
      device: () => this.#module.device ?? '',
      outputs: () => this.#module.channels.filter(({ direction, name, address }) => direction === 'output' && !this.#beatsOn(name, address)),
      write: (channel, value) => this.#outputs.writeHeld(channel, value),
      read: (channels) => collectSamples(ordered(this.#module), channels, this.#link, this.#host.clock),
      known: (channel) => this.#outputs.known(channel),
      withheld: () => this.#withheldReason,
      isOthers: () => this.#module.withheld !== undefined || (this.#ownership?.isForeign ?? false),
      failSafe: () => this.#outputs.failSafeMessage(),
      failSafeTimeoutMs: () => this.#module.failSafe?.timeoutMs ?? 0,
      changed: () => {
        this.#withhold();
        this.#settleState();
      },
      ended: (holder, outputs) => host.holdEnded(this.#module.module, holder, outputs),
      fault: (fault) => host.fault(this.#module.module, fault),
    });
  }

  /** The heartbeat goes on whoever holds the other outputs. */
  #beatsOn(name: string, address: string): boolean {
    const heartbeat = this.#module.failSafe?.heartbeatChannel ?? '';
    return heartbeat !== '' && (heartbeat === name || heartbeat === address);
  }

  /** Whatever ends unexpectedly is a fault of this module and of no other. */
  #guarded(work: Promise<void>): Promise<void> {
    return work.catch((fault: unknown) => this.#host.fault(this.#module.module, fault));
  }

  /** For work that nobody waits for. */
  #attend(work: Promise<void>): void {
    this.#guarded(work).catch((fault: unknown) => this.#report('Failed', String(fault)));
  }

  // -------------------------------------------------------------- connection

  async #run(): Promise<void> {
    const address = this.#driver.parseAddress(this.#module.address);
    if (!address.ok) {
      this.#report('Failed', address.message);
      return;
    }
    this.#report('Pending', `connecting to ${this.#module.address}`);
    while (this.#closed.reason === undefined) {
      const reason = await this.#serve();
      if (this.#closed.reason !== undefined) break;
      this.#lose(reason);
      await this.#reconnection.wait();
    }
  }

  /** Connects and serves until the connection is gone; the result says why. */
  async #serve(): Promise<string> {
    let link: Link;
    this.#isConnecting = true;
    try {
      link = await this.#driver.connect(this.#module, this.#host.clock);
    } catch (error) {
      this.#statistics.connectFailed();
      this.#reconnection.failed(this.#host.clock.monoMs());
      this.#away = error instanceof Error ? error.message : String(error);
      return this.#away;
    } finally {
      this.#isConnecting = false;
      this.#tellAttempted();
    }
    if (this.#closed.reason !== undefined) {
      await link.close();
      return 'closed';
    }
    this.#link = link;
    this.#statistics.connected();
    this.#connectedMonoMs = this.#host.clock.monoMs();
    this.#lastAnswerMonoMs = this.#connectedMonoMs;
    this.#startGroups(link);
    this.#ownership?.begin();
    this.#withhold();
    this.#outputs.connected(link);
    this.#hold.connected();
    if (this.#ownership && !this.#module.withheld) this.#attend(this.#keepOwnership(link, this.#ownership));
    if (this.#groups.length === 0) this.#settleUnread();
    const reason = await Promise.race([link.lost, this.#closed.promise]);
    // what was given up here was counted as what it was
    if (this.#givenUp === '' && this.#closed.reason === undefined && !this.#isSilent) this.#statistics.connectionLost(this.#groups.flatMap(({ points }) => points));
    this.#reconnection.failed(this.#groups.length === 0 ? this.#host.clock.monoMs() : this.#lastAnswerMonoMs);
    this.#stopGroups();
    this.#link = undefined;
    this.#lastExchange = link.lastExchange?.() ?? this.#lastExchange;
    await link.close();
    const why = this.#givenUp || reason;
    this.#givenUp = '';
    return why;
  }

  /** Nothing is read of it: that it is connected is all that there is to know. */
  #settleUnread(): void {
    this.#reconnection.good();
    this.#settleState();
  }

  #tellAttempted(): void {
    for (const tell of this.#attempted.splice(0)) tell();
  }

  /** Somebody asks for the device: one that is away is tried at once, and not after the back-off. Fulfilled when that has ended, or after `timeoutMs`. */
  #tryNow(timeoutMs: number): Promise<void> {
    if (this.#link || this.#closed.reason !== undefined) return Promise.resolve();
    return new Promise<void>((resolve) => {
      const cancel = this.#host.clock.after(timeoutMs, resolve);
      this.#attempted.push(() => {
        cancel();
        resolve();
      });
      this.#reconnection.now();
    });
  }

  get #withheldReason(): string {
    return this.#module.withheld || (this.#ownership?.reason ?? '');
  }

  /** What the box says of its outputs goes before what the register of the device says. */
  #withhold(): void {
    const reason = this.#withheldReason;
    this.#outputs.withhold(reason || this.#hold.reason, reason === '');
  }

  /** While this connection lasts. */
  async #keepOwnership(link: Link, ownership: Ownership): Promise<void> {
    const { intervalMs = 1000 } = this.#module.ownership ?? {};
    while (this.#link === link && this.#closed.reason === undefined) {
      await ownership.look(link);
      if (this.#link !== link) return;
      this.#withhold();
      this.#settleState();
      await this.#pause(intervalMs);
    }
  }

  /** The end of the module ends it. */
  #pause(ms: number): Promise<void> {
    if (this.#closed.reason !== undefined) return Promise.resolve();
    return new Promise<void>((resolve) => {
      const pause = { cancel: () => {}, resolve };
      const over = (): void => {
        this.#pauses.delete(pause);
        resolve();
      };
      pause.cancel = this.#host.clock.after(ms, over);
      this.#pauses.add(pause);
    });
  }

  #endPauses(): void {
    for (const { cancel, resolve } of this.#pauses) {
      cancel();
      resolve();
    }
    this.#pauses.clear();
  }

  #lose(reason: string): void {
    this.#away = reason;
    this.#allBad(reason);
    this.#outputs.disconnected();
    this.#report('Disconnected', reason);
  }

  // -------------------------------------------------------------- polling

  #imagePoints(): ImagePoint[] {
    return this.#module.channels.flatMap((channel, index): ImagePoint[] => {
      const pollMs = channel.pollIntervalMs || numberOption(this.#options, 'pollInterval');
      const shape = { channel: index, dataType: channel.dataType, pollMs };
      if (channel.direction === 'input') return [{ ...shape, address: channel.address, readback: false }];
      return channel.readbackAddress === '' ? [] : [{ ...shape, address: channel.readbackAddress, readback: true }];
    });
  }

  #startGroups(link: Link): void {
    Atomics.store(this.#image.header, IMAGE_HEADER.staleAfter, 0);
    if (link.subscribe) return this.#followArrivals(link, link.subscribe);
    const byKey = new Map<string, ImagePoint[]>();
    for (const point of this.#imagePoints()) {
      const key = `${point.pollMs} ${link.lane?.(point) ?? ''}`;
      byKey.set(key, [...(byKey.get(key) ?? []), point]);
    }
    this.#groups = [...byKey.values()].map((points) => {
      const { pollMs } = inside(points, 0, 'a group is made with its first point');
      const fullEvery = Math.ceil(pollMs / CHECK_MS_MAX);
      return {
        points,
        check: points.slice(0, 1),
        stepMs: pollMs / fullEvery,
        fullEvery,
        steps: 0,
        silent: false,
        judged: false,
        cancel: () => {},
        cancelWatch: () => {},
      };
    });
    for (const group of this.#groups) this.#attend(this.#poll(group, link, this.#host.clock.monoMs()));
  }

  /** All points as one group whose samples come by themselves; the link watches that they do. */
  #followArrivals(link: Link, subscribe: NonNullable<Link['subscribe']>): void {
    const points = this.#imagePoints();
    const [first] = points;
    if (!first) return;
    const group: Group = { points, check: [first], stepMs: first.pollMs, fullEvery: 1, steps: 0, silent: false, judged: false, cancel: () => {}, cancelWatch: () => {} };
    this.#groups = [group];
    const image = this.#image;
    // what arrives was taken before: how long before is known to the device only, so it may be of before a write
    let delayMs = numberOption(this.#options, 'publishingInterval') + numberOption(this.#options, 'samplingInterval');
    const counts = this.#statistics.follow();
    const sink = this.#sink.of(points, (point, value) => this.#outputs.readback(image, point.channel, value, this.#host.clock.monoMs() - delayMs), counts);
    let proofs = 0;
    const stop = subscribe(points, sink, {
      proven: () => {
        if (!this.#groups.includes(group)) return;
        proofs += 1;
        if (proofs === 1 && !this.#isGood) return; // the first samples are on their way
        this.#lastAnswerMonoMs = this.#host.clock.monoMs();
        if (!group.silent) this.#sink.confirm(points);
        this.#statistics.proven(group.silent ? [] : points, this.#lastAnswerMonoMs);
        this.#judge(group, link, { status: 'answered' });
      },
      revised: (intervals) => {
        if (!this.#groups.includes(group)) return;
        delayMs = intervals.delayMs;
        if (numberOption(this.#options, 'staleAfter') > 0) return; // what a person has set counts
        Atomics.store(image.header, IMAGE_HEADER.staleAfter, Math.min(Math.ceil(STALE_PROOFS * intervals.proofMs), WORD_MAX));
      },
      silent: (message) => {
        if (!this.#groups.includes(group)) return;
        if (!group.silent) this.#statistics.silenced(points);
        this.#silence(group, message);
      },
      heard: (isKeepAlive) => {
        if (this.#groups.includes(group)) this.#statistics.heard(isKeepAlive);
      },
      asked: (what, outcome, tookMs) => {
        if (this.#groups.includes(group)) this.#statistics.asked(what, outcome, tookMs);
      },
    });
    group.cancel = () => this.#attend(stop());
  }

  #stopGroups(): void {
    for (const group of this.#groups) {
      group.cancel();
      group.cancelWatch();
    }
    this.#groups = [];
  }

  async #poll(group: Group, link: Link, dueMs: number): Promise<void> {
    const full = group.silent || group.steps % group.fullEvery === 0;
    group.steps = full ? 1 : group.steps + 1;
    const points = full ? group.points : group.check;
    const begunMs = this.#host.clock.monoMs();
    this.#watch(group, begunMs);
    const { channels } = this.#statistics;
    channels.begin(points);
    const outcome = await this.#readInto(link, points, channels);
    this.#statistics.end(channels, points, outcome, this.#host.clock.monoMs() - begunMs);
    group.cancelWatch();
    if (!this.#groups.includes(group)) return;
    this.#judge(group, link, outcome);
    const nowMs = this.#host.clock.monoMs();
    const missed = Math.max(1, Math.ceil((nowMs - dueMs) / group.stepMs)); // a poll that took too long is not repeated
    if (missed > 1) this.#statistics.late();
    const nextMs = dueMs + missed * group.stepMs;
    group.cancel = this.#host.clock.after(nextMs - nowMs, () => this.#attend(this.#poll(group, link, nextMs)));
  }

  async #readInto(link: Link, points: readonly ImagePoint[], counts?: ChannelCounts): Promise<ReadOutcome> {
    // a sample belongs to the image it was asked for, however the channels change while it is on its way
    const image = this.#image;
    const askedMonoMs = this.#host.clock.monoMs();
    const sink = this.#sink.of(points, (point, value) => this.#outputs.readback(image, point.channel, value, askedMonoMs), counts);
    try {
      const outcome = await link.read(points, sink);
      if (outcome.status === 'answered') this.#lastAnswerMonoMs = this.#host.clock.monoMs();
      return outcome;
    } catch (error) {
      sink.recover();
      return { status: 'lost', message: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Of this connection: what one before it has shown proves nothing. */
  get #isGood(): boolean {
    return this.#sink.isGoodSince(this.#connectedMonoMs);
  }

  #judge(group: Group, link: Link, outcome: ReadOutcome): void {
    group.judged = true;
    if (outcome.status === 'answered') {
      group.silent = false;
      if (this.#isGood) this.#reconnection.good();
      this.#settleState();
      return;
    }
    this.#silence(group, outcome.message);
    if (outcome.status !== 'lost' && !this.#groups.every((row) => row.silent)) return;
    this.#givenUp = outcome.message;
    this.#attend(link.close());
  }

  /** Says Bad while a read still hangs: the deadline is the time-out of one request, and 3 s since the last answer. */
  #watch(group: Group, fromMs: number): void {
    const timeoutMs = Math.max(numberOption(this.#options, 'timeout'), this.#link?.patienceMs ?? 0);
    const nowMs = this.#host.clock.monoMs();
    const sinceMs = Math.max(fromMs, this.#sink.lastGoodMonoMs(group.points));
    const badAtMs = Math.min(sinceMs + timeoutMs, Math.max(this.#lastAnswerMonoMs, this.#sink.lastGoodMonoMs(group.points)) + SILENCE_MS_MAX);
    group.cancelWatch = this.#host.clock.after(Math.max(badAtMs - nowMs, 1), () => {
      // a thread that stood still may have the answer in its socket: that is read first
      const look = setImmediate(() => {
        const heardMs = Math.max(fromMs, this.#sink.lastGoodMonoMs(group.points));
        if (heardMs > sinceMs) this.#watch(group, fromMs);
        else this.#silence(group, `no answer within ${Math.round(badAtMs - fromMs)} ms`);
      });
      group.cancelWatch = () => clearImmediate(look);
    });
  }

  #silence(group: Group, message: string): void {
    group.silent = true;
    this.#sink.markBad(group.points, message);
    this.#settleState();
  }

  async #readNow(points: readonly ImagePoint[]): Promise<void> {
    if (this.#link) await this.#readInto(this.#link, points);
  }

  // -------------------------------------------------------------- state

  /** It is silent as a whole. */
  get #isSilent(): boolean {
    return this.#groups.length > 0 && this.#groups.every((group) => group.silent);
  }

  #settleState(): void {
    if (!this.#link) return;
    if (this.#isSilent) {
      Atomics.store(this.#image.header, IMAGE_HEADER.connection, CONNECTION.lost);
      this.#report('Disconnected', this.#sink.firstMessage());
      return;
    }
    if (!this.#groups.every((group) => group.judged || group.silent)) return;
    Atomics.store(this.#image.header, IMAGE_HEADER.connection, CONNECTION.connected);
    const bad = this.#groups.flatMap((group) => group.points.filter((point) => this.#sink.message(point.channel) !== ''));
    const parts = bad
      .slice(0, 3)
      .map((point) => `${inside(this.#module.channels, point.channel, 'the groups are those of the present channels').name}: ${this.#sink.message(point.channel)}`);
    if (bad.length > 3) parts.push(`${bad.length - 3} more`);
    const failSafe = this.#outputs.failSafeMessage();
    if (failSafe !== '') parts.push(failSafe);
    this.#report(parts.length > 0 ? 'Degraded' : 'Connected', parts.join('; '));
  }

  #allBad(reason: string): void {
    const { header } = this.#image;
    const known = Atomics.load(header, IMAGE_HEADER.connection) !== CONNECTION.never || this.#link !== undefined;
    if (known) Atomics.store(header, IMAGE_HEADER.connection, CONNECTION.lost);
    this.#sink.allBad(reason);
  }

  #report(state: ModuleState, message: string): void {
    const outputs: OutputFacts = {
      withheld: this.#outputs.withheld,
      secondMaster: !this.#module.withheld && (this.#ownership?.isForeign ?? false),
      mismatched: this.#outputs.mismatched(),
      failSafeTaken: this.#outputs.failSafeMessage() !== '',
    };
    this.#reports.take(state, message, outputs);
  }

  // -------------------------------------------------------------- requests

  update(module: ProbeModule): void {
    const sameChannels = JSON.stringify(module.channels) === JSON.stringify(this.#module.channels);
    const sameImage = module.image === this.#module.image;
    this.#module = module;
    if (sameChannels && sameImage) {
      this.#outputs.update(module, this.#image);
      this.#withhold();
      this.#settleState();
      return;
    }
    this.#stopGroups();
    this.#image = new ProcessImage(module.channels.length, module.image);
    this.#sink = new ImageSink(this.#image, module.channels.length, this.#host.clock);
    this.#statistics.renew(module.channels.length);
    this.#outputs.update(module, this.#image);
    this.#withhold();
    this.#allBad('not read yet');
    if (!this.#link) return;
    Atomics.store(this.#image.header, IMAGE_HEADER.connection, CONNECTION.connected);
    this.#startGroups(this.#link);
    if (this.#groups.length === 0) this.#settleState();
  }

  lookAtOutputs(): void {
    if (!this.#outputs.look()) return;
    if (this.#outputs.failSafeMessage() !== '') this.#hold.yieldToFailSafe();
    this.#settleState();
  }

  #sample(names: readonly string[]): Promise<readonly ChannelSample[]> {
    return collectSamples(this.#module, names, this.#link, this.#host.clock);
  }

  read(names: readonly string[], isForChart: boolean): Promise<readonly ChannelSample[]> {
    if (isForChart) return this.#charts.take(names);
    const askedAtMs = this.#host.clock.wallMs();
    return this.#people.take(
      this.#askedWaitMs,
      () => this.#sample(names),
      (why) => names.map((name) => badSample(name, '', askedAtMs, why)),
    );
  }

  /** So that what begins last is answered, or silent, before the gateway gives up. */
  get #askedWaitMs(): number {
    return Math.max(ASKED_WAIT_MS - numberOption(this.#options, 'timeout'), ASKED_WAIT_MS_MIN);
  }

  async write(name: string, value: Value): Promise<WriteReply> {
    const index = this.#module.channels.findIndex((row) => row.name === name || row.address === name);
    const channel = this.#module.channels[index];
    if (!channel) return writeRefused('unknown_channel', `module ${this.#module.module} has no channel ${name}`);
    if (channel.direction === 'input') return writeRefused('invalid_value', `channel ${channel.name} is an input`);
    const converted = exactValue(value, channel.dataType);
    if (converted === undefined) return writeRefused('invalid_value', `${value} is not a ${channel.dataType}`);
    return this.#outputs.writeByRequest(channel.address, converted, this.#host.clock.monoMs() + this.#askedWaitMs);
  }

  async call(objectId: string, methodId: string, args: readonly Value[], timeoutMs: number): Promise<CallOutcome> {
    const { protocol, module, withheld } = this.#module;
    if (withheld) return { ok: false, reason: 'refused', message: withheld };
    if (!this.#link) return { ok: false, reason: 'unreachable', message: `module ${module} is not connected` };
    if (!this.#link.call) return { ok: false, reason: 'invalid', message: `protocol ${protocol} has no services` };
    return this.#link.call(objectId, methodId, args, timeoutMs);
  }

  discover(timeoutMs: number): Promise<DiscoverReply> {
    const { clock } = this.#host;
    const endMonoMs = clock.monoMs() + timeoutMs; // also of one that has waited for its turn
    const look = async (): Promise<DiscoverReply> => {
      await this.#tryNow((endMonoMs - clock.monoMs()) / 2);
      if (!this.#link) return notDiscovered(`module ${this.#module.module} is not connected${this.#away === '' ? '' : `: ${this.#away}`}`);
      return discoverOver(this.#link, this.#module, clock, endMonoMs - clock.monoMs());
    };
    return this.#people.take(timeoutMs / 2, look, notDiscovered);
  }

  /** Also of the connection before, while there is none or nothing was asked on the new one. */
  lastExchange(): Exchange | undefined {
    return this.#link?.lastExchange?.() ?? this.#lastExchange;
  }

  release(): readonly string[] {
    return [];
  }

  statistics(): ProbeStatistics {
    return this.#statistics.report(this.#host.clock.monoMs());
  }

  hold(holder: string, ask: HoldAsk): Promise<HoldReply> {
    return this.#hold.ask(holder, ask);
  }

  async takeFailSafe(): Promise<void> {
    const isArmed = (this.#module.failSafe?.timeoutMs ?? 0) > 0;
    const handedBack = this.#hold.end((channel) => isArmed && this.#outputs.known(channel).failSafe !== null);
    await Promise.all([this.#outputs.takeFailSafe(), handedBack]);
  }

  async close(): Promise<void> {
    await this.#hold.close();
    this.#closed.raise('closed');
    this.#endPauses();
    this.#reconnection.end();
    this.#reports.end();
    this.#tellAttempted();
    this.#stopGroups();
    this.#outputs.disconnected();
    this.#allBad('the module is no longer served');
    if (this.#isConnecting) return; // a connection that is being made closes itself when it stands, whenever that is
    await this.#link?.close();
    await this.#finished;
  }
}

/** Outputs by what stands at their own addresses: what was ordered, not what a wire that may be wrong shows of it. */
function ordered(module: ProbeModule): ProbeModule {
  return { ...module, channels: module.channels.map((channel) => ({ ...channel, readbackAddress: '' })) };
}
