/** EtherNet/IP addresses and options (decisions 7.3, 7.4). The grammar only; the driver comes with later work. */
import { type ChannelType, describe, parsed, refused } from '../description.js';
import { COMMON_OPTIONS } from '../options.js';

const CIP_TYPES: ReadonlyMap<string, ChannelType> = new Map<string, ChannelType>([
  ['BOOL', 'bool'],
  ['SINT', 'int'],
  ['INT', 'int'],
  ['DINT', 'int'],
  ['LINT', 'int'],
  ['USINT', 'int'],
  ['UINT', 'int'],
  ['UDINT', 'int'],
  ['ULINT', 'int'],
  ['REAL', 'float'],
  ['LREAL', 'float'],
  ['STRING', 'string'],
]);

const NAME = '[A-Za-z_][A-Za-z0-9_]{0,39}';
const TAG = new RegExp(`^(?:Program:${NAME}\\.)?${NAME}(?:\\.${NAME}|\\[\\d+(?:,\\d+){0,2}\\])*(?<bit>\\.\\d{1,2})?$`);
const HOST = /^(?:tcp:\/\/)?(?<host>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::(?<port>\d{1,5}))?$/;
const ETHERNET_IP_PORT = 44818; // IANA

export const ethernetIpDescription = describe({
  protocol: 'ethernetip',
  options: [
    ...COMMON_OPTIONS,
    { name: 'slot', type: 'integer', default: 0, min: 0, max: 255, meaning: 'backplane slot of the controller' },
    { name: 'path', type: 'text', default: '', meaning: 'CIP route; overrides slot' },
    { name: 'connected', type: 'boolean', default: false, meaning: 'connected instead of unconnected messages' },
    { name: 'maxPacket', type: 'integer', default: 504, min: 100, max: 4002, meaning: 'most bytes in one message' },
  ],
  parseAddress(text) {
    const { host, port: portText } = HOST.exec(text.trim())?.groups ?? {};
    if (host === undefined || host.length > 253) return refused(`${text.slice(0, 80)} is not host or host:port`);
    const port = Number(portText ?? ETHERNET_IP_PORT);
    return port >= 1 && port <= 65535 ? parsed(`${host.toLowerCase()}:${port}`) : refused(`port ${port} is outside 1 to 65535`);
  },
  parseChannel(text) {
    const [tag = '', type, ...more] = text.split('#');
    const bit = TAG.exec(tag)?.groups?.bit;
    if (!TAG.test(tag) || more.length > 0) return refused(`${text} is not a tag such as Program:Main.Tank[2].Level#REAL`);
    if (bit !== undefined && Number(bit.slice(1)) > 63) return refused(`bit ${bit.slice(1)} is outside 0 to 63`);
    if (type === undefined) return parsed({ dataType: bit === undefined ? undefined : ('bool' as const) });
    const dataType = CIP_TYPES.get(type);
    if (dataType === undefined) return refused(`type ${type} is not known; known are ${[...CIP_TYPES.keys()].join(', ')}`);
    return parsed({ dataType: bit === undefined ? dataType : ('bool' as const) });
  },
});
