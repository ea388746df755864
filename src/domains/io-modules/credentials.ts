/**
 * What a probe gets to sign in with (decisions 7.5, Q-IO-05; ADR 0075): made of the secrets that a module names, or of the password that
 * an earlier release has stored with it. It goes into the plan of that module and nowhere else: no status, no record, no log.
 */
import type { ProbeCredentials } from '../../../runtime/port.js';
import type { IOModuleSpec } from './kind.js';
import type { DeviceSecrets, FoundSecret } from './secrets.js';
import type { SecretMember } from './secret-kind.js';

type Named = Pick<IOModuleSpec, 'security' | 'options'>;

/** Secrets that a module names; each once. */
export function secretNames({ security }: Pick<IOModuleSpec, 'security'>): readonly string[] {
  return [...new Set([security?.secretRef?.name, security?.clientCertificateRef?.name].filter((name) => name !== undefined))];
}

export class Credentials {
  readonly #secrets: Pick<DeviceSecrets, 'stored' | 'inFiles'>;

  constructor(secrets: Pick<DeviceSecrets, 'stored' | 'inFiles'>) {
    this.#secrets = secrets;
  }

  /** Those of the names that are not stored: what stands in files is read before `made`. */
  inFiles(site: string, spec: Named): readonly string[] {
    return secretNames(spec).filter((name) => this.#secrets.stored(site, name) === undefined);
  }

  async readFiles(site: string, names: readonly string[]): Promise<ReadonlyMap<string, FoundSecret>> {
    return new Map(await Promise.all(names.map(async (name) => [name, await this.#secrets.inFiles(site, name)] as const)));
  }

  /** @param files as `readFiles` has read them. @returns undefined where nothing is configured. */
  made(site: string, { security, options }: Named, files: ReadonlyMap<string, FoundSecret>): ProbeCredentials | undefined {
    const found = (name: string): FoundSecret => this.#secrets.stored(site, name) ?? files.get(name);
    const login = security?.secretRef?.name;
    const certificate = security?.clientCertificateRef?.name;
    const { username, password } = options;
    if (login === undefined && certificate === undefined) {
      return password === undefined && username === undefined ? undefined : { ...text('username', username), ...text('password', password) };
    }
    const signIn = login === undefined ? undefined : found(login);
    const identity = certificate === undefined ? undefined : found(certificate);
    const missing =
      (login === undefined ? undefined : problemOf(login, signIn, ['password'])) ??
      (certificate === undefined ? undefined : problemOf(certificate, identity, ['certificate', 'key']));
    return {
      ...text('username', username),
      ...(isContent(signIn) ? { ...text('username', signIn.username), ...text('password', signIn.password) } : {}),
      ...(isContent(identity) ? { ...text('certificatePem', identity.certificate), ...text('keyPem', identity.key) } : {}),
      ...(missing === undefined ? {} : { missing }),
    };
  }

  /** The same in one step, for who is no reconciler. */
  async of(site: string, spec: Named): Promise<ProbeCredentials | undefined> {
    return this.made(site, spec, await this.readFiles(site, this.inFiles(site, spec)));
  }
}

function isContent(found: FoundSecret): found is Exclude<FoundSecret, 'unreadable' | undefined> {
  return found !== undefined && found !== 'unreadable';
}

function text(member: keyof ProbeCredentials, value: unknown): ProbeCredentials {
  return value === undefined || value === '' ? {} : { [member]: String(value) };
}

/** A sentence for the operator; undefined where the secret has what is needed. */
function problemOf(name: string, found: FoundSecret, needed: readonly SecretMember[]): string | undefined {
  if (found === undefined) return `secret ${name} is not on this box: an administrator sets it`;
  if (found === 'unreadable') return `secret ${name} cannot be read on this box: an administrator sets it anew`;
  const lacking = needed.filter((member) => found[member] === undefined);
  return lacking.length === 0 ? undefined : `secret ${name} has no ${lacking.join(' and no ')}`;
}
