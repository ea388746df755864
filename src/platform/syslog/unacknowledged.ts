/**
 * What the kernel has taken of a connection and the other side has not acknowledged. Only where it is nothing has an end that comes back any meaning:
 * the other side has all of it then, and has read it before it read the end.
 */
import { readFile } from 'node:fs/promises';

/** Column 2 and 3 are address:port, column 5 is what is sent and not acknowledged (proc(5)); all hexadecimal. */
const ROW = /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/;
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

export interface Ports {
  readonly localPort: number;
  readonly remotePort: number;
}

/** Octets; undefined where the system does not tell, or knows no such connection any more. */
export async function unacknowledged(ports: Ports): Promise<number | undefined> {
  const texts = await Promise.all(TABLES.map((table) => readFile(table, 'latin1').catch(() => '')));
  return unacknowledgedIn(texts.join('\n'), ports);
}

export function unacknowledgedIn(table: string, { localPort, remotePort }: Ports): number | undefined {
  let found: number | undefined;
  for (const line of table.split('\n')) {
    const [, local = '', remote = '', queue = ''] = ROW.exec(line) ?? [];
    if (Number.parseInt(local, 16) === localPort && Number.parseInt(remote, 16) === remotePort) found = (found ?? 0) + Number.parseInt(queue, 16);
  }
  return found;
}
