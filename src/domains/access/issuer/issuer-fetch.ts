/**
 * Requests to the identity provider: what it answers is bounded in length and time, no redirect is followed, and its certificate is judged by
 * `auth.oidc.caFile` where that is given. Nothing that a token says becomes an address here.
 */
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';

const BYTES_MAX = 512 * 1024;
export const ISSUER_TIMEOUT_MS = 5000;

/** The identity provider did not answer as it should; the message is for people and holds nothing that was sent. */
export class IssuerFault extends Error {
  override readonly name = 'IssuerFault';
}

interface Asked {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
}

export type IssuerFetch = (address: string, asked?: Asked) => Promise<Response>;

/** @param ca certificate authorities in PEM; those of the system when undefined. */
export function issuerFetch(ca: string | undefined): IssuerFetch {
  return async (address, { method = 'GET', headers = {}, body } = {}) => {
    const url = new URL(address);
    const sent = bodyOf(body);
    const { status, fields, bytes } = await new Promise<{ status: number; fields: IncomingMessage['headers']; bytes: Buffer }>((resolve, reject) => {
      const options = { method, headers: { ...headers, ...(sent ? { 'content-length': String(Buffer.byteLength(sent)) } : {}) }, agent: false };
      const secure = { ...options, ...(ca === undefined ? {} : { ca }) };
      const fail = (why: string): void => {
        reject(new IssuerFault(`${url.origin} ${why}`));
        outgoing.destroy();
      };
      const outgoing = url.href.startsWith('https:') ? requestHttps(url, secure, take) : requestHttp(url, options, take);
      const timer = setTimeout(() => fail(`did not answer within ${ISSUER_TIMEOUT_MS / 1000} s`), ISSUER_TIMEOUT_MS);
      timer.unref();
      function take(incoming: IncomingMessage): void {
        const chunks: Buffer[] = [];
        let length = 0;
        incoming.on('data', (chunk: Buffer) => {
          length += chunk.length;
          if (length > BYTES_MAX) fail(`answers with more than ${BYTES_MAX} bytes`);
          else chunks.push(chunk);
        });
        incoming.on('error', () => fail('broke off its answer'));
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, fields: incoming.headers, bytes: Buffer.concat(chunks) }));
      }
      outgoing.on('close', () => clearTimeout(timer));
      outgoing.on('error', (fault: NodeJS.ErrnoException) => fail(`cannot be reached (${fault.code ?? 'the connection failed'})`));
      outgoing.end(sent);
    });
    if (status >= 300 && status < 400) throw new IssuerFault(`${url.origin} sends elsewhere (HTTP ${status}), which is not followed`);
    if (status >= 500 || status === 429) throw new IssuerFault(`${url.origin} answers HTTP ${status}`);
    if (status < 200) throw new IssuerFault(`${url.origin} does not speak HTTP`);
    const kept = Object.entries(fields).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as [string, string]] : []));
    return new Response(status === 204 ? null : new Uint8Array(bytes), { status, headers: kept });
  };
}

function bodyOf(body: unknown): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new IssuerFault('a request of this form is not made');
}
