/** docs/reference/costs.md: the tables of what was measured, with the machine and the commit. */
import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

/** A difference and how far the rounds lie from it either way; undecided where it is less than that. Of what was looked at once there is no noise. */
export interface Figure {
  readonly value: number;
  readonly noise?: number;
}

export interface StandingRow {
  readonly what: string;
  readonly load: string;
  /** The row below which it was measured. */
  readonly beyond: string;
  /** Why there are no figures. */
  readonly absent?: string;
  readonly memoryMb?: Figure;
  readonly msPerSecond?: Figure;
  readonly startMs?: Figure;
  readonly dataKb?: Figure;
}

export interface LoadRow {
  readonly what: string;
  readonly load: string;
  readonly each: string;
  readonly msPerSecond: Figure;
  readonly perOneMs?: Figure;
  readonly memoryMb: Figure;
  readonly perOneKb?: Figure;
}

export interface CodeRow {
  readonly folder: string;
  readonly kb: number;
}

export interface Costs {
  readonly standing: readonly StandingRow[];
  readonly loads: readonly LoadRow[];
  readonly code: readonly CodeRow[];
  readonly rounds: number;
}

function shown({ value, noise }: Figure): string {
  if (noise === undefined) return number(value);
  // nothing gives back what it has never taken
  if (value <= noise) return `below the noise of ${number(Math.max(noise, Math.abs(value)))}`;
  return `${number(value)} ± ${number(noise)}`;
}

export function number(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : size >= 0.001 ? 4 : 0);
}

const cell = (figure: Figure | undefined): string => (figure === undefined ? '' : shown(figure));

export function standingTable(rows: readonly StandingRow[]): string {
  const lines = rows.map(({ what, load, beyond, absent, memoryMb, msPerSecond, startMs, dataKb }) =>
    absent === undefined
      ? `| ${what} | ${load} | ${beyond} | ${cell(memoryMb)} | ${cell(msPerSecond)} | ${cell(startMs)} | ${cell(dataKb)} |`
      : `| ${what} | ${load} | ${beyond} | not measured: ${absent} | | | |`,
  );
  return [
    '| one of what | where so many are | beside | memory, MB | processor, ms per second | start to ready, ms of the processor | data directory, kB |',
    '|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}

export function loadTable(rows: readonly LoadRow[]): string {
  const lines = rows.map(
    ({ what, load, each, msPerSecond, perOneMs, memoryMb, perOneKb }) =>
      `| ${what} | ${load} | ${shown(msPerSecond)} | ${perOneMs ? `${shown(perOneMs)} per ${each}` : ''} | ${shown(memoryMb)} | ${perOneKb ? `${shown(perOneKb)} per ${each}` : ''} |`,
  );
  return ['| what | load | processor, ms per second | of it each, ms | memory after it, MB | data directory, kB |', '|---|---|---|---|---|---|', ...lines].join('\n');
}

/** What a plant of units with simulated or Modbus devices takes, by the rows of the first table. */
interface Plant {
  readonly units: number;
  readonly memoryMb: number;
  readonly msPerSecond: number;
}

const THREADS = 12;
/** For the system, its cache of files, and what a copy or a verification takes for a while. */
const leftFreeMb = (boxMb: number): number => Math.max(512, boxMb / 4);
/** Half a core: the rest is for people, batches and the MES. */
const STANDING_MS_PER_SECOND_MAX = 500;
const TAGS_PER_UNIT = 50;
const BOXES_MB = [1024, 2048, 4096, 8192];

function plantOf(units: number, of: (what: string) => StandingRow): Plant {
  const [box, own, sharing, device] = [of('the box itself'), of('unit with a thread of its own'), of('unit that shares a thread'), of('Modbus TCP, and what moving values take')];
  const sum = (figure: 'memoryMb' | 'msPerSecond'): number => {
    const value = (row: StandingRow): number => Math.max(0, row[figure]?.value ?? Number.NaN);
    return value(box) + Math.min(units, THREADS) * value(own) + Math.max(0, units - THREADS) * value(sharing) + units * value(device);
  };
  return { units, memoryMb: sum('memoryMb'), msPerSecond: sum('msPerSecond') };
}

/** Computed: nothing of it was measured as a whole. */
export function sizingTable(rows: readonly StandingRow[]): string {
  const of = (what: string): StandingRow => rows.find((row) => row.what === what) ?? { what, load: '', beyond: '' };
  const lines = BOXES_MB.map((boxMb) => {
    const fits = ({ memoryMb, msPerSecond }: Plant): boolean => memoryMb <= boxMb - leftFreeMb(boxMb) && msPerSecond <= STANDING_MS_PER_SECOND_MAX;
    let found: Plant | undefined;
    for (let units = 1; units <= 1000; units += 1) {
      const plant = plantOf(units, of);
      if (!fits(plant)) break;
      found = plant;
    }
    const gigabytes = `${boxMb / 1024} GB`;
    if (found === undefined) return `| ${gigabytes} | none | | | |`;
    const bound = found.units === 1000 ? 'nothing' : plantOf(found.units + 1, of).msPerSecond > STANDING_MS_PER_SECOND_MAX ? 'processor' : 'memory';
    return `| ${gigabytes} | ${found.units} | ${found.units * TAGS_PER_UNIT} | ${number(found.memoryMb)} MB, ${number(found.msPerSecond / 10)} % of a core | ${bound} |`;
  });
  return ['| box | units | tags | they take | what ends first |', '|---|---|---|---|---|', ...lines].join('\n');
}

export function codeTable(rows: readonly CodeRow[]): string {
  return ['| folder | kB |', '|---|---|', ...rows.map(({ folder, kb }) => `| \`${folder}\` | ${number(kb)} |`)].join('\n');
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}

/** The machine, the day, the commit. */
function where(): string {
  const changed = git('status', '--porcelain', '--', 'src', 'runtime', 'scripts') === '' ? '' : ' with changes';
  const [cpu] = cpus();
  return `${cpus().length} cores of ${cpu?.model.trim() ?? 'an unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}, commit ${git('rev-parse', '--short', 'HEAD')}${changed}`;
}

export function page({ standing, loads, code, rounds }: Costs): string {
  return `# What each part costs the box

Written by \`npm run bench costs\` from what it measured; do not edit. Measured on ${where()}.

A box is the product as its service starts it, with the settings as shipped but where a row says otherwise. Memory is what the process has resident (it holds pages of
files that others share), processor is that of all threads together: 10 ms per second are one per cent of one core. A figure is the median of ${rounds} rounds, and what stands behind ± is
half of what lies between the least and the most of them. Where a difference is less than that it cannot be told apart from the noise, and the table says so; it is not zero.

## What costs by being there

Boxes with it and without it, each on its own data directory, are started again round by round, and looked at together half a minute after the last start. Figures are of
one: the difference, by the number there was.

${standingTable(standing)}

Start is what the processor takes, all threads together, until the box answers that it is ready; units go on to be loaded after that. By the clock a start is
in [benchmarks](../benchmarks.md) of the tree. The data directory is that of a box that was stopped in order a minute or so after it was
set up; it grows by what the other table tells, and by the historian.

A part is divided by its number, also what comes once with the first of them: SQLite fills its cache of pages (16 MB for each database at most), and the threads that load and
verify grow their heaps. Of the memory of 240 past batches nearly all is that: the heap of the gateway is 1.6 MB larger for them. 100,000 take 105 MB in a bench without the verification (\`npm run bench past\`).

## How many units a box takes: computed

From the rows above, not measured as a whole: the box, ${THREADS} units with threads of their own, further ones that share, each with ${TAGS_PER_UNIT} tags at 100 ms and a Modbus device of 10 registers, with a quarter of the memory
(512 MB at least) left for the system and half a core of what stands always. The hardware profile of the box may promise less ([hardware profiles](hardware-profiles.md)); what it promises is held.

${sizingTable(standing)}

## What costs by being asked for

One box with ${'twelve'} units, simulated devices and values that move; seconds with the load and seconds without it, in turns.

${loadTable(loads)}

Memory is what the process had more at the end of seconds with the load than at the end of those without it: what is collected later is in it.

## What it costs the package

Code by the folder that it comes from, as the programs of the package hold it (the command, and each thread that it starts); what two programs hold counts twice. Consoles and documents are
served as they lie there. Modules of others (SQLite, uWebSockets.js and so on) come on top.

${codeTable(code)}

Parts without a row in the tables above do nothing by themselves: plant, procedures, logic, coordination, signatures and edge controllers are resources (a recipe is one), and what they do
when they are asked is a read or a write as in the second table.
`;
}
