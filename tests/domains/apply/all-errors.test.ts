/** All that is wrong with a manifest is told at once, each with its field, and nothing that only follows from another (D-C-03). */
import t from 'tap';
import * as v from 'valibot';
import { IOModule } from '../../../src/domains/io-modules/kind.js';
import { refusalOf } from '../../../src/platform/http/json-body.js';
import type { Shape } from '../../../src/platform/http/sent-back.js';
import { manifest } from '../../support/manifest.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin = await plant.as('admin');

interface Row {
  readonly index: number;
  readonly code?: string;
  readonly field?: string;
  readonly error: string;
  readonly status: number;
}
const apply = (body: unknown) => admin.post('/api/v1/apply?dryRun=true', body);
const errorsOf = async (body: unknown): Promise<readonly Row[]> => {
  const told = (await apply(body)).body;
  return told.errors ?? [{ index: 0, ...told }];
};
const fieldsOf = async (body: unknown): Promise<readonly string[]> => (await errorsOf(body)).map(({ index, field = '' }) => `${index} ${field}`);

t.before(async () => {
  await admin.post('/api/v1/apply', [manifest('Site', 'north', {}, {}), manifest('Controller', 'box', { simulation: true })]);
});

t.test('D-C-03: every unknown, missing and unfit member of a manifest is told', async (t) => {
  const wrong = manifest('AlarmDefinition', 'high', { colour: 'red', sound: 'loud', sourceKind: 'Pump', severity: 'Hi', debounceSeconds: '5', threshold: 80 });
  t.match(await apply(wrong), { status: 400, body: { code: 'unknown_field', field: 'spec.colour', errors: { length: 8 } } });
  t.strictSame((await fieldsOf(wrong)).toSorted(), [
    '0 spec.colour',
    '0 spec.conditionType',
    '0 spec.debounceSeconds',
    '0 spec.severity',
    '0 spec.sound',
    '0 spec.sourceKind',
    '0 spec.sourceName',
    '0 spec.threshold',
  ]);
});

t.test('D-C-03: a member that is written otherwise is told once, not as missing too', async (t) => {
  t.strictSame(await fieldsOf(manifest('AlarmDefinition', 'high', { sourceKind: 'Unit', sourcename: 'mixer', conditionType: 'StateEquals', stateValue: 'Held', colour: 1 })), [
    '0 spec.sourcename',
    '0 spec.colour',
  ]);
});

t.test('D-C-03: what is wrong around the spec does not hide what is wrong in it', async (t) => {
  t.strictSame(await fieldsOf({ ...manifest('Area', 'Hall 1', { floor: 1 }), apiVersion: 'v1' }), ['0 apiVersion', '0 metadata.name', '0 spec.floor']);
  t.strictSame(await fieldsOf(manifest('Area', 'hall', { floor: 1 }, { namespace: 'site-south' })), ['0 metadata.namespace', '0 spec.floor']);
  t.strictSame(await fieldsOf({ kind: 'Area', metadata: {}, spec: { floor: 1 } }), ['0 apiVersion', '0 metadata.name', '0 spec.floor']);
});

t.test('D-C-03: a member at the wrong level is told with where it belongs, and not as missing too', async (t) => {
  const told = async (body: unknown): Promise<readonly string[]> => (await errorsOf(body)).map(({ error }) => error);
  const cell = manifest('ProcessCell', 'cell', { description: 'x' });
  const plc = (more: object) => manifest('IOModule', 'plc', { protocol: 'modbus', address: 'plc:502', ...more });
  t.strictSame(await told({ ...cell, areaName: 'hall' }), ['unknown field areaName; known as spec.areaName: indent it under spec:']);
  t.strictSame(await told(manifest('Area', 'hall', { labels: { plant: 'a' } })), [
    'unknown field spec.labels; known as metadata.labels: take it out of spec: it belongs under metadata:',
  ]);
  t.match(await told(plc({ name: 'plc' })), ['unknown field spec.name; known as metadata.name: take it out of spec: it belongs under metadata:'], 'and not the name of a channel');
  t.strictSame(await told(manifest('Area', 'hall', { status: {} })), ['unknown field spec.status; known as status: take it out of spec:']);
  const { name: _none, ...rest } = manifest('Area', 'hall', {}).metadata as { readonly name: string };
  t.strictSame(await told({ ...manifest('Area', 'hall', {}), metadata: rest, name: 'hall' }), ['unknown field name; known as metadata.name: indent it under metadata:']);
  const channels = [{ name: 'a', address: 'coil:1', protocol: 'modbus' }];
  t.strictSame(await told(plc({ channels })), ['unknown field spec.channels[0].protocol; known as spec.protocol: take it out of channels:']);
  t.strictSame(await told(plc({ direction: 'output' })), ['unknown field spec.direction; known as spec.channels[].direction: indent it under an entry of channels:']);
  t.match(await admin.post('/api/v1/apply?dryRun=true', plc({ direction: 'output' })), { body: { knownAt: ['spec.channels[].direction'], allowed: /./ } });
  const chart = { steps: [{ name: 'a' }] };
  t.match(await told(manifest('MasterRecipe', 'r', chart)), [/^unknown field spec\.steps; known as spec\.procedure\.chart\.steps: indent it under procedure\.chart:$/]);
  t.match(await told(manifest('Area', 'hall', { floor: 1 })), ['unknown field spec.floor; known here: description'], 'no level near it knows it');
});

t.test('D-C-03: what is not there is told, and beside what cannot be read; not where its kind could not be read', async (t) => {
  t.strictSame(await fieldsOf(manifest('Unit', 'mixer', { processCellName: 'nowhere', scanInterval: 100, colour: 'red' })), [
    '0 spec.colour',
    '0 spec.scanInterval',
    '0 processCellName',
  ]);
  t.strictSame(await fieldsOf(manifest('ControlModule', 'xv1', { templateRef: 'none', parentName: 'nowhere' })), ['0 templateRef', '0 parentName']);
  t.strictSame(await fieldsOf(manifest('ControlModule', 'xv1', { templateRef: 'none', parentName: 'nowhere', parentKind: 'Vessel' })), ['0 spec.parentKind']);
});

t.test('D-C-03: the rules of a kind tell all that they find', async (t) => {
  const channels = [
    { name: 'a', address: 'coil:x', dataType: 'bool' },
    { name: 'b', address: 'holding:70000' },
    { name: 'b', address: 'coil:1', pollInterval: '1ms' },
  ];
  t.strictSame((await fieldsOf(manifest('IOModule', 'plc', { protocol: 'modbus', address: 'host:port', options: { unitId: 999, colour: 1 }, channels }))).toSorted(), [
    '0 address',
    '0 channels[0].address',
    '0 channels[1].address',
    '0 channels[2].name',
    '0 options.colour',
    '0 options.unitId',
  ]);
  t.strictSame(
    await fieldsOf(
      manifest('Unit', 'mixer', {
        capabilities: ['Mix It', 'ok', 'Stir It'],
        scanInterval: '1h',
        permissives: [
          { name: 'a', conditionST: '1 +' },
          { name: 'a', conditionST: 'TRUE' },
        ],
      }),
    ),
    ['0 capabilities[0]', '0 capabilities[2]', '0 permissives[0].conditionST', '0 permissives[1].name', '0 scanInterval'],
  );
  const tags = [
    { name: 'pv', dataType: 'REAL', blockRef: 'gone', portRef: 'OUT' },
    { name: 'sp', dataType: 'REAL', blockRef: 'add', portRef: 'NOPORT' },
    { name: 'ok', dataType: 'REAL', blockRef: 'add', portRef: 'OUT', engMin: 'gone.x', engMax: 'add.nope' },
  ];
  const template = manifest('ControlModuleTemplate', 'adder', { blocks: [{ name: 'add', type: 'ADD' }], tags }, {});
  t.strictSame(await fieldsOf(template), ['0 tags[0].portRef', '0 tags[1].portRef', '0 tags[2].engMin', '0 tags[2].engMax']);
});

t.test('D-C-03: errors of several manifests stand together, and what names a refused one is not told', async (t) => {
  const cell = manifest('ProcessCell', 'cell', { areaName: 'hall', colour: 1, sound: 2 });
  t.strictSame(await fieldsOf([manifest('Area', 'hall', { floor: 1 }), cell, manifest('Unit', 'mixer', { processCellName: 'cell', capabilities: ['X Y'] })]), [
    '0 spec.floor',
    '1 spec.colour',
    '1 spec.sound',
  ]);
});

t.test('one thing that is wrong is told as ever', async (t) => {
  const { body } = await apply(manifest('Area', 'hall', { floor: 1 }));
  t.match(body, { code: 'unknown_field', field: 'spec.floor' });
  t.notOk('errors' in body);
});

t.test('a flood of what is wrong is told in part', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`descriptoin${at}`, at]));
  t.equal((await errorsOf(manifest('Area', 'hall', many))).length, 100);
  const channels = Array.from({ length: 20_000 }, (_, at) => ({ address: at }));
  t.equal((await errorsOf(manifest('IOModule', 'plc', { protocol: 'modbus', channels }))).length, 100);
});

/** As it is, with a count of how often the names of the members of an object are asked for, which every look at an unknown field does. */
function counted(shape: Shape, looks: { count: number }): Shape {
  const seen = <Value>(value: Value, isEntries: boolean): Value =>
    typeof value !== 'object' || value === null
      ? value
      : (new Proxy(value, {
          get: (target, key) => seen(Reflect.get(target, key), key === 'entries'),
          ownKeys: (target) => {
            if (isEntries) looks.count += 1;
            return Reflect.ownKeys(target);
          },
        }) as Value);
  return seen(shape, false);
}

t.test('of a flood of floods a hundred issues are looked at, and one alone by who tells no more', async (t) => {
  const unknown = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`colour${at}`, at]));
  const channels = Array.from({ length: 100 }, (_, at) => ({ name: `c${at}`, address: 'coil:1', ...unknown }));
  const { issues } = v.safeParse(IOModule.spec as v.GenericSchema, { protocol: 'modbus', channels });
  t.equal(issues?.length, 100);
  const looks = { count: 0 };
  const refusal = refusalOf(issues ?? [], counted(IOModule.spec as unknown as Shape, looks));
  t.equal(looks.count, 3, 'where it stands, one level below, and beside');
  t.equal(refusal.beside.length, 99);
  // to find the unknown ones of the object, for what they were meant to be, for what is told of them, and once each for the levels near them
  t.ok(looks.count > 100 && looks.count <= 1 + 1 + 100 + 99 + 2 * 100, `${looks.count} looks`);
  const before = looks.count;
  t.equal(refusal.beside.length, 99);
  t.equal(looks.count, before, 'nothing is looked at twice');
});

t.test('what is known is told once of each object that is alike', async (t) => {
  const channels = [0, 1].map((at) => ({ name: `c${at}`, address: 'coil:1', xxxxxxxxx: 1, yyyyyyyyy: 2 }));
  const texts = (await errorsOf(manifest('IOModule', 'plc', { protocol: 'modbus', address: 'host:502', channels }))).map(({ error }) => error);
  t.match(texts[0], /^unknown field spec\.channels\[0\]\.xxxxxxxxx; known here: .*address/);
  t.strictSame(
    texts.slice(1),
    ['[0].yyyyyyyyy', '[1].xxxxxxxxx', '[1].yyyyyyyyy'].map((of) => `unknown field spec.channels${of}; known here: as for spec.channels[0].xxxxxxxxx`),
  );
});

t.test('D-C-03: an answer tells the first thousand errors of a request, and counts the others', async (t) => {
  const unknown = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`colour${at}`, at]));
  const areas = Array.from({ length: 30 }, (_, at) => manifest('Area', `a${at}`, unknown));
  const { status, body, text } = await apply(areas);
  t.match({ status, code: body.code, index: body.index, total: body.errorsTotal }, { status: 400, code: 'unknown_field', index: 0, total: 3000 });
  const rows = body.errors as readonly Row[];
  t.strictSame([rows.length, rows.map(({ index }) => index)], [1000, Array.from({ length: 1000 }, (_, at) => Math.floor(at / 100))]);
  t.match(body.error, /^manifest 0: unknown field spec\.colour0; .*; the first 1000 errors are told, and 2000 more are there$/);
  t.ok(text.length < 300_000, `${text.length} bytes`);
  const few = (await apply(areas.slice(0, 3))).body;
  t.match({ length: few.errors.length, total: few.errorsTotal }, { length: 300, total: 300 });
  t.notMatch(few.error, /more are there/);
});

t.test('D-C-03: names as long as bodies make no answer that is longer than a client takes', async (t) => {
  const areas = Array.from({ length: 40 }, (_, at) => manifest('Area', `a${at}`, { [`colour${'x'.repeat(200_000)}`]: at }));
  const { body, text } = await apply(areas);
  t.equal(body.errorsTotal, 40);
  t.ok(body.errors.length >= 1 && body.errors.length < 40);
  t.ok(text.length < 4 * 1024 ** 2, `${text.length} bytes`);
});

t.test('numbers, texts and truth values that were written as each other: what stands there and how to write it', async (t) => {
  const told = async (kind: string, spec: object, field: string): Promise<string> => {
    const { body } = await apply(manifest(kind, 'x', spec));
    const rows = (body.errors ?? [body]) as readonly Row[];
    return rows.find((row) => row.field === `spec.${field}`)?.error ?? '';
  };
  const alarm = { sourceKind: 'Unit', sourceName: 'u', conditionType: 'StateEquals', stateValue: 'Held' };
  t.equal(await told('AlarmDefinition', { ...alarm, threshold: 80 }, 'threshold'), 'spec.threshold must be a string; 80 is a number: write "80", in quotes');
  t.equal(await told('AlarmDefinition', { ...alarm, threshold: '12,5' }, 'threshold'), 'spec.threshold must be a decimal number as text; write "12.5"');
  t.equal(await told('AlarmDefinition', { ...alarm, priority: '3' }, 'priority'), 'spec.priority must be a number; "3" is a text: write 3, without quotes');
  t.equal(await told('AlarmDefinition', { ...alarm, priority: 'high' }, 'priority'), 'spec.priority must be a number; "high" is a text');
  t.equal(await told('AlarmDefinition', { ...alarm, enabled: 'yes' }, 'enabled'), 'spec.enabled must be a boolean; "yes" is a text: write true, without quotes');
  t.equal(await told('AlarmDefinition', { ...alarm, enabled: 'off' }, 'enabled'), 'spec.enabled must be a boolean; "off" is a text: write false, without quotes');
  t.equal(await told('AlarmDefinition', { ...alarm, enabled: null }, 'enabled'), 'spec.enabled must be a boolean; nothing stands there: leave the field out, or give it a value');
  t.equal(
    await told('AlarmDefinition', { ...alarm, severity: 'hihg' }, 'severity'),
    'spec.severity must be one of Low, Medium, High, Critical; "hihg" is none of them, the nearest is High',
  );
  t.equal(await told('Unit', { scanInterval: 100 }, 'scanInterval'), 'spec.scanInterval must be a string; 100 is a number: write its unit too, such as "100ms" or "100s"');
  t.match(await told('Unit', { scanInterval: '100' }, 'scanInterval'), /must be a duration such as 100ms, 30s or 1m30s; 100 is a number without its unit/);
  t.equal(await told('Unit', { capabilities: { mix: true } }, 'capabilities'), 'spec.capabilities must be an array; an object stands there: write its entries as a list');
  t.match(
    await told('IOModule', { protocol: 'modbus', channels: [{ address: 'coil:1', initial: [] }] }, 'channels[0].initial'),
    /must be a text, a number, or true or false; a list stands there/,
  );
});

t.test('what stands in a field that may be a secret is not repeated', async (t) => {
  const answer = await plant.request('POST', '/api/v1/auth/login', { body: { username: 'first', password: 4711 } });
  t.match(answer.body, { status: 400, field: 'password' });
  t.notMatch(answer.text, /4711/);
});
