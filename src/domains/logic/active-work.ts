/**
 * The gate that logic of every kind passes before it is changed. It imports no kind: those of control modules and of programs
 * both stand behind it, and a kind that is read before the other one is made ends the start.
 */
import { conflict } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { UNIT } from '../plant/rules.js';
import { workOn } from '../plant/unit-owner.js';

/** How long an armed override waits for its edit (decisions Q-PROG-03). */
export const OVERRIDE_WINDOW_MS = 15 * 60_000;

/** 409 while the unit works for a batch or an ad-hoc run (decisions Q-PROG-03). */
export function refuseWhileActive(site: string, unitRef: string, read: StoreReader, wayOut = 'end that work, or arm override-hot-swap with a reason'): void {
  const unit = read.get(UNIT, site, unitRef);
  const holder = unit ? workOn(unit.status) : '';
  if (holder === '') return;
  throw conflict('active_batch', `unit ${unitRef} works for ${holder}; ${wayOut}`, { batch: holder, unit: unitRef });
}
