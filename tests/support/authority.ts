/** An authority of certificates, made with openssl as a plant's own would be, and what it signs. */
import { openssl } from './openssl.js';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface SignedPair {
  readonly certificatePem: string;
  readonly keyPem: string;
  /** Where the two are. */
  readonly files: { readonly certificateFile: string; readonly privateKeyFile: string };
}

export class Authority {
  readonly #folder: string;
  readonly #name: string;
  #count = 0;

  /** `parent`: who signs it; itself where nobody is named. */
  constructor(folder: string, name: string, parent?: Authority) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#name = name;
    this.#request(name, `/CN=${name}`, ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']);
    this.#sign(name, 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign', parent ?? this, parent ? '30' : 'self');
  }

  file(name = this.#name, ending = 'pem'): string {
    return path.join(this.#folder, `${name}.${ending}`);
  }

  get pem(): string {
    return readFileSync(this.file(), 'utf8');
  }

  /** A certificate for an application of OPC UA (OPC 10000-6, 6.2.2), or of a person. */
  sign(subject: string, applicationUri: string): SignedPair {
    this.#count += 1;
    const name = `${this.#name}-${this.#count}`;
    this.#request(name, `/CN=${subject}`);
    this.#sign(
      name,
      `basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature,nonRepudiation,keyEncipherment,dataEncipherment\nextendedKeyUsage=serverAuth,clientAuth\nsubjectAltName=URI:${applicationUri},DNS:localhost,IP:127.0.0.1`,
      this,
      '30',
    );
    const files = { certificateFile: this.file(name), privateKeyFile: this.file(name, 'key') };
    return { certificatePem: readFileSync(files.certificateFile, 'utf8'), keyPem: readFileSync(files.privateKeyFile, 'utf8'), files };
  }

  #request(name: string, subject: string, key: readonly string[] = ['rsa:2048']): void {
    openssl(['req', '-new', '-newkey', ...key, '-nodes', '-keyout', this.file(name, 'key'), '-out', this.file(name, 'csr'), '-subj', subject]);
  }

  #sign(name: string, extensions: string, by: Authority, days: string): void {
    writeFileSync(this.file(name, 'ext'), `${extensions}\nsubjectKeyIdentifier=hash\n${days === 'self' ? '' : 'authorityKeyIdentifier=keyid\n'}`);
    const signer = days === 'self' ? ['-signkey', this.file(name, 'key')] : ['-CA', by.file(), '-CAkey', by.file(undefined, 'key'), '-CAcreateserial'];
    openssl(['x509', '-req', '-in', this.file(name, 'csr'), ...signer, '-days', days === 'self' ? '60' : days, '-extfile', this.file(name, 'ext'), '-out', this.file(name)]);
  }
}
