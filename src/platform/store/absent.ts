/** What is told of a resource that is named and not in the store: it does not exist, or it is stored and its row cannot be used (D-C-02, ADR 0035). */
import { missing, Refusal } from '../base/refusal.js';
import { pastRows } from './past-rows.js';
import type { Ref } from './resource.js';
import type { Store } from './store.js';

/** 404. What is past has been lent, or was to be. `called`: what people call the kind. */
export function absent(store: Store, { kind }: { readonly kind: string }, site: string, name: string, called = kind): Refusal {
  const ref = { kind, site, name };
  if (store.isQuarantined(ref))
    return unreadable(
      called,
      name,
      'GET /api/v1/system/health says what is wrong with it (storage.unfit); write it again, or remove it with POST /api/v1/system/stored-data/discard',
    );
  if (pastRows(store).isUnreadable(ref))
    return unreadable(
      called,
      name,
      'POST /api/v1/system/integrity says what is wrong; a copy of the data directory has it as it was, and POST /api/v1/system/stored-data/discard removes it',
    );
  return missing(called, name);
}

/** Of what should be there, for a list of problems; whether an element that is past can be read is known while its run is lent. */
export function absence(store: Store, ref: Ref): string {
  const isStored = store.isQuarantined(ref) || store.pastEntry(ref, ref.site, ref.name) !== undefined || pastRows(store).isUnreadable(ref);
  return isStored ? UNREADABLE : 'does not exist any more';
}

export const UNREADABLE = 'is stored and cannot be read';

function unreadable(called: string, name: string, whatToDo: string): Refusal {
  return new Refusal('missing', `${called} ${name} is stored, and its row cannot be read: ${whatToDo}`, { code: 'unreadable_row' });
}
