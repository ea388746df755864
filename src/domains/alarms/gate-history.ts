/**
 * When an arming gate was open (decisions Q-ALARM-13), from the recorded states of the phases that open it. A phase that has
 * changed since is what its first change says it was before; one that has not changed is what it is now.
 */
import type { WallMs } from '../../platform/base/times.js';
import type { History } from '../../platform/history/history.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Store } from '../../platform/store/store.js';
import type { State } from '../../../runtime/vocabulary/states.js';
import { isFinal } from '../../../runtime/vocabulary/transitions.js';
import { Phase } from '../procedures/kind.js';
import { phaseStates } from '../procedures/phase-states.js';
import type { AlarmDefinitionSpec } from './kind.js';

export type Gate = NonNullable<AlarmDefinitionSpec['armingGate']>;

export interface GateEdge {
  readonly atMs: WallMs;
  readonly open: boolean;
}

export interface GateHistory {
  /** Whether it was open before the first edge. */
  readonly openBefore: boolean;
  /** Oldest first, in turns. */
  readonly edges: readonly GateEdge[];
  /** Phases on the unit that are gone, and of which the history does not say from which template they were. */
  readonly unknownPhases: number;
}

interface StateBody {
  readonly ts: string;
  readonly kind: string;
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly templateRef?: string;
}

interface Asked {
  readonly gate: Gate;
  readonly site: string;
  readonly fromMs: WallMs;
  readonly nowMs: WallMs;
}

const PAGE = 5000;
/** A unit with more changes of state in a window than this is asked about a shorter one. */
const CHANGES_MAX = 100_000;

/** Undefined when there are too many changes to look at. */
export async function gateHistory({ gate, site, fromMs, nowMs }: Asked, store: Store, history: Pick<History, 'eventsJson'>): Promise<GateHistory | undefined> {
  const inGate = new Map<string, boolean>();
  const opens = (state: string): boolean => (gate.states as readonly string[]).includes(state);
  const turns: { readonly atMs: WallMs; readonly name: string; readonly inGate: boolean }[] = [];
  const unknown = new Set<string>();
  const templates = new Map<string, string | undefined>();
  const templateOf = async (name: string): Promise<string | undefined> => {
    if (!templates.has(name)) templates.set(name, await readTemplate(store, site, name));
    return templates.get(name);
  };
  let count = 0;
  for await (const changes of changesOf(site, gate.unitRef, fromMs, nowMs, history)) {
    count += changes.length;
    if (count > CHANGES_MAX) return undefined;
    for (const { ts, kind, name, from, to, templateRef = await templateOf(name) } of changes) {
      if (kind !== Phase.kind) continue;
      if (templateRef === undefined) unknown.add(name);
      if (templateRef !== gate.phaseTemplateRef) continue;
      if (!inGate.has(name)) inGate.set(name, opens(from));
      turns.push({ atMs: Date.parse(ts), name, inGate: opens(to) });
    }
  }
  for (const { metadata, status } of phaseStates(store).of(site, gate.unitRef, gate.phaseTemplateRef)) {
    if (!inGate.has(metadata.name)) inGate.set(metadata.name, opens(status.state));
  }
  const changed = new Set(turns.map(({ name }) => name));
  const isHeldOpen = [...inGate].some(([name, stands]) => stands && !changed.has(name));
  if (!isHeldOpen && gate.states.some(stays) && phaseStates(store).isAnyPast(site, gate.unitRef, gate.phaseTemplateRef, gate.states)) await seePast(gate, site, store, inGate);
  const isOpen = (): boolean => [...inGate.values()].includes(true);
  const openBefore = isOpen();
  const edges: GateEdge[] = [];
  for (const turn of turns) {
    inGate.set(turn.name, turn.inGate);
    const open = isOpen();
    if (open !== (edges.at(-1)?.open ?? openBefore)) edges.push({ atMs: turn.atMs, open });
  }
  return { openBefore, edges, unknownPhases: unknown.size };
}

/** What a run that is past has left behind: it came to rest before its record had settled, so it is in one of these. */
function stays(state: State): boolean {
  return state === 'Idle' || isFinal(state);
}

/** One phase of the past that stands in the gate holds it open: the others need not be looked at. */
async function seePast(gate: Gate, site: string, store: Store, inGate: Map<string, boolean>): Promise<void> {
  for await (const page of pastRows(store).each(Phase, site)) {
    for (const { metadata, spec, status } of page) {
      if (spec.unitRef !== gate.unitRef || spec.templateRef !== gate.phaseTemplateRef || inGate.has(metadata.name) || !gate.states.includes(status.state)) continue;
      inGate.set(metadata.name, true);
      return;
    }
  }
}

/** Of a change that an earlier release has recorded without it. */
async function readTemplate(store: Store, site: string, name: string): Promise<string | undefined> {
  const lent = pastRows(store).lend([{ kind: Phase.kind, site, name }]);
  if (lent) await lent;
  return store.get(Phase, site, name)?.spec.templateRef;
}

/** How long it was open in a window. */
export function openMs({ openBefore, edges }: GateHistory, fromMs: WallMs, toMs: WallMs): number {
  let total = 0;
  let open = openBefore;
  let sinceMs = fromMs;
  for (const edge of [...edges, { atMs: toMs, open: false }]) {
    const atMs = Math.min(Math.max(edge.atMs, fromMs), toMs);
    if (open) total += atMs - sinceMs;
    sinceMs = atMs;
    open = edge.open;
  }
  return total;
}

async function* changesOf(site: string, unit: string, fromMs: WallMs, nowMs: WallMs, history: Pick<History, 'eventsJson'>): AsyncIterable<readonly StateBody[]> {
  let cursor: string | undefined;
  do {
    const bytes = await history.eventsJson('states', { site, unit, fromMs, toMs: nowMs + 1, order: 'asc', limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    const page = JSON.parse(new TextDecoder().decode(bytes)) as { readonly items: readonly StateBody[]; readonly nextCursor: string | null };
    yield page.items;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
