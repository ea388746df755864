/**
 * Listening on the address of the settings. The address of a box comes with its network: after a power cut the switch boots slower than the
 * box, so an address that is not there yet is tried again for some minutes. What another start would meet again is refused in words.
 */
import { type AddressInfo, createServer } from 'node:net';
import type { Clock } from '../base/clock.js';
import { Stopwatch } from '../base/elapsed.js';
import { StartRefused } from '../base/start-refused.js';
import { checkPair, readPair, type TlsFiles, type TlsPair, UnfitCertificate } from '../tls/certificate.js';

export interface Address {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** That names the port; `gateway.httpPort` where it is left out. */
  readonly setting?: string;
}

const PORT_SETTING = 'gateway.httpPort';

/** How long an address that is not there is waited for; the start has 15 min for all of it. */
export const PATIENCE = { everyMs: 1000, forMs: 5 * 60_000 };

/** Of a listen or a look-up of its address: they pass when the network is up. */
const PASSING: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EAI_AGAIN']);

/** By the code of the system: what stays so until somebody does something about it. */
const REFUSED: Readonly<Record<string, (address: Address) => string>> = {
  EADDRINUSE: ({ port, setting = PORT_SETTING }) => `another program uses the port: end it, or take another port than ${port} (${setting})`,
  EACCES: ({ port, setting = PORT_SETTING }) => `this user may not listen on port ${port}: take one from 1024 on (${setting}), or grant the right`,
  ENOTFOUND: ({ host }) => `${host} is no address and no name of one (gateway.listen)`,
  EINVAL: ({ host }) => `${host} is no address to listen on (gateway.listen)`,
};

/**
 * @param attempt rejects with the fault of the system; `code` says which.
 * @param tell once, when it begins to wait.
 * @throws StartRefused; else an Error, where the address has not come in time or the system told something that nobody foresaw.
 */
export async function listening<T>(address: Address, attempt: () => Promise<T>, { clock, tell, patience = PATIENCE }: Waiting): Promise<T> {
  const { host, port } = address;
  const since = new Stopwatch(clock);
  for (let isTold = false; ; isTold = true) {
    try {
      return await attempt();
    } catch (fault) {
      const { code = '', message } = fault as NodeJS.ErrnoException;
      const refused = REFUSED[code];
      if (refused) throw new StartRefused(`cannot listen on ${host}:${port}: ${refused(address)}`);
      if (!PASSING.has(code)) throw new Error(`cannot listen on ${host}:${port}: ${message}`, { cause: fault });
      const absent = `no network of this machine has the address ${host} (gateway.listen)`;
      if (since.elapsedMs >= patience.forMs) throw new Error(`cannot listen on ${host}:${port}: for ${Math.round(since.elapsedMs / 1000)} s ${absent}`, { cause: fault });
      if (!isTold) tell(`cannot listen on ${host}:${port} yet: ${absent}; it is tried again every ${patience.everyMs / 1000} s`);
      await new Promise<void>((resolve) => void setTimeout(resolve, patience.everyMs));
    }
  }
}

export interface Waiting {
  readonly clock: Pick<Clock, 'monoMs'>;
  tell(what: string): void;
  readonly patience?: typeof PATIENCE;
}

/** A port that nobody listens on at this moment, for who listens by its number. */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host, port: 0, exclusive: true }, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

/** Why a program cannot listen there, for a library that does not tell: asked by a listener of our own. Undefined: it can. */
export function obstacleToListen({ host, port }: Address): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (fault) => resolve(fault));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)));
  });
}

/** @throws StartRefused naming the setting and the file that cannot be read, or is not what it has to be. */
export function tlsOf(files: TlsFiles): TlsPair {
  return refusingStart(() => {
    const pair = readPair(files);
    checkPair(pair, files);
    return pair;
  });
}

/** The next start would meet the same files. @throws StartRefused in place of UnfitCertificate. */
export function refusingStart<T>(look: () => T): T {
  try {
    return look();
  } catch (fault) {
    throw fault instanceof UnfitCertificate ? new StartRefused(fault.message) : fault;
  }
}
