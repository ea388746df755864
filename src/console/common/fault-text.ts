/** What a person is told when a request failed: what it means in the language of the page, the sentence of the box that says what exactly, or ours when it did not answer. */
import { ApiError, OUTCOME_UNKNOWN } from '../data/api.js';
import { refusalText } from './refusal-words.js';
import { t } from './strings.js';

export function faultText(fault: unknown): string {
  if (!(fault instanceof ApiError)) return fault instanceof Error ? fault.message : String(fault);
  if (fault.status === 0) return fault.code === OUTCOME_UNKNOWN ? t.outcomeUnknown : t.noAnswer;
  const seconds = typeof fault.body.retryAfterSeconds === 'number' ? fault.body.retryAfterSeconds : 0;
  if (fault.code === 'invalid_credentials') return t.wrongCredentials;
  if (fault.code === 'invalid_commissioning_code') return Array.isArray(fault.body.errors) ? fault.message : t.wrongCode; // with what else is wrong
  if (fault.code === 'account_locked') return t.locked(Math.max(1, Math.ceil(seconds / 60)));
  if (fault.status === 429) return t.tooMany(Math.max(1, seconds));
  const meaning = refusalText(fault.code);
  return meaning === '' || fault.message === '' ? meaning || fault.message : `${meaning}. (${fault.message})`;
}
