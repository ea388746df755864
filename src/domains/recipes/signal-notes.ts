/**
 * Signals and barriers that the charts of a recipe read (decisions 2.7). Each is known in a batch that has a copy of its pattern, which
 * `coordinationRefs` names; any other is a failure when it is read (`unknown-signal`).
 */
import { addressesOfCondition } from '../../../runtime/language/chart-uses.js';
import type { ProceduralChart } from '../../../runtime/vocabulary/chart.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { SpecNote } from '../../platform/store/spec-note.js';
import { CoordinationBlock, SyncBarrier } from '../coordination/kind.js';
import { PhaseTemplate, type PhaseTemplateSpec } from '../procedures/kind.js';
import { textsOf } from '../procedures/template-notes.js';
import { whyNoEndpoint } from '../procedures/unknown-addresses.js';
import type { MasterRecipeSpec } from './kind.js';
import { reachedTemplates } from './reached-templates.js';

const IS_SIGNAL = /^(signal|barrier):./i;

interface Read {
  readonly address: string;
  readonly path: string;
  readonly line: number;
}

/** In the conditions of a procedural chart and of those inside it. */
function readsIn({ steps = [], transitions = [] }: ProceduralChart, path: string): readonly Read[] {
  const own = transitions.flatMap(({ conditionST = '' }, index) =>
    addressesOfCondition(conditionST).flatMap(({ address, line }): readonly Read[] =>
      IS_SIGNAL.test(address) ? [{ address, line, path: `${path}.transitions[${index}].conditionST` }] : [],
    ),
  );
  return [...own, ...steps.flatMap(({ name, subChart }) => (subChart ? readsIn(subChart, `${path}.steps[${name}].subChart`) : []))];
}

/** Of which the site has no pattern. */
export function unknownSignals(read: StoreReader, site: string, chart: ProceduralChart, path: string): readonly SpecNote[] {
  return readsIn(chart, path).flatMap(({ address, line, path: member }): readonly SpecNote[] => {
    const why = whyNoEndpoint(read, site, address);
    return why === '' ? [] : [{ path: member, text: `line ${line}, READ('${address}'): ${why}` }];
  });
}

/** Of which the recipe does not name the pattern. */
export function unnamedSignals(read: StoreReader, site: string, { procedure, coordinationRefs }: MasterRecipeSpec): readonly SpecNote[] {
  const isNamed = (pattern: Pattern): boolean => coordinationRefs.some(({ kind, name }) => kind === pattern.kind && name === pattern.name);
  const of = (addresses: readonly string[], who: string): readonly SpecNote[] =>
    [...new Set(addresses)].flatMap((address): readonly SpecNote[] => {
      const patterns = patternsOf(read, site, address);
      const [first] = patterns;
      if (!first || patterns.some((pattern) => pattern.isOfBatch || isNamed(pattern))) return [];
      return [{ path: 'coordinationRefs', text: `${who} reads ${address}, and coordinationRefs does not name the ${first.kind} ${first.name}: no batch of the recipe knows it` }];
    });
  const ofTemplates = reachedTemplates(read, site, procedure.chart).flatMap(({ kind, name, spec }) => of(signalsOf(kind, spec), `${kind} ${name}`));
  return [
    ...of(
      readsIn(procedure.chart, '').map(({ address }) => address),
      'the procedure',
    ),
    ...ofTemplates,
  ];
}

function signalsOf(kind: string, spec: unknown): readonly string[] {
  if (kind !== PhaseTemplate.kind) return readsIn((spec as { readonly chart?: ProceduralChart }).chart ?? {}, '').map(({ address }) => address);
  return textsOf(spec as PhaseTemplateSpec).addresses.flatMap(({ address }) => (IS_SIGNAL.test(address) ? [address] : []));
}

interface Pattern {
  readonly kind: string;
  readonly name: string;
  /** It is used as it is. */
  readonly isOfBatch: boolean;
}

function patternsOf(read: StoreReader, site: string, address: string): readonly Pattern[] {
  const colon = address.indexOf(':');
  const [scheme, word] = [address.slice(0, colon).toLowerCase(), address.slice(colon + 1).toLowerCase()];
  const blocks = scheme === 'signal' ? read.list(CoordinationBlock, site).filter(({ spec }) => spec.signal?.signalName.toLowerCase() === word) : [];
  const barriers = scheme === 'barrier' ? read.list(SyncBarrier, site).filter(({ metadata }) => metadata.name.toLowerCase() === word) : [];
  return [...blocks, ...barriers].map(({ kind, metadata, spec }) => ({ kind, name: metadata.name, isOfBatch: spec.batchRef !== '' }));
}
