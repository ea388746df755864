/** What a refusal means in the language of the page. English needs none: the sentences of the box are English. A further language is a file and a line here. */
import { language } from './language.js';

type Refusals = Readonly<Record<string, string>>;

const FILES: Readonly<Partial<Record<typeof language, () => Promise<{ readonly refusals: Refusals }>>>> = {
  de: () => import('../languages/refusals-de.js'),
};

let refusals: Refusals = {};
FILES[language]?.().then(
  (found) => {
    refusals = found.refusals;
  },
  () => undefined, // the sentences of the box stand there as they are
);

/** Empty where the sentence of the box is all there is. */
export function refusalText(code: string): string {
  return Object.hasOwn(refusals, code) ? (refusals[code] as string) : '';
}
