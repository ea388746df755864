// The words of the consoles as a further language is given them: `node scripts/console-words.mjs fr` writes what `src/console/languages/fr.ts` lacks,
// and what it says that nobody shows. Read from the source, since many of them are said long after the page is there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';

const CONSOLE = path.resolve(fileURLToPath(new URL('../src/console/', import.meta.url)));
const SOURCE = /\.tsx?$/;

/**
 * What `words` is given in English, by the file that says it: a text or list by itself, a function by the number of its parameters, members by name.
 * @returns {{ words: Record<string, object>, calls: number, unread: string[] }} `unread` are calls whose English stands elsewhere.
 */
export function consoleWords(folder = CONSOLE) {
  const found = { words: {}, calls: 0, unread: [] };
  for (const name of readdirSync(folder, { recursive: true }).filter((each) => SOURCE.test(each))) {
    const source = ts.createSourceFile(name, readFileSync(path.join(folder, name), 'utf8'), ts.ScriptTarget.Latest, true);
    const at = name.replace(SOURCE, '').replaceAll(path.sep, '/');
    for (const { en, de } of saidIn(source, found)) {
      const said = en && withOpenOnes(leafOf(en), de && leafOf(de));
      if (said === undefined) found.unread.push(`${name}: ${en?.getText().slice(0, 60)}`);
      else found.words[at] = { ...found.words[at], ...(typeof said === 'string' ? { [said]: said } : said) };
    }
  }
  return found;
}

/** What stands behind `en` and `de` in every call of `words` of the file. */
function saidIn(source, found) {
  const said = [];
  const look = (node) => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'words') {
      found.calls += 1;
      said.push({ en: valueOf(source, node.arguments[0], 'en'), de: valueOf(source, node.arguments[0], 'de') });
    }
    ts.forEachChild(node, look);
  };
  look(source);
  return said;
}

function valueOf(source, given, name) {
  const member = given && ts.isObjectLiteralExpression(given) && given.properties.find((each) => each.name?.getText() === name);
  const value = member && (ts.isShorthandPropertyAssignment(member) ? member.name : member.initializer);
  return value && ts.isIdentifier(value) ? (constant(source, value.text) ?? value) : value;
}

/** A word of the box that English shows as it is stands in German only. */
function withOpenOnes(english, german) {
  if (kindOf(english) !== 'members' || kindOf(german) !== 'members') return english;
  const names = Object.keys(german).map((name) => [name, Object.hasOwn(english, name) ? withOpenOnes(english[name], german[name]) : name]);
  return { ...english, ...Object.fromEntries(names) };
}

function constant(source, name) {
  for (const statement of source.statements.filter(ts.isVariableStatement))
    for (const each of statement.declarationList.declarations) if (each.name.getText() === name) return each.initializer;
}

/** The English itself where it is a text, `(n)` for a function, members for an object; undefined for what is made up elsewhere. */
function leafOf(node) {
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isParenthesizedExpression(node)) return leafOf(node.expression);
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) return { parameters: node.parameters.length };
  if (ts.isArrayLiteralExpression(node)) return node.elements.map((each) => leafOf(each));
  if (!ts.isObjectLiteralExpression(node)) return undefined;
  return Object.fromEntries(
    node.properties.map((each) => [ts.isStringLiteral(each.name) || ts.isNumericLiteral(each.name) ? each.name.text : each.name.getText(), leafOf(each.initializer)]),
  );
}

/** How the words of a language differ from those that are said, as lines for a person. */
export function differences(english, own, at = '') {
  const lines = [];
  for (const name of new Set([...Object.keys(english), ...Object.keys(own)])) {
    const place = at === '' ? name : `${at} > ${name}`;
    const [said, told] = [english[name], own[name]];
    if (told === undefined) lines.push(`missing: ${place}`);
    else if (said === undefined) lines.push(`nobody says: ${place}`);
    else if (kindOf(said) !== kindOf(told)) lines.push(`${place} is ${kindOf(told)}, and ${kindOf(said)} in English`);
    else if (kindOf(said) === 'members') lines.push(...differences(said, told, place));
  }
  return lines;
}

function kindOf(value) {
  if (value === undefined) return 'nothing';
  if (typeof value === 'function' || typeof value?.parameters === 'number') return 'a function';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'members' : 'a text';
}

/** Of a language that is a file. */
export async function languageFile(file) {
  const { outputFiles } = await (await import('esbuild')).build({ entryPoints: [file], bundle: true, write: false, format: 'esm', logLevel: 'silent' });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [name = ''] = process.argv.slice(2);
  const file = path.join(CONSOLE, 'languages', `${name}.ts`);
  if (!/^[a-z]{2}$/.test(name)) throw new Error('node scripts/console-words.mjs <two letters of the language, as fr>');
  const own = existsSync(file) ? (await languageFile(file)).words : {};
  for (const line of differences(consoleWords().words, own)) console.log(line);
}
