/** The clock of a rehearsed plant. */
import t from 'tap';
import { PlantClock } from '../../../runtime/rehearsal/plant-clock.js';

t.test('plant clock: it jumps from timer to timer, and timers of one instant fire in the order in which they were set', async (t) => {
  const clock = new PlantClock(1000);
  const fired: string[] = [];
  const every = (ms: number, name: string): unknown =>
    clock.after(ms, () => {
      fired.push(`${name}@${clock.monoMs()}`);
      every(ms, name);
    });
  every(50, 'tick');
  every(100, 'scan');
  const cancel = clock.after(60, () => fired.push('never'));
  cancel();
  while (clock.step(220));
  t.same(fired, ['tick@50', 'scan@100', 'tick@100', 'tick@150', 'scan@200', 'tick@200']);
  t.same([clock.monoMs(), clock.wallMs()], [220, 1220], 'and stands at the time that was asked for');
  t.notOk(clock.step(100), 'never backwards');
  t.equal(clock.monoMs(), 220);
});
