/** What would change of a resource, value by value, for people. */
import type { Applied } from './applied.js';
import { lineDifferences } from './line-diff.js';

type Change = NonNullable<Applied['changes']>[number];

/** A text of several lines is compared line by line. */
export function changeLines({ path, from, to }: Change): readonly string[] {
  if (typeof from === 'string' && typeof to === 'string' && (from.includes('\n') || to.includes('\n')))
    return [`    ${path}:`, ...lineDifferences(from, to).map((line) => `      ${line}`)];
  if (from === null) return typeof to === 'string' && to.includes('\n') ? [`  + ${path}:`, ...to.split('\n').map((line) => `      ${line}`)] : [`  + ${path}: ${wordOf(to)}`];
  return to === null ? [`  - ${path}: ${wordOf(from)}`] : [`  ~ ${path}: ${wordOf(from)} -> ${wordOf(to)}`];
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? (value === '' ? '""' : value) : JSON.stringify(value);
}
