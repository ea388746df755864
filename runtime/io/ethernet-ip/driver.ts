/** The ethernetip driver: a session of our own with the encoders of st-ethernet-ip (ADR 0063). */
import type { Driver } from '../driver.js';
import { numberOption, resolveOptions } from '../options.js';
import { connectDevice, type ConnectTarget } from './connect.js';
import { ethernetIpDescription } from './description.js';
import { parseEndpoint, parseRoute, routeText } from './endpoint.js';
import { EthernetIpLink } from './link.js';
import { routeBytes, routeOverhead } from './request.js';

/** What a connection is asked to have where nobody says how long messages may be: the most that Logix controllers grant (1756-PM020). */
const CONNECTION_BYTES = 4002;

function targetOf(address: string, given: Parameters<typeof resolveOptions>[1]): ConnectTarget {
  const endpoint = parseEndpoint(address);
  if (!endpoint.ok) throw new Error(endpoint.message);
  const options = resolveOptions(ethernetIpDescription.options, given);
  const steps = parseRoute(String(options.path), numberOption(options, 'slot'));
  if (!steps.ok) throw new Error(steps.message);
  const route = routeBytes(steps.value);
  const packetBytes = numberOption(options, 'maxPacket');
  const isConnected = options.connected === true;
  const connectionBytes = given.maxPacket === undefined ? CONNECTION_BYTES : packetBytes;
  return {
    ...endpoint.value,
    connectionBytes: isConnected ? connectionBytes : undefined,
    settings: {
      retries: numberOption(options, 'retries'),
      timeoutMs: numberOption(options, 'timeout'),
      route,
      routeText: steps.value.length === 0 ? 'the device' : routeText(steps.value),
      requestBytesMax: packetBytes - routeOverhead(route),
      replyBytesMax: packetBytes,
    },
  };
}

export const ethernetIpDriver: Driver = {
  ...ethernetIpDescription,
  async connect(module, clock) {
    const { device, identity } = await connectDevice(targetOf(module.address, module.options), clock);
    return new EthernetIpLink(device, identity, clock);
  },
};
