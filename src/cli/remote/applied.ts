/** A row of what apply answers. */
import type { Answered } from '../../client/typed.js';

export type Applied = Extract<Answered<'/api/v1/apply', 'post'>, readonly unknown[]>[number];

export type Named = Pick<Applied, 'kind' | 'namespace' | 'name'>;

export const namedOf = ({ kind, namespace, name }: Named): Named => ({ kind, namespace, name });

export function titleOf({ kind, namespace, name }: Named): string {
  return `${kind} ${name}${namespace === '' ? '' : ` (${namespace.replace(/^site-/, '')})`}`;
}

/** What is told of it; a text that begins with its name is not given that twice. */
export function toldOf(named: Named, text: string): string {
  const title = titleOf(named);
  const own = `${named.kind} ${named.name} `;
  return text.startsWith(own) ? `${title} ${text.slice(own.length)}` : `${title}: ${text}`;
}
