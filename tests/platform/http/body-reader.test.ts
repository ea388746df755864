import t from 'tap';
import { BodyReader } from '../../../src/platform/http/body-reader.js';
import { TestClock } from '../../support/test-clock.js';

const lent = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer as ArrayBuffer;
const tooLarge = (): Error => new Error('too large');

t.test('a body that comes byte by byte is put together once, when it is whole', async (t) => {
  const reader = new BodyReader(new TestClock());
  const chunk = lent('a');
  let text = '';
  const read = reader.collect(200_000, tooLarge, (bytes) => (text = Buffer.from(bytes).toString()));
  for (let count = 0; count < 100_000; count += 1) reader.take(chunk, false);
  new Uint8Array(chunk).fill(0); // it was only lent
  reader.take(lent('!'), true);
  await read;
  t.equal(text, `${'a'.repeat(100_000)}!`);
});

t.test('what arrived before anybody asked is not lost, nor is that it was too much', async (t) => {
  const large = new BodyReader(new TestClock());
  large.take(lent('12345'), false);
  await t.rejects(async () => large.collect(4, tooLarge, () => undefined), /too large/);
});

t.test('a body that is there when somebody asks is handed over at once: nobody waits, and what is wrong with it is thrown', async (t) => {
  const whole = (text: string): BodyReader => {
    const reader = new BodyReader(new TestClock());
    const chunk = lent(text);
    reader.take(chunk, true);
    new Uint8Array(chunk).fill(0); // it was only lent
    return reader;
  };
  let text = '';
  t.equal(
    whole('{}').collect(2, tooLarge, (bytes) => (text = Buffer.from(bytes).toString())),
    undefined,
  );
  t.equal(text, '{}');
  t.throws(() => whole('12345').collect(4, tooLarge, () => t.fail('it is too much')), /too large/);
  const refuse = (): never => {
    throw new Error('no JSON');
  };
  t.throws(() => whole('{}').collect(2, tooLarge, refuse), /no JSON/);
  const parts = new BodyReader(new TestClock());
  parts.take(lent('{'), false);
  parts.take(lent('}'), true);
  parts.collect(2, tooLarge, (bytes) => (text = Buffer.from(bytes).toString()));
  t.equal(text, '{}');
});

t.test('a body that trickles is refused after half a minute and what its length allows, whatever the wall clock does', async (t) => {
  const clock = new TestClock();
  const reader = new BodyReader(clock);
  const read = reader.collect(1_000_000, tooLarge, () => t.fail('it never came'));
  reader.take(lent('x'.repeat(160_000)), false); // ten seconds more
  clock.jump(3_600_000);
  clock.advance(39_000);
  reader.take(lent('y'), false);
  const refused = Promise.resolve(read).catch((fault: unknown) => fault);
  clock.advance(1_001);
  t.match(await refused, { status: 408, context: { code: 'body_timeout' } });
});

t.test('a connection that goes before the end refuses the body', async (t) => {
  const reader = new BodyReader(new TestClock());
  const read = reader.collect(10, tooLarge, () => undefined);
  reader.take(lent('{'), false);
  reader.cut();
  t.match(await Promise.resolve(read).catch((fault: unknown) => fault), { context: { code: 'body_incomplete' } });
});
