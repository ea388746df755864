/**
 * A certificate that the box makes for itself (ADR 0114): ECDSA P-256, version 3 (RFC 5280), for a server and for nothing else. Nobody vouches
 * for it, so people compare its fingerprint. One that is renewed keeps the key, and who has compared it once need not again.
 */
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import { expandIPv6 } from '../base/ip-address.js';
import { bits, explicit, implicit, integer, octets, oid, sequence, set, time, utf8, yes } from './der.js';

export interface SelfSignedWish {
  /** DNS names and addresses; the first one is its subject. */
  readonly names: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** P-256; a new one where it is left out. */
  readonly key?: KeyObject;
}

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

const VERSION_3 = 2;
/** A positive integer of at most 20 bytes (RFC 5280, 4.1.2.2). */
const SERIAL_BYTES = 16;
const DIGITAL_SIGNATURE = { byte: 0x80, unused: 7 };
/** Of the subject of a certificate (RFC 5280, appendix A.1: ub-common-name). */
const COMMON_NAME_CHARACTERS_MAX = 64;
/** GeneralName of RFC 5280, 4.2.1.6. */
const DNS_NAME = 2;
const IP_ADDRESS = 7;

/** @returns key and certificate in one PEM text. */
export function selfSigned({ names, notBeforeMs, notAfterMs, key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey }: SelfSignedWish): string {
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const name = sequence(
    set(sequence(oid(OID.organization), utf8('Lineside self-signed'))),
    set(sequence(oid(OID.commonName), utf8((names[0] ?? 'lineside').slice(0, COMMON_NAME_CHARACTERS_MAX)))),
  );
  const serial = randomBytes(SERIAL_BYTES);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const body = sequence(
    explicit(0, integer(Buffer.from([VERSION_3]))),
    integer(serial),
    algorithm,
    name,
    sequence(time(notBeforeMs), time(notAfterMs)),
    name,
    publicKey,
    explicit(3, extensionsFor(names, publicKey)),
  );
  const certificate = sequence(body, algorithm, bits(sign('sha256', body, key)));
  return `${key.export({ type: 'pkcs8', format: 'pem' }) as string}${pemOf(certificate)}`;
}

function extensionsFor(names: readonly string[], publicKey: Buffer): Buffer {
  const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), octets(value));
  const critical = (id: string, value: Buffer): Buffer => sequence(oid(id), yes(), octets(value));
  return sequence(
    critical(OID.basicConstraints, sequence()),
    critical(OID.keyUsage, bits(Buffer.from([DIGITAL_SIGNATURE.byte]), DIGITAL_SIGNATURE.unused)),
    extension(OID.extendedKeyUsage, sequence(oid(OID.serverAuth))),
    extension(OID.subjectAltName, sequence(...names.map(generalName))),
    extension(OID.subjectKeyIdentifier, octets(createHash('sha1').update(publicKey).digest())),
  );
}

function generalName(name: string): Buffer {
  return isIP(name) === 0 ? implicit(DNS_NAME, Buffer.from(name, 'ascii')) : implicit(IP_ADDRESS, addressBytes(name));
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  return Buffer.from(
    expandIPv6(address)
      .map((group) => group.padStart(4, '0'))
      .join(''),
    'hex',
  );
}

function pemOf(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
