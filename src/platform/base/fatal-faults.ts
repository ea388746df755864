/**
 * Faults of this program that nobody caught, each of which has ended the process: kept beside the data over the starts that a
 * supervisor makes, so that an appliance that fails again and again stays in rescue, in place of cycling the outputs of the plant.
 *
 * They are counted by the build: another version is another program, and drives the plant again. Between two processes
 * elapsed time is known as long as the machine has not been started anew, which is what `boot` says.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { type Clock, timestamp } from './clock.js';
import { obstacleOf, readDataFileIfUsable } from './data-file.js';
import { putAside } from './put-aside.js';
import type { DurationMs } from './times.js';

/** More than this in WINDOW_MS are not started again. */
const FAULTS_MAX = 3;
const WINDOW_MS = 10 * 60_000;
const TEXT_MAX = 500;

const Entries = v.array(
  v.object({ at: v.string(), build: v.string(), boot: v.string(), monoMs: v.number(), fault: v.string(), told: v.boolean(), hungMs: v.optional(v.number()) }),
);
type Entry = v.InferOutput<typeof Entries>[number];

export interface FatalFaults {
  /** The last one, in a sentence, for the run that follows it; else empty. */
  readonly last: string;
  /** Those that leave the appliance in rescue, in sentences; empty: it may drive. */
  readonly repeated: readonly string[];
  /** From now on it is told by this run, and not by the next. */
  told(): void;
  /** `hungMs`: so long nothing happened before it; a start that hangs takes longer than WINDOW_MS, and four in a row are a row all the same. */
  note(fault: unknown, hungMs?: DurationMs): void;
  /** Somebody takes the answer for it that the plant is driven again. */
  forget(): void;
}

export function waysOnFromFaults(dataDir: string): string[] {
  return [
    'send the log of the last starts to whoever maintains this program: each fault is in it with its stack',
    'or start another version of it, which drives the plant again',
    `or drive the plant with this one all the same: lineside start --data-dir ${dataDir} --accept-faults`,
  ];
}

export function openFatalFaults(dataDir: string, build: string, clock: Pick<Clock, 'wallMs' | 'monoMs'>): FatalFaults {
  const file = path.join(dataDir, 'faults.json');
  const obstacle = obstacleOf(file, { to: 'read' });
  if (obstacle) {
    // else the next faults could not be counted
    const aside = obstacle.isOutOfReach ? undefined : putAside(dataDir, 'faults.json', timestamp(clock.wallMs()));
    console.error(`${file} ${obstacle.is}: faults before this start are not counted${aside === undefined ? '' : `; it is kept as ${aside}`}`);
  }
  let entries = read(file);
  const last = entries.at(-1);
  const untold = last && !last.told ? sentence(last) : '';
  const keep = (next: readonly Entry[]): void => {
    entries = [...next];
    try {
      writeFileSync(`${file}.new`, JSON.stringify(entries), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    } catch (fault) {
      console.error(`${file} cannot be written: ${(fault as Error).message}`);
    }
  };
  return {
    last: untold,
    get repeated() {
      return areRepeated(entries, build) ? entries.map(sentence) : [];
    },
    told() {
      if (untold !== '') keep(entries.map((entry) => ({ ...entry, told: true })));
    },
    note(fault, hungMs = 0) {
      const text = (fault instanceof Error ? fault.message : String(fault)).slice(0, TEXT_MAX);
      const entry = { at: timestamp(clock.wallMs()), build, boot: bootOfMachine(), monoMs: clock.monoMs(), fault: text, told: false, ...(hungMs > 0 ? { hungMs } : {}) };
      keep([...entries, entry].slice(-(FAULTS_MAX + 1)));
    },
    forget() {
      entries = [];
      rmSync(file, { force: true });
    },
  };
}

function areRepeated(entries: readonly Entry[], build: string): boolean {
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last || entries.length <= FAULTS_MAX) return false;
  const hungMs = entries.slice(1).reduce((total, entry) => total + (entry.hungMs ?? 0), 0);
  return entries.every((entry) => entry.build === build && entry.boot === first.boot) && last.monoMs - first.monoMs - hungMs < WINDOW_MS;
}

function sentence({ at, fault }: Entry): string {
  return `the appliance ended at ${at} by a fault of its own: ${fault}`;
}

/** A file that cannot be read counts nothing: it must not keep an appliance from its plant. */
function read(file: string): Entry[] {
  try {
    const parsed = v.safeParse(Entries, JSON.parse(readDataFileIfUsable(file)?.toString('utf8') ?? '[]'));
    return parsed.success ? parsed.output : [];
  } catch {
    return [];
  }
}

/** Empty where the system does not say: then a machine that was started anew counts as the one before. */
function bootOfMachine(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
