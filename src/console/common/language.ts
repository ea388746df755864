/** The language of the page: that of the browser, or the one that a person chose on this panel. */

export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

const KEY = 'lineside.language';

export const language: Language = named(localStorage.getItem(KEY)) ?? named(navigator.language.slice(0, 2).toLowerCase()) ?? 'en';

/** How it writes days and numbers: as the browser does where it speaks the same language, so that a British panel has the day before the month. */
export const locale = navigator.language.toLowerCase().startsWith(language) ? navigator.language : language === 'en' ? 'en-GB' : language;

document.documentElement.lang = language;

function named(text: string | null): Language | undefined {
  return (Object.keys(LANGUAGES) as Language[]).find((each) => each === text);
}

/** Kept on this panel. All words are chosen when the page is read, so it is read anew, at the same address. */
export function speak(chosen: Language): void {
  if (chosen === language) return;
  localStorage.setItem(KEY, chosen);
  location.reload();
}
