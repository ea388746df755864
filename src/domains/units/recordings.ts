/**
 * Recordings of unit runtimes (ADR 0005): started and stopped here, written as their parts arrive, listed and handed out.
 * Beside each file stands its entry as JSON, so that a list needs no frame; an entry that says `Recording` without one under
 * way is a recording that a power cut or a dead worker has ended.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { guardedPromise } from '../../platform/base/guarded.js';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { RecordingPart, UnitOutbound } from '../../../runtime/port.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { WallMs } from '../../platform/base/times.js';
import type { Log } from '../../platform/base/log.js';
import { conflict, missing, Refusal } from '../../platform/base/refusal.js';
import { RecordingFile } from './recording-file.js';
import type { UnitLink } from '../placement/runtimes.js';

export const RecordingEntry = v.strictObject({
  id: v.string(),
  unit: v.string(),
  state: v.picklist(['Recording', 'Complete', 'Interrupted']),
  startedBy: v.string(),
  startedAt: v.string(),
  endedAt: v.string(),
  /** Why it ended: `stopped`, `duration`, `bytes`, `runtime-stopped`, `runtime-down`, `disk`; empty while it goes on. */
  ending: v.string(),
  firstScan: v.number(),
  lastScan: v.number(),
  /** Size of the file. */
  bytes: v.number(),
});
export type RecordingEntry = ToldBy<typeof RecordingEntry>;

nameSchemas({ RecordingEntry });

export interface RecordingSettings {
  readonly durationMaxMs: number;
  readonly bytesMax: number;
  /** Recordings kept per unit. */
  readonly keep: number;
}

export interface RecordingsParts {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: RecordingSettings;
  readonly storageLow: () => boolean;
  /** Stands in every recording. */
  readonly madeBy: string;
}

interface Active {
  readonly link: UnitLink;
  readonly file: RecordingFile;
  entry: RecordingEntry;
  /** Its end is being put on disk; until its entry says how it ended it is under way. */
  finishing: boolean;
  /** Settled by the first part and by the last one. */
  readonly started: PromiseWithResolver<void>;
  readonly ended: PromiseWithResolver<RecordingEntry>;
}

interface PromiseWithResolver<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (fault: Error) => void;
}

const ANSWER_TIMEOUT_MS = 5000;
const FILE = '.lsrec';

export class Recordings {
  readonly #parts: RecordingsParts;
  readonly #active = new Map<string, Active>();
  /** Units whose recording has been asked for and has no file yet. */
  readonly #opening = new Set<string>();

  constructor(parts: RecordingsParts) {
    this.#parts = parts;
  }

  /** @throws Refusal when one is under way, the disk is nearly full, or the worker does not answer. */
  async start(link: UnitLink, durationMs: number, startedBy: string): Promise<RecordingEntry> {
    const key = keyOf(link);
    if (this.#opening.has(key)) throw conflict('recording_active', `a recording of unit ${link.unit} is being started`);
    this.#opening.add(key);
    const active = await this.#open(link, startedBy).finally(() => this.#opening.delete(key));
    const { settings } = this.#parts;
    link.send({ type: 'record', recording: active.entry.id, durationMaxMs: Math.min(durationMs, settings.durationMaxMs), bytesMax: settings.bytesMax });
    await this.#answered(active, active.started.promise);
    return active.entry;
  }

  async #open(link: UnitLink, startedBy: string): Promise<Active> {
    const { clock, storageLow } = this.#parts;
    const key = keyOf(link);
    const before = this.#active.get(key);
    if (before?.finishing) await before.ended.promise;
    const underWay = this.#active.get(key);
    if (underWay) throw conflict('recording_active', `recording ${underWay.entry.id} of unit ${link.unit} is under way; stop it first`, { recording: underWay.entry.id });
    if (storageLow()) throw conflict('storage_low', 'the storage of the appliance is nearly full: a recording must not take the rest');
    const atMs = clock.wallMs();
    const folder = this.#folder(link.site, link.unit);
    mkdirSync(folder, { recursive: true, mode: 0o750 });
    this.#makeRoom(link.site, link.unit);
    const id = idOf(atMs);
    const entry: RecordingEntry = {
      id,
      unit: link.unit,
      state: 'Recording',
      startedBy,
      startedAt: timestamp(atMs),
      endedAt: '',
      ending: '',
      firstScan: 0,
      lastScan: 0,
      bytes: 0,
    };
    const active: Active = { link, entry, finishing: false, file: await RecordingFile.create(path.join(folder, id + FILE)), started: resolver(), ended: resolver() };
    this.#active.set(key, active);
    this.#save(active);
    return active;
  }

  async stop(link: UnitLink): Promise<RecordingEntry> {
    const active = this.#active.get(keyOf(link));
    if (!active) throw conflict('not_recording', `unit ${link.unit} is not being recorded`);
    if (!active.finishing) link.send({ type: 'record-stop', recording: active.entry.id });
    await this.#answered(active, active.ended.promise);
    return active.entry;
  }

  /** A worker that does not answer is not recorded any more. */
  async #answered<T>(active: Active, answer: Promise<T>): Promise<void> {
    const timeout = resolver<never>();
    const cancel = this.#parts.clock.after(ANSWER_TIMEOUT_MS, () =>
      timeout.reject(new Refusal('unavailable', `the runtime of unit ${active.link.unit} does not answer`, { code: 'runtime_unreachable', unit: active.link.unit })),
    );
    try {
      await Promise.race([answer, timeout.promise]);
    } catch (fault) {
      await this.#finish(active, 'runtime-down');
      throw fault;
    } finally {
      cancel();
    }
  }

  // ---------------------------------------------------------------- what the worker sends

  take(link: UnitLink, message: UnitOutbound): void {
    if (message.type !== 'recording') return;
    const active = this.#active.get(keyOf(link));
    if (active?.entry.id === message.recording && !active.finishing) this.#takePart(active, message.part);
  }

  #takePart(active: Active, part: RecordingPart): void {
    if (part.kind === 'refused') return active.started.reject(new Refusal('conflict', part.message, { code: 'recording_active' }));
    if (part.kind === 'start') active.entry = { ...active.entry, firstScan: part.start.scan + 1, lastScan: part.start.scan };
    if (part.kind === 'scans') active.entry = { ...active.entry, lastScan: part.last };
    guardedPromise('part of a recording', () =>
      active.file.add(part.kind === 'start' ? { ...part, start: { ...part.start, madeBy: this.#parts.madeBy } } : part).then(
        () => {
          if (part.kind === 'start') active.started.resolve();
        },
        (fault: Error) => this.#diskFailed(active, fault),
      ),
    );
    if (part.kind === 'end') guardedPromise('end of a recording', () => this.#finish(active, part.ending));
    // Hot swaps bring whole plans, which the worker does not count.
    else if (active.file.bytes > this.#parts.settings.bytesMax) active.link.send({ type: 'record-stop', recording: active.entry.id });
  }

  /** The worker is gone, and with it what it had not sent. */
  linkDown(link: UnitLink): void {
    const active = this.#active.get(keyOf(link));
    if (active) guardedPromise('end of a recording', () => this.#finish(active, 'runtime-down'));
  }

  #diskFailed(active: Active, fault: Error): void {
    this.#parts.log.error({ err: fault, unit: active.link.unit, recording: active.entry.id }, 'a recording could not be written');
    active.link.send({ type: 'record-stop', recording: active.entry.id });
    active.started.reject(new Refusal('unavailable', 'the recording could not be written', { code: 'storage_unavailable' }));
    guardedPromise('end of a recording', () => this.#finish(active, 'disk'));
  }

  async #finish(active: Active, ending: string): Promise<void> {
    if (active.finishing) return;
    active.finishing = true;
    const whole = await active.file.close().then(
      () => true,
      (err: unknown) => {
        this.#parts.log.error({ err, recording: active.entry.id }, 'the end of a recording could not be written');
        return false;
      },
    );
    const complete = whole && ending !== 'runtime-down' && ending !== 'disk' && ending !== 'fault';
    active.entry = { ...active.entry, state: complete ? 'Complete' : 'Interrupted', ending, endedAt: timestamp(this.#parts.clock.wallMs()), bytes: active.file.bytes };
    this.#save(active);
    const key = keyOf(active.link);
    if (this.#active.get(key) === active) this.#active.delete(key);
    active.ended.resolve(active.entry);
  }

  // ---------------------------------------------------------------- what there is

  /** The latest first. */
  list(site: string, unit: string): RecordingEntry[] {
    const active = this.#active.get(`${site}/${unit}`)?.entry;
    const folder = this.#folder(site, unit);
    if (!existsSync(folder)) return [];
    const ids = readdirSync(folder).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []));
    return ids
      .sort()
      .reverse()
      .flatMap((id) => (id === active?.id ? [active] : (readEntry(path.join(folder, `${id}.json`)) ?? [])));
  }

  /** @param id of a recording, or `latest`. */
  async read(site: string, unit: string, id: string): Promise<{ readonly entry: RecordingEntry; readonly bytes: Uint8Array }> {
    const entry = this.list(site, unit).find((candidate) => candidate.id === id || (id === 'latest' && candidate.state !== 'Recording'));
    if (!entry) throw missing('Recording', id);
    if (entry.state === 'Recording') throw conflict('recording_active', `recording ${id} is under way; stop it first`, { recording: id });
    return { entry, bytes: await readFile(path.join(this.#folder(site, unit), entry.id + FILE)) };
  }

  /** When the workers have stopped: what they sent last is on disk. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.#active.values()].map((active) => {
        guardedPromise('end of a recording', () => this.#finish(active, 'runtime-down'));
        return active.ended.promise;
      }),
    );
  }

  #folder(site: string, unit: string): string {
    return path.join(this.#parts.folder, site, unit);
  }

  #save(active: Active): void {
    const { site, unit } = active.link;
    try {
      writeFileSync(path.join(this.#folder(site, unit), `${active.entry.id}.json`), JSON.stringify(active.entry), { mode: 0o640 });
    } catch (err) {
      this.#parts.log.error({ err, recording: active.entry.id }, 'the entry of a recording could not be written');
    }
  }

  /** The oldest go, so that the next one is within the number kept. */
  #makeRoom(site: string, unit: string): void {
    const folder = this.#folder(site, unit);
    for (const { id } of this.list(site, unit).slice(this.#parts.settings.keep - 1)) {
      rmSync(path.join(folder, id + FILE), { force: true });
      rmSync(path.join(folder, `${id}.json`), { force: true });
    }
  }
}

function keyOf({ site, unit }: UnitLink): string {
  return `${site}/${unit}`;
}

/** `20261121t083128-123`: sorts by time, and is a name of the API. */
function idOf(wallMs: WallMs): string {
  return timestamp(wallMs).replace(/[-:]/g, '').replace('.', '-').replace('Z', '').toLowerCase();
}

/** Not one under way, or it would have been asked for its entry itself. */
function readEntry(file: string): RecordingEntry | undefined {
  try {
    const entry = JSON.parse(readFileSync(file, 'utf8')) as RecordingEntry;
    return entry.state === 'Recording' ? { ...entry, state: 'Interrupted', ending: 'runtime-down' } : entry;
  } catch {
    return undefined; // half written when the power went: its recording is not worth more
  }
}

function resolver<T>(): PromiseWithResolver<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (fault: Error) => void = () => undefined;
  const promise = new Promise<T>((onValue, onFault) => {
    resolve = onValue;
    reject = onFault;
  });
  promise.catch(() => undefined); // whoever waits sees it; nobody may be waiting
  return { promise, resolve, reject };
}
