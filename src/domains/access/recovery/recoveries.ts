/**
 * An administrator made at the box when nobody who is one can sign in any more (`lineside recover-admin`). It is a new account: nobody takes over the
 * name, and the signatures, of somebody else. It is in the audit trail, and an alarm tells it until another administrator has acknowledged it.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import { guarded, guardedPromise } from '../../../platform/base/guarded.js';
import type { Log } from '../../../platform/base/log.js';
import { conflict } from '../../../platform/base/refusal.js';
import type { Caller } from '../../../platform/http/caller.js';
import { type AuditDraft, component } from '../../../platform/store/audit-record.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import type { Store } from '../../../platform/store/store.js';
import { Account, type AccountSpec, AdminRecovery, type AdminRecoverySpec, type AdminRecoveryStatus } from '../kind.js';
import { putAnswer, type RecoveryAnswer, type RecoveryRequest, takeRequest } from './request-file.js';

const LOOK_INTERVAL_MS = 1000;
const HASH = /^\$scrypt\$/;

export type AdminRecoveryResource = Resource<AdminRecoverySpec, AdminRecoveryStatus>;

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** The account as it is to be. @throws Refusal where it cannot be made. */
  readonly accountOf: (request: RecoveryRequest) => AccountSpec;
  /** User names of the enabled administrators. */
  readonly administrators: () => readonly string[];
  readonly made: () => void;
}

export class AdminRecoveries {
  readonly #parts: Parts;
  #stop: () => void = () => undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What lies there from before was asked of another run, by somebody who does not wait for it any more. */
  start(): void {
    guarded('earlier request to recover an administrator', () => {
      const request = this.#take();
      if (request) putAnswer(this.#parts.dataDir, { id: request.id, done: false, message: 'the box has only just started: repeat the command' });
    });
    this.#lookLater();
  }

  stop(): void {
    this.#stop();
  }

  /** Newest first. */
  all(): readonly AdminRecoveryResource[] {
    return newestFirst(this.#parts.store);
  }

  /** Takes a request that waits, and answers it. */
  async look(): Promise<void> {
    const { dataDir } = this.#parts;
    const request = this.#take();
    if (!request) return;
    putAnswer(dataDir, { id: request.id, ...(await this.#outcome(request)) });
  }

  /** Of the recovery alone: where the answer cannot be put down, nobody is told that nothing was done. */
  async #outcome(request: RecoveryRequest): Promise<Omit<RecoveryAnswer, 'id'>> {
    try {
      await this.#recover(request);
      return { done: true, message: `${request.username} is an administrator of this box` };
    } catch (fault) {
      return { done: false, message: (fault as Error).message };
    }
  }

  #lookLater(): void {
    this.#stop = this.#parts.clock.after(LOOK_INTERVAL_MS, () => {
      guardedPromise('look for a request to recover an administrator', () => this.look());
      this.#lookLater();
    });
  }

  #take(): RecoveryRequest | undefined {
    const { dataDir, log } = this.#parts;
    try {
      return takeRequest(dataDir);
    } catch (fault) {
      log.warn({ fault: (fault as Error).message }, 'a request to recover an administrator is none: it was removed');
      return undefined;
    }
  }

  async #recover(request: RecoveryRequest): Promise<void> {
    const { store, clock, log, accountOf, administrators, made } = this.#parts;
    const { id, systemUser, passwordHash } = request;
    if (!HASH.test(passwordHash)) throw conflict('invalid_recovery', 'the request has no hash of a password as this release makes it: use the command of the same release');
    // one that was acknowledged once would tell of another administrator now, and no alarm of him
    if (store.get(AdminRecovery, '', id)) throw conflict('invalid_recovery', 'a request with this id was taken before: use the command again');
    const account = accountOf(request);
    const before = administrators();
    const recovery: AdminRecoverySpec = { username: account.username, accountId: account.accountId, at: timestamp(clock.wallMs()), systemUser, administrators: [...before] };
    const { displayName, groups, enabled } = account;
    await store.write({
      puts: [
        { kind: Account, site: '', name: account.username.toLowerCase(), spec: account },
        { kind: AdminRecovery, site: '', name: id, spec: recovery },
      ],
      audits: [
        {
          site: '',
          actor: component('recovery'),
          action: 'Create',
          category: 'auth',
          target: { kind: 'User', name: account.username, site: '' },
          result: 'Success',
          reason: 'RecoveredAtTheBox',
          details: { recovery: id, systemUser, administratorsBefore: before },
          after: { displayName, groups, enabled },
          correlationID: randomUUID(),
        },
      ],
    });
    made();
    log.warn({ username: account.username, systemUser }, 'an administrator was made at the box (recover-admin)');
  }

  /** @throws Refusal 409 `no_recovery`, `own_recovery`. */
  async acknowledge({ accountId, username, displayName }: Caller, reason: string, audit: (entry: Partial<AuditDraft>) => AuditDraft): Promise<readonly AdminRecoveryResource[]> {
    const { store, clock, administrators } = this.#parts;
    const open = this.all().filter(({ status }) => !status.acknowledged);
    if (open.length === 0) throw conflict('no_recovery', 'no recovery of an administrator waits for an acknowledgement');
    // two that were made at the box are not each other's witness
    const others = administrators().filter((name) => name !== username && !open.some(({ spec }) => spec.username === name));
    const isMade = open.some(({ spec }) => spec.accountId === accountId);
    const seen = isMade && others.length > 0 ? [] : open;
    if (seen.length === 0) throw conflict('own_recovery', `another administrator acknowledges that your account was made at the box: ${others.join(', ')}`);
    const acknowledged = { by: displayName, accountId, at: timestamp(clock.wallMs()), reason };
    await store.write({
      puts: seen.map(({ metadata }) => ({ kind: AdminRecovery, site: '', name: metadata.name, status: { acknowledged } })),
      audits: [
        audit({ target: targetOf(seen), operatorReason: reason, details: { recoveries: seen.map(({ metadata, spec }) => ({ id: metadata.name, username: spec.username })) } }),
      ],
    });
    return this.all();
  }
}

/** What health and an alarm tell while nobody has acknowledged it. */
export function recoveryTrouble(read: Pick<StoreReader, 'list'>): { readonly severity: 'High'; readonly message: string } | undefined {
  const open = newestFirst(read).filter(({ status }) => !status.acknowledged);
  if (open.length === 0) return undefined;
  const made = open.map(({ spec: { username, at, systemUser } }) => `administrator ${username} was made at the box at ${at} by the system user ${systemUser} (recover-admin)`);
  return {
    severity: 'High',
    message: `${made.join('; ')}; another administrator acknowledges it with lineside recovery acknowledge (POST auth/recoveries/acknowledge), and it stays in the audit trail`,
  };
}

function newestFirst(read: Pick<StoreReader, 'list'>): readonly AdminRecoveryResource[] {
  return [...read.list(AdminRecovery, '')].sort((a, b) => b.metadata.resourceVersion - a.metadata.resourceVersion);
}

function targetOf([first]: readonly AdminRecoveryResource[]): { kind: string; name: string; site: string } {
  return { kind: AdminRecovery.kind, name: first?.metadata.name ?? '', site: '' };
}
