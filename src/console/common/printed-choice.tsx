/** On paper the filters are gone: what was chosen by them is told. */
import { FactList } from './fact-list.js';
import { printing } from './printing.js';

export function PrintedChoice({ facts }: { readonly facts: readonly (readonly [label: string, value: string])[] }) {
  return printing.value ? <FactList facts={facts} /> : null;
}
