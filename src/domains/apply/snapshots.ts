/**
 * What was configured before each apply, kept in the data directory: the way back after one that was wrong. It holds what an export does, so no
 * secrets, and is no evidence: that is the audit trail, with every value before and after.
 *
 * Of each there are two files, the manifests and what is told of them; the second is written last, and what has none is no snapshot.
 */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip, gunzip } from 'node:zlib';
import * as v from 'valibot';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { Refusal } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { Turns } from '../../platform/base/slices.js';
import { syncFolder } from '../../platform/base/sync-folder.js';
import { parseLongJson } from '../../platform/http/long-json.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { Store } from '../../platform/store/store.js';
import { ExportedManifest, exportedJson } from './export.js';
import type { AppliedKinds } from './kinds.js';

const FOLDER = 'config-snapshots';
const NAME = /^snapshot-(\d{6})$/;
const TOLD = '.json';
const MANIFESTS = '.manifests.json.gz';
/** A plant of 5,000 manifests has some 20 MB. */
const TEXT_BYTES_MAX = 512 * 1024 ** 2;
/** Between two looks at the time. */
const HASHED_BYTES = 512 * 1024;

export const Snapshot = v.strictObject({
  name: v.string(),
  at: v.string(),
  /** Who applied then. */
  by: v.string(),
  /** By the approval of which change request; absent where there was none. */
  changeRequest: v.optional(v.string()),
  /** Of the file. */
  bytes: v.number(),
  /** Of the manifests as JSON, hex. */
  sha256: v.string(),
});
export type Snapshot = ToldBy<typeof Snapshot>;

nameSchemas({ Snapshot });

export interface SnapshotParts {
  readonly store: Store;
  readonly kinds: AppliedKinds;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly settings: { readonly snapshotsKept: number };
}

export class Snapshots {
  readonly #parts: SnapshotParts;
  readonly #folder: string;
  /** One is taken after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
    this.#folder = path.join(parts.dataDir, FOLDER);
  }

  /** Before something is applied. @returns why there is none; '' where it is kept, or none is wished. An apply may be what mends the box: it goes on without. */
  async take(by: Pick<Snapshot, 'by' | 'changeRequest'>): Promise<string> {
    if (this.#parts.settings.snapshotsKept === 0) return '';
    const taken = this.#last.then(() => this.#take(by));
    this.#last = taken.catch(() => undefined);
    try {
      await taken;
      return '';
    } catch (fault) {
      return `no snapshot of the configuration before this was kept: ${(fault as Error).message}`;
    }
  }

  /** The newest last. */
  async list(): Promise<Snapshot[]> {
    const files = await this.#files();
    const names = files.filter((file) => file.endsWith(TOLD)).map((file) => file.slice(0, -TOLD.length));
    const told = await Promise.all(names.filter((name) => NAME.test(name)).map((name) => this.#told(name)));
    return told.filter((snapshot) => snapshot !== undefined).sort((a, b) => numberOf(a.name) - numberOf(b.name));
  }

  /** @throws Refusal 404 `not_found`; 409 `snapshot_damaged` where the file is not what was written. */
  async read(name: string): Promise<readonly ExportedManifest[]> {
    const told = await this.#named(name);
    const { clock } = this.#parts;
    try {
      const text = await promisify(gunzip)(await readFile(this.#place(name, MANIFESTS)), { maxOutputLength: TEXT_BYTES_MAX });
      if ((await digestOf(text, clock)) !== told.sha256) throw new Error('its digest is another one');
      const read = await parseLongJson(text, clock, { max: Number.POSITIVE_INFINITY, bytesMax: TEXT_BYTES_MAX, namesMax: Number.POSITIVE_INFINITY });
      if (!Array.isArray(read)) throw new Error('it holds no list of manifests');
      const turns = new Turns(clock);
      for (const manifest of read) {
        if (!v.is(ExportedManifest, manifest)) throw new Error('it holds something that is no manifest');
        if (turns.isOver) await turns.next();
      }
      return read as ExportedManifest[];
    } catch (fault) {
      const message = `${name} cannot be used: ${(fault as Error).message}; take another one, or restore a backup`;
      throw new Refusal('conflict', message, { code: 'snapshot_damaged', snapshot: name });
    }
  }

  /** @throws Refusal 404 `not_found`. */
  async #named(name: string): Promise<Snapshot> {
    const told = NAME.test(name) ? await this.#told(name) : undefined;
    if (told) return told;
    throw new Refusal('missing', `there is no snapshot ${name}: GET /api/v1/snapshots lists those that are kept`, { code: 'not_found' });
  }

  async #take(by: Pick<Snapshot, 'by' | 'changeRequest'>): Promise<void> {
    const { store, kinds, clock, settings } = this.#parts;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const kept = await this.list();
    await this.#clear(kept);
    const name = `snapshot-${String(numberOf(kept.at(-1)?.name ?? '') + 1).padStart(6, '0')}`; // the clock may have been set: numbers are in the order of the applies
    const manifests = this.#place(name, MANIFESTS);
    const sum = createHash('sha256');
    const text = exportedJson(store, kinds, { status: false, visible: () => true }, clock);
    try {
      await pipeline(Readable.from(summed(text, sum)), createGzip(), createWriteStream(manifests, { mode: 0o600, flush: true }));
    } catch (fault) {
      await rm(manifests, { force: true }); // a full disk keeps no half of one
      throw fault;
    }
    const sha256 = sum.digest('hex');
    if (kept.at(-1)?.sha256 === sha256) return rm(manifests);
    const { size: bytes } = await stat(manifests);
    const told: Snapshot = { name, at: timestamp(clock.wallMs()), ...by, bytes, sha256 };
    const beside = this.#place(name, '.new');
    await writeFile(beside, JSON.stringify(told), { mode: 0o600, flush: true });
    await rename(beside, this.#place(name, TOLD));
    syncFolder(this.#folder);
    for (const old of [...kept, told].slice(0, -settings.snapshotsKept)) await this.#remove(old.name);
  }

  /** What a power cut left half written. */
  async #clear(kept: readonly Snapshot[]): Promise<void> {
    const names = new Set(kept.flatMap(({ name }) => [`${name}${TOLD}`, `${name}${MANIFESTS}`]));
    for (const file of await this.#files()) if (/^snapshot-\d+\./.test(file) && !names.has(file)) await rm(path.join(this.#folder, file), { force: true });
  }

  async #remove(name: string): Promise<void> {
    await rm(this.#place(name, TOLD), { force: true });
    await rm(this.#place(name, MANIFESTS), { force: true });
  }

  /** Undefined of one that is damaged, or of another version. */
  async #told(name: string): Promise<Snapshot | undefined> {
    try {
      const told = v.parse(Snapshot, JSON.parse(await readFile(this.#place(name, TOLD), 'utf8')));
      return told.name === name ? told : undefined;
    } catch {
      return undefined;
    }
  }

  async #files(): Promise<readonly string[]> {
    try {
      return await readdir(this.#folder);
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return []; // none was taken so far
      throw fault;
    }
  }

  #place(name: string, extension: string): string {
    return path.join(this.#folder, `${name}${extension}`);
  }
}

function numberOf(name: string): number {
  return Number(NAME.exec(name)?.[1] ?? 0);
}

/** In slices: of a large plant it takes a tenth of a second. */
async function digestOf(text: Buffer, clock: Clock): Promise<string> {
  const sum = createHash('sha256');
  const turns = new Turns(clock);
  for (let at = 0; at < text.length; at += HASHED_BYTES) {
    sum.update(text.subarray(at, at + HASHED_BYTES));
    if (turns.isOver) await turns.next();
  }
  return sum.digest('hex');
}

async function* summed(texts: AsyncIterable<string>, sum: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
  for await (const text of texts) {
    const bytes = Buffer.from(text);
    sum.update(bytes);
    yield bytes;
  }
}
