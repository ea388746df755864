/**
 * Whether addresses lead to one server: they resolve to one host and port, or what answers there shows one certificate, or calls itself by one application URI.
 * The path does not count: a server does not care for it.
 */
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import type { ServerComparison } from '../../port.js';
import type { Clock } from '../../vocabulary/clock.js';
import { fingerprint } from './identity.js';
import { endpointsOf, firstOf, type SessionPlan } from './open-session.js';
import { faultText, OpcUaFault } from './status.js';

/** All addresses of this box are one: a server that listens on it may listen on all of them. */
const HERE = 'here';
/** Of a normalised address. */
const HOST_AND_PORT = /^opc\.tcp:\/\/(?<host>[^/:]+):(?<port>\d+)/;

interface Shown {
  readonly certificates: ReadonlySet<string>;
  readonly applicationUris: ReadonlySet<string>;
}

/** Whether `plan.url` and each of the urls lead to one server, by their places. @throws OpcUaFault when the server of `plan.url` has to be asked and does not answer. */
export async function compareServers(plan: SessionPlan, urls: readonly string[], clock: Clock): Promise<ServerComparison[]> {
  const places = await placesOf(plan.url);
  let own: Promise<Shown> | undefined;
  return Promise.all(
    urls.map(async (url): Promise<ServerComparison> => {
      const others = await placesOf(url);
      if (meet(places, others)) return { verdict: 'same' };
      const shown = await (own ??= shownBy(plan, clock));
      try {
        return compared(shown, await shownBy({ ...plan, url }, clock));
      } catch (fault) {
        return { verdict: 'unknown', message: faultText(fault) };
      }
    }),
  );
}

function compared(one: Shown, other: Shown): ServerComparison {
  if (one.certificates.size > 0 && other.certificates.size > 0) return { verdict: meet(one.certificates, other.certificates) ? 'same' : 'other' };
  if (one.applicationUris.size > 0 && other.applicationUris.size > 0) return { verdict: meet(one.applicationUris, other.applicationUris) ? 'same' : 'other' };
  return { verdict: 'unknown', message: 'it shows neither a certificate nor an application URI' };
}

function meet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return [...one].some((member) => other.has(member));
}

async function placesOf(url: string): Promise<ReadonlySet<string>> {
  const { host = '', port = '' } = HOST_AND_PORT.exec(url)?.groups ?? {};
  try {
    const found = await lookup(host, { all: true });
    const own = new Set(Object.values(networkInterfaces()).flatMap((rows) => (rows ?? []).map(({ address }) => address)));
    return new Set(found.map(({ address }) => `${isHere(address, own) ? HERE : address} ${port}`));
  } catch {
    return new Set(); // who is asked for it tells why
  }
}

function isHere(address: string, own: ReadonlySet<string>): boolean {
  const plain = address.replace(/^::ffff:/, '');
  return /^127\.|^0\.0\.0\.0$|^::1?$/.test(plain) || own.has(plain);
}

/** What it says of itself to whoever asks. @throws OpcUaFault */
async function shownBy(plan: SessionPlan, clock: Clock): Promise<Shown> {
  const endpoints = await endpointsOf(plan, clock);
  if (endpoints.length === 0) throw new OpcUaFault('refused', 'it tells no endpoint', 'BadUnexpectedError');
  const certificates = endpoints.map(({ serverCertificate }) => firstOf(serverCertificate)).filter(({ length }) => length > 0);
  const uris = endpoints.map(({ server }) => server.applicationUri ?? '').filter((uri) => uri !== '');
  return { certificates: new Set(certificates.map(fingerprint)), applicationUris: new Set(uris) };
}
