/** What shifts tell each other: the newest notes, and a further one. */
import { get, post } from './api.js';
import type { LogPage, ShiftNote } from './types.js';
import type { Once } from './once.js';
import { atSite } from './plant.js';
import { me } from './session.js';

export interface NewNote {
  readonly text: string;
  readonly unit?: string;
  readonly handOverTo?: string;
  readonly corrects?: number | null;
}

/** @param cursor of a further page; empty for the newest. */
export function readNotes(cursor: string): Promise<LogPage<ShiftNote>> {
  return get<LogPage<ShiftNote>>(atSite(`shift-notes?${new URLSearchParams({ limit: '20', ...(cursor === '' ? {} : { cursor }) })}`), { background: true });
}

/** @param once of the dialog in which it is written: a note whose answer was lost is not written twice. */
export async function writeNote(note: NewNote, once: Once): Promise<void> {
  const path = atSite('shift-notes');
  const isThere = async (sinceMs: number): Promise<boolean> => (await readNotes('')).items.some((known) => Date.parse(known.ts) >= sinceMs && isSame(known, note));
  await once.send({ path, ...note }, (options) => post(path, note, options), isThere);
}

function isSame(known: ShiftNote, { text, unit = '', handOverTo = '', corrects = null }: NewNote): boolean {
  const { author } = known;
  return author.accountId === me.peek()?.accountId && known.text === text && known.unit === unit && known.handOverTo === handOverTo && known.corrects === corrects;
}
