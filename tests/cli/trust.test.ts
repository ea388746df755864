/** Whom the command line takes for a box under TLS: who was compared once, who an authority vouches for, and nobody who comes in its place. */
import { createPrivateKey } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { KnownBoxes } from '../../src/cli/remote/boxes.js';
import { inOneLine } from '../../src/cli/remote/trust.js';
import { fingerprintText } from '../../src/platform/tls/certificate.js';
import { selfSigned } from '../../src/platform/tls/self-signed.js';
import { Authority } from '../support/authority.js';
import { writeCertificate } from '../support/certificates.js';
import { ownFolder } from '../support/own-folder.js';
import { HereCommand } from './here-command.js';

const CONFIG = { authMode: 'none', firstAdminRequired: false };

interface Fake {
  readonly url: string;
  readonly server: Server;
  /** Requests that have reached it. */
  readonly asked: string[];
}

/** A box that asks nobody who he is. */
async function box(t: Test, pem: { readonly cert: string; readonly key: string }): Promise<Fake> {
  const asked: string[] = [];
  const server = createServer(pem, (request, response) => {
    asked.push(String(request.url));
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(request.url === '/api/v1/auth/config' ? CONFIG : [{ name: 'north' }]));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, server, asked };
}

t.test('a certificate that nobody vouches for is shown and asked about once, as ssh does, and kept', async (t) => {
  const folder = ownFolder(t);
  const { pem, facts } = writeCertificate(folder, 'box');
  const { url } = await box(t, { cert: pem, key: pem });
  const command = new HereCommand(folder);
  const alone = await command.run(['login', url]);
  t.equal(alone.code, 2);
  t.match(alone.err, new RegExp(`--fingerprint ${facts.sha256}`), 'nobody sits at a terminal: the way is told');
  const no = command.sit(['login', url]);
  while (!no.shown().includes('Type yes')) await new Promise((resolve) => setImmediate(resolve));
  t.match(no.shown(), fingerprintText(facts.sha256));
  no.type('no\n');
  t.match(await no.ended, { code: 2, err: /nothing was done/ });
  t.same(new KnownBoxes(path.join(folder, 'lineside')).all().boxes, {});
  const yes = command.sit(['login', url, '--name', 'line3']);
  while (!yes.shown().includes('Type yes')) await new Promise((resolve) => setImmediate(resolve));
  yes.type('yes\n');
  t.match(await yes.ended, { code: 0 });
  t.match(new KnownBoxes(path.join(folder, 'lineside')).find('line3')?.box.trust, { sha256: facts.sha256, caFile: '' });
  t.match(await command.run(['login', 'line3']), { code: 0 }, 'nobody is asked again');
});

t.test('what a certificate is called stays in its line, whoever has written it', (t) => {
  t.equal(inOneLine('O=Plant\nCN=line3'), 'O=Plant, CN=line3');
  t.equal(inOneLine('CN=a\u001b[2K\u202eb\u009b\u2028c'), 'CN=a?[2K?b??c');
  t.end();
});

t.test('another certificate is refused before anything is sent, a renewed one with the same key is not', async (t) => {
  const folder = ownFolder(t);
  const { pem, facts } = writeCertificate(folder, 'box');
  const { url, server, asked } = await box(t, { cert: pem, key: pem });
  const command = new HereCommand(folder);
  const spaced = fingerprintText(facts.sha256);
  t.match(await command.run(['login', url, '--name', 'line3', '--fingerprint', spaced]), { code: 0 });
  const renewed = selfSigned({ names: ['127.0.0.1'], notBeforeMs: Date.now() - 1000, notAfterMs: Date.now() + 86_400_000, key: createPrivateKey(pem) });
  server.setSecureContext({ cert: renewed, key: renewed });
  t.match(await command.run(['login', 'line3']), { code: 0 }, 'it is the same box');
  const before = asked.length;
  const other = writeCertificate(folder, 'other');
  server.setSecureContext({ cert: other.pem, key: other.pem });
  const refused = await command.run(['login', 'line3']);
  t.not(refused.code, 0);
  t.match(refused.err, new RegExp(`does not have the certificate that was accepted.*somebody may stand between[^]*${fingerprintText(other.facts.sha256)}`));
  t.equal(asked.length, before, 'it has heard nothing');
  t.match(await command.run(['login', 'line3', '--fingerprint', facts.sha256]), { code: /[^0]/, err: /somebody may stand between/ });
  t.match(await command.run(['login', 'line3', '--fingerprint', other.facts.sha256]), { code: 0 }, 'whoever has compared the new one says so');
});

t.test('--ca-file: who the authority of the plant vouches for is the box, and nobody else', async (t) => {
  const folder = ownFolder(t);
  const authority = new Authority(path.join(folder, 'authority'), 'plant');
  const { certificatePem, keyPem } = authority.sign('line3', 'urn:line3');
  const { url, server } = await box(t, { cert: certificatePem, key: keyPem });
  const command = new HereCommand(folder);
  t.match(await command.run(['login', url, '--name', 'line3', '--ca-file', authority.file()]), { code: 0 });
  t.match(new KnownBoxes(path.join(folder, 'lineside')).find('line3')?.box.trust, { caFile: authority.file(), sha256: '' });
  t.match(await command.run(['login', 'line3']), { code: 0 });
  const { pem } = writeCertificate(folder, 'other');
  server.setSecureContext({ cert: pem, key: pem });
  t.match(await command.run(['login', 'line3']), { code: /[^0]/, err: /does not answer \(.*self-signed/i });
});

t.test('an address that does not speak TLS is told in words', async (t) => {
  const command = new HereCommand(ownFolder(t));
  t.match(await command.run(['login', 'https://127.0.0.1:1']), { code: /[^0]/, err: /does not answer \(ECONNREFUSED\): is the address right, and does it speak TLS/ });
});
