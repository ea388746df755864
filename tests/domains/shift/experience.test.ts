/** What completed batches teach of how long the next one takes (ADR 0135). */
import t from 'tap';
import { activeSeconds, RUNS_MAX, withRun } from '../../../src/domains/shift/experience.js';
import type { Run, RunExperienceSpec } from '../../../src/domains/shift/kind.js';

const at = (seconds: number): string => new Date(1_700_000_000_000 + seconds * 1000).toISOString();
const run = (number: number, seconds: number): Run => ({ uid: `u-${number}`, endedAt: at(number * 1000), seconds, steps: [{ step: 'make', fromS: 1, toS: seconds }] });
const learnt = (runs: readonly (readonly [version: string, run: Run])[]): RunExperienceSpec =>
  runs.reduce<RunExperienceSpec>((known, [version, each]) => withRun(known, version, each) ?? known, { versions: [] });

t.test('what a batch was held is no time at work, also while it still is', async (t) => {
  const batch = (holds: readonly { since: string; until: string }[]) => ({ status: { startedAt: at(0), holds } }) as never;
  t.equal(activeSeconds(batch([]), Date.parse(at(100))), 100);
  t.equal(activeSeconds(batch([{ since: at(10), until: at(40) }]), Date.parse(at(100))), 70);
  t.equal(activeSeconds(batch([{ since: at(10), until: '' }]), Date.parse(at(100))), 10);
  t.equal(activeSeconds(batch([{ since: at(-50), until: at(20) }]), Date.parse(at(100))), 80, 'from its start on');
  t.equal(activeSeconds(batch([]), Date.parse(at(-5))), 0, 'a clock that was put back makes no time less than none');
});

t.test('of each version the last fifteen runs are kept, each once, of the newest three versions', async (t) => {
  const many = learnt(Array.from({ length: 40 }, (_, number) => ['1.0.0', run(number, number)] as const));
  t.equal(many.versions[0]?.runs.length, RUNS_MAX);
  t.equal(many.versions[0]?.runs[0]?.uid, 'u-25', 'the newest');
  t.equal(withRun(many, '1.0.0', run(39, 39)), undefined, 'a batch is learnt from once');
  t.equal(withRun(many, '1.0.0', run(3, 3)), undefined, 'one that is older than all that are kept teaches nothing');
  const versions = learnt(['1.0.0', '1.1.0', '2.0.0', '2.1.0', '3.0.0'].map((version, number) => [version, run(number, 10)] as const));
  t.same(
    versions.versions.map(({ version }) => version),
    ['3.0.0', '2.1.0', '2.0.0'],
  );
  t.equal(withRun(versions, '1.0.0', run(0, 10)), undefined, 'a version that is past stays past');
});
