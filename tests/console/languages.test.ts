/** Words of the box in the languages of the pages, without a browser. */
import t from 'tap';
import { REFUSAL_MEANINGS } from '../../src/cli/refusal-reference.js';
import { pageModule } from './page-module.js';

t.test('every refusal of the box has its words in German, and none has words that is no refusal', async (t) => {
  const { refusals } = await pageModule<{ readonly refusals: Readonly<Record<string, string>> }>('languages/refusals-de.ts', 'de-DE');
  t.same(Object.keys(refusals).sort(), Object.keys(REFUSAL_MEANINGS).sort());
  t.same(
    Object.entries(refusals).filter(([, words]) => words.trim() === '' || words.endsWith('.')),
    [],
    'one sentence without its end: what exactly follows',
  );
});
