/**
 * Keeps a certificate of an ACME server (ADR 0115): asked for when there is none and again at two thirds of its life. What fails is told and tried again,
 * ever more rarely, because the servers count; meanwhile the certificate that is there goes on, and before the first one that of the box itself.
 */
import type { Clock } from '../base/clock.js';
import { isThere } from '../base/data-file.js';
import { guardedPromise } from '../base/guarded.js';
import type { Log } from '../base/log.js';
import type { WallMs } from '../base/times.js';
import { type CertificateFacts, checkPair, readPair, type TlsFiles } from './certificate.js';
import { ownFile, writeOwn } from './own-files.js';
import type { SelfSignedSource } from './self-signed-source.js';
import type { CertificateKind, CertificateSource } from './served-certificate.js';

export class AcmeSource implements CertificateSource {
  readonly #file: string;
  readonly #own: SelfSignedSource;
  /** Since the start, which begins without it then; one that is damaged later leaves the one that is served. */
  #isDamaged: boolean | undefined;

  /** @param own stands in until the first one has come. */
  constructor(dataDir: string, own: SelfSignedSource) {
    this.#file = ownFile(dataDir, 'acme.pem');
    this.#own = own;
  }

  get kind(): CertificateKind {
    return isThere(this.#file) && this.#isDamaged !== true ? 'acme' : this.#own.kind;
  }

  get files(): TlsFiles {
    return this.kind === 'acme' ? this.#issued : this.#own.files;
  }

  prepare(): void {
    this.#isDamaged = (this.#isDamaged ?? true) && isThere(this.#file) && this.facts === undefined;
    if (this.kind !== 'acme') this.#own.prepare();
  }

  /** Undefined where none has come, or it cannot be read: the next one takes its place. */
  get facts(): CertificateFacts | undefined {
    try {
      return isThere(this.#file) ? checkPair(readPair(this.#issued), this.#issued) : undefined;
    } catch {
      return undefined;
    }
  }

  /** @throws UnfitCertificate for what the server has issued and nobody could serve. */
  keep(pem: string): CertificateFacts {
    const bytes = Buffer.from(pem, 'latin1');
    const facts = checkPair({ cert: bytes, key: bytes }, { certFile: 'what the ACME server has issued', keyFile: 'the key it was asked for' });
    writeOwn(this.#file, pem);
    return facts;
  }

  get #issued(): TlsFiles {
    return { certFile: this.#file, keyFile: this.#file };
  }
}

export interface KeeperParts {
  readonly source: AcmeSource;
  readonly clock: Clock;
  readonly log: Log;
  /** @returns key and chain as PEM. */
  readonly order: () => Promise<string>;
  /** From 0 up to 1. */
  readonly random?: () => number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A public server takes five failures an hour for one name. */
export const RETRY = { firstMs: 15 * MINUTE_MS, longestMs: 24 * HOUR_MS, jitter: 0.2 } as const;
/** Also while nothing is due: somebody may set the clock, or take the file away. */
const LOOK_MS_MAX = 12 * HOUR_MS;

export class AcmeKeeper {
  readonly #parts: KeeperParts;
  #failures = 0;
  #trouble = '';
  #ordering: Promise<void> | undefined;
  #taken: () => Promise<unknown> = () => Promise.resolve();
  #cancel: () => void = () => undefined;
  #isOver = false;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /** As sentences; empty while all is well. */
  get troubles(): readonly string[] {
    return this.#trouble === '' ? [] : [this.#trouble];
  }

  /** @param taken looks at the files, once a new one lies there. */
  start(taken: () => Promise<unknown>): void {
    this.#taken = taken;
    this.#wait(0);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    this.#cancel();
    await Promise.race([this.#ordering, new Promise((resolve) => void setTimeout(resolve, STOP_GRACE_MS).unref())]);
  }

  #wait(delayMs: number): void {
    if (this.#isOver) return;
    this.#cancel = this.#parts.clock.after(delayMs, () => {
      guardedPromise('certificate of an ACME server', () => (this.#ordering = this.#look()));
    });
  }

  async #look(): Promise<void> {
    const { source, clock, log, order } = this.#parts;
    const there = source.facts;
    const leftMs = there ? dueMs(there) - clock.wallMs() : 0;
    if (leftMs > 0) return this.#wait(Math.min(leftMs, LOOK_MS_MAX));
    try {
      const facts = source.keep(await order());
      this.#failures = 0;
      this.#trouble = '';
      log.info({ sha256: facts.sha256, until: new Date(facts.notAfterMs).toISOString() }, 'the ACME server has issued a certificate');
      if (!this.#isOver) await this.#taken();
      this.#wait(this.#pauseMs(LOOK_MS_MAX / 2));
    } catch (fault) {
      const pauseMs = this.#pauseMs(Math.min(RETRY.longestMs, RETRY.firstMs * 2 ** this.#failures));
      this.#failures += 1;
      this.#trouble = `no certificate from the ACME server: ${(fault as Error).message}; tried ${this.#failures} ${this.#failures === 1 ? 'time' : 'times'}, the one that is there goes on`;
      log.warn({ failures: this.#failures, againInS: Math.round(pauseMs / 1000) }, this.#trouble);
      this.#wait(pauseMs);
    }
  }

  /** Boxes that were started together do not all come at once. */
  #pauseMs(aboutMs: number): number {
    const { random = Math.random } = this.#parts;
    return aboutMs * (1 + RETRY.jitter * (2 * random() - 1));
  }
}

const STOP_GRACE_MS = 2000;

/** At two thirds of its life. */
function dueMs({ notBeforeMs, notAfterMs }: CertificateFacts): WallMs {
  return notBeforeMs + ((notAfterMs - notBeforeMs) * 2) / 3;
}
