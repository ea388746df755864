/** What the gateway says of a command before it is sent (preflight), a sentence for each row. */
import type { PreflightCheck } from '../data/to-do.js';
import { word } from '../common/strings.js';
import { toldText, type Told } from './told-words.js';

export type CheckRow = Pick<PreflightCheck, 'message' | 'told'>;

export function checkText(row: CheckRow): string {
  return checkTexts([row])[0] ?? '';
}

/** The devices that stand commanded are told in one sentence, in the place of the first. */
export function checkTexts(rows: readonly CheckRow[]): string[] {
  const commanded = rows.flatMap(({ told }) => (told?.code === 'commanded' ? [told] : []));
  const module = commanded.map(({ parts }) => commandedText(parts)).join(', ');
  const first = rows.findIndex(({ told }) => told?.code === 'commanded');
  const together = (row: CheckRow, told: Told): string => toldText({ ...row, told: { ...told, parts: { ...told.parts, module } } });
  const texts = rows.flatMap((row, at) => (row.told?.code !== 'commanded' ? [toldText(row)] : at === first ? [together(row, row.told)] : []));
  return [...new Set(texts)];
}

function commandedText({ module = '', value = '' }: Told['parts']): string {
  return value === 'TRUE' ? module.toUpperCase() : `${module.toUpperCase()} ${word(value)}`;
}
