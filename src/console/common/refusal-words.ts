/** What a refusal means in the language of the page. English needs none: the sentences of the box are English. A language that is one file brings its own. */
import { language, translation } from './language.js';

let refusals = translation.refusals ?? {};
if (language === 'de')
  import('../languages/refusals-de.js').then(
    (found) => {
      refusals = found.refusals;
    },
    () => undefined, // the sentences of the box stand there as they are
  );

/** Empty where the sentence of the box is all there is. */
export function refusalText(code: string): string {
  return Object.hasOwn(refusals, code) ? (refusals[code] as string) : '';
}
