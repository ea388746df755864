/** Each language in its own words: who cannot read the page finds theirs. */
import { Chips } from './chips.js';
import { LANGUAGES, language, speak } from './language.js';

export function LanguageChoice() {
  return <Chips label="Language / Sprache" value={language} options={Object.entries(LANGUAGES)} onChoose={speak} testid="language" />;
}
