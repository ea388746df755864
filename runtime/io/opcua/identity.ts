/**
 * What this box shows to OPC UA servers as itself: an application URI, and a certificate with its key, made once in the data
 * directory. A server trusts the certificate, so it outlives updates; who moves the data directory moves the identity.
 */
import { createPrivateKey, createHash, type KeyObject, X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';

const CERTIFICATE = 'certificate.pem';
const KEY = 'key.pem';
const FOLDER = 'identity';
const VALID_DAYS = 3650;
const APPLICATION = 'Lineside';

export interface ClientIdentity {
  readonly applicationUri: string;
  readonly certificatePem: string;
  /** DER. */
  readonly certificate: Buffer;
  readonly key: KeyObject;
}

/** SHA-256 of a certificate in DER, as lower-case hexadecimal text. */
export function fingerprint(certificate: Buffer): string {
  return createHash('sha256').update(certificate).digest('hex');
}

/** A pair from elsewhere. @throws Error when it is none. */
export function identityOf(certificatePem: string, keyPem: string): ClientIdentity {
  const certificate = new X509Certificate(certificatePem);
  const key = createPrivateKey(keyPem);
  if (!certificate.checkPrivateKey(key)) throw new Error('the key does not belong to the certificate');
  return { applicationUri: uriOf(certificate), certificatePem, certificate: certificate.raw, key };
}

/** The application URI that a certificate carries (OPC 10000-6, 6.2.2); '' when it carries none. */
export function uriOf({ subjectAltName }: X509Certificate): string {
  return /(?:^|, )URI:"?([^,"]+)/.exec(subjectAltName ?? '')?.[1] ?? '';
}

/**
 * The identity of this box, made when there is none. Key and certificate come into being together: a folder that is complete is
 * moved to its place, and of two threads that make one the first one counts.
 */
export async function ownIdentity(folder: string): Promise<ClientIdentity> {
  const home = path.join(folder, FOLDER);
  if (!existsSync(home)) await make(folder, home);
  const [certificate, key] = await Promise.all([CERTIFICATE, KEY].map((name) => readFile(path.join(home, name), 'utf8')));
  return identityOf(certificate ?? '', key ?? '');
}

async function make(folder: string, home: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const work = mkdtempSync(path.join(folder, '.new-'));
  try {
    const { OPCUACertificateManager } = await import('node-opcua-certificate-manager');
    const manager = new OPCUACertificateManager({ rootFolder: path.join(work, 'pki'), keySize: 2048, disableFileWatchers: true });
    const outputFile = path.join(work, 'own.pem');
    try {
      await manager.initialize();
      await manager.createSelfSignedCertificate({
        applicationUri: `urn:${hostname()}:${APPLICATION}`,
        subject: `/CN=${APPLICATION}@${hostname()}`,
        dns: [hostname()],
        startDate: new Date(),
        validity: VALID_DAYS,
        outputFile,
      });
    } finally {
      await manager.dispose();
    }
    const made = path.join(work, FOLDER);
    mkdirSync(made, { mode: 0o700 });
    writeFileSync(path.join(made, CERTIFICATE), readFileSync(outputFile), { mode: 0o644 });
    writeFileSync(path.join(made, KEY), readFileSync(manager.privateKey), { mode: 0o600 });
    chmodSync(path.join(made, KEY), 0o600);
    try {
      renameSync(made, home);
    } catch (fault) {
      if (!existsSync(home)) throw fault; // another thread was first
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
