/**
 * What the box says by a code with parts (runtime/vocabulary/told.ts), worded in the language of the page. The words stand by concern: what stands against a
 * command (check-words.ts, start-words.ts), why something failed or was refused (cause-words.ts), what happened (deed-words.ts). What has no code, as in the records
 * of an earlier release, stands as the box wrote it.
 */
import type { PartsOf, ToldCode } from '../../../runtime/vocabulary/told.js';
import type { BatchEvent } from '../data/types.js';
import { t, word } from '../common/strings.js';
import { ageText, momentText, numberText, recordText, unitText } from '../common/text.js';
import { CAUSES } from './cause-words.js';
import { CHECKS } from './check-words.js';
import { DEEDS } from './deed-words.js';
import { ruleText } from './rule-words.js';
import { STARTS } from './start-words.js';
import type { WordsOf } from './words-of.js';

export type Told = NonNullable<BatchEvent['told']>;
export interface Said {
  readonly message: string;
  readonly told?: Told | undefined;
}

const WORDED: WordsOf<ToldCode> = {
  ...CHECKS,
  ...STARTS,
  ...CAUSES,
  ...DEEDS,
  failure: (_parts, why) => why,
  alarm: ({ alarm, message }) => message || alarm,
  'box-restarted': ({ from, to }) => uncontrolledText('', from, to),
};

type Shown = (value: string) => string;
const asIs: Shown = (value) => value;
const upper: Shown = (value) => value.toUpperCase();
const given: Shown = (value) => recordText(value, value.trim() !== '' && Number.isFinite(Number(value)));
const counted: Shown = (value) => (Number.isFinite(Number(value)) ? numberText(Number(value), undefined) : value);

/** How a part is shown, by its name; any other as it is. */
const SHOWN: Readonly<Record<string, Shown>> = {
  module: upper,
  unit: upper,
  units: upper,
  taken: upper,
  ioModule: upper,
  address: upper,
  channel: upper,
  channels: upper,
  command: word,
  by: word,
  state: word,
  mode: word,
  kind: word,
  ownerKind: word,
  quality: (value) => t.qualities[value] ?? value,
  value: given,
  initial: given,
  tag: upper,
  min: given,
  max: given,
  quantity: given,
  written: given,
  readback: given,
  engUnits: unitText,
  expected: unitText,
  since: (value) => (value === '' ? '' : momentText(value)),
  until: momentText,
  at: (value) => (value === '' ? '' : momentText(value)),
};

/** Where a part of a code is shown in another way. */
const SHOWN_OF: Partial<Record<ToldCode, Readonly<Record<string, Shown>>>> = {
  'not-in-state': { phase: word, wanted: word },
  'recipe-phase': { phase: word },
  'off-setpoint': { value: counted, setpoint: counted },
  commanded: { module: asIs, value: asIs },
  'mode-set': { name: upper },
  'template-changed': { by: asIs },
  'unit-restarted': { from: (value) => (value === '' ? '' : momentText(value)) },
};

function shownParts(code: ToldCode, parts: Told['parts']): PartsOf<ToldCode> {
  const own = SHOWN_OF[code] ?? {};
  return Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, (own[name] ?? SHOWN[name] ?? asIs)(value)])) as PartsOf<ToldCode>;
}

/** @returns undefined where the page has no words for it: the box is of a later release. */
function worded({ code, parts, because }: Told): string | undefined {
  const worder = WORDED[code] as ((parts: Told['parts'], why: string) => string) | undefined;
  if (!worder) return undefined;
  const { rule, message = '', path = '' } = parts;
  const why = rule ? failureText({ rule, message, told: because }) : because ? (worded(because) ?? '') : '';
  const text = worder(shownParts(code, parts), why);
  return path === '' ? text : `${path}: ${text}`;
}

export function toldText({ message, told }: Said): string {
  return (told && worded(told)) ?? message;
}

/** A failure as a sentence: what it is, and what exactly; a sentence that says it all stands alone. */
export function failureText({ rule, ...said }: Said & { readonly rule: string }): string {
  const title = ruleText(rule) || rule;
  const detail = toldText(said);
  return detail === '' || detail === title ? title : `${title}: ${detail}`;
}

/** Why a command was not obeyed: what was asked in which state says more than the rule. */
export function rejectionText({ rule, ...said }: Said & { readonly rule: string }): string {
  return (said.told && worded(said.told)) ?? failureText({ rule, ...said });
}

/** Why an element went to another state: by a code, by a rule alone, or by the word of a command. */
export function causeText({ message, told }: Said): string {
  return (told && worded(told)) ?? (ruleText(message) || word(message));
}

/** Of the box, or of one unit; the same wherever it is told. @param from '' when nobody knows */
export function uncontrolledText(unit: string, from: string, to: string): string {
  return t.uncontrolled(unit.toUpperCase(), momentText(from), momentText(to), from !== '' && from < to ? ageText(Date.parse(from), Date.parse(to)) : '');
}
