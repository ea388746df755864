/** D-PROG-02: an input of a module that is read from what is not there is taken, told wherever the module is looked at, and Bad where it runs. */
import t from 'tap';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import { QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import { planContent, withTable } from '../../../src/domains/units/plan.js';
import { SETTINGS } from '../../runtime/network/plans.js';
import { at } from '../../support/at.js';
import { manifest } from '../../support/manifest.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin = await plant.as('admin');

/** A pump whose interlock trips at a level of 50, and what it is read from. */
const PUMP = manifest(
  'ControlModuleTemplate',
  'pump',
  {
    inputs: [{ name: 'level', dataType: 'REAL' }],
    blocks: [
      { name: 'low', type: 'LT', params: { IN2: 50 } },
      { name: 'ilk', type: 'INTERLOCK' },
    ],
    connections: [{ sourceBlock: 'low', sourcePort: 'OUT', destBlock: 'ilk', destPort: 'IN1' }],
    variableBindings: [{ variable: 'level', blockRef: 'low', portRef: 'IN1' }],
    tags: [
      { name: 'low', dataType: 'Boolean', blockRef: 'low', portRef: 'OUT' },
      { name: 'ok', dataType: 'Boolean', blockRef: 'ilk', portRef: 'OK' },
    ],
  },
  {},
);
const SENSOR = manifest(
  'ControlModuleTemplate',
  'sensor',
  {
    blocks: [
      { name: 'add', type: 'ADD' },
      { name: 'gt', type: 'GT' },
    ],
    tags: [
      { name: 'pv', dataType: 'Float', blockRef: 'add', portRef: 'OUT' },
      { name: 'high', dataType: 'Boolean', blockRef: 'gt', portRef: 'OUT' },
      { name: 'word', dataType: 'String', accessLevel: 'readwrite' },
    ],
  },
  {},
);
const pump = (binding: object | undefined, name = 'p1') =>
  manifest('ControlModule', name, { templateRef: 'pump', parentName: 'k1', inputBindings: binding === undefined ? [] : [{ name: 'level', ...binding }] });

t.before(async () => {
  const { status, body } = await admin.post('/api/v1/apply', [
    manifest('Site', 'north', {}, {}),
    manifest('Area', 'hall'),
    manifest('ProcessCell', 'cell', { areaName: 'hall' }),
    manifest('Unit', 'k1', { processCellName: 'cell' }),
    manifest('Unit', 'k2', { processCellName: 'cell' }),
    SENSOR,
    PUMP,
    manifest('ControlModule', 'li1', { templateRef: 'sensor', parentName: 'k1' }),
    manifest('ControlModule', 'li2', { templateRef: 'sensor', parentName: 'k2' }),
  ]);
  t.equal(status, 200, JSON.stringify(body));
});

/** Of the unit after two scans: quality of what is made of the input, and whether the pump may run. */
function runs(): { readonly quality: string; readonly ok: unknown } {
  const content = planContent('north', 'k1', { read: plant.store, image: () => undefined, settings: SETTINGS, timeScale: 1, retained: {} });
  if (!content) throw new Error('unit k1 has no plan');
  const set = new NetworkSet(withTable(content, 1, {}), { texts: new TextTable(), clockMs: () => 0 });
  for (const nowMs of [100, 200]) {
    set.latch(nowMs);
    set.scan(1);
  }
  return { quality: at(QUALITY_WORDS, set.quality(set.slot('p1.low'))), ok: set.read(set.slot('p1.ok')) };
}

const WRONG = [
  [{ source: 'lt9.pv' }, /^spec\.inputBindings\[0\]\.source: input level reads lt9\.pv, and there is no control module lt9.*: the input is Bad$/],
  [{ source: 'li1.pw' }, /li1 has no tag pw; it has pv, high, word: the input is Bad$/],
  [{ source: 'li2.pv' }, /li2 belongs to unit k2: a source is a tag of the same unit, and the input is Bad$/],
  [{ source: 'li1.word' }, /input level is REAL, and li1\.word is STRING: the input is Bad$/],
  [{ value: 'abc' }, /^spec\.inputBindings\[0\]\.value: input level is REAL, which "abc" is not: the input is Bad$/],
] as const;

for (const [binding, told] of WRONG) {
  t.test(`D-PROG-02: ${JSON.stringify(binding)} is taken with a warning and trips what rests on it`, async (t) => {
    for (const query of ['?dryRun=true', '']) t.match((await admin.post(`/api/v1/apply${query}`, pump(binding))).body, { warnings: [told] });
    t.match((await admin.get('/api/v1/sites/north/controlmodules/p1')).body.message, /the input is Bad/);
    t.same(runs(), { quality: 'Bad', ok: false });
  });
}

t.test('D-PROG-02: what leads where it is meant is told nothing of, and runs', async (t) => {
  for (const binding of [{ source: 'li1.pv' }, { value: 7 }]) {
    t.strictSame((await admin.post('/api/v1/apply', pump(binding))).body.warnings, []);
    t.notMatch((await admin.get('/api/v1/sites/north/controlmodules/p1')).body.message, /Bad/);
    t.same(runs(), { quality: 'Good', ok: true });
  }
});

t.test('D-PROG-02: an input that is bound to nothing and has no default is told', async (t) => {
  t.match((await admin.post('/api/v1/apply', pump(undefined))).body, {
    warnings: [/^spec\.inputBindings: input level is bound to nothing and its template has no default: it stands at 0$/],
  });
});

t.test('D-PROG-02: a truth value for a number is told, and read as 0 or 1', async (t) => {
  t.match((await admin.post('/api/v1/apply', pump({ source: 'li1.high' }))).body, { warnings: [/input level is REAL, and li1\.high is BOOL$/] });
  t.same(runs(), { quality: 'Good', ok: true });
});

t.test('D-PROG-02: a source that comes behind its reader in one request is no mistake, and one that arrives later mends it', async (t) => {
  const late = manifest('ControlModule', 'lt9', { templateRef: 'sensor', parentName: 'k1' });
  const { body } = await admin.post('/api/v1/apply?dryRun=true', [pump({ source: 'lt9.pv' }), late]);
  t.strictSame(
    body.map(({ warnings }: { warnings: string[] }) => warnings),
    [[], []],
  );
  t.match((await admin.post('/api/v1/apply', pump({ source: 'lt9.pv' }))).body, { warnings: [/there is no control module lt9/] });
  t.same(runs(), { quality: 'Bad', ok: false });
  t.equal((await admin.post('/api/v1/apply', late)).status, 200);
  t.same(runs(), { quality: 'Good', ok: true });
  const message = async () => (await admin.get('/api/v1/sites/north/controlmodules/p1')).body.message;
  t.notMatch(await message(), /lt9/);
  t.match((await admin.post('/api/v1/apply', { ...SENSOR, spec: { ...SENSOR.spec, tags: (SENSOR.spec as { readonly tags: readonly unknown[] }).tags.slice(1) } })).status, 200);
  t.match(await message(), /lt9 has no tag pv/, 'a template that loses the tag');
  t.equal((await admin.post('/api/v1/apply', SENSOR)).status, 200);
});

t.test('D-PROG-02: the route of modules tells it in the header of warnings, and a program is told of its variables', async (t) => {
  const made = await admin.post('/api/v1/sites/north/controlmodules', { name: 'p2', templateRef: 'pump', parentName: 'k1', inputBindings: [{ name: 'level', source: 'li1.pw' }] });
  t.equal(made.status, 201, made.text);
  t.match(made.headers['x-lineside-warning'], /li1 has no tag pw/);
  const program = manifest('ControlProgram', 'calc', { unitRef: 'k1', variables: [{ name: 'v', dataType: 'REAL', direction: 'input', source: 'li1.pw' }] });
  t.match((await admin.post('/api/v1/apply', program)).body, { warnings: [/^spec\.variables\[0\]\.source: variable v reads li1\.pw, and li1 has no tag pw/] });
});
