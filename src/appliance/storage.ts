/**
 * What this appliance has stored, opened and judged before anything is driven (D-C-09): it opens whole, somebody has accepted the
 * loss, or there is a loss to tell and nothing is opened.
 */
import type { WallMs } from '../platform/base/times.js';
import path from 'node:path';
import { STORED_KINDS } from '../domains/index.js';
import { type Clock, timestamp } from '../platform/base/clock.js';
import { guarded } from '../platform/base/guarded.js';
import { type FatalFaults, openFatalFaults, waysOnFromFaults } from '../platform/base/fatal-faults.js';
import type { Log } from '../platform/base/log.js';
import type { Part } from '../platform/base/parts.js';
import type { Moment } from '../platform/base/moment.js';
import { putAside } from '../platform/base/put-aside.js';
import { ThreadEnds } from '../platform/base/thread-ends.js';
import { STORAGE_LOST, waysOn } from '../platform/http/rescue.js';
import { StateFileCheck } from '../platform/ledger/file-check.js';
import type { Finding } from '../platform/ledger/gaps.js';
import { inspectDataDir, lostWhole } from '../platform/ledger/inspect.js';
import { type DeviceKeys, openDeviceKeys } from '../platform/ledger/keys.js';
import { LedgerFault, openLedger, type ThreadLedger } from '../platform/ledger/ledger.js';
import { type Damage, type LedgerQueries, openQueries } from '../platform/ledger/queries.js';
import { momentOf, witnessOf } from '../platform/store/clock-witness.js';
import { pastRows } from '../platform/store/past-rows.js';
import { Store } from '../platform/store/store.js';
import type { Settings } from '../settings.js';
import type { Loss } from './rescue.js';

const FAILED_AGAIN = 'this program has ended by a fault of its own more than three times within ten minutes';
/** Of SQLite: what is in the file is not what it has to be. */
const UNFIT_CODES: readonly string[] = ['SQLITE_ERROR', 'SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_SCHEMA', 'SQLITE_MISMATCH', 'SQLITE_CONSTRAINT'];

export interface Storage extends Part {
  stop(): Promise<void>;
  readonly keys: DeviceKeys;
  readonly ledger: ThreadLedger;
  readonly queries: LedgerQueries;
  readonly store: Store;
  /** What is known of the time, from what the machine keeps over a start. */
  readonly time: { now(): Moment; synchronised(): boolean };
  /** Of the window of the anti-replay barrier. */
  readonly earlierNonces: readonly { readonly hash: string; readonly atMs: WallMs }[];
  /** Wall time of the newest audit record; null where it cannot be read. */
  readonly newestAuditMs: number | null;
  readonly faults: FatalFaults;
  /** Threads that ended by themselves. */
  readonly ends: ThreadEnds;
  readonly died: (thread: string, fault: string) => void;
  /** The first thing that is wrong with the structure of `state.db`; null when nothing. */
  readonly checkFile: () => Promise<string | null>;
  /** Called when a query meets damage in a file. */
  watchDamage(listener: (damage: Damage) => void): void;
}

export interface Surroundings {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  /** Version and commit, as a repeated fault is told of. */
  readonly build: string;
}

/** Whether it is the storage, and not why there is none. */
export function isStorage(opened: Storage | Loss): opened is Storage {
  return 'store' in opened;
}

export async function openStorage({ settings, clock, log, build }: Surroundings): Promise<Storage | Loss> {
  const { dataDir, acceptLoss } = settings;
  const startedAt = timestamp(clock.wallMs());
  const faults = openFatalFaults(dataDir, build, clock); // first: what fails again and again may be the look at the rest
  if (faults.repeated.length > 0 && !settings.acceptFaults) return { why: FAILED_AGAIN, losses: faults.repeated, waysOn: waysOnFromFaults(dataDir) };
  const inspection = inspectDataDir(dataDir);
  if (inspection.losses.length > 0 && (!acceptLoss || inspection.isOutOfReach))
    return { why: STORAGE_LOST, losses: inspection.losses, waysOn: waysOn(dataDir, !inspection.isOutOfReach) };
  if (settings.acceptFaults) faults.forget();
  for (const name of inspection.inTheWay) {
    const aside = putAside(dataDir, name, startedAt);
    log.error({ aside }, `${name} is in the way of a file of this appliance; it is kept under another name`);
  }
  if (!inspection.usable) {
    const aside = putAside(dataDir, 'state.db', startedAt);
    log.error({ aside }, 'state.db cannot be worked with; it is kept under another name and a new one is made');
  }
  for (const { text } of inspection.findings) log.error(text);
  const keys = openDeviceKeys(dataDir);
  const ledger = await openOrGoOnWithout(inspection.findings, { settings, log, startedAt });
  if ('losses' in ledger) return ledger;

  const ends = new ThreadEnds(clock);
  const died = (name: string, fault: string): void => {
    log.error({ fault }, `the ${name} thread ended by itself; it is started again when it is needed`);
    ends.note(name, fault);
  };
  ledger.died = died;
  const witness = witnessOf(clock);
  const store = new Store(ledger, clock, witness, STORED_KINDS);
  const fileCheck = new StateFileCheck(dataDir);
  const listeners: ((damage: Damage) => void)[] = [];
  const queries = openQueries(
    dataDir,
    () => store.recorded,
    died,
    (damage) => {
      log.error({ ...damage }, 'a part of state.db cannot be read');
      for (const listener of listeners) guarded('listener of damaged storage', () => listener(damage));
    },
  );
  pastRows(store).connect(queries);
  const newestAuditMs = await queries.newestAuditMs().catch(() => null); // a damaged trail is told of elsewhere
  const earlierNonces = await store.open(settings.antiReplayWindowMs);
  if (store.pastUnreadable.length > 0) log.error({ runs: store.pastUnreadable }, 'what is kept in memory of these past runs cannot be read: they are present again');
  for (const [run, err] of await pastRows(store).bringBackUnreadable()) log.error({ run, err }, 'a past run that is found in no list could not be brought back');
  let isAccepting = true;
  store.watchReload(() => {
    if (store.accepting === isAccepting) return; // told once, and not again when the disk could be read
    isAccepting = store.accepting;
    if (isAccepting) log.info('the storage accepts changes again');
    else log.error({ reason: store.refusedBecause }, 'the storage refuses changes: nothing can be changed or recorded until it accepts them again; control goes on');
  });
  return {
    keys,
    ledger,
    queries,
    store,
    time: { now: () => momentOf(clock, witness), synchronised: () => witness().synchronised },
    earlierNonces,
    newestAuditMs,
    faults,
    ends,
    died,
    checkFile: () => fileCheck.run(),
    watchDamage: (listener) => void listeners.push(listener),
    async stop() {
      await store.recorded.catch(() => undefined);
      await queries.close();
      await ledger.close();
      await fileCheck.stop(); // last: over a large file it takes its time, and what was accepted is on disk by then
    },
  };
}

/** Never without it for a full disk, a lock or a newer version: what is in the file is whole then. */
async function openOrGoOnWithout(findings: readonly Finding[], { settings, log, startedAt }: { settings: Settings; log: Log; startedAt: string }): Promise<ThreadLedger | Loss> {
  const { dataDir, acceptLoss } = settings;
  const opened = await tryToOpen(dataDir, findings);
  if (!(opened instanceof LedgerFault)) return opened;
  const text = `${path.join(dataDir, 'state.db')} cannot be opened: ${opened.message}`;
  const { code } = opened;
  const canGoOnWithout = UNFIT_CODES.some((unfit) => code === unfit || code?.startsWith(`${unfit}_`));
  const loss = { why: STORAGE_LOST, losses: [text], waysOn: waysOn(dataDir, canGoOnWithout) };
  if (!acceptLoss || !canGoOnWithout) return loss;
  const aside = putAside(dataDir, 'state.db', startedAt);
  log.error({ aside }, `${text}; it is kept under another name and a new one is made`);
  const anew = await tryToOpen(dataDir, [...findings, lostWhole(text, dataDir)]);
  return anew instanceof LedgerFault ? loss : anew;
}

async function tryToOpen(dataDir: string, findings: readonly Finding[]): Promise<ThreadLedger | LedgerFault> {
  return openLedger(dataDir, findings).catch((fault: unknown) => {
    if (fault instanceof LedgerFault) return fault;
    throw fault;
  });
}
