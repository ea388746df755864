/**
 * Who may drive a unit: one fact, `allocatedTo` of its status, and the only place that judges or changes it (decisions 3.3, 3.4,
 * 3.6). A unit is held from the Start of its work until the last element, chart and reset of it is at rest, whoever began it;
 * the final state stays to be seen after that. Charts of anybody else are given nothing to begin with meanwhile.
 *
 * Pure: a status in, a status out.
 */
import { isFinal } from '../../../runtime/vocabulary/transitions.js';
import type { State } from '../../../runtime/vocabulary/states.js';
import type { UnitStatus } from './kind.js';

/** Nobody's, and at rest; what its last work has left may have to be reset first (`handedOn`). */
export function isAvailable(unit: UnitStatus | undefined): unit is UnitStatus {
  if (!unit || unit.allocatedTo !== '') return false;
  return unit.state === '' || unit.state === 'Idle' || isFinal(unit.state as State);
}

/** Nobody's, and shows no work that was not reset: what an ad-hoc run needs (ADHOC-05). */
export function isIdle(unit: UnitStatus): boolean {
  return unit.allocatedTo === '' && (unit.state === '' || unit.state === 'Idle');
}

/** Batch or ad-hoc root that works on it; '' when nobody does. */
export function workOn({ allocatedTo, activeWork }: Pick<UnitStatus, 'allocatedTo' | 'activeWork'>): string {
  return allocatedTo || activeWork?.name || '';
}

/** @param holder who has it, as people call it: Held is a state, and what has a unit need not be in it. */
export function unavailableText(name: string, { allocatedTo, state }: Pick<UnitStatus, 'allocatedTo' | 'state'>, holder: string): string {
  return allocatedTo === '' ? `unit ${name} is ${state}` : `unit ${name} is taken by ${holder}`;
}

/** It was given to somebody or came back from him, at the version `now` of the store. `isGiven`: one use more. */
export function used(unit: UnitStatus, at: string, now: number, isGiven: boolean): UnitStatus {
  const count = (unit.usage?.count ?? 0) + (isGiven ? 1 : 0);
  return { ...unit, usage: { count, lastUsedAt: at, lastUsedVersion: now } };
}

/** For new work: the end of what was there before is not to be seen again, also where the new work is reset before its own end was. */
export function taken(unit: UnitStatus, scope: string): UnitStatus {
  return { ...shownReset(unit), allocatedTo: scope, activeWork: null };
}

/** For the reset of work that has ended, or for work that is found on a unit that nobody has: what it shows stays. */
export function takenBack(unit: UnitStatus, scope: string): UnitStatus {
  const lastWork = unit.lastWork && unit.state !== '' ? { ...unit.lastWork, state: unit.state } : undefined;
  return { ...unit, allocatedTo: scope, activeWork: null, ...(lastWork ? { lastWork } : {}) };
}

/** What is left there has no charts that would drive it: it shows Idle at once. */
export function shownReset(unit: UnitStatus): UnitStatus {
  return { ...unit, state: 'Idle', ...(unit.lastWork ? { lastWork: { ...unit.lastWork, state: 'Idle' } } : {}) };
}

/** `before` resets what it has left on the unit, then `scope` has it (decisions 3.3: final states run Resetting first). */
export function handedOn(unit: UnitStatus, before: string, scope: string): UnitStatus {
  return { ...takenBack(unit, before), promisedTo: scope };
}

export function unpromised({ promisedTo: _promise, resetBegun: _begun, resetFailed: _failed, ...unit }: UnitStatus): UnitStatus {
  return unit;
}

/** What was on the unit is at rest. `isReset`: it has gone back to Idle; `own`: whether an element belongs to it. */
export function givenBack(unit: UnitStatus, at: string, isReset: boolean, own: (element: string) => boolean): UnitStatus {
  const { promisedTo = '', activeWork, lastWork } = unit;
  const free = { ...unpromised(unit), allocatedTo: promisedTo, activeWork: null, heldInside: false };
  if (!isReset) return activeWork ? { ...free, lastWork: { kind: activeWork.kind, name: activeWork.name, state: activeWork.state, endedAt: at } } : free;
  const shows = lastWork && !own(lastWork.name) ? lastWork.state : 'Idle'; // the end of work that came after it stays to be seen
  return { ...free, state: promisedTo === '' ? shows : 'Idle', ...(lastWork && shows === 'Idle' ? { lastWork: { ...lastWork, state: 'Idle' } } : {}) };
}
