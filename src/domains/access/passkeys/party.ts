/**
 * Whether and where passkeys can be used: a browser binds them to the host name of a page that it trusts (Web Authentication 5.1.2; the
 * "relying party"). The name and the addresses are those of the settings, never of a request: whoever sends one chooses its headers.
 */
import { conflict, type Refusal } from '../../../platform/base/refusal.js';

export interface PartySettings {
  readonly publicName: string | null;
  readonly trustedProxies: readonly string[];
}

export interface Served {
  readonly speaksTls: boolean;
  /** On which the gateway is heard. */
  readonly port: () => number;
}

export interface Party {
  /** The host name that keys are bound to. */
  readonly rpID: string;
  /** Addresses of pages that may use them, as browsers write an origin. */
  readonly origins: readonly string[];
}

export const WHY_NOT = ['no_public_name', 'address_is_no_name', 'no_tls'] as const;
export type WhyNot = (typeof WHY_NOT)[number];

const SENTENCES: Readonly<Record<WhyNot, string>> = {
  no_public_name: 'the box has no host name: set gateway.publicName to the name under which people reach it',
  address_is_no_name: 'gateway.publicName is an IP address, and browsers bind passkeys to a name: set it to the name under which people reach the box',
  no_tls: 'browsers keep passkeys for pages under TLS only: set gateway.tls.certFile, gateway.tls.selfSigned or gateway.tls.acme.directory',
};

/** What browsers read as an IPv4 address (WHATWG URL 3.1). */
const ENDS_IN_NUMBER = /(^|\.)\d+$/;
const HERE = /(^|\.)localhost$/;
const HTTPS_PORT = 443;
const HTTP_PORT = 80;

export function partyOf({ publicName, trustedProxies }: PartySettings, { speaksTls, port }: Served): Party | WhyNot {
  if (publicName === null) return 'no_public_name';
  const rpID = publicName.toLowerCase();
  if (ENDS_IN_NUMBER.test(rpID)) return 'address_is_no_name';
  const origins = [
    ...(speaksTls ? [originOf('https', rpID, port(), HTTPS_PORT)] : []),
    ...(trustedProxies.length > 0 ? [`https://${rpID}`] : []), // a proxy that ends TLS is where browsers look for one
    ...(!speaksTls && HERE.test(rpID) ? [originOf('http', rpID, port(), HTTP_PORT)] : []), // W3C Secure Contexts 3.1
  ];
  return origins.length === 0 ? 'no_tls' : { rpID, origins: [...new Set(origins)] };
}

export function unavailable(why: WhyNot): Refusal {
  return conflict('passkeys_unavailable', `passkeys cannot be used here: ${SENTENCES[why]}`, { why });
}

function originOf(scheme: string, name: string, port: number, usual: number): string {
  return `${scheme}://${name}${port === usual ? '' : `:${port}`}`;
}
