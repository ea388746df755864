/** Whether people are still to be asked by a batch: by what is at work, or has not had its turn. Pure. */
import { BUILTINS } from '../../../runtime/language/builtins.js';
import { Phase, type PhaseSpec } from '../procedures/kind.js';
import type { ElementResource } from '../batches/tree/element-index.js';

const PROMPTING = new RegExp(`\\b(${[...BUILTINS.values()].flatMap(({ name, prompting }) => (prompting ? [name] : [])).join('|')})\\s*\\(`, 'i');

export function asksOf(elements: readonly ElementResource[]): boolean {
  return elements.some(({ kind, spec, status }) => kind === Phase.kind && status.endedAt === '' && (spec as PhaseSpec).steps.some((step) => PROMPTING.test(JSON.stringify(step))));
}
