/** The ethernetip driver: a session of our own with the encoders of st-ethernet-ip (ADR 0063). */
import type { Driver } from '../driver.js';
import { numberOption, resolveOptions } from '../options.js';
import { connectDevice, type ConnectTarget } from './connect.js';
import { ethernetIpDescription } from './description.js';
import { parseEndpoint, parseRoute, routeText } from './endpoint.js';
import { EthernetIpLink } from './link.js';
import { routeBytes, routeOverhead } from './request.js';

/** The sequence before each message of a connection. */
const SEQUENCE_BYTES = 2;

function targetOf(address: string, given: Parameters<typeof resolveOptions>[1]): ConnectTarget {
  const endpoint = parseEndpoint(address);
  if (!endpoint.ok) throw new Error(endpoint.message);
  const options = resolveOptions(ethernetIpDescription.options, given);
  const steps = parseRoute(String(options.path), numberOption(options, 'slot'));
  if (!steps.ok) throw new Error(steps.message);
  const route = routeBytes(steps.value);
  const packetBytes = numberOption(options, 'maxPacket');
  const isConnected = options.connected === true;
  return {
    ...endpoint.value,
    connectionBytes: isConnected ? packetBytes : undefined,
    settings: {
      retries: numberOption(options, 'retries'),
      timeoutMs: numberOption(options, 'timeout'),
      route,
      routeText: steps.value.length === 0 ? 'the device' : routeText(steps.value),
      requestBytesMax: packetBytes - (isConnected ? SEQUENCE_BYTES : routeOverhead(route)),
      replyBytesMax: packetBytes - (isConnected ? SEQUENCE_BYTES : 0),
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
