/**
 * Whom a command takes for the box behind `https://`: who has a certificate that the machine trusts, or an authority that was named, or the very
 * certificate that a person has compared, as ssh keeps the key of a host. One that was renewed with the same key is the same box.
 */
import { createHash, type X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { Readable } from 'node:stream';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import * as v from 'valibot';
import { ApiError } from '../../client/api-error.js';
import { fingerprintText } from '../../platform/tls/certificate.js';
import { CommandError, EXIT, usage } from './outcome.js';
import type { Terminal } from './terminal.js';

/** Either an authority, or a certificate by its SHA-256 and that of its public key; '' for what it is not. */
export const Trust = v.object({ caFile: v.string(), sha256: v.string(), publicKey: v.string() });
export type Trust = v.InferOutput<typeof Trust>;

const LOOK_MS_MAX = 15_000;

interface Seen {
  readonly sha256: string;
  readonly publicKey: string;
  readonly certificate: X509Certificate;
  /** Why the machine trusts nobody who vouches for it; '' where it does. */
  readonly doubt: string;
}

export interface TrustWish {
  /** `--ca-file` */
  readonly caFile?: string | undefined;
  /** `--fingerprint` */
  readonly fingerprint?: string | undefined;
  /** What was found out at an earlier sign-in. */
  readonly known?: Trust | undefined;
}

/**
 * Before anything is sent to a box. Undefined: as the machine trusts, or plain HTTP.
 * @throws CommandError where it is not the box that is meant, or nobody says that it is.
 */
export async function trustFor(url: string, { caFile, fingerprint, known }: TrustWish, terminal: Terminal): Promise<Trust | undefined> {
  if (new URL(url).protocol !== 'https:') return undefined;
  if (caFile !== undefined) return { caFile, sha256: '', publicKey: '' };
  if (fingerprint === undefined && known !== undefined) return known;
  if (fingerprint !== undefined && !/^[0-9a-f]{64}$/.test(plainDigits(fingerprint)))
    throw usage(`${fingerprint} is no fingerprint: give the SHA-256 of the certificate, 64 hexadecimal digits, as lineside tls show tells it on the box`);
  const seen = await lookAt(url);
  const { sha256, publicKey, certificate, doubt } = seen;
  const pinned = { caFile: '', sha256, publicKey };
  if (fingerprint !== undefined) {
    if (plainDigits(fingerprint) !== sha256) throw otherCertificate(url, plainDigits(fingerprint), sha256);
    return pinned;
  }
  if (doubt === '') return undefined;
  const shown = fingerprintText(sha256);
  terminal.say(`lineside: nobody whom this machine trusts vouches for the certificate of ${url} (${doubt})`);
  terminal.say(`lineside:   ${inOneLine(certificate.subject)}, until ${new Date(certificate.validTo).toISOString()}`);
  terminal.say(`lineside:   SHA-256 ${shown}`);
  if (!terminal.isAttended)
    throw new CommandError(
      EXIT.usage,
      'untrusted_certificate',
      `${url} has a certificate that nobody has compared: sign in at a terminal, or give --fingerprint ${sha256}, or --ca-file`,
      {
        sha256,
      },
    );
  const answer = await terminal.ask('Is it the one that the box shows (lineside tls show, or its screen)? Type yes: ');
  if (answer.trim().toLowerCase() !== 'yes') throw usage('nothing was done');
  return pinned;
}

/** Nobody vouches for who has written it: nothing in it moves the cursor or turns the line around. */
export function inOneLine(subject: string): string {
  return subject.replaceAll('\n', ', ').replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?');
}

/** `AB:CD…` as `abcd…`. */
function plainDigits(fingerprint: string): string {
  return fingerprint.replaceAll(/[:\s]/g, '').toLowerCase();
}

/** No answer of the box: it is not known to be the box. */
const NOT_THE_BOX = 495;

/** As an answer, so that it reaches whoever has asked through all that stands between. */
function otherCertificate(url: string, accepted: string, sha256: string): ApiError {
  return new ApiError(NOT_THE_BOX, {
    error: [
      `${url} does not have the certificate that was accepted for it: somebody may stand between`,
      `  accepted ${fingerprintText(accepted)}`,
      `  found    ${fingerprintText(sha256)}`,
      'where the box has got a new one, compare it there (lineside tls show) and sign in again: lineside login ADDRESS --fingerprint SHA256, or --ca-file FILE where an authority of the plant vouches for it',
    ].join('\n'),
    code: 'certificate_changed',
    accepted,
    sha256,
  });
}

function seenOf(socket: TLSSocket): Seen | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return undefined;
  const publicKey = certificate.publicKey.export({ type: 'spki', format: 'der' });
  const { authorizationError } = socket;
  const doubt = socket.authorized ? '' : String((authorizationError as Partial<NodeJS.ErrnoException> | null)?.code ?? authorizationError ?? 'unknown authority');
  return { sha256: digest(certificate.raw), publicKey: digest(publicKey), certificate, doubt };
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function lookAt(url: string): Promise<Seen> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port || 443), ...(isIP(host) === 0 ? { servername: host } : {}), rejectUnauthorized: false });
    const fail = (why: string): void => {
      socket.destroy();
      reject(new CommandError(EXIT.unreachable, 'no_answer', `${url} does not answer (${why}): is the address right, and does it speak TLS?`, { box: url }));
    };
    socket.setTimeout(LOOK_MS_MAX, () => fail(`nothing came for ${LOOK_MS_MAX / 1000} s`));
    socket.once('error', (fault: NodeJS.ErrnoException) => fail(fault.code ?? fault.message));
    socket.once('secureConnect', () => {
      const seen = seenOf(socket);
      if (!seen) return fail('it has no certificate');
      socket.destroy();
      resolve(seen);
    });
  });
}

/** A connection on which nothing is sent before the certificate is the one that is meant. */
class PinnedAgent extends Agent {
  readonly #trust: Trust;
  readonly #url: string;

  constructor(url: string, trust: Trust) {
    super({ keepAlive: true });
    this.#url = url;
    this.#trust = trust;
  }

  override createConnection(options: ConnectionOptions, call: (fault: Error | null, socket: Duplex) => void): null {
    const socket = connect({ ...options, rejectUnauthorized: false });
    const fail = (fault: Error): void => {
      socket.destroy();
      call(fault, socket);
    };
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      socket.off('error', fail);
      const seen = seenOf(socket);
      const { sha256, publicKey } = this.#trust;
      if (seen && (seen.sha256 === sha256 || seen.publicKey === publicKey)) return call(null, socket);
      fail(otherCertificate(this.#url, sha256, seen?.sha256 ?? ''));
    });
    return null;
  }
}

/** What sends requests to such a box; undefined where that of the platform does. */
export function fetchBy(url: string, trust: Trust | undefined): typeof fetch | undefined {
  if (trust === undefined || new URL(url).protocol !== 'https:') return undefined;
  const agent = trust.caFile === '' ? new PinnedAgent(url, trust) : new Agent({ keepAlive: true, ca: authorityOf(trust.caFile) });
  return (address, init) => fetched(agent, String(address), init);
}

function authorityOf(file: string): Buffer {
  return readFileSync(file);
}

/** Answers without a body (RFC 9110, 6.4.1). */
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304]);

function fetched(agent: Agent, address: string, { method = 'GET', headers, body, signal }: RequestInit = {}): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(address, { agent, method, headers: Object.fromEntries(new Headers(headers)), ...(signal ? { signal } : {}) }, (answer) => {
      const told = new Headers();
      for (const [name, value] of Object.entries(answer.headersDistinct)) for (const each of value ?? []) told.append(name, each);
      const { statusCode = 0 } = answer;
      const isEmpty = method === 'HEAD' || EMPTY.has(statusCode);
      if (isEmpty) answer.resume();
      resolve(new Response(isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>), { status: statusCode, headers: told }));
    });
    sent.once('error', reject);
    sent.end(typeof body === 'string' ? body : undefined);
  });
}
