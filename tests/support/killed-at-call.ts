/**
 * Loaded before the product (`node --import`): the process is killed, as by `kill -9`, before the nth of its calls that change what is on the
 * disk (`KILLED_AT_CALL`); a count that is not reached changes nothing.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const at = Number(process.env.KILLED_AT_CALL ?? 0);
let calls = 0;

const CHANGING = ['mkdirSync', 'renameSync', 'rmSync', 'openSync', 'writeSync', 'fsyncSync', 'chmodSync', 'linkSync'] as const;

for (const name of CHANGING) {
  const call = fs[name] as (...args: unknown[]) => unknown;
  Object.assign(fs, {
    [name]: (...args: unknown[]) => {
      calls += 1;
      if (calls === at) process.kill(process.pid, 'SIGKILL');
      return call(...args);
    },
  });
}
syncBuiltinESMExports();
