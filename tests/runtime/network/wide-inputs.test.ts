/** A port is a double: a whole number of a device that it cannot hold is Bad, never a rounded one of quality Good. */
import t from 'tap';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import { ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import { image, network, unitPlan } from './plans.js';
import { at } from '../../support/at.js';

t.test('Q-TAG-01, decisions 7.4: an integer of 64 bits is whole or Bad', async (t) => {
  const made = image('io', 'count input');
  const io = { ...made, channels: made.channels.map((channel) => ({ ...channel, dataType: 'int' as const })) };
  const plan = unitPlan({
    images: [io],
    tags: [{ address: 'n.count', network: 'n', name: 'count', type: 'INT', writable: false, cyclic: true, binding: { kind: 'channel', image: 0, channel: 0 } }],
    networks: [network({ name: 'n', blocks: [{ name: 'b', type: 'ADD' }] })],
  });
  const set = new NetworkSet(plan, { texts: new TextTable(), clockMs: () => 0 });
  const device = new ProcessImage(1, io.buffer);
  const qualityOf = (value: number): string => {
    device.beginInputs();
    device.value[0] = value;
    device.quality[0] = 0;
    device.stamp(0, 1000, 1000);
    device.endInputs();
    set.latch(1000);
    return at(QUALITY_WORDS, set.quality(set.slot('n.count')));
  };
  t.strictSame([2 ** 53 - 1, 2 ** 53, -(2 ** 53), 2 ** 63, 7].map(qualityOf), ['Good', 'Bad', 'Bad', 'Bad', 'Good']);
});
