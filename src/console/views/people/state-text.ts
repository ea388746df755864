import type { Account } from '../../data/types.js';
import { text } from './people-words.js';

/** Whether the account opens, and what it asks for first. */
export function stateText({ enabled, mustChangePassword }: Account): string {
  return enabled ? (mustChangePassword ? text.mustChange : text.enabled) : text.disabled;
}
