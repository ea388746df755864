/** What a started appliance is to whoever started it. */
import { contain, guarded } from '../platform/base/guarded.js';
import type { Log } from '../platform/base/log.js';
import type { RouteColumns } from '../platform/http/route.js';
import type { RouteTable } from '../platform/http/route-table.js';
import type { HttpServer } from '../platform/http/server.js';
import type { Access } from '../domains/access/access.js';
import type { LocalProbes } from '../domains/placement/local-probes.js';
import type { LocalRuntimes } from '../domains/placement/local-runtimes.js';
import type { ContainedFaults } from '../platform/base/contained-faults.js';
import type { Parts } from '../platform/base/parts.js';
import type { GatewayTls } from './gateway-tls.js';
import type { ThreadLedger } from '../platform/ledger/ledger.js';
import type { Store } from '../platform/store/store.js';

export interface Appliance {
  readonly port: number;
  /** `https` with a certificate. */
  readonly scheme: 'http' | 'https';
  /** Of its certificate, as people compare it; '' with plain HTTP. */
  readonly fingerprint: string;
  readonly rows: readonly RouteColumns[];
  readonly commissioningCode: string;
  /** Grows with each change of what is stored: who waits for one need not look before. */
  readonly resourceVersion: number;
  /** What is missing, where the appliance is in rescue; else empty. */
  readonly rescue: readonly string[];
  readonly waysOn: readonly string[];
  /** How it fares, in a few words for whoever looks after the service. */
  readonly condition: string;
  /** A look at its threads, once a second: why one of them will not come back and cannot be started anew; undefined while all is well. */
  look(): string | undefined;
  /** Somebody says that files have changed: the certificate is looked at now. */
  reload(): Promise<void>;
  stop(): Promise<void>;
  /** After a fault that nobody caught; the process ends when it resolves, which takes three seconds at most. */
  fail(fault: unknown): Promise<void>;
}

/** Told before the first part starts: from there on units are scanned and devices driven, and a fault that nobody catches is its `fail`. */
export type Made = (appliance: Pick<Appliance, 'fail'>) => void;

/** Its parts are made, and may not be up yet. */
export interface Running {
  readonly parts: Parts;
  readonly server: HttpServer;
  /** Absent with plain HTTP. */
  readonly tls: GatewayTls | undefined;
  readonly table: RouteTable;
  readonly access: Access;
  readonly store: Store;
  readonly ledger: ThreadLedger;
  readonly runtimes: LocalRuntimes;
  readonly probes: LocalProbes;
  readonly contained: ContainedFaults;
  readonly log: Log;
}

export function running({ parts, server, tls, table, access, store, ledger, runtimes, probes, contained, log }: Running): Appliance {
  return {
    get port() {
      return server.port;
    },
    scheme: tls ? 'https' : 'http',
    get fingerprint() {
      return tls?.fingerprint ?? '';
    },
    rows: table.rows,
    rescue: [],
    waysOn: [],
    get commissioningCode() {
      return access.commissioningCode;
    },
    get resourceVersion() {
      return store.resourceVersion;
    },
    get condition() {
      const links = runtimes.links();
      const units = `${links.filter(({ ready }) => ready).length} of ${links.length} units are scanned`;
      return store.accepting ? units : `${units}; the storage refuses changes: ${store.refusedBecause}`;
    },
    look: () => runtimes.hung ?? probes.hung ?? ledger.look(),
    async reload() {
      await tls?.served.look();
    },
    stop: () => parts.stop(),
    fail(fault) {
      parts.abandon();
      return failInOrder(fault, {
        log,
        state() {
          const units = runtimes.links().map(({ site, unit, ready: scans, message, epoch }) => ({ site, unit, scans, message, epoch }));
          return { units, probes: probes.threads(), commitsWaiting: ledger.waiting, contained: contained.view().seams };
        },
        takeFailSafe: () => probes.takeFailSafe(),
        closeLedger: () => ledger.close(),
      });
    },
  };
}

/** A second for the devices, and what a slow disk needs for the last commits. */
const FAIL_SAFE_MS = 1000;
const LAST_COMMITS_MS = 2000;

/** What still counts when what the process would do next is not known. */
export interface LastWork {
  readonly log: Log;
  /** For the log: what was at work. */
  state(): object;
  takeFailSafe(): Promise<void>;
  closeLedger(): Promise<void>;
}

/** Tells what nobody caught; outputs take their fail-safe values and what was accepted reaches the disk. No other part is asked. */
export async function failInOrder(fault: unknown, last: LastWork): Promise<void> {
  guarded('log of a fault that nobody caught', () => {
    last.log.fatal({ fault: textOf(fault), ...last.state() }, 'nobody caught a fault of ours: outputs take their fail-safe values, and the process ends');
  });
  await Promise.all([within(FAIL_SAFE_MS, () => last.takeFailSafe()), within(LAST_COMMITS_MS, () => last.closeLedger())]);
}

/** Resolves when the work is done, has failed, or time is up. */
async function within(ms: number, work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  const done = guarded('last work of the process', work)?.catch((fault: unknown) => contain('last work of the process', fault));
  await Promise.race([timeUp, done]);
  clearTimeout(timer);
}

export function textOf(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}
