/**
 * Signals and barriers that the charts of a recipe read (decisions 2.7). Each is known in a batch that has a copy of its pattern, which
 * `coordinationRefs` names; any other is a failure when it is read (`unknown-signal`).
 */
import { addressesOfCondition, type NamedAddress } from '../../../runtime/language/chart-uses.js';
import type { ProceduralChart } from '../../../runtime/vocabulary/chart.js';
import { groupBy } from '../../platform/base/group-by.js';
import type { Nearing } from '../../platform/base/name-words.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { SpecNote } from '../../platform/store/spec-note.js';
import { CoordinationBlock, SyncBarrier } from '../coordination/kind.js';
import { PhaseTemplate, type PhaseTemplateSpec } from '../procedures/kind.js';
import { textsOf } from '../procedures/template-notes.js';
import { eachAddress, whyNoEndpoint } from '../procedures/unknown-addresses.js';
import type { MasterRecipeSpec } from './kind.js';
import { reachedTemplates } from './reached-templates.js';

const IS_SIGNAL = /^(signal|barrier):./i;

interface Read extends NamedAddress {
  /** Of the condition, from the chart that was asked for. */
  readonly path: string;
}

const readsOf = new WeakMap<ProceduralChart, readonly Read[]>();

/** In the conditions of a procedural chart and of those inside it; kept with the chart, because whoever reads or signs the recipe asks again. */
function readsIn(chart: ProceduralChart): readonly Read[] {
  const known = readsOf.get(chart);
  if (known) return known;
  const { steps = [], transitions = [] } = chart;
  const own = transitions.flatMap(({ conditionST = '' }, index) =>
    addressesOfCondition(conditionST).flatMap((use): readonly Read[] => (IS_SIGNAL.test(use.address) ? [{ ...use, path: `transitions[${index}].conditionST` }] : [])),
  );
  const inner = steps.flatMap(({ name, subChart }) => (subChart ? readsIn(subChart).map((use) => ({ ...use, path: `steps[${name}].subChart.${use.path}` })) : []));
  const all = [...own, ...inner];
  readsOf.set(chart, all);
  return all;
}

/** Of which the site has no pattern; each once. @param path member that holds the chart. @param near of all that is told together. */
export function unknownSignals(read: StoreReader, site: string, chart: ProceduralChart, path: string, near: Nearing): readonly SpecNote[] {
  return eachAddress(readsIn(chart), ({ address }) => whyNoEndpoint(read, site, address, near)).map(({ use, text }) => ({ path: `${path}.${use.path}`, text }));
}

/** Of which the recipe does not name the pattern. */
export function unnamedSignals(read: StoreReader, site: string, { procedure, coordinationRefs }: MasterRecipeSpec): readonly SpecNote[] {
  const named = new Set(coordinationRefs.map(({ kind, name }) => `${kind}/${name}`));
  const of = (addresses: readonly string[], who: string): readonly SpecNote[] =>
    [...new Set(addresses)].flatMap((address): readonly SpecNote[] => {
      const patterns = patternsOf(read, site, address);
      const [first] = patterns;
      if (!first || patterns.some(({ kind, name, isOfBatch }) => isOfBatch || named.has(`${kind}/${name}`))) return [];
      return [{ path: 'coordinationRefs', text: `${who} reads ${address}, and coordinationRefs does not name the ${first.kind} ${first.name}: no batch of the recipe knows it` }];
    });
  const ofTemplates = reachedTemplates(read, site, procedure.chart).flatMap(({ kind, name, spec }) => of(signalsOf(kind, spec), `${kind} ${name}`));
  return [
    ...of(
      readsIn(procedure.chart).map(({ address }) => address),
      'the procedure',
    ),
    ...ofTemplates,
  ];
}

function signalsOf(kind: string, spec: unknown): readonly string[] {
  if (kind !== PhaseTemplate.kind) return readsIn((spec as { readonly chart?: ProceduralChart }).chart ?? {}).map(({ address }) => address);
  return textsOf(spec as PhaseTemplateSpec).addresses.flatMap(({ address }) => (IS_SIGNAL.test(address) ? [address] : []));
}

interface Pattern {
  readonly kind: string;
  readonly name: string;
  /** It is used as it is. */
  readonly isOfBatch: boolean;
}

const patternsIn = new WeakMap<object, ReadonlyMap<string, readonly Pattern[]>>();

/** By the name under which they are read, in lower case; kept with the list that they are of. */
function patternsBy<Spec extends { readonly batchRef: string }>(list: readonly Resource<Spec>[], nameOf: (resource: Resource<Spec>) => string | undefined) {
  const known = patternsIn.get(list);
  if (known) return known;
  const patterns = list.flatMap((resource) => {
    const name = nameOf(resource);
    return name === undefined ? [] : [{ key: name.toLowerCase(), kind: resource.kind, name: resource.metadata.name, isOfBatch: resource.spec.batchRef !== '' }];
  });
  const made = groupBy(patterns, ({ key }) => key);
  patternsIn.set(list, made);
  return made;
}

function patternsOf(read: StoreReader, site: string, address: string): readonly Pattern[] {
  const colon = address.indexOf(':');
  const [scheme, word] = [address.slice(0, colon).toLowerCase(), address.slice(colon + 1).toLowerCase()];
  const patterns =
    scheme === 'signal'
      ? patternsBy(read.list(CoordinationBlock, site), ({ spec }) => spec.signal?.signalName)
      : patternsBy(read.list(SyncBarrier, site), ({ metadata }) => metadata.name);
  return patterns.get(word) ?? [];
}
