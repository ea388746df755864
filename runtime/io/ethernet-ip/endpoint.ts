/** Where an EtherNet/IP device is (decisions 7.3): `host[:44818]`, and the CIP route from there to the controller (ADR 0064). No Node API. */
import { type Parsed, parsed, refused } from '../description.js';

export interface EthernetIpEndpoint {
  readonly host: string;
  readonly port: number;
}

/** A step of a CIP route: a port of the device that was reached, and the address behind it (a slot, or an IP address). */
export interface RouteStep {
  readonly port: number;
  readonly link: number | string;
}

const ETHERNET_IP_PORT = 44818; // IANA
const HOST = /^(?:tcp:\/\/)?(?:\[(?<v6>[0-9A-Fa-f:.]+)\]|(?<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?))(?::(?<port>\d{1,5}))?$/;
const HOST_CHARACTERS_MAX = 253; // RFC 1035, 2.3.4
/** The device that answers at the address is the controller itself: nothing is passed on. */
const DIRECT = 'direct';
const BACKPLANE_PORT = 1;
const IPV4 = /^(?:\d{1,3}\.){3}\d{1,3}$/;
const STEPS_MAX = 8;

export function parseEndpoint(text: string): Parsed<EthernetIpEndpoint> {
  const { v6, name = v6, port: portText } = HOST.exec(text.trim())?.groups ?? {};
  if (name === undefined || name.length > HOST_CHARACTERS_MAX) return refused(`${text.slice(0, 80)} is not host or host:port`);
  const port = Number(portText ?? ETHERNET_IP_PORT);
  return port >= 1 && port <= 65535 ? parsed({ host: name.toLowerCase(), port }) : refused(`port ${port} is outside 1 to 65535`);
}

/** Equal for equal devices. */
export function endpointText({ host, port }: EthernetIpEndpoint): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const isIpAddress = (text: string): boolean => IPV4.test(text) && text.split('.').every((part) => Number(part) <= 255);

function linkOf(text: string): number | string | undefined {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 255) return Number(text);
  return isIpAddress(text) ? text : undefined;
}

/** `path` goes before `slot`: pairs of port and link such as `1,0` or `1,2,2,192.168.1.5,1,0`, or `direct`. */
export function parseRoute(path: string, slot: number): Parsed<readonly RouteStep[]> {
  const text = path.trim();
  if (text === '') return parsed([{ port: BACKPLANE_PORT, link: slot }]);
  if (text === DIRECT) return parsed([]);
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length % 2 !== 0 || parts.length > 2 * STEPS_MAX)
    return refused(`path ${text.slice(0, 80)} is not pairs of port and link such as 1,0 or 1,2,2,192.168.1.5 (${STEPS_MAX} pairs at most), nor ${DIRECT}`);
  const steps: RouteStep[] = [];
  for (let at = 0; at < parts.length; at += 2) {
    const [portText = '', linkText = ''] = parts.slice(at, at + 2);
    const port = /^\d{1,5}$/.test(portText) ? Number(portText) : 0;
    const link = linkOf(linkText);
    if (port < 1 || port > 65535) return refused(`path ${text.slice(0, 80)}: ${portText.slice(0, 20)} is no port; it is 1 (backplane) to 65535`);
    if (link === undefined) return refused(`path ${text.slice(0, 80)}: ${linkText.slice(0, 20)} is neither a slot (0 to 255) nor an IP address`);
    steps.push({ port, link });
  }
  return parsed(steps);
}

/** The route for a sentence; equal for equal ones. */
export function routeText(steps: readonly RouteStep[]): string {
  const [only, ...more] = steps;
  if (only?.port === BACKPLANE_PORT && more.length === 0) return `slot ${only.link}`;
  return `path ${steps.map(({ port, link }) => `${port},${link}`).join(',')}`;
}
