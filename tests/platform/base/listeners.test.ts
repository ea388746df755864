/** Whatever repeats or tells several is there again after one of them has thrown. */
import t from 'tap';
import { LockOuts } from '../../../src/domains/access/lockouts.js';
import { PlantTimeScale } from '../../../src/domains/demo/time-scale.js';
import { onContained } from '../../../src/platform/base/guarded.js';
import type { Store } from '../../../src/platform/store/store.js';
import { Hub } from '../../../src/platform/stream/hub.js';
import { Untold } from '../../../src/platform/stream/untold.js';
import { openWebSocket } from '../../../src/platform/stream/websocket.js';
import { everywhere, person, ScriptedClock, ScriptedSessions } from '../stream/scripted.js';
import { TestClock } from '../../support/test-clock.js';
import { testLog } from '../../support/test-log.js';

let told: string[] = [];
t.teardown(onContained((seam, fault) => told.push(`${seam}: ${(fault as Error).message}`)));
t.beforeEach(() => {
  told = [];
});

function fail(): never {
  throw new Error('thrown by the test');
}

t.test('the lock-outs are swept again after a sweep that threw', async (t) => {
  const clock = new TestClock();
  let looks = 0;
  const store = {
    accepting: true,
    list: () => {
      looks += 1;
      return looks > 1 ? fail() : [];
    },
  };
  const lockOuts = new LockOuts(store as unknown as Store, clock, {} as ConstructorParameters<typeof LockOuts>[2]);
  t.teardown(() => lockOuts.stop());
  for (let hours = 0; hours < 2; hours += 1) clock.advance(3_600_000);
  t.ok(looks > 2, `${looks} looks`);
  t.match(new Set(told), new Set(['sweep of the lock-outs: thrown by the test']));
});

t.test('a listener of the time scale keeps none behind it from hearing of it', async (t) => {
  const store = { watch: () => undefined, list: () => [], accepting: true };
  const scale = new PlantTimeScale({ store: store as unknown as Store, log: testLog(), production: false, initial: 1 });
  const heard: number[] = [];
  scale.onChange(fail);
  scale.onChange((value) => heard.push(value));
  scale.set(5);
  t.same(heard, [5]);
  const once = 'listener of the time scale: thrown by the test';
  t.same(told, [once, once], 'who threw is told once more, alone');
});

t.test('of what is told again after a reload one that throws keeps none behind it', async (t) => {
  const disk = { isAsOnDisk: false, watchReload: (watcher: () => void) => void (disk.reload = watcher), reload: () => undefined as void };
  const untold = new Untold(disk);
  const heard: string[] = [];
  untold.retell('a', fail);
  untold.retell('b', () => heard.push('b'));
  disk.isAsOnDisk = true;
  disk.reload();
  t.same(heard, ['b']);
  t.same(told, ['told again after a reload: thrown by the test']);
});

t.test('a silent WebSocket that cannot even be asked for a sign of life is given up in its time', async (t) => {
  const clock = new ScriptedClock();
  const sessions = new ScriptedSessions();
  const hub = new Hub({ clock, sessions, places: everywhere });
  let terminated = 0;
  const wire = {
    sourceIP: '10.0.0.1',
    send: () => 1 as const,
    cork: (call: () => void) => call(),
    bufferedBytes: () => 0,
    ping: fail,
    close: fail,
    terminate: () => void (terminated += 1),
  };
  openWebSocket({ hub, clock, sessions, frames: { write: fail, command: fail }, onFault: fail }, person())(wire);
  t.throws(() => clock.advance(56_000), { message: 'thrown by the test' }, 'which the real clock contains');
  clock.advance(60_000);
  t.equal(terminated, 1);
});
