/** Networks for the tests of the language: the demonstration plant, the catalog, and random networks of all its types. */
import { readFileSync } from 'node:fs';
import { BLOCK_TYPE_NAMES, blockType } from '../../../runtime/catalog.js';
import { type BlockCatalog, genericType } from '../../../runtime/language/block-catalog.js';
import type { BlockSpec, CompositeType, Connection, ParamValue } from '../../../runtime/vocabulary/network.js';
import fc from '../../support/fuzz.js';

export interface Document {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly structuredText?: string; readonly scanInterval: string; readonly blocks: BlockSpec[]; readonly dataConnections: Connection[] };
}

/** Templates and composite types of the demonstration plant. */
export const DOCUMENTS: readonly Document[] = JSON.parse(readFileSync(new URL('../../../demo/30-control-templates.json', import.meta.url), 'utf8'));
export const COMPOSITES: readonly CompositeType[] = DOCUMENTS.filter(({ kind }) => kind === 'FunctionBlockType').map(({ metadata, spec }) => ({
  ...(spec as unknown as CompositeType),
  name: metadata.name,
}));

/** The built-in types and the composite ones of the demonstration plant. */
export const catalog: BlockCatalog = (type) => {
  const composite = COMPOSITES.find(({ name }) => name === type);
  if (!composite) return blockType(type);
  const port = ({ name, dataType }: { name: string; dataType: string }) => ({ name, type: dataType });
  return { inputs: composite.inputs.map(port), outputs: composite.outputs.map(port), params: composite.params.map(port) };
};

/** The parts of a network that the text carries, in one order. */
export function canonical(blocks: readonly BlockSpec[], connections: readonly Connection[]): unknown {
  return {
    blocks: blocks.map(({ name, type, params = {}, comment = '' }) => ({
      name,
      type,
      params: Object.fromEntries(Object.entries(params).toSorted(([a], [b]) => (a < b ? -1 : 1))),
      comment,
    })),
    connections: connections.map((row) => `${row.sourceBlock}.${row.sourcePort}>${row.destBlock}.${row.destPort}`).toSorted(),
  };
}

/** Texts with everything that has a meaning in structured text. */
export const aText = fc.string({ unit: fc.constantFrom('a', 'B', '7', ' ', "'", '$', '*', ')', '(', '/', '-', 'ä', '€', '\t', 'T#1s', ':') });

export function aParam(type: string): fc.Arbitrary<ParamValue> {
  const real = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0));
  const time = fc.oneof(fc.constantFrom('T#5s', 'T#1m30s', 'T#90s', '5s', 'T#0s', ''));
  switch (type) {
    case 'BOOL':
      return fc.boolean();
    case 'INT':
      return fc.oneof(fc.maxSafeInteger(), fc.constantFrom('9223372036854775807', '-9007199254740993'));
    case 'REAL':
      return fc.oneof(real, fc.integer(), fc.constantFrom('', '10', '2.50'));
    case 'TIME':
      return time;
    case 'STRING':
      return aText;
    case 'NUM':
      return fc.oneof(real, fc.maxSafeInteger(), fc.constantFrom('2.0', '-0.0', '2.50'));
    default:
      return fc.oneof(fc.boolean(), real, fc.maxSafeInteger(), aText, time, fc.constantFrom('REAL#5.0', 'REAL#2.5', 'REAL#-1.0', 'real#1'));
  }
}

export const aBlockName = fc.oneof(
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/),
  fc.constantFrom('if', 'of', 'ai', 'constructor', '__proto__', 'to_real_1', 'v-1', '9x', 'b_v_1', 'Ai'),
);

/** Every type that a network may name. */
export const TYPE_NAMES: readonly string[] = [...BLOCK_TYPE_NAMES, ...COMPOSITES.map((type) => type.name)];

/** Networks of every catalog block with parameters, constants, comments and connections between ports of equal type. */
export const aNetwork = fc
  .uniqueArray(aBlockName, { maxLength: 6 })
  .chain((names) => fc.tuple(...names.map((name) => fc.constantFrom(...TYPE_NAMES).chain((type) => aBlock(name, type)))))
  .chain((blocks) => aWiring(blocks).map((connections) => ({ blocks, connections })));

function aBlock(name: string, type: string): fc.Arbitrary<BlockSpec> {
  const ports = [...(catalog(type)?.params ?? []), ...(catalog(type)?.inputs ?? [])];
  const params = fc.tuple(
    ...ports.map((port) =>
      fc.option(
        aParam(port.type).map((value) => [port.name, value] as const),
        { nil: undefined, freq: 2 },
      ),
    ),
  );
  const comment = fc.oneof(
    fc.constant(''),
    fc.array(aText, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n')),
  );
  return fc
    .tuple(params, comment)
    .map(([given, text]) => ({ name, type, params: Object.fromEntries(given.filter((entry) => entry !== undefined)), ...(text !== '' && { comment: text }) }));
}

function aWiring(blocks: readonly BlockSpec[]): fc.Arbitrary<Connection[]> {
  const sources = blocks.flatMap(({ name, type }) => (catalog(type)?.outputs ?? []).map((port) => ({ name, port })));
  const fits = (from: string, to: string): boolean =>
    from === to || from === 'ANY' || to === 'ANY' || (from === 'NUM' ? to === 'INT' || to === 'REAL' : to === 'NUM' && (from === 'INT' || from === 'REAL'));
  const inputs = blocks.flatMap(({ name, type }) => (catalog(type)?.inputs ?? []).filter(({ constant }) => !constant).map((port) => ({ name, port })));
  const wires = inputs.map(({ name, port }) => {
    const fitting = sources.filter((source) => fits(genericType(source.port.type), genericType(port.type)));
    if (fitting.length === 0) return fc.constant(undefined);
    return fc.option(
      fc.constantFrom(...fitting).map((source): Connection => ({ sourceBlock: source.name, sourcePort: source.port.name, destBlock: name, destPort: port.name })),
      { nil: undefined },
    );
  });
  return fc.tuple(...wires).map((list) => list.filter((wire) => wire !== undefined));
}

/** Networks around one block of the type: every one of its ports may be fed, and every output read, by the others. */
export function aNetworkWith(type: string): fc.Arbitrary<{ readonly blocks: readonly BlockSpec[]; readonly connections: readonly Connection[] }> {
  const others = ['NOT', 'TO_INT', 'LAG', 'TON', 'PID', type];
  return fc.tuple(aBlock('subject', type), ...others.map((other, n) => aBlock(`o${n}`, other))).chain((blocks) => aWiring(blocks).map((connections) => ({ blocks, connections })));
}
