/**
 * One OPC UA subscription (OPC 10000-4, 5.13 and 5.14) with its own publish loop. That samples flow is proven by an item on
 * the server's own clock: a subscription that lives and brings nothing is told from a plant in which nothing changes.
 * Notifications are numbered: what is missing is asked for again, and what the server no longer has is read.
 */
import type { Clock } from '../../vocabulary/clock.js';
import type { ArrivalIntervals, SampleSink } from '../driver.js';
import type { NodeAddress } from './node-address.js';
import {
  AttributeIds,
  CreateMonitoredItemsRequest,
  CreateSubscriptionRequest,
  DataChangeNotification,
  DeleteSubscriptionsRequest,
  MonitoringMode,
  PublishRequest,
  RepublishRequest,
  resolveNodeId,
  StatusChangeNotification,
  TimestampsToReturn,
} from './library.js';
import { OpcUaFault, severityOf, statusText } from './status.js';
import type { Wire } from './wire.js';
import type { DataValue, StatusCode } from 'node-opcua-client';

/** Server_ServerStatus_CurrentTime (OPC 10000-5, 12.10). */
export const CURRENT_TIME = 'i=2258';
const PUBLISHES_IN_FLIGHT = 3;
const LIFETIME_MS_MIN = 30_000;
/** Publish intervals without a change after which the server says that it lives. */
const KEEP_ALIVE_COUNT = 2;
const PUBLISH_MS_MIN = 10_000;
/** Notifications that are asked for again; of a longer gap everything is read. */
const REPUBLISHED_MAX = 20;
const SEQUENCE_MAX = 0xffffffff;

export interface Monitored {
  readonly target: NodeAddress;
}

export interface SubscriptionSettings {
  readonly publishingIntervalMs: number;
  readonly samplingIntervalMs: number;
  readonly itemsPerCall: number;
  readonly timeoutMs: number;
}

export interface SubscriptionEvents {
  /** Values of one notification, by the positions of their items. */
  samples(items: readonly { readonly clientHandle: number; readonly value: DataValue }[]): void;
  /** An item that the server does not monitor. */
  refused(position: number, message: string): void;
  /** What the server has made of the intervals that it was asked for; again when it says more. */
  revised(intervals: ArrivalIntervals): void;
  /** Samples flow. */
  proven(): void;
  /** A message has come, and what is in it is delivered; a keep-alive has nothing in it. */
  heard(isKeepAlive: boolean): void;
  /** The subscription lives, of a server whose clock proves nothing: nor does this. */
  spoke(): void;
  /** Something may have been missed: every value is to be read. */
  missed(): void;
  /** The subscription has ended, or never began. */
  ended(fault: OpcUaFault | string): void;
}

interface Notification {
  readonly sequenceNumber: number;
  readonly notificationData: readonly unknown[] | null;
}

interface Published {
  readonly subscriptionId: number;
  readonly availableSequenceNumbers: readonly number[] | null;
  readonly notificationMessage: Notification;
}

interface Created {
  readonly subscriptionId: number;
  readonly revisedPublishingInterval: number;
  readonly revisedMaxKeepAliveCount: number;
}

interface ItemsCreated {
  readonly results: readonly { readonly statusCode: StatusCode; readonly revisedSamplingInterval: number }[] | null;
}

/** No interval is waited for longer. */
const INTERVAL_MS_MAX = 3_600_000;

/** A time that the server has told, if it is one: 0 is "as fast as it can". */
const revisedMs = (told: number, askedMs: number): number => Math.min(Math.max(Number.isFinite(told) && told >= 0 ? told : askedMs, 1), INTERVAL_MS_MAX);
const SEQUENCE_HALF = 0x80000000;

/** It was there before: a message that has come twice, or a server that counts anew. */
const isBehind = (sequence: number, expected: number): boolean => (sequence - expected) >>> 0 >= SEQUENCE_HALF;
const following = (sequence: number): number => (sequence === SEQUENCE_MAX ? 1 : sequence + 1);

/** Wall ms of a clock of a server; undefined where the value is none: before 1970 there were no such clocks. */
export function clockMs(time: DataValue | undefined): number | undefined {
  const value = time?.value?.value as unknown;
  if (!time || severityOf(time.statusCode) !== 'Good' || !(value instanceof Date)) return undefined;
  return value.getTime() > 0 ? value.getTime() : undefined;
}

export class Subscription {
  readonly #wire: Wire;
  readonly #settings: SubscriptionSettings;
  readonly #events: SubscriptionEvents;
  readonly #watchHandle: number;
  #id = 0;
  /** Between two notifications, as the server has it. */
  #publishingMs: number;
  /** Between two signs of life where nothing changes. */
  #keepAliveMs = 0;
  /** Of the item on the server's clock. */
  #watchMs = 0;
  /** The longest of the other items. */
  #samplingMs = 0;
  #publishMs = PUBLISH_MS_MIN;
  /** The item on the server's clock brings times that go on. */
  #hasWatch = false;
  #watchedMs = Number.NaN;
  #expected = 1;
  #inFlight = 0;
  #inFlightMax = PUBLISHES_IN_FLIGHT;
  #acknowledgements: { subscriptionId: number; sequenceNumber: number }[] = [];
  #order: Promise<void> = Promise.resolve();
  #isEnded = false;

  private constructor(wire: Wire, settings: SubscriptionSettings, events: SubscriptionEvents, count: number) {
    this.#wire = wire;
    this.#settings = settings;
    this.#events = events;
    this.#watchHandle = count;
    this.#publishingMs = settings.publishingIntervalMs;
  }

  /** @throws OpcUaFault when the server makes no subscription. */
  static async create(wire: Wire, items: readonly (Monitored | undefined)[], settings: SubscriptionSettings, events: SubscriptionEvents): Promise<Subscription> {
    const subscription = new Subscription(wire, settings, events, items.length);
    await subscription.#begin(items);
    return subscription;
  }

  get hasWatch(): boolean {
    return this.#hasWatch;
  }

  /** Longest time between two proofs, as the server has it: a change of its clock, or, of a server whose clock is not monitored, a keep-alive. */
  get periodMs(): number {
    return this.#hasWatch ? Math.max(this.#publishingMs, this.#watchMs) : this.#keepAliveMs;
  }

  #tellRevised(): void {
    this.#events.revised({ proofMs: Math.max(this.periodMs, this.#samplingMs), delayMs: this.#publishingMs + this.#samplingMs });
  }

  async #begin(items: readonly (Monitored | undefined)[]): Promise<void> {
    const { publishingIntervalMs } = this.#settings;
    const created = await this.#created().catch(async (fault: unknown) => {
      if (!(fault instanceof OpcUaFault) || fault.opcStatus !== 'BadTooManySubscriptions') throw fault;
      await this.#wire.endLeft(); // they may be our own, of sessions whose connection was lost
      return this.#created();
    });
    this.#id = created.subscriptionId;
    if (created.revisedPublishingInterval > INTERVAL_MS_MAX) {
      await this.end();
      throw new OpcUaFault(
        'refused',
        `the server makes of a publishing interval of ${publishingIntervalMs} ms one of ${created.revisedPublishingInterval} ms; ask for one that it takes, or use mode: poll`,
      );
    }
    this.#publishingMs = revisedMs(created.revisedPublishingInterval, publishingIntervalMs);
    this.#keepAliveMs = Math.min(this.#publishingMs * Math.max(created.revisedMaxKeepAliveCount, 1), INTERVAL_MS_MAX);
    this.#publishMs = Math.max(PUBLISH_MS_MIN, 3 * this.#keepAliveMs);
    try {
      await this.#createItems([{ handle: this.#watchHandle, target: { nodeId: resolveNodeId(CURRENT_TIME), indexRange: '' } }], this.#publishingMs);
      this.#tellRevised();
      for (let sent = 0; sent < this.#inFlightMax; sent += 1) this.#publish();
      const wanted = items.flatMap((item, handle) => (item ? [{ handle, target: item.target }] : []));
      for (let at = 0; at < wanted.length; at += this.#settings.itemsPerCall) {
        if (this.#isEnded) return;
        await this.#createItems(wanted.slice(at, at + this.#settings.itemsPerCall), this.#settings.samplingIntervalMs);
      }
      this.#tellRevised();
    } catch (fault) {
      await this.end();
      throw fault;
    }
  }

  #created(): Promise<Created> {
    const { publishingIntervalMs } = this.#settings;
    return this.#wire.request<Created>(
      new CreateSubscriptionRequest({
        requestedPublishingInterval: publishingIntervalMs,
        requestedMaxKeepAliveCount: KEEP_ALIVE_COUNT,
        requestedLifetimeCount: Math.max(3 * KEEP_ALIVE_COUNT, Math.ceil(LIFETIME_MS_MIN / publishingIntervalMs)),
        maxNotificationsPerPublish: 0,
        publishingEnabled: true,
        priority: 0,
      }),
    );
  }

  async #createItems(batch: readonly { readonly handle: number; readonly target: NodeAddress }[], samplingInterval: number): Promise<void> {
    const { results } = await this.#wire.request<ItemsCreated>(
      new CreateMonitoredItemsRequest({
        subscriptionId: this.#id,
        timestampsToReturn: TimestampsToReturn.Source,
        itemsToCreate: batch.map(({ handle, target }) => ({
          itemToMonitor: { nodeId: target.nodeId, attributeId: AttributeIds.Value, ...(target.indexRange === '' ? {} : { indexRange: target.indexRange as never }) },
          monitoringMode: MonitoringMode.Reporting,
          requestedParameters: { clientHandle: handle, samplingInterval, queueSize: 1, discardOldest: true },
        })),
      }),
    );
    batch.forEach(({ handle }, place) => {
      const result = results?.[place];
      const isRefused = !result || severityOf(result.statusCode) === 'Bad';
      if (handle === this.#watchHandle) {
        this.#hasWatch = !isRefused;
        if (result && !isRefused) this.#watchMs = revisedMs(result.revisedSamplingInterval, samplingInterval);
      } else if (isRefused) {
        this.#events.refused(handle, result ? statusText(result.statusCode) : 'the server says nothing of the item');
      } else this.#samplingMs = Math.max(this.#samplingMs, revisedMs(result.revisedSamplingInterval, samplingInterval));
    });
  }

  #publish(): void {
    if (this.#isEnded) return;
    this.#inFlight += 1;
    const acknowledged = this.#acknowledgements.splice(0);
    this.#wire.request<Published>(new PublishRequest({ subscriptionAcknowledgements: acknowledged }), this.#publishMs).then(
      (answer) => {
        this.#inFlight -= 1;
        this.#publish();
        // one after the other, also where one has to ask the server in between
        this.#order = this.#order.then(() => this.#take(answer)).catch((fault: unknown) => this.#finish(fault instanceof Error ? fault.message : String(fault)));
      },
      (fault: OpcUaFault) => {
        this.#inFlight -= 1;
        this.#refused(fault);
      },
    );
  }

  #refused(fault: OpcUaFault): void {
    if (this.#isEnded) return;
    if (fault.opcStatus === 'BadTooManyPublishRequests') {
      this.#inFlightMax = Math.max(1, this.#inFlight);
      if (this.#inFlight === 0) this.#finish(fault);
      return;
    }
    // a publish that was not answered in its long time is nothing yet: whether samples flow is watched by their arrival
    if (fault.reason === 'silent' || fault.opcStatus === 'BadTimeout') {
      if (this.#inFlight < this.#inFlightMax) this.#publish();
      return;
    }
    this.#finish(fault);
  }

  async #take({ subscriptionId, availableSequenceNumbers, notificationMessage }: Published): Promise<void> {
    if (this.#isEnded || subscriptionId !== this.#id) return;
    const { sequenceNumber, notificationData } = notificationMessage;
    const isKeepAlive = (notificationData?.length ?? 0) === 0;
    if (isBehind(sequenceNumber, this.#expected) && !isKeepAlive) return this.#repeated(sequenceNumber);
    const next = isKeepAlive ? sequenceNumber : following(sequenceNumber);
    // a keep-alive names the notification that comes next; some servers name the one that came last, which is nothing missed
    const isAhead = sequenceNumber !== this.#expected && !isBehind(sequenceNumber, this.#expected);
    if (isAhead) await this.#fetchMissing(sequenceNumber, availableSequenceNumbers ?? []);
    if (this.#isEnded) return;
    if (!isBehind(next, this.#expected)) this.#expected = next;
    if (!isKeepAlive) this.#acknowledgements.push({ subscriptionId, sequenceNumber });
    this.#dispatch(notificationData ?? []);
    this.#events.heard(isKeepAlive);
    if (!this.#hasWatch) this.#events.spoke();
  }

  /** What is in it is older than what is known: it is acknowledged, and everything is read. */
  #repeated(sequenceNumber: number): void {
    this.#acknowledgements.push({ subscriptionId: this.#id, sequenceNumber });
    this.#events.missed();
  }

  /** What was sent and did not arrive. */
  async #fetchMissing(upTo: number, available: readonly number[]): Promise<void> {
    let sequence = this.#expected;
    for (let count = 0; count < REPUBLISHED_MAX && sequence !== upTo; count += 1, sequence = following(sequence)) {
      if (!available.includes(sequence)) break;
      try {
        const { notificationMessage } = await this.#wire.request<{ notificationMessage: Notification }>(
          new RepublishRequest({ subscriptionId: this.#id, retransmitSequenceNumber: sequence }),
        );
        this.#dispatch(notificationMessage.notificationData ?? []);
        this.#events.heard(false);
        this.#acknowledgements.push({ subscriptionId: this.#id, sequenceNumber: sequence });
      } catch {
        break;
      }
    }
    if (sequence !== upTo && !this.#isEnded) this.#events.missed();
  }

  #dispatch(data: readonly unknown[]): void {
    for (const part of data) {
      if (part instanceof DataChangeNotification) {
        const items = part.monitoredItems ?? [];
        this.#events.samples(items);
        for (const { clientHandle, value } of items) if (clientHandle === this.#watchHandle) this.#watched(value);
      } else if (part instanceof StatusChangeNotification) {
        if (severityOf(part.status) !== 'Good' || part.status.name === 'GoodSubscriptionTransferred')
          this.#finish(`the server has ended the subscription: ${statusText(part.status)}`);
      }
    }
  }

  /** A clock that is Bad, unset or stands still proves nothing: the server is asked instead, until it goes on. */
  #watched(value: DataValue): void {
    const ms = clockMs(value);
    const isProof = ms !== undefined && ms !== this.#watchedMs;
    this.#watchedMs = ms ?? Number.NaN;
    const had = this.#hasWatch;
    this.#hasWatch = isProof;
    if (had !== isProof) this.#tellRevised();
    if (isProof) this.#events.proven();
  }

  #finish(fault: OpcUaFault | string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#events.ended(fault);
  }

  /** Tells the server, as far as it listens. */
  async end(): Promise<void> {
    const wasEnded = this.#isEnded;
    this.#isEnded = true;
    if (wasEnded || this.#id === 0 || this.#wire.isLost) return;
    await this.#wire.request(new DeleteSubscriptionsRequest({ subscriptionIds: [this.#id] }), Math.min(this.#settings.timeoutMs, 1000)).catch(() => undefined);
  }
}

export type SamplePart = Pick<SampleSink, 'begin' | 'end'>;
export type SubscriptionClock = Clock;
