/**
 * Channel, session and subscriptions of the peer made by hand (OPC 10000-4, 5.6 to 5.14; binary form of OPC 10000-6). It tells the truth until it is
 * told which lie to tell.
 */
import { randomBytes } from 'node:crypto';
import { type PeerValue, Reader, Writer } from './opcua-encoding.js';

/** Identifiers of the binary encodings (OPC 10000-6, annex A: NodeIds.csv): of the request; the answer has the third one after it. */
const REQUEST = {
  GetEndpoints: 428,
  OpenSecureChannel: 446,
  CreateSession: 461,
  ActivateSession: 467,
  CloseSession: 473,
  Browse: 527,
  Read: 631,
  Write: 673,
  CreateMonitoredItems: 751,
  CreateSubscription: 787,
  Publish: 826,
  Republish: 832,
  DeleteSubscriptions: 847,
} as const;
type Service = keyof typeof REQUEST;
const NAMES = new Map<number, Service>((Object.keys(REQUEST) as Service[]).map((name) => [REQUEST[name], name]));
const TO_ANSWER = 3;
const SERVICE_FAULT = 397;
const DATA_CHANGE = 811;
const STATUS = { Good: 0, BadTimeout: 0x800a0000, BadServiceUnsupported: 0x800b0000, BadMessageNotAvailable: 0x807b0000 };
const SECURITY_NONE = 'http://opcfoundation.org/UA/SecurityPolicy#None';
const TRANSPORT = 'http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary';
export const PEER_NAMESPACE = 'urn:lineside:peer';
const NAMESPACE_ARRAY = 'i=2255';
const CURRENT_TIME = 'i=2258';
const CHANNEL_ID = 7;
const TOKEN_ID = 3;
const LIFETIME_MS = 3_600_000;

/** What is untrue; nothing where it is left out. */
export interface Lie {
  /** Added to the sequence numbers of the channel. */
  readonly sequence?: number;
  readonly requestId?: number;
  readonly requestHandle?: number;
  readonly channelId?: number;
  /** Answers are left out: of these services, or all of them. */
  readonly mute?: readonly Service[] | 'all';
  /** Subscriptions bring keep-alives and nothing else. */
  readonly onlyKeepAlives?: boolean;
  /** Notifications that are numbered and not sent. `gone`: nor told again. */
  readonly lost?: 'told again' | 'gone';
  /** Each notification comes twice. */
  readonly isDoubled?: boolean;
  /** The number of a subscription that nobody has made. */
  readonly subscription?: number;
  /** Handles of items that nobody has made. */
  readonly handle?: number;
  /** Sent in place of the answer to a read. */
  readonly answer?: (service: Service, body: Buffer) => Buffer;
  /** Bytes sent before the next message. */
  readonly between?: Buffer;
  /** In place of the true value. */
  readonly value?: PeerValue;
  /** In place of the time of the server's clock. */
  readonly clock?: PeerValue;
  /** Results that a read, a write and a creation of items have less than was asked for. */
  readonly fewer?: number;
}

interface Item {
  readonly handle: number;
  readonly node: string;
}

/** What the server makes of the intervals that it is asked for. */
export interface Revised {
  readonly publishingMs?: number;
  /** Said in place of it. */
  readonly saidPublishingMs?: number;
  readonly keepAliveCount?: number;
  readonly samplingMs?: number;
  /** The server's clock is not monitored. */
  readonly hasNoClock?: boolean;
}

export class Liar {
  readonly #url: () => string;
  lie: Lie = {};
  revised: Revised = {};
  readonly values = new Map<string, PeerValue>([['ns=1;s=Level', { type: 'Double', value: 1 }]]);
  /** Requests taken, by service. */
  readonly taken = new Map<string, number>();
  readonly #channels = new Set<Channel>();

  constructor(url: () => string) {
    this.#url = url;
  }

  get url(): string {
    return this.#url();
  }

  channel(send: (bytes: Buffer) => void): Channel {
    const channel = new Channel(this, send);
    this.#channels.add(channel);
    return channel;
  }

  forget(channel: Channel): void {
    this.#channels.delete(channel);
  }

  set(node: string, value: PeerValue): void {
    this.values.set(node, value);
    for (const channel of this.#channels) channel.changed(node);
  }

  valueOf(node: string): PeerValue | undefined {
    if (node === CURRENT_TIME) return this.lie.clock ?? { type: 'DateTime', value: Date.now() };
    return this.values.has(node) ? (this.lie.value ?? this.values.get(node)) : undefined;
  }
}

export class Channel {
  readonly #liar: Liar;
  readonly #send: (bytes: Buffer) => void;
  #sequence = 0;
  #subscription = 0;
  #notification = 1;
  #items: Item[] = [];
  #changed = new Set<string>();
  readonly #kept = new Map<number, Buffer>();
  #waiting: { readonly requestId: number; readonly handle: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(liar: Liar, send: (bytes: Buffer) => void) {
    this.#liar = liar;
    this.#send = send;
  }

  end(): void {
    clearInterval(this.#timer);
    this.#liar.forget(this);
  }

  changed(node: string): void {
    this.#changed.add(node);
  }

  /** One message in one chunk: requests of a test are small. */
  take(type: string, whole: Buffer): void {
    const reader = new Reader(whole, 12);
    if (type === 'OPN') {
      reader.text(); // policy
      reader.text(); // certificate
      reader.text(); // thumbprint
    } else reader.skip(4); // token
    reader.skip(4); // sequence number
    const requestId = reader.u32();
    const service = NAMES.get(Number(reader.node().replace('i=', '')));
    reader.node();
    reader.skip(8);
    const handle = reader.u32();
    reader.skip(4);
    reader.text();
    reader.skip(4);
    reader.extension();
    const { lie, taken } = this.#liar;
    if (service) taken.set(service, (taken.get(service) ?? 0) + 1);
    if (service && (lie.mute === 'all' || lie.mute?.includes(service))) return;
    if (service === 'Publish') this.#waiting.push({ requestId, handle });
    else if (service) this.#reply(service, requestId, handle, this.#body(service, reader));
    else this.#reply(undefined, requestId, handle, new Writer(), STATUS.BadServiceUnsupported);
  }

  #reply(service: Service | undefined, requestId: number, handle: number, body: Writer | number, result = STATUS.Good): void {
    const { lie } = this.#liar;
    const status = typeof body === 'number' ? body : result;
    const answer = new Writer()
      .node(service && status === STATUS.Good ? REQUEST[service] + TO_ANSWER : SERVICE_FAULT)
      .time(Date.now())
      .u32(handle + (lie.requestHandle ?? 0))
      .u32(status)
      .u8(0)
      .i32(-1)
      .nothing();
    if (typeof body !== 'number') answer.bytes(body.buffer);
    const written = service && lie.answer ? lie.answer(service, answer.buffer) : answer.buffer;
    this.#sequence += 1;
    const isOpening = service === 'OpenSecureChannel';
    const security = new Writer();
    if (isOpening) security.u32(CHANNEL_ID).text(SECURITY_NONE).i32(-1).i32(-1);
    else security.u32(CHANNEL_ID + (lie.channelId ?? 0)).u32(TOKEN_ID);
    security
      .u32(this.#sequence + (isOpening ? 0 : (lie.sequence ?? 0)))
      .u32(requestId + (isOpening ? 0 : (lie.requestId ?? 0)))
      .bytes(written);
    const chunk = security.buffer;
    const header = new Writer().bytes(Buffer.from(isOpening ? 'OPNF' : 'MSGF', 'ascii')).u32(8 + chunk.length).buffer;
    this.#send(Buffer.concat([lie.between ?? Buffer.alloc(0), header, chunk]));
  }

  /** @returns a status code where the answer is a fault. */
  #body(service: Service, reader: Reader): Writer | number {
    const { lie, revised } = this.#liar;
    const body = new Writer();
    const cut = <T>(rows: T[]): T[] => rows.slice(0, rows.length - (lie.fewer ?? 0));
    switch (service) {
      case 'OpenSecureChannel':
        return body.u32(0).u32(CHANNEL_ID).u32(TOKEN_ID).time(Date.now()).u32(LIFETIME_MS).i32(-1);
      case 'GetEndpoints':
        return this.#endpoints(body);
      case 'CreateSession':
        body.node(1000).node(2000).double(60_000).byteString(randomBytes(32)).i32(-1);
        return this.#endpoints(body).i32(-1).text(null).i32(-1).u32(0);
      case 'ActivateSession':
        return body.byteString(randomBytes(32)).i32(-1).i32(-1);
      case 'CloseSession':
        return body;
      case 'Browse':
        return body.i32(0).i32(0);
      case 'Read': {
        reader.skip(12);
        const nodes = reader.array(() => readValueId(reader));
        return body.array(cut(nodes), (node) => this.#value(body, node)).i32(-1);
      }
      case 'Write': {
        const nodes = reader.array(() => {
          const node = readValueId(reader, false);
          const mask = reader.u8();
          if (mask & 1 && this.#liar.values.has(node)) this.#liar.set(node, reader.variant());
          return node;
        });
        return body.array(cut(nodes), () => body.u32(0)).i32(-1);
      }
      case 'CreateSubscription': {
        const publishingMs = revised.publishingMs ?? reader.double();
        this.#subscribe(publishingMs);
        return body
          .u32(this.#subscription)
          .double(revised.saidPublishingMs ?? publishingMs)
          .u32(1000)
          .u32(revised.keepAliveCount ?? 2);
      }
      case 'CreateMonitoredItems': {
        reader.skip(8);
        const items = reader.array(() => {
          const node = readValueId(reader);
          reader.skip(4);
          const handle = reader.u32();
          const samplingMs = reader.double();
          reader.extension();
          reader.skip(5);
          return { node, handle, samplingMs };
        });
        const isRefused = (node: string): boolean => (node === CURRENT_TIME ? revised.hasNoClock === true : !this.#liar.values.has(node));
        for (const { node, handle } of items)
          if (!isRefused(node)) {
            this.#items.push({ handle, node });
            this.#changed.add(node);
          }
        return body
          .array(cut(items), ({ node, handle, samplingMs }) =>
            body
              .u32(isRefused(node) ? 0x80340000 : 0)
              .u32(handle + 1)
              .double(node === CURRENT_TIME ? samplingMs : (revised.samplingMs ?? samplingMs))
              .u32(1)
              .nothing(),
          )
          .i32(-1);
      }
      case 'Republish': {
        reader.skip(4);
        const kept = this.#kept.get(reader.u32());
        return kept ? body.bytes(kept) : STATUS.BadMessageNotAvailable;
      }
      case 'DeleteSubscriptions':
        clearInterval(this.#timer);
        this.#items = [];
        return body
          .array(
            reader.array(() => reader.u32()),
            () => body.u32(0),
          )
          .i32(-1);
      default:
        return STATUS.BadServiceUnsupported;
    }
  }

  #value(body: Writer, node: string): void {
    if (node === NAMESPACE_ARRAY) {
      body.u8(1).u8(12 | 0x80);
      body.array(['http://opcfoundation.org/UA/', PEER_NAMESPACE], (name) => body.text(name));
    } else body.dataValue(this.#liar.valueOf(node), Date.now());
  }

  #endpoints(body: Writer): Writer {
    const { url } = this.#liar;
    return body.array([url], () => {
      body.text(url).text('urn:lineside:peer').text(null).u8(2).text('peer').i32(0).text(null).text(null).i32(-1); // application, of type server
      body.i32(-1).i32(1).text(SECURITY_NONE);
      body.array(['anonymous'], (policy) => body.text(policy).i32(0).text(null).text(null).text(null));
      body.text(TRANSPORT).u8(0);
    });
  }

  // -------------------------------------------------------------- subscription

  #subscribe(publishingMs: number): void {
    clearInterval(this.#timer);
    this.#subscription += 1;
    this.#notification = 1;
    this.#items = [];
    this.#kept.clear();
    let quiet = 0;
    this.#timer = setInterval(() => {
      const { lie, revised } = this.#liar;
      const due = this.#items.filter(({ node }) => node === CURRENT_TIME || this.#changed.has(node));
      quiet = due.length === 0 || lie.onlyKeepAlives ? quiet + 1 : 0;
      if (quiet > 0) {
        if (quiet % (revised.keepAliveCount ?? 2) === 0) this.#publish(new Writer().u32(this.#notification).time(Date.now()).i32(-1).buffer);
        return;
      }
      if (this.#waiting.length === 0) return;
      this.#changed.clear();
      this.#notify(due);
    }, publishingMs);
  }

  #notify(due: readonly Item[]): void {
    const { lie } = this.#liar;
    const changes = new Writer();
    changes.array(due, ({ handle, node }) => changes.u32(handle + (lie.handle ?? 0)).dataValue(this.#liar.valueOf(node), Date.now())).i32(-1);
    const number = this.#notification;
    this.#notification += 1;
    const notification = new Writer().u32(number).time(Date.now()).i32(1).node(DATA_CHANGE).u8(1).byteString(changes.buffer).buffer;
    if (lie.lost !== 'gone') this.#kept.set(number, notification);
    if (lie.lost && due.some(({ node }) => node !== CURRENT_TIME)) return;
    this.#publish(notification);
    if (lie.isDoubled) this.#publish(notification);
  }

  #publish(notification: Buffer): void {
    const asked = this.#waiting.shift();
    if (!asked) return;
    const { lie } = this.#liar;
    const body = new Writer().u32(this.#subscription + (lie.subscription ?? 0));
    body.array([...this.#kept.keys()], (number) => body.u32(number));
    this.#reply('Publish', asked.requestId, asked.handle, body.u8(0).bytes(notification).i32(-1).i32(-1));
  }
}

/** Node of a ReadValueId (OPC 10000-4, 7.29); of a WriteValue, which has no encoding. */
function readValueId(reader: Reader, hasEncoding = true): string {
  const node = reader.node();
  reader.skip(4);
  reader.text();
  if (hasEncoding) {
    reader.u16();
    reader.text();
  }
  return node;
}
