/** What completed batches teach of how long the next one takes (ADR 0135). */
import t from 'tap';
import { asksOf } from '../../../src/domains/shift/asks.js';
import { activeSeconds, reachedSeconds, RUNS_MAX, runOf, withRun } from '../../../src/domains/shift/experience.js';
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

t.test('how long people let a batch wait takes nothing off what is still to come: it has come no further than the end of what is at work', async (t) => {
  const element = (kind: string, stepPath: string, startedAt: string, endedAt: string) =>
    ({ kind, spec: { stepPath, stepName: stepPath.split('/').at(-1) }, status: { startedAt, endedAt } }) as never;
  const known = {
    steps: new Map([['make', { step: 'make', fromS: 0, toS: 60 }]]),
    phases: new Map([
      ['make/react/check', 20],
      ['make/react/heat', 12],
      ['make/react/cool', 45],
    ]),
  };
  const elements = [
    element('UnitProcedure', 'make', at(0), ''),
    element('Phase', 'make/react/heat', at(0), at(12)),
    element('Phase', 'make/react/check', at(12), ''),
    element('Phase', 'make/react/cool', '', ''),
  ];
  t.equal(reachedSeconds(15, known, elements), 15);
  t.equal(reachedSeconds(58, known, elements), 20, 'it asks for an answer since long: cooling is still to come');
  t.equal(reachedSeconds(90, { ...known, phases: new Map() }, elements), 60, 'of runs that were learnt without phases the unit procedures tell it');
  t.equal(reachedSeconds(90, { steps: new Map(), phases: new Map() }, elements), 90);
  const batch = { metadata: { uid: 'u' }, status: { startedAt: at(0), endedAt: at(30), holds: [{ since: at(4), until: at(14) }] } } as never;
  t.same(runOf(batch, [element('UnitProcedure', 'make', at(0), at(30)), element('Phase', 'make/react/check', at(2), at(24))]), {
    uid: 'u',
    endedAt: at(30),
    seconds: 20,
    steps: [{ step: 'make', fromS: 0, toS: 20 }],
    phases: [{ path: 'make/react/check', toS: 14 }],
  });
});

t.test('people are still to be asked while a phase that asks them is at work or has not had its turn', async (t) => {
  const phase = (text: string, endedAt: string) => ({ kind: 'Phase', spec: { steps: [{ name: 'ask', actions: [{ text }] }] }, status: { endedAt } }) as never;
  t.equal(asksOf([phase("ph := PROMPT_VALUE('What is the pH?')", '')]), true);
  t.equal(asksOf([phase("ph := PROMPT_VALUE('What is the pH?')", at(9)), phase("WRITE('hx101.cmd', 'On')", '')]), false);
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
