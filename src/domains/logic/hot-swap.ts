/**
 * The active-batch gate of control programs and its one-shot override (decisions Q-PROG-03): a program whose unit works
 * may change its comments only, unless an engineer has armed the override with a reason.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Terms } from '../../platform/base/term.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put } from '../../platform/store/store.js';
import { ControlProgram, type ControlProgramSpec, type ControlProgramStatus } from './kind.js';
import { editsOf, OVERRIDE_WINDOW_MS, type OverrideUse, refuseWhileActive, unitsAtWork } from './active-work.js';
import { type OverriddenEdit } from '../runs/logic-edits.js';
import { refuseManaged } from './rules.js';

type Program = Resource<ControlProgramSpec, ControlProgramStatus>;

/** True when the two differ in more than comments. */
export function changesBehaviour(before: ControlProgramSpec, after: ControlProgramSpec): boolean {
  return !isDeepStrictEqual(withoutComments(before), withoutComments(after));
}

function withoutComments(spec: ControlProgramSpec): unknown {
  return { ...spec, blocks: spec.blocks.map(({ comment: _comment, ...block }) => block) };
}

/**
 * Passes an edit of a stored program, or refuses it with 409 `active_batch`.
 * @returns the status without the override when the edit has used it up, and what to tell the work of the unit then.
 */
export function passGate(
  program: Program,
  after: ControlProgramSpec,
  read: StoreReader,
  terms: Terms,
): { readonly status: ControlProgramStatus; readonly edits: readonly OverriddenEdit[] } {
  if (!changesBehaviour(program.spec, after)) return { status: program.status, edits: [] };
  const { site, name } = program.metadata;
  // an edit that moves it puts new logic on the other unit
  const used = pass(program, new Set([program.spec.unitRef, after.unitRef]), read, terms);
  if (!used) return { status: { ...program.status, state: 'Pending' }, edits: [] };
  return { status: { ...used.status, state: 'Pending' }, edits: editsOf([used.use], { site, subject: `control program ${name}`, before: program.spec, after }) };
}

/** What a change of a channel it is wired to uses up. @throws Refusal 409 `active_batch`. */
export function programUsedUp(program: Program, read: StoreReader, terms: Terms): { readonly put: Put; readonly use: OverrideUse } | undefined {
  const { site, name } = program.metadata;
  const used = pass(program, new Set([program.spec.unitRef]), read, terms, `end that work, or arm override-hot-swap of control program ${name} with a reason`);
  return used && { put: { kind: ControlProgram, site, name, status: used.status }, use: used.use };
}

function pass(program: Program, units: ReadonlySet<string>, read: StoreReader, terms: Terms, wayOut?: string) {
  const { site, name } = program.metadata;
  const working = unitsAtWork(site, units, read, wayOut);
  const [first] = working;
  if (!first) return undefined;
  const { hotSwapOverride, ...status } = program.status;
  if (!hotSwapOverride || terms.remainingMs(hotSwapOverride) === 0) throw first.refusal;
  return { status, use: { user: name, units: working.map(({ unit }) => unit), reason: hotSwapOverride.reason } };
}

/** Logic that comes new to a unit. @throws Refusal 409 `active_batch`. */
export function refuseNewProgram(site: string, name: string, { unitRef }: ControlProgramSpec, read: StoreReader): void {
  refuseWhileActive(site, unitRef, read, `end that work, or create ${name} on a unit that does not work, arm override-hot-swap of it with a reason, and move it then`);
}

/** @throws Refusal 409 for a program of a control module (contract 3, Control program). */
export function armOverride(program: Program, by: string, reason: string, terms: Terms): ControlProgramStatus & Required<Pick<ControlProgramStatus, 'hotSwapOverride'>> {
  refuseManaged(program);
  return { ...program.status, hotSwapOverride: { ...terms.begin(OVERRIDE_WINDOW_MS), by, reason } };
}
