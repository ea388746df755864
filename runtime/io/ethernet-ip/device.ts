/**
 * A controller at the end of its route: messages with their repetitions, and tags read and written whole, in fragments where one message is too
 * small. A status is an answer and is not repeated.
 */
import type { Barred } from '../driver.js';
import { parseTyped, type TypedData } from './codec.js';
import type { CipReply } from './reply.js';
import { readFragmentRequest, readRequest, request, routed, SERVICE, writeFragmentRequest, writeRequest } from './request.js';
import type { Answer, EnipSession, Prepared } from './session.js';
import { cipStatusText } from './status.js';

export interface DeviceSettings {
  readonly retries: number;
  readonly timeoutMs: number;
  /** Empty: the device that was reached is the controller. */
  readonly route: Buffer;
  readonly routeText: string;
  /** Of a request, without what the route adds. */
  readonly requestBytesMax: number;
  readonly replyBytesMax: number;
}

export type Failure = { readonly ok: false; readonly reason: 'silent' | 'lost' | 'refused'; readonly message: string };
export type Whole<T> = { readonly ok: true; readonly value: T } | Failure;

const OK = 0x00;
export const PARTIAL = 0x06;
export const TOO_LARGE = 0x11;
/** A tag that is longer is not read: nothing a channel holds is. */
export const WHOLE_BYTES_MAX = 0x1_0000;
const FRAGMENT_HEAD_BYTES = 20;
/** LEN of a text. */
const TEXT_HEAD_BYTES = 4;
/** A part that is not the last one brings so much at least: a connection of any size has room for it. */
export const PART_BYTES_MIN = 32;

export const MALFORMED: Failure = { ok: false, reason: 'refused', message: 'the device sent an answer of the wrong length' };

export function tooSmall(bytes: number): Failure {
  return { ok: false, reason: 'refused', message: `the device sends its value in parts of ${bytes} bytes, which would take a request each` };
}

export function refusal({ status, extended }: CipReply): Failure {
  return { ok: false, reason: 'refused', message: cipStatusText(status, extended) };
}

/** In the middle of a text that is written in parts. */
function leftEmpty(failure: Failure): Failure {
  return { ...failure, message: `${failure.message}; the text in the device is empty until it is written again` };
}

export class Device {
  readonly session: EnipSession;
  readonly settings: DeviceSettings;

  constructor(session: EnipSession, settings: DeviceSettings) {
    this.session = session;
    this.settings = settings;
  }

  /** A message as it is sent: over the connection, or along the route. */
  prepare = (message: Buffer, service: number, isConnected = this.session.isConnected): Prepared => {
    const { route, timeoutMs } = this.settings;
    const isRouted = !isConnected && route.length > 0;
    return this.session.prepare(isRouted ? routed(message, route, timeoutMs) : message, service, isRouted);
  };

  /** One message, repeated while the device stays silent and nobody bars it. */
  async send(prepared: Prepared, urgent: boolean, barred?: Barred): Promise<Answer> {
    let answer = await this.session.request(prepared, urgent);
    for (let repeat = 0; repeat < this.settings.retries && !answer.ok && answer.reason === 'silent' && !barred?.(); repeat += 1)
      answer = await this.session.request(prepared, urgent);
    return answer;
  }

  ask(service: number, path: Buffer, data: Buffer, urgent = false): Promise<Answer> {
    return this.send(this.prepare(request(service, path, data), service), urgent);
  }

  /** Type and value of a tag, however many messages it takes: the parts need not be of one moment (`readLong`). */
  async readWhole(path: Buffer, urgent = false): Promise<Whole<TypedData>> {
    const first = await this.send(this.prepare(readRequest(path, 1), SERVICE.readTag), urgent);
    if (!first.ok) return first;
    if (first.reply.status === OK) {
      const typed = parseTyped(first.reply.data);
      return typed ? { ok: true, value: typed } : MALFORMED;
    }
    if (first.reply.status !== PARTIAL && first.reply.status !== TOO_LARGE) return refusal(first.reply);
    const begun = first.reply.status === PARTIAL ? parseTyped(first.reply.data) : undefined;
    return this.#readRest(path, begun, urgent);
  }

  async #readRest(path: Buffer, begun: TypedData | undefined, urgent: boolean): Promise<Whole<TypedData>> {
    let head = begun;
    const parts = begun ? [begun.value] : [];
    let bytes = begun?.value.length ?? 0;
    while (bytes <= WHOLE_BYTES_MAX) {
      const answer = await this.send(this.prepare(readFragmentRequest(path, bytes), SERVICE.readFragmented), urgent);
      if (!answer.ok) return answer;
      const { reply } = answer;
      if (reply.status !== OK && reply.status !== PARTIAL) return refusal(reply);
      const part = parseTyped(reply.data);
      if (!part || (head && (part.code !== head.code || part.handle !== head.handle))) return MALFORMED;
      head = part;
      parts.push(Buffer.from(part.value)); // a copy: what was received with it is not kept
      bytes += part.value.length;
      if (reply.status === OK) return { ok: true, value: { ...part, value: Buffer.concat(parts) } };
      if (part.value.length < PART_BYTES_MIN) return tooSmall(part.value.length);
    }
    return { ok: false, reason: 'refused', message: `the device has more than ${WHOLE_BYTES_MAX} bytes for it` };
  }

  /** In one message. `type`: what stands before the value. */
  async writeWhole(path: Buffer, type: Buffer, value: Buffer, barred?: Barred): Promise<Whole<true>> {
    const message = writeRequest(path, type, value);
    return message.length <= this.settings.requestBytesMax ? this.#written(message, SERVICE.writeTag, barred) : this.#tooLong();
  }

  /**
   * A text as Logix controllers have it, LEN and DATA, so that their program never sees a mixture of two (ADR 0092): in one message where it fits, without what
   * stands behind its last character if need be; else LEN is 0 until all characters are there. `structure`: all of it, whose LEN is `characters`.
   */
  async writeText(path: Buffer, type: Buffer, structure: Buffer, characters: number, barred?: Barred): Promise<Whole<true>> {
    const whole = writeRequest(path, type, structure);
    if (whole.length <= this.settings.requestBytesMax) return this.#written(whole, SERVICE.writeTag, barred);
    const room = this.settings.requestBytesMax - path.length - FRAGMENT_HEAD_BYTES;
    const partBytes = room - (room % TEXT_HEAD_BYTES);
    if (partBytes < PART_BYTES_MIN) return this.#tooLong();
    const part = (offset: number, bytes: Buffer): Promise<Whole<true>> => this.#written(writeFragmentRequest(path, type, offset, bytes), SERVICE.writeFragmented, barred);
    const used = structure.subarray(0, TEXT_HEAD_BYTES + characters);
    if (used.length <= partBytes) return part(0, used);
    const emptied = await part(0, Buffer.alloc(TEXT_HEAD_BYTES));
    if (!emptied.ok) return emptied;
    for (let offset = TEXT_HEAD_BYTES; offset < used.length; offset += partBytes) {
      const written = await part(offset, used.subarray(offset, offset + partBytes));
      if (!written.ok) return leftEmpty(written);
    }
    const shown = await part(0, used.subarray(0, TEXT_HEAD_BYTES));
    return shown.ok ? shown : leftEmpty(shown);
  }

  #tooLong(): Failure {
    return { ok: false, reason: 'refused', message: `the value does not fit into messages of ${this.settings.requestBytesMax} bytes: raise maxPacket, or set connected: true` };
  }

  async #written(message: Buffer, service: number, barred: Barred | undefined): Promise<Whole<true>> {
    const answer = await this.send(this.prepare(message, service), true, barred);
    if (!answer.ok) return answer;
    return answer.reply.status === OK ? { ok: true, value: true } : refusal(answer.reply);
  }
}
