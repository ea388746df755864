/** What the Debian package does when it is configured (scripts/package/debian/postinst), on a root of the test. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { ownFolder } from '../support/own-folder.js';

/** @returns exit code and the programs that were called, with their arguments. `tmpfiles`: how systemd-tmpfiles ends. */
function configured(
  t: Test,
  { tmpfiles = 0, proc = true }: { readonly tmpfiles?: number; readonly proc?: boolean },
): { readonly code: number | null; readonly called: readonly string[] } {
  const root = ownFolder(t);
  const at = (name: string): string => path.join(root, name);
  for (const name of ['usr/lib/sysusers.d/lineside.conf', 'usr/lib/tmpfiles.d/lineside.conf', 'usr/lib/systemd/system/lineside.service', ...(proc ? ['proc/self'] : [])]) {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), '');
  }
  mkdirSync(at('bin'));
  for (const [program, code] of Object.entries({ 'systemd-sysusers': 0, 'systemd-tmpfiles': tmpfiles, 'deb-systemd-helper': 0 }))
    writeFileSync(at(`bin/${program}`), `#!/bin/sh\necho "${program} $*" >> ${at('called')}\nexit ${code}\n`, { mode: 0o755 });
  const script = readFileSync('scripts/package/debian/postinst', 'utf8').replace(/ (\/(?:usr\/lib|proc|run)\/)/g, ` ${root}$1`);
  const { status } = spawnSync('sh', ['-c', script, 'postinst', 'configure'], { env: { PATH: `${at('bin')}:/usr/bin:/bin` } });
  return { code: status, called: readFileSync(at('called'), 'utf8').trim().split('\n') };
}

t.test('the folders of the service are made, and where they cannot be the installation fails', (t) => {
  const made = configured(t, {});
  t.equal(made.code, 0);
  t.same(made.called.slice(0, 2), ['systemd-sysusers lineside.conf', 'systemd-tmpfiles --create lineside.conf']);
  t.equal(made.called.at(-1), 'deb-systemd-helper enable lineside.service');
  const failed = configured(t, { tmpfiles: 73 });
  t.equal(failed.code, 73, 'EX_CANTCREAT');
  t.equal(failed.called.length, 2, 'nothing is done after it');
  t.end();
});

t.test('in a chroot without /proc the start of the machine makes them', (t) => {
  const { code, called } = configured(t, { tmpfiles: 1, proc: false });
  t.equal(code, 0);
  t.notOk(called.some((line) => line.startsWith('systemd-tmpfiles')));
  t.end();
});
