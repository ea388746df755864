/**
 * One word for one thing, and the plant's word: names that are not given again. It reads what is declared (variables, parameters,
 * members, types, functions, classes) and the names of files; sentences may use any word, and so may what is sent or stored.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import ts from 'typescript';

interface Reserved {
  /** A part of a name, as it is cut at capitals, digits and `_`. */
  readonly word: string;
  readonly use: string;
  /** Only as the last part of the name of a class. */
  readonly ofClass?: true;
  /** Names that may have it all the same, and why. */
  readonly except?: Readonly<Record<string, string>>;
}

const WORDS: readonly Reserved[] = [
  { word: 'catalogue', use: 'catalog' },
  { word: 'desk', use: 'what it does: PhaseReports, phaseOrders' },
  { word: 'book', use: 'register: AlarmRegister' },
  { word: 'glance', use: 'image: AlarmImage' },
  { word: 'census', use: 'what is counted: StreamConnections' },
  { word: 'guest', use: 'runtime: the unit in a scan thread; link: the way to it' },
  { word: 'mate', use: 'sharedWith: the other units of the thread' },
  { word: 'misfit', use: 'unfit: a value, a row' },
  { word: 'answer', use: 'Reply: what a handler gives; UwsReply: what goes on the wire', ofClass: true },
  { word: 'controller', use: 'Reconciler: what drives a resource', ofClass: true },
  { word: 'pass', use: 'Reconciliation: one look of a reconciler', ofClass: true },
  {
    word: 'watch',
    use: 'Reconciler: what drives a resource',
    ofClass: true,
    except: {
      CheckpointWatch: 'it drives no resource: it tells that the ledger no longer comes to its checkpoints',
      RuntimeWatch: 'it drives no resource',
      Stopwatch: 'the instrument',
    },
  },
];

const ROOT = process.cwd();

function sources(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sources(name);
    return /\.tsx?$/.test(entry.name) ? [name] : [];
  });
}

/** `AlarmBookParts` is alarm, book, parts; a plural counts as its singular. */
function partsOf(name: string): string[] {
  return name
    .split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z]+/)
    .filter((part) => part !== '')
    .map((part) => part.toLowerCase());
}

function offence(name: string, isClass: boolean): Reserved | undefined {
  const parts = partsOf(name);
  return WORDS.find(({ word, ofClass, except }) => {
    if (except && name in except) return false;
    return ofClass ? isClass && parts.at(-1) === word : parts.includes(word) || parts.includes(`${word}s`);
  });
}

interface Declared {
  readonly name: string;
  readonly isClass: boolean;
}

function declaredIn(text: string): Declared[] {
  const found: Declared[] = [];
  const visit = (node: ts.Node): void => {
    const { name } = node as Partial<ts.NamedDeclaration>;
    const isDeclared =
      name !== undefined &&
      (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) &&
      !ts.isImportSpecifier(node) &&
      !ts.isPropertyAccessExpression(node) &&
      !ts.isMetaProperty(node);
    if (isDeclared) found.push({ name: name.text, isClass: ts.isClassDeclaration(node) || ts.isClassExpression(node) });
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('a.tsx', text, ts.ScriptTarget.Latest, false, ts.ScriptKind.TSX));
  return found;
}

function saidOf(place: string, name: string, { word, use }: Reserved): string {
  return `${place}: ${name} has the word ${word}; use ${use}`;
}

function offencesOf(file: string, declared: readonly Declared[]): string[] {
  const base = path.basename(file).replace(/(\.test|\.bench)?\.tsx?$/, '');
  const named = offence(base, false);
  const inside = declared.flatMap(({ name, isClass }) => {
    const found = offence(name.replace(/^#/, ''), isClass);
    return found ? [saidOf(file, name, found)] : [];
  });
  return [...(named ? [saidOf(file, base, named)] : []), ...inside];
}

const DECLARED = ['src', 'runtime'].flatMap(sources).map((file) => ({ file, declared: declaredIn(readFileSync(path.join(ROOT, file), 'utf8')) }));

t.test('words: a name that is declared, or that a file has, bears none of the reserved words', async (t) => {
  const found = DECLARED.flatMap(({ file, declared }) => offencesOf(file, declared));
  t.same([...new Set(found)], [], 'each thing has one word; the table above says which');
});

t.test('words: the exceptions are names that are there', async (t) => {
  const names = new Set(DECLARED.flatMap(({ declared }) => declared.map(({ name }) => name)));
  const gone = WORDS.flatMap(({ except = {} }) => Object.keys(except)).filter((name) => !names.has(name));
  t.same(gone, [], 'an exception that nobody needs goes');
});

t.test('words: the table finds what it is to find, and lets sentences be', async (t) => {
  const offending: readonly string[] = [
    'class PhaseDesk {}',
    'class BatchController {}',
    'class StreamedAnswer {}',
    'class DefinitionWatch {}',
    'class ElementPass {}',
    'const alarmBooks = 1;',
    'function f({ guest: unit }: { readonly guest: number }) {}',
    'class A { #glanceBytes = 0; }',
    'interface B { readonly runsMisfits: boolean }',
    'type TagCatalogue = string;',
  ];
  for (const text of offending) t.equal(offencesOf('a.ts', declaredIn(text)).length, 1, text);
  for (const text of ['// the book at the desk', "const said = 'a guest';", 'const material = 1;', 'interface Controller {}', 'const bookmark = 1;', 'function pass() {}'])
    t.same(offencesOf('a.ts', declaredIn(text)), [], text);
  t.equal(offencesOf('src/console/data/desk.ts', []).length, 1, 'a file');
});
