/** An OPC UA module as a probe is told of it. */
import type { DeviceSecurity, ProbeChannel, ProbeModule } from '../../runtime/port.js';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';

export type ChannelText = readonly [name: string, address: string, dataType: ProbeChannel['dataType'], more?: Partial<ProbeChannel>];

export function opcuaSecurity(folder: string, more: Partial<DeviceSecurity> = {}): DeviceSecurity {
  return { securityPolicy: 'None', securityMode: 'None', authType: 'Anonymous', serverTrust: 'pinned', serverCertificateSha256: '', isDevelopment: false, folder, ...more };
}

/** `folder`: that of this box, where its identity is. */
export function opcuaModule(
  address: string,
  folder: string,
  rows: readonly ChannelText[] = [],
  options: ProbeModule['options'] = {},
  more: Partial<ProbeModule> = {},
): ProbeModule {
  const channels = rows.map(
    ([name, where, dataType, extra]): ProbeChannel => ({ name, address: where, direction: 'input', dataType, readbackAddress: '', pollIntervalMs: 0, ...extra }),
  );
  return {
    site: 'north',
    module: 'io',
    protocol: 'opcua',
    address,
    options: { publishingInterval: '50ms', samplingInterval: '20ms', pollInterval: '50ms', timeout: '2s', retries: 1, ...options },
    channels,
    security: opcuaSecurity(folder),
    image: new ProcessImage(channels.length).buffer,
    ...more,
  };
}
