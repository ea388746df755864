/** Where a browser finds the operator console: passkeys and the certificate are good under the name of the box alone. */
import type { Appliance } from '../appliance/appliance.js';
import type { Settings } from '../settings.js';

export function consoleAddress({ publicName, listen }: Pick<Settings, 'publicName' | 'listen'>, { scheme, port }: Pick<Appliance, 'scheme' | 'port'>): string {
  const here = listen === '0.0.0.0' || listen === '::' ? 'localhost' : listen;
  const host = publicName ?? here;
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}/hmi`;
}
