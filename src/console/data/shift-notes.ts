/** What shifts tell each other: the newest notes, and a further one. */
import { get, post } from './api.js';
import type { LogPage, ShiftNote } from './types.js';
import { atSite } from './plant.js';

export interface NewNote {
  readonly text: string;
  readonly unit?: string;
  readonly handOverTo?: string;
  readonly corrects?: number;
}

/** @param cursor of a further page; empty for the newest. */
export function readNotes(cursor: string): Promise<LogPage<ShiftNote>> {
  return get<LogPage<ShiftNote>>(atSite(`shift-notes?${new URLSearchParams({ limit: '20', ...(cursor === '' ? {} : { cursor }) })}`), { background: true });
}

export async function writeNote(note: NewNote): Promise<void> {
  await post(atSite('shift-notes'), note);
}
