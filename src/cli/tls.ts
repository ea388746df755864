/** `lineside tls`: the certificate of this box, by its settings; run on the box itself. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { CertificateFacts } from '../platform/tls/certificate.js';
import type { Settings } from '../settings.js';

interface TlsOptions {
  readonly dataDir: string;
  readonly config?: string;
  readonly json?: true;
  readonly newKey?: true;
}

/** Where the service has its data and its settings. */
const SERVICE = { dataDir: '/var/lib/lineside', config: '/etc/lineside/config.yaml' };

export function tlsCommand(program: Command, checkout: string): void {
  const isInstalled = existsSync(SERVICE.config);
  const group = program.command('tls').description('the certificate of the gateway of this box');
  const add = (name: string, about: string): Command =>
    group
      .command(name)
      .description(about)
      .option('--data-dir <folder>', 'of the appliance', isInstalled ? SERVICE.dataDir : checkout)
      .option('--config <file>', 'YAML file with settings', isInstalled ? SERVICE.config : undefined)
      .option('--json', 'for a program');
  add('show', 'what lies there to be served: fingerprint, names, and how long it holds').action(async (options: TlsOptions) => {
    process.exitCode = await inWords(options, show);
  });
  add('self-signed', 'make a certificate of its own for the names and addresses that the box has now; a running gateway takes it by itself')
    .option('--new-key', 'with a new key: whoever has compared the fingerprint compares again')
    .action(async (options: TlsOptions) => {
      process.exitCode = await inWords(options, makeSelfSigned);
    });
}

interface Told {
  readonly source: string;
  readonly facts: CertificateFacts;
  /** Whether the gateway serves it by its settings. */
  readonly isServed: boolean;
}

async function inWords(options: TlsOptions, work: (settings: Settings, options: TlsOptions) => Promise<Told>): Promise<number> {
  const [{ readSettings }, { StartRefused }, { UnfitCertificate }] = await Promise.all([
    import('../settings.js'),
    import('../platform/base/start-refused.js'),
    import('../platform/tls/certificate.js'),
  ]);
  const { dataDir, config, json } = options;
  try {
    const told = await work(readSettings(['--data-dir', dataDir, ...(config === undefined ? [] : ['--config', config])], process.env, dataDir), options);
    process.stdout.write(json ? `${JSON.stringify(plain(told), null, 2)}\n` : await text(told));
    return 0;
  } catch (fault) {
    const isTold = fault instanceof StartRefused || fault instanceof UnfitCertificate || (fault as NodeJS.ErrnoException).syscall !== undefined;
    if (!isTold) throw fault;
    console.error(`lineside: ${(fault as Error).message}`);
    return 2;
  }
}

async function show(settings: Settings): Promise<Told> {
  const [{ certificateSource }, { checkPair, readPair }, { StartRefused }] = await Promise.all([
    import('../appliance/gateway-tls.js'),
    import('../platform/tls/certificate.js'),
    import('../platform/base/start-refused.js'),
  ]);
  const source = certificateSource(settings, { wallMs: () => Date.now() });
  if (!source)
    throw new StartRefused(
      'by these settings the gateway speaks plain HTTP (name those of the box with --config and --data-dir where they are elsewhere); for TLS set gateway.tls.certFile and keyFile, gateway.tls.selfSigned, or gateway.tls.acme.directory',
    );
  return { source: source.kind, facts: checkPair(readPair(source.files), source.files), isServed: true };
}

async function makeSelfSigned(settings: Settings, { newKey }: TlsOptions): Promise<Told> {
  const [{ certificateSource }, { SelfSignedSource }] = await Promise.all([import('../appliance/gateway-tls.js'), import('../platform/tls/self-signed-source.js')]);
  const clock = { wallMs: () => Date.now() };
  const facts = new SelfSignedSource({ ...settings, clock }).make({ withNewKey: newKey === true });
  return { source: 'self-signed', facts, isServed: certificateSource(settings, clock)?.kind === 'self-signed' };
}

function plain({ source, facts: { notBeforeMs, notAfterMs, ...facts }, isServed }: Told): object {
  return { source, ...facts, notBefore: new Date(notBeforeMs).toISOString(), notAfter: new Date(notAfterMs).toISOString(), served: isServed };
}

async function text({ source, facts: { sha256, subject, issuer, names, notBeforeMs, notAfterMs }, isServed }: Told): Promise<string> {
  const { fingerprintText } = await import('../platform/tls/certificate.js');
  const lines = [
    ['SHA-256', fingerprintText(sha256)],
    ['source', source],
    ['subject', subject],
    ['issuer', issuer],
    ['for', names.join(', ')],
    ['from', new Date(notBeforeMs).toISOString()],
    ['until', new Date(notAfterMs).toISOString()],
    ...(isServed ? [] : [['', 'the settings of this box serve no certificate of its own: set gateway.tls.selfSigned, and start it again']]),
  ];
  return `${lines.map(([name = '', value = '']) => `${name.padEnd(9)}${value}`).join('\n')}\n`;
}
