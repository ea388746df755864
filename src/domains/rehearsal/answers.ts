/** Answers to the prompts of a rehearsal: those of the request, else what the prompt itself suggests. Pure. */
import { Refusal } from '../../platform/base/refusal.js';
import { canonicalAnswer } from '../commands/prompt-response.js';
import type { PendingPrompt } from '../procedures/kind.js';

export interface GivenAnswer {
  readonly text: string;
  readonly value: number | string;
  /** Key of the request it came from; empty: the default. */
  readonly key: string;
  /** Why the answer of the request was not taken. */
  readonly message: string;
}

/** `path` is the step path of the phase that asks. */
export function answerTo(prompt: PendingPrompt, path: string, answers: Readonly<Record<string, string>>): GivenAnswer {
  const keys = [prompt.resultKey ?? '', `${path}/${prompt.stepName}`, path];
  const key = keys.find((candidate) => candidate !== '' && Object.hasOwn(answers, candidate));
  const answer = key === undefined ? undefined : answers[key];
  if (key === undefined || answer === undefined) return { ...canonicalAnswer(prompt, defaultResponse(prompt)), key: '', message: '' };
  try {
    return { ...canonicalAnswer(prompt, answer), key, message: '' };
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return { ...canonicalAnswer(prompt, defaultResponse(prompt)), key, message: `answers.${key} was not taken: ${fault.message}` };
  }
}

/** The first option; the middle of both limits, else the one there is as near to 0 as it allows. */
function defaultResponse({ type, choices, min, max }: PendingPrompt): string {
  if (type === 'acknowledge') return '';
  if (type === 'choice') return choices?.[0] ?? '';
  if (min !== undefined && max !== undefined) return String((Number(min) + Number(max)) / 2);
  if (min !== undefined) return min;
  return max !== undefined && Number(max) < 0 ? max : '0';
}
