/** What is at work on the site and what it asks of people: phases with their steps, and prompts. No channel tells either of them whole. */
import { signal } from '@preact/signals';
import { getAll } from './api.js';
import { ofPart } from './plant-parts.js';
import { reader } from './plant-readers.js';
import { can } from './session.js';
import { atSite, BACKGROUND, LIST_PAGE } from './site.js';
import { isResting } from './states.js';
import { coalesced } from './timers.js';
import type { OverviewUnit, PhaseAtWork, Prompt, StateFrame } from './types.js';

/** Of the list of phases at work, which is read each second. */
const PHASES_PAGE = 500;

export const prompts = signal<readonly Prompt[]>([], ofPart('prompts'));
/** Phases under way, by name. */
export const phases = signal<ReadonlyMap<string, PhaseAtWork>>(new Map());
/** Elements under way as the states channel tells them: `kind/name`. */
const elements = new Map<string, Pick<StateFrame, 'kind' | 'state' | 'batchRef'>>();

/** The route of prompts is asked for only when the gateway lists its action. */
export const readPrompts = reader(
  async () => (can('phase:list-prompts') ? getAll<Prompt>(atSite(`prompts?limit=${LIST_PAGE}`), BACKGROUND) : []),
  (found) => {
    if (JSON.stringify(found.map(({ id }) => id)) !== JSON.stringify(prompts.peek().map(({ id }) => id))) prompts.value = found;
  },
  'prompts',
);

export const readPhases = reader(
  async () => {
    const anyAtWork = [...elements.values()].some(({ kind, state }) => kind === 'Phase' && !isResting(state));
    return anyAtWork ? getAll<PhaseAtWork>(atSite(`phases?atWork=true&limit=${PHASES_PAGE}`), BACKGROUND) : [];
  },
  (found) => {
    const running = found.filter(({ state }) => !isResting(state));
    if (running.length > 0 || phases.peek().size > 0) phases.value = new Map(running.map((phase) => [phase.name, phase]));
  },
);

export const readPromptsSoon = coalesced(50, () => readPrompts());
const readPhasesSoon = coalesced(80, () => readPhases());

/** A phase that began while frames were missed is told by no later frame until it ends; the overview knows it. */
export function noteActiveWork(found: readonly OverviewUnit[]): void {
  let news = false;
  for (const { activeWork } of found) {
    if (activeWork?.kind !== 'Phase' || elements.has(`Phase/${activeWork.name}`)) continue;
    elements.set(`Phase/${activeWork.name}`, activeWork);
    news = true;
  }
  if (news) readPhasesSoon();
}

export function noteElement(frame: StateFrame): void {
  elements.set(`${frame.kind}/${frame.name}`, frame);
  if (frame.kind === 'Phase') readPhasesSoon();
}

export function forgetElementsOf(batch: string): void {
  for (const [key, { batchRef }] of elements) if (batchRef === batch) elements.delete(key);
}

/** The snapshot of a new connection tells them all. */
export function forgetElements(): void {
  elements.clear();
}

/** Another site is shown. */
export function forgetWork(): void {
  forgetElements();
  phases.value = new Map();
}
