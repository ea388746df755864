/**
 * Passkeys of the accounts of this box (ADR 0125): keys that a browser, a phone or a token keeps, as a second factor beside the password.
 *
 * Invariants: a challenge opens one thing. It is used in the turn in which its answer comes in, before the answer is looked at, and whether what was
 * proven still counts is judged in the turn of the effect. The counter of a key never goes back, whatever the disk says.
 */
import { createHash } from 'node:crypto';
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import { conflict, invalid, missing } from '../../../platform/base/refusal.js';
import { sortedBy } from '../../../platform/http/paged-list.js';
import type { Ref, Resource } from '../../../platform/store/resource.js';
import type { Put, Store } from '../../../platform/store/store.js';
import { Challenges } from '../challenges.js';
import { Passkey, type PasskeySpec, type PasskeyStatus } from '../kind.js';
import { type Assertion, type Attestation, knownTransports, type PasskeyBody, type PasskeyCreation, type PasskeyRequest, type PasskeysOffered } from './bodies.js';
import { type Party, unavailable, type WhyNot } from './party.js';
import { ALGORITHMS, challengeOf, type Made, NotProven, prepare, verifyAnswer, verifyMade, type Why } from './protocol.js';

export const PASSKEYS_MAX = 10;
/** A person looks for his key, touches it and enters its PIN. */
const WITHIN_MS = 2 * 60_000;
const ID_LENGTH = 16;

export type PasskeyPut = Put<PasskeySpec, PasskeyStatus>;
type PasskeyResource = Resource<PasskeySpec, PasskeyStatus>;

/** Whose they are. */
export interface Owner {
  /** Resource name of the account. */
  readonly account: string;
  readonly accountId: string;
}

/** What came of an answer; whether it counts is judged in the turn of what it opens. */
export type Shown = { readonly proven: string; readonly counter: number } | { readonly why: Why };

export type PasskeyVerdict =
  | { readonly is: 'right'; readonly by: 'passkey'; readonly name: string; readonly puts: readonly PasskeyPut[] }
  | { readonly is: 'wrong'; readonly why: Why; readonly details: Readonly<Record<string, unknown>> };

export interface PasskeyParts {
  readonly store: Store;
  readonly clock: Clock;
  /** How the box is called where a key is made. */
  readonly title: string;
  /** Of this moment: the port is known once the gateway is heard. */
  readonly party: () => Party | WhyNot;
}

export class Passkeys {
  readonly #parts: PasskeyParts;
  readonly #challenges: Challenges;
  /** By resource; ahead of the disk. */
  readonly #counters = new Map<string, number>();

  constructor(parts: PasskeyParts) {
    this.#parts = parts;
    this.#challenges = new Challenges(parts.clock, { withinMs: WITHIN_MS, tooMany: 'this account uses its passkeys too often' });
    parts.store.watch(Passkey, ({ type, resource }) => type === 'remove' && this.#counters.delete(resource.metadata.name));
  }

  get offered(): PasskeysOffered {
    const party = this.#parts.party();
    return typeof party === 'string' ? { offered: false, origins: [], why: party } : { offered: true, origins: [...party.origins], why: null };
  }

  /** Of an account, the oldest first. A row that was moved to it from another one is none of it. */
  of({ account, accountId }: Owner): readonly PasskeyResource[] {
    const own = this.#parts.store
      .list(Passkey, '')
      .filter(({ metadata, spec }) => spec.account === account && spec.accountId === accountId && metadata.name === nameOf(account, idOf(spec.credentialID)));
    return sortedBy(own, ({ metadata }) => [metadata.createdAt, metadata.name]);
  }

  views(owner: Owner): PasskeyBody[] {
    const party = this.#parts.party();
    return this.of(owner).map((passkey) => viewOf(passkey, isUsable(passkey, party)));
  }

  /** Those of the account that open something under the present name of the box. */
  usable(owner: Owner): readonly PasskeyResource[] {
    const party = this.#parts.party();
    return this.of(owner).filter((passkey) => isUsable(passkey, party));
  }

  /** How many were made for another name than that of the box, by name. */
  stranded(): ReadonlyMap<string, number> {
    const party = this.#parts.party();
    const counts = new Map<string, number>();
    for (const passkey of this.#parts.store.list(Passkey, '')) {
      const { rpID } = passkey.spec;
      if (!isUsable(passkey, party)) counts.set(rpID, (counts.get(rpID) ?? 0) + 1);
    }
    return counts;
  }

  // -------------------------------------------------------------- using one

  /** For the browser. @returns undefined where none of the account can be used here. */
  ask(owner: Owner, purpose: string): PasskeyRequest | undefined {
    const party = this.#parts.party();
    const usable = this.usable(owner);
    if (typeof party === 'string' || usable.length === 0) return undefined;
    prepare();
    return {
      challenge: this.#challenges.issue(owner.accountId, purpose),
      rpId: party.rpID,
      timeout: WITHIN_MS,
      userVerification: 'required',
      allowCredentials: usable.map(descriptorOf),
    };
  }

  /** Takes the challenge, right or wrong. */
  async prove(owner: Owner, purpose: string, answer: Assertion): Promise<Shown> {
    const party = this.#parts.party();
    const challenge = challengeOf(answer);
    if (typeof party === 'string' || challenge === undefined || !this.#challenges.holds(challenge, owner.accountId, purpose)) return { why: 'challenge' };
    this.#challenges.use(challenge, owner.accountId);
    const passkey = this.usable(owner).find(({ spec }) => spec.credentialID === answer.id);
    if (!passkey || (answer.userHandle !== undefined && answer.userHandle !== handleOf(owner.accountId))) return { why: 'credential' };
    try {
      return { proven: passkey.metadata.name, counter: await verifyAnswer(answer, passkey.spec, challenge, party) };
    } catch (fault) {
      if (!(fault instanceof NotProven)) throw fault;
      return { why: fault.why };
    }
  }

  /** In the turn of the effect: it may have been removed meanwhile, or used with a later counter. */
  judge(owner: Owner, shown: Shown): PasskeyVerdict {
    if ('why' in shown) return { is: 'wrong', why: shown.why, details: {} };
    const { proven, counter } = shown;
    const passkey = this.of(owner).find(({ metadata }) => metadata.name === proven);
    if (!passkey) return { is: 'wrong', why: 'credential', details: {} };
    const known = Math.max(this.#counters.get(proven) ?? 0, passkey.status.counter);
    // one that counts has signed elsewhere what it has not signed here: there are two of it (Web Authentication 6.1.1)
    if ((counter > 0 || known > 0) && counter <= known) return { is: 'wrong', why: 'counter', details: { passkey: passkey.spec.title, counter, counterBefore: known } };
    this.#counters.set(proven, counter);
    const status: PasskeyStatus = { lastUsedAt: timestamp(this.#parts.clock.wallMs()), counter };
    return { is: 'right', by: 'passkey', name: passkey.spec.title, puts: [{ kind: Passkey, site: '', name: proven, status }] };
  }

  // -------------------------------------------------------------- making one

  /** @throws Refusal 409 where passkeys cannot be used here, or the account has as many as it may. */
  checkRoom(owner: Owner): Party {
    const party = this.#parts.party();
    if (typeof party === 'string') throw unavailable(party);
    if (this.of(owner).length >= PASSKEYS_MAX) throw conflict('passkey_limit', `an account has at most ${PASSKEYS_MAX} passkeys: remove one that is not used any more first`);
    return party;
  }

  /** For the browser; a passkey that is made of it is taken from this session only. */
  begin(owner: Owner, { username, displayName }: { readonly username: string; readonly displayName: string }, sessionId: string): PasskeyCreation {
    const { rpID } = this.checkRoom(owner);
    prepare();
    return {
      challenge: this.#challenges.issue(owner.accountId, making(sessionId)),
      rp: { id: rpID, name: this.#parts.title },
      user: { id: handleOf(owner.accountId), name: username, displayName },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
      timeout: WITHIN_MS,
      attestation: 'none',
      authenticatorSelection: { residentKey: 'discouraged', userVerification: 'required' },
      excludeCredentials: this.usable(owner).map(descriptorOf),
    };
  }

  /** Takes the challenge, right or wrong. @throws NotProven, Refusal 409. */
  async make(owner: Owner, sessionId: string, title: string, given: Attestation): Promise<Made> {
    const party = this.checkRoom(owner);
    this.#refuseTaken(owner, title);
    const challenge = challengeOf(given);
    if (challenge === undefined || !this.#challenges.holds(challenge, owner.accountId, making(sessionId))) throw new NotProven('challenge');
    this.#challenges.use(challenge, owner.accountId);
    return verifyMade(given, challenge, party);
  }

  /** In the turn in which it is stored. @throws Refusal 409. */
  put(owner: Owner, title: string, { credentialID, publicKey, counter, synced }: Made, transports: readonly string[]): PasskeyPut {
    const { rpID } = this.checkRoom(owner);
    this.#refuseTaken(owner, title);
    if (this.#parts.store.list(Passkey, '').some(({ spec }) => spec.credentialID === credentialID))
      throw conflict('passkey_registered', 'this passkey is registered already: make another one');
    const name = nameOf(owner.account, idOf(credentialID));
    const spec: PasskeySpec = { ...owner, title, credentialID, publicKey, rpID, transports: knownTransports(transports), synced };
    return { kind: Passkey, site: '', name, spec, status: { lastUsedAt: null, counter } };
  }

  view(owner: Owner, id: string): PasskeyBody {
    return viewOf(this.get(owner, id), true);
  }

  /** @throws Refusal 404. */
  get(owner: Owner, id: string): PasskeyResource {
    const found = this.of(owner).find(({ metadata }) => metadata.name === nameOf(owner.account, id));
    if (!found) throw missing('passkey', id);
    return found;
  }

  /** What is to be removed with the account, or by a reset: those whose row cannot be read as well, so that none comes back with it. */
  refsOf(account: string): readonly Ref[] {
    const { store } = this.#parts;
    const readable = store.list(Passkey, '').filter(({ spec }) => spec.account === account);
    const damaged = store.faults.filter(({ kind, name, kept }) => kind === Passkey.kind && !kept && name.startsWith(nameOf(account, '')));
    return [...readable.map(({ metadata }) => refOf(metadata.name)), ...damaged.map(({ name }) => refOf(name))];
  }

  #refuseTaken(owner: Owner, title: string): void {
    if (this.of(owner).some(({ spec }) => spec.title === title)) throw conflict('already_exists', `you have a passkey named ${title} already: choose another name`);
  }
}

export function idOf(credentialID: string): string {
  return createHash('sha256').update(credentialID).digest('hex').slice(0, ID_LENGTH);
}

export function refOf(name: string): Ref {
  return { kind: Passkey.kind, site: '', name };
}

const REASONS: Partial<Readonly<Record<Why, string>>> = {
  challenge: 'its challenge is over or was used before: begin again',
  origin: 'it was made on a page of another address',
  'rp-id': 'it was made for another host name',
  'user-verification': 'it does not verify who uses it: set a PIN or a fingerprint for it first',
  algorithm: 'it signs by none of EdDSA, ES256 and RS256',
  attestation: 'it comes with an attestation, and none was asked for',
  key: 'its key is no key, or one that anybody signs with: use another authenticator',
  size: 'its key is larger than this box keeps',
};

export function invalidPasskey(why: Why) {
  return invalid('invalid_passkey', 'credential', `the passkey cannot be registered: ${REASONS[why] ?? 'what the browser sent is no passkey'}`, { why });
}

/** No account name has a slash (D-AUTH-02). */
function nameOf(account: string, id: string): string {
  return `${account}/${id}`;
}

function isUsable({ spec }: PasskeyResource, party: Party | WhyNot): boolean {
  return typeof party !== 'string' && spec.rpID === party.rpID;
}

function viewOf({ metadata, spec, status }: PasskeyResource, usable: boolean): PasskeyBody {
  const { title: name, rpID, synced } = spec;
  return { id: idOf(spec.credentialID), name, createdAt: metadata.createdAt, lastUsedAt: status.lastUsedAt, rpID, usable, synced };
}

function descriptorOf({ spec }: PasskeyResource) {
  return { type: 'public-key' as const, id: spec.credentialID, transports: knownTransports(spec.transports) };
}

/** What a key that names its owner names him by: nothing that tells who he is (Web Authentication 14.6.1). */
function handleOf(accountId: string): string {
  return Buffer.from(accountId).toString('base64url');
}

function making(sessionId: string): string {
  return `make/${sessionId}`;
}
