/** The alarms of the site: all of them once, then those that a frame has told of. */
import { signal } from '@preact/signals';
import { getAll } from './api.js';
import { ofPart } from './plant-parts.js';
import { reader } from './plant-readers.js';
import { can } from './session.js';
import { atSite, BACKGROUND, showing } from './site.js';
import { coalesced } from './timers.js';
import type { Alarm } from './types.js';

export const alarms = signal<readonly Alarm[]>([], ofPart('alarms'));

const ALARMS_PAGE = 1000;
/** More are read whole: their names would make a longer question than the list is an answer. */
const ALARMS_TOUCHED_MAX = 50;
/** Alarms that a frame has told of since they were read; undefined while all of them are to be read. */
let touched: Set<string> | undefined;
let readsWhole = 0;

/** Whole after a loss, else those that have changed: each transition in a flood read the whole list on every panel. */
const readAlarmsNow = reader(
  async () => {
    if (!can('alarm:list')) return { all: [] };
    const names = touched !== undefined && readsWhole === 0 && touched.size <= ALARMS_TOUCHED_MAX ? [...touched] : undefined;
    touched = new Set();
    try {
      if (names?.length === 0) return { names, found: [] };
      if (names) return { names, found: await getAll<Alarm>(atSite(`alarms?limit=${ALARMS_PAGE}&name=${names.map(encodeURIComponent).join(',')}`), BACKGROUND) };
      readsWhole += 1;
      return { all: await getAll<Alarm>(atSite(`alarms?limit=${ALARMS_PAGE}`), BACKGROUND).finally(() => (readsWhole -= 1)) };
    } catch (fault) {
      touched = undefined; // what has changed is not known any more
      throw fault;
    }
  },
  ({ all, names, found }) => {
    if (all) alarms.value = all;
    else if (names && names.length > 0) alarms.value = [...alarms.peek().filter(({ name }) => !names.includes(name)), ...(found ?? [])];
  },
  'alarms',
);

export function readAlarms(): Promise<void> {
  touched = undefined;
  return readAlarmsNow();
}

/** Another site is shown: all of its alarms are to be read. */
export function forgetTouched(): void {
  touched = undefined;
}

/** Who acknowledges one looks at it; in a flood they come together. */
export const readTouchedSoon = coalesced(120, () => readAlarmsNow(), 10);

/** Something has happened to an alarm. */
export function readAlarmSoon(name: string): void {
  touched?.add(name);
  if (!showing.peek()) readTouchedSoon();
}
