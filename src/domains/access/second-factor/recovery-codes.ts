/** Recovery codes: each is good for one sign-in, for whoever has lost the app. 60 bits, shown once, kept as SHA-256 in what is sealed. */
import { codeText, newCode, normalisedCode } from '../code-text.js';
import { hashOf } from '../sessions.js';

const COUNT = 10;

export interface RecoveryCodes {
  /** As they are shown. */
  readonly codes: readonly string[];
  readonly hashes: readonly string[];
}

export function newRecoveryCodes(): RecoveryCodes {
  const codes = Array.from({ length: COUNT }, () => newCode());
  return { codes: codes.map(codeText), hashes: codes.map(hashOf) };
}

export function hashOfRecoveryCode(given: string): string {
  return hashOf(normalisedCode(given));
}
