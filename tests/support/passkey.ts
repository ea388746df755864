/** An authenticator in software (Web Authentication 6): makes a key for a host name and answers challenges with it; every part can be wrong on purpose. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { Assertion, Attestation } from '../../src/domains/access/passkeys/bodies.js';

const UP = 0x01;
const UV = 0x04;
const SYNCED = 0x08;
const ATTESTED = 0x40;
export const FLAGS = { none: 0, present: UP, verified: UP | UV, synced: UP | UV | SYNCED };

export type CoseKey = readonly (readonly [label: number, value: number | Buffer])[];

export interface Wrong {
  readonly origin?: string;
  readonly rpID?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly crossOrigin?: boolean;
  readonly flags?: number;
  readonly counter?: number;
  readonly algorithm?: number;
  /** Of the attestation; any but `none` has a certificate. */
  readonly format?: string;
  readonly id?: string;
  /** Members of the COSE key that is registered in place of its own. */
  readonly cose?: CoseKey;
  readonly userHandle?: string;
  /** Signs in its place. */
  readonly key?: KeyObject;
}

export interface SoftPasskey {
  readonly id: string;
  make(options: { readonly challenge: string }, wrong?: Wrong): Attestation;
  answer(options: { readonly challenge: string }, wrong?: Wrong): Assertion;
}

export function softPasskey(rpID: string, origin: string): SoftPasskey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const credential = randomBytes(32);
  const id = credential.toString('base64url');
  let counter = 0;
  let madeWith = FLAGS.verified;
  const clientData = (type: string, challenge: string, wrong: Wrong): Buffer =>
    Buffer.from(JSON.stringify({ type: wrong.type ?? type, challenge: wrong.challenge ?? challenge, origin: wrong.origin ?? origin, crossOrigin: wrong.crossOrigin ?? false }));
  const head = (wrong: Wrong, more: number): Buffer => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(wrong.counter ?? (counter += 1));
    return Buffer.concat([sha256(wrong.rpID ?? rpID), Buffer.from([(wrong.flags ?? madeWith) | more]), count]);
  };
  return {
    id,
    make({ challenge }, wrong = {}) {
      madeWith = wrong.flags ?? FLAGS.verified;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credential.length);
      const own: CoseKey = [
        [1, 2],
        [3, wrong.algorithm ?? -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ];
      const cose = map((wrong.cose ?? own).map(([label, value]) => [int(label), typeof value === 'number' ? int(value) : bytes(value)]));
      const authData = Buffer.concat([head(wrong, ATTESTED), Buffer.alloc(16), length, credential, cose]);
      const statement = wrong.format === undefined ? map([]) : map([[text('x5c'), Buffer.from([0x80])]]);
      const attestation = map([
        [text('fmt'), text(wrong.format ?? 'none')],
        [text('attStmt'), statement],
        [text('authData'), bytes(authData)],
      ]);
      const clientDataJSON = clientData('webauthn.create', challenge, wrong).toString('base64url');
      return { id: wrong.id ?? id, clientDataJSON, attestationObject: attestation.toString('base64url'), transports: ['usb', 'of tomorrow'] };
    },
    answer({ challenge }, wrong = {}) {
      const client = clientData('webauthn.get', challenge, wrong);
      const authData = head(wrong, 0);
      const { userHandle, key = privateKey } = wrong;
      const signature = sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', Buffer.concat([authData, sha256(client)]), key);
      return {
        id: wrong.id ?? id,
        clientDataJSON: client.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
        ...(userHandle === undefined ? {} : { userHandle }),
      };
    },
  };
}

function sha256(what: string | Buffer): Buffer {
  return createHash('sha256').update(what).digest();
}

// CBOR (RFC 8949 3.1), as far as it is needed here

function headOf(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255]);
}

function int(value: number): Buffer {
  return value < 0 ? headOf(1, -1 - value) : headOf(0, value);
}

function bytes(value: Buffer): Buffer {
  return Buffer.concat([headOf(2, value.length), value]);
}

function text(value: string): Buffer {
  return Buffer.concat([headOf(3, value.length), Buffer.from(value)]);
}

function map(pairs: readonly (readonly [Buffer, Buffer])[]): Buffer {
  return Buffer.concat([headOf(5, pairs.length), ...pairs.flat()]);
}
