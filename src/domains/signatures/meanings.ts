/**
 * What a signature through POST /signatures may mean (D-C-16), as data: on which kinds, in which states, by whom. A meaning that
 * has no row for a resource as it is now is neither offered nor accepted. Steps with a route of their own (approve of a recipe,
 * finalize of a record, a prompt) bring their meanings with them.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { conflict } from '../../platform/base/refusal.js';
import type { Caller } from '../../platform/http/caller.js';
import { type Tier, TIERS } from '../../platform/http/tiers.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { Resource } from '../../platform/store/resource.js';

export interface MeaningRow {
  readonly meaning: string;
  /** Empty: every kind but those that `except` names. */
  readonly kinds: readonly string[];
  readonly except?: readonly string[];
  /** `status.phase`; empty: every state. */
  readonly states: readonly string[];
  readonly tier: Tier;
  /** Nobody is the witness of what he has conducted himself (`spec.operator`). */
  readonly isByOther?: true;
  /** Action that stands for the tier, so that grants and denials of a deployment count. */
  readonly action: string;
}

const ENDED = ['Complete', 'Stopped', 'Aborted', 'Failed'];
const REVIEWED = ['Reviewed', 'Finalized'];
/** What a person conducts until it is sealed: no content of it stands before that. */
const SHEETS = ['LoopCheck', 'CableAcceptance'];
const SEALED = 'Sealed';
const READ = { tier: 'read', action: 'signature:create' } as const;
const SUPERVISE = { tier: 'supervise', action: 'batchrecord:review' } as const;
/** What runs or is evidence has rows of its own; a recipe is approved by its life cycle, a change request by its own route. */
const OWN_ROWS = ['ChangeRequest', 'Batch', 'BatchRecord', 'MasterRecipe', 'ControlRecipe', 'RecipeRevision', 'Alarm', 'Procedure', 'UnitProcedure', 'Operation', 'Phase'];

export const MEANINGS: readonly MeaningRow[] = [
  { meaning: 'Witnessed', kinds: [], states: [], isByOther: true, ...READ },
  { meaning: 'Reviewed', kinds: [], except: ['Batch'], states: [], ...READ },
  { meaning: 'Reviewed', kinds: ['Batch'], states: ENDED, ...READ },
  { meaning: 'Verified', kinds: [], states: [], ...READ },
  { meaning: 'Approved', kinds: ['Batch'], states: ENDED, ...SUPERVISE },
  { meaning: 'Approved', kinds: ['BatchRecord'], states: REVIEWED, ...SUPERVISE },
  { meaning: 'Approved', kinds: [], except: OWN_ROWS, states: [], ...SUPERVISE },
  { meaning: 'Rejected', kinds: ['Batch'], states: ENDED, ...SUPERVISE },
  { meaning: 'Rejected', kinds: ['BatchRecord'], states: REVIEWED, ...SUPERVISE },
];

/** Other spellings of a meaning, in small letters. */
const ALSO: Readonly<Record<string, string>> = {
  witness: 'Witnessed',
  review: 'Reviewed',
  'second review': 'Reviewed',
  verify: 'Verified',
  verification: 'Verified',
  checked: 'Verified',
  approve: 'Approved',
  approval: 'Approved',
  reject: 'Rejected',
  rejection: 'Rejected',
};

export const OfferedMeaning = v.strictObject({
  meaning: v.string(),
  kinds: v.array(v.string()),
  states: v.array(v.string()),
  tier: v.picklist(TIERS),
  /** Of a resource: whether the caller may sign it with this meaning now, and why not. */
  applicable: v.optional(v.boolean()),
  reason: v.optional(v.string()),
});
export type OfferedMeaning = ToldBy<typeof OfferedMeaning>;

nameSchemas({ OfferedMeaning });

/** Rows that speak of the kind. */
export function meaningsOf(kind: string | undefined): readonly MeaningRow[] {
  return MEANINGS.filter((row) => kind === undefined || speaksOf(row, kind));
}

export function offered(kind: string | undefined, resource?: Resource, caller?: Caller): OfferedMeaning[] {
  return meaningsOf(kind).map((row) => {
    const { meaning, kinds, states, tier } = row;
    if (!resource || !caller) return { meaning, kinds, states, tier };
    const reason = refusalOf(row, resource, caller);
    return { meaning, kinds, states, tier, applicable: reason === '', reason };
  });
}

/**
 * The meaning as it is recorded.
 * @throws Refusal 409 `meaning_not_applicable` naming those that are.
 */
export function requireMeaning(given: string, kind: string, resource: Resource, caller: Caller): string {
  const small = given.trim().toLowerCase();
  const rows = meaningsOf(kind);
  const name = rows.find(({ meaning }) => meaning.toLowerCase() === small)?.meaning ?? ALSO[small];
  const row = rows.find(({ meaning }) => meaning === name);
  const reason = row ? refusalOf(row, resource, caller) : `a ${kind} is not signed with it`;
  if (row && reason === '') return row.meaning;
  const applicable = rows.filter((each) => refusalOf(each, resource, caller) === '').map(({ meaning }) => meaning);
  const message = `meaning ${given} cannot be given to ${kind} ${resource.metadata.name} now: ${reason}; possible: ${applicable.join(', ') || 'none'}`;
  throw conflict('meaning_not_applicable', message, { meaning: given, kind, state: phaseOf(resource), applicable });
}

function speaksOf({ kinds, except = [] }: MeaningRow, kind: string): boolean {
  return kinds.length === 0 ? !except.includes(kind) : kinds.includes(kind);
}

function refusalOf({ states, tier, action, isByOther }: MeaningRow, resource: Resource, caller: Caller): string {
  const phase = phaseOf(resource);
  if (SHEETS.includes(resource.kind) && phase !== SEALED) return `it is ${phase}, and this is signed when it is ${SEALED}`;
  const conductor = conductorOf(resource);
  if (isByOther && conductor !== undefined && conductor === caller.accountId) return 'whoever has conducted it is not its witness';
  if (states.length > 0 && !states.includes(phase)) return `it is ${phase || 'in no such state'}, and this is signed when it is ${states.join(', ')}`;
  return caller.may(action) ? '' : `it is for people who may ${tier}`;
}

function conductorOf({ spec }: Resource): string | undefined {
  const { operator } = (spec ?? {}) as { readonly operator?: { readonly accountId?: unknown } };
  return typeof operator?.accountId === 'string' ? operator.accountId : undefined;
}

function phaseOf({ status }: Resource): string {
  const { phase } = (status ?? {}) as { readonly phase?: unknown };
  return typeof phase === 'string' ? phase : '';
}
