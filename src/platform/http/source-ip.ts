/** Who sent a request (decisions Q-ERR-05): the peer, or what a trusted proxy says about it, read from right to left. */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { canonicalIP } from '../base/ip-address.js';

const TEXTS_MAX = 20_000;
const texts = new Map<number | string, string>();

/** Address text of the 4 or 16 bytes of a socket; an IPv4-mapped IPv6 address reads as IPv4. Called for every request. */
export function addressText(buffer: ArrayBuffer): string {
  const key = buffer.byteLength === 4 ? new DataView(buffer).getInt32(0) : String.fromCharCode(...new Uint8Array(buffer));
  let text = texts.get(key);
  if (text === undefined) {
    if (texts.size >= TEXTS_MAX) texts.clear();
    texts.set(key, (text = render(buffer)));
  }
  return text;
}

const UNKNOWN = 'unknown'; // the connection has gone

function render(buffer: ArrayBuffer): string {
  if (buffer.byteLength === 4) return new Uint8Array(buffer).join('.');
  if (buffer.byteLength !== 16) return UNKNOWN;
  const groups = new DataView(buffer);
  return canonicalIP(Array.from({ length: 8 }, (_, i) => groups.getUint16(2 * i).toString(16)).join(':'));
}

/** A connection, or a request on it, as far as it says where it comes from. */
interface Peer {
  getRemoteAddress(): ArrayBuffer;
}

/**
 * Where connections come from. Behind a proxy, or at a box with one panel, that is one address: then no request asks its socket,
 * which costs more than all of its headers. With a second address every request asks from then on. Who is still connected is not
 * counted: were an end told twice, one connection would be taken for another.
 *
 * Invariant: `#only` is the address of every connection that ever came.
 */
export class Peers {
  #only: string | undefined;
  #isFirst = true;

  /** Before the first request of the connection. */
  came(peer: Peer): void {
    const address = addressText(peer.getRemoteAddress());
    if (this.#isFirst) this.#only = address === UNKNOWN ? undefined : address;
    else if (address !== this.#only) this.#only = undefined;
    this.#isFirst = false;
  }

  addressOf(peer: Peer): string {
    return this.#only ?? addressText(peer.getRemoteAddress());
  }
}

export class TrustedProxies {
  readonly #list = new BlockList();
  readonly #any: boolean;

  /** CIDR list of `gateway.trustedProxies`. */
  constructor(cidrs: readonly string[]) {
    this.#any = cidrs.length > 0;
    for (const cidr of cidrs) {
      const [address = '', prefix] = cidr.split('/');
      const type = isIPv4(address) ? 'ipv4' : 'ipv6';
      if (prefix === undefined) this.#list.addAddress(address, type);
      else this.#list.addSubnet(address, Number(prefix), type);
    }
  }

  sourceOf(peerIP: string, forwardedFor: string | undefined): string {
    if (!this.#any || forwardedFor === undefined || !this.#trusts(peerIP)) return peerIP;
    const hops = forwardedFor.split(',').map((hop) => hop.trim());
    let source = peerIP;
    for (const hop of hops.reverse()) {
      if (isIP(hop) === 0) return source;
      source = canonicalIP(hop);
      if (!this.#trusts(source)) return source;
    }
    return source;
  }

  /** Whether what this peer says about its client is believed. */
  believes(peerIP: string): boolean {
    return this.#any && this.#trusts(peerIP);
  }

  #trusts(ip: string): boolean {
    return isIP(ip) !== 0 && this.#list.check(ip, isIPv4(ip) ? 'ipv4' : 'ipv6');
  }
}

/** Whether a CIDR or address of a setting reads. */
export function isCidr(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}
