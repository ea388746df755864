/** Clients of the two transports over real sockets. */
import http from 'node:http';
import WebSocket from 'ws';
import { parseEvents, type Received } from './scripted.js';

/** Frames in the order of arrival; `next` waits for one. */
export class FrameQueue {
  #frames: Received[] = [];
  #waiting: ((frame: Received) => void)[] = [];

  push(frame: Received): void {
    const taker = this.#waiting.shift();
    if (taker) taker(frame);
    else this.#frames.push(frame);
  }

  next(): Promise<Received> {
    const frame = this.#frames.shift();
    return frame === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(frame);
  }

  async take(count: number): Promise<Received[]> {
    const frames: Received[] = [];
    while (frames.length < count) frames.push(await this.next());
    return frames;
  }

  get arrived(): number {
    return this.#frames.length;
  }
}

export class SocketClient extends FrameQueue {
  readonly socket: WebSocket;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly pings: Promise<void>;

  private constructor(socket: WebSocket) {
    super();
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })));
    this.pings = new Promise((resolve) => socket.once('ping', () => resolve()));
    socket.on('message', (data, isBinary) => this.push(isBinary ? { binary: true } : JSON.parse(data.toString())));
  }

  /** Presents its token in the first frame; the given origin is that of a page. */
  static openFirst(url: string, origin?: string, headers: Readonly<Record<string, string>> = {}): Promise<SocketClient> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/ws`, ['lineside.authenticate'], { headers, ...(origin === undefined ? {} : { origin }) });
    return SocketClient.#opened(socket);
  }

  static open(url: string, token = 'all', options: { readonly query?: boolean; readonly autoPong?: boolean } = {}): Promise<SocketClient> {
    const target = `${url.replace('http', 'ws')}/api/v1/ws${options.query ? `?token=${token}` : ''}`;
    const socket = new WebSocket(target, { headers: options.query ? {} : { Authorization: `Bearer ${token}` }, autoPong: options.autoPong ?? true });
    return SocketClient.#opened(socket);
  }

  static #opened(socket: WebSocket): Promise<SocketClient> {
    const client = new SocketClient(socket);
    return new Promise((resolve, reject) => {
      socket.on('open', () => resolve(client));
      socket.on('unexpected-response', (_request, response) => {
        let text = '';
        response.on('data', (part) => (text += part));
        response.on('end', () => reject(Object.assign(new Error(`HTTP ${response.statusCode}`), { status: response.statusCode, body: JSON.parse(text) })));
      });
      socket.on('error', reject);
    });
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  async ask(frame: unknown): Promise<Received> {
    this.send(frame);
    return this.next();
  }

  close(): void {
    this.socket.terminate();
  }
}

export class EventClient extends FrameQueue {
  readonly closed: Promise<void>;
  readonly headers: http.IncomingHttpHeaders;
  readonly #response: http.IncomingMessage;

  private constructor(response: http.IncomingMessage) {
    super();
    this.#response = response;
    this.headers = response.headers;
    let rest = '';
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      rest += text;
      const end = rest.lastIndexOf('\n\n');
      if (end < 0) return;
      for (const event of parseEvents(rest.slice(0, end + 2))) if (event.comment !== 'open') this.push(event);
      rest = rest.slice(end + 2);
    });
    this.closed = new Promise((resolve) => response.on('close', () => resolve()));
  }

  /** `target` is path and query behind the origin. */
  static open(url: string, target: string, headers: Record<string, string> = { Authorization: 'Bearer all' }): Promise<EventClient> {
    return new Promise((resolve, reject) => {
      const request = http.get(`${url}${target}`, { headers, agent: false }, (response) => {
        if (response.statusCode === 200) return resolve(new EventClient(response));
        let text = '';
        response.on('data', (part) => (text += part));
        response.on('end', () => reject(Object.assign(new Error(`HTTP ${response.statusCode}`), { status: response.statusCode, body: JSON.parse(text) })));
      });
      request.on('error', reject);
    });
  }

  /** It stays connected and takes nothing any more. */
  stopReading(): void {
    this.#response.socket.pause();
  }

  close(): void {
    this.#response.destroy();
  }
}

/** How a connection was refused: status and body; undefined when it was not. */
export function refusal(opening: Promise<unknown>): Promise<{ readonly status: number; readonly body: Received } | undefined> {
  return opening.then(
    () => undefined,
    (fault: { readonly status: number; readonly body: Received }) => fault,
  );
}
