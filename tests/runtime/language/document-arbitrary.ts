/** Documents as a careless or hostile client might send them: networks and charts, half right. */
import { BLOCK_TYPE_NAMES, blockType } from '../../../runtime/catalog.js';
import type { ProceduralChart } from '../../../runtime/vocabulary/chart.js';
import type { BlockSpec, Connection, ParamValue } from '../../../runtime/vocabulary/network.js';
import fc from '../../support/fuzz.js';
import { aTokenSoup, AWKWARD_NAMES } from './arbitrary.js';
import { at as elementAt } from '../../support/at.js';

/** Names of ports, awkward names, and anything. */
export const aWord = fc.oneof(fc.constantFrom('a', 'b', 'A', 'IN', 'IN1', 'OUT', 'PV', 'x/y', '', ...AWKWARD_NAMES), fc.string({ maxLength: 6 }));
const aValue = fc.oneof(
  fc.constantFrom<ParamValue>('', 'T#5s', '-1', '1e999', '9'.repeat(400), 1e308, -1e308, 2 ** 53, -0, 0.1, true, 'reverse', '0,1', '0,0', 'NaN'),
  fc.string({ maxLength: 8 }),
  fc.integer(),
);
const aDictionary = fc.dictionary(aWord, aValue, { maxKeys: 4 });
const aType = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...BLOCK_TYPE_NAMES) }, { weight: 1, arbitrary: fc.oneof(fc.constantFrom('box', 'ring'), aWord) });

/** Parameters of a block: some of its own ports and parameters, some of nobody. */
const aBlockDocument = fc.tuple(aWord, aType, aDictionary, fc.array(fc.tuple(fc.nat(30), aValue), { maxLength: 6 })).map(([name, type, strange, own]): BlockSpec => {
  const ports = [...(blockType(type)?.params ?? []), ...(blockType(type)?.inputs ?? [])];
  const named = ports.length === 0 ? [] : own.map(([at, value]) => [elementAt(ports, at % ports.length).name, value] as const);
  return { name, type, params: { ...strange, ...Object.fromEntries(named) } };
});

/** What might be sent as a network; `wires` are made connections by `connectionsOf`. */
export const aNetworkDocument = fc.record({
  blocks: fc.array(aBlockDocument, { maxLength: 6 }),
  wires: fc.array(fc.tuple(fc.nat(7), fc.nat(9), fc.nat(7), fc.nat(9), aWord), { maxLength: 8 }),
  variables: fc.array(fc.record({ name: aWord, dataType: fc.oneof(fc.constantFrom('REAL', 'Boolean', 'TIME'), aWord), direction: fc.constantFrom('input', 'output', 'local') }), {
    maxLength: 3,
  }),
  variableBindings: fc.array(fc.record({ variable: aWord, blockRef: aWord, portRef: aWord }), { maxLength: 3 }),
});

/** Mostly ends that exist, so that networks also load. */
export function connectionsOf(blocks: readonly BlockSpec[], wires: readonly (readonly [number, number, number, number, string])[]): Connection[] {
  const end = (block: number, port: number, list: 'inputs' | 'outputs', other: string): readonly [string, string] => {
    const spec = blocks[block];
    const ports = spec ? (blockType(spec.type)?.[list] ?? []) : [];
    return [spec?.name ?? other, ports[port % Math.max(ports.length, 1)]?.name ?? other];
  };
  return wires.map(([from, output, to, input, other]) => {
    const [sourceBlock, sourcePort] = end(from, output, 'outputs', other);
    const [destBlock, destPort] = end(to, input, 'inputs', other);
    return { sourceBlock, sourcePort, destBlock, destPort };
  });
}

export const aStepName = fc.oneof(fc.constantFrom('a', 'b', 'A', 'c', ...AWKWARD_NAMES), aWord);
const aCondition = fc.oneof(fc.constantFrom('', 'TRUE', 'a.T > T#5s', 'a.result > 1', "READ('signal:x')", "READ('v.sp') = 1", 'constructor > 1'), aTokenSoup);
/** Transitions and divergences between steps that may or may not exist. */
export const aShape = {
  transitions: fc.array(fc.record({ from: aStepName, to: aStepName, conditionST: aCondition }), { maxLength: 5 }),
  divergences: fc.array(
    fc.record({
      name: aStepName,
      type: fc.constantFrom('SimultaneousDiverge', 'SimultaneousConverge', 'SelectionDiverge', 'SelectionConverge', 'constructor') as fc.Arbitrary<'SimultaneousDiverge'>,
      branches: fc.array(aStepName, { maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
};

/** A phase chart without a fault: a way through steps of awkward names, ways back, and conditions of every kind. */
export const aSoundPhase = fc
  .record({
    names: fc.uniqueArray(fc.constantFrom('a', 'b', 'A', 'c', ...AWKWARD_NAMES), { minLength: 2, maxLength: 6 }),
    actions: fc.infiniteStream(fc.constantFrom('', 'x := x + 0.5; y := x > 3.0;', "WRITE('v.sp', 1.5);")),
    conditions: fc.infiniteStream(fc.constantFrom('TRUE', 'STEP.T > T#5s', 'x > 1.0 AND NOT y', 'STEP.T > T#1s OR y')),
    back: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 3 }),
  })
  .map(({ names, actions, conditions, back }) => {
    const ways = [
      ...names.slice(1).map((to, at) => [elementAt(names, at), to] as const),
      ...back.map(([from, to]) => [elementAt(names, 1 + (from % (names.length - 1))), elementAt(names, to % names.length)] as const),
    ];
    return {
      steps: names.map((name, at) => ({ name, initial: at === 0, actionST: at === 0 ? 'x := 0.0; y := FALSE;' : actions.next().value })),
      transitions: ways.map(([from, to]) => ({ from, to, conditionST: conditions.next().value.replace('STEP', from) })),
    };
  });

/** What might be sent as the chart of an operation, a unit procedure, a procedure or a recipe. */
export const { aProceduralChart } = fc.letrec<{ aProceduralChart: ProceduralChart }>((tie) => ({
  aProceduralChart: fc.record({
    steps: fc.array(
      fc.record(
        {
          name: aStepName,
          initial: fc.boolean(),
          stepLevel: fc.constantFrom('UnitProcedure', 'Operation', 'Phase', 'constructor') as fc.Arbitrary<'Phase'>,
          templateRef: aWord,
          subChart: fc.option(tie('aProceduralChart'), { nil: undefined, maxDepth: 3 }),
          roleMap: fc.dictionary(aWord, aWord, { maxKeys: 2 }),
          parameterBindings: fc.array(fc.record({ name: aWord, from: fc.oneof(aWord, fc.constantFrom('a.result', '.', 'a.')), value: fc.option(aWord, { nil: undefined }) }), {
            maxLength: 2,
          }),
        },
        { requiredKeys: ['name'] },
      ),
      { maxLength: 4 },
    ) as fc.Arbitrary<NonNullable<ProceduralChart['steps']>>,
    ...aShape,
  }),
}));
