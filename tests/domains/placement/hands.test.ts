/** A device in the hands of one thread: a module that moves from one probe to another while it is driven, and a probe that hangs with an image in its hands. */
import t from 'tap';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import type { ProbeModule } from '../../../runtime/port.js';
import { CONNECTION, IMAGE_HEADER, type ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import { LocalProbes, SHARED_PROBE } from '../../../src/domains/placement/local-probes.js';
import { channelsOf } from '../../drivers/probe-harness.js';
import { connect, image as imagePlan, tags, unitPlan } from '../../runtime/network/plans.js';
import { eventually } from '../../support/api-client.js';
import { FaultProxy } from '../../support/fault-proxy.js';
import { FieldDevice } from '../../support/field-device.js';
import { TestClock } from '../../support/test-clock.js';
import { testLog } from '../../support/test-log.js';

const SETTINGS = { reconnectMinMs: 50, reconnectMaxMs: 200, readbackTimeoutMs: 1000 };
const MOVES = 12;

function moduleAt(address: string, image: ProcessImage): ProbeModule {
  const channels = channelsOf([
    ['sp', 'holding:1', 'int', { direction: 'output' }],
    ['level', 'input:1', 'int'],
  ]);
  return { site: 'north', module: 'io', protocol: 'modbus', address, options: { pollInterval: '10ms', timeout: '500ms' }, channels, image: image.buffer };
}

t.test('ADR 0087: a module that moves from probe to probe while it is driven never has two masters, and no order is lost or comes twice', async (t) => {
  const device = await FieldDevice.start();
  t.teardown(() => device.kill());
  const wire = await FaultProxy.start(() => device.port);
  t.teardown(() => wire.stop());
  const probes = new LocalProbes({ clock: systemClock, log: testLog(), goAhead: false, settings: SETTINGS });
  t.teardown(() => probes.stop());
  let last = 0;
  const backwards: string[] = [];
  wire.delivered = (_, connection) => {
    if (connection < last) backwards.push(`connection ${connection} has asked after ${last}`);
    last = Math.max(last, connection);
  };
  const image = probes.image('north', 'io', ['holding:1', 'input:1'], 'uid');
  const module = moduleAt(`127.0.0.1:${wire.port}`, image);
  const homes = [SHARED_PROBE, 'plc-a', 'plc-b'];
  let value = 0;
  for (let move = 0; move < MOVES; move += 1) {
    const [from, to] = [homes[(move + 2) % 3], homes[move % 3]] as [string, string];
    const accepted = wire.accepted;
    if (move % 4 === 3) wire.delayMs = 50; // the one before is in the middle of a poll
    if (move > 0) probes.run('north', from, []);
    probes.run('north', to, [module]);
    await eventually(`move ${move}: the next one has connected`, async () => wire.accepted > accepted);
    wire.delayMs = 0;
    await eventually('it samples', async () => Atomics.load(image.header, IMAGE_HEADER.connection) === CONNECTION.connected && image.quality[1] === QUALITY.Good);
    for (let order = 0; order < 5; order += 1) {
      value += 1;
      image.order(0, value);
      image.wakeProbe();
      await eventually('it is written', async () => Atomics.load(image.outDone, 0) === Atomics.load(image.outSeq, 0));
    }
    t.equal(probes.probeOf('north', 'io'), `north/${to}`);
  }
  t.same(backwards, []);
  t.same(
    device.writes.map((write) => write.value),
    Array.from({ length: value }, (_, place) => place + 1),
    'each order once, in its order',
  );
});

t.test(
  'decisions 7.2: what a probe that hangs has sampled is Uncertain and then Bad by its age, before anybody has noticed that it hangs, and Bad at once when it is told',
  async (t) => {
    const clock = new TestClock();
    const probes = new LocalProbes({ clock, log: testLog(), goAhead: false, settings: SETTINGS, entry: new URL('../../support/stuck-probe.js', import.meta.url) });
    t.teardown(async () => {
      const stopped = probes.stop();
      clock.advance(3000); // it does not obey, so it is ended
      await stopped;
    });
    const image = probes.image('north', 'io', ['a']);
    probes.run('north', SHARED_PROBE, [
      { site: 'north', module: 'io', protocol: 'modbus', address: 'plc', options: {}, channels: channelsOf([['a', 'a', 'float']]), image: image.buffer },
    ]);
    await eventually(
      'it has sampled, and hangs',
      async () => probes.threads()[0]?.state === 'serves' && image.quality[0] === QUALITY.Good && Atomics.load(image.header, 0) % 2 === 1,
    );
    const plan = unitPlan({ images: [{ ...imagePlan('io', 'a input float'), buffer: image.buffer, staleAfterMs: 2000 }], tags: tags(), networks: [] });
    connect(plan);
    const set = new NetworkSet(plan, { texts: new TextTable(), clockMs: () => 0 });
    const [sampledMs = 0] = image.sampledMonoMs;
    const qualityAt = (ageMs: number): unknown => {
      set.latch(sampledMs + ageMs);
      return set.quality(set.slot('io:a'));
    };
    image.endInputs(); // as if it hung in its driver
    t.same([qualityAt(100), qualityAt(1900)], [QUALITY.Good, QUALITY.Good]);
    image.beginInputs(); // and in the middle of its image
    t.same([qualityAt(2100), qualityAt(3900), qualityAt(4100)], [QUALITY.Uncertain, QUALITY.Uncertain, QUALITY.Bad]);
    image.setSilent(true);
    t.equal(qualityAt(100), QUALITY.Bad, 'nothing of a silent probe is worth anything');
  },
);
