/**
 * Modbus endpoints (decisions 7.3): `host[:502]`, `tcp://host[:port]`, `rtu:///dev/ttyS0?baud=19200&parity=even&stop=1`, and RTU frames over TCP,
 * `rtu+tcp://host:port` (ADR 0059).
 */
import { type Parsed, parsed, refused } from '../description.js';

export type ModbusEndpoint =
  | { readonly kind: 'tcp' | 'rtu+tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'rtu'; readonly path: string; readonly baud: number; readonly parity: 'none' | 'even' | 'odd'; readonly stopBits: 1 | 2 };

const MODBUS_TCP_PORT = 502; // IANA; Modbus Messaging on TCP/IP Implementation Guide V1.0b, 3.1.3
const HOST = /^(?:\[(?<v6>[0-9A-Fa-f:.]+)\]|(?<host>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?))(?::(?<port>\d{1,5}))?$/;
const HOST_TEXT_MAX = 253 + ':65535'.length; // RFC 1035, 2.3.4
const RTU_TCP = 'rtu+tcp://';
const PARITIES = ['none', 'even', 'odd'] as const;

function parseTcp(text: string, kind: 'tcp' | 'rtu+tcp'): Parsed<ModbusEndpoint> {
  const { v6, host = v6, port: portText } = HOST.exec(text)?.groups ?? {};
  if (host === undefined || text.length > HOST_TEXT_MAX) return refused(`${text.slice(0, 80)} is not a host name or IP address, optionally with :port`);
  if (portText === undefined && kind === 'rtu+tcp') return refused(`${text} names no port: device servers have one for each serial line, such as ${RTU_TCP}${text}:4001`);
  const port = portText === undefined ? MODBUS_TCP_PORT : Number(portText);
  if (port < 1 || port > 65535) return refused(`port ${port} is outside 1 to 65535`);
  return parsed({ kind, host: host.toLowerCase(), port });
}

function parseRtu(text: string): Parsed<ModbusEndpoint> {
  const [path = '', query = ''] = text.split('?', 2);
  if (!/^\/[A-Za-z0-9._/-]+$/.test(path)) return refused(`${path} is not the path of a serial port`);
  const settings = new URLSearchParams(query);
  for (const name of settings.keys()) if (!['baud', 'parity', 'stop', 'data'].includes(name)) return refused(`${name} is not known; known are baud, parity, stop, data`);
  const baud = Number(settings.get('baud') ?? 19200); // Modbus over Serial Line V1.02, 3.2: 19200 even is the default
  const parity = PARITIES.find((word) => word === (settings.get('parity') ?? 'even'));
  const stopBits = Number(settings.get('stop') ?? 1);
  if (!Number.isInteger(baud) || baud < 50 || baud > 4_000_000) return refused('baud must be 50 to 4000000');
  if (!parity) return refused('parity must be none, even or odd');
  if (Number(settings.get('data') ?? 8) !== 8) return refused('data must be 8: Modbus RTU has 8 data bits, and 7 are of Modbus ASCII, which is not served');
  if (stopBits !== 1 && stopBits !== 2) return refused('stop must be 1 or 2');
  return parsed({ kind: 'rtu', path, baud, parity, stopBits });
}

export function parseEndpoint(text: string): Parsed<ModbusEndpoint> {
  const address = text.trim();
  if (address === '') return refused('a modbus module needs an address such as 10.0.0.5:502');
  if (address.startsWith('rtu://')) return parseRtu(address.slice('rtu://'.length));
  if (address.startsWith(RTU_TCP)) return parseTcp(address.slice(RTU_TCP.length).replace(/\/$/, ''), 'rtu+tcp');
  return parseTcp(address.startsWith('tcp://') ? address.slice('tcp://'.length).replace(/\/$/, '') : address, 'tcp');
}

/** Whether several units hear each request, and unit 0 is all of them at once. */
export function isLine(text: string): boolean {
  const endpoint = parseEndpoint(text);
  return endpoint.ok && endpoint.value.kind !== 'tcp';
}

/** Equal for equal devices; a serial port is one device whatever its line settings. */
export function endpointText(endpoint: ModbusEndpoint): string {
  if (endpoint.kind === 'rtu') return `rtu://${endpoint.path}`;
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  return `${endpoint.kind}://${host}:${endpoint.port}`;
}
