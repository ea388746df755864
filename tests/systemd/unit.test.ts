/** The unit file against what the program does: each figure that stands in both is compared here. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { readUnit, wordsOf } from '../support/unit-file.js';

const unit = readUnit();
const source = (file: string): string => readFileSync(file, 'utf8');
const secondsOf = (text: string): number => {
  const [, number = '', scale = ''] = /^(\d+)(s|min)$/.exec(text) ?? [];
  return Number(number) * (scale === 'min' ? 60 : 1);
};
const constant = (file: string, name: string): number => Number(new RegExp(`const ${name} = '?([\\d_]+)'?(?: \\* 60_000)?;`).exec(source(file))?.[1]?.replaceAll('_', ''));

t.test('systemd: node is started as npm start does, with the options of process-options.json', async (t) => {
  const options = JSON.parse(source('scripts/process-options.json')) as { readonly env: Readonly<Record<string, string>>; readonly execArgv: readonly string[] };
  const command = wordsOf(unit.one('ExecStart'));
  const at = command.indexOf('/usr/lib/lineside/node/bin/node');
  t.strictSame(command.slice(at + 1), [
    ...options.execArgv,
    '/usr/lib/lineside/bin/lineside.js',
    'start',
    '--data-dir',
    '/var/lib/lineside',
    '--config',
    '/etc/lineside/config.yaml',
  ]);
  t.strictSame(
    unit.all('Environment'),
    Object.entries(options.env).map(([name, value]) => `${name}=${value}`),
  );
  t.strictSame(command.slice(0, 4), ['/usr/bin/perl', '-MSocket', '-MFcntl', '-e']);
  t.equal(at, 5, 'what perl becomes stands behind its program');
});

t.test('systemd: the limits fit what the program does by itself', async (t) => {
  const faultsMax = constant('src/platform/base/fatal-faults.ts', 'FAULTS_MAX');
  const windowMin = constant('src/platform/base/fatal-faults.ts', 'WINDOW_MS');
  t.ok(Number(unit.one('StartLimitBurst')) > faultsMax + 2, 'the start that is in rescue comes before the limit of starts');
  t.equal(secondsOf(unit.one('StartLimitIntervalSec')), windowMin * 60, 'both count over the same time');
  t.equal(unit.one('Restart'), 'on-failure');
  const codes = /Exit code (\d) means that somebody has to put something right .* (\d) that it would be in rescue/.exec(source('src/cli/lineside.ts'));
  t.strictSame(unit.one('RestartPreventExitStatus').split(' '), codes?.slice(1, 3));
  t.equal(unit.one('LimitRTPRIO'), String(constant('src/domains/placement/realtime.ts', 'SCAN_PRIORITY')));
  const [softS = 0, hardS = 0] = unit.one('LimitRTTIME').split(':').map(secondsOf);
  const awakeS = constant('src/domains/placement/scan-threads.ts', 'AWAKE_LOOKS');
  t.ok(softS > 2 * awakeS && hardS > softS, 'the kernel comes behind the program');
  const stuckS = constant('src/domains/placement/scan-threads.ts', 'STUCK_LOOKS') + constant('src/domains/placement/scan-threads.ts', 'ENDED_LOOKS');
  t.ok(secondsOf(unit.one('WatchdogSec')) > stuckS, 'what the program brings back by itself is back before the watchdog bites');
  t.ok(secondsOf(unit.one('TimeoutStopSec')) * 1000 > 2 * constant('src/cli/lineside.ts', 'START_END_MS'), 'a stop that waits for its start is not killed');
  t.equal(unit.one('User'), 'lineside');
  t.match(source('systemd/lineside.sysusers.conf'), /^u lineside /m);
});
