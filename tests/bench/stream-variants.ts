/** What the streams bench compares: the product behind its real server, and what the usual libraries do for the same frames. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import uWS from 'uWebSockets.js';
import { WebSocketServer } from 'ws';
import { streamRoutes } from '../../src/domains/streams/live-transports.js';
import { systemClock } from '../../src/platform/base/clock.js';
import { Pipeline } from '../../src/platform/http/pipeline.js';
import { RateLimiter } from '../../src/platform/http/rate-limit.js';
import { routeSet } from '../../src/platform/http/route.js';
import { RouteTable } from '../../src/platform/http/route-table.js';
import { startServer } from '../../src/platform/http/server.js';
import { TrustedProxies } from '../../src/platform/http/source-ip.js';
import type { Store } from '../../src/platform/store/store.js';
import type { TagSource } from '../../src/platform/stream/channel.js';
import { Hub } from '../../src/platform/stream/hub.js';
import { everywhere, person, ScriptedSessions } from '../platform/stream/scripted.js';
import type { OpenSockets, Sink } from './stream-sink.js';
import { BodyRoom } from '../../src/platform/http/body-room.js';
import { BodyTurns } from '../../src/platform/http/body-turns.js';
import { YamlBodies } from '../../src/platform/http/yaml-body.js';

export const TAGS = 1000;
const SLICES = 10;
const SLICE_MS = 20;

/** Values that change with every reading, as on a live plant. */
export class ChangingTags implements TagSource {
  readonly site = 'north';
  readonly unit = 'rx101';
  readonly addresses = Array.from({ length: TAGS }, (_, index) => `tic${index}.pv`);
  #turn = 0;
  refresh(): void {
    this.#turn += 1;
  }
  valueJson(index: number): string {
    return String(20 + ((this.#turn * 7 + index) % 1000) / 100);
  }
  qualityWord(): string {
    return 'Good';
  }
  timestampMs(): number {
    return 1_769_850_307_123 + this.#turn;
  }
}

export interface Variant {
  readonly name: string;
  start(): void;
  /** Frames sent since `start`. */
  stop(): number;
  close(): Promise<void>;
}

export interface HubVariant extends Variant {
  readonly hub: Hub;
}

export type Clients = Pick<OpenSockets, 'transport' | 'count' | 'look'>;

/** The hub of the product behind its own server, pipeline and transport. */
export async function startHub(name: string, sink: Sink, tags: TagSource, { transport, count, look }: Clients): Promise<HubVariant> {
  const sessions = new ScriptedSessions();
  const hub = new Hub({ clock: systemClock, sessions, places: everywhere });
  hub.placeTags(tags);
  const caller = person();
  const silent = pino({ level: 'silent' });
  const deps = {
    webSocket: { hub, clock: systemClock, sessions, frames: { write: never, command: never }, onFault: (fault: unknown) => console.error(fault) },
    sse: { hub, clock: systemClock, places: everywhere },
    places: everywhere,
  };
  const pipeline = new Pipeline(
    {
      clock: systemClock,
      rows: new RouteTable([routeSet(streamRoutes, deps)]),
      rateLimiter: new RateLimiter({ enabled: false, requestsPerSecond: 1, burst: 1 }, systemClock),
      streams: { connections: hub, perSourceMax: 1000, tokenInQuery: true },
      allowedOrigins: [],
      authenticator: { authenticate: () => caller, authenticateQuery: () => caller, anonymous: caller, touch: () => undefined, freshTokenRequired: false },
      nonces: undefined,
      store: undefined as unknown as Store,
      siteExists: () => true,
      ready: () => true,
      bodyBytesMax: 1,
      reasonLengthMin: 1,
      yaml: new YamlBodies(),
      bodyRoom: new BodyRoom(),
      bodyTurns: new BodyTurns(),
    },
    silent,
  );
  const server = await startServer({ host: '127.0.0.1', port: 0, pipeline, trustedProxies: new TrustedProxies([]), allowedOrigins: [], connections: hub, log: silent });
  const path = transport === 'sse' ? '/api/v1/sites/north/events/sse?channel=tags' : '/api/v1/ws';
  const hello = transport === 'sse' ? '' : '{"type":"subscribe","id":"all","channel":"tags"}';
  await sink.open({ group: name, port: server.port, path, hello, transport, count, look });
  let fromEvent = 0;
  let fromShed = 0;
  return {
    name,
    hub,
    start() {
      fromEvent = hub.eventId;
      fromShed = hub.shedTotal;
      hub.start();
    },
    stop() {
      hub.stop();
      return (hub.eventId - fromEvent) * count - (hub.shedTotal - fromShed);
    },
    close: () => server.stop(),
  };
}

function never(): Promise<never> {
  return Promise.reject(new Error('no such frame in this bench'));
}

/** Calls once per slice, drift-free; `slicesMs` apart. */
class Slices {
  readonly #periodMs: number;
  readonly #publish: () => void;
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = 0;

  constructor(periodMs: number, publish: () => void) {
    this.#periodMs = periodMs;
    this.#publish = publish;
  }

  start(): void {
    this.#dueAtMs = performance.now() + this.#periodMs;
    this.#timer = setTimeout(() => this.#tick(), this.#periodMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #tick(): void {
    while (this.#dueAtMs <= performance.now()) {
      this.#publish();
      this.#dueAtMs += this.#periodMs;
    }
    this.#timer = setTimeout(() => this.#tick(), this.#dueAtMs - performance.now());
  }
}

/** The library's own way to send equal bytes to all: no seq per connection, so not what the contract asks for, but its best case. */
export async function startPublish(sink: Sink, count: number): Promise<Variant> {
  const app = uWS.App();
  app.ws('/*', { maxBackpressure: 64 * 1024 * 1024, idleTimeout: 0, open: (ws) => void ws.subscribe('tags') });
  const port = await new Promise<number>((resolve) => app.listen('127.0.0.1', 0, (socket) => resolve(uWS.us_socket_local_port(socket as never))));
  const name = 'uWS app.publish';
  await sink.open({ group: name, port, path: '/', hello: '', transport: 'websocket', count, look: 'none' });
  const tags = new ChangingTags();
  const buffer = Buffer.allocUnsafeSlow(1024);
  let slice = 0;
  let published = 0;
  let from = 0;
  const slices = new Slices(SLICE_MS, () => {
    tags.refresh();
    const time = new Date(tags.timestampMs()).toISOString();
    for (let index = slice; index < TAGS; index += SLICES) {
      published += 1;
      const text = `{"seq":${String(published).padStart(12)},"subscriptionId":"all","eventId":${published},"type":"tag","site":"north","unit":"rx101","address":"${tags.addresses[index]}","value":${tags.valueJson(index)},"quality":"Good","ts":"${time}"}`;
      app.publish('tags', buffer.subarray(0, buffer.write(text, 'latin1')), false);
    }
    slice = (slice + 1) % SLICES;
  });
  return {
    name,
    start() {
      from = published;
      slices.start();
    },
    stop() {
      slices.stop();
      return (published - from) * count;
    },
    close: async () => void app.close(),
  };
}

/**
 * The usual way: the `ws` package, one `JSON.stringify` and one `send` per frame, each with the number of its connection. At
 * the full rate it would fill more than one core and be measured late; it gets the same slices ten times as rarely, and a
 * frame costs it the same.
 */
export async function startStringify(sink: Sink, count: number): Promise<Variant> {
  const server = http.createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const name = 'ws, JSON.stringify';
  await sink.open({ group: name, port: (server.address() as AddressInfo).port, path: '/', hello: '', transport: 'websocket', count, look: 'none' });
  const tags = new ChangingTags();
  let slice = 0;
  let eventId = 0;
  let seq = 0;
  let sent = 0;
  const slices = new Slices(SLICE_MS * SLICES, () => {
    tags.refresh();
    const ts = new Date(tags.timestampMs()).toISOString();
    for (const client of sockets.clients) {
      let own = seq;
      for (let index = slice; index < TAGS; index += SLICES) {
        own += 1;
        const value = Number(tags.valueJson(index));
        client.send(
          JSON.stringify({
            seq: own,
            subscriptionId: 'all',
            eventId: eventId + own - seq,
            type: 'tag',
            site: tags.site,
            unit: tags.unit,
            address: tags.addresses[index],
            value,
            quality: 'Good',
            ts,
          }),
        );
        sent += 1;
      }
    }
    seq += TAGS / SLICES;
    eventId += TAGS / SLICES;
    slice = (slice + 1) % SLICES;
  });
  let from = 0;
  return {
    name,
    start() {
      from = sent;
      slices.start();
    },
    stop() {
      slices.stop();
      return sent - from;
    },
    close: async () => {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
      server.close();
    },
  };
}
