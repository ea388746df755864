/**
 * The certificate that the gateway serves, and its change while it serves (ADR 0113). The files are looked at again and again; what has changed there
 * is judged first, and the server takes it for new connections. What is not fit is told, and the one before goes on.
 */
import type { Clock } from '../base/clock.js';
import { contain, guardedPromise } from '../base/guarded.js';
import type { Log } from '../base/log.js';
import type { Part } from '../base/parts.js';
import { type CertificateFacts, checkPair, digestOf, fingerprintText, outOfDate, readPair, readPairBeside, type TlsFiles } from './certificate.js';

export type CertificateKind = 'files' | 'self-signed' | 'acme';

/** Where it comes from. */
export interface CertificateSource {
  readonly kind: CertificateKind;
  readonly files: TlsFiles;
  /** Before each look: what a source makes itself is made. @throws where it cannot. */
  prepare?(): void;
}

/** What came of a change, for the audit trail. */
export interface CertificateChange {
  readonly result: 'Success' | 'Failed';
  readonly details: Readonly<Record<string, unknown>>;
}

export interface ServedParts {
  readonly source: CertificateSource;
  readonly clock: Clock;
  readonly log: Log;
  /** `gateway.tls.lookInterval` */
  readonly everyMs: number;
  /** Of what a source tells besides. */
  readonly troubles?: () => readonly string[];
}

type Take = (files: TlsFiles, facts: CertificateFacts) => Promise<void>;

/** What comes of a look at the files. */
export type Look = 'unchanged' | 'taken' | 'refused';

export interface ServedView {
  readonly kind: CertificateKind;
  readonly facts: CertificateFacts;
  /** What somebody should do something about, as sentences. */
  readonly notes: readonly string[];
}

const DAY_MS = 86_400_000;
const SOON_DAYS = 30;
/** How often a file may change under the look before the look leaves it for the next one. */
const CHANGES_MAX = 5;

export class ServedCertificate implements Part {
  readonly #parts: ServedParts;
  #facts: CertificateFacts;
  #digest: string;
  /** Why what lies there is not taken; '' while it is. */
  #refused = '';
  #take: Take | undefined;
  #record: ((change: CertificateChange) => Promise<unknown>) | undefined;
  #looking: Promise<Look> | undefined;
  #cancel: () => void = () => undefined;

  /** @throws UnfitCertificate where there is nothing to begin with; one that is out of date is served, because the plant goes on. */
  constructor(parts: ServedParts) {
    this.#parts = parts;
    try {
      parts.source.prepare?.();
    } catch (fault) {
      parts.log.warn(`the certificate of the gateway cannot be made: ${(fault as Error).message}`); // the one that is there may do
    }
    const { files } = parts.source;
    const pair = readPair(files);
    this.#facts = checkPair(pair, files);
    this.#digest = digestOf(pair);
    const { sha256, subject, notAfterMs } = this.#facts;
    parts.log.info({ source: parts.source.kind, subject, until: new Date(notAfterMs).toISOString(), sha256 }, `TLS with the certificate ${fingerprintText(sha256)}`);
    for (const note of this.view().notes) parts.log.warn(note);
  }

  get files(): TlsFiles {
    return this.#parts.source.files;
  }

  view(): ServedView {
    const { source, clock, troubles } = this.#parts;
    const nowMs = clock.wallMs();
    const notes = [this.#refused, ...(troubles?.() ?? [])].filter((note) => note !== '');
    const off = outOfDate(this.#facts, nowMs);
    const days = Math.floor((this.#facts.notAfterMs - nowMs) / DAY_MS);
    if (off !== '') notes.push(`the certificate of the gateway is out of date: ${off}; ${WAYS_ON[source.kind]}`);
    else if (days < SOON_DAYS) notes.push(`the certificate of the gateway ends in ${days} ${days === 1 ? 'day' : 'days'}; ${WAYS_ON[source.kind]}`);
    return { kind: source.kind, facts: this.#facts, notes };
  }

  /** @param take makes new connections get what lies in the files. @param record writes what came of it into the audit trail. */
  serveWith(take: Take, record: (change: CertificateChange) => Promise<unknown>): void {
    this.#take = take;
    this.#record = record;
  }

  start(): void {
    this.#wait();
  }

  async stop(): Promise<void> {
    this.#cancel();
    this.#take = undefined;
    await this.#looking;
  }

  #wait(): void {
    this.#cancel = this.#parts.clock.after(this.#parts.everyMs, () => {
      guardedPromise('look at the certificate', () => this.look());
      this.#wait();
    });
  }

  /** Looks now; whoever asks while one looks hears what that one finds. Never rejects. */
  look(): Promise<Look> {
    this.#looking ??= this.#lookNow().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #lookNow(): Promise<Look> {
    let look: Look = 'unchanged';
    for (let changes = 0; changes < CHANGES_MAX; changes += 1) {
      const next = await this.#compare();
      if (next !== 'taken') return look === 'taken' && next === 'unchanged' ? 'taken' : next;
      look = next; // the file may have changed between the judgement and the server: what it has taken is compared once more
    }
    return look;
  }

  async #compare(): Promise<Look> {
    const { source, clock } = this.#parts;
    try {
      source.prepare?.();
      const { files } = source;
      const pair = await readPairBeside(files, clock);
      const digest = digestOf(pair);
      if (digest === this.#digest) {
        this.#refused = '';
        return 'unchanged';
      }
      const facts = checkPair(pair, files);
      const off = outOfDate(facts, clock.wallMs());
      if (off !== '') throw new Error(`${files.certFile}: ${off}`);
      if (!this.#take) return 'unchanged';
      await this.#take(files, facts);
      const before = this.#facts.sha256;
      this.#facts = facts;
      this.#digest = digest;
      this.#refused = '';
      this.#parts.log.info({ source: source.kind, subject: facts.subject, sha256: facts.sha256, before }, `new connections get the certificate ${fingerprintText(facts.sha256)}`);
      await this.#tell({ result: 'Success', details: { source: source.kind, sha256: facts.sha256, before, notAfter: new Date(facts.notAfterMs).toISOString() } });
      return 'taken';
    } catch (fault) {
      await this.#refuse((fault as Error).message);
      return 'refused';
    }
  }

  /** Told once for each reason; the health tells it as long as it is so. */
  async #refuse(because: string): Promise<void> {
    const refused = `the new certificate is not taken, and the one before goes on: ${because}`;
    if (refused === this.#refused) return;
    this.#refused = refused;
    this.#parts.log.warn(refused);
    await this.#tell({ result: 'Failed', details: { source: this.#parts.source.kind, because } });
  }

  /** A store that refuses changes keeps no certificate from being served. */
  async #tell(change: CertificateChange): Promise<void> {
    try {
      await this.#record?.(change);
    } catch (fault) {
      contain('audit record of a certificate', fault);
    }
  }
}

const WAYS_ON: Readonly<Record<CertificateKind, string>> = {
  files: 'put a new one into gateway.tls.certFile and keyFile: it is taken without a restart',
  'self-signed': 'lineside tls self-signed makes a new one',
  acme: 'it is asked for again and again; see what else is told of ACME',
};
