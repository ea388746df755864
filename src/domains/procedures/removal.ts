/**
 * What goes with an element or a batch that is deleted (decisions 1.1, `ownerReferences`). Deleting is for development:
 * in production what ran is evidence (contract 3, Procedural resources).
 */
import { conflict, Refusal } from '../../platform/base/refusal.js';
import type { Kind, StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Change, Put } from '../../platform/store/store.js';
import { Unit } from '../plant/kind.js';
import { shownReset } from '../plant/unit-owner.js';
import { type ElementStatus, Operation, Phase, Procedure, UnitProcedure } from './kind.js';
import { isAbove, isActive, isAdhoc } from './roots.js';

type ElementSpec = { readonly batchRef: string; readonly parentRef: { readonly kind: string; readonly name: string } | null };
type Element = Resource<ElementSpec, ElementStatus>;

const ELEMENT_KINDS = [Procedure, UnitProcedure, Operation, Phase] as readonly Kind<ElementSpec, ElementStatus>[];

export function elementsOf(read: StoreReader, site: string, batch: string): Element[] {
  return ELEMENT_KINDS.flatMap((kind) => read.list(kind, site)).filter(({ spec }) => spec.batchRef === batch);
}

/** Everything below an element: it belongs to the top of its tree and goes with it. */
export function elementsBelow(read: StoreReader, { kind, metadata: { site, name } }: Resource): Element[] {
  const children = ELEMENT_KINDS.flatMap((level) => read.list(level, site)).filter(
    (child) => child.spec.parentRef?.kind === kind && child.spec.parentRef.name === name && isAbove(kind, child.kind),
  );
  return children.flatMap((child) => [child, ...elementsBelow(read, child)]);
}

/**
 * The elements, and the units that still show the work of one of them: with it goes the only one whose Reset would bring
 * them back to Idle (decisions 3.6).
 */
export function removalOf(read: StoreReader, site: string, elements: readonly Resource[]): Pick<Change, 'puts' | 'removes'> {
  const names = new Set(elements.map(({ metadata }) => metadata.name));
  const units = read.list(Unit, site).filter(({ status }) => status.allocatedTo === '' && status.state !== 'Idle' && status.lastWork && names.has(status.lastWork.name));
  return {
    puts: units.map(({ metadata, status }) => ({ kind: Unit, site, name: metadata.name, status: shownReset(status) }) as Put),
    removes: elements.map(({ kind, metadata: { name } }) => ({ kind, site, name })),
  };
}

/** 403 in production (contract 3, Procedural resources): what ran is evidence. */
export function keptAsEvidence(): Refusal {
  return new Refusal('forbidden', 'procedural resources are production records and cannot be deleted in production mode', { code: 'production_mode' });
}

/** @throws Refusal 409 of one that goes with another, is at work, or has a unit. */
export function refuseElementDelete(element: Element, read: StoreReader): void {
  const { kind, metadata, spec, status } = element;
  const { parentRef } = spec;
  if (parentRef !== null && !isActive(status)) throw conflict('element_owned', `${kind} ${metadata.name} belongs to ${parentRef.kind} ${parentRef.name}; delete that one`);
  refuseAtWork([element, ...elementsBelow(read, element)]);
  refuseHolder(read, element);
}

/** Nothing at work is deleted. */
export function refuseAtWork(elements: readonly Resource<object, ElementStatus>[]): void {
  for (const { kind, metadata, status } of elements) {
    if (isActive(status)) throw conflict('element_active', `${kind} ${metadata.name} is ${status.state}; end it first`, { state: status.state });
  }
}

/** A unit that the batch or the ad-hoc root has, for example while it resets what it has left there. */
export function unitOf(read: StoreReader, site: string, scope: string): string | undefined {
  return read.list(Unit, site).find(({ status }) => status.allocatedTo === scope)?.metadata.name;
}

/** Nor the holder of a unit: one that nobody gives back could not be allocated again. */
export function refuseHolder(read: StoreReader, element: Resource<object, ElementStatus>): void {
  const { site, name } = element.metadata;
  const held = isAdhoc(element) ? unitOf(read, site, name) : undefined;
  if (held) throw conflict('element_active', `${element.kind} ${name} still has unit ${held}; end it first`, { state: element.status.state });
}
