/** Files that are the same for everyone, read once at start and answered with an ETag, compressed for who takes it. */
import { createHash } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { missing } from '../base/refusal.js';
import { JSON_MEDIA_TYPE, Reply } from './route.js';

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
export const PAGE_HEADERS = {
  'Content-Security-Policy': "default-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
} as const;

/** The content changes under its name: the browser asks each time whether it has. */
export const ASKED_EACH_TIME = 'no-cache';
/** The name changes with the content. */
export const KEPT = 'public, max-age=31536000, immutable';

export interface StaticFile {
  bytes(): Buffer;
  /** Compressed before anybody asks; undefined where that saves nothing. */
  readonly gzipped: Buffer | undefined;
  readonly mediaType: string;
  readonly etag: string;
}

export function serve(file: StaticFile | undefined, what: string, cacheControl: string, header: (name: string) => string | undefined): Reply {
  if (!file) throw missing('file', what);
  return served(file, { ...PAGE_HEADERS, 'Cache-Control': cacheControl }, header);
}

/** A JSON text that stays the same for as long as the process runs. */
export function constantJson(value: unknown): StaticFile {
  const bytes = Buffer.from(JSON.stringify(value));
  return { bytes: () => bytes, gzipped: gzipSync(bytes, { level: 9 }), mediaType: JSON_MEDIA_TYPE, etag: etagOf(bytes) };
}

/** As the body of a route: whoever has it asks whether it is still the same. */
export function serveConstant(file: StaticFile, header: (name: string) => string | undefined): Reply<never> {
  return served(file, { 'Cache-Control': ASKED_EACH_TIME }, header);
}

function served({ bytes, gzipped, mediaType, etag }: StaticFile, own: Readonly<Record<string, string>>, header: (name: string) => string | undefined): Reply<never> {
  const headers = { ...own, Vary: 'Accept-Encoding' };
  if (!gzipped || !takesGzip(header('accept-encoding') ?? '')) return new Reply<never>('ok', bytes(), { ...headers, ETag: etag }, mediaType);
  return new Reply<never>('ok', gzipped, { ...headers, ETag: etag.replace(/"$/, '-gzip"'), 'Content-Encoding': 'gzip' }, mediaType);
}

/** A panel on a slow line waits a third as long for its first view. `q=0` says no (RFC 9110, 12.5.3). */
export function takesGzip(accepted: string): boolean {
  return accepted.split(',').some((part) => /^\s*gzip\s*(;\s*q\s*=\s*(?!0(\.0*)?\s*$).*)?$/i.test(part));
}

/** Path below the folder -> file. What has no known ending (build marks and the like) is not served; a folder that is not there has no files. */
export function readFolder(folder: string): Map<string, StaticFile> {
  return read(folder, (name, bytes) => {
    const mediaType = MEDIA_TYPES[path.extname(name)];
    if (mediaType === undefined) return undefined;
    const packed = gzipSync(bytes, { level: 9 });
    return [name, { bytes: () => bytes, gzipped: packed.length < bytes.length * 0.9 ? packed : undefined, mediaType, etag: etagOf(bytes) }];
  });
}

/**
 * The same for a folder whose files lie packed (`modbus.html.gz` is `modbus.html`): the start packs nothing, and the first client that takes no gzip
 * waits for its page to be unpacked. It stays so: unpacking at each request would let a stranger spend the time of the gateway, and all pages
 * together are no more than the folder holds.
 */
export function readPackedFolder(folder: string): Map<string, StaticFile> {
  return read(folder, (packedName, gzipped) => {
    const name = packedName.replace(/\.gz$/, '');
    const mediaType = MEDIA_TYPES[path.extname(name)];
    if (mediaType === undefined || name === packedName) return undefined;
    let unpacked: Buffer | undefined;
    return [name, { bytes: () => (unpacked ??= gunzipSync(gzipped)), gzipped, mediaType, etag: etagOf(gzipped) }];
  });
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`;
}

/** Pages are no reason to keep a plant from starting: of a folder that is not there, or not for this user, there are none. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

type Take = (name: string, bytes: Buffer) => readonly [string, StaticFile] | undefined;

function read(folder: string, take: Take, prefix = '', found = new Map<string, StaticFile>()): Map<string, StaticFile> {
  for (const entry of entriesOf(folder)) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) read(full, take, `${prefix}${entry.name}/`, found);
    else {
      const taken = take(`${prefix}${entry.name}`, readFileSync(full));
      if (taken) found.set(...taken);
    }
  }
  return found;
}
