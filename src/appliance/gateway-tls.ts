/**
 * TLS of the gateway, as the settings want it: files that somebody puts there, else what an ACME server issues, else what the box makes for itself.
 * Each stands in for the one before it, so a box whose certificate has not come yet speaks TLS already.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../platform/base/clock.js';
import type { Log } from '../platform/base/log.js';
import type { Part } from '../platform/base/parts.js';
import { refusingStart } from '../platform/http/listen.js';
import type { HttpServer, ServerTls } from '../platform/http/server.js';
import { component } from '../platform/store/audit-record.js';
import type { Store } from '../platform/store/store.js';
import { type CertificateFacts, fingerprintText, type TlsFiles } from '../platform/tls/certificate.js';
import { ownFile, writeOwn } from '../platform/tls/own-files.js';
import { AcmeKeeper, AcmeSource } from '../platform/tls/acme-keeper.js';
import { orderCertificate } from '../platform/tls/acme-order.js';
import { dnsHook, httpChallenges } from '../platform/tls/acme-challenges.js';
import { SelfSignedSource } from '../platform/tls/self-signed-source.js';
import { type CertificateSource, ServedCertificate } from '../platform/tls/served-certificate.js';
import type { Settings } from '../settings.js';

export type TlsSettings = Pick<Settings, 'dataDir' | 'publicName' | 'tlsCertFile' | 'tlsKeyFile' | 'tlsSelfSigned' | 'acmeDirectory'>;

/** Whether the gateway speaks TLS at all. */
export function speaksTls({ tlsCertFile, tlsSelfSigned, acmeDirectory }: TlsSettings): boolean {
  return tlsCertFile !== null || tlsSelfSigned || acmeDirectory !== null;
}

/** Undefined where the gateway speaks plain HTTP. */
export function certificateSource(settings: TlsSettings, clock: Pick<Clock, 'wallMs'>): CertificateSource | undefined {
  const { tlsCertFile, tlsKeyFile } = settings;
  if (tlsCertFile !== null) return { kind: 'files', files: { certFile: tlsCertFile, keyFile: tlsKeyFile ?? tlsCertFile } };
  if (!speaksTls(settings)) return undefined;
  const own = new SelfSignedSource({ ...settings, clock });
  return settings.acmeDirectory === null ? own : new AcmeSource(settings.dataDir, own);
}

export class GatewayTls implements Part {
  readonly served: ServedCertificate;
  readonly #settings: Settings;
  readonly #keeper: AcmeKeeper | undefined;

  constructor(served: ServedCertificate, settings: Settings, keeper?: AcmeKeeper) {
    this.served = served;
    this.#settings = settings;
    this.#keeper = keeper;
  }

  /** `AB:CD:…` of the certificate of this moment. */
  get fingerprint(): string {
    return fingerprintText(this.served.view().facts.sha256);
  }

  start(): void {
    this.#show();
    this.served.start();
    this.#keeper?.start(() => this.served.look());
  }

  async stop(): Promise<void> {
    await this.#keeper?.stop();
    await this.served.stop();
  }

  /** As the server is to serve it, by the certificate of this moment. */
  get wish(): ServerTls {
    return this.#wishFor(this.served.files, this.served.view().facts);
  }

  #wishFor(files: TlsFiles, { isSelfSigned }: CertificateFacts): ServerTls {
    const { strictTransport, publicName } = this.#settings;
    const isVouchedFor = publicName !== null && !isSelfSigned;
    return { ...files, strictTransport: strictTransport === 'on' || (strictTransport === 'auto' && isVouchedFor) };
  }

  /** From now on the server takes what changes in the files, and the audit trail tells of it. */
  serveBy(server: HttpServer, store: Store): void {
    this.served.serveWith(
      (files, facts) => server.renew(this.#wishFor(files, facts)),
      ({ result, details }) => {
        if (result === 'Success') this.#show();
        return store.write({
          audits: [
            {
              site: '',
              actor: component('gateway'),
              action: 'Update',
              category: 'system',
              target: { kind: 'Certificate', name: 'gateway', site: '' },
              result,
              details,
              correlationID: randomUUID(),
            },
          ],
        });
      },
    );
  }

  /** For the screen of the box, which asks no gateway. */
  #show(): void {
    try {
      writeOwn(ownFile(this.#settings.dataDir, 'fingerprint'), `${this.fingerprint}\n`);
    } catch {
      // a disk that takes nothing has an alarm of its own
    }
  }
}

/** @throws StartRefused where there is a certificate to serve and it cannot be. */
export function openTls(settings: Settings, clock: Clock, log: Log): GatewayTls | undefined {
  const source = certificateSource(settings, clock);
  if (!source) return undefined;
  const keeper = source instanceof AcmeSource ? new AcmeKeeper({ source, clock, log, order: acmeOrder(settings, clock, log) }) : undefined;
  const troubles = (): readonly string[] => keeper?.troubles ?? [];
  const served = refusingStart(() => new ServedCertificate({ source, clock, log, everyMs: settings.tlsLookIntervalMs, troubles }));
  return new GatewayTls(served, settings, keeper);
}

function acmeOrder(settings: Settings, clock: Clock, log: Log): () => Promise<string> {
  const { dataDir, acmeDirectory, acmeDomains, publicName, acmeEmail, acmeChallenge, acmeHttpPort, acmeDnsHook, acmeCaFile, listen } = settings;
  const domains = acmeDomains.length > 0 ? acmeDomains : publicName === null ? [] : [publicName];
  const challenge = acmeChallenge === 'dns-01' ? dnsHook(acmeDnsHook ?? '') : httpChallenges({ host: listen, port: acmeHttpPort });
  return () => orderCertificate({ dataDir, directory: acmeDirectory ?? '', domains, email: acmeEmail, caFile: acmeCaFile, challenge, clock, log });
}
