import assert from 'node:assert/strict';
import { test } from 'tap';
import { BodyReader } from '../../../src/platform/http/body-reader.js';
import { TestClock } from '../../support/test-clock.js';

const lent = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer as ArrayBuffer;
const tooLarge = (): Error => new Error('too large');

test('a body that comes byte by byte is put together once, when it is whole', async () => {
  const reader = new BodyReader(new TestClock());
  const chunk = lent('a');
  let text = '';
  const read = reader.collect(200_000, tooLarge, (bytes) => (text = Buffer.from(bytes).toString()));
  for (let count = 0; count < 100_000; count += 1) reader.take(chunk, false);
  new Uint8Array(chunk).fill(0); // it was only lent
  reader.take(lent('!'), true);
  await read;
  assert.equal(text, `${'a'.repeat(100_000)}!`);
});

test('what arrived before anybody asked is not lost, nor is that it was too much', async () => {
  const large = new BodyReader(new TestClock());
  large.take(lent('12345'), false);
  await assert.rejects(async () => large.collect(4, tooLarge, () => undefined), /too large/);
});

test('a body that is there when somebody asks is handed over at once: nobody waits, and what is wrong with it is thrown', async () => {
  const whole = (text: string): BodyReader => {
    const reader = new BodyReader(new TestClock());
    const chunk = lent(text);
    reader.take(chunk, true);
    new Uint8Array(chunk).fill(0); // it was only lent
    return reader;
  };
  let text = '';
  assert.equal(
    whole('{}').collect(2, tooLarge, (bytes) => (text = Buffer.from(bytes).toString())),
    undefined,
  );
  assert.equal(text, '{}');
  assert.throws(() => whole('12345').collect(4, tooLarge, () => assert.fail('it is too much')), /too large/);
  const refuse = (): never => {
    throw new Error('no JSON');
  };
  assert.throws(() => whole('{}').collect(2, tooLarge, refuse), /no JSON/);
  const parts = new BodyReader(new TestClock());
  parts.take(lent('{'), false);
  parts.take(lent('}'), true);
  parts.collect(2, tooLarge, (bytes) => (text = Buffer.from(bytes).toString()));
  assert.equal(text, '{}');
});

test('a body that trickles is refused after half a minute and what its length allows, whatever the wall clock does', async () => {
  const clock = new TestClock();
  const reader = new BodyReader(clock);
  const read = reader.collect(1_000_000, tooLarge, () => assert.fail('it never came'));
  reader.take(lent('x'.repeat(160_000)), false); // ten seconds more
  clock.jump(3_600_000);
  clock.advance(39_000);
  reader.take(lent('y'), false);
  const refused = assert.rejects(async () => read, { status: 408, context: { code: 'body_timeout' } });
  clock.advance(1_001);
  await refused;
});

test('a connection that goes before the end refuses the body', async () => {
  const reader = new BodyReader(new TestClock());
  const read = reader.collect(10, tooLarge, () => undefined);
  reader.take(lent('{'), false);
  reader.cut();
  await assert.rejects(async () => read, { context: { code: 'body_incomplete' } });
});
