/** OPC UA addresses and options (decisions 7.3, 7.4): the grammar only, without the library of the driver. */
import { describe, parsed, refused } from '../description.js';
import { COMMON_OPTIONS } from '../options.js';
import { compareNodes, nodeCells, parseNodeText } from './node-text.js';

const ENDPOINT = /^opc\.tcp:\/\/(?<host>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?::(?<port>\d{1,5}))?(?<path>\/\S*)?$/;
const BRACKETS = /^opc\.tcp:\/\/\[/;
/** What a resolver takes for numbers: `127.1`, `0x7f.1`, `2130706433`. */
const NUMBERS_ONLY = /^(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d+))*$/;
const IPV4 = /^(?:(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])(?:\.|$)){4}$/;
const OPC_UA_PORT = 4840; // OPC 10000-6, IANA

export const opcuaDescription = describe({
  protocol: 'opcua',
  options: [
    ...COMMON_OPTIONS,
    { name: 'mode', type: 'choice', default: 'subscribe', choices: ['subscribe', 'poll'], meaning: 'how values arrive' },
    { name: 'publishingInterval', type: 'duration', default: '500ms', min: 10, max: 3_600_000, meaning: 'time between two publish responses' },
    { name: 'samplingInterval', type: 'duration', default: '250ms', min: 0, max: 3_600_000, meaning: 'time between two samples in the server' },
    { name: 'sessionTimeout', type: 'duration', default: '60s', min: 1000, max: 3_600_000, meaning: 'time the server keeps a silent session' },
    { name: 'batchSize', type: 'integer', default: 100, min: 1, max: 10_000, meaning: 'most nodes in one service call' },
    { name: 'username', type: 'text', default: '', meaning: 'user name; prefer a secret' },
    { name: 'password', type: 'text', default: '', secret: true, meaning: 'password; prefer a secret' },
  ],
  hasOwnThread: true,
  hasServices: true,
  arrivalMs: ({ mode, publishingInterval, samplingInterval }) => (mode === 'poll' ? 0 : Math.max(Number(publishingInterval), Number(samplingInterval))),
  securityMembers: ['securityPolicy', 'securityMode', 'authType', 'secretRef', 'clientCertificateRef', 'serverTrust', 'serverCertificateSha256'],
  compareChannels: compareNodes,
  parseAddress(text) {
    if (BRACKETS.test(text.trim())) return refused('an IPv6 address cannot be used; name the host, opc.tcp://host:4840/path, and let the name lead to it');
    const { host, port: portText, path = '' } = ENDPOINT.exec(text.trim())?.groups ?? {};
    if (host === undefined || host.length > 253) return refused(`${text.slice(0, 80)} is not of the form opc.tcp://host:4840/path`);
    const name = host.toLowerCase();
    if (NUMBERS_ONLY.test(name) && !IPV4.test(name)) return refused(`${host} is no IPv4 address: write four numbers from 0 to 255, without zeros before them`);
    const port = Number(portText ?? OPC_UA_PORT);
    if (port < 1 || port > 65535) return refused(`port ${port} is outside 1 to 65535`);
    return parsed(`opc.tcp://${name}:${port}${path.replace(/\/+$/, '')}`);
  },
  placeOf: nodeCells,
  parseChannel(text) {
    const node = parseNodeText(text);
    if (!node.ok) return node;
    return parsed({ dataType: undefined });
  },
});
