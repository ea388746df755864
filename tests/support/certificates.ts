/** Certificates for a gateway of a test, made as the box makes its own. */
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { factsOf, type CertificateFacts, type TlsFiles } from '../../src/platform/tls/certificate.js';
import { selfSigned } from '../../src/platform/tls/self-signed.js';

const DAY_MS = 86_400_000;

export interface Written extends TlsFiles {
  readonly pem: string;
  readonly facts: CertificateFacts;
}

/** Into `<folder>/<name>.pem`, key and certificate. @param days from yesterday; negative: it has ended. */
export function writeCertificate(folder: string, name: string, { days = 30, nowMs = Date.now() } = {}): Written {
  const pem = selfSigned({ names: [`${name}.example`, 'localhost', '127.0.0.1'], notBeforeMs: nowMs - 40 * DAY_MS, notAfterMs: nowMs + days * DAY_MS });
  const file = path.join(folder, `${name}.pem`);
  writeFileSync(file, pem, { mode: 0o600 });
  return { certFile: file, keyFile: file, pem, facts: factsOf(new X509Certificate(pem)) };
}
