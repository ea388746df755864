/**
 * Values that a person has written and that stand: a change of mode takes none of them back, so they drive the module until a recipe or
 * somebody writes them again. Judged by the present values and by the last record of the audit trail; nothing is changed.
 */
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { Store } from '../../platform/store/store.js';
import { initialOf } from '../control-modules/initial-value.js';
import type { EffectiveTag } from '../control-modules/merge.js';
import { modulesOf, resolvedModuleOf } from '../control-modules/modules.js';
import type { UnitLink, UnitRuntimes } from '../placement/runtimes.js';
import { TAG_WRITE_CATEGORY } from './write.js';

export interface WrittenByHand {
  readonly unit: string;
  readonly module: string;
  readonly tag: EffectiveTag;
  readonly value: number | boolean;
  /** What it has until somebody writes it. */
  readonly initial: number | boolean;
  /** Display name. */
  readonly by: string;
  readonly at: string;
}

export interface HandDeps {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly queries: Pick<LedgerQueries, 'auditPage'>;
}

type Departed = Omit<WrittenByHand, 'by' | 'at'>;

/** Of units, by module; nothing of one whose runtime does not answer. */
export async function writtenByHand(deps: HandDeps, site: string, units: readonly string[]): Promise<WrittenByHand[]> {
  const found = await Promise.all(units.flatMap((unit) => departedOf(deps, site, unit)).map((each) => withWriter(deps, site, each)));
  return found.filter((each) => each !== undefined);
}

function departedOf({ store, runtimes }: HandDeps, site: string, unit: string): Departed[] {
  const link = runtimes.link(site, unit);
  if (!link?.ready || !link.refresh()) return [];
  return modulesOf(store, site, unit).flatMap((resource) => {
    const { name: module } = resource.metadata;
    const resolved = resolvedModuleOf(store, resource);
    return (resolved?.tags ?? []).flatMap((tag): Departed[] => {
      const initial = resolved && initialOf(resolved, tag);
      const value = presentValue(link, `${module}.${tag.name}`);
      return initial === undefined || value === undefined || value === initial ? [] : [{ unit, module, tag, value, initial }];
    });
  });
}

function presentValue(link: UnitLink, path: string): number | boolean | undefined {
  const index = link.tagIndex(path);
  if (index < 0) return undefined;
  const { value, quality, atMs } = link.reading(index);
  return atMs !== 0 && quality !== QUALITY.Bad && (typeof value === 'number' || typeof value === 'boolean') ? value : undefined;
}

/** Undefined where the last who wrote it was no person, or wrote something else than it has. */
async function withWriter({ queries }: HandDeps, site: string, departed: Departed): Promise<WrittenByHand | undefined> {
  const { module, tag, value } = departed;
  const asked = { site, category: TAG_WRITE_CATEGORY, kind: 'Tag', name: `${module}.${tag.name}`, result: 'Success', limit: 1 };
  const [last] = (await queries.auditPage(asked)).items;
  return last?.actorType === 'human' && String(last.after) === String(value) ? { ...departed, by: last.displayName, at: last.timestamp } : undefined;
}
