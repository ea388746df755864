/** A connected OPC UA server (decisions 7.2 to 7.4): reads in batches, writes in the server's own types, methods, and samples by arrival. */
import type { DataValue, StatusCode, UserIdentityInfo, Variant as OpcVariant } from 'node-opcua-client';
import type { Clock } from '../../vocabulary/clock.js';
import type { Value } from '../../vocabulary/data-types.js';
import type { ArrivalListener, Barred, CallOutcome, Link, Point, ReadOutcome, SampleSink, WriteOutcome } from '../driver.js';
import { WriteTurns } from '../write-turns.js';
import type { ProbeChannel } from '../../port.js';
import type { Discovery } from '../device-answers.js';
import { discover } from './discover.js';
import { Follower } from './follower.js';
import { AttributeIds, CallRequest, ReadRequest, resolveNodeId, TimestampsToReturn } from './library.js';
import { argumentsOf, builtInTypeOf, writeValue } from './node-types.js';
import { type NodeAddress, resolveAddress } from './node-address.js';
import { type IsOutdated, Reread } from './reread.js';
import { faultText, OpcUaFault, severityOf, statusText } from './status.js';
import { clockMs, CURRENT_TIME } from './subscription.js';
import { decode, encode, encodeFreely, type OpcDataType, plainValue, reservation } from './values.js';
import type { Wire } from './wire.js';

export interface LinkSettings {
  readonly mode: 'subscribe' | 'poll';
  readonly batchSize: number;
  readonly retries: number;
  readonly timeoutMs: number;
  readonly publishingIntervalMs: number;
  readonly samplingIntervalMs: number;
}

/** So long nothing is asked at the most: a server forgets a session that is silent, and one that is away shall be told. */
const IDLE_MS_MAX = 1500;
/** A device that is silent is told within 3 s (decisions 7). */
const BAD_MS_MAX = 2900;
const ANSWERED: ReadOutcome = { status: 'answered' };
/** Requests of one read that are on their way together. */
const READS_IN_FLIGHT = 4;
/** A source time this much before its arrival is that of a clock that is wrong, or of a value that has long been so: the arrival counts. */
const SOURCE_AGE_MS_MAX = 5000;
const NAMESPACES = 'i=2255'; // Server_NamespaceArray (OPC 10000-5, 12.10)
const READ_MAX = 'i=11705'; // OperationLimits: MaxNodesPerRead
const ITEMS_MAX = 'i=11714'; // OperationLimits: MaxMonitoredItemsPerCall
const SERVER_STATE = 'i=2259'; // Server_ServerStatus_State (OPC 10000-5, 12.6)
const RUNNING = 0;

interface Target extends NodeAddress {
  /** Of the value as the server holds it; undefined until it was asked for. */
  type?: OpcDataType;
}

export class OpcUaLink implements Link {
  readonly subscribe?: (points: readonly Point[], sink: SampleSink, listener: ArrivalListener) => () => Promise<void>;
  readonly #wire: Wire;
  readonly #user: UserIdentityInfo;
  readonly #settings: LinkSettings;
  readonly #clock: Clock;
  readonly #targets = new Map<string, Target | string>();
  readonly #followers = new Set<Follower>();
  #namespaces: readonly string[] = [];
  #readMax: number;
  #itemsMax: number;
  readonly #turns = new WriteTurns();
  #cancelIdle: () => void = () => {};
  /** Of the small read before. */
  #serverClockMs: number | undefined;

  constructor(wire: Wire, user: UserIdentityInfo, settings: LinkSettings, clock: Clock) {
    this.#wire = wire;
    this.#user = user;
    this.#settings = settings;
    this.#clock = clock;
    this.#readMax = settings.batchSize;
    this.#itemsMax = settings.batchSize;
    if (settings.mode === 'subscribe') this.subscribe = (points, sink, listener) => this.#follow(points, sink, listener);
  }

  /** Asks for what holds for as long as the connection: namespaces, and how much the server takes at once. @throws OpcUaFault */
  async prepare(): Promise<void> {
    const [namespaces, readMax, itemsMax] = await this.#readValues([NAMESPACES, READ_MAX, ITEMS_MAX].map((node) => ({ nodeId: resolveNodeId(node), indexRange: '' })));
    const names = namespaces?.value?.value as unknown;
    this.#namespaces = Array.isArray(names) ? names.map(String) : ['http://opcfoundation.org/UA/'];
    this.#readMax = limited(this.#settings.batchSize, readMax);
    this.#itemsMax = limited(this.#settings.batchSize, itemsMax);
    this.#stayAwake();
  }

  get wire(): Wire {
    return this.#wire;
  }

  get namespaces(): readonly string[] {
    return this.#namespaces;
  }

  get lost(): Promise<string> {
    return this.#wire.lost;
  }

  /** Of a module that neither reads nor follows: it has outputs only, or long intervals. */
  #stayAwake(): void {
    if (this.#wire.isLost) return;
    this.#cancelIdle = this.#clock.after(Math.max(IDLE_MS_MAX - this.#wire.idleMs, 1), () => {
      if (this.#wire.isLost) return;
      if (this.#wire.idleMs < IDLE_MS_MAX) return this.#stayAwake();
      this.#ask(Math.min(this.#settings.timeoutMs, BAD_MS_MAX - IDLE_MS_MAX)).then(
        () => this.#stayAwake(),
        (fault: unknown) => this.#wire.close(faultText(fault)),
      );
    });
  }

  /** One small read. @returns why what it tells does not prove that the server runs; '' where it does. @throws OpcUaFault */
  async #ask(timeoutMs: number): Promise<string> {
    const [time, state] = await this.#readValues(
      [CURRENT_TIME, SERVER_STATE].map((node) => ({ nodeId: resolveNodeId(node), indexRange: '' })),
      timeoutMs,
    );
    const before = this.#serverClockMs;
    this.#serverClockMs = clockMs(time);
    const told = state && severityOf(state.statusCode) === 'Good' ? (state.value?.value as unknown) : undefined;
    if (typeof told === 'number') return told === RUNNING ? '' : `the server says that it does not run (ServerState ${told})`;
    if (this.#serverClockMs !== undefined && this.#serverClockMs !== before) return '';
    return 'the server tells neither a time that goes on nor its state, so nothing proves that samples flow; use mode: poll';
  }

  async #askCounted(timeoutMs: number, listener: ArrivalListener): Promise<string> {
    const begunMonoMs = this.#clock.monoMs();
    const told = (outcome: ReadOutcome): void => listener.asked('sign', outcome, this.#clock.monoMs() - begunMonoMs);
    try {
      const doubt = await this.#ask(timeoutMs);
      told(ANSWERED);
      return doubt;
    } catch (fault) {
      const isLost = fault instanceof OpcUaFault && fault.reason === 'lost';
      told({ status: isLost ? 'lost' : 'silent', message: faultText(fault) });
      throw fault;
    }
  }

  async close(): Promise<void> {
    this.#cancelIdle();
    await Promise.all([...this.#followers].map((follower) => follower.stop()));
    this.#followers.clear();
    await this.#wire.close();
  }

  #target(address: string): Target | string {
    const known = this.#targets.get(address);
    if (known !== undefined) return known;
    const target = resolveAddress(address, this.#namespaces);
    this.#targets.set(address, target);
    return target;
  }

  // -------------------------------------------------------------- reading

  async read(points: readonly Point[], sink: SampleSink): Promise<ReadOutcome> {
    return (await this.#read(points, sink, () => false)).outcome;
  }

  async #read(points: readonly Point[], sink: SampleSink, isOutdated: IsOutdated): Promise<{ readonly outcome: ReadOutcome; readonly isWhole: boolean }> {
    const wanted: { readonly position: number; readonly target: Target; readonly point: Point }[] = [];
    sink.begin();
    points.forEach((point, position) => {
      const target = this.#target(point.address);
      if (typeof target === 'string') sink.bad(position, target);
      else wanted.push({ position, target, point });
    });
    sink.end();
    const batches: (typeof wanted)[] = [];
    for (let at = 0; at < wanted.length; at += this.#readMax) batches.push(wanted.slice(at, at + this.#readMax));
    let failed: OpcUaFault | undefined;
    let answered = wanted.length === 0;
    const work = batches.values();
    const one = async (): Promise<void> => {
      for (const batch of work) {
        const { values, fault } = failed && failed.reason !== 'refused' ? { values: undefined, fault: failed } : await this.#attempt(batch.map(({ target }) => target));
        if (values || fault?.reason === 'refused') answered = true;
        failed ??= fault;
        sink.begin();
        batch.forEach(({ position, target, point }, place) => {
          const value = values?.[place];
          if (isOutdated(position, value?.sourceTimestamp ?? null)) return;
          if (value) this.#deliver(sink, position, value, point, target);
          else if (fault) sink.bad(position, fault.message, fault.reason);
          else sink.bad(position, 'the server has left the value out', 'malformed');
        });
        sink.end();
      }
    };
    await Promise.all(Array.from({ length: READS_IN_FLIGHT }, one));
    const isWhole = failed === undefined;
    if (failed?.reason === 'lost') return { outcome: { status: 'lost', message: failed.message }, isWhole };
    return { outcome: answered || !failed ? ANSWERED : { status: 'silent', message: failed.message }, isWhole };
  }

  /** Repeats what stays unanswered, as the module says. */
  async #attempt(targets: readonly NodeAddress[]): Promise<{ readonly values?: readonly DataValue[]; readonly fault?: OpcUaFault }> {
    for (let repeat = 0; ; repeat += 1) {
      try {
        return { values: await this.#readValues(targets) };
      } catch (fault) {
        const known = fault instanceof OpcUaFault ? fault : new OpcUaFault('lost', faultText(fault));
        if (/^BadSession/.test(known.opcStatus)) return { fault: new OpcUaFault('lost', known.message, known.opcStatus) };
        if (known.reason !== 'silent' || repeat >= this.#settings.retries) return { fault: known };
      }
    }
  }

  async #readValues(targets: readonly NodeAddress[], timeoutMs = this.#settings.timeoutMs): Promise<readonly DataValue[]> {
    const { results } = await this.#wire.request<{ results: readonly DataValue[] | null }>(
      new ReadRequest({
        maxAge: 0,
        timestampsToReturn: TimestampsToReturn.Source,
        nodesToRead: targets.map(({ nodeId, indexRange }) => ({ nodeId, attributeId: AttributeIds.Value, ...(indexRange === '' ? {} : { indexRange: indexRange as never }) })),
      }),
      timeoutMs,
    );
    return results ?? [];
  }

  #deliver(sink: SampleSink, position: number, value: DataValue, { dataType }: Point, target: Target): void {
    const { isBad, message } = reservation(value);
    if (isBad) return sink.bad(position, message);
    const decoded = decode(value, dataType, target.indexRange !== '');
    if (decoded.kind === 'bad') return sink.bad(position, decoded.message);
    const type = value.value.dataType;
    target.type = type;
    if (decoded.kind === 'number') sink.number(position, decoded.value);
    else if (decoded.kind === 'integer') sink.integer(position, decoded.value);
    else sink.text(position, decoded.value);
    if (message !== '') sink.uncertain?.(position, message);
    this.#stamp(sink, position, value.sourceTimestamp);
  }

  /** When the device had it, where it says so and its clock can be right. */
  #stamp(sink: SampleSink, position: number, source: Date | null): void {
    if (!source || !sink.taken) return;
    const ageMs = this.#clock.wallMs() - source.getTime();
    if (ageMs > 0 && ageMs <= SOURCE_AGE_MS_MAX) sink.taken(position, source.getTime());
  }

  // -------------------------------------------------------------- samples by arrival

  #follow(points: readonly Point[], sink: SampleSink, listener: ArrivalListener): () => Promise<void> {
    const targets = points.map((point) => this.#target(point.address));
    const items = targets.map((target) => (typeof target === 'string' ? undefined : { target }));
    sink.begin();
    targets.forEach((target, position) => {
      if (typeof target === 'string') sink.bad(position, target);
    });
    sink.end();
    const deliver = (position: number, value: DataValue): void => {
      const target = targets[position];
      const point = points[position];
      if (!point || typeof target !== 'object') return;
      reread.heard(position, value.sourceTimestamp);
      this.#deliver(sink, position, value, point, target);
    };
    const reread = new Reread({
      count: points.length,
      clock: this.#clock,
      read: async (isOutdated) => {
        const begunMonoMs = this.#clock.monoMs();
        const { outcome, isWhole } = await this.#read(points, sink, isOutdated);
        listener.asked('reread', outcome, this.#clock.monoMs() - begunMonoMs);
        return isWhole;
      },
      isLost: () => this.#wire.isLost,
    });
    const follower = new Follower({
      wire: this.#wire,
      user: this.#user,
      clock: this.#clock,
      items,
      listener,
      settings: {
        publishingIntervalMs: this.#settings.publishingIntervalMs,
        samplingIntervalMs: this.#settings.samplingIntervalMs,
        itemsPerCall: this.#itemsMax,
        timeoutMs: this.#settings.timeoutMs,
      },
      events: {
        samples: (values) => {
          sink.begin();
          for (const { clientHandle, value } of values) deliver(clientHandle, value);
          sink.end();
        },
        refused: (position, message) => {
          sink.begin();
          sink.bad(position, message);
          sink.end();
        },
        missed: () => reread.start(),
      },
      ask: (timeoutMs) => this.#askCounted(timeoutMs, listener),
      giveUp: (reason) => {
        listener.silent(reason);
        this.#wire.close(reason).catch(() => undefined); // it is given up either way
      },
    });
    this.#followers.add(follower);
    return async () => {
      this.#followers.delete(follower);
      reread.stop();
      await follower.stop();
    };
  }

  // -------------------------------------------------------------- writing

  write(point: Point, value: Value, barred?: Barred): Promise<WriteOutcome> {
    return this.#turns.take(barred, () => this.#writeNow(point, value, barred));
  }

  async #writeNow({ address }: Point, value: Value, barred?: Barred): Promise<WriteOutcome> {
    const target = this.#target(address);
    if (typeof target === 'string') return { ok: false, reason: 'refused', message: target };
    try {
      const type = (target.type ??= await builtInTypeOf(this.#wire, target));
      const encoded = encode(value, type, target.indexRange !== '');
      if (typeof encoded === 'string') return { ok: false, reason: 'invalid', message: encoded };
      const stopped = barred?.(); // the server may have been asked for the type
      if (stopped) return stopped;
      const status = await writeValue(this.#wire, target, encoded);
      return severityOf(status) === 'Good' ? { ok: true } : { ok: false, reason: 'refused', message: statusText(status) };
    } catch (fault) {
      const isRefused = fault instanceof OpcUaFault && fault.reason === 'refused' && !/^BadSession/.test(fault.opcStatus);
      return { ok: false, reason: isRefused ? 'refused' : 'unreachable', message: faultText(fault) };
    }
  }

  discover(channels: readonly ProbeChannel[], timeoutMs: number): Promise<Discovery> {
    return discover(this, this.#wire, this.#namespaces, channels, timeoutMs, this.#clock);
  }

  // -------------------------------------------------------------- methods

  async call(objectText: string, methodText: string, args: readonly Value[], timeoutMs: number): Promise<CallOutcome> {
    const object = this.#target(objectText);
    const method = this.#target(methodText);
    if (typeof object === 'string') return { ok: false, reason: 'invalid', message: `object ${objectText}: ${object}` };
    if (typeof method === 'string') return { ok: false, reason: 'invalid', message: `method ${methodText}: ${method}` };
    try {
      const { inputs } = await argumentsOf(this.#wire, method.nodeId, this.#namespaces);
      if (inputs && inputs.length !== args.length) return { ok: false, reason: 'invalid', message: `the method takes ${inputs.length} arguments, not ${args.length}` };
      const encoded: OpcVariant[] = [];
      for (const [place, value] of args.entries()) {
        const input = inputs?.[place];
        const variant = input?.type === undefined ? encodeFreely(value) : encode(value, input.type, false);
        if (typeof variant === 'string') return { ok: false, reason: 'invalid', message: `argument ${input?.name || place + 1}: ${variant}` };
        encoded.push(variant);
      }
      const request = new CallRequest({ methodsToCall: [{ objectId: object.nodeId, methodId: method.nodeId, inputArguments: encoded }] });
      const { results } = await this.#wire.request<{ results: readonly { statusCode: StatusCode; outputArguments: readonly OpcVariant[] | null }[] | null }>(request, timeoutMs);
      const [result] = results ?? [];
      if (!result) return { ok: false, reason: 'refused', message: 'the server does not say what came of the call' };
      if (severityOf(result.statusCode) === 'Bad') return { ok: false, reason: 'refused', message: statusText(result.statusCode) };
      return { ok: true, outputs: (result.outputArguments ?? []).map(plainValue) };
    } catch (fault) {
      const isRefused = fault instanceof OpcUaFault && fault.reason === 'refused';
      return { ok: false, reason: isRefused ? 'refused' : 'unreachable', message: faultText(fault) };
    }
  }
}

/** A limit that is 0, or that the server does not tell, is none. */
function limited(wanted: number, told: DataValue | undefined): number {
  const limit = Number(told?.value?.value ?? 0);
  return Number.isInteger(limit) && limit > 0 ? Math.min(wanted, limit) : wanted;
}
