/** What systemd itself says of the unit file. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { UNIT_FILE } from '../support/unit-file.js';

const ANALYZE = 'systemd-analyze';
/** systemd-analyze reckons in tenths. */
const EXPOSURE_MAX = 30;

t.test('systemd: the exposure of the service is at most 3.0, and each open row has its reason in the file', async (t) => {
  const { status, stdout, stderr } = spawnSync(ANALYZE, ['security', '--offline=true', `--threshold=${EXPOSURE_MAX}`, '--no-pager', UNIT_FILE], { encoding: 'utf8' });
  t.equal(status, 0, `${stdout}${stderr}`);
  t.match(stdout, /Overall exposure level for lineside.service: [0-2]\.\d OK/);
  const reasons = readFileSync(UNIT_FILE, 'utf8').split('# Rows of the analysis that stay open')[1] ?? '';
  const open = [...stdout.matchAll(/^✗ (\w+)=~?@?([A-Za-z]+)?/gm)];
  t.ok(open.length > 0);
  for (const [row, name = '', part = ''] of open) t.ok(reasons.includes(name) && (part === '' || reasons.includes(part)), row);
});

t.test('systemd: the unit file has no word that systemd does not know', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-unit-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'lineside.service');
  // the program is not installed here
  writeFileSync(file, readFileSync(UNIT_FILE, 'utf8').replaceAll('/usr/lib/lineside/node/bin/node', process.execPath));
  const { status, stderr } = spawnSync(ANALYZE, ['verify', '--man=no', file], { encoding: 'utf8' });
  t.equal(stderr, '');
  t.equal(status, 0);
});
