/** The procedural elements that a batch executed, as a tree by step path: from their resources, else from the phase history. */
import type { Chart, ProceduralChart } from '../../../runtime/vocabulary/chart.js';
import type { XmlElement } from '../../platform/http/xml.js';
import type { Store } from '../../platform/store/store.js';
import { elementIndex } from '../batches/tree/element-index.js';
import type { PhaseHistoryEntry } from './kind.js';

export interface ExecutedElement {
  readonly kind: 'UnitProcedure' | 'Operation' | 'Phase';
  /** Step path, for example `makeResin/charge/monomer`. */
  readonly path: string;
  readonly templateRef: string;
  readonly unit: string;
  readonly state: string;
  /** Undefined when the resource is gone: only the history tells of it then. */
  readonly chart: Chart | ProceduralChart | undefined;
}

export function executedElements(store: Store, site: string, batch: string, history: readonly PhaseHistoryEntry[]): ExecutedElement[] {
  const found = new Map<string, ExecutedElement>();
  // as it was written down: an element may have been reset since
  const ended = new Map(history.map(({ path, states }) => [path, states.at(-1)?.state ?? 'Idle']));
  for (const { kind, spec, status } of elementIndex(store).elementsOf(site, batch)) {
    if (!isElement(kind) || spec.stepPath === '' || !('unitRef' in spec)) continue;
    found.set(spec.stepPath, {
      kind,
      path: spec.stepPath,
      templateRef: spec.templateRef,
      unit: spec.unitRef,
      state: ended.get(spec.stepPath) ?? status.state,
      chart: 'chart' in spec ? spec.chart : { steps: spec.steps, transitions: spec.transitions, divergences: spec.divergences },
    });
  }
  for (const { kind, path, templateRef, unit, states } of history) {
    if (path === '' || found.has(path) || !isElement(kind)) continue;
    found.set(path, { kind, path, templateRef, unit, state: states.at(-1)?.state ?? 'Idle', chart: undefined });
  }
  return [...found.values()];
}

function isElement(kind: string): kind is ExecutedElement['kind'] {
  return kind === 'UnitProcedure' || kind === 'Operation' || kind === 'Phase';
}

/** Renders the tree from its leaves; an element whose parent is unknown stands at the top. */
export function recipeElements(elements: readonly ExecutedElement[], render: (element: ExecutedElement, children: readonly XmlElement[]) => XmlElement): XmlElement[] {
  const paths = new Set(elements.map(({ path }) => path));
  const parentOf = (path: string): string => {
    const cut = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    return cut === '' || paths.has(cut) ? cut : parentOf(cut);
  };
  const below = (parent: string): XmlElement[] => elements.filter(({ path }) => parentOf(path) === parent).map((element) => render(element, below(element.path)));
  return below('');
}
