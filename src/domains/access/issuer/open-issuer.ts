/** The identity provider as the settings name it; what they name beside the data directory is read once, at the start. */
import { readBoundedFile } from '../../../platform/base/plain-file.js';
import { StartRefused } from '../../../platform/base/start-refused.js';
import { Issuer, type IssuerParts } from './issuer.js';

/** `auth.oidc.*`. */
export interface OidcSettings {
  readonly authMode: string;
  readonly sessionLifetimeMs: number;
  readonly oidcIssuer: string | null;
  readonly oidcClientId: string | null;
  readonly oidcClientSecretFile: string | null;
  readonly oidcAudience: string | null;
  readonly oidcScopes: string;
  readonly oidcGroupsClaim: string;
  readonly oidcUsernameClaim: string;
  readonly oidcJwksUrl: string | null;
  readonly oidcCaFile: string | null;
}

const FILE_BYTES_MAX = 1024 * 1024;

/**
 * Undefined in other modes than `oidc`.
 * @throws StartRefused naming the setting whose file cannot be read.
 */
export function openIssuer(settings: OidcSettings, parts: Omit<IssuerParts, 'settings'>): Issuer | undefined {
  const { authMode, oidcIssuer: issuer, oidcClientId: clientId, oidcAudience, oidcScopes: scopes, oidcGroupsClaim, oidcUsernameClaim, sessionLifetimeMs } = settings;
  if (authMode !== 'oidc' || issuer === null || clientId === null) return undefined;
  const clientSecret = textOf('auth.oidc.clientSecretFile', settings.oidcClientSecretFile)?.trim();
  if (clientSecret === '') throw new StartRefused('auth.oidc.clientSecretFile: the file is empty; write the client secret into it');
  const names = { groups: oidcGroupsClaim, username: oidcUsernameClaim };
  const ca = textOf('auth.oidc.caFile', settings.oidcCaFile);
  return new Issuer({
    ...parts,
    settings: { issuer, clientId, clientSecret, audience: oidcAudience ?? clientId, scopes, names, jwksUrl: settings.oidcJwksUrl, ca, sessionLifetimeMs },
  });
}

function textOf(setting: string, file: string | null): string | undefined {
  if (file === null) return undefined;
  try {
    return readBoundedFile(file, FILE_BYTES_MAX).toString('utf8');
  } catch (fault) {
    throw new StartRefused(`${setting}: ${file} cannot be read (${(fault as NodeJS.ErrnoException).code ?? (fault as Error).message})`);
  }
}
