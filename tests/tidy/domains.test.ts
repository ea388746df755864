/**
 * How the domains stand to each other: one above the other, and no circle of files, types included.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';

const ROOT = process.cwd();

/**
 * The order of the domains, lowest first: a domain imports its own files and those of domains below it. What it needs of one above
 * goes through the store, or is a type of its own that the one above serves.
 */
const ORDER = [
  'access',
  'signatures',
  'runs',
  'plant',
  'placement',
  'logic',
  'control-modules',
  'io-modules',
  'discovery',
  'loop-checks',
  'edge-controllers',
  'procedures',
  'recipes',
  'coordination',
  'tags',
  'batches',
  'legal-holds',
  'alarms',
  'units',
  'mtp',
  'commands',
  'audit',
  'reviews',
  'records',
  'shift',
  'traceability',
  'historian',
  'mes',
  'rehearsal',
  'apply',
  'mtp-import',
  'search',
  'change-control',
  'demo',
  'telemetry',
  'streams',
  'system',
] as const;

function sources(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sources(name);
    return /\.tsx?$/.test(entry.name) ? [name] : [];
  });
}

const FILES = [...sources('src'), ...sources('runtime')];

/** Our own files that a file imports or exports from, as values or as types. */
function importsOf(file: string): string[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return [...text.matchAll(/^(?:import|export)\s[^;'"]*?from\s+'(\.[^']+)'|^import\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm)].flatMap((match) => {
    const target = path.posix.join(path.posix.dirname(file), match[1] ?? match[2] ?? match[3] ?? '');
    const found = [target.replace(/\.js$/, '.ts'), target.replace(/\.js$/, '.tsx'), `${target}.ts`, `${target}.tsx`].find((name) => FILES_SET.has(name));
    return found === undefined ? [] : [found];
  });
}

const FILES_SET = new Set(FILES);
const IMPORTS = new Map(FILES.map((file) => [file, importsOf(file)]));

const domainOf = (file: string): string => /^src\/domains\/([^/]+)\//.exec(file)?.[1] ?? '';
/** A kind is a shape, so anybody may know it. */
const isKind = (file: string): boolean => /^src\/domains\/[^/]+\/([\w-]+-)?kind\.ts$/.test(file);

/** Sentences and nothing else. */
const isWords = (file: string): boolean => file.endsWith('/field-words.ts');
const importsDomains = (file: string): boolean => (IMPORTS.get(file) ?? []).some((to) => domainOf(to) !== '' && !isWords(to));

t.test('tidy: every domain has its place in the order', async (t) => {
  const folders = readdirSync(path.join(ROOT, 'src/domains'), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  t.same([...ORDER].sort(), folders.sort());
});

t.test('tidy: a domain imports domains below it, and the kinds of all', async (t) => {
  const rank = new Map<string, number>(ORDER.map((domain, at) => [domain, at]));
  const upwards = [...IMPORTS].flatMap(([from, targets]) =>
    targets
      .filter((to) => domainOf(from) !== '' && domainOf(to) !== '' && !isKind(to) && (rank.get(domainOf(to)) ?? 0) > (rank.get(domainOf(from)) ?? 0))
      .map((to) => `${from} imports ${to}`),
  );
  t.same(upwards, [], 'go through the store, or declare what is needed as a type of the lower domain that the one above serves in main.ts');
});

t.test('tidy: a kind is a shape', async (t) => {
  const isShape = (from: string, to: string): boolean =>
    /^(src\/platform|runtime|src\/domains\/runs)\//.test(to) || isKind(to) || isWords(to) || (domainOf(to) === domainOf(from) && !importsDomains(to));
  const behaviour = [...IMPORTS].flatMap(([from, targets]) => (isKind(from) ? targets.filter((to) => !isShape(from, to)).map((to) => `${from} imports ${to}`) : []));
  t.same(
    behaviour,
    [],
    'a kind imports the platform, words of the runtime, other kinds, words of fields, what every run has (runs), and files of its own that know no domain; what is judged and done stands in the rules of the domain (KindRules)',
  );
});

/** Strongly connected components of more than one file, after Tarjan (1972), each sorted. */
function circles(): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file) as number);
    stack.push(file);
    for (const to of IMPORTS.get(file) ?? []) {
      if (!index.has(to)) visit(to);
      if (stack.includes(to)) low.set(file, Math.min(low.get(file) as number, low.get(to) as number));
    }
    if (low.get(file) !== index.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1) found.push(circle.sort());
  };
  for (const file of FILES) if (!index.has(file)) visit(file);
  return found;
}

t.test('tidy: no files import each other in a circle, types included', async (t) => {
  t.same(circles(), [], 'put what both need into a file that neither of them is');
});
