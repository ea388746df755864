/** What a browser and the box tell each other of passkeys: the members of Web Authentication that count, binary ones in base64url. */
import * as v from 'valibot';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import type { ToldBy } from '../../../platform/http/replies.js';
import { WHY_NOT } from './party.js';

/** Web Authentication 4, "credential ID". */
export const CREDENTIAL_ID_BYTES_MAX = 1023;
const CLIENT_DATA_BYTES_MAX = 2048;
const AUTHENTICATOR_DATA_BYTES_MAX = 2048;
const ATTESTATION_BYTES_MAX = 8192;
/** RSA with 4096 bits takes 512. */
const SIGNATURE_BYTES_MAX = 1024;
const USER_HANDLE_BYTES_MAX = 64;
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;
const TRANSPORTS_MAX = 16;
const TRANSPORT_LENGTH_MAX = 32;

function bytes(max: number) {
  return v.pipe(v.string(), v.maxLength(Math.ceil((max * 4) / 3), `must have at most ${max} bytes`), v.regex(/^[A-Za-z0-9_-]+$/, 'must be base64url, without padding'));
}

/** The answer of a passkey to a challenge (`AuthenticatorAssertionResponse`). */
export const Assertion = v.strictObject({
  id: bytes(CREDENTIAL_ID_BYTES_MAX),
  clientDataJSON: bytes(CLIENT_DATA_BYTES_MAX),
  authenticatorData: bytes(AUTHENTICATOR_DATA_BYTES_MAX),
  signature: bytes(SIGNATURE_BYTES_MAX),
  userHandle: v.optional(bytes(USER_HANDLE_BYTES_MAX)),
});
export type Assertion = v.InferOutput<typeof Assertion>;

/** A passkey that was just made (`AuthenticatorAttestationResponse`). */
export const Attestation = v.strictObject({
  id: bytes(CREDENTIAL_ID_BYTES_MAX),
  clientDataJSON: bytes(CLIENT_DATA_BYTES_MAX),
  attestationObject: bytes(ATTESTATION_BYTES_MAX),
  /** How it is reached, as the browser says; what is not known is left out. */
  transports: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(TRANSPORT_LENGTH_MAX, 'must be a word'))), v.maxLength(TRANSPORTS_MAX, 'must be a few words')), []),
});
export type Attestation = v.InferOutput<typeof Attestation>;

export function knownTransports(given: readonly string[]): (typeof TRANSPORTS)[number][] {
  return TRANSPORTS.filter((transport) => given.includes(transport));
}

const Descriptor = v.strictObject({ type: v.literal('public-key'), id: v.string(), transports: v.array(v.picklist(TRANSPORTS)) });

/** `PublicKeyCredentialCreationOptionsJSON` */
export const PasskeyCreation = v.strictObject({
  challenge: v.string(),
  rp: v.strictObject({ id: v.string(), name: v.string() }),
  user: v.strictObject({ id: v.string(), name: v.string(), displayName: v.string() }),
  pubKeyCredParams: v.array(v.strictObject({ type: v.literal('public-key'), alg: v.number() })),
  timeout: v.number(),
  attestation: v.literal('none'),
  authenticatorSelection: v.strictObject({ residentKey: v.literal('discouraged'), userVerification: v.literal('required') }),
  excludeCredentials: v.array(Descriptor),
});
export type PasskeyCreation = ToldBy<typeof PasskeyCreation>;

/** `PublicKeyCredentialRequestOptionsJSON`, in the refusal `second_factor_required`. */
export interface PasskeyRequest {
  readonly challenge: string;
  readonly rpId: string;
  readonly timeout: number;
  readonly userVerification: 'required';
  readonly allowCredentials: readonly ToldBy<typeof Descriptor>[];
}

export const PasskeyBody = v.strictObject({
  id: v.string(),
  name: v.string(),
  createdAt: v.string(),
  lastUsedAt: v.nullable(v.string()),
  /** The host name it was made for. */
  rpID: v.string(),
  /** False where the box has another host name by now, or none: it opens nothing here. */
  usable: v.boolean(),
  /** Whether its maker may copy it to other devices of its owner. */
  synced: v.boolean(),
});
export type PasskeyBody = ToldBy<typeof PasskeyBody>;

/** `recoveryCodes`: with the first factor of an account, and in no other answer. */
export const NewPasskey = v.strictObject({ passkey: PasskeyBody, recoveryCodes: v.nullable(v.array(v.string())) });

/** Whether and where passkeys can be used. */
export const PasskeysOffered = v.strictObject({
  offered: v.boolean(),
  /** Of the pages that can use them. */
  origins: v.array(v.string()),
  /** Where they cannot be used. */
  why: v.nullable(v.picklist(WHY_NOT)),
});
export type PasskeysOffered = ToldBy<typeof PasskeysOffered>;

nameSchemas({ PasskeyAssertion: Assertion, PasskeyAttestation: Attestation, PasskeyCreation, PasskeyBody, NewPasskey, PasskeysOffered });
