/** Composite block types as the runtime catalog takes them, and the checks of a network against both (decisions 5.1 rule 11). */
import { blockType, portLookup, type Problem, validateNetwork } from '../../../runtime/catalog.js';
import type { BlockCatalog } from '../../../runtime/language/block-catalog.js';
import { type LoweredNetwork, lowerProgram } from '../../../runtime/language/lower.js';
import { iecType } from '../../../runtime/vocabulary/data-types.js';
import type { BlockSpec, CompositeType, Connection, NetworkVariable, VariableBinding } from '../../../runtime/vocabulary/network.js';
import { forAll, invalid, Refusal, type RefusalContext, refuseAll } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { FunctionBlockType, type FunctionBlockTypeSpec } from './kind.js';

export function compositeOf(name: string, { structuredText: _text, ...spec }: FunctionBlockTypeSpec): CompositeType {
  return { name, ...spec };
}

export function compositesOf(read: StoreReader): CompositeType[] {
  return read.list(FunctionBlockType, '').map(({ metadata, spec }) => compositeOf(metadata.name, spec));
}

export interface CheckedNetwork {
  readonly blocks: readonly BlockSpec[];
  readonly connections: readonly Connection[];
  readonly variables: readonly NetworkVariable[];
  readonly variableBindings: readonly VariableBinding[];
}

/** A tag as it binds to a port. */
export interface PortTag {
  readonly name: string;
  readonly dataType: string;
  readonly accessLevel: 'read' | 'readwrite';
  readonly blockRef: string;
  readonly portRef: string;
}

/** @throws Refusal 400 naming the first thing that would keep the network from being loaded; `place` renames its path. */
export function checkNetwork(network: CheckedNetwork, composites: readonly CompositeType[], tags: readonly PortTag[] = [], place: (path: string) => string = (path) => path): void {
  const bound = tags.flatMap((tag) => (tag.blockRef === '' ? [] : ([{ block: tag.blockRef, port: tag.portRef, type: iecType(tag.dataType) ?? 'REAL' }] as const)));
  const problems = validateNetwork(network.blocks, network.connections, network.variables, network.variableBindings, composites, { bound });
  refuseAll(problems.map((problem, at) => refusalOf(problem, at === 0 ? problems : [], place)));
  checkPorts(network, composites, tags);
}

function refusalOf(one: Problem, problems: readonly Problem[], place: (path: string) => string): Refusal {
  if (problems.length === 0) return invalid('invalid_network', place(one.path), one.message);
  return invalid('invalid_network', place(one.path), one.message, { problems: problems.map((problem) => ({ field: place(problem.path), message: problem.message })) });
}

/** A tag binds to an existing port of its own type; a writable one to an input that nothing else feeds, or to an output (decisions 1.6). */
function checkPorts(network: CheckedNetwork, composites: readonly CompositeType[], tags: readonly PortTag[]): void {
  const port = portLookup(network, composites);
  forAll(tags, (tag, index) => {
    if (tag.blockRef === '') return;
    const field = `tags[${index}].portRef`;
    const found = port(tag.blockRef, tag.portRef);
    if (!found) throw invalid('invalid_field', field, `tag ${tag.name} names port ${tag.blockRef}.${tag.portRef}, which does not exist`);
    const type = iecType(tag.dataType);
    if (found.type !== type)
      throw invalid('invalid_field', `tags[${index}].dataType`, `tag ${tag.name} is ${tag.dataType}, but port ${tag.blockRef}.${tag.portRef} is ${found.type}`);
    if (tag.accessLevel === 'readwrite' && found.fed)
      throw invalid('invalid_field', `tags[${index}].accessLevel`, `tag ${tag.name} cannot be written: port ${tag.blockRef}.${tag.portRef} is connected`);
  });
}

/** Ports and parameters of built-in and composite types, as structured text needs them. */
export function blockCatalog(composites: readonly CompositeType[]): BlockCatalog {
  const known = new Map(composites.map((type) => [type.name, type]));
  return (name) => {
    const builtin = blockType(name);
    if (builtin) return builtin;
    const composite = known.get(name);
    const typed = ({ name: port, dataType }: { readonly name: string; readonly dataType: string }) => ({ name: port, type: iecType(dataType) ?? 'ANY' });
    return (
      composite && {
        inputs: composite.inputs.map(typed),
        outputs: composite.outputs.map(typed),
        params: composite.params.map((param) => ({ ...typed(param), required: param.required ?? false })),
      }
    );
  };
}

/** @throws Refusal 422 with located diagnostics for text outside the dataflow subset (contract 3, Logic transforms). */
export function compileText(text: string, composites: readonly CompositeType[], more: RefusalContext = {}): LoweredNetwork {
  const network = lowerProgram(text, blockCatalog(composites));
  const errors = network.diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  const diagnostics = [...errors].sort((a, b) => a.line - b.line || a.column - b.column).map(({ line, column, message }) => ({ line, column, message }));
  const [first] = diagnostics;
  if (!first) return network;
  throw new Refusal('unprocessable', `line ${first.line}: ${first.message}`, { code: 'unprocessable', diagnostics, ...more });
}
