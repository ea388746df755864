/**
 * What a passkey has signed, checked by rule (Web Authentication 7.1, 7.2). The library that does so takes 25 MB and some 0.6 s of a processor
 * to load, so that it is loaded when the first passkey is about to be used and not before.
 *
 * Attestations are not asked for: what the maker of a key says of it is not looked at, but for the one form that a browser may pass on all the same.
 */
import * as v from 'valibot';
import { guardedPromise } from '../../../platform/base/guarded.js';
import { type Assertion, type Attestation, CREDENTIAL_ID_BYTES_MAX } from './bodies.js';
import type { Party } from './party.js';
import { flawOf } from './public-key.js';

/** What was wrong with it, as the audit trail tells it. */
export type Why =
  | 'malformed'
  | 'type'
  | 'challenge'
  | 'origin'
  | 'rp-id'
  | 'user-verification'
  | 'algorithm'
  | 'attestation'
  | 'size'
  | 'key'
  | 'credential'
  | 'signature'
  | 'synced'
  | 'counter';

/** COSE: EdDSA, ES256, RS256, in the order in which they are asked for. */
export const ALGORITHMS = [-8, -7, -257] as const;
/** RSA with 4096 bits takes 540. */
const PUBLIC_KEY_BYTES_MAX = 1024;

const ClientData = v.object({ challenge: v.string(), crossOrigin: v.optional(v.boolean(), false) });

/** The faults of the library have no code. The first that fits counts. */
const WHYS: readonly (readonly [RegExp, Why])[] = [
  [/response type/, 'type'],
  [/challenge/, 'challenge'],
  [/origin/, 'origin'],
  [/RP ID/, 'rp-id'],
  [/user verification|user presence|user not present/i, 'user-verification'],
  [/public key alg/, 'algorithm'],
  [/attestation/i, 'attestation'],
];

export class NotProven extends Error {
  readonly why: Why;

  constructor(why: Why) {
    super(why);
    this.name = 'NotProven';
    this.why = why;
  }
}

export interface Credential {
  readonly credentialID: string;
  /** COSE key, base64url. */
  readonly publicKey: string;
  /** Whether its maker may copy it; no key that could not be copied can be from then on. */
  readonly synced: boolean;
}

export interface Made extends Credential {
  readonly counter: number;
}

/** So that whoever has touched his key does not wait for it. */
export function prepare(): void {
  guardedPromise('library of passkeys', load);
}

/** The challenge that was answered; nothing else of it is proven yet. */
export function challengeOf({ clientDataJSON }: Pick<Assertion, 'clientDataJSON'>): string | undefined {
  try {
    const { challenge, crossOrigin } = v.parse(ClientData, JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()));
    return crossOrigin ? undefined : challenge; // no page of the box stands in a frame of another one
  } catch {
    return undefined; // whatever it is, it answers nothing
  }
}

/** @throws NotProven */
export async function verifyMade({ id, clientDataJSON, attestationObject }: Attestation, challenge: string, { rpID, origins }: Party): Promise<Made> {
  const { verifyRegistrationResponse, decodeAttestationObject, isoCBOR } = await load();
  return whatHolds(async () => {
    const attested = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
    const format = attested.get('fmt');
    if (format !== 'none' && !(format === 'packed' && attested.get('attStmt').get('x5c') === undefined)) throw new NotProven('attestation');
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response: { clientDataJSON, attestationObject } },
      expectedChallenge: challenge,
      expectedOrigin: [...origins],
      expectedRPID: rpID,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!verified) throw new NotProven('attestation');
    const { credential, credentialDeviceType } = registrationInfo;
    const publicKey = Buffer.from(credential.publicKey);
    if (publicKey.length > PUBLIC_KEY_BYTES_MAX || Buffer.from(credential.id, 'base64url').length > CREDENTIAL_ID_BYTES_MAX) throw new NotProven('size');
    if (credential.id !== id) throw new NotProven('credential');
    const flaw = flawOf(isoCBOR.decodeFirst<Map<number, unknown>>(new Uint8Array(publicKey)));
    if (flaw) throw new NotProven(flaw);
    return { credentialID: credential.id, publicKey: publicKey.toString('base64url'), counter: credential.counter, synced: credentialDeviceType === 'multiDevice' };
  });
}

/** @returns the counter of signatures that the key tells, which is judged apart. @throws NotProven */
export async function verifyAnswer(answer: Assertion, { credentialID: id, publicKey, synced }: Credential, challenge: string, { rpID, origins }: Party): Promise<number> {
  const { verifyAuthenticationResponse } = await load();
  return whatHolds(async () => {
    const { clientDataJSON, authenticatorData, signature } = answer;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response: { clientDataJSON, authenticatorData, signature } },
      expectedChallenge: challenge,
      expectedOrigin: [...origins],
      expectedRPID: rpID,
      requireUserVerification: true,
      credential: { id, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter: 0 },
    });
    if (!verified) throw new NotProven('signature');
    if ((authenticationInfo.credentialDeviceType === 'multiDevice') !== synced) throw new NotProven('synced');
    return authenticationInfo.newCounter;
  });
}

/** What somebody sends in can be anything, and the library throws whatever it trips over: all of it means that nothing is proven. */
async function whatHolds<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (fault) {
    if (fault instanceof NotProven) throw fault;
    const text = fault instanceof Error ? fault.message : String(fault);
    throw new NotProven(WHYS.find(([words]) => words.test(text))?.[1] ?? 'malformed');
  }
}

async function load() {
  const [server, { decodeAttestationObject, isoCBOR }] = await Promise.all([import('@simplewebauthn/server'), import('@simplewebauthn/server/helpers')]);
  return { ...server, decodeAttestationObject, isoCBOR };
}
