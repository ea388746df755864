/** Foreign programs open a backup: the age of Debian decrypts it, and tar lists what is in it (ADR 0116). */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { makeBackup } from '../../../src/platform/backup/make.js';
import { MANIFEST_NAME } from '../../../src/platform/backup/manifest.js';
import { trail } from '../../support/archive-data.js';
import { ownFolder } from '../../support/own-folder.js';
import { keyPair } from '../../support/sealed-tar.js';

t.test('Q-CHANGE-10: the age of Debian opens a backup, and tar lists it', async (t) => {
  const keys = await keyPair();
  const place = ownFolder(t, { 'id.txt': `${keys.identity}\n` });
  const dataDir = path.join(place, 'data');
  mkdirSync(dataDir);
  trail(dataDir, 1, 100);
  const file = path.join(place, 'b.age');
  await makeBackup({ dataDir, configFile: null, secretsDir: '', to: file, sealedFor: { recipients: [keys.recipient] }, product: { version: '0.1.0', commit: '' } });
  const age = spawnSync('/usr/bin/age', ['--decrypt', '--identity', path.join(place, 'id.txt'), file], { maxBuffer: 1024 ** 3 });
  t.equal(age.status, 0, String(age.stderr));
  const listed = spawnSync('tar', ['-tzf', '-'], { input: age.stdout, encoding: 'utf8' });
  t.same(listed.stdout.trimEnd().split('\n'), [MANIFEST_NAME, 'state.db'], listed.stderr);
});
