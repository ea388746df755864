/** Phases, operations and unit procedures that are run on one unit without a batch (contract 3, Ad-hoc rules), and what may be done to such a run. */
import { get, getAll, getList, post } from './api.js';
import { COLLECTIONS } from './procedure.js';
import { atSite, modules } from './plant.js';
import type { Command, PhaseAtWork, RunnableTemplate } from './types.js';

export const RUN_KINDS = ['Phase', 'Operation', 'UnitProcedure'] as const;
export type RunKind = (typeof RUN_KINDS)[number];

const WAYS: Readonly<Record<RunKind, { readonly templates: string; readonly execute: string; readonly action: string; readonly field: string }>> = {
  Phase: { templates: 'phasetemplates', execute: 'execute-phase', action: 'unit:execute-phase', field: 'phaseTemplateRef' },
  Operation: { templates: 'operationtemplates', execute: 'execute-operation', action: 'unit:execute-operation', field: 'operationTemplateRef' },
  UnitProcedure: { templates: 'unitproceduretemplates', execute: 'execute-unitprocedure', action: 'unit:execute-unitprocedure', field: 'unitProcedureTemplateRef' },
};

/** What the route of the kind asks for. */
export function actionOf(kind: RunKind): string {
  return WAYS[kind].action;
}

/** Those that the unit has the modules for; of sequences those of category equipment, which alone are run without a batch. */
export async function readRunnable(kind: RunKind, unit: string): Promise<readonly RunnableTemplate[]> {
  const found = await getAll<RunnableTemplate>(atSite(`${WAYS[kind].templates}?limit=500`), { background: true });
  const own = [...modules.peek().values()].filter((module) => module.unit === unit);
  const fills = (type: string): boolean => own.some(({ templateRef, moduleType }) => templateRef === type || moduleType === type);
  return found.filter(({ spec }) =>
    kind === 'Phase' ? (spec.roles ?? []).every(({ required, requiredType }) => !required || fills(requiredType)) : spec.category === 'equipment',
  );
}

export interface RunOrder {
  readonly kind: RunKind;
  readonly unit: string;
  readonly template: string;
  readonly values: readonly { readonly name: string; readonly value: string }[];
  /** Of a unit procedure. */
  readonly reason: string;
}

export async function execute({ kind, unit, template, values, reason }: RunOrder): Promise<void> {
  const { execute: path, field } = WAYS[kind];
  await post(atSite(`units/${encodeURIComponent(unit)}/${path}`), { [field]: template, parameterValues: values, ...(kind === 'UnitProcedure' ? { reason } : {}) });
}

export type Run = PhaseAtWork & { readonly kind: RunKind };

const RUNS_PAGE = 100;
const RUNS_MAX = 50;

/** Of the unit, the newest first. @returns also whether there are older ones. */
export async function readRuns(unit: string): Promise<{ readonly runs: readonly Run[]; readonly hasOlder: boolean }> {
  const lists = await Promise.all(RUN_KINDS.map((kind) => newestOf(kind, unit)));
  const runs = lists.flatMap((list) => list.runs).sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  return { runs: runs.slice(0, RUNS_MAX), hasOlder: runs.length > RUNS_MAX || lists.some(({ hasOlder }) => hasOlder) };
}

/** Parts of a run stand in the same list as runs: it is read on until there are enough of these. */
async function newestOf(kind: RunKind, unit: string): Promise<{ readonly runs: readonly Run[]; readonly hasOlder: boolean }> {
  const query = new URLSearchParams({ adhoc: 'true', order: 'recent', unit, limit: String(RUNS_PAGE) });
  const runs: Run[] = [];
  let next = atSite(`${COLLECTIONS[kind]}?${query}`);
  while (next !== '' && runs.length < RUNS_MAX) {
    const page = await getList<PhaseAtWork>(next, { background: true });
    runs.push(...page.items.filter(({ parent }) => parent === null).map((item) => ({ ...item, kind })));
    next = page.next;
  }
  return { runs, hasOlder: next !== '' };
}

/** A 200 means recorded; the verdict shows as a new state or as the rejection of the run. */
export async function commandRun({ kind, name }: Pick<Run, 'kind' | 'name'>, command: Command, reason: string): Promise<void> {
  await post(atSite('command'), { kind, name, command, ...(reason === '' ? {} : { reason }) });
}

/** What it is and which commands it takes now. */
export async function readRun({ kind, name }: Pick<Run, 'kind' | 'name'>): Promise<PhaseAtWork> {
  return get<PhaseAtWork>(atSite(`${COLLECTIONS[kind]}/${encodeURIComponent(name)}`), { background: true });
}
