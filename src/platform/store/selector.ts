/**
 * Selectors of labels: `plant=brewery`, `plant==brewery`, `stage!=trial`, several with commas between them, which all must hold. The syntax is
 * that of Kubernetes; its sets (`in`, `notin`) are not known here.
 */
import { isLabelValue, readLabelKey } from './envelope.js';

type Labels = Readonly<Record<string, string>>;

interface Requirement {
  readonly key: string;
  readonly value: string;
  /** False of `!=`, which holds of what has no such label as well. */
  readonly isEqual: boolean;
}

export interface Selector {
  /** Whether some label must be there: one that only excludes chooses what nobody has labelled. */
  readonly isPositive: boolean;
  matches(labels: Labels | undefined): boolean;
}

/** @throws what `wrong` makes of a sentence that names the part that cannot be read and says how it is given. */
export function parseSelector(text: string, wrong: (what: string) => Error): Selector {
  const refuse = (what: string): Error => wrong(`${what}; give key=value, key==value or key!=value, several with commas between them`);
  const requirements = text.split(/,(?![^(]*\))/).map((part) => readRequirement(part.trim(), refuse));
  return {
    isPositive: requirements.some(({ isEqual }) => isEqual),
    matches: (labels = {}) => requirements.every(({ key, value, isEqual }) => (Object.hasOwn(labels, key) && labels[key] === value) === isEqual),
  };
}

function readRequirement(part: string, wrong: (what: string) => Error): Requirement {
  if (part === '') throw wrong('a part is empty');
  const [, key = '', operator = '', value = ''] = /^(.*?)\s*(!=|==|=)\s*(.*)$/s.exec(part) ?? [];
  if (operator === '') throw wrong(/\s(in|notin)\s*\(|^!/.test(part) ? `${part} is a set or the lack of a label, which is not known here` : `${part} has no =`);
  if (readLabelKey(key) === null) throw wrong(key === '' ? `${part} names no label` : `${key} of ${part} can be no key of a label`);
  if (!isLabelValue(value)) throw wrong(`${value} of ${part} can be no value of a label`);
  return { key, value, isEqual: operator !== '!=' };
}
