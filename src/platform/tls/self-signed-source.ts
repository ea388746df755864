/**
 * Where the certificate of the gateway comes from when it is its own: `<dataDir>/tls/self-signed.pem`. It is made for the public name, the name of the
 * host and the addresses that the machine has then, and anew before its end, or when it is not for a name any more. An address that comes
 * later makes no new one: whoever compares a fingerprint does not look at addresses, and a box that gets its address by DHCP would never rest.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import type { Clock } from '../base/clock.js';
import { readDataFileIfUsable } from '../base/data-file.js';
import { canonicalIP, isLoopback } from '../base/ip-address.js';
import { type CertificateFacts, factsOf, type TlsFiles } from './certificate.js';
import { ownFile, writeOwn } from './own-files.js';
import { selfSigned } from './self-signed.js';

const DAY_MS = 86_400_000;
/** Apple's systems take none that is longer, from whoever it may be (825 days). */
const LIFE_MS = 820 * DAY_MS;
const RENEWED_BEFORE_MS = 60 * DAY_MS;
/** A box whose clock was not right yet when it made it. */
const BACKDATED_MS = DAY_MS;
/** What a name of a certificate can be. */
const DNS_NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/;

export interface SelfSignedParts {
  readonly dataDir: string;
  /** `gateway.publicName` */
  readonly publicName: string | null;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly host?: () => string;
  readonly addresses?: () => readonly string[];
}

export class SelfSignedSource {
  readonly kind = 'self-signed';
  readonly #parts: SelfSignedParts;
  readonly #file: string;

  constructor(parts: SelfSignedParts) {
    this.#parts = parts;
    this.#file = ownFile(parts.dataDir, 'self-signed.pem');
  }

  get files(): TlsFiles {
    return { certFile: this.#file, keyFile: this.#file };
  }

  /** Makes one where there is none that holds. @throws as `node:fs` does, where it cannot be kept. */
  prepare(): void {
    const there = this.#there();
    if (there && !this.#isDue(there.facts)) return;
    this.#make(there?.key);
  }

  /** Whatever there is; the key stays, but for `withNewKey`. */
  make({ withNewKey = false } = {}): CertificateFacts {
    return this.#make(withNewKey ? undefined : this.#there()?.key);
  }

  /** For who may write nothing: what is there, or one that nobody keeps. */
  text(): string {
    return this.#there()?.pem ?? this.#text();
  }

  #make(key?: KeyObject): CertificateFacts {
    const pem = this.#text(key);
    writeOwn(this.#file, pem);
    return factsOf(new X509Certificate(pem));
  }

  #text(key?: KeyObject): string {
    const nowMs = this.#parts.clock.wallMs();
    const names = [...this.#names(), ...this.#addresses()];
    return selfSigned({ names, notBeforeMs: nowMs - BACKDATED_MS, notAfterMs: nowMs + LIFE_MS, ...(key ? { key } : {}) });
  }

  #isDue(facts: CertificateFacts): boolean {
    const leftMs = facts.notAfterMs - this.#parts.clock.wallMs();
    return leftMs < RENEWED_BEFORE_MS || leftMs > LIFE_MS || this.#names().some((name) => !facts.names.includes(name));
  }

  #names(): string[] {
    const { publicName, host = hostname } = this.#parts;
    return [...new Set([...(publicName === null ? [] : [publicName]), host(), 'localhost'])].filter((name) => DNS_NAME.test(name));
  }

  #addresses(): string[] {
    return [...new Set(['127.0.0.1', '::1', ...(this.#parts.addresses ?? machineAddresses)()])];
  }

  #there(): { readonly pem: string; readonly key: KeyObject; readonly facts: CertificateFacts } | undefined {
    const pem = readDataFileIfUsable(this.#file)?.toString('latin1');
    if (pem === undefined) return undefined;
    try {
      const certificate = new X509Certificate(pem);
      const key = createPrivateKey(pem);
      return certificate.checkPrivateKey(key) ? { pem, key, facts: factsOf(certificate) } : undefined;
    } catch {
      return undefined; // damaged: a new one takes its place
    }
  }
}

/** Without those that mean something on one cable only. */
function machineAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ address, internal }) => !internal && !isLoopback(address) && !/^fe80:/i.test(address))
    .map(({ address }) => canonicalIP(address));
}
