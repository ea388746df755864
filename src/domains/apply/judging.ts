/**
 * Judges manifests one after the other, each against the store as those before it leave it. A thousand of them take a second, so they are
 * judged ahead in slices, and everybody else is served between two; what the judgement of each rests on is noted (`ReadTrace`). Then, in
 * the turn in which all of them are written, only those are judged again whose ground has changed meanwhile: what is written is what one
 * turn would have found.
 */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { MODES } from '../../../runtime/vocabulary/modes.js';
import { assert } from '../../platform/base/assert.js';
import { combined, eachOf, Refusal, refusalsOf, refuseAll, together } from '../../platform/base/refusal.js';
import { claimedOutputs, type IsLeaving } from './claimed-outputs.js';
import { Turns } from '../../platform/base/slices.js';
import { decode } from '../../platform/http/json-body.js';
import { WrittenAhead } from '../../platform/ledger/written-ahead.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import { companionsOf } from '../../platform/store/companions.js';
import { writtenKeys } from '../../platform/store/envelope.js';
import type { Reference, StoreReader } from '../../platform/store/kind.js';
import { byOwnNames } from '../../platform/store/other-names.js';
import { checkReferences, inOrder } from '../../platform/store/references.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put } from '../../platform/store/store.js';
import { checkTexts } from '../../platform/store/texts.js';
import { Site } from '../plant/kind.js';
import type { OverriddenEdit } from '../runs/logic-edits.js';
import { ChangeRequest } from '../change-control/kind.js';
import type { ApplyActor, ApplyDeps, Stamped, Unstamped } from './context.js';
import { keyChanges, type ManifestChange, specChanges } from './changes.js';
import { differences } from './differs.js';
import { type Arrival, arrived } from './from-device.js';
import { applyRuleOf } from './kind-rules.js';
import type { AnyKind } from './kinds.js';
import { admitted } from './left-behind.js';
import { withoutMembers } from './without-members.js';
import { type Manifest, wholeManifest } from './manifest.js';
import { ReadTrace, StagedStore } from './staging.js';

export interface Step {
  /** In the request. */
  readonly index: number;
  readonly manifest: Manifest;
  readonly site: string;
}

export type Operation = 'created' | 'configured' | 'unchanged';

/** Of one manifest that is taken. */
export interface Outcome {
  readonly step: Step;
  readonly operation: Operation;
  readonly warnings: readonly string[];
  readonly changes: () => readonly ManifestChange[];
  readonly puts: readonly Put[];
  /** Undefined where nothing changes. */
  readonly audit?: AuditDraft;
  readonly edits?: readonly OverriddenEdit[] | undefined;
}

export interface Judged {
  readonly outcomes: readonly Outcome[];
  readonly refused: readonly Refused[];
  /** Right for all that is known: they name what is refused. */
  readonly withheld: readonly (WantedRow | undefined)[];
}

/** What a manifest that is not taken would do. */
export interface WantedRow {
  readonly step: Step;
  readonly operation: Operation;
  readonly changes: () => readonly ManifestChange[];
  readonly put: Put;
}

export interface Refused {
  readonly index: number;
  readonly kind: string;
  readonly name: string;
  readonly refusal: Refusal;
  /** Undefined where the manifest cannot be read. */
  readonly wanted?: WantedRow | undefined;
}

/** What a manifest says, beside what is there. */
interface Wanted {
  readonly before: Resource<unknown, unknown> | undefined;
  readonly spec: unknown;
  readonly labels?: Keys | undefined;
  readonly annotations?: Keys | undefined;
}

interface Judgement {
  readonly trace: ReadTrace;
  readonly taken: Outcome | Refusal;
  /** Of one that is refused: what it would change, as far as it can be read. */
  readonly wanted: Wanted | undefined;
  readonly tookMs: number;
}

/** What may be left for the last turn without another pass. */
const LEFT_FOR_LAST_MS = 20;
/** On a plant at work there is always something that has changed. */
const PASSES_MAX = 6;
/** Operators wait as long: what cannot be judged in it is not taken. */
const LAST_TURN_MS_MAX = 500;

/** By which a manifest names its site. */
const SITE_FIELD = 'metadata.namespace';

export class Judging {
  readonly #steps: readonly Step[];
  readonly #actor: ApplyActor;
  readonly #deps: ApplyDeps;
  /** Whether all manifests of the request are among the steps: one that cannot be read may be what another names. */
  readonly #allRead: boolean;
  /** What will be removed behind the apply. */
  readonly #isLeaving: IsLeaving;
  readonly #judged: (Judgement | undefined)[] = [];

  private constructor(steps: readonly Step[], actor: ApplyActor, deps: ApplyDeps, allRead: boolean, isLeaving: IsLeaving) {
    this.#steps = steps;
    this.#actor = actor;
    this.#deps = deps;
    this.#allRead = allRead;
    this.#isLeaving = isLeaving;
  }

  /** Takes as long as it takes, and holds nobody up. */
  static async ahead(steps: readonly Step[], actor: ApplyActor, deps: ApplyDeps, allRead: boolean, isLeaving: IsLeaving): Promise<Judging> {
    const judging = new Judging(await inOrderOfNeed(steps, deps), actor, deps, allRead, isLeaving);
    await judging.#pass();
    await judging.catchUp();
    return judging;
  }

  /** Judges again what rests on something that has changed since, until little is left: others go on meanwhile. */
  async catchUp(): Promise<void> {
    for (let pass = 0; pass < PASSES_MAX && this.#msOf(this.#outdated()) > LEFT_FOR_LAST_MS; pass += 1) await this.#pass();
  }

  async #pass(): Promise<void> {
    const turns = new Turns(this.#deps.clock);
    for (const work of this.#walk(new StagedStore(this.#deps.store))) {
      work();
      if (turns.isOver) await turns.next();
    }
  }

  /** Texts of what will be written if nothing changes: most of what the last turn would have to do. */
  async writtenAhead(): Promise<WrittenAhead> {
    const texts = new WrittenAhead();
    const turns = new Turns(this.#deps.clock);
    for (const judgement of this.#judged) {
      if (judgement === undefined || judgement.taken instanceof Refusal) continue;
      const { puts, audit } = judgement.taken;
      for (const { spec } of puts) texts.writePlain(spec);
      texts.writeCanonical(audit?.before);
      texts.writeCanonical(audit?.after);
      if (turns.isOver) await turns.next();
    }
    return texts;
  }

  /**
   * Of this turn.
   * @throws Refusal 503 `plant_changing` where more has changed meanwhile than anybody may be held up for.
   */
  now(): Judged {
    const outdated = this.#outdated();
    if (this.#msOf(outdated) > LAST_TURN_MS_MAX) {
      const message = 'what the manifests rest on changes faster than they can be judged; nothing was changed: try again in a moment, or send fewer at once';
      throw new Refusal('unavailable', message, { code: 'plant_changing' });
    }
    for (const work of this.#walk(new StagedStore(this.#deps.store), (judgement) => !outdated.has(judgement))) work();
    return this.asJudged();
  }

  /** Of the turns in which it was judged: for whoever writes nothing. */
  asJudged(): Judged {
    const outcomes: Outcome[] = [];
    const refused: Refused[] = [];
    const following: (WantedRow | undefined)[] = [];
    /** Refused, or naming one that is: what names it in turn is right for all that is known. */
    const withheld = new Set<string>();
    this.#steps.forEach((step, at) => {
      const judgement = this.#judged[at];
      if (judgement === undefined) return;
      const { index, manifest, site } = step;
      const { kind, name } = manifest;
      const { taken, wanted } = judgement;
      if (!(taken instanceof Refusal)) {
        outcomes.push(taken);
        return;
      }
      const follows = ({ context: { code, field, kind: namedKind, name: named } }: Refusal): boolean =>
        code === 'unknown_reference'
          ? !this.#allRead || [site, ''].some((of) => withheld.has(`${String(namedKind)}/${of}/${String(named)}`))
          : field === SITE_FIELD && withheld.has(`${Site.kind}//${site}`);
      const isWhole = !follows(taken) && !taken.beside.some(follows);
      const refusal = isWhole ? taken : combined(eachOf(taken).filter((each) => !follows(each)));
      const row = wanted && wantedOf(step, wanted);
      if (refusal) refused.push({ index, kind: kind.kind, name, refusal, wanted: row });
      else following.push(row);
      withheld.add(`${kind.kind}/${site}/${name}`);
    });
    const claimed = claimedOutputs(outcomes, this.#deps.store, this.#isLeaving);
    if (claimed.length === 0) return { outcomes, refused, withheld: following };
    const isClaimed = new Set(claimed.map(({ index }) => index));
    return { outcomes: outcomes.filter(({ step }) => !isClaimed.has(step.index)), refused: [...refused, ...claimed], withheld: following };
  }

  /** What rests on something that has changed. */
  #outdated(): ReadonlySet<Judgement> {
    const { store } = this.#deps;
    return new Set(this.#judged.flatMap((judgement) => (judgement && !judgement.trace.isTrueOf(store) ? [judgement] : [])));
  }

  /** How long it takes to judge them again. */
  #msOf(outdated: ReadonlySet<Judgement>): number {
    return [...outdated].reduce((sum, { tookMs }) => sum + tookMs, 0);
  }

  /** One piece of work for each step, in order: what was judged is staged as it was while its ground holds. */
  *#walk(staged: StagedStore, isTrue = (judgement: Judgement) => judgement.trace.isTrueOf(this.#deps.store)): Generator<() => void> {
    const moved = new Set<string>();
    for (const [at, step] of this.#steps.entries()) {
      yield () => {
        const known = this.#judged[at];
        if (known && !known.trace.touches(moved) && isTrue(known)) {
          stageAgain(staged, known.taken);
          return;
        }
        const judgement = judge(step, this.#actor, staged, this.#deps);
        if (known && !isDeepStrictEqual(putsOf(known.taken), putsOf(judgement.taken))) {
          for (const put of [...putsOf(known.taken), ...putsOf(judgement.taken)]) for (const key of ReadTrace.keysOf(put)) moved.add(key);
        }
        this.#judged[at] = judgement;
      };
    }
  }
}

function putsOf(taken: Outcome | Refusal): readonly Put[] {
  return taken instanceof Refusal ? [] : taken.puts;
}

function stageAgain(staged: StagedStore, taken: Outcome | Refusal): void {
  for (const put of putsOf(taken)) staged.put(put);
}

/** What is referred to comes first, whatever the order of the request; else by kind, then as given. */
async function inOrderOfNeed(steps: readonly Step[], deps: ApplyDeps): Promise<readonly Step[]> {
  const { store: read, kinds } = deps;
  const rankOf = ({ manifest }: Step): number => kinds.rankOf(manifest.kind);
  const byKind = steps.toSorted((a, b) => rankOf(a) - rankOf(b));
  const turns = new Turns(deps.clock);
  const references = new Map<Step, readonly Reference[]>();
  for (const step of byKind) {
    references.set(step, referencesOfStep(step, read));
    if (turns.isOver) await turns.next();
  }
  return inOrder(byKind, (step) => ({ kind: step.manifest.kind.kind, site: step.site, name: step.manifest.name, references: references.get(step) ?? [] }));
}

/** A spec that does not read names nothing: it is refused when its turn comes. */
function referencesOfStep({ manifest: { kind, name, spec }, site }: Step, read: StoreReader): readonly Reference[] {
  if (!kind.references) return [];
  try {
    return kind.references(decodeSpec(kind, keepMode(spec, read.get(kind, site, name)?.spec)).spec, site);
  } catch (fault) {
    if (fault instanceof Refusal) return [];
    throw fault;
  }
}

function wantedOf(step: Step, wanted: Wanted): WantedRow {
  const {
    site,
    manifest: { kind, name },
  } = step;
  const { before, spec, labels, annotations } = wanted;
  const isChanged = !before || labels !== undefined || annotations !== undefined || !isDeepStrictEqual(spec, before.spec);
  return {
    step,
    operation: before ? (isChanged ? 'configured' : 'unchanged') : 'created',
    changes: () => changesOf(kind, wanted),
    put: { kind, site, name, spec, ...(labels ? { labels } : {}) },
  };
}

function changesOf(kind: AnyKind, { before, spec, labels, annotations }: Wanted): readonly ManifestChange[] {
  return [
    ...keyChanges('metadata.labels', before?.metadata.labels, labels),
    ...keyChanges('metadata.annotations', before?.metadata.annotations, annotations),
    ...specChanges(kind, before?.spec, spec),
  ];
}

function judge(step: Step, actor: ApplyActor, staged: StagedStore, deps: ApplyDeps): Judgement {
  const trace = staged.beginTrace();
  const fromMs = deps.clock.monoMs();
  let wanted: Wanted | undefined;
  const judged = (verdict: Outcome | Refusal): Judgement => ({ trace, taken: verdict, wanted, tookMs: deps.clock.monoMs() - fromMs });
  try {
    return judged(taken(step, actor, staged, deps, (read) => void (wanted = read)));
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return judged(fault);
  } finally {
    staged.endTrace();
  }
}

/** Stages what the manifest writes, when all of it is judged. @param reads is told what it says, each time more of it is known. @throws Refusal. */
function taken(step: Step, actor: ApplyActor, staged: StagedStore, deps: ApplyDeps, reads: (wanted: Wanted) => void): Outcome {
  const { manifest, site } = step;
  const { kind, name } = manifest;
  if (site !== '' && !staged.has(Site, '', site)) {
    const noSite = new Refusal('missing', `site ${site} does not exist`, { code: 'not_found', field: SITE_FIELD });
    refuseAll([noSite, ...refusalsOf(() => decodeSpec(kind, manifest.spec))]);
  }
  const before: Resource<unknown, unknown> | undefined = staged.get(kind, site, name);
  const { spec: written, warnings: notes } = decodedSpec(kind, keepMode(manifest.spec, before?.spec), site, staged);
  const { spec: decoded, warning } =
    kind.kind === 'IOModule' ? arrived({ name, spec: written, before, fromDevice: manifest.fromDevice, deviceId: deps.deviceId } as Arrival) : { spec: written };
  const ignored = manifest.status ? ['status is ignored: apply takes the spec, and what runs makes its own status'] : [];
  reads({ before, spec: decoded });
  const judged: { spec: unknown; behind?: string; labels?: Keys | undefined; annotations?: Keys | undefined } = { spec: undefined };
  together(
    () => checkTexts(written, before?.spec, 'spec.'),
    () => void Object.assign(judged, admitted(kind, decoded, { name, site, via: 'apply', before, read: staged }, manifest.wasBehind)),
    () => void (judged.labels = changedKeys(manifest.labels, before?.metadata.labels, 'metadata.labels', kind, actor)),
    () => void (judged.annotations = changedKeys(manifest.annotations, before?.metadata.annotations, 'metadata.annotations', kind, actor)),
  );
  const { spec, behind, labels, annotations } = judged;
  reads({ before, spec, labels, annotations });
  const left = behind === undefined ? [] : [`taken as it was exported, although it does not fit the others: ${behind}`];
  const differs = differences({ manifest, site, spec, before, box: deps.box });
  const warnings = [...notes, ...(warning === undefined ? [] : [warning]), ...ignored, ...left, ...differs];
  const changed = !before || !isDeepStrictEqual(spec, before.spec);
  if (!changed && !labels && !annotations) return { step, operation: 'unchanged', warnings, changes: () => [], puts: [] };
  const kept = deps.controlled?.(kind, name);
  if (kept) throw kept;
  const ruled = applyRuleOf(kind.kind)?.({ site, name, spec, before, changed, read: staged, nowMs: deps.clock.wallMs(), terms: deps.store.terms });
  const companions = changed ? companionsOf(kind, { name, site, spec, before, read: staged, by: actor.displayName }) : {};
  const stamped = stampedOf(kind, { site, name, spec, read: staged }, actor, deps);
  const status: unknown = stamped?.status ?? ruled?.status ?? companions.status;
  const own: Put = {
    kind,
    site,
    name,
    spec: stamped?.spec ?? spec,
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    ...(status === undefined ? {} : { status }),
  };
  const puts = [own, ...(companions.puts ?? []), ...(ruled?.puts ?? [])];
  for (const put of puts) staged.put(put);
  const audit = actor.audit({
    site: site || (kind.kind === 'Site' ? name : ''),
    action: before ? 'Update' : 'Create',
    category: kind.action,
    target: { kind: kind.kind, name, site: site || (kind.kind === 'Site' ? name : '') },
    result: 'Success',
    details: { via: 'apply', ...(behind === undefined ? {} : { leftBehind: behind }) },
    ...(before ? { before: shown(kind, before.spec) } : {}),
    after: shown(kind, spec),
    ...stamped?.audit,
  });
  const changes = (): readonly ManifestChange[] => changesOf(kind, { before, spec, labels, annotations });
  return { step, operation: before ? 'configured' : 'created', warnings: [...warnings, ...(ruled?.warnings ?? [])], changes, puts, audit, edits: ruled?.edits };
}

/** What nobody has signed is no change request. */
function stampedOf(kind: AnyKind, request: Unstamped, actor: ApplyActor, deps: ApplyDeps): Stamped | undefined {
  if (kind.kind !== ChangeRequest.kind) return undefined;
  assert(deps.stamp, 'whoever takes a change request can sign it');
  return deps.stamp(request, actor);
}

type Keys = Readonly<Record<string, string>>;

/** Labels or annotations to write; undefined when they stay as they are. */
function changedKeys(given: Keys | undefined, stored: Keys = {}, field: string, { openKeys }: AnyKind, { isComponent }: ApplyActor): Keys | undefined {
  const keys = isComponent ? given : writtenKeys(given, stored, field, openKeys);
  return keys && !isDeepStrictEqual(keys, stored) ? keys : undefined;
}

function shown(kind: AnyKind, spec: unknown): unknown {
  return kind.redact?.(spec) ?? spec;
}

/** The equipment mode stands in the spec, but an operator sets it (contract 2, Equipment mode): a manifest that does not name it leaves it alone. */
function keepMode(spec: unknown, before: unknown): unknown {
  const mode = (before as { readonly mode?: unknown } | undefined)?.mode;
  if (!MODES.some((word) => word === mode) || typeof spec !== 'object' || spec === null || 'mode' in spec) return spec;
  return { ...spec, mode };
}

/** @throws Refusal of what is wrong in the spec; with what it names and is not there, as far as it can be read. */
function decodedSpec(kind: AnyKind, spec: unknown, site: string, read: StoreReader): ReturnType<typeof decodeSpec> {
  try {
    return decodeSpec(kind, spec);
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    const wrong = eachOf(fault);
    throw combined([...wrong, ...danglingBeside(wrong, kind, spec, site, read)]) ?? fault;
  }
}

/** References of a spec of which some members cannot be read; none where without those it is no spec. */
function danglingBeside(wrong: readonly Refusal[], kind: AnyKind, spec: unknown, site: string, read: StoreReader): readonly Refusal[] {
  const paths = wrong.map(({ context: { field = '' } }) => field);
  const rest = withoutMembers({ spec }, paths)?.spec;
  if (rest === undefined) return [];
  return refusalsOf(() => checkReferences(kind, decodeSpec(kind, rest).spec, site, read))
    .flatMap(eachOf)
    .filter(({ context: { code, field = '' } }) => code === 'unknown_reference' && !paths.some((path) => saysOfWhichKind(path, field)));
}

/** What a member names is of another kind where the member beside it that says so could not be read. */
function saysOfWhichKind(path: string, field: string): boolean {
  const around = (of: string): string => of.replace(/^spec\./, '').replace(/\.?[^.]*$/, '');
  return /kind$/i.test(path) && around(path) === around(field);
}

export function decodeSpec(kind: AnyKind, spec: unknown): { readonly spec: unknown; readonly warnings: readonly string[] } {
  if (kind.lenient) return kind.lenient(spec);
  const decoded = decode(v.strictObject({ spec: kind.spec as v.GenericSchema<unknown, unknown> }), { spec: ownNamesOf(kind, spec) }, () => wholeManifest(kind)).spec;
  return { spec: decoded, warnings: kind.warnings?.(decoded) ?? [] };
}

/** What is no object is refused by the schema. */
function ownNamesOf({ otherNames }: AnyKind, spec: unknown): unknown {
  return typeof spec === 'object' && spec !== null ? byOwnNames(spec, otherNames, 'spec.') : spec;
}
