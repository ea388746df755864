/** All words of the console, in the language of the browser. What the gateway says of itself stays as it said it. */
import { de } from './strings.de.js';
import { en, type Strings } from './strings.en.js';

export const language: 'en' | 'de' = navigator.language.toLowerCase().startsWith('de') ? 'de' : 'en';
export const t: Strings = language === 'de' ? de : en;

document.documentElement.lang = language;

/** A state, mode or command as the operator calls it; the contract's word when we have none. */
export function word(text: string): string {
  return t.words[text] ?? text;
}
