/**
 * The only file that works with uWebSockets.js (`uws.ts` loads it). It reads a request in one turn, gives it to the pipeline and writes the answer.
 *
 * Invariant: a request whose turn ends unanswered has an abort handler (uWebSockets.js ends the process otherwise), and
 * nothing touches a response after its end or abort.
 *
 * One request at a time: the library cuts a connection that shows a next request while one waits for its answer. So what may have
 * an effect, or announces a body, begins only in the turn after it was read whole: bytes behind it in the same packet cut
 * it off before anything has happened. From then on nothing more is read from the connection until the answer is out.
 *
 * What a request, its answer or a stream session throws ends its own connection, with 500 where nothing of an answer is written
 * yet. Whatever the library calls is guarded here, and by try and catch: there is no closure per message.
 */
import { contain, guarded, guardedPromise } from '../base/guarded.js';
import { randomUUID } from 'node:crypto';
import { gzip } from 'node:zlib';
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket, us_socket_context_t, WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import { assert, inside } from '../base/assert.js';
import { systemClock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import { Refusal } from '../base/refusal.js';
import { SlicedWork } from '../base/slices.js';
import { UwsReply, uwsReplyOfFault, uwsReplyOfRefusal, StreamedUwsReply } from './uws-reply.js';
import type { TlsFiles } from '../tls/certificate.js';
import { type Address, freePort, listening, obstacleToListen, tlsOf } from './listen.js';
import { allowOf } from './barriers/route-known.js';
import { BodyReader } from './body-reader.js';
import type { HeaderFields, Incoming } from './exchange.js';
import { takesGzip } from './static-files.js';
import { type Outcome, type Pipeline, Unproven } from './pipeline.js';
import { JSON_MEDIA_TYPE, NO_HEADERS } from './route.js';
import { Peers, type TrustedProxies } from './source-ip.js';
import { statusLine } from './status.js';
import { uWS } from './uws.js';
import { AUTHENTICATE_FIRST, type SseSession, type SseWire, type StreamConnections, type StreamReply, type WebSocketSession, type WebSocketWire } from './stream-port.js';

/** What the library has and its types leave out. */
const native = uWS as unknown as {
  _cfg(option: 'silent'): void;
};
native._cfg('silent'); // no `uWebSockets` response header

const LISTEN_EXCLUSIVE_PORT = 1; // LIBUS_LISTEN_EXCLUSIVE_PORT: a second gateway on the port fails instead of sharing it
const LISTEN_SHARED = 0; // SO_REUSEPORT: the next app of this process listens beside it
type ListenWithOptions = (host: string, port: number, options: number, call: (socket: us_listen_socket | false) => void) => void;

const CORRELATION_ID = /^[A-Za-z0-9._-]{8,64}$/; // D-ERR-01
const WEBSOCKET_FRAME_BYTES_MAX = 256 * 1024; // above it the socket is cut; the session closes with 1009 from 64 KiB on
const WEBSOCKET_BACKPRESSURE_BYTES_MAX = 64 * 1024 * 1024; // the stream's own frame buffer sheds long before
const STOP_GRACE_MS = 2000;
const INTERNAL_ERROR = 1011; // RFC 6455, 7.4.1: the server met what keeps it from going on with this connection
const SLICE_BYTES = 16 * 1024; // of a long answer: less than a socket takes when it says that it takes something again
/** Below it a packed answer saves no packet worth its time. */
const PACKED_BYTES_MIN = 8 * 1024;
const PACKED_LEVEL = 4; // half the time of the library's own level, a tenth more bytes
/** Header lines more within the value of one: a line costs a call into the library, whatever its length. */
const KEPT_IDLE_S = 5; // the library closes an idle connection after 8 to 12 s: who is told earlier never sends into a closed one
const NO_SNIFFING = `\r\nX-Content-Type-Options: nosniff\r\nKeep-Alive: timeout=${KEPT_IDLE_S}`;
/** What is told once stays in no cache and in no foreign frame: all that a page does not say otherwise of itself. */
const UNKEPT = `${NO_SNIFFING}\r\nCache-Control: no-store\r\nContent-Security-Policy: frame-ancestors 'none'`;
const UNKEPT_JSON = contentTyped(UNKEPT, JSON_MEDIA_TYPE);
/** Methods that change nothing: what they do may be seen by nobody. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

export interface ServerOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly tls?: ServerTls;
  /** `gateway.plainHttpPort`, where the machine itself is served without TLS as well; 0 takes a free one. */
  readonly plainPort?: number | undefined;
  readonly pipeline: Pipeline;
  readonly trustedProxies: TrustedProxies;
  /** `gateway.cors.allowedOrigins`; empty: same origin only (D-ERR-05). */
  readonly allowedOrigins: readonly string[];
  readonly connections?: StreamConnections;
  readonly log: Log;
}

export interface ServerTls extends TlsFiles {
  /** Browsers are told to come by TLS only (RFC 6797). */
  readonly strictTransport: boolean;
}

export interface HttpServer {
  readonly port: number;
  /** Of the listener without TLS for this machine alone; undefined where there is none. */
  readonly plainPort: number | undefined;
  /**
   * New connections get what lies in the files from now on; those that are open, their requests and streams, go on as they are (ADR 0113).
   * @throws an Error when the library cannot load the files or cannot listen; all goes on as before then.
   */
  renew(tls: ServerTls): Promise<void>;
  /** No new connections, streams ended, answers under way written, then everything is cut. */
  stop(): Promise<void>;
}

/** What all requests that came in by one listener have in common. */
interface Door {
  /** Under TLS. */
  readonly secure: boolean;
  /** Header lines of each of its answers, each with its line end before it. */
  readonly lines: string;
}

const PLAIN: Door = { secure: false, lines: '' };
/** A year, in seconds; not for names below it, which may be other machines. */
const STRICT_TRANSPORT = '\r\nStrict-Transport-Security: max-age=31536000';
/** Without those of TLS 1.2 that have no forward secrecy or no authenticated encryption; the library takes nothing below TLS 1.2. */
const CIPHERS = 'ECDHE+AESGCM:ECDHE+CHACHA20';
const LOOPBACK = '127.0.0.1';

export async function startServer(options: ServerOptions): Promise<HttpServer> {
  const { host, log, tls, plainPort } = options;
  if (tls) tlsOf(tls); // the library says nothing of files that it cannot load
  const gateway = new Front(options);
  const apps: TemplatedApp[] = [];
  const waiting = { clock: systemClock, tell: (what: string) => log.warn(what) };
  const listenBy = async (app: TemplatedApp, door: Door, address: Address): Promise<us_listen_socket> => {
    openDoor(app, door, gateway, options);
    const socket = await listening(address, () => listenOnce(app, address, door.secure ? 'after a look' : 'alone'), waiting);
    apps.push(app);
    return socket;
  };
  let socket = await (tls ? listenBy(secureApp(tls), doorOf(tls), options) : listenBy(uWS.App(), PLAIN, options));
  const port = uWS.us_socket_local_port(socket as never);
  const plain =
    plainPort === undefined
      ? undefined
      : await listenBy(uWS.App(), PLAIN, { host: LOOPBACK, port: plainPort, setting: 'gateway.plainHttpPort' }).catch((fault: unknown) => {
          uWS.us_listen_socket_close(socket);
          throw fault;
        });
  let stopping: Promise<void> | undefined;
  return {
    port,
    plainPort: plain && uWS.us_socket_local_port(plain as never),
    async renew(next) {
      if (stopping) return;
      const app = secureApp(next);
      openDoor(app, doorOf(next), gateway, options);
      const beside = await listenOnce(app, { host, port }, 'beside another');
      apps.push(app);
      await accepted();
      uWS.us_listen_socket_close(stopping ? beside : socket);
      if (!stopping) socket = beside;
    },
    stop() {
      stopping ??= (async () => {
        uWS.us_listen_socket_close(socket);
        if (plain) uWS.us_listen_socket_close(plain);
        await options.connections?.endAll();
        await gateway.idle(STOP_GRACE_MS);
        for (const app of apps) app.close();
      })();
      return stopping;
    },
  };
}

function secureApp({ certFile, keyFile }: TlsFiles): TemplatedApp {
  return uWS.SSLApp({ cert_file_name: certFile, key_file_name: keyFile, ssl_ciphers: CIPHERS });
}

function doorOf({ strictTransport }: ServerTls): Door {
  return { secure: true, lines: strictTransport ? STRICT_TRANSPORT : '' };
}

/** Everything that is served, by one app. */
function openDoor(app: TemplatedApp, door: Door, gateway: Front, { pipeline }: ServerOptions): void {
  for (const row of pipeline.guard.rows.rows) {
    if (row.stream !== 'websocket') continue;
    assert(!row.path.includes('{'), 'the WebSocket route has no parameters');
    app.ws<SocketData>(row.path, gateway.webSocketBehaviour(door));
  }
  app.filter((res, change) => gateway.count(res, Number(change)));
  app.any('/*', (res, req) => gateway.serve(res, req, door));
}

/**
 * The connections that wait at a listener are taken, which the library does once in each round of the event loop: after the second round those that
 * had come before the first are. What comes between that and the close of the listener is lost, unless the kernel gives it to the next
 * listener (`net.ipv4.tcp_migrate_req`, ADR 0113).
 */
async function accepted(): Promise<void> {
  for (let round = 0; round < 2; round += 1) await new Promise<void>((resolve) => void setImmediate(resolve));
}

/**
 * `alone`: a second gateway on the port fails instead of sharing it. One that will have others `beside` it shares the port with whoever may (the
 * same user), so it is `after a look` that it listens first.
 */
type Sharing = 'alone' | 'after a look' | 'beside another';

/** The library does not tell why it cannot listen: whoever asks the system meets the same obstacle. */
async function listenOnce(app: TemplatedApp, address: Address, sharing: Sharing): Promise<us_listen_socket> {
  const { host, port } = address;
  const obstacle = sharing === 'after a look' ? await obstacleToListen(address) : undefined;
  if (obstacle) throw obstacle;
  // a port that the kernel has chosen for one listener it lets no other share
  if (sharing === 'after a look' && port === 0) return listenOnce(app, { host, port: await freePort(host) }, 'beside another');
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    // its types leave out the form with host and options
    (app.listen as unknown as ListenWithOptions).call(app, host, port, sharing === 'alone' ? LISTEN_EXCLUSIVE_PORT : LISTEN_SHARED, resolve);
  });
  if (socket) return socket;
  throw (await obstacleToListen(address)) ?? new Error('the web server could not, and a listener of the system could');
}

/**
 * The header lines of a request in the order of the wire. A flat list is the cheapest to make in one pass over the request,
 * which is gone after its turn; the few looks at it cost less than hashing every name into a map.
 */
class Fields implements HeaderFields {
  /** Name, value, name, value, ... */
  readonly #lines: string[] = [];

  constructor(req: HttpRequest) {
    filling = this.#lines;
    req.forEach(addLine);
  }

  get(name: string): string | undefined {
    const lines = this.#lines;
    for (let at = 0; at < lines.length; at += 2) if (lines[at] === name) return this.#joined(name, at);
    return undefined;
  }

  repeats(name: string): boolean {
    const lines = this.#lines;
    let count = 0;
    for (let at = 0; at < lines.length; at += 2) if (lines[at] === name) count += 1;
    return count > 1;
  }

  /** Several lines of one name are joined as HTTP says. */
  #joined(name: string, first: number): string {
    const lines = this.#lines;
    let value = inside(lines, first + 1, 'a name is followed by its value');
    for (let at = first + 2; at < lines.length; at += 2) if (lines[at] === name) value += `${name === 'cookie' ? '; ' : ', '}${lines[at + 1]}`;
    return value;
  }
}

function writeHeaders(res: HttpResponse, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) res.writeHeader(name, value);
  }
}

function contentTyped(lines: string, mediaType: string): string {
  return `${lines}\r\nContent-Type: ${mediaType}`;
}

/** Header lines of an answer, but those of its own; one that says how long it is kept is no secret. */
function linesOf({ mediaType, headers }: UwsReply, isEmpty: boolean): string {
  const lines = headers['Cache-Control'] === undefined ? UNKEPT : NO_SNIFFING;
  if (isEmpty) return lines;
  return lines === UNKEPT && mediaType === JSON_MEDIA_TYPE ? UNKEPT_JSON : contentTyped(lines, mediaType);
}

/**
 * A UUID (D-ERR-01) whose first 74 random bits are drawn once per start and whose end counts: unique like a drawn one, a
 * fifth of its price, and the requests of one start sort in their order.
 */
function nextCorrelationID(): string {
  correlated += 1;
  const low = correlated & 0xffff;
  if (low === 0)
    counted =
      CORRELATION_PREFIX +
      Math.floor(correlated / 0x10000)
        .toString(16)
        .padStart(8, '0');
  return counted + HEX[low >> 8] + HEX[low & 0xff];
}

const CORRELATION_PREFIX = randomUUID().slice(0, 24);
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
let correlated = 0;
/** All but the last four digits, which change with every request. */
let counted = `${CORRELATION_PREFIX}00000000`;

/** One function for all requests: a closure per request would be garbage within microseconds. */
let filling: string[] = [];
function addLine(name: string, value: string): void {
  filling.push(name, value);
}

interface SocketData {
  readonly reply: StreamReply;
  readonly sourceIP: string;
  wire: UwsWebSocketWire;
  session: WebSocketSession;
}

class Front {
  readonly #options: ServerOptions;
  readonly #peers = new Peers();
  /** Who sends thousands of reads at once is served beside the others. */
  readonly #reads = new SlicedWork<UwsRequest>(systemClock, (request) => this.#run(request));
  /** Requests that wait for their answer. */
  #open = 0;
  #whenIdle: (() => void) | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** A connection came (1) or went (-1). */
  count(res: HttpResponse, change: number): void {
    try {
      if (change > 0) this.#peers.came(res);
    } catch (fault) {
      contain('begin of a connection', fault);
    }
  }

  serve(res: HttpResponse, req: HttpRequest, door: Door): void {
    let request: UwsRequest | undefined;
    try {
      request = new UwsRequest(res, req, this.#options, this.#peers, door);
      this.#begin(request);
      request.defer(); // no effect once answered
    } catch (fault) {
      failed(res, request, fault);
    }
  }

  #begin(request: UwsRequest): void {
    const malformed = request.refuseMalformed();
    if (malformed) return request.answerLater(malformed);
    if (SAFE_METHODS.has(request.method) && !request.announcesBody) return this.#reads.give(request);
    request.receive();
    setImmediate(() => this.#run(request));
  }

  /** Never throws. */
  #run(request: UwsRequest): void {
    if (request.isOver) return; // cut off by what came behind it, before anything was done
    try {
      const early = this.#preflight(request);
      if (early) return request.answer(early);
      const outcome = this.#options.pipeline.handle(request, request.correlationID);
      if (outcome instanceof Unproven) this.#whenProven(request, outcome, (proven) => this.#settle(request, proven));
      else this.#settle(request, outcome);
    } catch (fault) {
      request.fail('request', fault);
    }
  }

  #settle(request: UwsRequest, outcome: Outcome): void {
    if (outcome instanceof Promise) {
      request.defer();
      request.pause();
      guardedPromise('answer of a request', () => this.#answerLater(request, outcome));
      return;
    }
    if (outcome instanceof UwsReply) return this.#answer(request, outcome);
    if (outcome.transport === 'sse') return request.stream(outcome.open as (wire: SseWire) => SseSession);
    request.answer(uwsReplyOfRefusal(new Refusal('invalid', 'this route is opened with a WebSocket upgrade', { code: 'upgrade_required' })));
  }

  /** Nothing is read of the request meanwhile: who is not known yet must not fill the memory. */
  #whenProven(request: UwsRequest, unproven: Unproven, settle: (outcome: Outcome) => void): void {
    request.hold();
    this.#open += 1;
    const goOn = (): void => {
      try {
        request.letGo();
        if (!request.isOver) settle(unproven.goOn());
      } catch (fault) {
        request.fail('request', fault);
      } finally {
        this.#close();
      }
    };
    guardedPromise('request with a new token', () => unproven.settled.then(goOn));
  }

  async #answerLater(request: UwsRequest, outcome: Promise<UwsReply>): Promise<void> {
    this.#open += 1;
    try {
      this.#answer(request, await outcome);
    } catch (fault) {
      request.fail('request', fault);
    } finally {
      this.#close();
    }
  }

  #answer(request: UwsRequest, answer: UwsReply): void {
    if (!(answer instanceof StreamedUwsReply)) return this.#isPackable(request, answer) ? this.#pack(request, answer) : request.answer(answer);
    if (request.method === 'HEAD') {
      guardedPromise('streamed answer to HEAD', () => answer.abandon());
      return request.answer(answer);
    }
    request.defer();
    this.#open += 1;
    guardedPromise('streamed answer', () => request.send(answer, this.#options.log).finally(() => this.#close()));
  }

  /** Not what has an ETag: it is that of these bytes, and a client sends it back with its change. */
  #isPackable({ method, headers }: UwsRequest, answer: UwsReply): boolean {
    const { status, body, mediaType } = answer;
    if (status !== 200 || method !== 'GET' || mediaType !== JSON_MEDIA_TYPE || body === undefined || body.length < PACKED_BYTES_MIN) return false;
    return answer.headers.ETag === undefined && answer.headers['Content-Encoding'] === undefined && takesGzip(headers.get('accept-encoding') ?? '');
  }

  /** On a thread of the library: a list of some megabytes holds nobody else up. */
  #pack(request: UwsRequest, answer: UwsReply): void {
    request.defer();
    request.pause();
    this.#open += 1;
    gzip(answer.body as string | Uint8Array, { level: PACKED_LEVEL }, (fault, packed) => {
      try {
        const headers = { ...answer.headers, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' };
        request.answer(fault ? answer : new UwsReply(answer.status, packed, headers, answer.mediaType, answer.closeConnection));
      } catch (mine) {
        request.fail('packed answer', mine);
      } finally {
        this.#close();
      }
    });
  }

  webSocketBehaviour(door: Door): WebSocketBehavior<SocketData> {
    return {
      compression: uWS.DISABLED,
      maxPayloadLength: WEBSOCKET_FRAME_BYTES_MAX,
      maxBackpressure: WEBSOCKET_BACKPRESSURE_BYTES_MAX,
      idleTimeout: 0, // the session pings and judges silence (decisions Q-STREAM-16); a peer that was sent its close frame is cut by the library
      sendPingsAutomatically: false,
      upgrade: (res, req, context) => this.#upgrade(res, req, context, door),
      open: (ws) => {
        const data = ws.getUserData();
        data.wire = new UwsWebSocketWire(ws, data.sourceIP);
        data.session = NOBODY;
        try {
          data.session = (data.reply.open as (wire: WebSocketWire) => WebSocketSession)(data.wire);
        } catch (fault) {
          sessionFailed('open of a WebSocket', data.wire, fault);
        }
      },
      message: (ws, message, isBinary) => {
        const data = ws.getUserData();
        try {
          data.session.onMessage(message, isBinary);
        } catch (fault) {
          sessionFailed('message of a WebSocket', data.wire, fault);
        }
      },
      drain: (ws) => {
        const data = ws.getUserData();
        try {
          data.session.onDrain();
        } catch (fault) {
          sessionFailed('drain of a WebSocket', data.wire, fault);
        }
      },
      pong: (ws) => {
        const data = ws.getUserData();
        try {
          data.session.onPong();
        } catch (fault) {
          sessionFailed('pong of a WebSocket', data.wire, fault);
        }
      },
      close: (ws, code, message) => {
        const { wire, session } = ws.getUserData();
        wire.closed = true;
        try {
          session.onClose(code, Buffer.from(message).toString('utf8'));
        } catch (fault) {
          contain('close of a WebSocket', fault);
        }
      },
    };
  }

  /** Resolves when no answer is under way, or after the grace. */
  idle(graceMs: number): Promise<void> {
    if (this.#open === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, graceMs);
      this.#whenIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #close(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#whenIdle?.();
  }

  #upgrade(res: HttpResponse, req: HttpRequest, context: us_socket_context_t, door: Door): void {
    let request: UwsRequest | undefined;
    try {
      request = new UwsRequest(res, req, this.#options, this.#peers, door);
      this.#switchProtocols(request, context);
      request.defer();
    } catch (fault) {
      failed(res, request, fault);
    }
  }

  #switchProtocols(request: UwsRequest, context: us_socket_context_t): void {
    const malformed = request.refuseMalformed();
    if (malformed) return request.answerLater(malformed);
    const outcome = this.#options.pipeline.handle(request, request.correlationID);
    if (outcome instanceof Unproven) this.#whenProven(request, outcome, (proven) => this.#upgradeOr(request, proven, context));
    else this.#upgradeOr(request, outcome, context);
  }

  #upgradeOr(request: UwsRequest, outcome: Outcome, context: us_socket_context_t): void {
    if (outcome instanceof UwsReply) return request.answer(outcome);
    assert(!(outcome instanceof Promise) && outcome.transport === 'websocket', 'a WebSocket is opened in the turn in which it passed the barriers');
    request.upgrade(outcome, context);
  }

  /** OPTIONS answers 204 with `Allow` without authentication (decisions Q-ERR-03); with CORS for the origins allowed. */
  #preflight(request: UwsRequest): UwsReply | undefined {
    if (request.method !== 'OPTIONS') return undefined;
    const match = this.#options.pipeline.guard.rows.match(request.path);
    if (match.found !== 'target') return undefined; // the pipeline says why
    const allow = allowOf(match.target.methods);
    if (request.allowedOrigin === undefined) return new UwsReply(204, undefined, { Allow: allow });
    return new UwsReply(204, undefined, {
      Allow: allow,
      'Access-Control-Allow-Methods': allow,
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-DCS-Nonce, X-Correlation-ID, X-Lineside-Background, If-Match, If-None-Match, Last-Event-ID',
      'Access-Control-Max-Age': '600',
    });
  }
}

/** A request that met a bug of ours in its first turn, maybe before there was anything to call a request. */
function failed(res: HttpResponse, request: UwsRequest | undefined, fault: unknown): void {
  if (request) return request.fail('request', fault);
  contain('request', fault);
  res.close();
}

/** The session behind a WebSocket met a bug of ours: its client connects again and finds a new one. The session hears of its end. */
function sessionFailed(seam: string, wire: WebSocketWire, fault: unknown): void {
  contain(seam, fault);
  try {
    wire.close(INTERNAL_ERROR, 'internal error');
  } catch (second) {
    contain(seam, second);
  }
}

/** Behind a WebSocket whose session could not be made. */
const NOBODY: WebSocketSession = { onMessage() {}, onDrain() {}, onPong() {}, onClose() {} };

/** Where a request ends is in doubt: the connection ends with the answer. */
function malformed(sentence: string): UwsReply {
  const refusal = uwsReplyOfRefusal(new Refusal('invalid', sentence, { code: 'malformed_request' }));
  return new UwsReply(refusal.status, refusal.body, refusal.headers, refusal.mediaType, true);
}

/** One request on the wire of uWebSockets.js, and the one answer to it; what the barriers find out about it is the Exchange. */
class UwsRequest implements Incoming {
  readonly method: string;
  readonly path: string;
  readonly rawQuery: string;
  readonly headers: Fields;
  /** Under TLS as far as the box, or as far as a proxy that is believed. */
  readonly secure: boolean;
  readonly correlationID: string;
  readonly allowedOrigin: string | undefined;
  readonly #res: HttpResponse;
  readonly #trustedProxies: TrustedProxies;
  readonly #peers: Peers;
  readonly #door: Door;
  #sourceIP: string | undefined;
  readonly #crossOrigin: boolean;
  /** Whether the turn of the request is over: writes then need a cork. */
  #deferred = false;
  /** Something of an answer is written: no other can follow. */
  #begun = false;
  #ended = false;
  #onAborted: (() => void)[] | undefined;
  #body: BodyReader | undefined;
  #isPaused = false;
  /** Whoever works on it wants to know when the client leaves. */
  #isAttended = false;
  /** What follows on the connection cannot be told from this request: it is closed with the answer. */
  #closes = false;

  constructor(res: HttpResponse, req: HttpRequest, { trustedProxies, allowedOrigins }: ServerOptions, peers: Peers, door: Door) {
    this.#res = res;
    this.#peers = peers;
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    this.rawQuery = req.getQuery() ?? '';
    this.headers = new Fields(req);
    this.#trustedProxies = trustedProxies;
    this.#door = door;
    this.secure = door.secure || this.#isForwardedSecurely();
    const correlationID = this.headers.get('x-correlation-id');
    this.correlationID = correlationID !== undefined && CORRELATION_ID.test(correlationID) ? correlationID : nextCorrelationID();
    this.#crossOrigin = allowedOrigins.length > 0;
    const origin = this.#crossOrigin ? this.headers.get('origin') : undefined;
    this.allowedOrigin = origin !== undefined && allowedOrigins.includes(origin) ? origin : undefined;
  }

  /** In the turn of the request: one that is aborted has no address any more. */
  #isForwardedSecurely(): boolean {
    const scheme = this.headers.get('x-forwarded-proto');
    if (scheme === undefined || !this.#trustedProxies.believes(this.#peers.addressOf(this.#res))) return false;
    return scheme.split(',', 1).join().trim().toLowerCase() === 'https';
  }

  /** Asked of the socket at the first look, because the copy it makes costs more than all headers together; `defer` is the last chance. */
  get sourceIP(): string {
    this.#sourceIP ??= this.#trustedProxies.sourceOf(this.#peers.addressOf(this.#res), this.headers.get('x-forwarded-for'));
    return this.#sourceIP;
  }

  get isOver(): boolean {
    return this.#ended;
  }

  get announcesBody(): boolean {
    return this.headers.get('transfer-encoding') !== undefined || (this.headers.get('content-length') ?? '0') !== '0';
  }

  /**
   * Reads the body from now on; called in the turn of the request. A body in chunks ends the connection, because the library takes
   * a trailer for a request; so does a write that states no length, whose header may have ended early (a line without a name ends it).
   */
  receive(): void {
    this.defer();
    const chunked = this.headers.get('transfer-encoding') !== undefined;
    this.#closes = chunked || this.headers.get('content-length') === undefined;
    const body = (this.#body = new BodyReader());
    this.#onAborted ??= [];
    this.#onAborted.push(() => body.cut());
    this.#res.onData((chunk, isLast) => {
      try {
        body.take(chunk, isLast);
        if (isLast) this.pause();
      } catch (fault) {
        this.fail('body of a request', fault);
      }
    });
  }

  /** Nothing more is read from the connection until the answer. Not for streams: who goes away would not be noticed. */
  pause(): void {
    if (this.#isPaused || this.#isAttended || this.#ended || (this.#body && !this.#body.isComplete)) return;
    this.#isPaused = true;
    this.#res.pause();
  }

  resume(): void {
    if (!this.#isPaused || this.#ended) return;
    this.#isPaused = false;
    this.#res.resume();
  }

  /** A connection of which nothing is read does not show its end. */
  async attended<Value>(work: (gone: AbortSignal) => Promise<Value>): Promise<Value> {
    const gone = new AbortController();
    if (this.#ended) gone.abort();
    this.defer();
    this.#onAborted ??= [];
    this.#onAborted.push(() => gone.abort());
    this.#isAttended = true;
    this.resume();
    try {
      return await work(gone.signal);
    } finally {
      this.#isAttended = false;
      this.pause();
    }
  }

  /** As `pause`, also within a body. */
  hold(): void {
    this.defer();
    if (this.#isPaused || this.#ended) return;
    this.#isPaused = true;
    this.#res.pause();
  }

  /** A body that is not there yet is read on. */
  letGo(): void {
    if (this.#body && !this.#body.isComplete) this.resume();
  }

  get host(): string | undefined {
    const forwarded = this.headers.get('x-forwarded-host');
    if (forwarded !== undefined && this.#trustedProxies.believes(this.#peers.addressOf(this.#res))) return forwarded.split(',', 1).join().trim();
    return this.headers.get('host');
  }

  /** Two lengths, or an encoding other than exactly `chunked`, would let a second request hide in the first. */
  refuseMalformed(): UwsReply | undefined {
    const encoding = this.headers.get('transfer-encoding');
    const length = this.headers.get('content-length');
    if (this.headers.repeats('host')) return malformed('the request names its host twice');
    if (length === undefined && encoding === undefined) return undefined;
    const odd =
      this.headers.repeats('content-length') ||
      (encoding !== undefined && (encoding.toLowerCase() !== 'chunked' || length !== undefined)) ||
      (length !== undefined && !/^\d{1,15}$/.test(length));
    return odd ? malformed('the request states its length in a way that is not accepted') : undefined;
  }

  /** Must have run before the turn of the request ends, unless it was answered. */
  defer(): void {
    if (this.#deferred || this.#ended) return;
    this.#deferred = true;
    this.#res.onAborted(() => {
      this.#ended = true;
      if (this.#onAborted) for (const listener of this.#onAborted) guarded('end of a request', listener);
    });
    void this.sourceIP; // an aborted response has no address any more
  }

  collect(limitBytes: number, tooLarge: () => Error, accept: (bytes: Uint8Array) => void): Promise<void> | undefined {
    assert(this.#body !== undefined, 'a request that announces a body has been read since its turn');
    return this.#body.collect(limitBytes, tooLarge, accept);
  }

  /**
   * Answers in a later turn: while an answer is pending uWebSockets.js cuts a connection that already holds the next
   * request, so nothing hidden behind a doubtful length is ever looked at.
   */
  answerLater(answer: UwsReply): void {
    this.defer();
    setImmediate(() => this.answer(answer));
  }

  /** Never throws: an answer that cannot be written ends the connection. */
  answer(answer: UwsReply): void {
    if (this.#ended) return;
    try {
      if (this.#deferred) this.#res.cork(() => this.#write(answer));
      else this.#write(answer);
      this.#ended = true;
    } catch (fault) {
      contain('answer to a request', fault);
      this.#cut();
    }
  }

  /** Tells of a bug of ours and ends the request: with 500 while nothing of an answer is written, else by the end of the connection. Never throws. */
  fail(seam: string, fault: unknown): void {
    contain(seam, fault);
    if (this.#begun) this.#cut();
    else this.answer(uwsReplyOfFault());
  }

  #cut(): void {
    if (this.#ended) return;
    this.#ended = true;
    try {
      this.#res.close();
    } catch {
      // the library has let go of it already
    }
  }

  #write(answer: UwsReply): void {
    const res = this.#res;
    this.#begun = true;
    const closes = answer.closeConnection || this.#closes || (this.#body !== undefined && !this.#body.isComplete);
    if (!closes) this.resume();
    if (answer.status !== 200) res.writeStatus(statusLine(answer.status)); // the library's own default
    const isEmpty = answer.body === undefined && !(answer instanceof StreamedUwsReply);
    this.#writeCommonHeaders(linesOf(answer, isEmpty));
    if (answer.headers !== NO_HEADERS) writeHeaders(res, answer.headers);
    if (answer.body === undefined) {
      if (answer.status !== 204 && answer.status !== 304) res.end('', closes);
      else if (closes) res.endWithoutBody(0, true);
      else res.endWithoutBody();
      return;
    }
    if (this.method === 'HEAD') {
      // given any length, also undefined, endWithoutBody never counts the response as done and the process aborts
      res.writeHeader('Content-Length', String(Buffer.byteLength(answer.body)));
      res.endWithoutBody();
    } else res.end(answer.body, closes);
  }

  #writeCommonHeaders(lines: string): void {
    this.#res.writeHeader('X-Correlation-ID', this.correlationID + lines + this.#door.lines);
    if (!this.#crossOrigin) return;
    this.#res.writeHeader('Vary', 'Origin');
    if (this.allowedOrigin === undefined) return;
    this.#res.writeHeader('Access-Control-Allow-Origin', this.allowedOrigin);
    this.#res.writeHeader('Access-Control-Expose-Headers', 'ETag, Link, Location, Retry-After, X-Correlation-ID, X-Lineside-Warning, X-Total-Count');
  }

  /**
   * Sends chunk after chunk; while the socket is full nothing more is taken, and the library cuts a reader who takes nothing for
   * ten seconds. It would cut a slow maker as well: a connection that is read ends ten seconds after that began, whatever is
   * written to it, unless it was full meanwhile. So it is read only while a chunk is on its way out. Slices are small because a
   * write into a full socket waits in memory: no more than one does.
   */
  async send(answer: StreamedUwsReply, log: Log): Promise<void> {
    const res = this.#res;
    let wake = (): void => undefined;
    this.#onAborted ??= [];
    this.#onAborted.push(() => wake());
    try {
      if (this.#ended) return await answer.abandon(); // the reader has gone before the first chunk
      res.onWritable(() => {
        wake();
        return true;
      });
      this.#begun = true;
      res.cork(() => {
        this.#writeCommonHeaders(linesOf(answer, false));
        writeHeaders(res, answer.headers);
      });
      for await (const chunk of answer.chunks) {
        this.resume();
        for (let at = 0; at < chunk.length && !this.#ended; ) {
          const written = this.#writeSlices(chunk, at);
          at = written.at;
          if (written.isFull) await new Promise<void>((resolve) => (wake = resolve));
        }
        if (this.#ended) return;
        this.pause(); // a reader who goes away meanwhile is noticed with the next chunk
      }
      this.resume();
      this.#ended = true;
      res.cork(() => void res.end());
    } catch (err) {
      if (this.#ended) return;
      log.error({ err, correlationID: this.correlationID, path: this.path }, 'a long answer could not be finished; the connection is cut');
      this.#ended = true;
      res.close();
    }
  }

  /** From `at` on, until the chunk is out or the socket is full; what was written into the full one is sent first. */
  #writeSlices(chunk: Uint8Array, from: number): { readonly at: number; readonly isFull: boolean } {
    let at = from;
    let isFull = false;
    this.#res.cork(() => {
      while (!isFull && at < chunk.length) {
        isFull = !this.#res.write(chunk.subarray(at, at + SLICE_BYTES));
        at += SLICE_BYTES;
      }
    });
    return { at, isFull };
  }

  stream(open: (wire: SseWire) => SseSession): void {
    const res = this.#res;
    this.defer();
    this.resume();
    this.#begun = true;
    res.cork(() => {
      res.writeStatus('200 OK');
      this.#writeCommonHeaders(contentTyped(UNKEPT, 'text/event-stream; charset=utf-8'));
      res.writeHeader('X-Accel-Buffering', 'no');
      res.write(': open\n\n'); // sends the head at once
    });
    const wire = new UwsSseWire(res, this.sourceIP);
    this.#onAborted ??= [];
    this.#onAborted.push(() => wire.close());
    const session = open(wire);
    if (wire.closed) return session.onClose();
    wire.onClose = () => session.onClose();
    res.onWritable(() => {
      try {
        session.onWritable();
      } catch (fault) {
        contain('room in an event stream', fault);
        wire.end(); // its client connects again and finds a new session
      }
      return true;
    });
  }

  upgrade(reply: StreamReply, context: us_socket_context_t): void {
    const key = this.headers.get('sec-websocket-key') ?? '';
    const offered = (this.headers.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim());
    const protocol = offered.includes(AUTHENTICATE_FIRST) ? AUTHENTICATE_FIRST : (offered[0] ?? ''); // exactly one of those offered
    const extensions = this.headers.get('sec-websocket-extensions') ?? '';
    this.resume();
    this.#begun = true;
    const upgrade = (): void => {
      this.#res.writeStatus(statusLine(101));
      this.#res.writeHeader('X-Correlation-ID', this.correlationID);
      this.#res.upgrade({ reply, sourceIP: this.sourceIP }, key, protocol, extensions, context);
    };
    if (this.#deferred) this.#res.cork(upgrade);
    else upgrade();
    this.#ended = true;
  }
}

class UwsWebSocketWire implements WebSocketWire {
  readonly sourceIP: string;
  closed = false;
  readonly #ws: WebSocket<SocketData>;

  constructor(ws: WebSocket<SocketData>, sourceIP: string) {
    this.#ws = ws;
    this.sourceIP = sourceIP;
  }

  send(payload: Uint8Array | string): 0 | 1 | 2 {
    return this.closed ? 2 : (this.#ws.send(payload, false, false) as 0 | 1 | 2);
  }

  bufferedBytes(): number {
    return this.closed ? 0 : this.#ws.getBufferedAmount();
  }

  cork(call: () => void): void {
    if (this.closed) call();
    else this.#ws.cork(call);
  }

  ping(): void {
    if (!this.closed) this.#ws.ping();
  }

  close(code: number, reason: string): void {
    if (!this.closed) this.#ws.end(code, reason);
  }

  terminate(): void {
    if (!this.closed) this.#ws.close();
  }
}

class UwsSseWire implements SseWire {
  readonly sourceIP: string;
  closed = false;
  onClose: (() => void) | undefined;
  readonly #res: HttpResponse;

  constructor(res: HttpResponse, sourceIP: string) {
    this.#res = res;
    this.sourceIP = sourceIP;
  }

  write(payload: Uint8Array | string): boolean {
    return this.closed || payload.length === 0 ? true : this.#res.write(payload);
  }

  cork(call: () => void): void {
    if (this.closed) call();
    else this.#res.cork(call);
  }

  end(): void {
    if (this.closed) return;
    this.closed = true; // before the end: what the session still does on the wire is ignored
    guarded('end of an event stream', () => this.#res.cork(() => void this.#res.end('', true)));
    this.#tell();
  }

  /** The peer went away. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#tell();
  }

  #tell(): void {
    if (this.onClose) guarded('close of an event stream', this.onClose);
  }
}
