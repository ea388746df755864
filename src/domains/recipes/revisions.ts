/**
 * Revisions of master recipes (decisions Q-RECIPE-08): every accepted write that changes the spec makes one, in the same
 * transaction, so that what was signed can always be shown again.
 */
import * as v from 'valibot';
import { shortText } from '../../platform/base/short-text.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { Companions, StoreReader, Written } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put } from '../../platform/store/store.js';
import { type LifecycleEntry, type MasterRecipeSpec, type MasterRecipeStatus, type RecipePhase, type RecipeRevisionSpec, RecipeRevision, type ReleasedTemplate } from './kind.js';
import { usedTemplates } from './used-templates.js';

/** Key of a revision in the store; a dot keeps it apart from every resource name. */
export function revisionName(recipe: string, revision: number): string {
  return `${recipe}.r${revision}`;
}

export function recipeDigest(spec: MasterRecipeSpec): string {
  return canonicalDigest(spec);
}

/** Newest first. */
export function revisionsOf(read: StoreReader, site: string, recipe: string): readonly Resource<RecipeRevisionSpec>[] {
  return read
    .list(RecipeRevision, site)
    .filter((revision) => revision.spec.recipe === recipe)
    .sort((a, b) => b.spec.revision - a.spec.revision);
}

/** The revision and the new status of a recipe whose spec was written. */
export function recipeCompanions(written: Written<MasterRecipeSpec, MasterRecipeStatus>): Companions<MasterRecipeStatus> {
  const phase = written.before?.status.phase ?? 'Draft';
  return revise(written, phase, written.before ? `edited in ${phase}` : 'created');
}

export function revise(
  { name, site, spec, before, read, by }: Written<MasterRecipeSpec, MasterRecipeStatus>,
  phase: RecipePhase,
  summary: string,
  more: { readonly revertedTo?: number; readonly entry?: LifecycleEntry } = {},
): Companions<MasterRecipeStatus> & { readonly status: MasterRecipeStatus } {
  const revision = (before?.status.revision ?? 0) + 1;
  const digest = recipeDigest(spec);
  const lifecycle = [...(before?.status.lifecycle ?? []), ...(more.entry ? [more.entry] : [])];
  const put: Put<RecipeRevisionSpec> = {
    kind: RecipeRevision,
    site,
    name: revisionName(name, revision),
    spec: {
      recipe: name,
      revision,
      createdBy: by,
      phase,
      digest,
      summary,
      spec,
      templates: usedTemplates(read, site, spec.procedure.chart),
      signatures: more.entry ? [more.entry] : [],
      ...(more.revertedTo === undefined ? {} : { revertedTo: more.revertedTo }),
    },
    status: {},
  };
  return { status: { phase, revision, digest, lifecycle }, puts: [put as Put] };
}

/** A lifecycle step adds its signature to the revision it signs and moves the recipe; the spec stays. */
export function signRevision(
  read: StoreReader,
  recipe: Resource<MasterRecipeSpec, MasterRecipeStatus>,
  entry: LifecycleEntry,
  released?: readonly ReleasedTemplate[],
): { readonly status: MasterRecipeStatus; readonly puts: readonly Put[] } {
  const { metadata, status } = recipe;
  const revision = read.get(RecipeRevision, metadata.site, revisionName(metadata.name, status.revision));
  const signed: Put<RecipeRevisionSpec>[] = revision
    ? [
        {
          kind: RecipeRevision,
          site: metadata.site,
          name: revision.metadata.name,
          spec: { ...revision.spec, phase: entry.to, signatures: [...revision.spec.signatures, entry], ...(released ? { released } : {}) },
        },
      ]
    : [];
  return { status: { ...status, phase: entry.to, lifecycle: [...status.lifecycle, entry] }, puts: signed as Put[] };
}

export const DiffEntry = v.strictObject({
  /** JSON Pointer (RFC 6901). */
  path: v.string(),
  op: v.picklist(['add', 'remove', 'replace']),
  from: v.optional(v.unknown()),
  to: v.optional(v.unknown()),
});
export type DiffEntry = ToldBy<typeof DiffEntry>;

nameSchemas({ RevisionDiffEntry: DiffEntry });

/** Differences in document order; arrays whose items have names are compared by name, others by place. */
export function diff(from: unknown, to: unknown, path = ''): DiffEntry[] {
  if (isMap(from) && isMap(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return keys.flatMap((key) => member(from[key], to[key], `${path}/${escapeKey(key)}`));
  }
  if (Array.isArray(from) && Array.isArray(to)) return diffArrays(from, to, path);
  return canonicalSame(from, to) ? [] : [{ path, op: 'replace', from, to }];
}

function member(from: unknown, to: unknown, path: string): DiffEntry[] {
  if (from === undefined && to === undefined) return [];
  if (from === undefined) return [{ path, op: 'add', to }];
  if (to === undefined) return [{ path, op: 'remove', from }];
  return diff(from, to, path);
}

function diffArrays(from: readonly unknown[], to: readonly unknown[], path: string): DiffEntry[] {
  const key = keyOf(from, to);
  if (!key) return Array.from({ length: Math.max(from.length, to.length) }, (_, index) => member(from[index], to[index], `${path}/${index}`)).flat();
  const before = new Map(from.map((item, index) => [key(item), { item, index }]));
  const changes: DiffEntry[] = [];
  to.forEach((item, index) => {
    const old = before.get(key(item));
    before.delete(key(item));
    changes.push(...(old ? diff(old.item, item, `${path}/${index}`) : [{ path: `${path}/${index}`, op: 'add' as const, to: item }]));
  });
  for (const { item, index } of before.values()) changes.push({ path: `${path}/${index}`, op: 'remove', from: item });
  return changes;
}

/** Compares by `name` when every item of both sides has a name of its own. */
function keyOf(from: readonly unknown[], to: readonly unknown[]): ((item: unknown) => string) | undefined {
  const name = (item: unknown): string => (item as { name: string }).name;
  for (const side of [from, to]) {
    if (!side.every((item) => isMap(item) && typeof item.name === 'string')) return undefined;
    if (new Set(side.map(name)).size !== side.length) return undefined;
  }
  return name;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function canonicalSame(a: unknown, b: unknown): boolean {
  return canonicalDigest(a) === canonicalDigest(b);
}

function escapeKey(key: string): string {
  return key.replace(/~/g, '~0').replace(/\//g, '~1');
}

/** One sentence per change, for people. */
export function summarise(changes: readonly DiffEntry[]): string[] {
  return changes.map(({ path, op, from, to }) => {
    const where = path.replace(/^\//, '').replaceAll('/', ' ');
    if (op === 'add') return `${where} added`;
    if (op === 'remove') return `${where} removed`;
    return `${where} changed from ${short(from)} to ${short(to)}`;
  });
}

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return shortText(text, 60);
}
