/**
 * Sessions that the identity provider keeps, as far as their tokens were presented here (decisions D-AUTH-04): who they are of, and which were
 * ended here. What was ended stays so until 24 h after the latest expiry that was seen of it; instants of another issuer are judged by the wall clock (D-C-07).
 */
import type { WallMs } from '../../../platform/base/times.js';
import type { Clock } from '../../../platform/base/clock.js';
import { guarded } from '../../../platform/base/guarded.js';
import type { AuditDraft } from '../../../platform/store/audit-record.js';
import type { Store } from '../../../platform/store/store.js';
import { RevokedSession } from '../kind.js';
import { hashOf } from '../sessions.js';
import type { IssuerIdentity } from './claims.js';

const SEEN_MAX = 10_000;
const REVOKED_FOR_MS = 24 * 3_600_000;
const SWEEP_INTERVAL_MS = 3_600_000;

export interface SeenSession {
  readonly id: string;
  readonly identity: IssuerIdentity;
  readonly firstSeenAtMs: WallMs;
  latestExpiryMs: WallMs;
  lastActivityAtMs: WallMs;
}

export class IssuerSessions {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #seen = new Map<string, SeenSession>();
  readonly #listeners: ((sessionId: string, why: 'administrator' | 'logout') => void)[] = [];
  #stopSweep: () => void;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#stopSweep = this.#sweepLater();
  }

  stop(): void {
    this.#stopSweep();
  }

  onEnded(listener: (sessionId: string, why: 'administrator' | 'logout') => void): void {
    this.#listeners.push(listener);
  }

  /** Those whose tokens were presented and still hold. */
  get open(): readonly SeenSession[] {
    const nowMs = this.#clock.wallMs();
    return [...this.#seen.values()].filter(({ id, latestExpiryMs }) => isUntil(latestExpiryMs, nowMs) && !this.#revocationOf(id));
  }

  get(id: string): SeenSession | undefined {
    const seen = this.#seen.get(id);
    return seen && !this.#revocationOf(id) ? seen : undefined;
  }

  seen(identity: IssuerIdentity): void {
    const { sessionId: id, expiresAtMs } = identity;
    const nowMs = this.#clock.wallMs();
    const known = this.#seen.get(id);
    if (known) {
      known.latestExpiryMs = Math.max(known.latestExpiryMs, expiresAtMs);
      known.lastActivityAtMs = nowMs;
      return;
    }
    if (this.#seen.size >= SEEN_MAX) this.#seen.delete(this.#seen.keys().next().value as string);
    this.#seen.set(id, { id, identity, firstSeenAtMs: nowMs, latestExpiryMs: expiresAtMs, lastActivityAtMs: nowMs });
  }

  touch(id: string): void {
    const seen = this.#seen.get(id);
    if (seen) seen.lastActivityAtMs = this.#clock.wallMs();
  }

  isRevoked({ sessionId, sessionKey, expiresAtMs }: IssuerIdentity): boolean {
    const revoked = this.#store.get(RevokedSession, '', sessionKey)?.spec;
    if (!revoked) return false;
    // a token that lives longer than any that was seen before keeps it so for longer
    if (expiresAtMs + REVOKED_FOR_MS > revoked.untilMs && this.#store.accepting) this.#store.apply({ puts: [this.#put(sessionId, expiresAtMs)] });
    return true;
  }

  /** From now on, whatever the disk says; every token with this id is refused. */
  async revoke(id: string, why: 'administrator' | 'logout', expiresAtMs: WallMs, audit: AuditDraft): Promise<void> {
    const latestMs = Math.max(expiresAtMs, this.#seen.get(id)?.latestExpiryMs ?? 0);
    const applied = this.#store.apply({ puts: [this.#put(id, latestMs)], audits: [audit] });
    for (const listener of this.#listeners) guarded('listener of revoked sessions', () => listener(id, why));
    await applied.durable;
  }

  #put(id: string, latestExpiryMs: WallMs) {
    return { kind: RevokedSession, site: '', name: hashOf(id), spec: { sessionId: id, untilMs: latestExpiryMs + REVOKED_FOR_MS } };
  }

  #revocationOf(id: string): { readonly untilMs: WallMs } | undefined {
    return this.#store.get(RevokedSession, '', hashOf(id))?.spec;
  }

  #sweepLater(): () => void {
    return this.#clock.after(SWEEP_INTERVAL_MS, () => {
      const nowMs = this.#clock.wallMs();
      for (const { id, latestExpiryMs } of [...this.#seen.values()]) if (!isUntil(latestExpiryMs, nowMs)) this.#seen.delete(id);
      const over = this.#store.list(RevokedSession, '').filter(({ spec }) => !isUntil(spec.untilMs, nowMs));
      if (over.length > 0 && this.#store.accepting) this.#store.apply({ removes: over.map(({ metadata }) => ({ kind: RevokedSession.kind, site: '', name: metadata.name })) });
      this.#stopSweep = this.#sweepLater();
    });
  }
}

function isUntil(untilMs: WallMs, nowMs: WallMs): boolean {
  return nowMs <= untilMs;
}
