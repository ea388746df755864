/**
 * A process for tests that kill it or take its disk away: `node ledger-child.js commit|past|disk-full|archive|archive-full <dataDir>`. What it
 * reports on stdout it reports with a synchronous write, so that a kill cannot swallow it.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import * as v from 'valibot';
import type { Clock } from '../../src/platform/base/clock.js';
import { auditName } from '../../src/platform/base/audit-name.js';
import type { Refusal } from '../../src/platform/base/refusal.js';
import { archiveFolder } from '../../src/platform/ledger/archive-format.js';
import { Archiver } from '../../src/platform/ledger/archiver.js';
import { openLedger, type ThreadLedger } from '../../src/platform/ledger/ledger.js';
import type { Ledger } from '../../src/platform/ledger/protocol.js';
import type { UnchainedAudit } from '../../src/platform/store/audit-record.js';
import { openQueries } from '../../src/platform/ledger/queries.js';
import { component } from '../../src/platform/store/audit-record.js';
import type { Kind } from '../../src/platform/store/kind.js';
import { PastRows } from '../../src/platform/store/past-rows.js';
import { type Change, type Past, Store } from '../../src/platform/store/store.js';
import { at, leading } from './at.js';

const CALLERS = 20;
const IN_A_MOMENT_MS = 10;

const base = { group: 'system', scope: 'site', action: 'note', body: 'flat', apply: { how: 'yes' } } as const;

export const Note: Kind<{ text: string }, { seen: number }> = {
  ...base,
  kind: 'Note',
  spec: v.object({ text: v.string() }),
  initialStatus: () => ({ seen: 0 }),
};

/** Real time, but nothing is waited for longer than a moment. */
const hastyClock: Clock = {
  wallMs: () => Date.now(),
  monoMs: () => performance.now(),
  after(delayMs, call) {
    const timer = setTimeout(call, Math.min(delayMs, IN_A_MOMENT_MS));
    return () => clearTimeout(timer);
  },
};

/** Somebody else uses an audit number: the ledger refuses the change that would have had it, because it does not follow. */
export async function takeAuditNumber(ledger: Ledger, sequence: number): Promise<void> {
  const record: UnchainedAudit = {
    name: auditName(sequence),
    sequence,
    timestamp: '2026-01-31T09:00:00.000Z',
    site: '',
    accountId: '',
    displayName: '',
    actorType: 'component',
    action: 'Create',
    category: '',
    target: { kind: '', name: '', site: '' },
    result: 'Success',
    correlationID: '',
  };
  await ledger.commit({ puts: [], removes: [], audits: [record], facts: [], nonces: [] });
}

export function noteChange(name: string, text: string): Change {
  return {
    puts: [{ kind: Note, site: 'north', name, spec: { text } }],
    audits: [
      {
        site: 'north',
        actor: component('test'),
        action: 'Update',
        category: 'note',
        target: { kind: 'Note', name, site: 'north' },
        result: 'Success',
        correlationID: `c-${name}`,
      },
    ],
    facts: [{ stream: 'notes/north', body: (sequence) => ({ sequence, name }) }],
  };
}

function report(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

/** Writes until it is killed; reports every record it was told is on disk. */
async function commitForever(dataDir: string): Promise<void> {
  const store = new Store(await openLedger(dataDir), hastyClock);
  await store.open(0);
  const start = store.auditSequence;
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let turn = 1; ; turn += 1) {
        const name = `n${(start + caller * 1000 + turn) % 500}`;
        const applied = await store.write(noteChange(name, `${caller}-${turn}`));
        report({ audit: applied.auditNames[0], fact: applied.factSequences[0], version: at(applied.resources, 0).metadata.resourceVersion });
      }
    }),
  );
}

/** A run with its steps and its facts; past ones are found by their entry. */
export const Run: Kind<{ order: string }, { settled: boolean }> = {
  ...base,
  kind: 'Run',
  spec: v.object({ order: v.string() }),
  initialStatus: () => ({ settled: false }),
  pastIndex: ({ spec }) => ({ order: spec.order }),
  streams: (site, name) => [`events/${site}/${name}`],
};
export const RUN_STEPS = 3;
export const RUN_FACTS = 5;

export function runOf(name: string): Past {
  const site = 'north';
  const steps = Array.from({ length: RUN_STEPS }, (_, step) => ({ kind: 'Note', site, name: `${name}-${step}` }));
  return { run: { kind: 'Run', site, name }, members: [{ kind: 'Run', site, name }, ...steps], streams: [`events/${site}/${name}`] };
}

/** Makes runs, marks them, brings some back and marks them again, many at a time, until it is killed; reports what it was told is on disk. */
async function pastForever(dataDir: string): Promise<void> {
  const store = new Store(await openLedger(dataDir), hastyClock, undefined, [Note, Run]);
  await store.open(0);
  const past = new PastRows(
    store,
    openQueries(dataDir, () => store.recorded),
  );
  const start = store.resourceVersion;
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let turn = 1; ; turn += 1) {
        const name = `r${start}-${caller}-${turn}`;
        const of = runOf(name);
        const [, ...steps] = of.members;
        await store.write({
          puts: [{ kind: Run, site: 'north', name, spec: { order: name } }, ...steps.map((step) => ({ kind: Note, site: step.site, name: step.name, spec: { text: name } }))],
          facts: of.streams.flatMap((stream) => Array.from({ length: RUN_FACTS }, () => ({ stream, body: (id: number) => ({ id }) }))),
        });
        const mark = (): Promise<unknown> => store.write({ puts: [{ kind: Run, site: 'north', name, status: { settled: true } }], pasts: [of] });
        await mark();
        report({ name, is: 'past' });
        if (turn % 3 !== 0) continue;
        report({ name, is: 'either' });
        await past.bringBack(of.run);
        report({ name, is: 'present' });
        if (turn % 2 !== 0) continue;
        report({ name, is: 'either' });
        await mark();
        report({ name, is: 'past' });
      }
    }),
  );
}

function limitFiles(bytes: number | 'unlimited'): void {
  execFileSync('prlimit', [`--pid=${process.pid}`, `--fsize=${bytes}:unlimited`]);
}

/** Fills its disk, keeps asking, gets space again. */
async function fillDisk(dataDir: string): Promise<void> {
  const ledger = await openLedger(dataDir);
  const store = new Store(ledger, hastyClock);
  await store.open(0);
  for (let index = 0; index < 5; index += 1) await store.write(noteChange(`before-${index}`, 'x'));
  let reloads = 0;
  store.watchReload(() => {
    reloads += 1;
  });
  limitFiles(statSync(path.join(dataDir, 'state.db-wal')).size + 1_000_000);
  const acknowledged: string[] = [];
  let refusal: Refusal | undefined;
  for (let index = 0; !refusal; index += 1) {
    await store.write(noteChange(`full-${index}`, 'y'.repeat(8000))).then(
      () => acknowledged.push(`full-${index}`),
      (fault: Refusal) => {
        refusal = fault;
      },
    );
  }
  const code = refusal.context.code;
  const kind = refusal.kind;
  const unchanged = store.get(Note, 'north', `full-${acknowledged.length}`) === undefined;
  let refusedAgain = '';
  try {
    store.apply(noteChange('refused', 'z'));
  } catch (fault) {
    refusedAgain = String((fault as Refusal).context.code);
  }
  report({ kind, code, unchanged, accepting: store.accepting, refusedAgain, acknowledged: acknowledged.length });
  limitFiles('unlimited');
  while (!store.accepting) await new Promise((resolve) => setTimeout(resolve, IN_A_MOMENT_MS));
  await store.write(noteChange('after', 'written again'));
  report({ reloads, after: store.get(Note, 'north', 'after')?.spec.text, kept: acknowledged.every((name) => store.get(Note, 'north', name) !== undefined) });
  await ledger.close();
}

/** Writes and archives until it is killed; reports the audit sequences it was told are on disk. */
async function archiveForever(dataDir: string): Promise<void> {
  const ledger = await openLedger(dataDir);
  const store = new Store(ledger, hastyClock);
  await store.open(0);
  const archiver = archiverOf(dataDir, ledger);
  void (async () => {
    for (;;) {
      await archiver.look();
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  for (let turn = 1; ; turn += 1) {
    await Promise.all(Array.from({ length: CALLERS }, (_, caller) => store.write(noteChange(`n${caller}`, `${turn}`))));
    report(store.auditSequence);
  }
}

function archiverOf(dataDir: string, ledger: ThreadLedger): Archiver {
  return new Archiver({
    queries: openQueries(dataDir),
    ledger,
    clock: hastyClock,
    log: pino({ level: 'silent' }),
    limits: { recordsMax: 1000, ageMaxMs: Number.MAX_SAFE_INTEGER },
    newestMs: null,
    storageLow: () => false,
    archived: () => undefined,
  });
}

/** Has no room for a file of the archive, but for small writes; gets room again. */
async function archiveOnFullDisk(dataDir: string): Promise<void> {
  const ledger = await openLedger(dataDir);
  const store = new Store(ledger, hastyClock);
  await store.open(0);
  const archiver = archiverOf(dataDir, ledger);
  limitFiles(65_536);
  const made = await archiver.look();
  const { fault } = archiver;
  await store.write(noteChange('meanwhile', 'x'));
  report({ made, fault, written: store.accepting && store.get(Note, 'north', 'meanwhile') !== undefined, left: readdirSync(archiveFolder(dataDir)) });
  limitFiles('unlimited');
  const note = await archiver.look();
  report({ made: note?.file, fault: archiver.fault });
  process.exit(0); // what is still in the table leaves it after the next start
}

const TASKS: Readonly<Record<string, (dataDir: string) => Promise<void>>> = {
  commit: commitForever,
  past: pastForever,
  'disk-full': fillDisk,
  archive: archiveForever,
  'archive-full': archiveOnFullDisk,
};

if (process.argv[1] === import.meta.filename) {
  const [, , task, dataDir] = leading(process.argv, 4);
  await at(TASKS, task)(dataDir);
}
