import { invalid } from './refusal.js';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const NAME_LENGTH_MAX = 63; // RFC 1123 label; decisions Q-ERR-12
const SITE_NAME_LENGTH_MAX = 58; // leaves room for the namespace `site-{site}`

export function isResourceName(text: string, max = NAME_LENGTH_MAX): boolean {
  return text.length <= max && LABEL.test(text);
}

export function isSiteName(text: string): boolean {
  return isResourceName(text, SITE_NAME_LENGTH_MAX);
}

/** @throws Refusal `invalid_name` (decisions Q-ERR-12). */
export function checkResourceName(text: string, field = 'name', max = NAME_LENGTH_MAX): void {
  if (isResourceName(text, max)) return;
  throw invalid('invalid_name', field, `${field} must be lower-case letters, digits and hyphens, begin and end with a letter or digit, and have at most ${max} characters`);
}

export function checkSiteName(text: string): void {
  checkResourceName(text, 'name', SITE_NAME_LENGTH_MAX);
}
