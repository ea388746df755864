/** IP addresses as text: one text for one address, and what counts as one source (decisions Q-ERR-05). */
import { isIPv4 } from 'node:net';

/** Eight groups without leading zeros, or what was there when it is no address. A zone (`%eth0`) is left out. */
export function expandIPv6(ip: string): string[] {
  const [head, tail] = hexTail(ip.split('%')[0] as string).split('::');
  const left = head ? head.split(':') : [];
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const fill = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  return [...left, ...Array<string>(fill).fill('0'), ...right].map((group) => group.replace(/^0+(?=.)/, '').toLowerCase());
}

/** `::ffff:10.0.0.1` in groups of hexadecimal digits only. */
function hexTail(ip: string): string {
  const at = ip.lastIndexOf(':') + 1;
  const last = ip.slice(at);
  if (!isIPv4(last)) return ip;
  const [a, b, c, d] = last.split('.').map(Number) as [number, number, number, number]; // an IPv4 address has four
  return `${ip.slice(0, at)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

/** The shortest text of an address; an IPv4 address mapped into IPv6 is the IPv4 address. */
export function canonicalIP(ip: string): string {
  if (!ip.includes(':')) return ip;
  const groups = expandIPv6(ip);
  if (groups.length !== 8) return ip;
  if (groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff') {
    const [high, low] = groups.slice(6).map((group) => Number.parseInt(group, 16)) as [number, number];
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  const text = groups.join(':');
  const longest = [...text.matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].sort((a, b) => b[0].length - a[0].length)[0];
  if (!longest) return text;
  const after = text.slice(longest.index + longest[0].length).replace(/^:/, '');
  return `${text.slice(0, longest.index)}::${after}`;
}

/** Whether an address, or `localhost`, is this machine alone; no other name is, whatever it begins with. */
export function isLoopback(address: string): boolean {
  if (address === 'localhost') return true;
  const ip = canonicalIP(address);
  return isIPv4(ip) ? ip.startsWith('127.') : ip === '::1';
}

/** IPv4 by address, IPv6 by /64: a subscriber has a whole /64, and could be a new source with every request otherwise. */
export function sourceKey(ip: string): string {
  if (!ip.includes(':')) return ip;
  return expandIPv6(ip).slice(0, 4).join(':');
}
