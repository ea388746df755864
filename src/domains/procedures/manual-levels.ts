/**
 * Which levels of a procedure stand in Manual, since when and because of what (decisions 3.7). A level that goes to Manual takes those
 * above it along, and nothing goes back by itself: whoever sets one back is told of the others.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { MODES } from '../../../runtime/vocabulary/modes.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Kind, StoreReader } from '../../platform/store/kind.js';
import { type ElementStatus, Operation, Procedure, UnitProcedure } from './kind.js';
import { type LevelRef, LevelReference, ManualSince } from './manual-since.js';
import { isAbove } from './roots.js';

export const Level = v.strictObject({ ...LevelReference.entries, mode: v.picklist(MODES), manual: v.optional(ManualSince) });
export type Level = ToldBy<typeof Level>;

nameSchemas({ ProceduralLevel: Level });

export type LevelElement = Resource<
  { readonly stepPath: string; readonly parentRef: { readonly kind: string; readonly name: string } | null },
  Pick<ElementStatus, 'mode' | 'manual'>
>;

const ABOVE = [Operation, UnitProcedure, Procedure] as readonly Kind<LevelElement['spec'], LevelElement['status']>[];

export function levelRef({ kind, metadata: { name }, spec: { stepPath } }: LevelElement): LevelRef {
  return { kind, name, path: stepPath };
}

export function levelOf(element: LevelElement): Level {
  const { mode, manual } = element.status;
  return { ...levelRef(element), mode, ...(mode === 'Manual' && manual ? { manual } : {}) };
}

/** As people read it: `Operation prepare/premix`, `Procedure b-7`. */
export function levelWords({ kind, name, path }: LevelRef): string {
  return `${kind} ${path || name}`;
}

/** From the next one up to the procedure, or to the root of an ad-hoc run. */
export function levelsAbove(read: StoreReader, element: LevelElement): Level[] {
  const found: Level[] = [];
  let below: LevelElement | undefined = element;
  while (below) {
    const parentRef: LevelElement['spec']['parentRef'] = below.spec.parentRef;
    const kind: (typeof ABOVE)[number] | undefined = parentRef && isAbove(parentRef.kind, below.kind) ? ABOVE.find((each) => each.kind === parentRef.kind) : undefined;
    below = kind && parentRef ? read.get(kind, element.metadata.site, parentRef.name) : undefined;
    if (below) found.push(levelOf(below));
  }
  return found;
}
