/** A further language of the consoles is one file (docs/add/language.md): every word of the pages can be named by it, and those of the tree are whole. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { REFUSAL_MEANINGS } from '../../src/cli/refusal-reference.js';

type Words = Readonly<Record<string, unknown>>;

interface ConsoleWords {
  consoleWords(): { readonly words: Readonly<Record<string, Words>>; readonly calls: number; readonly unread: readonly string[] };
  differences(english: Words, own: Words): readonly string[];
  languageFile(file: string): Promise<{ readonly words: Words; readonly refusals?: Words }>;
}

const { consoleWords, differences, languageFile } = (await import(pathToFileURL(path.join(process.cwd(), 'scripts/console-words.mjs')).href)) as ConsoleWords;
const LANGUAGES = path.join(process.cwd(), 'src/console/languages');

t.test('every word of the pages is one that a further language can name', async (t) => {
  const { words, calls, unread } = consoleWords();
  t.ok(calls > 100, `${calls} calls of words`);
  t.same(unread, [], 'their English is written where it is said');
  t.match(words['common/strings'], { signIn: 'Sign in', passwordRule: { parameters: 1 }, words: { Held: 'Held' } });
  t.match(words['login/panel-form'], { 'Use this screen as a panel': String });
});

t.test('a language tells what it lacks and what nobody says', async (t) => {
  const english = { view: { title: 'Prompts', waits: { parameters: 1 }, states: { Held: 'Held' } } };
  t.same(differences(english, { view: { title: 'Demandes', waits: () => '', states: { Held: 'Suspendu' } } }), []);
  t.same(differences(english, { view: { titel: 'Demandes', waits: 'attend', states: {} } }), [
    'missing: view > title',
    'view > waits is a text, and a function in English',
    'missing: view > states > Held',
    'nobody says: view > titel',
  ]);
});

for (const name of readdirSync(LANGUAGES).filter((each) => /^..\.ts$/.test(each)))
  t.test(`the words of ${name} are whole`, async (t) => {
    const { words, refusals = {} } = await languageFile(path.join(LANGUAGES, name));
    t.same(differences(consoleWords().words, words), []);
    t.same(differences(REFUSAL_MEANINGS, refusals), []);
  });
