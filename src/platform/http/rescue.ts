/**
 * The appliance in rescue (D-C-09): what was stored is missing or damaged, or the program failed again and again, so nothing
 * is driven and nothing is served but this: what is the matter, the ways on, and the documents. A server of its own, because there is no store, no account and no route.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { cacheControlOf, type Documents } from './documents.js';
import { listening, type Waiting } from './listen.js';
import type { TlsPair } from '../tls/certificate.js';
import { PAGE_HEADERS } from './static-files.js';

export interface RescueOptions extends Waiting {
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsPair;
  /** Why, in one sentence. */
  readonly why: string;
  /** What is missing or has failed, in sentences. */
  readonly losses: readonly string[];
  readonly waysOn: readonly string[];
  readonly documents: Documents;
}

export const STORAGE_LOST = 'what this appliance had stored is missing or damaged';

export interface RescueServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** From lost storage. `canGoOnWithout`: what is there may be put aside. */
export function waysOn(dataDir: string, canGoOnWithout = true): string[] {
  if (!canGoOnWithout) return [`put right what is told of ${dataDir} (room on the disk, rights, the version of lineside that wrote it) and start again; nothing in it was changed`];
  return [
    `put back what is missing into ${dataDir}, from a copy of it, and start again`,
    `or go on without it: lineside start --data-dir ${dataDir} --accept-loss; what is missing stays on record and a Critical alarm stands until an administrator acknowledges it`,
    'when no account is left either, add --new-admin-code: the console then shows a code for a first administrator',
    `or restore a backup of the box into an empty folder: lineside restore FILE --identity FILE --data-dir FOLDER, and start with that folder`,
  ];
}

export async function startRescue(options: RescueOptions): Promise<RescueServer> {
  const { tls, host, port } = options;
  const page = pageOf(options);
  const serve = (request: IncomingMessage, response: ServerResponse): void => answer(options, page, request, response);
  const server = tls ? createSecureServer({ ...tls, minVersion: 'TLSv1.2' }, serve) : createServer(serve);
  const attempt = (): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
  await listening({ host, port }, attempt, options);
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer({ why, losses, waysOn, documents }: RescueOptions, page: string, request: IncomingMessage, response: ServerResponse): void {
  const [pathname = ''] = (request.url ?? '/').split('?');
  const json = (status: number, body: unknown): void => {
    response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
    response.end(JSON.stringify(body));
  };
  request.resume();
  if (pathname === '/healthz') return json(200, { status: 'ok' });
  if (pathname === '/readyz') return json(503, { status: 'rescue', missing: losses, waysOn });
  if (pathname.startsWith('/api/')) {
    const error = `the appliance is in rescue: ${why}; nothing is driven and nothing else is served`;
    return json(503, { error, code: 'rescue', status: 503, missing: losses, waysOn });
  }
  const asked = /^\/docs(?:\/(.*))?$/.exec(pathname);
  const file = asked ? documents.file(asked[1] ?? '') : undefined;
  if (file) {
    const headers = { 'Content-Type': file.mediaType, 'Cache-Control': cacheControlOf(asked?.[1] ?? ''), 'X-Content-Type-Options': 'nosniff' };
    response.writeHead(200, { ...PAGE_HEADERS, ...headers });
    response.end(request.method === 'HEAD' ? undefined : file.bytes());
    return;
  }
  response.writeHead(503, {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; style-src '${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : page);
}

const STYLE = 'body{font:18px/1.5 sans-serif;max-width:48rem;margin:3rem auto;padding:0 1rem}h1{color:#b00020}';
/** The page has this one style and may have no other. */
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;

function pageOf({ why, losses, waysOn }: RescueOptions): string {
  const list = (texts: readonly string[]): string => texts.map((text) => `<li>${escaped(text)}</li>`).join('');
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Lineside: rescue</title>
<style>${STYLE}</style>
<h1>Rescue: no unit is driven</h1><p>${escaped(`${why.charAt(0).toUpperCase()}${why.slice(1)}`)}:</p><ul>${list(losses)}</ul><p>Ways on:</p><ol>${list(waysOn)}</ol><p><a href="/docs/operations/storage.html">What the box keeps, and what to do after a loss</a></p></html>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
