/**
 * Generic apply (contract 3, Generic apply and export; decisions Q-CHANGE-05..08): create or update by name, all
 * manifests of one request in one transaction. What the kind's own routes refuse, apply refuses with the same status,
 * except the exemptions the contract names.
 *
 * Order: the shape of all manifests, the permission for all, then one by one against what those before leave behind; what is
 * referred to goes first, wherever it stands in the request.
 */
import * as v from 'valibot';
import { timestamp } from '../../platform/base/clock.js';
import { eachOf, Refusal, refusalsOf, refuseAll } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { Turns } from '../../platform/base/slices.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import { apiVersionOf } from '../../platform/store/manifest.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Ref } from '../../platform/store/resource.js';
import type { Selector } from '../../platform/store/selector.js';
import type { Put, Store } from '../../platform/store/store.js';
import type { PendingFact } from '../runs/execution-log.js';
import { editFacts } from '../runs/logic-edits.js';
import { bindingWarnings } from './bindings-lost.js';
import { ManifestChange } from './changes.js';
import { channelWarnings } from './channel-warnings.js';
import { isOfNow } from './conflicts.js';
import type { ApplyActor, ApplyDeps } from './context.js';
import { groundWarnings } from './ground-warnings.js';
import { decodeSpec, type Judged, Judging, type Operation, type Outcome, type Refused, type Step, type WantedRow } from './judging.js';
import { type AnyKind, type AppliedKinds, ROUTELESS_KINDS } from './kinds.js';
import { readManifest, siteOfManifest } from './manifest.js';
import { recipeWarnings } from './recipe-warnings.js';
import { refusalOfAll, TELLS_ALL, TOLD_MAX, ToldRefusal, toldOf } from './refused.js';
import { judgeRemovals, leavingNamed, type PruneWish, type Removal } from './removals.js';
import { saidTwice } from './said-twice.js';
import { simulationWarnings } from './simulation-warnings.js';
import { StagedStore } from './staging.js';

/** `removed`: what `toPrune` chooses, in a dry run. */
const OPERATIONS = ['created', 'configured', 'unchanged', 'removed'] as const satisfies readonly (Operation | 'removed')[];

export const Applied = v.strictObject({
  apiVersion: v.string(),
  kind: v.string(),
  /** '' for what belongs to no site. */
  namespace: v.string(),
  name: v.string(),
  operation: v.picklist(OPERATIONS),
  generation: v.number(),
  warnings: v.array(v.string()),
  /** Only of a dry run: nothing was stored. */
  dryRun: v.optional(v.literal(true)),
  /** Of a dry run: what would change, value by value. */
  changes: v.optional(v.array(ManifestChange)),
  /** Why the box would refuse it now: of what would be removed, and of a manifest where `diff` asks. */
  refused: v.optional(v.array(ToldRefusal)),
});
export type Applied = ToldBy<typeof Applied>;

nameSchemas({ AppliedManifest: Applied, ManifestChange, AppliedRefusal: ToldRefusal });

export interface ApplyWish {
  /** Where manifests name none. */
  readonly site?: string | undefined;
  /** Judges everything and tells what would change; stores nothing (D-C-03). */
  readonly dryRun?: boolean;
  /** As `dryRun`; what the box refuses for what it does now, such as a batch, is told beside its changes and refuses nothing. */
  readonly diff?: boolean;
  /** Of a dry run: `false` leaves `changes` out, for whoever does not tell them; of some thousand channels they take a long turn. */
  readonly tellsChanges?: boolean;
  /** What carries these labels and stands in no manifest is removed afterwards, by whoever asks (ADR 0058). */
  readonly toPrune?: Selector | undefined;
  /** The manifests came as an array: a refusal tells `errors` and `index`, also where it is one. */
  readonly inArray?: boolean;
  /** The manifests are a whole plant: recipes among them are judged as if they were in use. */
  readonly isWhole?: boolean;
  /** A refusal tells every error: for whoever judges on his own machine. */
  readonly tellsAll?: boolean;
  /** A manifest that says what stands already needs no right to write its kind: of a whole plant, which nobody but an administrator may write. */
  readonly leavesAsIs?: boolean;
  /** What is written in the same transaction, asked for in its turn. */
  readonly beside?: (taken: Taken) => Beside;
}

/** What is about to be written. */
export interface Taken {
  readonly outcomes: readonly Outcome[];
  /** Of the first record that stands beside it, as `Store.nextAuditName` counts. */
  readonly auditOffset: number;
}

export interface Beside {
  readonly puts: readonly Put[];
  readonly audits: readonly AuditDraft[];
}

/** @throws Refusal of the first manifest that is refused, with its `index` when there are several; nothing is written then. */
export async function applyManifests(inputs: readonly unknown[], actor: ApplyActor, deps: ApplyDeps, wish: ApplyWish = {}): Promise<Applied[]> {
  const several = wish.inArray ?? inputs.length > 1;
  const refused: Refused[] = [];
  const steps: Step[] = [];
  const turns = new Turns(deps.clock);
  for (const [index, input] of inputs.entries()) {
    orRefused(refused, index, wordsOf(input), () => {
      withSpec(input, deps.kinds, () => {
        const manifest = readManifest(input, deps.kinds);
        steps.push({ index, manifest, site: siteOfManifest(manifest, wish.site, actor.sites) });
      });
    });
    if (turns.isOver) await turns.next();
  }
  // what is past is there before it is asked what the caller may do with it, and until it is written
  const needed = steps.filter((step) => isInScope(step, actor)).flatMap(neededOf);
  refuseTooMany(needed, deps.store);
  return pastRows(deps.store).during(needed, () => {
    for (const step of steps) atIndex(step.index, several, () => (wish.leavesAsIs ? refuseForeign(step, actor) : authorise(step, actor, deps.store)));
    return applySteps(steps, refused, several, actor, deps, wish);
  });
}

/** Whatever the manifests are about is held whole until all of them are written, and a run is some hundred kB. */
const PAST_RUNS_MAX = 100;

function refuseTooMany(needed: readonly Ref[], store: Store): void {
  const runs = pastRows(store).countNames(needed);
  if (runs <= PAST_RUNS_MAX) return;
  const message = `the manifests are about ${runs} ended batches, and one request takes those of ${PAST_RUNS_MAX}: send them in several requests, each with the manifests of ${PAST_RUNS_MAX} batches at most`;
  throw new Refusal('unprocessable', message, { code: 'too_many_past_runs', runs, limit: PAST_RUNS_MAX });
}

async function applySteps(
  steps: readonly Step[],
  unread: readonly Refused[],
  several: boolean,
  actor: ApplyActor,
  deps: ApplyDeps,
  { site, dryRun: isDry, diff, tellsChanges = true, toPrune, isWhole, tellsAll, leavesAsIs, beside }: ApplyWish,
): Promise<Applied[]> {
  const dryRun = isDry || diff;
  const prune = toPrune && { chosen: toPrune, site };
  const judging = await Judging.ahead(steps, actor, deps, unread.length === 0, leavingNamed(steps, actor, deps, prune));
  // in slices, and of what was judged so far: nothing is written by it
  const soFar = judging.asJudged();
  const authorised = ({ outcomes }: Judged): void => {
    const asIs = new Set(leavesAsIs ? outcomes.filter(({ operation }) => operation === 'unchanged').map(({ step }) => step) : []);
    for (const step of steps) if (!asIs.has(step)) atIndex(step.index, several, () => authorise(step, actor, deps.store));
  };
  authorised(soFar);
  const isTaken = unread.length + soFar.refused.length === 0;
  const isTold = isTaken || (diff === true && unread.length === 0 && isToldByDiff(soFar));
  const { notes, removals } = isTold ? await lookAfter(soFar, steps, actor, deps, { isWhole, prune }) : NOTHING;
  const ahead = dryRun || !isTaken ? undefined : await judging.writtenAhead();
  const unkept = dryRun || !isTaken || soFar.outcomes.every(({ operation }) => operation === 'unchanged') ? '' : await deps.snapshots?.take(takenFor(actor));
  // a dry run tells of one look: what it says of the removals is of the same plant as the rest
  if (!dryRun) await judging.catchUp();
  // from here on in one turn: who asks, what he may, and what is there
  actor.judgeAgain?.();
  const judged = dryRun ? soFar : judging.now();
  authorised(judged);
  const { outcomes, refused, withheld } = judged;
  if (unread.length + refused.length > 0 && !(dryRun && isTold)) throw await refusalOfAll([...unread, ...refused], several, deps.clock, tellsAll ? TELLS_ALL : TOLD_MAX);
  const inRequest = outcomes.toSorted((a, b) => a.step.index - b.step.index);
  const puts = outcomes.flatMap((outcome) => outcome.puts);
  if (dryRun) {
    deps.store.judge({ puts });
    const told = await inTurns(inRequest, deps, (outcome) => ({ index: outcome.step.index, row: dry(outcome, notes, deps.store, tellsChanges) }));
    const others = [...refused, ...withheld.map((wanted) => ({ wanted, refusal: undefined }))].flatMap(({ wanted, refusal }) =>
      wanted ? [{ index: wanted.step.index, row: wouldBe(wanted, refusal, deps.store) }] : [],
    );
    const rows = [...told, ...others].toSorted((a, b) => a.index - b.index).map(({ row }) => row);
    return [...rows, ...removals.map((removal) => removed(removal, notes))];
  }
  const { audits, facts } = recordsOf(outcomes, deps);
  // one record at least per request, also when nothing changed (D-AUDIT-02)
  if (audits.length === 0) audits.push(actor.audit({ action: 'Update', category: 'apply', details: { unchanged: outcomes.length } }));
  const more = beside?.({ outcomes, auditOffset: audits.length });
  await deps.store.write({ puts: [...puts, ...(more?.puts ?? [])], audits: [...audits, ...(more?.audits ?? [])], facts, ...(ahead && { ahead }) });
  const applied = await inTurns(inRequest, deps, (outcome) => served(outcome, notes, deps.store));
  return unkept ? applied.map((row, at) => (at === 0 ? { ...row, warnings: [...row.warnings, unkept] } : row)) : applied;
}

function takenFor({ displayName, changeRequest }: ApplyActor): { readonly by: string; readonly changeRequest?: string } {
  return { by: displayName, ...(changeRequest === undefined ? {} : { changeRequest }) };
}

/** Refused for what the plant does now and not for what the manifests say: their changes can be told. */
function isToldByDiff({ refused, withheld }: Judged): boolean {
  return refused.every(({ refusal, wanted }) => wanted !== undefined && isOfNow(refusal)) && withheld.every((wanted) => wanted !== undefined);
}

function dry(outcome: Outcome, notes: readonly ByManifest[], store: Store, tellsChanges: boolean): Applied {
  return { ...served(outcome, notes, store), dryRun: true, ...(tellsChanges && { changes: [...outcome.changes()] }) };
}

function wouldBe({ step, operation, changes }: WantedRow, refusal: Refusal | undefined, store: Store): Applied {
  return { ...served({ step, operation, warnings: [] }, [], store), dryRun: true, changes: [...changes()], ...(refusal && { refused: toldOf(refusal) }) };
}

function removed({ index, kind, resource: { metadata }, refusal }: Removal, notes: readonly ByManifest[]): Applied {
  return {
    ...calledOf(kind, metadata.site, metadata.name),
    operation: 'removed',
    generation: metadata.generation,
    warnings: notes.flatMap((each) => each.get(index) ?? []),
    dryRun: true,
    ...(refusal && { refused: toldOf(refusal) }),
  };
}

interface LookedAfter {
  readonly notes: readonly ByManifest[];
  readonly removals: readonly Removal[];
}

const NOTHING: LookedAfter = { notes: [], removals: [] };

interface LookWish {
  readonly isWhole: boolean | undefined;
  readonly prune: PruneWish | undefined;
}

/**
 * What is told of the manifests, judged by the plant that all of them leave behind, and the prune after them. Where some are refused for now, the
 * prune is judged as if they were taken; what will hurt is told of a request that is.
 */
async function lookAfter({ outcomes, refused, withheld }: Judged, steps: readonly Step[], actor: ApplyActor, deps: ApplyDeps, { isWhole, prune }: LookWish): Promise<LookedAfter> {
  const { store, clock } = deps;
  const after = new StagedStore(store);
  const turns = new Turns(clock);
  const wanted = [...refused.map((each) => each.wanted), ...withheld];
  for (const puts of [...outcomes.map((outcome) => outcome.puts), ...wanted.map((each) => (each ? [each.put] : []))]) {
    for (const put of puts) after.put(put);
    if (turns.isOver) await turns.next();
  }
  const removals = prune ? await judgeRemovals(steps, after, actor, deps, prune) : [];
  if (wanted.length > 0) return { notes: [], removals };
  const gone = removals.filter(({ refusal }) => refusal === undefined);
  const notes = [
    await channelWarnings(outcomes, { after, clock }),
    await simulationWarnings(outcomes, { store, after, clock }),
    await recipeWarnings(outcomes, { after, clock }),
    await groundWarnings(outcomes, gone, { store, after, clock }),
    await bindingWarnings(outcomes, gone, { store, after, clock }),
    // whoever judges whole files tells that by the places in them
    ...(isWhole ? [] : [saidTwice(steps)]),
  ];
  return { notes, removals };
}

function recordsOf(outcomes: readonly Outcome[], { store, clock }: ApplyDeps): { readonly audits: AuditDraft[]; readonly facts: readonly PendingFact[] } {
  const audits: AuditDraft[] = [];
  const facts: PendingFact[] = [];
  const at = timestamp(clock.wallMs());
  for (const { audit, edits } of outcomes) {
    if (!audit) continue;
    facts.push(...editFacts(store, edits, { audit, at, auditOffset: audits.length }));
    audits.push(audit);
  }
  return { audits, facts };
}

/** Warnings by the index of their manifest. */
type ByManifest = ReadonlyMap<number, readonly string[]>;

/** A large plant is told of as it was judged: in slices. */
async function inTurns<Row>(outcomes: readonly Outcome[], { clock }: ApplyDeps, tell: (outcome: Outcome) => Row): Promise<Row[]> {
  const told: Row[] = [];
  const turns = new Turns(clock);
  for (const outcome of outcomes) {
    told.push(tell(outcome));
    if (turns.isOver) await turns.next();
  }
  return told;
}

/** What may be past of that by which a manifest is judged. */
function neededOf({ manifest: { kind, name, spec }, site }: Step): readonly Ref[] {
  const { parentRef } = spec as { readonly parentRef?: { readonly kind?: unknown; readonly name?: unknown } | null };
  const isNamed = typeof parentRef?.kind === 'string' && typeof parentRef.name === 'string';
  return [{ kind: kind.kind, site, name }, ...(isNamed ? (kind.judgedBy?.(spec, site) ?? []) : [])];
}

interface NamedManifest {
  readonly kind: string;
  readonly name: string;
}

/** Goes on after a refusal: an array is told all that is wrong with it at once (D-C-03). @returns whether there was none. */
function orRefused(refused: Refused[], index: number, named: NamedManifest, work: () => void, isTold: (refusal: Refusal) => boolean = () => true): boolean {
  try {
    work();
    return true;
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    if (isTold(fault)) refused.push({ ...named, index, refusal: fault });
    return false;
  }
}

/** What is wrong around a spec keeps nobody from reading it: what is wrong in it is told at once. */
function withSpec(input: unknown, kinds: AppliedKinds, read: () => void): void {
  const refusals = refusalsOf(read);
  if (refusals.length === 0) return;
  const { kind: word, spec } = (input ?? {}) as { readonly kind?: unknown; readonly spec?: unknown };
  const kind = typeof word === 'string' ? kinds.named(word) : undefined;
  const isSpec = typeof spec === 'object' && spec !== null && !Array.isArray(spec);
  refuseAll(withoutMoved([...refusals, ...(kind && isSpec ? refusalsOf(() => decodeSpec(kind, spec)) : [])].flatMap(eachOf)));
}

/** A member that is missing because it stands at another level is told as that alone. */
function withoutMoved(refusals: readonly Refusal[]): readonly Refusal[] {
  const moved = new Set(refusals.flatMap(({ context: { knownAt } }) => (Array.isArray(knownAt) ? (knownAt as readonly unknown[]) : [])));
  return refusals.filter(({ context: { code, field } }) => code !== 'missing_field' || !moved.has(field));
}

/** What a manifest that cannot be read calls itself, as far as it does. */
function wordsOf(input: unknown): NamedManifest {
  const { kind, metadata } = (input ?? {}) as { readonly kind?: unknown; readonly metadata?: { readonly name?: unknown } | null };
  const text = (word: unknown): string => (typeof word === 'string' ? word : '');
  return { kind: text(kind), name: text(metadata?.name) };
}

function atIndex<T>(index: number, several: boolean, work: () => T): T {
  try {
    return work();
  } catch (fault) {
    if (!several || !(fault instanceof Refusal)) throw fault;
    throw new Refusal(fault.kind, `manifest ${index}: ${fault.message}`, { ...fault.context, index });
  }
}

function scopeOf({ manifest: { kind, name }, site }: Pick<Step, 'manifest' | 'site'>): string {
  return kind.kind === 'Site' ? name : site;
}

function isInScope(step: Pick<Step, 'manifest' | 'site'>, { sites }: ApplyActor): boolean {
  const scope = scopeOf(step);
  return scope === '' || sites === null || sites.includes(scope);
}

function refuseForeign(step: Pick<Step, 'manifest' | 'site'>, actor: ApplyActor): void {
  if (isInScope(step, actor)) return;
  const scope = scopeOf(step);
  throw new Refusal('forbidden', `site ${scope} is outside your scope`, { code: 'site_scope', site: scope });
}

/** Beside its own action, apply needs that of the kind's create or update route (decisions Q-CHANGE-07). */
function authorise({ manifest, site }: Pick<Step, 'manifest' | 'site'>, actor: ApplyActor, store: Store): void {
  const { kind, name } = manifest;
  refuseForeign({ manifest, site }, actor);
  if (ROUTELESS_KINDS.includes(kind.kind)) return;
  const action = `${kind.action}:${kind.apply.how !== 'create-only' && store.get(kind, site, name) ? 'update' : 'create'}`;
  if (!actor.may(action)) throw new Refusal('forbidden', `applying ${kind.kind} ${name} needs the action ${action}`, { code: 'action_missing', action });
}

function calledOf(kind: AnyKind, site: string, name: string): Pick<Applied, 'apiVersion' | 'kind' | 'namespace' | 'name'> {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, namespace: site === '' ? '' : `site-${site}`, name };
}

type Operated = Pick<Outcome, 'step' | 'operation' | 'warnings'>;

function served({ step: { index, manifest, site }, operation, warnings }: Operated, notes: readonly ByManifest[], store: Store): Applied {
  const { kind, name } = manifest;
  return {
    ...calledOf(kind, site, name),
    operation,
    generation: store.get(kind, site, name)?.metadata.generation ?? 0,
    warnings: [...warnings, ...notes.flatMap((each) => each.get(index) ?? [])],
  };
}
