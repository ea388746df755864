/** A text that is longer than a channel holds is another text where it is cut: it is not shown as Good (decisions 7.2). */
import t from 'tap';
import { ImageSink } from '../../../runtime/io/image-sink.js';
import { systemClock } from '../../../runtime/vocabulary/clock.js';
import { ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';

t.test('decisions 7.2: a text is shown whole, or Bad with its length', async (t) => {
  const image = new ProcessImage(1);
  const sink = new ImageSink(image, 1, systemClock);
  const put = (text: string): void => {
    const read = sink.of([{ address: 'Name', dataType: 'string', channel: 0, pollMs: 0, readback: false }], () => undefined);
    read.begin();
    read.text(0, text);
    read.end();
  };
  const shown = (): string => Buffer.from(image.getText(0)).toString('utf8');
  put('x'.repeat(127));
  t.equal(image.quality[0], QUALITY.Good);
  t.equal(shown(), 'x'.repeat(127));
  put('x'.repeat(128));
  t.equal(image.quality[0], QUALITY.Bad);
  t.match(sink.message(0), /the text has 128 bytes \(UTF-8\), and a channel holds 127/);
  put('ü'.repeat(63));
  t.equal(image.quality[0], QUALITY.Good);
  put('ü'.repeat(64));
  t.equal(image.quality[0], QUALITY.Bad, '64 characters of two bytes');
  put('short');
  t.equal(image.quality[0], QUALITY.Good);
  t.equal(sink.message(0), '');
});
