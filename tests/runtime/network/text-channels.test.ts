/** Texts of devices are bytes of UTF-8 in the process image: what is no UTF-8 is shown as such, and nothing else is lost. */
import t from 'tap';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import { ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { connect, image, unitPlan } from './plans.js';
import { at } from '../../support/at.js';

const plan = unitPlan({
  images: [image('io', 'label input string', 'shown output string')],
  networks: [],
});
connect(plan);
const device = new ProcessImage(2, at(plan.images, 0).buffer);
const set = new NetworkSet(plan, { texts: new TextTable(), clockMs: () => 0 });

function latched(bytes: readonly number[]): unknown {
  device.beginInputs();
  device.setText(0, Uint8Array.from(bytes));
  device.quality[0] = QUALITY.Good;
  device.stamp(0, 1000, 1000);
  device.endInputs();
  set.latch(1000);
  return set.read(set.slot('io:label'));
}

t.test('decisions 7.4: the text of a device is read as UTF-8', async (t) => {
  for (const text of ['', 'Kessel 3', 'Größe 12 µm', '温度', '🧪 A', '\u{10ffff}', '\ufeffwith a mark of its order'])
    t.equal(latched([...new TextEncoder().encode(text)]), text, text);
});

t.test('decisions 7.4: bytes that are no UTF-8 show the replacement character, and what stands around them is read', async (t) => {
  for (const [bytes, text] of [
    [[0x41, 0xff, 0x42], 'A\ufffdB'],
    [[0x80, 0x42], '\ufffdB'],
    [[0x41, 0xe6, 0xb8], 'A\ufffd'],
    [[0xc0, 0xaf], '\ufffd\ufffd'],
    [[0xed, 0xa0, 0x80], '\ufffd\ufffd\ufffd'],
  ] as const) {
    t.equal(latched(bytes), text, bytes.map((byte) => byte.toString(16)).join(' '));
  }
});

t.test('decisions 7.4: a text written to a device is what the device is given, a broken pair of code units included', async (t) => {
  for (const [text, given] of [
    ['温度 🧪', '温度 🧪'],
    ['half \ud83e of it', 'half \ufffd of it'],
  ] as const) {
    t.equal(set.write(set.slot('io:shown'), text), null);
    t.equal(new TextDecoder().decode(device.getText(1)), given);
  }
});

t.test('decisions 7.4: a text that a channel does not hold is refused, and never cut', async (t) => {
  const write = (text: string) => set.write(set.slot('io:shown'), text);
  t.equal(write('µ'.repeat(63)), null);
  t.match(write('µ'.repeat(64)), { code: 'invalid_value', message: 'the text for io:shown has 128 bytes (UTF-8), and a channel holds 127: a part of it would be another text' });
  t.equal(new TextDecoder().decode(device.getText(1)), 'µ'.repeat(63), 'nothing was changed');
});
