/** A row of what apply answers. */
import type { Answered } from '../../client/typed.js';

export type Applied = Extract<Answered<'/api/v1/apply', 'post'>, readonly unknown[]>[number];

export type Named = Pick<Applied, 'kind' | 'namespace' | 'name'>;

export const namedOf = ({ kind, namespace, name }: Named): Named => ({ kind, namespace, name });

export function titleOf({ kind, namespace, name }: Named): string {
  return `${kind} ${name}${namespace === '' ? '' : ` (${namespace.replace(/^site-/, '')})`}`;
}
