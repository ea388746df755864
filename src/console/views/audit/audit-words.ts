/**
 * An audit record as a person says it: what was done, to what, and for whom. The record itself stands in its details, by its own names.
 */
import { batches, tagList } from '../../data/plant.js';
import type { AuditRecord } from '../../data/types.js';
import { t, word, words } from '../../common/strings.js';
import { switchText } from '../../common/tag-text.js';
import { recordText, unitText } from '../../common/text.js';

const text = words({
  en: {
    reset: 'Fault reset',
    moving: 'it may move',
    answer: (answer: string) => `Answer: ${answer}`,
    forTime: (duration: string) => `for ${duration}`,
    categories: {
      auth: 'access',
      command: 'command',
      mode: 'mode',
      'tag-write': 'value written',
      alarm: 'alarm',
      prompt: 'prompt',
      batch: 'batch',
      'active-step': 'step by hand',
      'interlock-bypass': 'interlock bypass',
      'device-reset': 'device',
      signature: 'signature',
      'recipe-lifecycle': 'recipe',
      'batch-record': 'batch record',
      'external-result': 'laboratory result',
      'work-order': 'work order',
    } as Readonly<Record<string, string>>,
  },
  de: {
    reset: 'Störung quittiert',
    moving: 'darf sich bewegen',
    answer: (answer: string) => `Antwort: ${answer}`,
    forTime: (duration: string) => `für ${duration}`,
    categories: {
      auth: 'Zugang',
      'device-reset': 'Gerät',
      'batch-record': 'Chargenprotokoll',
      'external-result': 'Laborergebnis',
      'work-order': 'Auftrag',
    } as Readonly<Record<string, string>>,
  },
});

/** What the record says that was done; empty where it says no more than its action. */
const DEEDS: Readonly<Record<string, (record: AuditRecord) => string>> = {
  command: ({ details }) => word(textOf(details?.command)),
  mode: ({ before, after }) => change(word(textOf(memberOf(before, 'mode'))), word(textOf(memberOf(after, 'mode')))),
  'tag-write': ({ before, after, target }) => change(tagValueText(target.name, before), tagValueText(target.name, after)),
  prompt: ({ details }) => (textOf(details?.response) === '' ? '' : text.answer(textOf(details?.response))),
  'device-reset': ({ details }) => (details?.moves === true ? `${text.reset}, ${text.moving}` : text.reset),
  'recipe-lifecycle': ({ details }) => textOf(details?.action),
  signature: ({ details }) => {
    const meaning = textOf(details?.meaning);
    return t.meanings[meaning] ?? meaning;
  },
  alarm: ({ action, details }) => (textOf(details?.duration) === '' ? '' : `${word(action)} ${text.forTime(textOf(details?.duration))}`),
  tuning: ({ before, after }) => changesOf(before, after).join(', '),
};

export function deedOf(record: AuditRecord): string {
  return DEEDS[record.category]?.(record) || word(record.action);
}

/** What kind of deed it is, where that is not said already. */
export function categoryOf(record: AuditRecord): string {
  const name = categoryText(record.category);
  return deedOf(record).toLowerCase().startsWith(name.toLowerCase()) ? '' : name;
}

export function categoryText(category: string): string {
  return text.categories[category] ?? word(category);
}

/** A batch by its number, a part of it by its place in the procedure, equipment in capitals. */
export function targetOf({ target: { kind, name }, details }: AuditRecord): string {
  if (kind === 'ControlModule' || kind === 'Unit') return name.toUpperCase();
  const number = textOf(details?.batchID);
  if (kind === 'Batch' && number !== '') return number;
  const batch = batches.value.find((each) => name === each.name || name.startsWith(`${each.name}-`));
  if (!batch) return name;
  return name === batch.name ? batch.batchID : `${batch.batchID} ${name.slice(batch.name.length + 1)}`;
}

/** `Before → after`, or what there is of them. */
function change(before: string, after: string): string {
  return [before, after].filter((part) => part !== '').join(' → ');
}

/** Every digit of it, with its unit of measure while the tag is there. */
function tagValueText(address: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  const tag = tagList.value.find((each) => each.address === address || `${each.controlModule}.${each.name}` === address);
  if (typeof value === 'number') return `${recordText(String(value), true)} ${unitText(tag?.engUnits ?? '')}`.trim();
  return tag && typeof value === 'boolean' ? switchText(tag, value) : plainText(value);
}

/** Members that differ, each with its name. */
export function changesOf(before: unknown, after: unknown): string[] {
  const [was, now] = [new Map(linesOf(before)), new Map(linesOf(after))];
  return [...new Set([...was.keys(), ...now.keys()])].flatMap((name) => {
    const [a, b] = [was.get(name), now.get(name)];
    return a === b ? [] : [`${name === '' ? '' : `${name}: `}${a ?? '–'} → ${b ?? '–'}`];
  });
}

/** Every value in it by its path, in the order of the record. */
export function linesOf(value: unknown, path = ''): (readonly [path: string, text: string])[] {
  if (typeof value !== 'object' || value === null) return value === undefined ? [] : [[path, plainText(value)]];
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object' || each === null)) return value.length === 0 ? [] : [[path, value.map(plainText).join(', ')]];
  return Object.entries(value).flatMap(([name, held]) => linesOf(held, Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`));
}

function plainText(value: unknown): string {
  if (typeof value === 'boolean') return value ? t.on : t.off;
  return value === null ? '–' : String(value);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
