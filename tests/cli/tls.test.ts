/** `lineside tls`, and a gateway that serves a certificate of its own, as one process. */
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { ownFolder } from '../support/own-folder.js';
import { LinesideCommand } from './lineside-command.js';

t.test('gateway.tls.selfSigned: made, shown and renewed by the command, for the owner only', async (t) => {
  const folder = ownFolder(t);
  const dataDir = path.join(folder, 'data');
  const command = new LinesideCommand(folder);
  const tls = (...words: string[]) => command.run(['tls', ...words, '--data-dir', dataDir]);
  t.match(await tls('show'), { code: 2, err: /speaks plain HTTP \(name those of the box .*set gateway\.tls\.certFile/ });
  const made = await tls('self-signed');
  t.match(made, { code: 0, out: /^SHA-256 {2}([0-9A-F]{2}:){31}[0-9A-F]{2}\n[^]*the settings of this box serve no certificate of its own/ });
  t.equal(statSync(path.join(dataDir, 'tls', 'self-signed.pem')).mode & 0o777, 0o600);
  writeFileSync(path.join(dataDir, 'config.yaml'), 'gateway:\n  publicName: line3.example\n  tls: {selfSigned: true}\n');
  const shown = JSON.parse((await tls('show', '--json')).out) as { sha256: string; names: string[]; served: boolean; source: string };
  t.match(shown, { source: 'self-signed', served: true });
  const renewed = JSON.parse((await tls('self-signed', '--json')).out) as { sha256: string; names: string[] };
  t.not(renewed.sha256, shown.sha256);
  t.match(renewed.names, ['line3.example']);
  writeFileSync(path.join(dataDir, 'config.yaml'), 'gateway.tls: {certFile: /nowhere.pem, keyFile: /nowhere.key}\n');
  t.match(await tls('show'), { code: 2, err: /gateway\.tls\.certFile: \/nowhere\.pem cannot be read \(ENOENT\)/ });
});
