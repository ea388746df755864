/**
 * The import table and the house rules, held as a test: it names the rule, the reason and what to do instead. The
 * exception lists may only get shorter.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';

const ROOT = process.cwd();

function sources(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sources(name);
    return /\.tsx?$/.test(entry.name) ? [name] : [];
  });
}

interface Import {
  readonly from: string;
  /** Path from the root for our own files, else the package or Node name. */
  readonly to: string;
  readonly typeOnly: boolean;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  return [...text.matchAll(/^(?:import|export)\s+(type\s+)?[^;'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm)].map((match) => {
    const target = match[2] ?? match[3];
    const to = target.startsWith('.') ? path.posix.join(path.posix.dirname(file), target).replace(/\.js$/, '.ts') : target;
    return { from: file, to, typeOnly: match[1] !== undefined };
  });
}

const FILES = [...sources('src'), ...sources('runtime')];
const IMPORTS = FILES.flatMap(importsOf);

interface Rule {
  readonly name: string;
  readonly why: string;
  readonly applies: (file: string) => boolean;
  readonly allows: (to: string, edge: Import) => boolean;
}

const isNode = (to: string): boolean => to.startsWith('node:');
const within =
  (...folders: string[]) =>
  (to: string): boolean =>
    folders.some((folder) => to.startsWith(folder));
const domainOf = (file: string): string => file.split('/')[2] ?? '';

const RULES: readonly Rule[] = [
  {
    name: 'runtime knows nothing of src',
    why: 'the control side runs on its own clock and may run on another node; put shared words into runtime/vocabulary',
    applies: within('runtime/'),
    allows: (to) => !to.startsWith('src/'),
  },
  {
    name: 'vocabulary and language are pure',
    why: 'both sides and the browser use them: no Node interfaces, no clocks, no libraries',
    applies: within('runtime/vocabulary/', 'runtime/language/'),
    allows: within('runtime/vocabulary/', 'runtime/language/'),
  },
  {
    name: 'blocks, networks and charts do not reach devices or the scan loop',
    why: 'they are executed by the scan; what they need from it is an interface they declare',
    applies: within('runtime/blocks/', 'runtime/network/', 'runtime/chart/'),
    allows: (to) => !isNode(to) && !within('runtime/scan/', 'runtime/worker.ts', 'runtime/probe.ts')(to) && !(to.startsWith('runtime/io/') && !to.startsWith('runtime/io/catalog')),
  },
  {
    name: 'src meets the runtime through its words, language, port and catalogue',
    why: 'everything else of the runtime lives in worker threads',
    applies: within('src/'),
    allows: (to) => !to.startsWith('runtime/') || within('runtime/vocabulary/', 'runtime/language/', 'runtime/port.ts', 'runtime/catalog.ts')(to),
  },
  {
    name: 'platform knows no domain and nothing of the runtime',
    why: 'it would serve another product unchanged',
    applies: within('src/platform/'),
    allows: (to) => !within('src/domains/', 'runtime/')(to),
  },
  {
    name: "a domain never imports another domain's reconciler or routes",
    why: 'domains affect each other through the store: write a resource that the other watches',
    applies: (file) => file.startsWith('src/domains/') && file !== 'src/domains/index.ts',
    allows: (to, edge) => domainOf(to) === domainOf(edge.from) || !/^src\/domains\/[^/]+\/(reconciler|routes)\.ts$/.test(to),
  },
  {
    name: 'consoles import only their own files, Preact, uPlot and types of served bodies',
    why: 'a console is a client like any other',
    applies: within('src/console/'),
    allows: (to, edge) => within('src/console/')(to) || /^(preact|@preact|vite|uplot|node:)/.test(to) || edge.typeOnly,
  },
  {
    name: 'no barrels but the registry',
    why: 'a barrel hides what depends on what; import the file itself',
    applies: (file) =>
      path.basename(file) === 'index.ts' && file !== 'src/domains/index.ts' && file !== 'runtime/blocks/index.ts' && file !== 'src/platform/http/barriers/index.ts',
    allows: () => false,
  },
];

for (const rule of RULES) {
  t.test(`tidy: ${rule.name}`, async (t) => {
    const broken = IMPORTS.filter((edge) => rule.applies(edge.from) && !rule.allows(edge.to, edge)).map((edge) => `${edge.from} imports ${edge.to}`);
    t.same(broken, [], rule.why);
  });
}

t.test('tidy: each third-party library of the server is imported in one place', async (t) => {
  const places = new Map<string, Set<string>>();
  for (const { from, to } of IMPORTS) {
    if (from.startsWith('src/console/') || to.startsWith('src/') || to.startsWith('runtime/') || isNode(to) || to === 'valibot') continue;
    places.set(to, (places.get(to) ?? new Set()).add(path.posix.dirname(from)));
  }
  const scattered = [...places].filter(([, folders]) => folders.size > 1).map(([library, folders]) => `${library}: ${[...folders].join(', ')}`);
  t.same(scattered, [], 'wrap the library in one folder, so that replacing it is one change');
});

t.test('tidy: sources name no machine and no unfinished work', async (t) => {
  const found: string[] = [];
  for (const file of [...FILES, ...sources('tests')]) {
    if (file === 'tests/tidy/tidy.test.ts') continue;
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    for (const word of ['TODO', 'FIXME', 'not implemented', '/work/']) if (text.includes(word)) found.push(`${file}: ${word}`);
  }
  t.same(found, [], 'finish it, or say what is missing in the closing note');
});
