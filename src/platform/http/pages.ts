/**
 * Probes, pages and their assets (contract 1, What the service does 1 and 3; decisions Q-TIER-09, D-GEN-01). The pages are
 * static files without plant data, read once at start from the built consoles; all data comes through the API.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { missing } from '../base/refusal.js';
import { UwsReply } from './uws-reply.js';
import { Reply, type Route, type RouteSet, routeSet, routesFor } from './route.js';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
  '.map': 'application/json; charset=utf-8',
};

/** D-ERR-05. */
const PAGE_HEADERS = {
  'Content-Security-Policy': "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
} as const;

const PAGES = ['login', 'hmi', 'data'] as const;

interface StaticFile {
  readonly bytes: Buffer;
  /** Compressed once at start; undefined where that saves nothing. */
  readonly gzipped: Buffer | undefined;
  readonly mediaType: string;
  readonly etag: string;
}

export interface Pages {
  /** 503 on `/readyz` until true: `starting`, or what has gone wrong since. */
  ready(): boolean;
  started(): boolean;
  /** Why the storage refuses changes; '' while it does not. */
  refusedBecause(): string;
  page(name: string): StaticFile | undefined;
  asset(name: string): StaticFile | undefined;
}

const route = routesFor<Pages>();
const open = { action: '-', tier: 'none' } as const;

const STARTING = '{"status":"starting"}';
const refusing = (reason: string): string => {
  const message = `the storage refuses changes: nothing can be changed or recorded until it accepts them again; control goes on${reason === '' ? '' : `. Reason: ${reason}`}`;
  return JSON.stringify({ status: 'storage_unavailable', message });
};

export const PAGE_ROUTES: readonly Route<Pages>[] = [
  route({ method: 'GET', path: '/healthz', ...open, summary: 'Liveness', handle: () => ({ status: 'ok' }) }),
  route({
    method: 'GET',
    path: '/readyz',
    ...open,
    summary: 'Readiness',
    handle: (_, pages) => (pages.ready() ? { status: 'ok' } : new UwsReply(503, pages.started() ? refusing(pages.refusedBecause()) : STARTING, { 'Retry-After': '1' })),
  }),
  route({ method: 'GET', path: '/', ...open, summary: 'To the operator console', handle: () => new Reply('redirect', undefined, { Location: '/hmi' }) }),
  ...PAGES.map((name) =>
    route({ method: 'GET', path: `/${name}`, ...open, summary: `Page ${name}`, handle: ({ header }, pages) => serve(pages.page(name), `page ${name}`, 'no-cache', header) }),
  ),
  route({
    method: 'GET',
    path: '/assets/{file...}',
    ...open,
    summary: 'Assets of the pages',
    handle: ({ params, header }, pages) => serve(pages.asset(params.file), `asset ${params.file}`, 'public, max-age=31536000, immutable', header),
  }),
];

function serve(file: StaticFile | undefined, what: string, cacheControl: string, header: (name: string) => string | undefined): Reply {
  if (!file) throw missing('file', what);
  const { bytes, gzipped, etag, mediaType } = file;
  const headers = { ...PAGE_HEADERS, 'Cache-Control': cacheControl, Vary: 'Accept-Encoding' };
  if (!gzipped || !takesGzip(header('accept-encoding') ?? '')) return new Reply('ok', bytes, { ...headers, ETag: etag }, mediaType);
  return new Reply('ok', gzipped, { ...headers, ETag: etag.replace(/"$/, '-gzip"'), 'Content-Encoding': 'gzip' }, mediaType);
}

/** A panel on a slow line waits a third as long for its first view. `q=0` says no (RFC 9110, 12.5.3). */
export function takesGzip(accepted: string): boolean {
  return accepted.split(',').some((part) => /^\s*gzip\s*(;\s*q\s*=\s*(?!0(\.0*)?\s*$).*)?$/i.test(part));
}

/**
 * @param folder the built consoles: `login/index.html` or `login.html`, assets in any folder named `assets`.
 */
export function pageRoutes(folder: string, ready: () => boolean, started: () => boolean, refusedBecause: () => string): RouteSet {
  const files = readFolder(folder);
  const assets = new Map<string, StaticFile>();
  for (const [name, file] of files) {
    const at = name.lastIndexOf('assets/');
    if (at >= 0) assets.set(name.slice(at + 'assets/'.length), file);
  }
  const deps: Pages = {
    ready,
    started,
    refusedBecause,
    page: (name) => files.get(`${name}/index.html`) ?? files.get(`${name}.html`),
    asset: (name) => assets.get(name),
  };
  return routeSet(PAGE_ROUTES, deps);
}

function readFolder(folder: string, prefix = '', found = new Map<string, StaticFile>()): Map<string, StaticFile> {
  if (!existsSync(folder)) return found;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) readFolder(full, `${prefix}${entry.name}/`, found);
    else {
      const mediaType = MEDIA_TYPES[path.extname(entry.name)];
      if (mediaType === undefined) continue; // build marks and the like are not served
      const bytes = readFileSync(full);
      const packed = gzipSync(bytes, { level: 9 });
      const gzipped = packed.length < bytes.length * 0.9 ? packed : undefined;
      found.set(`${prefix}${entry.name}`, { bytes, gzipped, mediaType, etag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"` });
    }
  }
  return found;
}
