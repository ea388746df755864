/**
 * The language of the page: that of the browser, or the one that a person chose on this panel. English and German stand where they are said; a further
 * language is one file of `languages/`, which is read before any word is chosen (docs/add/language.md).
 */
import { keepHere, keptHere } from './kept-here.js';
import type { LanguageFile } from './translated.js';

/** Those of `languages/` by their two letters, none of which is read unless it is spoken. */
const FILES = Object.fromEntries(Object.entries(import.meta.glob<LanguageFile>('../languages/??.ts')).map(([path, read]) => [path.replace(/^.*\/(..)\.ts$/, '$1'), read]));

/** Each in its own words. */
export const LANGUAGES: Readonly<Record<string, string>> = {
  en: 'English',
  de: 'Deutsch',
  ...Object.fromEntries(Object.keys(FILES).map((name) => [name, new Intl.DisplayNames([name], { type: 'language' }).of(name) ?? name])),
};

const KEY = 'lineside.language';

export const language = named(keptHere(KEY)) ?? named(navigator.language.slice(0, 2).toLowerCase()) ?? 'en';

/** Of a language that is a file; one that does not come leaves the page English. */
export const translation: Partial<LanguageFile> = (await FILES[language]?.().catch(() => undefined)) ?? {};

/** How it writes days and numbers: as the browser does where it speaks the same language, so that a British panel has the day before the month. */
export const locale = navigator.language.toLowerCase().startsWith(language) ? navigator.language : language === 'en' ? 'en-GB' : language;

document.documentElement.lang = language;

function named(text: string | null): string | undefined {
  return text !== null && Object.hasOwn(LANGUAGES, text) ? text : undefined;
}

/** Kept on this panel. All words are chosen when the page is read, so it is read anew, at the same address. */
export function speak(chosen: string): void {
  if (chosen === language) return;
  keepHere(KEY, chosen);
  location.reload();
}
