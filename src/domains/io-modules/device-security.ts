/** The security block of a module as its driver takes it (decisions 7.5): every default filled in, and what of this box belongs to it. Pure. */
import path from 'node:path';
import type { DeviceSecurity } from '../../../runtime/port.js';
import type { IOModuleSpec } from './kind.js';

/** What of this box counts for the security of devices. */
export interface BoxSecurity {
  readonly dataDir: string;
  readonly isDevelopment: boolean;
}

/** Folder of the data directory with the identity that this box shows, and with whom it trusts. */
export function identityFolder({ dataDir }: BoxSecurity): string {
  return path.join(dataDir, 'opcua');
}

/** A module that names a secret and no way to sign in signs in with it. */
export function deviceSecurity({ security = {}, options }: Pick<IOModuleSpec, 'security' | 'options'>, box: BoxSecurity): DeviceSecurity {
  const hasLogin = security.secretRef !== undefined || (options.username !== undefined && options.username !== '');
  return {
    securityPolicy: security.securityPolicy ?? 'None',
    securityMode: security.securityMode ?? 'None',
    authType: security.authType ?? (hasLogin ? 'UserName' : 'Anonymous'),
    serverTrust: security.serverTrust ?? 'pinned',
    serverCertificateSha256: security.serverCertificateSha256 ?? '',
    folder: identityFolder(box),
    isDevelopment: box.isDevelopment,
  };
}
