/**
 * Lock-outs (decisions Q-AUTH-03): failed passwords of one user name within a window lock the name, known or not, so that
 * nobody learns which names exist. Failed logins of one source address are counted as well (decisions Q-ERR-05).
 */
import type { Clock } from '../../platform/base/clock.js';
import { Refusal } from '../../platform/base/refusal.js';
import { sourceKey } from '../../platform/base/ip-address.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put, Store } from '../../platform/store/store.js';
import { LockOut, type LockOutSpec, type LockOutStatus } from './kind.js';

const NAMES_MAX = 10_000; // decisions Q-AUTH-03
const SOURCE_FAILURES_MAX = 20; // decisions Q-ERR-05
const SOURCE_WINDOW_MS = 5 * 60_000;
const SOURCES_MAX = 10_000;
const SOURCE_IPS_SHOWN = 20;

export interface LockOutLimits {
  readonly lockoutThreshold: number;
  readonly lockoutWindowMs: number;
  readonly lockoutDurationMs: number;
}

export class LockOuts {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #limits: LockOutLimits;
  readonly #failuresOfSource = new Map<string, number[]>();

  constructor(store: Store, clock: Clock, limits: LockOutLimits) {
    this.#store = store;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** @throws Refusal 401 `account_locked`. */
  refuseLocked(name: string): void {
    const lockedForMs = (this.#store.get(LockOut, '', name)?.status.lockedUntilMs ?? 0) - this.#clock.wallMs();
    if (lockedForMs <= 0) return;
    const retryAfterSeconds = Math.ceil(lockedForMs / 1000);
    throw new Refusal('unauthenticated', `too many failed attempts; this name is locked for ${retryAfterSeconds} s`, { code: 'account_locked', retryAfterSeconds });
  }

  /** @throws Refusal 429 when one source failed too often. */
  refuseSource(sourceIP: string): void {
    const failures = this.#recentOf(sourceKey(sourceIP));
    if (failures.length < SOURCE_FAILURES_MAX) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((failures[0] + SOURCE_WINDOW_MS - this.#clock.monoMs()) / 1000));
    throw new Refusal('limited', `too many failed logins from this address; try again in ${retryAfterSeconds} s`, { code: 'rate_limited', retryAfterSeconds });
  }

  /** Counts a failure and writes it with the audit records of the failure and, at the threshold, of the lock-out. */
  async fail(name: string, sourceIP: string, failure: AuditDraft, lockOut: AuditDraft): Promise<void> {
    this.#failSource(sourceKey(sourceIP));
    const nowMs = this.#clock.wallMs();
    const before = this.#store.get(LockOut, '', name);
    const recent = (before?.status.failuresAtMs ?? []).filter((atMs) => nowMs - atMs < this.#limits.lockoutWindowMs);
    const failuresAtMs = [...recent, nowMs].slice(-this.#limits.lockoutThreshold);
    const locks = failuresAtMs.length >= this.#limits.lockoutThreshold;
    const sourceIPs = [...new Set([...(recent.length > 0 ? (before?.status.sourceIPs ?? []) : []), sourceIP])].slice(-SOURCE_IPS_SHOWN);
    const put: Put<LockOutSpec, LockOutStatus> = {
      kind: LockOut,
      site: '',
      name,
      spec: { username: name },
      status: { failuresAtMs, sourceIPs, lockedUntilMs: locks ? nowMs + this.#limits.lockoutDurationMs : 0 },
    };
    await this.#store.write({ puts: [put], removes: before ? [] : this.#makeRoom(), audits: locks ? [failure, lockOut] : [failure] });
  }

  /** What a success clears. */
  refsOf(name: string): readonly { readonly kind: string; readonly site: string; readonly name: string }[] {
    return this.#store.get(LockOut, '', name) ? [{ kind: LockOut.kind, site: '', name }] : [];
  }

  locked(): readonly Resource<LockOutSpec, LockOutStatus>[] {
    const nowMs = this.#clock.wallMs();
    return this.#store.list(LockOut, '').filter(({ status }) => status.lockedUntilMs > nowMs);
  }

  #makeRoom(): { kind: string; site: string; name: string }[] {
    const all = this.#store.list(LockOut, '');
    if (all.length < NAMES_MAX) return [];
    const oldest = [...all].sort((a, b) => (a.status.failuresAtMs.at(-1) ?? 0) - (b.status.failuresAtMs.at(-1) ?? 0)).slice(0, NAMES_MAX / 10);
    return oldest.map(({ metadata }) => ({ kind: LockOut.kind, site: '', name: metadata.name }));
  }

  #recentOf(source: string): number[] {
    const nowMs = this.#clock.monoMs();
    return (this.#failuresOfSource.get(source) ?? []).filter((atMs) => nowMs - atMs < SOURCE_WINDOW_MS);
  }

  #failSource(source: string): void {
    const failures = [...this.#recentOf(source), this.#clock.monoMs()].slice(-SOURCE_FAILURES_MAX);
    this.#failuresOfSource.delete(source);
    if (this.#failuresOfSource.size >= SOURCES_MAX) this.#failuresOfSource.delete(this.#failuresOfSource.keys().next().value as string);
    this.#failuresOfSource.set(source, failures);
  }
}
