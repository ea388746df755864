/**
 * Panels (D-C-18, ADR 0124): screens that watch their site while nobody is signed in. An administrator enrols one by the code that it shows;
 * from then on it proves itself with a device key that it cannot give away, and is given ordinary access tokens that end.
 *
 * A panel has no session of a person: its tokens are good until they expire or the panel is revoked, and each renewal is its activity.
 * A right signature is always let in, whoever else has failed from the same address: a panel is its own source (D-C-21).
 */
import { randomUUID } from 'node:crypto';
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import { Stopwatch } from '../../../platform/base/elapsed.js';
import { guarded } from '../../../platform/base/guarded.js';
import { isLoopback } from '../../../platform/base/ip-address.js';
import { conflict, invalid, missing, Refusal } from '../../../platform/base/refusal.js';
import { checkResourceName } from '../../../platform/base/resource-name.js';
import type { Authenticator } from '../../../platform/http/authenticator.js';
import { panelActor } from '../../../platform/http/caller.js';
import type { AuditEntry, RequestContext } from '../../../platform/http/route.js';
import type { AuditDraft } from '../../../platform/store/audit-record.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Change, Store } from '../../../platform/store/store.js';
import { Challenges } from '../challenges.js';
import { Panel, type PanelSpec, type PanelStatus } from '../kind.js';
import type { LockOuts } from '../lockouts.js';
import type { SessionTokens, TokenClaims } from '../session-token.js';
import { checkDeviceKey, type DeviceKey, isSignedBy, keyIdOf } from './device-key.js';
import { type Enrolment, Enrolments } from './enrolments.js';

export type PanelResource = Resource<PanelSpec, PanelStatus>;
type Context = RequestContext<unknown, unknown>;

export const CHALLENGE_WITHIN_MS = 60_000;
const RENEWAL = 'renewal';

/** Names no user can have: the lock-outs of codes that nobody shows, and of proofs that do not hold. */
const CODES = 'panel:codes';
const PROOFS = 'panel:proofs';
const SESSION = 'panel/';
const TARGET = { kind: 'Panel', name: '', site: '' } as const;

export interface PanelIdentity {
  readonly accountId: string;
  readonly username: string;
  readonly displayName: string;
  readonly site: string;
}

export interface PanelParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: { readonly accessTokenLifetimeMs: number; readonly inactivityTimeoutMs: number };
  readonly lockOuts: LockOuts;
  readonly tokens: SessionTokens;
  readonly siteExists: (site: string) => boolean;
}

export interface PanelToken {
  readonly panel: PanelResource;
  readonly token: string;
  readonly claims: TokenClaims;
  readonly lifeMs: number;
}

export class Panels {
  readonly #parts: PanelParts;
  readonly #challenges: Challenges;
  readonly #enrolments: Enrolments;
  /** By account, since this start: whence each has renewed, and since when. A renewal that goes on from there is no news for the audit trail. */
  readonly #contacts = new Map<string, { readonly from: string; readonly since: Stopwatch }>();
  readonly #identities = new WeakMap<PanelSpec, PanelIdentity>();
  readonly #listeners: ((sessionId: string) => void)[] = [];

  constructor(parts: PanelParts) {
    this.#parts = parts;
    this.#challenges = new Challenges(parts.clock, { withinMs: CHALLENGE_WITHIN_MS, tooMany: 'this panel renews its token too often' });
    this.#enrolments = new Enrolments(parts.clock);
  }

  /** Panels that were revoked: their streams close. */
  onEnded(listener: (sessionId: string) => void): void {
    this.#listeners.push(listener);
  }

  list(): readonly PanelResource[] {
    return this.#parts.store.list(Panel, '');
  }

  /** @throws Refusal 404. */
  get(name: string): PanelResource {
    const found = this.#parts.store.get(Panel, '', name);
    if (!found) throw missing('panel', name);
    return found;
  }

  sessionOf({ metadata, spec }: PanelResource): string {
    return `${SESSION}${metadata.name}/${spec.accountId}`;
  }

  /** As `KnownPanels` has it; the same object while nothing has changed. */
  identityOf(sessionId: string): PanelIdentity | undefined {
    if (!sessionId.startsWith(SESSION)) return undefined;
    const [, name = '', accountId] = sessionId.split('/');
    const spec = this.#parts.store.get(Panel, '', name)?.spec;
    if (!spec || spec.accountId !== accountId) throw new Refusal('unauthenticated', 'this panel is not enrolled any more', { code: 'session_ended' });
    let identity = this.#identities.get(spec);
    if (!identity) this.#identities.set(spec, (identity = { accountId: spec.accountId, username: name, displayName: spec.displayName, site: spec.site }));
    return identity;
  }

  /** Whose failures a sign-in counts among (D-C-21): those of the panel that it is made at, else those of the address. */
  async sourceOf({ sourceIP, header }: Pick<Context, 'sourceIP' | 'header'>, authenticator: Authenticator): Promise<string> {
    const authorization = header('authorization');
    if (authorization === undefined) return sourceIP;
    try {
      const caller = authenticator.authenticate(authorization, await authenticator.prove?.(authorization));
      return caller.kind === 'panel' ? `panel-${caller.username}` : sourceIP;
    } catch (fault) {
      if (fault instanceof Refusal) return sourceIP;
      throw fault;
    }
  }

  /** @returns the code that the panel shows. @throws Refusal 403 where the page is no secure context, 409 for a key that is enrolled. */
  begin(context: Context, publicKey: DeviceKey): { readonly code: string; readonly keyID: string } {
    refuseInsecure(context);
    checkDeviceKey(publicKey);
    const keyID = keyIdOf(publicKey);
    if (this.#byKey(keyID)) throw enrolled();
    return { code: this.#enrolments.begin(keyID, publicKey, context.sourceIP), keyID };
  }

  /** By an administrator. @throws Refusal 400 for a code that no panel shows, 409 for a name that is taken. */
  async enrol(context: Context, { code, name, site, displayName = name }: { code: string; name: string; site: string; displayName?: string | undefined }): Promise<PanelResource> {
    checkResourceName(name);
    if (!this.#parts.siteExists(site)) throw invalid('unknown_reference', 'site', `site ${site} does not exist`);
    this.#refuseTaken(name);
    const attempt = await this.#parts.lockOuts.begin(CODES, context.sourceIP);
    try {
      context.judgeAgain();
      this.#refuseTaken(name); // another request may have taken it meanwhile
      const enrolment = this.#enrolments.take(code);
      if (!enrolment) return await this.#refuseCode(context, name, attempt.fail().change);
      if (this.#byKey(enrolment.keyID)) throw enrolled(); // under another code, while the first one could not be written
      return await this.#put(context, enrolment, { name, site, displayName }, attempt.succeed());
    } finally {
      attempt.cancel();
    }
  }

  /** Ends its tokens and streams at once. */
  async revoke(context: Context, name: string): Promise<void> {
    const panel = this.get(name);
    const audit = context.audit({ site: panel.spec.site, before: shown(panel.spec) });
    const applied = this.#parts.store.apply({ removes: [{ kind: Panel.kind, site: '', name }], audits: [audit] });
    this.#challenges.forget(panel.spec.accountId);
    this.#contacts.delete(panel.spec.accountId);
    for (const listener of this.#listeners) guarded('listener of revoked panels', () => listener(this.sessionOf(panel)));
    await applied.durable;
  }

  /** @throws Refusal 401 for a key that is none of a panel. */
  challenge(keyID: string): string {
    const panel = this.#byKey(keyID);
    if (!panel) throw new Refusal('unauthenticated', 'this panel is not enrolled: an administrator enrols it by the code that it shows', { code: 'panel_not_enrolled' });
    return this.#challenges.issue(panel.spec.accountId, RENEWAL);
  }

  /**
   * On record goes the first contact after a start of the box, one after an absence that was longer than the life of a token, and one from another
   * address: 20 panels that stand where they stood would fill the audit trail otherwise.
   *
   * @throws Refusal 401 `panel_refused`, the same for every way in which the proof does not hold.
   */
  async renew(context: Context, { keyID, challenge, signature }: { keyID: string; challenge: string; signature: string }): Promise<PanelToken> {
    const panel = this.#byKey(keyID);
    if (!panel || !this.#challenges.holds(challenge, panel.spec.accountId, RENEWAL) || !isSignedBy(panel.spec.publicKey, challenge, signature)) return this.#refuseProof(context);
    this.#challenges.use(challenge, panel.spec.accountId);
    const { clock, settings, store, tokens } = this.#parts;
    const lifeMs = Math.min(settings.accessTokenLifetimeMs, settings.inactivityTimeoutMs);
    const { accountId, displayName, site } = panel.spec;
    const { name } = panel.metadata;
    const subject = { accountId, username: name, displayName, groups: [] };
    const { token, claims } = await tokens.issue(subject, { sid: this.sessionOf(panel), lifeMs, signedIn: new Stopwatch(clock), authTimeMs: clock.wallMs() });
    const entry: AuditEntry = { action: 'Request', category: 'auth', site, target: { ...TARGET, name }, details: { method: 'panel' } };
    const audit: AuditDraft = { ...context.audit(entry), actor: panelActor(subject, context.sourceIP) };
    const status: PanelStatus = { lastContactAt: timestamp(clock.wallMs()), lastContactFrom: context.sourceIP };
    // one that was revoked meanwhile does not come back
    const isThere = (): boolean => store.get(Panel, '', name)?.spec.accountId === accountId;
    const contact = { from: context.sourceIP, since: new Stopwatch(clock) };
    const audits = this.#goesOn(accountId, context.sourceIP, lifeMs) ? [] : [audit];
    // while the storage refuses, a renewal takes the place of the one before: not that of one that has a record
    const key = `panel/${accountId}/${audits.length}`;
    await store.writeOrKeep(() => ({ puts: isThere() ? [{ kind: Panel, site: '', name, status }] : [], audits }), { as: 'session', key });
    if (isThere()) this.#contacts.set(accountId, contact);
    return { panel: this.#present(name, accountId), token, claims, lifeMs };
  }

  #goesOn(accountId: string, sourceIP: string, lifeMs: number): boolean {
    const last = this.#contacts.get(accountId);
    return last?.from === sourceIP && last.since.elapsedMs <= lifeMs;
  }

  #present(name: string, accountId: string): PanelResource {
    const panel = this.#parts.store.get(Panel, '', name);
    if (panel?.spec.accountId !== accountId) throw refused();
    return panel;
  }

  async #put(
    context: Context,
    enrolment: Enrolment,
    told: { name: string; site: string; displayName: string },
    { puts, removes }: Pick<Change, 'puts' | 'removes'>,
  ): Promise<PanelResource> {
    const { name, site, displayName } = told;
    const { keyID, publicKey, sourceIP } = enrolment;
    const spec: PanelSpec = { accountId: randomUUID(), displayName, site, keyID, publicKey, enrolledBy: context.caller.username, enrolledFrom: sourceIP };
    const audit = context.audit({ site, target: { ...TARGET, name }, after: shown(spec) });
    try {
      const { resources } = await this.#parts.store.write({ puts: [{ kind: Panel, site: '', name, spec }, ...(puts ?? [])], removes: removes ?? [], audits: [audit] });
      return resources[0] as PanelResource;
    } catch (fault) {
      this.#enrolments.giveBack(enrolment);
      throw fault;
    }
  }

  async #refuseCode(context: Context, name: string, change: Pick<Change, 'puts' | 'removes'>): Promise<never> {
    const audit = context.audit({ target: { ...TARGET, name }, result: 'Rejected', reason: 'UnknownPanelCode' });
    await this.#parts.store.write({ ...change, audits: [audit] });
    throw invalid('unknown_panel_code', 'code', 'no panel shows this code now: read it again at the panel, which shows another one after ten minutes');
  }

  async #refuseProof(context: Context): Promise<never> {
    const attempt = await this.#parts.lockOuts.begin(PROOFS, context.sourceIP);
    const audit = context.audit({ action: 'Login', category: 'auth', target: TARGET, result: 'Rejected', reason: 'PanelRefused', details: { method: 'panel' } });
    await this.#parts.store.writeOrKeep({ ...attempt.fail().change, audits: [audit] }, { as: 'refusal' });
    throw refused();
  }

  #refuseTaken(name: string): void {
    if (this.#parts.store.get(Panel, '', name))
      throw conflict('already_exists', `panel ${name} exists already; revoke it first where another screen takes its place`, { kind: 'Panel', name });
  }

  #byKey(keyID: string): PanelResource | undefined {
    return this.list().find(({ spec }) => spec.keyID === keyID);
  }
}

/** As browsers judge it (W3C Secure Contexts 3.1): elsewhere they have no key that stays where it is. */
function refuseInsecure({ secure, host = '' }: Context): void {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  if (secure || isLoopback(name)) return;
  throw new Refusal('forbidden', INSECURE, { code: 'insecure_context' });
}

export const INSECURE = 'a panel is enrolled over TLS, or at the box itself (http://localhost): over plain HTTP from another host a browser keeps no device key';

function enrolled(): Refusal {
  return conflict('panel_enrolled', 'this panel is enrolled already');
}

function refused(): Refusal {
  return new Refusal('unauthenticated', 'the proof of the panel does not hold: ask for another challenge', { code: 'panel_refused' });
}

/** What an audit record shows of a panel. */
function shown({ displayName, site, keyID, enrolledFrom }: PanelSpec): Record<string, unknown> {
  return { displayName, site, keyID, enrolledFrom };
}
