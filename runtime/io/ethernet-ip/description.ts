/** The ethernetip protocol as the gateway knows it (decisions 7.3, 7.4). */
import { describe, parsed } from '../description.js';
import { outsideFloat, outsideInteger } from '../number-bounds.js';
import { COMMON_OPTIONS } from '../options.js';
import type { OptionValue } from '../options.js';
import { cellsOf, parseTagAddress } from './address.js';
import { endpointText, parseEndpoint, parseRoute, routeText } from './endpoint.js';

/** The controller behind the endpoint. */
function routeOf({ path = '', slot = 0 }: Readonly<Record<string, OptionValue>>): string {
  const route = parseRoute(String(path), Number(slot));
  return route.ok ? routeText(route.value) : '';
}

export const ethernetIpDescription = describe({
  protocol: 'ethernetip',
  options: [
    ...COMMON_OPTIONS,
    { name: 'slot', type: 'integer', default: 0, min: 0, max: 255, meaning: 'backplane slot of the controller' },
    {
      name: 'path',
      type: 'text',
      default: '',
      problem: (text) => {
        const route = parseRoute(text, 0);
        return route.ok ? undefined : route.message;
      },
      meaning: 'CIP route, overrides slot: pairs of port and link such as 1,0 or 1,2,2,192.168.1.5,1,0; direct: a controller without slots',
    },
    { name: 'connected', type: 'boolean', default: false, meaning: 'connected (Forward Open) instead of unconnected messages' },
    {
      name: 'maxPacket',
      type: 'integer',
      default: 504,
      min: 100,
      max: 4002,
      meaning: 'most bytes in one message; with connected, where it is not given, 4002 if the device grants them',
    },
  ],
  problemOfValue(text, value) {
    const address = parseTagAddress(text);
    const type = address.ok && address.value.bit === undefined ? address.value.type : undefined; // else only the device knows
    if (type?.bounds) return outsideInteger(value, type.name, type.bounds);
    return type?.dataType === 'float' ? outsideFloat(value, type.name, type.bytes) : '';
  },
  unitOf: routeOf,
  placeOf: (address, options) => cellsOf(address, routeOf(options)),
  parseAddress(text) {
    const endpoint = parseEndpoint(text);
    return endpoint.ok ? parsed(endpointText(endpoint.value)) : endpoint;
  },
  parseChannel(text) {
    const address = parseTagAddress(text);
    return address.ok ? parsed({ dataType: address.value.dataType }) : address;
  },
});
