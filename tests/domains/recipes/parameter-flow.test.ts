/**
 * How much of a recipe is followed: a template is used by many steps, and each formula gives each of them a value, so that a short document
 * holds more than anybody waits for. All of it is counted, and nothing is measured in time.
 */
import t from 'tap';
import type { ProceduralChart, ProceduralStep } from '../../../runtime/vocabulary/chart.js';
import type { ParameterSpec } from '../../../src/domains/procedures/kind.js';
import { type FlowTemplates, type Given, parameterFlow, WORK_MAX } from '../../../src/domains/recipes/parameter-flow.js';

const TARGET: ParameterSpec = {
  name: 'target',
  type: 'REAL',
  unit: 'degC',
  min: '20',
  max: '90',
  defaultValue: '',
  description: '',
  choices: [],
  required: false,
} as ParameterSpec;
const phase = (parameters: readonly ParameterSpec[] = [TARGET]) => ({ parameters, outputs: [], chart: undefined });
const steps = (count: number, step: Partial<ProceduralStep> = {}): ProceduralStep[] =>
  Array.from({ length: count }, (_, at) => ({ name: `p${at}`, templateKind: 'PhaseTemplate', templateRef: 'heat', ...step }));
/** One parameter that so many formulas give. */
const given = (formulas: number, { value = '1000', unit = 'bar' } = {}): Given => ({
  name: 'target',
  sources: Array.from({ length: formulas }, (_, at) => ({ value, unit, what: `target of formula f${at}`, isOwn: true })),
});

interface Looks {
  count: number;
}
const counted = (looks: Looks, templates: FlowTemplates): FlowTemplates => {
  return (kind, name) => {
    looks.count += 1;
    return templates(kind, name);
  };
};

t.test('a recipe of a usual size is followed to its end, and all of it is told', async (t) => {
  const flow = parameterFlow({ steps: steps(20) }, [given(10)], () => phase(), 'procedure.chart');
  t.equal(flow.isWhole, true);
  t.equal(flow.notes.length, 20 * 10 * 2, 'a unit and a value of each formula at each step');
  t.match(flow.notes[0], { path: 'procedure.chart.steps[p0]', text: /^target of formula f0 is in bar and goes to parameter target of step p0/ });
});

t.test('notes of a thousand formulas at a thousand steps end with those that somebody may read, and say that they do', async (t) => {
  const looks = { count: 0 };
  const flow = parameterFlow(
    { steps: steps(1000) },
    [given(1000)],
    counted(looks, () => phase()),
    'procedure.chart',
  );
  t.equal(flow.notes.length, 1001);
  t.strictSame(flow.notes[0], {
    path: 'procedure.chart',
    text: 'its values are followed as far as step p0 and no further: it hands on too much to look at all of it, and faults behind that step are not told',
  });
  t.equal(looks.count, 1, 'the other steps are not looked at');
  t.equal(flow.isWhole, false, 'what no step takes is not known then');
});

t.test('values that fit are held against so many parameters and no more', async (t) => {
  const looks = { count: 0 };
  const flow = parameterFlow(
    { steps: steps(1000) },
    [given(1000, { value: '50', unit: 'degC' })],
    counted(looks, () => phase()),
    'procedure.chart',
  );
  t.ok(flow.work <= WORK_MAX, `${flow.work}`);
  t.ok(looks.count <= WORK_MAX / 1000 + 1, `${looks.count} steps`);
  t.equal(flow.notes.length, 1);
  t.match(flow.notes[0]?.text, /^its values are followed as far as step p\d+ and no further: /);
});

t.test('a template that holds a template a thousand times is followed so far', async (t) => {
  const looks = { count: 0 };
  const inner: ProceduralChart = { steps: steps(1000) };
  const templates = counted(looks, (kind) => (kind === 'PhaseTemplate' ? phase() : { parameters: [TARGET], outputs: [], chart: inner }));
  const flow = parameterFlow({ steps: steps(1000, { templateKind: 'OperationTemplate' }) }, [given(1, { value: '50', unit: 'degC' })], templates, 'procedure.chart');
  t.ok(looks.count <= WORK_MAX, `${looks.count} looks`);
  t.match(flow.notes[0]?.text, /^its values are followed as far as step p\d+\/p\d+ and no further/);
});

t.test('long choices and long lists of bindings count', async (t) => {
  const looks = { count: 0 };
  const chosen: ParameterSpec = { ...TARGET, type: 'STRING', min: '', max: '', choices: Array.from({ length: 20_000 }, (_, at) => `c${at}`) };
  const ofChoices = parameterFlow(
    { steps: steps(1000) },
    [given(10, { unit: 'degC' })],
    counted(looks, () => phase([chosen])),
    'procedure.chart',
  );
  t.ok(looks.count <= 2, `${looks.count} steps`);
  t.ok(JSON.stringify(ofChoices.notes).length < 2_000_000, 'nor do notes repeat them without end');
  looks.count = 0;
  const parameterBindings = Array.from({ length: 10_000 }, (_, at) => ({ name: `b${at}`, value: '1' }));
  parameterFlow(
    { steps: steps(1000, { parameterBindings }) },
    [],
    counted(looks, () => phase()),
    'procedure.chart',
  );
  t.ok(looks.count <= WORK_MAX / 10_000, `${looks.count} steps`);
});

t.test('conditions of a template are read once, however many steps stand for it', async (t) => {
  let reads = 0;
  const transition = {
    from: 'p0',
    to: 'p1',
    get conditionST() {
      reads += 1;
      return 'READ(level) > amount AND TARGET > 1';
    },
  };
  const chart: ProceduralChart = { steps: steps(2), transitions: [transition] };
  const templates: FlowTemplates = (kind) => (kind === 'PhaseTemplate' ? phase([]) : { parameters: [TARGET], outputs: [], chart });
  const flow = parameterFlow({ steps: steps(500, { templateKind: 'OperationTemplate' }) }, [given(1, { value: '50', unit: 'degC' })], templates, 'procedure.chart');
  t.ok(reads <= 2, `${reads} reads`);
  t.equal(flow.isWhole, true);
  t.strictSame([...flow.taken], ['target'], 'and what they name is taken');
});

t.test('conditions of a subchart take the parameters that they name, each by its own words', async (t) => {
  const sub = (word: string): ProceduralStep => ({ name: `o-${word}`, subChart: { steps: steps(1), transitions: [{ from: 'p0', to: 'p0', conditionST: `${word} >= 3` }] } });
  const names = ['amount', 'Level', 'other'].map((name): Given => ({ ...given(1), name }));
  const flow = parameterFlow({ steps: [sub('AMOUNT'), sub('level')] }, names, () => phase([]), 'procedure.chart');
  t.strictSame([...flow.taken], ['amount', 'level']);
});

t.test('conditions that are longer than anybody writes end the walk before they are read', async (t) => {
  const conditionST = 'x '.repeat(3_000_000);
  const flow = parameterFlow({ steps: steps(1), transitions: [{ from: 'p0', to: 'p0', conditionST }] }, [], () => phase([]), 'chart');
  t.equal(flow.isWhole, false);
  t.strictSame(
    flow.notes.map(({ path, text }) => [path, text.slice(0, 29)]),
    [['chart', 'its values are not followed: ']],
  );
});
