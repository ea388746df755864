/** How the box shows an ACME server that a name is its own (RFC 8555, 8): by HTTP on port 80, or by a record of the DNS that a program of the plant sets. */
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';

/** What the server wants to find. */
export interface ChallengeWish {
  readonly domain: string;
  readonly token: string;
  /** For http-01 the text of the file, for dns-01 the value of the record. */
  readonly value: string;
}

export interface Challenges {
  readonly type: 'http-01' | 'dns-01';
  add(wish: ChallengeWish): Promise<void>;
  remove(wish: ChallengeWish): Promise<void>;
}

const WELL_KNOWN = '/.well-known/acme-challenge/';

/** A listener that is there only while somebody is to ask it; it knows nothing but what was asked for. */
export function httpChallenges(address: { readonly host: string; readonly port: number }): Challenges {
  const values = new Map<string, string>();
  let server: Promise<Server> | undefined;
  return {
    type: 'http-01',
    async add({ token, value }) {
      values.set(token, value);
      server ??= listening(address, values);
      await server;
    },
    async remove({ token }) {
      values.delete(token);
      if (values.size > 0 || !server) return;
      const begun = server;
      server = undefined;
      const ended = await begun.catch(() => undefined); // whoever has added it was told
      if (!ended) return;
      await new Promise<void>((resolve) => {
        ended.close(() => resolve());
        ended.closeAllConnections();
      });
    },
  };
}

async function listening({ host, port }: { readonly host: string; readonly port: number }, values: ReadonlyMap<string, string>): Promise<Server> {
  const server = createServer((request, response) => {
    const asked = pathOf(request.url ?? '');
    const value = asked.startsWith(WELL_KNOWN) ? values.get(asked.slice(WELL_KNOWN.length)) : undefined;
    response.writeHead(value === undefined ? 404 : 200, { 'Content-Type': 'application/octet-stream', 'X-Content-Type-Options': 'nosniff' });
    response.end(value);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (fault: NodeJS.ErrnoException) =>
      reject(new Error(`the challenge cannot be answered on ${host}:${port} (${fault.code ?? fault.message}): grant the right to the port, or set gateway.tls.acme.httpPort`)),
    );
    server.listen(port, host, resolve);
  });
  server.removeAllListeners('error');
  server.on('error', () => undefined); // of one connection: the ACME server asks again
  return server;
}

/** As it came, for anybody may ask: what is no address is no path either. A proxy on the way may write the whole address. */
function pathOf(target: string): string {
  return /^(?:http:\/\/[^/?#]*)?([^?#]*)/i.exec(target)?.[1] ?? '';
}

const HOOK_MS_MAX = 120_000;
const HOOK_OUTPUT_BYTES_MAX = 64 * 1024;
/** What a hook says stands in a log and in the health. */
const TOLD_CHARACTERS_MAX = 300;

/** `HOOK add|remove _acme-challenge.NAME VALUE`, without a shell. */
export function dnsHook(program: string): Challenges {
  const call = (verb: 'add' | 'remove', { domain, value }: ChallengeWish): Promise<void> =>
    new Promise((resolve, reject) => {
      const { PATH = '' } = process.env;
      const options = { timeout: HOOK_MS_MAX, maxBuffer: HOOK_OUTPUT_BYTES_MAX, shell: false, env: { PATH } };
      execFile(program, [verb, `_acme-challenge.${domain}`, value], options, (fault, _out, said) => {
        if (!fault) return resolve();
        const why =
          fault.killed === true ? `was ended after ${HOOK_MS_MAX / 1000} s` : typeof fault.code === 'number' ? `ended with ${fault.code}` : String(fault.code ?? fault.message);
        reject(new Error(`gateway.tls.acme.dnsHook ${program} ${verb}: ${`${why} ${said.trim()}`.trim().slice(0, TOLD_CHARACTERS_MAX)}`));
      });
    });
  return { type: 'dns-01', add: (wish) => call('add', wish), remove: (wish) => call('remove', wish) };
}
