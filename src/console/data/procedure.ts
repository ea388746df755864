/**
 * The procedure of the batch that is open: its tree from the control recipe, the states of its elements from the timeline,
 * and the element that is looked at with its live chart (contract 3, Procedural resources; decisions 1.7).
 */
import { effect, signal } from '@preact/signals';
import { detail, selected } from './batch.js';
import { get } from './api.js';
import { Latest } from './latest.js';
import { batchTouched, site, whenUntold } from './plant.js';
import { can } from './session.js';
import { isFinal } from './states.js';
import { coalesced, everySecond } from './timers.js';
import type { ControlRecipe, ElementDetail, ProceduralChart, Template, Timeline } from './types.js';

export interface TreeNode {
  /** `makeResin/react/heat`; empty for the procedure itself. */
  readonly path: string;
  readonly stepName: string;
  readonly level: number;
  readonly chart: ProceduralChart;
  readonly isPhase: boolean;
}

export type ElementState = Pick<Timeline['lanes'][number], 'kind' | 'name' | 'unit'> & { readonly state: string };

export const tree = signal<readonly TreeNode[]>([]);
/** By path; the procedure has the empty path. An element that has not had its turn is missing. */
export const states = signal<ReadonlyMap<string, ElementState>>(new Map());
/** Of the batch that is open: since when each element is in which state. */
export const timeline = signal<Timeline | null>(null);
export const chosenPath = signal('');
/** The view opens at a phase that runs; afterwards it moves only when a person says so. */
let isChosen = false;
/** Null while the element has not had its turn. */
export const element = signal<ElementDetail | null>(null);

/** Path segment of each kind of element. */
export const COLLECTIONS: Readonly<Record<string, string>> = { Procedure: 'procedures', UnitProcedure: 'unitprocedures', Operation: 'operations', Phase: 'phases' };

function at(path: string): string {
  return `/api/v1/sites/${encodeURIComponent(site.peek())}/${path}`;
}

function grow(chart: ProceduralChart, templates: ReadonlyMap<string, Template>, parent: string, level: number): TreeNode[] {
  return (chart.steps ?? []).flatMap((step) => {
    const path = parent === '' ? step.name : `${parent}/${step.name}`;
    const template = templates.get(`${step.templateKind} ${step.templateRef}`);
    const isPhase = step.templateKind === 'PhaseTemplate';
    const own: ProceduralChart = step.subChart ?? (isPhase ? { steps: template?.spec.steps ?? [], transitions: template?.spec.transitions ?? [] } : (template?.spec.chart ?? {}));
    return [{ path, stepName: step.name, level, chart: own, isPhase }, ...(isPhase ? [] : grow(own, templates, path, level + 1))];
  });
}

const latestStates = new Latest();
const latestElement = new Latest();

async function readTree(recipe: string): Promise<void> {
  const { spec } = await get<ControlRecipe>(at(`recipes/control/${encodeURIComponent(recipe)}`), { background: true });
  const templates = new Map(spec.templates.map((template) => [`${template.kind} ${template.name}`, template]));
  if (detail.peek()?.recipe.controlRecipe !== recipe) return;
  tree.value = [{ path: '', stepName: '', level: 0, chart: spec.chart, isPhase: false }, ...grow(spec.chart, templates, '', 1)];
}

async function readStates(): Promise<void> {
  const batch = selected.peek();
  if (batch === '' || !watching || !can('batch:timeline')) return;
  await latestStates.read(() => get<Timeline>(at(`batches/${encodeURIComponent(batch)}/timeline`), { background: true }), takeLanes);
}

function takeLanes(read: Timeline): void {
  const { lanes } = read;
  timeline.value = read;
  const found = new Map<string, ElementState>();
  for (const { kind, name, path, unit, spans } of lanes) if (kind !== 'Batch') found.set(path, { kind, name, unit, state: spans.at(-1)?.state ?? '' });
  states.value = found;
  if (isChosen) return;
  const running = [...found].find(([, { kind, state }]) => kind === 'Phase' && state === 'Running');
  if (running) choosePath(running[0]);
}

export async function readElement(): Promise<void> {
  const known = states.peek().get(chosenPath.peek());
  const collection = COLLECTIONS[known?.kind ?? ''];
  if (!known || !collection) {
    element.value = null;
    return;
  }
  await latestElement.read(
    () => get<ElementDetail>(at(`${collection}/${encodeURIComponent(known.name)}`), { background: true }),
    (found) => {
      element.value = found;
    },
  );
}

export function choosePath(path: string): void {
  isChosen = true;
  latestElement.forget();
  chosenPath.value = path;
  element.value = null;
  void readElement().catch(() => undefined);
}

let watching = false;

/** Keeps the procedure up for as long as its view is open. @returns ends it. */
export function watchProcedure(): () => void {
  watching = true;
  const forget = (): void => {
    latestStates.forget();
    latestElement.forget();
    tree.value = [];
    states.value = new Map();
    timeline.value = null;
    chosenPath.value = '';
    isChosen = false;
    element.value = null;
  };
  /** A box that has just come back may answer nothing yet. */
  let isRead = true;
  const readSoon = coalesced(150, async () => {
    try {
      await readStates();
      isRead = true;
    } catch {
      isRead = false;
    }
    await readElement().catch(() => undefined);
  });
  let shown = '';
  let recipe = '';
  const ends = [
    effect(() => {
      if (selected.value === shown) return;
      shown = selected.value;
      recipe = '';
      forget();
      readSoon();
    }),
    effect(() => {
      const wanted = detail.value?.recipe.controlRecipe ?? '';
      if (wanted === '' || wanted === recipe) return;
      recipe = wanted;
      readTree(wanted).catch(() => {
        recipe = ''; // the next look at the batch asks again
      });
      readSoon();
    }),
    effect(() => {
      if (batchTouched.value.batch === selected.peek()) readSoon();
    }),
    whenUntold(readSoon),
    everySecond(async () => {
      const batch = detail.peek();
      if (batch && !isRead && !document.hidden) readSoon();
      if (batch && !isFinal(batch.phase) && !document.hidden) await readElement().catch(() => undefined);
    }),
  ];
  return () => {
    watching = false;
    for (const end of ends) end();
    forget();
  };
}
