/** What waits for a box outlives the times in which it does not answer, and nothing else. */
import t from 'tap';
import { until } from '../../src/cli/remote/until.js';
import { ApiError } from '../../src/client/api.js';
import { silentTerminal } from './support.js';

const away = (status: number): ApiError => new ApiError(status, { error: `no ${status}` });
/** One answer after the other; the last one again and again. */
function answers(...given: readonly (ApiError | string | undefined)[]): { look(): Promise<string | undefined>; asked: number } {
  return {
    asked: 0,
    async look() {
      const answer = given[Math.min(this.asked, given.length - 1)];
      this.asked += 1;
      if (answer instanceof ApiError) throw answer;
      return answer;
    },
  };
}
const late = (): Error => new Error('late');

t.test('a box that is away, starts or is asked too often is waited for, and told once', async (t) => {
  const said: string[] = [];
  const box = answers(undefined, away(0), away(503), away(502), 'made');
  t.equal(await until({ look: () => box.look(), withinMs: undefined, late, terminal: silentTerminal(said) }), 'made');
  t.strictSame(said, ['lineside: the box cannot be asked now (no 0); waiting goes on', 'lineside: the box answers again']);
});

t.test('what another try does not mend ends the wait', async (t) => {
  for (const status of [401, 403, 404, 307]) {
    const box = answers(away(status));
    await t.rejects(until({ look: () => box.look(), withinMs: undefined, late, terminal: silentTerminal() }), new RegExp(`no ${status}`));
    t.equal(box.asked, 1);
  }
});

t.test('when time is up the last state is told, or that the box does not answer', async (t) => {
  const [waits, gone] = [answers(undefined), answers(away(0))];
  await t.rejects(until({ look: () => waits.look(), withinMs: 100, late, terminal: silentTerminal() }), /late/);
  t.ok(waits.asked >= 2, 'it is asked at the end once more');
  await t.rejects(until({ look: () => gone.look(), withinMs: 100, late, terminal: silentTerminal() }), /no 0/);
});

t.test('a wall clock that is set meanwhile neither ends a wait nor makes it longer', async (t) => {
  const now = Date.now.bind(Date);
  t.teardown(() => {
    Date.now = now;
  });
  for (const stepMs of [86_400_000, -86_400_000]) {
    const box = answers(undefined, undefined, 'made');
    const stepped = async (): Promise<string | undefined> => {
      Date.now = () => now() + stepMs * box.asked;
      return box.look();
    };
    t.equal(await until({ look: stepped, withinMs: 60_000, late, terminal: silentTerminal() }), 'made');
    const begun = performance.now();
    const waits = answers(undefined);
    await t.rejects(until({ look: () => waits.look(), withinMs: 1, late, terminal: silentTerminal() }), /late/);
    t.ok(performance.now() - begun < 30_000);
  }
});
