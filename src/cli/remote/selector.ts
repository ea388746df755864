/** Selectors of labels as `-l` takes them. */
import { parseSelector, type Selector } from '../../platform/store/selector.js';
import { shortText } from '../../platform/base/short-text.js';
import { usage } from './outcome.js';

const TEXT_TOLD_MAX = 200;

/** @throws CommandError naming the part that cannot be read. */
export function readSelector(text: string): Selector {
  return parseSelector(text, (what) => usage(`-l ${shortText(text, TEXT_TOLD_MAX)}: ${what}`));
}
