/** The watch over I/O probes: of one that stands still or has ended no value is Good, and another takes its place. */
import t from 'tap';
import type { ProbeModule } from '../../../runtime/port.js';
import { CONNECTION, IMAGE_HEADER } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { LocalProbes, SHARED_PROBE } from '../../../src/domains/placement/local-probes.js';
import { onContained } from '../../../src/platform/base/guarded.js';
import { eventually } from '../../support/api-client.js';
import { TestClock } from '../../support/test-clock.js';
import { testLog } from '../../support/test-log.js';

/** One module of one input. */
function moduleOf(protocol: ProbeModule['protocol'], { buffer }: { readonly buffer: ProbeModule['image'] }): ProbeModule {
  const channel = { name: 'a', address: 'a', direction: 'input', dataType: 'float', readbackAddress: '', pollIntervalMs: 0 } as const;
  return { site: 'north', module: 'io', protocol, address: 'plc', options: {}, channels: [channel], image: buffer };
}

const SETTINGS = { reconnectMinMs: 100, reconnectMaxMs: 1000, readbackTimeoutMs: 1000 };

t.test('decisions 7: a probe that stands still is silent within 3 s and ended within 15 s; another takes its place', async (t) => {
  const clock = new TestClock();
  const errors: string[] = [];
  const log = testLog(({ level, msg = '' }) => level === 'error' && errors.push(msg));
  const died: string[] = [];
  const probes = new LocalProbes({
    clock,
    log,
    goAhead: false,
    settings: SETTINGS,
    entry: new URL('../../support/stuck-probe.js', import.meta.url),
    died: (name, fault) => died.push(`${name}: ${fault}`),
  });
  t.teardown(async () => {
    const stopped = probes.stop();
    clock.advance(3000); // it does not obey, so it is ended
    await stopped;
  });
  const states: string[] = [];
  probes.onModule((_, module, { state, message }) => states.push(`${module} ${state} ${message}`));
  const image = probes.image('north', 'io', ['a']);
  const module = moduleOf('modbus', image);
  probes.run('north', SHARED_PROBE, [module]);
  await eventually('it has sampled', async () => image.quality[0] === QUALITY.Good && states.length === 1);
  const isSilent = (): boolean => Atomics.load(image.header, IMAGE_HEADER.silent) === 1;
  // it is ready, and watched, at some moment behind that
  for (let seconds = 0; seconds < 200 && !isSilent(); seconds += 1) {
    clock.advance(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.ok(isSilent());
  t.match(errors, [/has not come round for 3 s: its inputs are Bad/]);
  t.equal(states.at(-1), 'io Disconnected its I/O thread does not answer');
  probes.run('north', SHARED_PROBE, [{ ...module, options: { pollInterval: '2s' } }]);
  t.ok(isSilent(), 'another plan makes it no more alive');
  clock.advance(11_000);
  t.ok(isSilent());
  clock.advance(1000);
  await eventually('it has ended', async () => image.quality[0] === QUALITY.Bad);
  t.equal(Atomics.load(image.header, IMAGE_HEADER.version) % 2, 0, 'nobody is inside');
  t.equal(Atomics.load(image.header, IMAGE_HEADER.connection), CONNECTION.lost);
  t.equal(states.at(-1), 'io Disconnected its I/O thread has ended and is started again');
  t.same(died, [`I/O probe north/${SHARED_PROBE}: it has not come round for 15 s`], 'its death is told, for the alarm of threads that end');
  clock.advance(1000);
  await eventually('the next one samples', async () => image.quality[0] === QUALITY.Good && states.at(-1) === 'io Connected ');
  t.notOk(isSilent());
});

t.test('what one module of a probe throws where nobody catches it is told, and the probe goes on for all', async (t) => {
  const log = testLog();
  const clock = new TestClock();
  const probes = new LocalProbes({ clock, log, goAhead: false, settings: SETTINGS, entry: new URL('../../support/throwing-probe.js', import.meta.url) });
  t.teardown(() => probes.stop());
  const told: string[] = [];
  t.teardown(onContained((seam, fault) => told.push(`${seam}: ${(fault as Error).message.split('\n')[0]}`)));
  const image = probes.image('north', 'io', ['a']);
  const module = moduleOf('simulation', image);
  probes.run('north', SHARED_PROBE, [module]);
  await eventually('it serves', async () => (await probes.read('north', 'io', ['a']))?.length === 1);
  probes.setTimeScale(2);
  await eventually('both are told', async () => told.length === 2);
  t.same(told.sort(), ['event of an I/O probe: Error: rejected by a promise', 'event of an I/O probe: Error: thrown by an event']);
  t.same(probes.threads(), [{ probe: `north/${SHARED_PROBE}`, state: 'serves' }]);
  t.equal((await probes.read('north', 'io', ['a']))?.length, 1, 'it answers');
  await eventually('it has told of its module', async () => probes.moduleState('north', 'io')?.state === 'Connected');
  probes.run('north', SHARED_PROBE, []);
  t.equal(probes.moduleState('north', 'io'), undefined, 'of a module that nobody serves any more nothing is known');
});

t.test('a probe that is started again goes on at the time scale that holds then', async (t) => {
  const clock = new TestClock();
  const log = testLog();
  const probes = new LocalProbes({ clock, log, goAhead: false, settings: SETTINGS, entry: new URL('../../support/scale-probe.js', import.meta.url) });
  t.teardown(() => probes.stop());
  const said: string[] = [];
  probes.onModule((_, _module, { message }) => said.push(message));
  probes.setTimeScale(10);
  probes.run('north', SHARED_PROBE, [moduleOf('simulation', probes.image('north', 'io', ['a']))]);
  await eventually('it serves', async () => said.at(-1) === 'time scale 10');
  probes.setTimeScale(1); // a real device has come
  probes.restart('north', 'io');
  await eventually('it has ended', async () => probes.threads()[0]?.state === 'ended');
  clock.advance(1000);
  await eventually('another one serves', async () => probes.threads()[0]?.state === 'serves' && said.at(-1)?.startsWith('time scale'));
  t.equal(said.at(-1), 'time scale 1');
});

t.test('decisions 7: a module that leaves its probe is silent at once, also where its thread stands still; what stays is not', async (t) => {
  const clock = new TestClock();
  const probes = new LocalProbes({ clock, log: testLog(), goAhead: false, settings: SETTINGS, entry: new URL('../../support/stuck-probe.js', import.meta.url) });
  t.teardown(async () => {
    const stopped = probes.stop();
    clock.advance(3000);
    await stopped;
  });
  const [image, otherImage] = [probes.image('north', 'io', ['a']), probes.image('north', 'other', ['a'])];
  const [module, other] = [moduleOf('modbus', image), { ...moduleOf('modbus', otherImage), module: 'other' }];
  const silent = (): number[] => [image, otherImage].map(({ header }) => Atomics.load(header, IMAGE_HEADER.silent));
  probes.run('north', SHARED_PROBE, [module, other]);
  await eventually('it has sampled', async () => image.quality[0] === QUALITY.Good);
  t.same(silent(), [0, 0]);
  probes.run('north', SHARED_PROBE, [other]); // the thread stands still, and lets go of nothing
  t.same(silent(), [1, 0]);
  t.equal(image.quality[0], QUALITY.Good, 'which is all that says so');
});

t.test('a module that is switched off and on again is served by one thread at a time', async (t) => {
  const clock = new TestClock();
  const log = testLog();
  const died: string[] = [];
  const probes = new LocalProbes({
    clock,
    log,
    goAhead: false,
    settings: SETTINGS,
    entry: new URL('../../support/stuck-probe.js', import.meta.url),
    died: (name) => died.push(name),
  });
  t.teardown(async () => {
    const stopped = probes.stop();
    clock.advance(3000);
    await stopped;
  });
  const image = probes.image('north', 'io', ['a']);
  const module = moduleOf('modbus', image);
  probes.run('north', SHARED_PROBE, [module]);
  await eventually('the first one samples', async () => image.quality[0] === QUALITY.Good);
  probes.run('north', SHARED_PROBE, []); // it stands still in a write, and does not obey for 2 s
  probes.run('north', SHARED_PROBE, [module]);
  t.same(probes.threads(), [{ probe: `north/${SHARED_PROBE}`, state: 'ended' }], 'the second one waits');
  image.quality[0] = QUALITY.Bad;
  clock.advance(2000);
  await eventually('the second one samples', async () => image.quality[0] === QUALITY.Good);
  t.same(died, [], 'an end that was asked for is no death');
});

t.test('F4: whoever is told that outputs were resumed, or that a probe has died, keeps nobody behind it and no probe from coming back', async (t) => {
  const told: string[] = [];
  t.teardown(onContained((seam, fault) => told.push(`${seam}: ${(fault as Error).message}`)));
  const clock = new TestClock();
  const fail = (): never => {
    throw new Error('thrown by a listener');
  };
  const entry = new URL('../../support/resumed-probe.js', import.meta.url);
  const probes = new LocalProbes({ clock, log: testLog(), goAhead: false, settings: SETTINGS, entry, died: fail });
  t.teardown(() => probes.stop());
  const resumed: string[] = [];
  probes.onResumed(fail);
  probes.onResumed((_, module) => resumed.push(module));
  const module = moduleOf('simulation', probes.image('north', 'io', ['a']));
  probes.run('north', SHARED_PROBE, [module]);
  await eventually('the second listener is told', async () => resumed.length === 1, 20_000);
  t.same(told, ['listener of resumed outputs: thrown by a listener']);
  told.length = 0;
  probes.setTimeScale(2);
  await eventually('it has died', async () => told.length === 1, 20_000);
  t.same(told, ['death of a thread: thrown by a listener']);
  clock.advance(1000);
  await eventually('another one has come', async () => resumed.length === 2, 20_000);
});
