/**
 * Sessions (decisions Q-AUTH-01, Q-AUTH-21): inactivity window, absolute life, end by logout, administrator or account. What
 * decides on the hot path is in memory and elapses by the monotonic clock; the instants are for people (D-C-07). Activity is
 * saved at most once a minute, so a power cut can only end a session early. Across a start a session lives on when the
 * interruption is known and shorter than what was left of it.
 */
import type { WallMs } from '../../platform/base/times.js';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../../platform/base/clock.js';
import { guarded } from '../../platform/base/guarded.js';
import { Deadline, Stopwatch } from '../../platform/base/elapsed.js';
import { elapsedSince, type Moment } from '../../platform/base/moment.js';
import { Refusal } from '../../platform/base/refusal.js';
import { cutText } from '../../platform/base/short-text.js';
import type { Change, Store } from '../../platform/store/store.js';
import { Session, type SessionSpec, type SessionStatus } from './kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';

const ACTIVITY_SAVE_INTERVAL_MS = 60_000;
const SWEEP_INTERVAL_MS = 20_000; // contract 2: inactivity is noticed within 50 s
const ENDED_REMEMBERED_MAX = 10_000;

/** Close reasons of decisions Q-STREAM-15. */
export const END_REASONS = {
  administrator: 'session ended: terminated by administrator',
  logout: 'session ended: logout',
  issuer: 'session ended: the identity provider refuses it',
  inactive: 'session terminated after inactivity',
  expired: 'access token expired',
} as const;
export type EndReason = keyof typeof END_REASONS;

export interface SessionLimits {
  /** Sessions of another mode are over. */
  readonly authMode: string;
  readonly inactivityTimeoutMs: number;
  readonly sessionLifetimeMs: number;
}

/** One session as the gateway works with it. */
export interface LiveSession {
  readonly id: string;
  readonly account: string;
  readonly accountId: string;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
  readonly age: Stopwatch;
  readonly life: Deadline;
  readonly idle: Stopwatch;
  /** Since the last activity that was saved. */
  readonly saved: Stopwatch;
  signedIn: Stopwatch;
  authTimeMs: number;
  lastActivityAtMs: WallMs;
  /** Sealed refresh token of the identity provider. */
  issuerGrant: string | undefined;
  ended: EndReason | undefined;
}

/** Who signs in, and how long ago he has proven it: now, unless somebody else was the witness. */
export interface SignIn {
  /** Name of what is stored of the account. */
  readonly account: string;
  readonly accountId: string;
  readonly signedInMs?: number;
  readonly client?: 'browser' | 'program';
  readonly issuerGrant?: (sessionId: string) => string | undefined;
}

/** Where time stands, and whether the wall clock follows a server. */
export interface TimeWitness {
  now(): Moment;
  synchronised(): boolean;
}

export class Sessions {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #limits: SessionLimits;
  readonly #witness: TimeWitness;
  #live = new Map<string, LiveSession>();
  readonly #ended = new Map<string, EndReason>();
  /** Hash of the refresh token of sessions that were opened while the storage refused, until they are stored. */
  readonly #unsaved = new Map<string, string>();
  readonly #listeners: ((sessionId: string, reason: string) => void)[] = [];
  #stopSweep: () => void;

  constructor(store: Store, clock: Clock, limits: SessionLimits, witness: TimeWitness) {
    this.#store = store;
    this.#clock = clock;
    this.#limits = limits;
    this.#witness = witness;
    this.#load();
    store.watchReload(() => this.#load());
    this.#stopSweep = this.#sweepLater();
  }

  stop(): void {
    this.#stopSweep();
  }

  onEnded(listener: (sessionId: string, reason: string) => void): void {
    this.#listeners.push(listener);
  }

  get(id: string): LiveSession | undefined {
    return this.#live.get(id);
  }

  resources(): readonly Resource<SessionSpec, SessionStatus>[] {
    return this.#store.list(Session, '').filter((session) => this.#live.has(session.metadata.name));
  }

  /** Opens a session together with the audit record of its login. The refresh token is 256 random bits, kept as its hash. */
  async open(
    { account, accountId, signedInMs = 0, client = 'browser', issuerGrant }: SignIn,
    sourceIP: string,
    userAgent: string,
    audit: AuditDraft,
    also: Pick<Change, 'puts' | 'removes'> = {},
  ): Promise<{ session: LiveSession; refreshToken: string }> {
    const nowMs = this.#clock.wallMs();
    const id = randomUUID();
    const refreshToken = randomBytes(32).toString('base64url');
    const grant = issuerGrant?.(id);
    const spec: SessionSpec = {
      account,
      accountId,
      authMode: this.#limits.authMode,
      sourceIP,
      userAgent: cutText(userAgent, 256),
      refreshHash: hashOf(refreshToken),
      createdAtMs: nowMs,
      endsAtMs: nowMs + this.#limits.sessionLifetimeMs,
      client,
      ...(grant === undefined ? {} : { issuerGrant: grant }),
    };
    const status: SessionStatus = { authTimeMs: nowMs - signedInMs, lastActivityAtMs: nowMs, saved: this.#stamp(0, signedInMs) };
    const put = { kind: Session, site: '', name: id, spec, status };
    const written = this.#store.writeOrKeep({ puts: [put, ...(also.puts ?? [])], removes: also.removes ?? [], audits: [audit] }, { as: 'session' });
    const session = this.#liveOf(id, spec, status, { livedMs: 0, idleMs: 0, signedInMs });
    this.#live.set(id, session); // before the wait, so that whoever ends the sessions of the account ends this one too
    if (!(await written) && !this.#ended.has(id)) {
      session.ended = undefined; // the reload that found the storage refusing has taken it for lost
      this.#live.set(id, session);
      this.#unsaved.set(id, spec.refreshHash);
    }
    return { session, refreshToken };
  }

  findByRefreshToken(refreshToken: string): LiveSession | undefined {
    const hash = hashOf(refreshToken);
    const found = this.#store.list(Session, '').find((session) => session.spec.refreshHash === hash);
    if (found) return this.#live.get(found.metadata.name);
    for (const [id, unsaved] of this.#unsaved) if (unsaved === hash) return this.#live.get(id);
    return undefined;
  }

  /** @throws Refusal 401 `session_ended` or `session_inactive`. */
  require(id: string): LiveSession {
    const session = this.#live.get(id);
    if (!session) throw endedRefusal(this.#ended.get(id) ?? 'administrator');
    const reason = this.#judge(session);
    if (reason === undefined) return session;
    this.#end(session, reason);
    throw endedRefusal(reason);
  }

  /** Why a session is over, undefined while it lives. */
  judge(id: string): EndReason | undefined {
    const session = this.#live.get(id);
    return session ? this.#judge(session) : (this.#ended.get(id) ?? 'administrator');
  }

  touch(session: LiveSession): void {
    session.lastActivityAtMs = this.#clock.wallMs();
    session.idle.restart();
    if (session.saved.elapsedMs < ACTIVITY_SAVE_INTERVAL_MS || !this.#store.accepting) return;
    session.saved.restart();
    this.#saveStatus(session);
  }

  /** `auth_time` moves to now, or to when somebody else was the witness (reauthenticate). */
  async renew(session: LiveSession, audit: AuditDraft, { puts = [], removes = [] }: Pick<Change, 'puts' | 'removes'> = {}, signedInMs = 0): Promise<void> {
    const nowMs = this.#clock.wallMs();
    session.authTimeMs = nowMs - signedInMs;
    session.lastActivityAtMs = nowMs;
    session.signedIn = new Stopwatch(this.#clock, signedInMs);
    session.idle.restart();
    session.saved.restart();
    const put = { kind: Session, site: '', name: session.id, status: this.#statusOf(session) };
    // a session that was opened while the storage refused is not stored yet: there is nothing to change
    await this.#store.writeOrKeep({ puts: this.#unsaved.has(session.id) ? puts : [put, ...puts], removes, audits: [audit] }, { as: 'session', key: `renew/${session.id}` });
  }

  /** The identity provider has given another refresh token, in a change of the session alone. */
  grantOf(session: LiveSession, issuerGrant: string | undefined): NonNullable<Change['puts']> {
    session.issuerGrant = issuerGrant;
    const stored = this.#store.get(Session, '', session.id);
    if (!stored || this.#unsaved.has(session.id) || issuerGrant === undefined) return [];
    return [{ kind: Session, site: '', name: session.id, spec: { ...stored.spec, issuerGrant } }];
  }

  /** Ends sessions at once in memory (streams close), and durably with the given audit record. */
  async end(ids: readonly string[], reason: EndReason, audits: readonly AuditDraft[] = [], also: Change = {}): Promise<void> {
    const applied = this.#store.apply({ ...also, removes: [...(also.removes ?? []), ...ids.map((name) => ({ kind: Session.kind, site: '', name }))], audits });
    for (const id of ids) this.#forget(id, reason);
    await applied.durable;
  }

  /** By the person himself, also while nothing can be written: from now on the session is over, whatever the disk says. */
  async leave(id: string, audit: AuditDraft): Promise<void> {
    const written = this.#store.writeOrKeep({ removes: [{ kind: Session.kind, site: '', name: id }], audits: [audit] }, { as: 'session', key: `leave/${id}` });
    this.#forget(id, 'logout');
    await written;
  }

  idsOf(account: string, except?: string | null): string[] {
    return [...this.#live.values()].filter((session) => session.account === account && session.id !== except).map((session) => session.id);
  }

  #judge(session: LiveSession): EndReason | undefined {
    if (session.ended) return session.ended;
    if (session.life.hasPassed) return 'expired';
    return session.idle.elapsedMs > this.#limits.inactivityTimeoutMs ? 'inactive' : undefined;
  }

  #end(session: LiveSession, reason: EndReason): void {
    this.#forget(session.id, reason);
    if (this.#store.accepting) this.#store.apply({ removes: [{ kind: Session.kind, site: '', name: session.id }] });
  }

  #forget(id: string, reason: EndReason): void {
    const session = this.#live.get(id);
    if (!session) return;
    session.ended = reason;
    this.#live.delete(id);
    this.#unsaved.delete(id);
    if (this.#ended.size >= ENDED_REMEMBERED_MAX) this.#ended.delete(this.#ended.keys().next().value as string);
    this.#ended.set(id, reason);
    for (const listener of this.#listeners) guarded('listener of ended sessions', () => listener(id, END_REASONS[reason]));
  }

  #saveStatus(session: LiveSession): void {
    if (!this.#store.get(Session, '', session.id)) return;
    this.#store.apply({ puts: [{ kind: Session, site: '', name: session.id, status: this.#statusOf(session) }] });
  }

  #statusOf(session: LiveSession): SessionStatus {
    const { authTimeMs, lastActivityAtMs } = session;
    return { authTimeMs, lastActivityAtMs, saved: this.#stamp(session.age.elapsedMs, session.signedIn.elapsedMs) };
  }

  #stamp(livedMs: number, signedInMs: number): NonNullable<SessionStatus['saved']> {
    const { bootID, bootMs } = this.#witness.now();
    return { bootID, bootMs, livedMs, signedInMs };
  }

  #load(): void {
    const before = this.#live;
    this.#live = new Map();
    const over: string[] = [];
    for (const { metadata, spec, status } of this.#store.list(Session, '')) {
      // what was ended here stays so, even when its removal never reached the disk
      const session =
        before.get(metadata.name) ?? (this.#ended.has(metadata.name) || spec.authMode !== this.#limits.authMode ? undefined : this.#afterInterruption(metadata.name, spec, status));
      if (session) this.#live.set(metadata.name, session);
      else over.push(metadata.name);
    }
    if (over.length > 0 && this.#store.accepting) this.#store.apply({ removes: over.map((name) => ({ kind: Session.kind, site: '', name })) });
    for (const id of before.keys()) {
      if (this.#live.has(id)) {
        this.#unsaved.delete(id);
        continue;
      }
      const unsaved = this.#unsaved.has(id) ? before.get(id) : undefined;
      if (unsaved) {
        this.#live.set(id, unsaved);
        continue;
      }
      const lost = before.get(id) as LiveSession;
      lost.ended = 'administrator'; // its opening never reached the disk
    }
  }

  /** Undefined when it did not outlive the interruption, or nobody knows how long that was. */
  #afterInterruption(id: string, spec: SessionSpec, status: SessionStatus): LiveSession | undefined {
    const { lastActivityAtMs, saved } = status;
    const kept: Moment = { wallMs: lastActivityAtMs, bootID: saved?.bootID ?? '', bootMs: saved?.bootMs ?? 0 };
    const idleMs = elapsedSince(kept, this.#witness.now(), this.#witness.synchronised());
    if (idleMs === undefined) return undefined;
    const livedMs = (saved?.livedMs ?? Math.max(0, lastActivityAtMs - spec.createdAtMs)) + idleMs;
    const signedInMs = (saved?.signedInMs ?? Math.max(0, lastActivityAtMs - status.authTimeMs)) + idleMs;
    const session = this.#liveOf(id, spec, status, { livedMs, idleMs, signedInMs });
    const reason = this.#judge(session);
    if (reason === undefined) return session;
    this.#ended.set(id, reason);
    return undefined;
  }

  #liveOf(id: string, spec: SessionSpec, status: SessionStatus, { livedMs, idleMs, signedInMs }: { livedMs: number; idleMs: number; signedInMs: number }): LiveSession {
    return {
      id,
      account: spec.account,
      accountId: spec.accountId,
      createdAtMs: spec.createdAtMs,
      endsAtMs: spec.endsAtMs,
      age: new Stopwatch(this.#clock, livedMs),
      life: new Deadline(this.#clock, this.#limits.sessionLifetimeMs - livedMs),
      idle: new Stopwatch(this.#clock, idleMs),
      saved: new Stopwatch(this.#clock, idleMs),
      signedIn: new Stopwatch(this.#clock, signedInMs),
      authTimeMs: status.authTimeMs,
      lastActivityAtMs: status.lastActivityAtMs,
      issuerGrant: spec.issuerGrant,
      ended: undefined,
    };
  }

  #sweepLater(): () => void {
    return this.#clock.after(SWEEP_INTERVAL_MS, () => {
      for (const session of [...this.#live.values()]) {
        guarded('sweep of the sessions', () => {
          const reason = this.#judge(session);
          if (reason) this.#end(session, reason);
        });
      }
      this.#stopSweep = this.#sweepLater();
    });
  }
}

export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function endedRefusal(reason: EndReason): Refusal {
  return reason === 'inactive'
    ? new Refusal('unauthenticated', 'the session was ended after inactivity; sign in again', { code: 'session_inactive' })
    : new Refusal('unauthenticated', 'the session has ended; sign in again', { code: 'session_ended' });
}
