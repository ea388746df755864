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

/** Characters. A key of a label may have 253 before its slash, and 63 behind it. */
const SELECTOR_MAX = 1000;

/** @throws what `wrong` makes of a sentence that names the part that cannot be read and says how it is given. */
export function parseSelector(text: string, wrong: (what: string) => Error): Selector {
  const refuse = (what: string): Error => wrong(`${what}; give key=value, key==value or key!=value, several with commas between them`);
  if (text.length > SELECTOR_MAX) throw wrong(`it has ${text.length} characters, and a selector has at most ${SELECTOR_MAX}: choose by fewer labels`);
  const requirements = partsOf(text).map((part) => readRequirement(part.trim(), refuse));
  return {
    isPositive: requirements.some(({ isEqual }) => isEqual),
    matches: (labels = {}) => requirements.every(({ key, value, isEqual }) => (Object.hasOwn(labels, key) && labels[key] === value) === isEqual),
  };
}

/** Between commas; those of a set in brackets are its own. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  for (let comma = text.indexOf(','); comma >= 0; comma = text.indexOf(',', comma + 1)) {
    const closing = text.indexOf(')', comma);
    const opening = text.indexOf('(', comma);
    if (closing >= 0 && (opening < 0 || closing < opening)) continue;
    parts.push(text.slice(from, comma));
    from = comma + 1;
  }
  return [...parts, text.slice(from)];
}

/** The first `=`, with what stands beside it; '' where there is none. */
function splitAtOperator(part: string): readonly [key: string, operator: '!=' | '=' | '', value: string] {
  const at = part.indexOf('=');
  if (at < 0) return [part, '', ''];
  const isNot = part[at - 1] === '!';
  return [part.slice(0, isNot ? at - 1 : at).trim(), isNot ? '!=' : '=', part.slice(part[at + 1] === '=' && !isNot ? at + 2 : at + 1).trim()];
}

function readRequirement(part: string, wrong: (what: string) => Error): Requirement {
  if (part === '') throw wrong('a part is empty');
  const [key, operator, value] = splitAtOperator(part);
  if (operator === '') throw wrong(/\s(in|notin)\s*\(|^!/.test(part) ? `${part} is a set or the lack of a label, which is not known here` : `${part} has no =`);
  if (readLabelKey(key) === null) throw wrong(key === '' ? `${part} names no label` : `${key} of ${part} can be no key of a label`);
  if (!isLabelValue(value)) throw wrong(`${value} of ${part} can be no value of a label`);
  return { key, value, isEqual: operator !== '!=' };
}
