/** Composite types written out when a network is loaded (decisions 5.3): what the operator sees is made of plain blocks. */
import t from 'tap';
import { validateNetwork } from '../../../runtime/catalog.js';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import type { BlockSpec, CompositeType } from '../../../runtime/vocabulary/network.js';
import { network, unitPlan, wires } from '../network/plans.js';
import { at } from '../../support/at.js';

/** OUT = factor * IN + offset, delayed when ON; parameters and an input go to several inner blocks. */
const LINE: CompositeType = {
  name: 'line',
  inputs: [{ name: 'IN', dataType: 'REAL', defaultValue: '1' }],
  outputs: [
    { name: 'OUT', dataType: 'REAL' },
    { name: 'HIGH', dataType: 'BOOL' },
  ],
  params: [
    { name: 'factor', dataType: 'REAL', defaultValue: '2' },
    { name: 'limit', dataType: 'REAL', required: true },
    { name: 'delay', dataType: 'TIME', defaultValue: 'T#200ms' },
  ],
  blocks: [
    { name: 'times', type: 'MUL' },
    { name: 'above', type: 'GT' },
    { name: 'late', type: 'TON' },
  ],
  connections: wires('times.OUT > above.IN1', 'above.OUT > late.IN'),
  inputBindings: [{ port: 'IN', blockRef: 'times', portRef: 'IN1' }],
  outputBindings: [
    { port: 'OUT', blockRef: 'times', portRef: 'OUT' },
    { port: 'HIGH', blockRef: 'late', portRef: 'Q' },
  ],
  paramBindings: [
    { param: 'factor', blockRef: 'times', blockParam: 'IN2' },
    { param: 'limit', blockRef: 'above', blockParam: 'IN2' },
    { param: 'delay', blockRef: 'late', blockParam: 'PT' },
  ],
};

/** Two lines one behind the other, `gain` for both. */
const PAIR: CompositeType = {
  name: 'pair',
  inputs: [{ name: 'IN', dataType: 'REAL' }],
  outputs: [
    { name: 'OUT', dataType: 'REAL' },
    { name: 'HIGH', dataType: 'BOOL' },
  ],
  params: [{ name: 'gain', dataType: 'REAL', defaultValue: '3' }],
  blocks: [
    { name: 'first', type: 'line', params: { limit: 10 } },
    { name: 'second', type: 'LINE'.toLowerCase(), params: { limit: 50, factor: 9, delay: 'T#100ms' } },
  ],
  connections: wires('first.OUT > second.IN'),
  inputBindings: [{ port: 'IN', blockRef: 'first', portRef: 'IN' }],
  outputBindings: [
    { port: 'OUT', blockRef: 'second', portRef: 'OUT' },
    { port: 'HIGH', blockRef: 'second', portRef: 'HIGH' },
  ],
  paramBindings: [
    { param: 'gain', blockRef: 'first', blockParam: 'factor' },
    { param: 'gain', blockRef: 'second', blockParam: 'factor' },
  ],
};

function loaded(blocks: readonly BlockSpec[], connections = wires()): NetworkSet {
  const composites = [LINE, PAIR];
  const set = new NetworkSet(unitPlan({ composites, networks: [network({ name: 'n', blocks, connections })] }), { texts: new TextTable(), clockMs: () => 0 });
  t.equal(at(set.reports(), 0).message, '');
  return set;
}

function outputs(set: NetworkSet): Record<string, unknown> {
  return Object.fromEntries((set.inspect('n')?.blocks ?? []).flatMap(({ name, outputs }) => Object.entries(outputs).map(([port, { value }]) => [`${name}.${port}`, value])));
}

t.test('Decisions 5.3: types inside types take their parameters through every level, and their blocks run in data-flow order', async (t) => {
  const set = loaded(
    [
      { name: 'after', type: 'MOVE' },
      { name: 'p', type: 'pair', params: { GAIN: 4, in: 5 } },
      { name: 'single', type: 'line', params: { limit: 1 } },
    ],
    wires('p.OUT > after.IN'),
  );
  set.scan(1);
  set.scan(1);
  t.match(outputs(set), {
    'p/first/times.OUT': 20,
    'p/second/times.OUT': 80,
    'p/first/late.ET': 'T#100ms',
    'p/second/late.Q': true,
    'after.OUT': 80,
    'single/times.OUT': 2,
    'single/above.OUT': true,
    'single/late.Q': false,
  });
  t.strictSame(set.inspect('n')?.executionOrder, [
    'p/first/times',
    'p/first/above',
    'p/first/late',
    'p/second/times',
    'after',
    'p/second/above',
    'p/second/late',
    'single/times',
    'single/above',
    'single/late',
  ]);
});

t.test('Decisions 5.3: an instance is judged at its own place, whatever lies inside it', async (t) => {
  const problems = (blocks: readonly BlockSpec[], connections = wires(), composites: readonly CompositeType[] = [LINE, PAIR]) =>
    validateNetwork(blocks, connections, [], [], composites);
  t.match(problems([{ name: 'a', type: 'line' }]), [{ path: 'blocks[0].params.limit', message: /limit is required/ }]);
  t.match(problems([{ name: 'a', type: 'line', params: { limit: 'high' } }]), [{ path: 'blocks[0].params.limit' }]);
  t.match(problems([{ name: 'a', type: 'line', params: { limit: 1, colour: 2 } }]), [{ path: 'blocks[0].params.colour' }]);
  t.match(
    problems(
      [
        { name: 'a', type: 'pair' },
        { name: 'b', type: 'NOT' },
      ],
      wires('b.OUT > a.IN'),
    ),
    [{ path: 'connections[0]', message: /BOOL/ }],
  );
  t.match(
    problems(
      [
        { name: 'a', type: 'pair' },
        { name: 'b', type: 'LAG' },
      ],
      wires('a.LOW > b.IN'),
    ),
    [{ path: 'connections[0].sourcePort' }],
  );
  const cycle = (name: string, inner: string): CompositeType => ({
    ...LINE,
    name,
    inputs: [],
    outputs: [],
    params: [],
    blocks: [{ name: 'inner', type: inner }],
    connections: [],
    inputBindings: [],
    outputBindings: [],
    paramBindings: [],
  });
  for (const [types, start] of [
    [[cycle('one', 'one')], 'one'],
    [[cycle('one', 'two'), cycle('two', 'one')], 'two'],
    [[cycle('one', 'two'), cycle('two', 'three'), cycle('three', 'one')], 'one'],
  ] as const)
    t.match(problems([{ name: 'a', type: start }], wires(), types), [{ path: 'blocks[0].type', message: /contains itself/ }], `${types.length} types`);
});
