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
  const { stepPath, spec } = await get<PhaseDetail>(`/api/v1/sites/${encodeURIComponent(site.peek())}/phases/${encodeURIComponent(phase)}`, { background: true });
  return { path: stepPath, limits: spec.parameterValues };
}

export async function answerPrompt(prompt: Prompt, response: string, reason: string): Promise<void> {
  await post(`/api/v1/sites/${encodeURIComponent(site.peek())}/phases/${encodeURIComponent(prompt.phase)}/prompt-response`, { promptID: prompt.id, response, reason });
  readPromptsSoon();
}
