/** OPC UA addresses and options (decisions 7.3, 7.4). The grammar only; the driver comes with later work. */
import { describe, parsed, refused } from '../description.js';
import { COMMON_OPTIONS } from '../options.js';

const ENDPOINT = /^opc\.tcp:\/\/(?<host>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::(?<port>\d{1,5}))?(?<path>\/\S*)?$/;
const OPC_UA_PORT = 4840; // OPC 10000-6, IANA
const IDENTIFIERS: readonly RegExp[] = [/^i=\d{1,10}$/, /^s=.{1,4096}$/s, /^g=[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/, /^b=[A-Za-z0-9+/]+={0,2}$/];
const NODE_ID = /^(?:ns=\d{1,5};|nsu=[^;]+;)?(?<identifier>[isgb]=.+?)(?:\|\d{1,9})?$/s;

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
  parseAddress(text) {
    const { host, port: portText, path = '' } = ENDPOINT.exec(text.trim())?.groups ?? {};
    if (host === undefined || host.length > 253) return refused(`${text.slice(0, 80)} is not of the form opc.tcp://host:4840/path`);
    const port = Number(portText ?? OPC_UA_PORT);
    if (port < 1 || port > 65535) return refused(`port ${port} is outside 1 to 65535`);
    return parsed(`opc.tcp://${host.toLowerCase()}:${port}${path.replace(/\/$/, '')}`);
  },
  parseChannel(text) {
    const identifier = NODE_ID.exec(text)?.groups?.identifier;
    if (identifier === undefined || !IDENTIFIERS.some((pattern) => pattern.test(identifier))) {
      return refused(`${text} is not a node id such as ns=2;s=Reactor.Temp`);
    }
    return parsed({ dataType: undefined });
  },
});
