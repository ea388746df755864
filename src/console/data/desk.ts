/** Answers to prompts (contract 3, Prompt rules). */
import { post } from './api.js';
import { readPromptsSoon, site } from './plant.js';
import type { Prompt } from './types.js';

export async function answerPrompt(prompt: Prompt, response: string, reason: string): Promise<void> {
  await post(`/api/v1/sites/${encodeURIComponent(site.peek())}/phases/${encodeURIComponent(prompt.phase)}/prompt-response`, { promptID: prompt.id, response, reason });
  readPromptsSoon();
}
