/**
 * The boxes that a person has signed in to, with their tokens: `$XDG_CONFIG_HOME/lineside/boxes.json`, readable by its owner alone.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import Database from '../../platform/base/sqlite.js';
import { EXIT, CommandError } from './outcome.js';
import { Trust } from './trust.js';

const KnownBox = v.object({
  url: v.string(),
  username: v.string(),
  /** '' where the box asks for no sign-in. */
  accessToken: v.string(),
  refreshToken: v.string(),
  /** What commands are about that name no site; '' for none. */
  site: v.string(),
  /** Whose certificate is taken for that of the box; absent with plain HTTP, and where the machine trusts it anyway. */
  trust: v.optional(Trust),
});
export type KnownBox = v.InferOutput<typeof KnownBox>;

const BoxFile = v.object({ current: v.string(), boxes: v.record(v.string(), KnownBox) });
type BoxFile = v.InferOutput<typeof BoxFile>;

const OWNER_ONLY = 0o600;
const LEFT_BEHIND = /^\.[0-9a-f-]{36}$/;
const WRITES_MS_MAX = 60_000;
const NONE: BoxFile = { current: '', boxes: {} };
/** Links behind one another; the system follows as many. */
const LINKS_MAX = 40;
/** Names that an object of JavaScript has a meaning for: whoever reads the file leaves them out. */
const UNFIT_NAMES: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);

export class KnownBoxes {
  readonly #file: string;
  readonly #say: (text: string) => void;
  #isToldUnlocked = false;

  /** @param say takes what concerns the person at the terminal. */
  constructor(folder = configFolder(), say: (text: string) => void = () => undefined) {
    this.#file = path.join(folder, 'boxes.json');
    this.#say = say;
  }

  get file(): string {
    return this.#file;
  }

  all(): BoxFile {
    if (!existsSync(this.#file)) return NONE;
    // somebody has copied or restored it: tokens are nobody else's
    if ((statSync(this.#file).mode & 0o077) !== 0) chmodSync(this.#file, OWNER_ONLY);
    try {
      return v.parse(BoxFile, JSON.parse(readFileSync(this.#file, 'utf8')));
    } catch (fault) {
      throw new CommandError(EXIT.usage, 'boxes_unreadable', `${this.#file} cannot be read (${(fault as Error).message}): remove it and sign in again`);
    }
  }

  /** By its name, or its address; the one signed in to last where nothing is named. */
  find(named: string | undefined): { readonly name: string; readonly box: KnownBox } | undefined {
    const { current, boxes } = this.all();
    const url = named === undefined ? undefined : addressOf(named);
    const name = named === undefined ? current : Object.hasOwn(boxes, named) ? named : Object.keys(boxes).find((each) => boxes[each]?.url === url);
    const box = name === undefined ? undefined : boxes[name];
    return name === undefined || box === undefined ? undefined : { name, box };
  }

  /** `current`: what is meant from now on where nothing is named. @throws CommandError for a name that no box can have. */
  keep(name: string, box: KnownBox, { current = false } = {}): void {
    checkName(name);
    this.#change((all) => ({ current: current || all.current === '' ? name : all.current, boxes: { ...all.boxes, [name]: box } }));
  }

  /** New tokens of the session that `refreshToken` is of: where somebody has signed in or out meanwhile, they are nobody's. */
  renew(name: string, refreshToken: string, tokens: Pick<KnownBox, 'accessToken' | 'refreshToken'>): void {
    this.#change(({ current, boxes }) => {
      const box = boxes[name];
      return box?.refreshToken === refreshToken ? { current, boxes: { ...boxes, [name]: { ...box, ...tokens } } } : undefined;
    });
  }

  forget(name: string): void {
    this.#change(({ current, boxes }) => {
      const { [name]: _gone, ...left } = boxes;
      return { current: current === name ? (Object.keys(left)[0] ?? '') : current, boxes: left };
    });
  }

  /** Commands at once change it one after the other, each what the one before it has left. */
  #change(changed: (all: BoxFile) => BoxFile | undefined): void {
    mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    const lock = locked(`${this.#file}.lock`);
    try {
      const file = changed(this.all());
      if (!file) return;
      this.#write(file);
      if (lock.unlockedBecause !== undefined) this.#tellUnlocked(lock.unlockedBecause);
    } finally {
      lock.release();
    }
  }

  #tellUnlocked(why: string): void {
    if (!this.#isToldUnlocked)
      this.#say(`lineside: ${this.#file} was written without a lock, so commands at once may lose a box: ${this.#file}.lock cannot be used (${why}); remove it`);
    this.#isToldUnlocked = true;
  }

  /** Beside the old one, then in its place: a command that is killed leaves the one or the other. What a link leads to is written, and the link stays. */
  #write(file: BoxFile): void {
    const target = linkedFile(this.#file);
    sweep(target);
    const beside = `${target}.${randomUUID()}`;
    try {
      writeFileSync(beside, `${JSON.stringify(file, null, 2)}\n`, { mode: OWNER_ONLY, flag: 'wx' });
      renameSync(beside, target);
    } catch (fault) {
      rmSync(beside, { force: true });
      throw fault;
    }
  }
}

/** @throws CommandError. Told before anybody is asked for a password. */
export function checkName(name: string): void {
  if (UNFIT_NAMES.has(name)) throw new CommandError(EXIT.usage, 'usage', `no box can be called ${name}: give it another name with --name`);
}

/** What the file leads to where it is a link, as people have it who keep their settings in one folder; also where nothing stands there yet. */
function linkedFile(file: string): string {
  let at = file;
  for (let links = 0; links < LINKS_MAX; links += 1) {
    const next = linkOf(at);
    if (next === undefined) return at;
    at = path.resolve(path.dirname(at), next);
  }
  return at;
}

function linkOf(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined; // it is a file, or not there
  }
}

/** What commands have left that were killed: there are tokens in it. One that writes at this moment is let alone. */
function sweep(file: string): void {
  const { dir, base } = path.parse(file);
  for (const name of readdirSync(dir)) {
    if (!name.startsWith(base) || !LEFT_BEHIND.test(name.slice(base.length))) continue;
    const left = path.join(dir, name);
    const stat = statSync(left, { throwIfNoEntry: false });
    if (stat && Date.now() - stat.mtimeMs > WRITES_MS_MAX) rmSync(left, { force: true });
  }
}

const LOCKED_MS_MAX = 10_000;

interface Lock {
  release(): void;
  /** What the system says, where there is none. */
  readonly unlockedBecause?: string;
}

/**
 * An exclusive lock of SQLite, as that of a data directory: the operating system gives it back when a command is killed.
 * @throws CommandError where another command holds it for longer than a write takes. A folder whose file system knows no locks is written without
 * one, and so is one where something else stands in the place of the lock.
 */
function locked(file: string): Lock {
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { timeout: LOCKED_MS_MAX });
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
  } catch (fault) {
    database?.close();
    if ((fault as { readonly code?: string }).code?.startsWith('SQLITE_BUSY') !== true) return { release: () => undefined, unlockedBecause: (fault as Error).message };
    throw new CommandError(EXIT.usage, 'boxes_locked', `another command has held ${file} for ${LOCKED_MS_MAX / 1000} s: end it, and try again`, { file });
  }
  return { release: () => void database.close() };
}

function configFolder(): string {
  const base = process.env.XDG_CONFIG_HOME;
  return path.join(base === undefined || base === '' ? path.join(homedir(), '.config') : base, 'lineside');
}

const PORT_DEFAULT = '8090';

/** `box`, `box:8090` and `http://box:8090/` are one address. @throws CommandError for what is none. */
export function addressOf(text: string): string {
  const whole = /^https?:\/\//.test(text) ? text : `http://${text}`;
  let url: URL;
  try {
    url = new URL(whole);
  } catch {
    throw new CommandError(EXIT.usage, 'usage', `${text} is no address: give one such as 192.168.1.20 or http://box:8090`);
  }
  // a plain name means the port of the product
  if (url.port === '' && url.protocol === 'http:' && !/:80(\/|$)/.test(whole)) url.port = PORT_DEFAULT;
  return url.origin;
}
