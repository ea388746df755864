/** Answers to prompts (contract 3, Prompt rules). */
import { get, post } from './api.js';
import { readPromptsSoon, site } from './plant.js';
import type { PhaseDetail, Prompt } from './types.js';

export type RecipeValue = PhaseDetail['spec']['parameterValues'][number];

export interface Asked {
  /** Of the phase in the procedure, as `makeResin/react/check`. */
  readonly path: string;
  /** Values of the phase's own: the limits that the recipe sets for what is asked stand among them. */
  readonly limits: readonly RecipeValue[];
}

/** Where in the procedure a prompt is asked, and what the recipe gave that phase. */
export async function readAsked({ phase }: Prompt): Promise<Asked> {
  const { stepPath, spec } = await get<PhaseDetail>(phaseAt(phase), { background: true });
  return { path: stepPath, limits: spec.parameterValues };
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
  return `/api/v1/sites/${encodeURIComponent(site.peek())}/phases/${encodeURIComponent(phase)}`;
}

export async function answerPrompt(prompt: Prompt, response: string, reason: string): Promise<void> {
  await post(`${phaseAt(prompt.phase)}/prompt-response`, { promptID: prompt.id, response, reason });
  readPromptsSoon();
}
