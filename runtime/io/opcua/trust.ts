/** Whether a server is the one it says it is (decisions 7.5): its certificate is known to a person, or signed by whom this box trusts. */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { DeviceSecurity } from '../../port.js';
import { authoritiesBelow } from './authorities.js';
import { fingerprint, uriOf } from './identity.js';

const CHAIN_MAX = 8;
/** Extended key usages (RFC 5280, 4.2.1.12): of a server, and of anything. */
const SERVER_USAGES = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];

/** As people write a fingerprint: with colons or blanks, in either case. */
export function plainFingerprint(text: string): string {
  return text.replaceAll(/[\s:]/g, '').toLowerCase();
}

/** @returns why the certificate is not trusted, as a sentence for the operator; '' when it is. */
export async function distrust(certificate: Buffer, security: DeviceSecurity, wallMs: number): Promise<string> {
  const shown = fingerprint(certificate);
  const known = plainFingerprint(security.serverCertificateSha256);
  // a fingerprint that a person has confirmed holds whatever else is trusted
  if (known !== '' && known !== shown) return otherThanConfirmed(certificate, shown, known);
  switch (security.serverTrust) {
    case 'any':
      return security.isDevelopment ? '' : 'serverTrust any is for development only; confirm the certificate of the server, or trust its authority';
    case 'ca':
      return distrustedByAuthorities(certificate, security.folder, wallMs);
    case 'pinned':
      return known === shown
        ? ''
        : `the certificate of the server is not confirmed: SHA-256 ${shown}${nameOf(certificate)}; compare it at the server, then write it to security.serverCertificateSha256`;
  }
}

function otherThanConfirmed(certificate: Buffer, shown: string, known: string): string {
  return `the server shows another certificate than the one confirmed: SHA-256 ${shown}${nameOf(certificate)} instead of ${known}; it is not trusted until a person confirms it in security.serverCertificateSha256`;
}

/** Which server is meant: host of the address, and the application URI that the endpoint names. */
export interface MeantServer {
  readonly host: string;
  readonly applicationUri: string;
}

/**
 * Whether a certificate that an authority has signed is that of the server that is meant (OPC 10000-4, 6.1.3): the authority has signed many. The host
 * of the address is what a person has written; the application URI is what the server says of itself, and has to be the one that was signed.
 * @returns why it is not, as a sentence for the operator; '' when it is.
 */
export function unfitness(der: Buffer, { host, applicationUri }: MeantServer): string {
  const certificate = new X509Certificate(der);
  const shown = `the certificate of the server, SHA-256 ${fingerprint(der)}${nameOf(der)},`;
  const pinned = 'confirm this very certificate in security.serverCertificateSha256';
  const usages = certificate.keyUsage as readonly string[] | undefined; // extended ones; absent: it is for everything
  if (usages && !SERVER_USAGES.some((usage) => usages.includes(usage))) return `${shown} was not made for a server (extended key usage ${usages.join(', ')})`;
  const uri = uriOf(certificate);
  if (uri === '' || uri !== applicationUri) return `${shown} is of the application ${uri || 'without a URI'}, and the server says that it is ${applicationUri || 'none'}`;
  const plainHost = host.replace(/^\[(.*)\]$/, '$1');
  const isNamed = isIP(plainHost) === 0 ? certificate.checkHost(plainHost, { subject: 'never' }) : certificate.checkIP(plainHost);
  if (isNamed) return '';
  const names = (certificate.subjectAltName ?? '').split(', ').filter((name) => /^(DNS|IP Address):/.test(name));
  return `${shown} is for ${names.join(', ').slice(0, 200) || 'no host'}, and the address names ${plainHost}: write the address by a name that it has, or ${pinned}`;
}

function nameOf(certificate: Buffer): string {
  try {
    const { subject, validTo } = new X509Certificate(certificate);
    return ` (${subject.replaceAll('\n', ', ').slice(0, 200)}, valid until ${validTo})`;
  } catch {
    return '';
  }
}

async function distrustedByAuthorities(der: Buffer, parent: string, wallMs: number): Promise<string> {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(der);
  } catch {
    return 'the server shows no certificate that can be read';
  }
  const { folder, trusted, unfit, fault } = await authoritiesBelow(parent);
  const notRead = unfit.length === 0 ? '' : `; not read: ${unfit.join(', ').slice(0, 500)}`;
  const wayOut = `; put the certificate (PEM) of its authority into ${folder}, or confirm this very one: serverTrust pinned, with its fingerprint in security.serverCertificateSha256`;
  if (fault !== '') return `no authority is trusted: ${folder} cannot be read (${fault}): it has to be a folder that this box may read${wayOut}`;
  if (trusted.length === 0) return `no authority is trusted: ${folder} holds no certificate (PEM)${notRead}${wayOut}`;
  const seen = new Set<string>();
  for (let below = certificate; seen.size < CHAIN_MAX; ) {
    if (!isValidAt(below, wallMs))
      return `the certificate of ${below.subject.replaceAll('\n', ', ')} is valid from ${below.validFrom} to ${below.validTo}; the server needs another one, or the clock of this box is wrong`;
    const issuer = trusted.find((authority) => below.checkIssued(authority) && below.verify(authority.publicKey));
    if (!issuer) break;
    if (issuer.fingerprint256 === below.fingerprint256 || isRoot(issuer))
      return isValidAt(issuer, wallMs)
        ? ''
        : `the authority ${issuer.subject.replaceAll('\n', ', ')} is valid from ${issuer.validFrom} to ${issuer.validTo}; put its new certificate (PEM) into ${folder}, or look at the clock of this box`;
    if (seen.has(issuer.fingerprint256)) break;
    seen.add(issuer.fingerprint256);
    below = issuer;
  }
  return `no trusted authority has signed the certificate of the server: SHA-256 ${fingerprint(der)}${nameOf(der)}${notRead}${wayOut}`;
}

function isRoot(authority: X509Certificate): boolean {
  return authority.ca && authority.checkIssued(authority);
}

function isValidAt({ validFrom, validTo }: X509Certificate, wallMs: number): boolean {
  return Date.parse(validFrom) <= wallMs && wallMs <= Date.parse(validTo);
}
