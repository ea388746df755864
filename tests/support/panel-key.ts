/** The device key of a panel as its browser makes it, for tests of the protocol. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { type DeviceKey, keyIdOf } from '../../src/domains/access/panels/device-key.js';

export interface PanelKey {
  readonly publicKey: DeviceKey;
  readonly keyID: string;
  sign(challenge: string): string;
}

export function panelKey(): PanelKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  const told = { kty, crv, x, y } as DeviceKey;
  return {
    publicKey: told,
    keyID: keyIdOf(told),
    sign: (challenge) => sign('sha256', Buffer.from(`lineside panel 1 ${challenge}`), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url'),
  };
}
