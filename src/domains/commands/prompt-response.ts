/**
 * Answers to prompts (contract 3, Prompt rules; decisions Q-RECIPE-19 to 23, Q-MES-25, Q-MES-26): validated per type and
 * fail-closed, signed, stored with the phase before they are acknowledged, then sent to the unit runtime.
 */
import { Refusal, invalid } from '../../platform/base/refusal.js';
import { absent } from '../../platform/store/absent.js';
import { isNumberText } from '../../platform/store/fields.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { secondElsewhere } from '../access/proof.js';
import { type ElementStatus, type PendingPrompt, Phase, type PhaseSpec } from '../procedures/kind.js';
import { voidPrompts } from '../procedures/void-prompts.js';

export type PhaseResource = Resource<PhaseSpec, ElementStatus>;

const TERMINAL = ['Idle', 'Complete', 'Stopped', 'Aborted'];

export function requirePhase(store: Store, site: string, name: string): PhaseResource {
  const phase = store.get(Phase, site, name);
  if (!phase) throw absent(store, Phase, site, name);
  return phase;
}

/**
 * The wait an answer is for. `code` is `prompt_not_pending` for a prompt and `no_pending_result` for an external result.
 * @throws Refusal conflict when the run has ended, nothing waits, another id waits, or it was answered already.
 */
export function pendingWait(store: Store, phase: PhaseResource, id: string, code: 'prompt_not_pending' | 'no_pending_result'): PendingPrompt {
  const { answer, state } = phase.status;
  const { site, name } = phase.metadata;
  const pendingPrompt = voidPrompts(store).asked(site, name, phase.status);
  if (TERMINAL.includes(state)) throw new Refusal('conflict', `phase ${name} is ${state}; its prompts have ended`, { code });
  if (!pendingPrompt || pendingPrompt.id !== id) throw new Refusal('conflict', `phase ${name} does not wait for ${id}`, { code });
  if (answer?.waitId === id) throw new Refusal('conflict', `${id} has been answered already`, { code });
  return pendingPrompt;
}

/**
 * Where the recipe asks for two people, one alone is not enough; where nobody signs in at all, nobody can be told apart.
 * @throws Refusal 400 `second_signer_required`; 409 `second_signer_unavailable` where people sign in elsewhere: nobody is asked for what is then refused.
 */
export function requireSecond({ secondSigner, text }: PendingPrompt, isThere: boolean, authMode: string): void {
  if (!secondSigner || authMode === 'none') return;
  if (authMode !== 'local') throw secondElsewhere();
  if (isThere) return;
  throw invalid('second_signer_required', 'second', `'${text}' is confirmed by a second person: send second with the user name and password of somebody else`);
}

/** The canonical answer: decimal text for a value, the authored option for a choice, `Acknowledged` otherwise. */
export function canonicalAnswer(prompt: PendingPrompt, response: string): { readonly text: string; readonly value: number | string } {
  if (prompt.type === 'acknowledge') return { text: 'Acknowledged', value: 'Acknowledged' };
  if (prompt.type === 'choice') {
    if (prompt.choices?.includes(response)) return { text: response, value: response };
    throw invalid('invalid_value', 'response', `response must be one of ${prompt.choices?.join(', ') ?? ''}`, { allowed: prompt.choices ?? [] });
  }
  return canonicalNumber(prompt, response, 'response');
}

/** @throws Refusal `invalid_value` when it does not read as a number, `out_of_range` outside the declared bounds. */
export function canonicalNumber(prompt: PendingPrompt, text: string, field: string): { readonly text: string; readonly value: number } {
  const trimmed = text.trim();
  if (!isNumberText(trimmed)) throw invalid('invalid_value', field, `${field} must be a number as decimal text`);
  const value = Number(trimmed);
  const { min, max, unit = '' } = prompt;
  if (!Number.isFinite(value) || (min !== undefined && value < Number(min)) || (max !== undefined && value > Number(max))) {
    throw invalid('out_of_range', field, `${trimmed} is outside ${min} to ${max} ${unit}`.trim(), { min, max });
  }
  return { text: String(value), value };
}
