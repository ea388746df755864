/** What a secret may hold (ADR 0075): judged when it is set, so that no device is the first to say that a key does not fit its certificate. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { invalid } from '../../platform/base/refusal.js';
import type { SecretContent } from './secrets.js';

const ENCRYPTED_KEY = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;
const PEM_CERTIFICATE = /^\s*-----BEGIN CERTIFICATE-----/;
/** Of a user name: nothing that ends a line of a protocol or a log. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that are looked for
const CONTROL = /[\u0000-\u001f\u007f]/;

/** @throws Refusal `invalid_field` that names the member and never its content. */
export function checkContent({ username, certificate, key }: SecretContent): void {
  if (username !== undefined && CONTROL.test(username)) throw invalid('invalid_field', 'username', 'username must have no control characters');
  const read = certificate === undefined ? undefined : certificateOf(certificate);
  const privateKey = key === undefined ? undefined : keyOf(key);
  if (read && privateKey && !read.checkPrivateKey(privateKey)) throw invalid('invalid_field', 'key', 'key is not the private key of certificate; set both that belong together');
}

function certificateOf(pem: string): X509Certificate {
  const refused = invalid('invalid_field', 'certificate', 'certificate must be a certificate in PEM (-----BEGIN CERTIFICATE-----)');
  if (!PEM_CERTIFICATE.test(pem)) throw refused;
  try {
    return new X509Certificate(pem);
  } catch {
    throw refused; // what OpenSSL says may quote what was sent
  }
}

function keyOf(pem: string): KeyObject {
  if (ENCRYPTED_KEY.test(pem)) throw invalid('invalid_field', 'key', 'key is encrypted with a passphrase; send it decrypted: the box keeps it sealed');
  try {
    return createPrivateKey(pem);
  } catch {
    throw invalid('invalid_field', 'key', 'key must be a private key in PEM (-----BEGIN PRIVATE KEY-----)');
  }
}
