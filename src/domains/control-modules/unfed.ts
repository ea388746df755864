/**
 * What of a template's logic reads nothing. It is loaded (a port that is fed by nothing stands at its default, decisions
 * 5.1 rule 2), but a comparison whose measured side got lost on the way always says the same, and nobody would see why.
 */
import { blockType } from '../../../runtime/catalog.js';
import type { ControlModuleTemplateSpec } from './kind.js';

type Logic = Pick<ControlModuleTemplateSpec, 'inputs' | 'blocks' | 'dataConnections' | 'variableBindings' | 'tags'>;

/** Inputs that lead to no port, and operands that nothing feeds; one sentence each. */
export function unfedOf({ inputs, blocks, dataConnections, variableBindings, tags }: Logic): string[] {
  const key = (...words: readonly string[]): string => words.join('.').toLowerCase();
  const bound = new Set(variableBindings.map(({ variable }) => key(variable)));
  const fed = new Set([
    ...dataConnections.map(({ destBlock, destPort }) => key(destBlock, destPort)),
    ...variableBindings.map(({ blockRef, portRef }) => key(blockRef, portRef)),
    ...tags.map(({ blockRef, portRef }) => key(blockRef, portRef)),
    ...blocks.flatMap(({ name, params }) => Object.keys(params).map((param) => key(name, param))),
  ]);
  const lost = inputs.filter(({ name }) => !bound.has(key(name))).map(({ name }) => `input ${name} leads to no port: bind it in variableBindings, or leave it out`);
  const idle = blocks.flatMap(({ name, type }) =>
    operandsOf(type)
      .filter((port) => !fed.has(key(name, port)))
      .map((port) => `${name}.${port} (${type}) is fed by nothing and stands at its default: connect it, bind an input or a tag to it, or give it a constant`),
  );
  return [...lost, ...idle];
}

/** Inputs that a block of the kind works on: those of open type that every one of them has. */
function operandsOf(type: string): readonly string[] {
  return (blockType(type)?.inputs ?? []).filter((port) => !port.extensible && (port.type === 'NUM' || port.type === 'ANY')).map(({ name }) => name);
}
