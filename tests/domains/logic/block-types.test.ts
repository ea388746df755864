/** Composite block types over the real pipeline: nesting, parameters, cycles, deletion (contract 3, Logic transforms; decisions 1.6, 5.3). */
import t from 'tap';
import { FunctionBlockType, type FunctionBlockTypeSpec } from '../../../src/domains/logic/kind.js';
import type { Resource } from '../../../src/platform/store/resource.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const TYPES = '/api/v1/fbblocktypes';
const PROGRAMS = '/api/v1/sites/north/fbnetworks';
await engineer.post('/api/v1/sites', { name: 'north' });
await engineer.post('/api/v1/sites/north/units', { name: 'r1' });

/** IN times `factor`, by an inner block of another type or by MUL. */
function gain(name: string, inner = 'MUL') {
  const [input, param] = inner === 'MUL' ? ['IN1', 'IN2'] : ['IN', 'factor'];
  return {
    name,
    inputs: [{ name: 'IN', dataType: 'REAL' }],
    outputs: [{ name: 'OUT', dataType: 'REAL' }],
    params: [{ name: 'factor', dataType: 'REAL', defaultValue: '2' }],
    blocks: [{ name: 'inner', type: inner }],
    inputBindings: [{ port: 'IN', blockRef: 'inner', portRef: input }],
    outputBindings: [{ port: 'OUT', blockRef: 'inner', portRef: 'OUT' }],
    paramBindings: [{ param: 'factor', blockRef: 'inner', blockParam: param }],
  };
}

function program(blocks: readonly object[]) {
  return { unitRef: 'r1', scanInterval: '1s', blocks };
}

t.test('Decisions 1.6: types nest, take parameters, and are checked where they are used', async (t) => {
  t.match(await engineer.post(TYPES, gain('plain')), { status: 201 });
  t.match(await engineer.post(TYPES, gain('outer', 'plain')), { status: 201 });
  t.match((await engineer.get('/api/v1/blocktypes/outer')).body, { kind: 'composite', params: [{ name: 'factor', dataType: 'REAL', defaultValue: '2', required: false }] });
  const use = (params: object, name = 'p-use') => engineer.post(PROGRAMS, { metadata: { name }, spec: program([{ name: 'g', type: 'outer', params }]) });
  t.match(await use({ factor: 7, IN: 3 }), { status: 201 });
  t.match(await use({ factor: 'much' }, 'p2'), { status: 400, body: { field: /factor/ } });
  t.match(await use({ colour: 1 }, 'p2'), { status: 400, body: { field: /colour/ } });
  t.match(await engineer.post(TYPES, { ...gain('strict'), params: [{ name: 'factor', dataType: 'REAL', required: true }] }), { status: 201 });
  t.match(await engineer.post(PROGRAMS, { metadata: { name: 'p2' }, spec: program([{ name: 'g', type: 'strict' }]) }), { status: 400, body: { error: /factor is required/ } });
  const wired = {
    metadata: { name: 'p3' },
    spec: {
      ...program([
        { name: 'g', type: 'outer' },
        { name: 'n', type: 'NOT' },
      ]),
      connections: [{ sourceBlock: 'n', sourcePort: 'OUT', destBlock: 'g', destPort: 'IN' }],
    },
  };
  t.match(await engineer.post(PROGRAMS, wired), { status: 400, body: { error: /BOOL/ } }, 'the types of inner ports count');
});

t.test('Decisions 1.6: a type has no port, parameter or block twice, and its bindings lead somewhere', async (t) => {
  const wrong: [object, string | RegExp][] = [
    [
      {
        inputs: [
          { name: 'IN', dataType: 'REAL' },
          { name: 'in', dataType: 'REAL' },
        ],
      },
      'inputs[1].name',
    ],
    [
      {
        blocks: [
          { name: 'inner', type: 'MUL' },
          { name: 'INNER', type: 'MUL' },
        ],
      },
      /blocks/,
    ],
    [{ blocks: [{ name: 'inner', type: 'NOPE' }] }, /blocks/],
    [{ inputBindings: [{ port: 'X', blockRef: 'inner', portRef: 'IN1' }] }, 'inputBindings[0].port'],
    [{ inputBindings: [{ port: 'IN', blockRef: 'inner', portRef: 'IN99' }] }, /.+/],
    [{ outputBindings: [{ port: 'OUT', blockRef: 'gone', portRef: 'OUT' }] }, /.+/],
    [
      {
        outputBindings: [
          { port: 'OUT', blockRef: 'inner', portRef: 'OUT' },
          { port: 'OUT', blockRef: 'inner', portRef: 'OUT' },
        ],
      },
      'outputBindings[1].port',
    ],
    [{ paramBindings: [{ param: 'none', blockRef: 'inner', blockParam: 'IN2' }] }, 'paramBindings[0].param'],
    [{ paramBindings: [{ param: 'factor', blockRef: 'inner', blockParam: 'nothing' }] }, 'paramBindings[0].blockParam'],
    [{ paramBindings: [{ param: 'factor', blockRef: 'inner', blockParam: 'constructor' }] }, 'paramBindings[0].blockParam'],
    [
      {
        paramBindings: [
          { param: 'factor', blockRef: 'inner', blockParam: 'IN2' },
          { param: 'factor', blockRef: 'inner', blockParam: 'in2' },
        ],
      },
      'paramBindings[1].blockParam',
    ],
    [{ params: [{ name: 'factor', dataType: 'STRING' }] }, 'paramBindings[0].blockParam'],
    [{ params: [{ name: 'factor', dataType: 'REAL', defaultValue: 'much' }] }, 'params[0].defaultValue'],
    [{ inputs: [{ name: 'IN', dataType: 'REAL', defaultValue: '1e999' }] }, 'inputs[0].defaultValue'],
    [{ inputs: [{ name: 'IN', dataType: 'BOOL' }] }, /inputBindings/],
    [{ outputs: [{ name: 'OUT', dataType: 'BOOL' }] }, 'outputBindings[0].portRef'],
    [{ outputs: [{ name: 'in', dataType: 'REAL' }] }, 'outputs[0].name'],
    [
      {
        outputs: [
          { name: 'OUT', dataType: 'REAL' },
          { name: 'OTHER', dataType: 'REAL' },
        ],
      },
      'outputs[1]',
    ],
    [
      {
        inputBindings: [
          { port: 'IN', blockRef: 'inner', portRef: 'IN1' },
          { port: 'IN', blockRef: 'inner', portRef: 'in1' },
        ],
      },
      'inputBindings[1].portRef',
    ],
  ];
  for (const [change, field] of wrong) t.match(await engineer.post(TYPES, { ...gain('wrong'), ...change }), { status: 400, body: { field } }, JSON.stringify(change));
  for (const name of ['pid', 'to-real', 'limit']) {
    const answer = await engineer.post(TYPES, gain(name));
    if (name === 'to-real') t.match(answer, { status: 201 }, 'a built-in name is written with its underscore');
    else t.match(answer, { status: 409, body: { code: 'already_exists' } }, name);
  }
});

t.test('a type that a plant had before a release brought a built-in one of its name is what it was: held by who uses it, and changed as ever', async (t) => {
  const { name, ...spec } = gain('hold-last');
  t.match(await engineer.post(TYPES, { name, ...spec }), { status: 201 });
  const { spec: stored } = plant.store.get(FunctionBlockType, '', name) as Resource<FunctionBlockTypeSpec, Readonly<Record<string, never>>>;
  plant.store.apply({ puts: [{ kind: FunctionBlockType, site: '', name: 'limit', spec: stored }] }); // made when there was no LIMIT
  t.match(await engineer.post(PROGRAMS, { metadata: { name: 'of-limit' }, spec: program([{ name: 'g', type: 'limit' }]) }), { status: 201 });
  t.match(await engineer.delete(`${TYPES}/limit`), { status: 409, body: { code: 'has_dependents' } });
  t.match(await engineer.put(`${TYPES}/limit`, { ...spec, params: [{ name: 'factor', dataType: 'REAL', defaultValue: '3' }] }), { status: 200 });
});

t.test('Decisions 1.6: no type contains itself, directly, through two or through three', async (t) => {
  for (const [name, inner] of [
    ['ring-c', 'MUL'],
    ['ring-b', 'ring-c'],
    ['ring-a', 'ring-b'],
  ] as const)
    t.match(await engineer.post(TYPES, gain(name, inner)), { status: 201 });
  for (const [name, through] of [
    ['ring-a', 'ring-a'],
    ['ring-b', 'ring-a'],
    ['ring-c', 'ring-a'],
    ['ring-c', 'ring-b'],
  ] as const) {
    const { name: _name, ...body } = gain(name, through);
    t.match(await engineer.put(`${TYPES}/${name}`, body), { status: 400, body: { error: /contain itself/ } }, `${name} of ${through}`);
    const { name: _other, ...spec } = gain(name, through);
    t.match(
      await engineer.post('/api/v1/apply', { apiVersion: 'control.lineside.io/v1alpha1', kind: 'FunctionBlockType', metadata: { name }, spec }),
      { status: 400, body: { error: /contain itself/ } },
      `apply ${name} of ${through}`,
    );
  }
  t.match((await engineer.get(`${TYPES}/ring-c`)).body, { blocks: [{ type: 'MUL' }] }, 'nothing was stored');
});

t.test('Decisions 1.6: eight levels, counted from above and from below', async (t) => {
  t.match(await engineer.post(TYPES, gain('level-8')), { status: 201 });
  for (let level = 7; level >= 1; level -= 1) t.match(await engineer.post(TYPES, gain(`level-${level}`, `level-${level + 1}`)), { status: 201 }, `level ${level}`);
  t.match(await engineer.post(PROGRAMS, { metadata: { name: 'deep' }, spec: program([{ name: 'g', type: 'level-1', params: { factor: 3 } }]) }), { status: 201 });
  t.match(await engineer.post(TYPES, gain('level-0', 'level-1')), { status: 400, body: { error: /at most 8 deep/ } });
  const { name: _name, ...deeper } = gain('level-8', 'plain');
  t.match(await engineer.put(`${TYPES}/level-8`, deeper), { status: 400, body: { error: /at most 8 deep, and level-1 already uses level-8/ } });
});

t.test('LIMIT: types that use each other ten times each are refused before they are written out', async (t) => {
  const ten = (name: string, inner: string) => ({ ...gain(name, inner), blocks: Array.from({ length: 10 }, (_, n) => ({ name: n === 0 ? 'inner' : `more-${n}`, type: inner })) });
  const began = process.cpuUsage();
  const statuses: number[] = [];
  let inner = 'plain';
  for (let level = 1; level <= 7; level += 1) {
    const answer = await engineer.post(TYPES, ten(`bomb-${level}`, inner));
    statuses.push(answer.status);
    if (answer.status === 201) inner = `bomb-${level}`;
    else t.match(answer.body, { code: 'invalid_network', error: /more than 10000 blocks/ });
  }
  t.same(statuses, [201, 201, 201, 400, 400, 400, 400]);
  const { user, system } = process.cpuUsage(began);
  t.ok((user + system) / 1000 < 5000, 'in bounded processor time');
});

t.test('Decisions 1.2: a type in use cannot be deleted; the answer names who uses it', async (t) => {
  const used = async (type: string): Promise<unknown> => (await engineer.delete(`${TYPES}/${type}`)).body;
  await engineer.post(TYPES, gain('used'));
  await engineer.post(TYPES, gain('user', 'used'));
  await engineer.post('/api/v1/controlmoduletemplates', { name: 'tmpl', blocks: [{ name: 'g', type: 'used' }] });
  await engineer.post(PROGRAMS, { metadata: { name: 'prog' }, spec: program([{ name: 'g', type: 'used' }]) });
  const answer = await engineer.delete(`${TYPES}/used`);
  t.match(answer, { status: 409, body: { code: 'has_dependents' } });
  for (const name of ['user', 'tmpl', 'prog']) t.ok(answer.text.includes(`"${name}"`), `${name} is named`);
  t.match(await engineer.delete(`${TYPES}/user`), { status: 204 });
  t.match(await used('used'), { code: 'has_dependents' });
  t.match(await engineer.delete('/api/v1/controlmoduletemplates/tmpl'), { status: 204 });
  t.match(await used('used'), { code: 'has_dependents' });
  t.match(await engineer.delete(`${PROGRAMS}/prog`), { status: 204 });
  t.match(await engineer.delete(`${TYPES}/used`), { status: 204 });
  t.match(await engineer.get(`${TYPES}/used`), { status: 404 });
});

t.test('D-CAT-01: names of JavaScript objects are ordinary names of types, ports and parameters', async (t) => {
  for (const name of ['constructor', 'tostring', 'valueof']) {
    t.match(await engineer.get(`/api/v1/blocktypes/${name}`), { status: 404 });
    t.match(await engineer.post(TYPES, gain(name)), { status: 201 }, name);
    t.match(await engineer.get(`/api/v1/blocktypes/${name}`), { status: 200, body: { kind: 'composite' } });
  }
  for (const name of ['__proto__', 'constructor', 'hasOwnProperty']) {
    const type = {
      ...gain('awkward'),
      name: `awkward-${name.replaceAll('_', '').toLowerCase()}`,
      inputs: [{ name, dataType: 'REAL' }],
      params: [{ name: `${name}_`, dataType: 'REAL', defaultValue: '2' }],
      inputBindings: [{ port: name, blockRef: 'inner', portRef: 'IN1' }],
      paramBindings: [{ param: `${name}_`, blockRef: 'inner', blockParam: 'IN2' }],
    };
    t.match(await engineer.post(TYPES, type), { status: 201 }, name);
    const spec = JSON.parse(`{"unitRef": "r1", "scanInterval": "1s", "blocks": [{"name": "b", "type": "${type.name}", "params": {"${name}": 4, "${name}_": 3}}]}`);
    const { status, body } = await engineer.post(PROGRAMS, { metadata: { name: `uses-${type.name}` }, spec });
    t.equal(status, 201, name);
    const params = new Map(Object.entries(body.blocks[0].params));
    t.same([params.size, params.get(name), params.get(`${name}_`)], [2, 4, 3], 'what was given is kept');
  }
});

t.test('ST-12, LOGIC-03: a type is written as structured text, and another uses it by its name', async (t) => {
  const text = 'PROGRAM p VAR_INPUT a, b : REAL; END_VAR VAR_OUTPUT y : REAL; END_VAR y := a + b; END_PROGRAM';
  t.match(await engineer.post(TYPES, { name: 'sum-of-two', structuredText: text }), {
    status: 201,
    body: { inputs: [{ name: 'a' }, { name: 'b' }], outputs: [{ name: 'y' }], blocks: [{ type: 'ADD' }] },
  });
  const user = 'PROGRAM p VAR_INPUT a : REAL; END_VAR VAR_OUTPUT y : REAL; END_VAR y := SUM_OF_TWO(a, a); END_PROGRAM';
  t.match(await engineer.post(TYPES, { name: 'twice', structuredText: user }), { status: 201, body: { blocks: [{ type: 'sum-of-two' }] } });
  t.match(await engineer.post(TYPES, { name: 'selfish', structuredText: user.replaceAll('SUM_OF_TWO', 'SELFISH') }), { status: 422, body: { diagnostics: [{ line: 1 }] } });
  t.match(await engineer.post(TYPES, { name: 'looped', structuredText: 'PROGRAM p\n  EXIT;\nEND_PROGRAM' }), { status: 422, body: { diagnostics: [{ line: 2, column: 3 }] } });
});
