/** Answers to prompts (contract 3, Prompt rules). */
import { signal } from '@preact/signals';
import { get, post } from './api.js';
import { atSite, prompts, readPromptsSoon } from './plant.js';
import { can } from './session.js';
import type { BatchEvent, LogPage, PhaseDetail, Prompt, PromptAnswer, SecondPerson } from './types.js';

export type RecipeValue = PhaseDetail['spec']['parameterValues'][number];

export interface Asked {
  /** Of the phase in the procedure, as `makeResin/react/check`. */
  readonly path: string;
  /** Values of the phase's own: the limits that the recipe sets for what is asked stand among them. */
  readonly limits: readonly RecipeValue[];
  /** What was answered before in the same batch, the newest first. */
  readonly earlier: readonly BatchEvent[];
}

const EVENTS_PAGE = 200;
const EVENTS_PAGES_MAX = 5;
const EARLIER_MAX = 4;

/** Where in the procedure a prompt is asked, what the recipe gave that phase, and what people have answered so far. */
export async function readAsked({ phase, batch }: Prompt): Promise<Asked> {
  const [{ stepPath, spec }, earlier] = await Promise.all([get<PhaseDetail>(phaseAt(phase), { background: true }), readEarlier(batch).catch(() => [])]);
  return { path: stepPath, limits: spec.parameterValues, earlier };
}

/** None of a run without a batch; what cannot be read stands in no way of an answer. */
async function readEarlier(batch: string): Promise<readonly BatchEvent[]> {
  if (batch === '' || !can('batch:events')) return [];
  const page = (cursor: string): Promise<LogPage<BatchEvent>> =>
    get(atSite(`batches/${encodeURIComponent(batch)}/events?${new URLSearchParams({ limit: String(EVENTS_PAGE), ...(cursor === '' ? {} : { cursor }) })}`), { background: true });
  const found: BatchEvent[] = [];
  let cursor: string | null = '';
  for (let pages = 0; pages < EVENTS_PAGES_MAX && cursor !== null && found.length < EARLIER_MAX; pages += 1) {
    const { items, nextCursor }: LogPage<BatchEvent> = await page(cursor);
    found.push(...items.filter(({ eventSubType }) => eventSubType === 'Prompt Response'));
    cursor = nextCursor;
  }
  return found.slice(0, EARLIER_MAX);
}

const OUTCOME_LOOKS = 10;
const OUTCOME_LOOK_MS = 300;

/**
 * What the procedure does with an answer: it leaves the step at once, or it stands there, because no transition takes the answer or
 * because something else is waited for too. Without this an answer that leads nowhere looks like one that was lost.
 * @returns what it waits for, in the gateway's words; none when it goes on.
 */
export async function outcomeOf({ id, phase, stepName }: Prompt): Promise<readonly string[]> {
  let waits: readonly string[] = [];
  for (let look = 0; look < OUTCOME_LOOKS; look += 1) {
    await new Promise((resolve) => window.setTimeout(resolve, OUTCOME_LOOK_MS));
    const { state, pendingPrompt, sfcStatus, blockedBy } = await get<PhaseDetail>(phaseAt(phase), { background: true });
    if (state !== 'Running' || (pendingPrompt && pendingPrompt.id !== id) || !sfcStatus?.activeSteps.includes(stepName)) return [];
    waits = blockedBy.filter(({ reason, step }) => reason === 'condition' && step === stepName).map(({ text }) => text);
  }
  return waits;
}

function phaseAt(phase: string): string {
  return atSite(`phases/${encodeURIComponent(phase)}`);
}

export interface Recorded {
  readonly prompt: Prompt;
  readonly answer: PromptAnswer;
}

/** What this panel sent last and the box has recorded, until somebody has seen it or the next is sent. */
export const recorded = signal<Recorded | null>(null);

/** @param second who confirms it, where the prompt asks for two. */
export async function answerPrompt(prompt: Prompt, response: string, reason: string, second?: SecondPerson): Promise<void> {
  const answer = await post<PromptAnswer>(`${phaseAt(prompt.phase)}/prompt-response`, { promptID: prompt.id, response, reason, ...(second ? { second } : {}) });
  drafts.delete(prompt.id);
  recorded.value = { prompt, answer };
  readPromptsSoon();
}

interface Draft {
  readonly answer: string;
  readonly reason: string;
}

/** What somebody has typed and not sent: a dialog that is closed by mistake loses nothing. It never leaves the page. */
const drafts = new Map<string, Draft>();

export function draftOf({ id }: Prompt): Draft {
  return drafts.get(id) ?? { answer: '', reason: '' };
}

export function keepDraft({ id }: Prompt, draft: Draft): void {
  for (const kept of drafts.keys()) if (!prompts.peek().some((prompt) => prompt.id === kept)) drafts.delete(kept);
  drafts.set(id, draft);
}
