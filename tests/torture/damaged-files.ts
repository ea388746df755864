/**
 * Files of a data directory that are damaged while the box is off (goal G3, D-C-09): the start is refused or waits in rescue and names the
 * file and a way out, or the box starts and says what it found, and says it again at the next start: nothing is healed in silence.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { asked, copyOf, type Lived, lived, type Outcome, type Seen } from './appliances.js';
import type { Bench } from './bench.js';
import type { Round } from './scenario.js';

const PAGE_BYTES = 4096;
const FRAME_BYTES = PAGE_BYTES + 24; // of a WAL, behind its head
const WAL_HEAD_BYTES = 32;

/** The damaged directory, and what helps to damage it. */
interface Hand {
  readonly dir: string;
  readonly places: Lived;
  /** Between 0 and 1. */
  readonly random: () => number;
}

type Damage = (hand: Hand) => void;

interface Way {
  readonly what: string;
  readonly from: 'stopped' | 'killed';
  readonly damage: Damage;
  /** What it must be called by whoever refuses or tells. */
  readonly named: RegExp;
  /** Nothing that is kept is lost by it: the box may start and say nothing. */
  readonly harmless?: true;
  /** Said by the start that met it; the next one finds nothing any more, because what was lost is no evidence. */
  readonly once?: true;
}

const at = ({ dir }: Hand, name: string): string => path.join(dir, name);
const bytesOf = (hand: Hand, name: string): number => statSync(at(hand, name)).size;

function over(hand: Hand, name: string, offset: number, bytes: Buffer): void {
  const file = openSync(at(hand, name), 'r+');
  writeSync(file, bytes, 0, bytes.length, offset);
  closeSync(file);
}

function read(hand: Hand, name: string, offset: number, length: number): Buffer {
  const file = openSync(at(hand, name), 'r');
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, offset);
  closeSync(file);
  return bytes;
}

const deleted =
  (...names: string[]): Damage =>
  (hand) => {
    for (const name of names) rmSync(at(hand, name), { recursive: true });
  };
const emptied =
  (name: string): Damage =>
  (hand) =>
    truncateSync(at(hand, name), 0);
const cut =
  (name: string, share: (random: number) => number): Damage =>
  (hand) =>
    truncateSync(at(hand, name), Math.floor(bytesOf(hand, name) * share(hand.random())));
const cutBy =
  (name: string, bytes: number): Damage =>
  (hand) =>
    truncateSync(at(hand, name), bytesOf(hand, name) - bytes);
const zeroed =
  (name: string): Damage =>
  (hand) =>
    writeFileSync(at(hand, name), Buffer.alloc(bytesOf(hand, name)));
const text =
  (name: string): Damage =>
  (hand) =>
    writeFileSync(at(hand, name), 'this is something else\n'.repeat(400));
const flipped =
  (name: string, bits: number, from = 0): Damage =>
  (hand) => {
    for (let count = 0; count < bits; count += 1) {
      const offset = from + Math.floor(hand.random() * (bytesOf(hand, name) - from));
      const byte = read(hand, name, offset, 1);
      byte[0] = (byte[0] ?? 0) ^ (1 << Math.floor(hand.random() * 8));
      over(hand, name, offset, byte);
    }
  };
const replaced =
  (name: string, by: keyof Lived): Damage =>
  (hand) => {
    rmSync(at(hand, name), { recursive: true, force: true });
    cpSync(path.join(hand.places[by], name), at(hand, name), { recursive: true });
  };
const somePage = (hand: Hand, name: string): number => 1 + Math.floor(hand.random() * (bytesOf(hand, name) / PAGE_BYTES - 1));
const noise = ({ random }: Hand, length: number): Buffer => Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
const page =
  (name: string, bytes: (hand: Hand) => Buffer): Damage =>
  (hand) =>
    over(hand, name, somePage(hand, name) * PAGE_BYTES, bytes(hand));
const head =
  (name: string): Damage =>
  (hand) =>
    over(hand, name, 0, Buffer.alloc(100));
const swapped =
  (name: string): Damage =>
  (hand) => {
    const [one, two] = [somePage(hand, name) * PAGE_BYTES, somePage(hand, name) * PAGE_BYTES];
    const [first, second] = [read(hand, name, one, PAGE_BYTES), read(hand, name, two, PAGE_BYTES)];
    over(hand, name, one, second);
    over(hand, name, two, first);
  };
const grown =
  (name: string): Damage =>
  (hand) =>
    over(hand, name, bytesOf(hand, name), noise(hand, PAGE_BYTES));
const folder =
  (name: string): Damage =>
  (hand) => {
    renameSync(at(hand, name), at(hand, `${name}.away`));
    mkdirSync(at(hand, name));
  };
const pipe =
  (name: string): Damage =>
  (hand) => {
    renameSync(at(hand, name), at(hand, `${name}.away`));
    execFileSync('mkfifo', [at(hand, name)]);
  };
const link =
  (name: string): Damage =>
  (hand) => {
    renameSync(at(hand, name), at(hand, `${name}.away`));
    symlinkSync('/nowhere/at/all', at(hand, name));
  };
const frame =
  (bytes: (hand: Hand) => Buffer): Damage =>
  (hand) => {
    const frames = Math.floor((bytesOf(hand, WAL) - WAL_HEAD_BYTES) / FRAME_BYTES);
    // frames behind the end of the last round of the WAL are leftovers: the first third is surely in use
    over(hand, WAL, WAL_HEAD_BYTES + Math.floor((hand.random() * frames) / 3) * FRAME_BYTES + 24 + 8, bytes(hand));
  };
/** The one file that stands for all of its kind. */
const found = (hand: Hand, folder: string, like: RegExp): string => {
  const name = readdirSync(at(hand, folder)).find((each) => like.test(each));
  if (name === undefined) throw new Error(`there is no file ${like} in ${folder || 'the data directory'}`);
  return path.join(folder, name);
};
const archived =
  (damage: (name: string) => Damage): Damage =>
  (hand) =>
    damage(found(hand, ARCHIVE, /\.ndjson\.gz$/))(hand);
const journal =
  (damage: (name: string) => Damage): Damage =>
  (hand) =>
    damage(found(hand, '', /^historian-journal-\d+\.bin$/))(hand);

const STATE = 'state.db';
const WAL = 'state.db-wal';
const SHM = 'state.db-shm';
const HEAD = 'audit-head';
const ARCHIVE = 'audit-archive';
const HISTORIAN = 'historian.db';
const HMAC = 'keys/audit-hmac';
const DEVICE = 'keys/device-ed25519.pem';
const MARKER = 'keys/appliance.json';
const SEALED = 'keys/rows-sealed';

const ways = (from: Way['from'], named: RegExp, rows: readonly (readonly [what: string, damage: Damage])[], also: Pick<Way, 'harmless' | 'once'> = {}): readonly Way[] =>
  rows.map(([what, damage]) => ({ what, from, damage, named, ...also }));

const WAYS: readonly Way[] = [
  ...ways('stopped', /state\.db|resources|facts|audit|record|trail/, [
    ['state.db deleted', deleted(STATE)],
    ['state.db emptied', emptied(STATE)],
    ['state.db cut', cut(STATE, (random) => 0.05 + 0.9 * random)],
    ['state.db without its last page', cutBy(STATE, PAGE_BYTES)],
    ['the head of state.db zeroed', head(STATE)],
    ['state.db zeroed', zeroed(STATE)],
    ['a page of state.db zeroed', page(STATE, () => Buffer.alloc(PAGE_BYTES))],
    ['a page of state.db of noise', page(STATE, (hand) => noise(hand, PAGE_BYTES))],
    ['half a page of state.db of noise', page(STATE, (hand) => noise(hand, PAGE_BYTES / 2))],
    ['a bit of state.db flipped', flipped(STATE, 1, PAGE_BYTES)],
    ['sixteen bits of state.db flipped', flipped(STATE, 16, PAGE_BYTES)],
    ['two pages of state.db swapped', swapped(STATE)],
    ['state.db of text', text(STATE)],
    ['state.db of another appliance', replaced(STATE, 'foreign')],
    ['an older copy of state.db', replaced(STATE, 'older')],
    ['a folder in the place of state.db', folder(STATE)],
  ]),
  ...ways('stopped', /./, [['a page more in state.db', grown(STATE)]], { harmless: true }),
  ...ways('killed', /state\.db|audit|record|trail/, [
    ['the WAL deleted', deleted(WAL)],
    ['the WAL and its index deleted', deleted(WAL, SHM)],
    ['the WAL emptied', emptied(WAL)],
    ['the WAL cut', cut(WAL, (random) => 0.02 + 0.3 * random)],
    ['the head of the WAL zeroed', head(WAL)],
    ['a frame of the WAL zeroed', frame(() => Buffer.alloc(512))],
    ['a bit in a frame of the WAL flipped', frame(({ random }) => Buffer.from([1 << Math.floor(random() * 8)]))],
    ['the WAL of text', text(WAL)],
  ]),
  ...ways(
    'killed',
    /./,
    [
      ['the index of the WAL deleted', deleted(SHM)],
      ['the index of the WAL of noise', (hand) => writeFileSync(at(hand, SHM), noise(hand, 32_768))],
      ['the lock and the pid deleted', deleted('lock', 'pid')],
      ['a pid of text', text('pid')],
    ],
    { harmless: true },
  ),
  ...ways('stopped', /head/, [
    ['audit-head deleted', deleted(HEAD)],
    ['audit-head emptied', emptied(HEAD)],
    ['audit-head zeroed', zeroed(HEAD)],
    ['audit-head of another appliance', replaced(HEAD, 'foreign')],
    ['audit-head of text', text(HEAD)],
    ['a folder in the place of audit-head', folder(HEAD)],
    ['a pipe in the place of audit-head', pipe(HEAD)],
  ]),
  ...ways(
    'stopped',
    /./,
    [
      ['a bit of audit-head flipped', flipped(HEAD, 1)],
      ['an older audit-head', replaced(HEAD, 'older')],
    ],
    { harmless: true },
  ),
  ...ways('stopped', /key/, [
    ['the audit key deleted', deleted(HMAC)],
    ['the audit key cut', cut(HMAC, () => 0.5)],
    ['a bit of the audit key flipped', flipped(HMAC, 1)],
    ['the audit key of another appliance', replaced(HMAC, 'foreign')],
    ['the device key deleted', deleted(DEVICE)],
    ['a folder in the place of the audit key', folder(HMAC)],
    ['a link to nothing in the place of the device key', link(DEVICE)],
    ['the device key of text', text(DEVICE)],
    ['the device key of another appliance', replaced(DEVICE, 'foreign')],
    ['all keys deleted', deleted('keys')],
    ['all keys of another appliance', replaced('keys', 'foreign')],
  ]),
  ...ways('stopped', /appliance\.json|marker|appliance/, [
    ['the marker deleted', deleted(MARKER)],
    ['the marker of text', text(MARKER)],
    ['a folder in the place of the marker', folder(MARKER)],
  ]),
  ...ways(
    'stopped',
    /./,
    [
      ['the mark of the seals deleted', deleted(SEALED)],
      ['an older marker', replaced(MARKER, 'older')],
    ],
    { harmless: true },
  ),
  ...ways('stopped', /archive/i, [
    ['a file of the audit archive deleted', archived(deleted)],
    ['a file of the audit archive cut', archived((name) => cut(name, (random) => 0.1 + 0.8 * random))],
    ['a bit of a file of the audit archive flipped', archived((name) => flipped(name, 1))],
    ['a file of the audit archive of text', archived(text)],
    ['the audit archive deleted', deleted(ARCHIVE)],
  ]),
  ...ways(
    'stopped',
    /historian/,
    [
      ['the head of historian.db zeroed', head(HISTORIAN)],
      ['historian.db of text', text(HISTORIAN)],
      ['historian.db cut', cut(HISTORIAN, () => 0.5)],
      ['historian.db deleted', deleted(HISTORIAN)],
      ['historian.db emptied', emptied(HISTORIAN)],
      ['a folder in the place of historian.db', folder(HISTORIAN)],
      ['a folder in the place of a journal of the historian', journal(folder)],
    ],
    { once: true },
  ),
  ...ways('stopped', /historian/, [['a page of historian.db zeroed', page(HISTORIAN, () => Buffer.alloc(PAGE_BYTES))]], { harmless: true, once: true }),
  ...ways(
    'killed',
    /./,
    [
      ['a journal of the historian cut', journal((name) => cut(name, (random) => random))],
      ['a bit of a journal of the historian flipped', journal((name) => flipped(name, 1))],
      ['a journal of the historian of text', journal(text)],
    ],
    { harmless: true },
  ),
  ...ways('stopped', /lock/, [
    ['a lock of text', text('lock')],
    ['a folder in the place of the lock', folder('lock')],
  ]),
  ...ways('stopped', /config\.yaml/, [
    ['a config.yaml that is none', (hand) => writeFileSync(at(hand, 'config.yaml'), 'gateway: [unclosed\n')],
    ['a config.yaml that is a link to nothing', (hand) => symlinkSync('/nowhere/at/all', at(hand, 'config.yaml'))],
  ]),
];

export const DAMAGES = WAYS.length;

/** What whoever refuses has to say beside the file. */
const WAY_OUT = /accept-loss|restore|put back|remove|move|start again|correct|make it|delete/i;

export async function* damagedFiles(bench: Bench, rounds: number): AsyncIterable<Round> {
  const places = await lived(bench);
  const whole = { stopped: await wholeOf(bench, places.stopped), killed: await wholeOf(bench, places.killed) };
  // fewer rounds than ways: each of some other file
  const step = Math.max(1, Math.floor(WAYS.length / rounds));
  for (let round = 0; round < rounds; round += 1) {
    const way = WAYS[(round * step) % WAYS.length];
    if (way === undefined) return;
    const dir = copyOf(bench, places[way.from]);
    way.damage({ dir, places, random: bench.random });
    yield await judged(bench, dir, way, whole[way.from]);
  }
}

async function wholeOf(bench: Bench, from: string): Promise<Seen> {
  const box = await bench.appliance(copyOf(bench, from));
  const outcome = await asked(box);
  await box.end('SIGKILL');
  if (outcome.is !== 'started' || outcome.told !== '' || !outcome.seen) throw new Error(`a directory that nobody has damaged: ${JSON.stringify(outcome).slice(0, 500)}`);
  return outcome.seen;
}

async function judged(bench: Bench, dir: string, way: Way, whole: Seen): Promise<Round> {
  const box = await bench.appliance(dir);
  const first = await asked(box);
  await box.end(); // as an operator would, not knowing
  const problems = [...objections(way, first, whole)];
  if (first.is === 'started' && first.told !== '' && !way.once) {
    const again = await asked(box);
    await box.end('SIGKILL');
    problems.push(...objections(way, again, whole).map((text) => `at the second start: ${text}`));
    if (again.is === 'started' && again.told === '') problems.push(`the second start says nothing any more; the first said: ${first.told.slice(0, 300)}`);
  }
  if (existsSync(path.join(dir, 'core'))) problems.push('the process left a core');
  return { what: `${way.what}: ${first.is}${first.is === 'started' ? (first.told === '' ? ', nothing told' : ', told') : ''}`, inside: first.is, problems };
}

function objections(way: Way, outcome: Outcome, whole: Seen): readonly string[] {
  const problems: string[] = [];
  if (outcome.is === 'hung') return [`the start neither ended nor was ready: ${outcome.said.slice(-500)}`];
  if (outcome.is !== 'started') {
    if (!way.named.test(outcome.said)) problems.push(`it does not name what is wrong: ${outcome.said.slice(-400)}`);
    if (!WAY_OUT.test(outcome.said)) problems.push(`it names no way out: ${outcome.said.slice(-400)}`);
    if (/\n\s+at .*\.js:\d+/.test(outcome.said)) problems.push(`it ends with a stack: ${outcome.said.slice(-400)}`);
    return problems;
  }
  if (outcome.told !== '') return way.named.test(outcome.told) ? [] : [`what is told does not name it: ${outcome.told.slice(0, 400)}`];
  const { seen } = outcome;
  if (!seen) return ['it started, said nothing, and does not serve what it held'];
  for (const key of Object.keys(whole) as (keyof Seen)[]) {
    if (key === 'events') {
      const lost = whole.events.filter((line) => !seen.events.includes(line));
      if (lost.length > 0) problems.push(`said nothing, and ${lost.length} events are gone, the first: ${lost[0]}`);
    } else if (!isDeepStrictEqual(seen[key], whole[key])) problems.push(`said nothing, and ${key} are not what they were`);
  }
  if (problems.length === 0 && !way.harmless && !maySpare(way)) problems.push('said nothing, and everything it serves is as it was');
  return problems;
}

/** A bit, a page or a cut that chance has put where nothing is kept, and a WAL that a checkpoint had carried over whole before the kill: nothing of it is missed. */
function maySpare({ what }: Way): boolean {
  return /flipped|page|frame|WAL|state\.db cut|swapped/.test(what);
}
