/**
 * The gate that logic of every kind passes before it is changed. It imports no kind: those of control modules and of programs
 * both stand behind it, and a kind that is read before the other one is made ends the start.
 */
import { conflict, type Refusal } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { workOn } from '../plant/unit-owner.js';
import type { OverriddenEdit } from '../runs/logic-edits.js';
import { Unit } from '../plant/kind.js';

/** How long an armed override waits for its edit (decisions Q-PROG-03). */
export const OVERRIDE_WINDOW_MS = 15 * 60_000;

/** One that was let through an override. */
export interface OverrideUse {
  readonly user: string;
  /** Those that work. */
  readonly units: readonly string[];
  readonly reason: string;
}

export function editsOf(uses: readonly OverrideUse[], edit: Pick<OverriddenEdit, 'site' | 'subject' | 'before' | 'after'>): OverriddenEdit[] {
  return [...new Set(uses.flatMap(({ units }) => units))].map((unit) => {
    const here = uses.filter(({ units }) => units.includes(unit));
    return { ...edit, unit, users: here.map(({ user }) => user), reasons: [...new Set(here.map(({ reason }) => reason))] };
  });
}

const WAY_OUT = 'end that work, or arm override-hot-swap with a reason';

/** Those of the units that work for a batch or an ad-hoc run, each with the 409 that an edit gets. */
export function unitsAtWork(site: string, units: Iterable<string>, read: StoreReader, wayOut = WAY_OUT): { readonly unit: string; readonly refusal: Refusal }[] {
  return [...units].flatMap((unit) => {
    const found = read.get(Unit, site, unit);
    const holder = found ? workOn(found.status) : '';
    if (holder === '') return [];
    return [{ unit, refusal: conflict('active_batch', `unit ${unit} works for ${holder}; ${wayOut}`, { batch: holder, unit }) }];
  });
}

/** 409 while the unit works for a batch or an ad-hoc run (decisions Q-PROG-03). */
export function refuseWhileActive(site: string, unitRef: string, read: StoreReader, wayOut = WAY_OUT): void {
  for (const { refusal } of unitsAtWork(site, [unitRef], read, wayOut)) throw refusal;
}
