/**
 * Charts as BatchML ProcedureLogic (decisions 8.8): a step per step, a transition per transition, a link per edge. A chart
 * without transitions runs its steps in order, or all branches of its divergence at once (decisions 2.2).
 */
import { type ChartTransition, transitionKey } from '../../../runtime/vocabulary/chart.js';
import { element, required, text, type XmlElement } from '../../platform/http/xml.js';
import { groupBy } from '../../platform/base/group-by.js';

interface AnyChart {
  readonly steps?: readonly { readonly name: string; readonly description?: string | undefined }[] | undefined;
  readonly transitions?: readonly ChartTransition[] | undefined;
  readonly divergences?: readonly { readonly name: string; readonly type: string; readonly branches?: readonly string[] | undefined }[] | undefined;
}

type End = 'Step' | 'Transition';
type LinkKind = 'ControlLink' | 'ParallelDivergent' | 'ParallelConvergent' | 'SerialDivergent' | 'SerialConvergent';

interface Link {
  readonly kind: LinkKind;
  readonly from: readonly string[];
  readonly fromType: End;
  readonly to: readonly string[];
  readonly toType: End;
}

/** @param path of the element whose chart it is; its steps are the elements below. Undefined for a chart without steps. */
export function procedureLogic(chart: AnyChart | undefined, path: string, version: string): XmlElement | undefined {
  const steps = chart?.steps ?? [];
  if (!chart || steps.length === 0) return undefined;
  return element(
    'ProcedureLogic',
    linksOf(chart).map((link, at) => linkXml(link, `L${at + 1}`)),
    steps.map((step) =>
      element(
        'Step',
        required('ID', step.name),
        required('RecipeElementID', path === '' ? step.name : `${path}/${step.name}`),
        required('RecipeElementVersion', version),
        text('Description', step.description),
      ),
    ),
    (chart.transitions ?? []).map((transition, at) =>
      element(
        'Transition',
        required('ID', transitionKey(transition, at)),
        required('Condition', transition.conditionST?.trim() || 'TRUE'),
        text('Description', transition.description),
      ),
    ),
  );
}

function linksOf(chart: AnyChart): Link[] {
  const transitions = (chart.transitions ?? []).map((transition, at) => ({ ...transition, key: transitionKey(transition, at) }));
  if (transitions.length === 0) return sequenceLinks(chart);
  const diverge = branchesOf(chart, 'SimultaneousDiverge');
  const converge = branchesOf(chart, 'SimultaneousConverge');
  const links: Link[] = [];
  for (const [from, out] of groupBy(transitions, ({ from }) => from)) {
    const joined = converge.get(from);
    if (joined) for (const { key } of out) links.push({ kind: 'ParallelConvergent', from: joined, fromType: 'Step', to: [key], toType: 'Transition' });
    else links.push({ kind: out.length > 1 ? 'SerialDivergent' : 'ControlLink', from: [from], fromType: 'Step', to: out.map(({ key }) => key), toType: 'Transition' });
  }
  for (const [to, into] of groupBy(transitions, ({ to }) => to)) {
    const split = diverge.get(to);
    if (split) for (const { key } of into) links.push({ kind: 'ParallelDivergent', from: [key], fromType: 'Transition', to: split, toType: 'Step' });
    else links.push({ kind: into.length > 1 ? 'SerialConvergent' : 'ControlLink', from: into.map(({ key }) => key), fromType: 'Transition', to: [to], toType: 'Step' });
  }
  return links;
}

/** In array order; steps that start together have no link between them. */
function sequenceLinks(chart: AnyChart): Link[] {
  if (branchesOf(chart, 'SimultaneousDiverge').size > 0) return [];
  const names = (chart.steps ?? []).map(({ name }) => name);
  return names.slice(1).map((name, at) => ({ kind: 'ControlLink', from: names.slice(at, at + 1), fromType: 'Step', to: [name], toType: 'Step' }));
}

function branchesOf(chart: AnyChart, type: string): Map<string, readonly string[]> {
  return new Map((chart.divergences ?? []).filter((divergence) => divergence.type === type).map(({ name, branches }) => [name, branches ?? []]));
}

function linkXml({ kind, from, fromType, to, toType }: Link, id: string): XmlElement {
  return element(
    'Link',
    required('ID', id),
    from.map((name) => element('FromID', required('FromIDValue', name), required('FromType', fromType), required('IDScope', 'Internal'))),
    to.map((name) => element('ToID', required('ToIDValue', name), required('ToType', toType), required('IDScope', 'Internal'))),
    required('LinkType', kind),
    required('Depiction', 'None'),
  );
}
