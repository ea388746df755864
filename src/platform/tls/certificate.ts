/**
 * A certificate with its key, as files hold them: read, judged, and told of. Both are PEM; one file may hold both. What is judged are bytes
 * that were read once, so whoever takes the file afterwards looks at it once more.
 */
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../base/clock.js';
import { canonicalIP } from '../base/ip-address.js';
import { readOutsideFile } from '../base/outside-file.js';
import { readPlainFile } from '../base/plain-file.js';
import type { WallMs } from '../base/times.js';

export interface TlsFiles {
  /** The certificate of the server first, then those that it was issued by. */
  readonly certFile: string;
  /** Without a passphrase. */
  readonly keyFile: string;
}

export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** What people and programs compare. */
export interface CertificateFacts {
  /** Of the certificate, lower-case hexadecimal. */
  readonly sha256: string;
  readonly subject: string;
  readonly issuer: string;
  /** DNS names and addresses that it is for, as it has them. */
  readonly names: readonly string[];
  readonly notBeforeMs: WallMs;
  readonly notAfterMs: WallMs;
  readonly isSelfSigned: boolean;
}

/** The message is a sentence that names the file. */
export class UnfitCertificate extends Error {
  override readonly name = 'UnfitCertificate';
}

/** A chain of certificates is some kilobytes. */
const TLS_FILE_BYTES_MAX = 1024 ** 2;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** @throws UnfitCertificate naming the setting and the file that cannot be read. */
export function readPair({ certFile, keyFile }: TlsFiles): TlsPair {
  return { cert: read('gateway.tls.certFile', certFile), key: read('gateway.tls.keyFile', keyFile) };
}

/** As `readPair`, of files that may lie on a share, while the plant is controlled. @throws UnfitCertificate */
export async function readPairBeside({ certFile, keyFile }: TlsFiles, clock: Pick<Clock, 'after'>): Promise<TlsPair> {
  const readBeside = async (setting: string, file: string): Promise<Buffer> => {
    try {
      return await readOutsideFile(file, TLS_FILE_BYTES_MAX, { clock });
    } catch (fault) {
      throw unread(setting, file, fault);
    }
  };
  return { cert: await readBeside('gateway.tls.certFile', certFile), key: await readBeside('gateway.tls.keyFile', keyFile) };
}

function read(setting: string, file: string): Buffer {
  try {
    return readPlainFile(file, TLS_FILE_BYTES_MAX);
  } catch (fault) {
    throw unread(setting, file, fault);
  }
}

function unread(setting: string, file: string, fault: unknown): UnfitCertificate {
  return new UnfitCertificate(`${setting}: ${file} cannot be read (${(fault as NodeJS.ErrnoException).code ?? (fault as Error).message}); put it right, or name another file`);
}

/** Whatever its dates are. @throws UnfitCertificate for what is no certificate with its key. */
export function checkPair(pair: TlsPair, { certFile, keyFile }: TlsFiles): CertificateFacts {
  try {
    createSecureContext({ ...pair });
  } catch (fault) {
    throw new UnfitCertificate(`gateway.tls: ${certFile} and ${keyFile} are no certificate with its key (${(fault as Error).message}); both are PEM, the key without a passphrase`);
  }
  const [first = '', ...chain] = pair.cert.toString('latin1').match(PEM_CERTIFICATE) ?? [];
  try {
    const certificate = new X509Certificate(first);
    for (const each of chain) void new X509Certificate(each);
    if (!certificate.checkPrivateKey(createPrivateKey(pair.key))) throw new Error('the key is that of another certificate');
    return factsOf(certificate);
  } catch (fault) {
    throw new UnfitCertificate(`gateway.tls: ${certFile} and ${keyFile} are no certificate with its key (${(fault as Error).message})`);
  }
}

export function factsOf(certificate: X509Certificate): CertificateFacts {
  return {
    sha256: createHash('sha256').update(certificate.raw).digest('hex'),
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    names: namesOf(certificate.subjectAltName),
    notBeforeMs: new Date(certificate.validFrom).getTime(),
    notAfterMs: new Date(certificate.validTo).getTime(),
    isSelfSigned: certificate.subject === certificate.issuer && certificate.verify(certificate.publicKey),
  };
}

/** Why a client would refuse it now; '' while none does. */
export function outOfDate({ notBeforeMs, notAfterMs }: CertificateFacts, nowMs: WallMs): string {
  if (nowMs > notAfterMs) return `it has ended on ${new Date(notAfterMs).toISOString()}`;
  if (nowMs < notBeforeMs) return `it begins on ${new Date(notBeforeMs).toISOString()} only, and the clock of this machine says ${new Date(nowMs).toISOString()}`;
  return '';
}

/** Of both files: one text for one certificate with one key. */
export function digestOf({ cert, key }: TlsPair): string {
  return createHash('sha256').update(cert).update('\0').update(key).digest('hex');
}

/** `AB:CD:…`, as browsers and the command line show a fingerprint. */
export function fingerprintText(sha256: string): string {
  return sha256.toUpperCase().replace(/..(?=.)/g, '$&:');
}

function oneLine(name: string): string {
  return name.replaceAll('\n', ', ');
}

function namesOf(alternatives: string | undefined): string[] {
  return (alternatives ?? '').split(', ').flatMap((entry) => {
    const [, name] = /^(?:DNS|IP Address):(.+)$/.exec(entry) ?? [];
    return name === undefined ? [] : [isIP(name) === 0 ? name : canonicalIP(name)];
  });
}
