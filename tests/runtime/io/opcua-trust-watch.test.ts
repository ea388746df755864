/** The watch over the trust that a connection rests on (ADR 0095), on a clock of the test. */
import t from 'tap';
import { type Judge, TRUST_LOOK_MS, watchTrust } from '../../../runtime/io/opcua/trust-watch.js';
import { TestClock } from '../../support/test-clock.js';

/** Looks that are answered one after the other: a reason, or never. */
function watched(...answers: readonly (string | Error | 'never')[]) {
  const clock = new TestClock();
  const ended: string[] = [];
  let looks = 0;
  const judge: Judge = () => {
    const answer = answers[looks] ?? '';
    looks += 1;
    if (answer === 'never') return new Promise(() => undefined);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const stop = watchTrust(judge, (reason) => ended.push(reason), clock);
  return {
    ended,
    stop,
    get looks() {
      return looks;
    },
    async pass(times: number) {
      for (let count = 0; count < times; count += 1) {
        clock.advance(TRUST_LOOK_MS);
        await new Promise(setImmediate);
      }
    },
  };
}

t.test('one doubt is none, two in a row end the connection once', async (t) => {
  const watch = watched('', 'the authority is gone', '', 'the authority is gone', new Error('the authority is gone'), 'the authority is gone');
  await watch.pass(4);
  t.same(watch.ended, []);
  await watch.pass(4);
  t.same(watch.ended, ['the authority is gone']);
  t.equal(watch.looks, 5);
});

t.test('a look that never comes to an end is a doubt, and the watch goes on', async (t) => {
  const watch = watched('never', '', 'never', 'never');
  await watch.pass(3);
  t.equal(watch.looks, 2);
  t.same(watch.ended, []);
  await watch.pass(4);
  t.match(watch.ended, [/^whether the server is trusted could not be looked up within 4\.5 s$/]);
});

t.test('a watch that is ended looks no more and ends nothing', async (t) => {
  const watch = watched('never', 'the authority is gone', 'the authority is gone');
  await watch.pass(1);
  watch.stop();
  await watch.pass(6);
  t.equal(watch.looks, 1);
  t.same(watch.ended, []);
});
