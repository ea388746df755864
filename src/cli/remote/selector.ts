/** Selectors of labels as `-l` takes them. */
import { parseSelector, type Selector } from '../../platform/store/selector.js';
import { usage } from './outcome.js';

/** @throws CommandError naming the part that cannot be read. */
export function readSelector(text: string): Selector {
  return parseSelector(text, (what) => usage(`-l ${text}: ${what}`));
}
