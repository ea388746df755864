/** What is to be put right, in words, with the value that decides it and the way to it: for the list, and for the button that waits for it. */
import { tagList, tagValue } from '../data/plant.js';
import type { ToDo } from '../data/to-do.js';
import { addressOf } from '../data/view.js';
import { words } from '../common/strings.js';
import { numberText, recordText, unitText } from '../common/text.js';
import type { Missing } from '../parts/grey-button.js';
import { checkText } from './check-text.js';

const said = words({
  en: {
    cleared: (what: string) => `${what} has cleared`,
    clears: (what: string) => `${what}: must clear; while a value is Bad it cannot`,
    now: (value: string) => `now ${value}`,
    automatic: (module: string) => `${module} to Automatic or Semi-Automatic`,
    isAutomatic: (module: string) => `${module} is not in Manual any more`,
    unit: (unit: string) => `Unit ${unit}`,
    alarms: 'Alarms',
    signs: { '<=': 'at most', '>=': 'at least', '=': 'is' } as Readonly<Record<string, string>>,
  },
  de: {
    cleared: (what: string) => `${what} ist gegangen`,
    clears: (what: string) => `${what}: muss gehen; solange ein Wert schlecht ist, kann es das nicht`,
    now: (value: string) => `jetzt ${value}`,
    automatic: (module: string) => `${module} auf Automatik oder Halbautomatik`,
    isAutomatic: (module: string) => `${module} steht nicht mehr in Hand`,
    unit: (unit: string) => `Teilanlage ${unit}`,
    alarms: 'Alarme',
    signs: { '<=': 'höchstens', '>=': 'mindestens', '=': 'ist' } as Readonly<Record<string, string>>,
  },
});

export interface ToDoWorded {
  readonly text: string;
  readonly hint: string;
  readonly href?: string;
  readonly way?: string;
}

export function toDoText({ check: row, isDone }: ToDo): ToDoWorded {
  const { check, element, about, decidedBy } = row;
  const unit = about?.unit ?? '';
  const toUnit = unit === '' ? {} : { href: addressOf('unit', unit, { module: about?.kind === 'ControlModule' ? about.name : '' }), way: said.unit(unit.toUpperCase()) };
  if (check === 'alarms') {
    const toAlarms = { href: addressOf('alarms'), way: said.alarms };
    const what = checkText(row);
    if (!decidedBy) return { text: (isDone ? said.cleared : said.clears)(what), hint: '', ...toAlarms };
    const { address, wanted, limit, value: told } = decidedBy;
    const live = tagValue(unit, address).value;
    const value = live.quality === 'Good' ? String(live.value) : told; // what the box said is some seconds old
    const text = `${address.toUpperCase()} ${said.signs[wanted] ?? wanted} ${valueOf(address, unit, limit)}`;
    return { text, hint: `${isDone ? said.cleared(what) : what}, ${said.now(valueOf(address, unit, value))}`, ...toAlarms };
  }
  const module = element.toUpperCase();
  if (check === 'modes' && row.told?.code !== 'bypassed') {
    return isDone ? { text: said.isAutomatic(module), hint: '' } : { text: said.automatic(module), hint: checkText(row), ...toUnit };
  }
  return { text: checkText(row), hint: '', ...toUnit };
}

export function missingOf(item: ToDo): Missing {
  const { text, hint, href, way } = toDoText(item);
  return { text: hint === '' ? text : `${text}: ${hint}`, ...(href === undefined || way === undefined ? {} : { href, way }) };
}

function valueOf(address: string, unit: string, value: string): string {
  const tag = tagList.value.find((each) => each.address === address && each.unit === unit);
  const number = Number(value);
  const shown = value === '' || Number.isNaN(number) ? recordText(value, false) : numberText(number, undefined);
  return `${shown} ${unitText(tag?.engUnits ?? '')}`.trim();
}
