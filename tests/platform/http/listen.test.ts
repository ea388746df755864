/** Listening: an address that is not there yet is waited for, what another start would meet again is refused in words. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { StartRefused } from '../../../src/platform/base/start-refused.js';
import { listening, obstacleToListen, tlsOf } from '../../../src/platform/http/listen.js';
import { systemClock } from '../../../src/platform/base/clock.js';

const ADDRESS = { host: '192.0.2.1', port: 8090 };
const SOON = { everyMs: 1, forMs: 60_000 };

function faultOf(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`listen ${code}`), { code });
}

t.test('an address that is not there is tried again until it is, and told of once', async (t) => {
  const told: string[] = [];
  let attempts = 0;
  const attempt = async (): Promise<string> => {
    attempts += 1;
    if (attempts < 5) throw faultOf(attempts === 2 ? 'EAI_AGAIN' : 'EADDRNOTAVAIL');
    return 'listens';
  };
  t.equal(await listening(ADDRESS, attempt, { clock: systemClock, tell: (what) => void told.push(what), patience: SOON }), 'listens');
  t.equal(attempts, 5);
  t.equal(told.length, 1);
  t.match(told[0], /cannot listen on 192\.0\.2\.1:8090 yet: no network of this machine has the address 192\.0\.2\.1 \(gateway\.listen\)/);
});

t.test('one that does not come in time ends the start, and the next one may find it: that is no refusal', async (t) => {
  const ended = await listening(ADDRESS, () => Promise.reject(faultOf('EADDRNOTAVAIL')), { clock: systemClock, tell: () => undefined, patience: { everyMs: 1, forMs: 5 } }).catch(
    (fault: unknown) => fault,
  );
  t.type(ended, Error);
  t.notOk(ended instanceof StartRefused);
  t.match(ended, { message: /for \d+ s no network of this machine has the address/ });
});

t.test('what stays so is refused at once, each in its own words; what nobody foresaw is a fault', async (t) => {
  for (const [code, words, isRefused] of [
    ['EADDRINUSE', /another program uses the port/, true],
    ['EACCES', /may not listen on port 8090.*from 1024 on/, true],
    ['ENOTFOUND', /is no address and no name of one \(gateway\.listen\)/, true],
    ['ENOBUFS', /listen ENOBUFS/, false],
  ] as const) {
    const ended = (await listening(ADDRESS, () => Promise.reject(faultOf(code)), { clock: systemClock, tell: () => t.fail('it waits'), patience: SOON }).catch(
      (fault: unknown) => fault,
    )) as Error;
    t.match(ended.message, words, code);
    t.equal(ended instanceof StartRefused, isRefused, code);
  }
});

t.test('the system says why a program cannot listen there', async (t) => {
  const other = createServer();
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
  t.teardown(() => other.close());
  const { port } = other.address() as { readonly port: number };
  t.match(await obstacleToListen({ host: '127.0.0.1', port }), { code: 'EADDRINUSE' });
  t.match(await obstacleToListen({ host: '192.0.2.1', port: 0 }), { code: 'EADDRNOTAVAIL' });
  t.equal(await obstacleToListen({ host: '127.0.0.1', port: 0 }), undefined);
});

t.test('files of TLS are read before anything listens: which setting, which file', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-tls-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [certFile, keyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  writeFileSync(certFile, 'no certificate');
  t.throws(() => tlsOf({ certFile, keyFile }), { message: /gateway\.tls\.keyFile: .*key\.pem cannot be read \(ENOENT\)/ });
  writeFileSync(keyFile, 'no key');
  t.throws(() => tlsOf({ certFile, keyFile }), { message: /gateway\.tls: .*cert\.pem and .*key\.pem are no certificate with its key/ });
  t.throws(() => tlsOf({ certFile, keyFile }), new StartRefused());
});
