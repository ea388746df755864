/** Whether a server is the one it says it is (decisions 7.5): its certificate is known to a person, or signed by whom this box trusts. */
import { X509Certificate } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { DeviceSecurity } from '../../port.js';
import { fingerprint } from './identity.js';

/** Folder of authorities below the folder of the driver: one certificate a file, PEM. */
const AUTHORITIES = 'authorities';
const CHAIN_MAX = 8;

/** As people write a fingerprint: with colons or blanks, in either case. */
export function plainFingerprint(text: string): string {
  return text.replaceAll(/[\s:]/g, '').toLowerCase();
}

/** @returns why the certificate is not trusted, as a sentence for the operator; '' when it is. */
export async function distrust(certificate: Buffer, security: DeviceSecurity, wallMs: number): Promise<string> {
  const shown = fingerprint(certificate);
  switch (security.serverTrust) {
    case 'any':
      return security.isDevelopment ? '' : 'serverTrust any is for development only; confirm the certificate of the server, or trust its authority';
    case 'ca':
      return distrustedByAuthorities(certificate, path.join(security.folder, AUTHORITIES), wallMs);
    case 'pinned': {
      const known = plainFingerprint(security.serverCertificateSha256);
      if (known === shown) return '';
      const subject = nameOf(certificate);
      return known === ''
        ? `the certificate of the server is not confirmed: SHA-256 ${shown}${subject}; compare it at the server, then write it to security.serverCertificateSha256`
        : `the server shows another certificate than the one confirmed: SHA-256 ${shown}${subject} instead of ${known}; it is not trusted until a person confirms it in security.serverCertificateSha256`;
    }
  }
}

function nameOf(certificate: Buffer): string {
  try {
    const { subject, validTo } = new X509Certificate(certificate);
    return ` (${subject.replaceAll('\n', ', ').slice(0, 200)}, valid until ${validTo})`;
  } catch {
    return '';
  }
}

async function distrustedByAuthorities(der: Buffer, folder: string, wallMs: number): Promise<string> {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(der);
  } catch {
    return 'the server shows no certificate that can be read';
  }
  const authorities = await authoritiesIn(folder);
  if (authorities.length === 0) return `no authority is trusted: ${folder} holds no certificate (PEM)`;
  const seen = new Set<string>();
  for (let below = certificate; seen.size < CHAIN_MAX; ) {
    if (!isValidAt(below, wallMs)) return `the certificate of ${below.subject.replaceAll('\n', ', ')} is valid from ${below.validFrom} to ${below.validTo}`;
    const issuer = authorities.find((authority) => below.checkIssued(authority) && below.verify(authority.publicKey));
    if (!issuer) break;
    if (issuer.fingerprint256 === below.fingerprint256 || isRoot(issuer))
      return isValidAt(issuer, wallMs) ? '' : `the authority ${issuer.subject.replaceAll('\n', ', ')} is no longer valid`;
    if (seen.has(issuer.fingerprint256)) break;
    seen.add(issuer.fingerprint256);
    below = issuer;
  }
  return `no trusted authority has signed the certificate of the server: SHA-256 ${fingerprint(der)}${nameOf(der)}`;
}

function isRoot(authority: X509Certificate): boolean {
  return authority.ca && authority.checkIssued(authority);
}

function isValidAt({ validFrom, validTo }: X509Certificate, wallMs: number): boolean {
  return Date.parse(validFrom) <= wallMs && wallMs <= Date.parse(validTo);
}

/** Read at each connect, beside everything else that the thread does: a person may add one at any time. */
async function authoritiesIn(folder: string): Promise<readonly X509Certificate[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch {
    return [];
  }
  const found = await Promise.all(names.sort().map((name) => authorityIn(path.join(folder, name))));
  return found.flatMap((authority) => authority ?? []);
}

async function authorityIn(file: string): Promise<X509Certificate | undefined> {
  try {
    const authority = new X509Certificate(await readFile(file));
    return authority.ca ? authority : undefined;
  } catch {
    return undefined; // no certificate
  }
}
