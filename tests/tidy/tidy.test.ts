/**
 * The import table and the house rules, held as a test: it names the rule, the reason and what to do instead. The
 * exception lists may only get shorter.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { isSimulated, PROTOCOLS } from '../../runtime/catalog.js';

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
    const target = match[2] ?? match[3] ?? '';
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
    name: 'src meets the runtime through its words, language, port and catalog',
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
    name: "a domain never imports another domain's reconciler, routes or join",
    why: 'domains affect each other through the store: write a resource that the other watches; what rows of two domains share is a file of its own',
    applies: (file) => file.startsWith('src/domains/') && file !== 'src/domains/index.ts',
    allows: (to, edge) => domainOf(to) === domainOf(edge.from) || !/^src\/domains\/[^/]+\/([^/]+\/)*([\w-]+-)?(reconciler|routes?|join)\.ts$/.test(to),
  },
  {
    name: 'GEN-14: consoles import only their own files, the client of the interface, Preact, uPlot, uqr, what a browser is asked for passkeys with and types of served bodies',
    why: 'a console is a client like any other',
    applies: within('src/console/'),
    allows: (to, edge) => within('src/console/', 'src/client/')(to) || /^(preact|@preact|vite|uplot|uqr$|@simplewebauthn\/browser$)/.test(to) || edge.typeOnly,
  },
  {
    name: 'the client of the interface imports nothing of the appliance',
    why: 'it runs in a browser and on a laptop, and knows the interface by openapi.json alone',
    applies: within('src/client/'),
    allows: (to, edge) => within('src/client/')(to) || to === 'openapi-fetch' || (edge.typeOnly && to === 'lineside-interface'),
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

t.test('tidy: suites that share a process have folders of their own', async (t) => {
  const found = sources('tests').filter((file) => file !== 'tests/tidy/tidy.test.ts' && readFileSync(path.join(ROOT, file), 'utf8').includes('.testdir('));
  t.same(found, [], 'that of the test library has a name of all suites of its process, and no file system takes one so long: use ownFolder');
});

/**
 * Files in which instants of the wall clock are subtracted or compared, and why that is no elapsed time. Everywhere else a
 * `Stopwatch` or `Deadline` of src/platform/base/elapsed.ts is asked, in the runtime the monotonic clock: nothing starts, holds,
 * fails, expires or repeats because somebody set the clock (D-C-07).
 */
const INSTANTS: Readonly<Record<string, string>> = {
  'runtime/io/opcua/identity.ts': 'dates of a certificate, and the time of a file: instants of a calendar',
  'src/doctor/checks/opcua-identity.ts': 'dates of a certificate',
  'src/cli/remote/boxes.ts': 'age of a file that a command has left, which may have ended long ago',
  'src/cli/remote/io.ts': 'age of a sample by the clock of the box, shown only',
  'src/client/api.ts': 'how far the clock of the box is from ours, to name instants by its own',
  'src/domains/access/api-keys.ts': 'the end of a key is an instant that a person has named',
  'src/domains/access/lockouts.ts': 'release 0.1.0 kept the instant alone; what is left of it is bounded by the longest lock',
  'src/domains/access/issuer/issuer-sessions.ts': 'expiry of the tokens of another issuer',
  'src/domains/access/issuer/issuer.ts': 'auth_time of another issuer, and how far the clock of the box is from that of its process',
  'src/domains/access/session-token.ts': 'claims of a token of another start, or of another issuer, name instants',
  'src/domains/access/sessions.ts': 'release 0.1.0 kept instants alone; both lie in the past of the same record',
  'src/domains/alarms/alarm-channel.ts': 'what a new listener is told of resolved alarms; nothing is decided by it',
  'src/domains/alarms/metrics-routes.ts': 'the window of a report, as the reader has asked',
  'src/domains/alarms/metrics.ts': 'figures over recorded instants',
  'src/domains/alarms/reconciler.ts': 'age of a resolved alarm when it is first seen; from then on a Deadline',
  'src/domains/alarms/standing-then.ts': 'which alarms stood at an instant that the reader names',
  'src/domains/batches/reading/clock-span.ts': 'this is where a step of the clock is found, so that the batch keeps what it has shown',
  'src/domains/batches/recovery/recovery.ts': 'the length of an interruption as it is told; nothing is decided by it',
  'src/domains/loop-checks/cable-run.ts': 'how far the clock was set during a trial is what is looked for',
  'src/domains/historian/sampling.ts': 'what was found at the start, against the start',
  'src/domains/procedures/prompt-ages.ts': 'age of a prompt when it is first seen; from then on a Stopwatch',
  'src/domains/rehearsal/rehearsal.ts': 'both instants are of the one clock of the rehearsal, which nobody sets',
  'src/doctor/checks/system.ts': 'the end of a certificate is an instant that its maker has named',
  'src/domains/reviews/routes.ts': 'the time that is reviewed, and the window of a list, as a person has named them',
  'src/domains/shift/experience.ts': 'how long batches took, as their records tell it: across restarts only instants are known, and of fifteen the middle one counts',
  'src/domains/shift/plan.ts': 'spans of the next hours, on the axis of a chart; nothing is decided by it',
  'src/domains/signatures/state-routes.ts': 'the window of a list, as the reader has asked',
  'src/platform/tls/acme-keeper.ts': 'a certificate is valid between two instants that its issuer has named',
  'src/platform/tls/self-signed-source.ts': 'the end of a certificate is an instant that its maker has named',
  'src/platform/tls/served-certificate.ts': 'the end of a certificate is an instant that its maker has named',
  'src/platform/base/instant.ts': 'the first and last instant that a record can hold',
  'src/platform/base/moment.ts': 'this is where time between two lives of the process is judged',
  'src/platform/base/term.ts': 'this is where time between two lives of the process is judged',
  'src/platform/history/history.ts': 'age of the oldest waiting sample, shown only',
  'src/platform/history/sampler.ts': 'this is where a step of the clock is found, so that it becomes a gap',
  'runtime/io/opcua/link.ts': 'both clocks are right enough that the instant of the device can be shown; age is counted from the arrival otherwise',
  'runtime/io/opcua/trust.ts': 'a certificate is valid between two instants that its issuer has named',
  'runtime/io/simulation/group.ts': 'the name `nowMs` is given instants and monotonic time; what is compared is monotonic',
};

const INSTANT = String.raw`(?:[\w.#]*\bwallMs(?:\(\))?|Date\.now\(\)|Date\.parse\((?:[^()]|\([^()]*\))*\))`;
const OPERATOR = String.raw` (?:-|<|>|<=|>=) `;

/** Lines that subtract or compare an instant, or a name that was given one in the same file. */
function instantsReckoned(file: string): string[] {
  const lines = readFileSync(path.join(ROOT, file), 'utf8')
    .split('\n')
    .map((line) => line.replace(/\/\/ .*$/, '').replace(/^\s*\/?\*.*$/, ''));
  const given = lines.flatMap((line) => {
    const match = new RegExp(String.raw`(?:const|let|readonly|this\.)? ?(#?\w+) = (?:Math\.\w+\()?${INSTANT}\)?;?$`).exec(line.trim());
    return match ? [match[1]] : [];
  });
  const names = given.length === 0 ? INSTANT : `(?:${INSTANT}|(?:this\\.)?(?:${given.join('|')})\\b)`;
  const reckoned = new RegExp(`${names}\\)?${OPERATOR}|${OPERATOR}\\(?${names}`);
  return lines.flatMap((line, at) => (reckoned.test(line) ? [`${file}:${at + 1}: ${line.trim()}`] : []));
}

t.test('tidy: a page goes on behind the last row of the one before', async (t) => {
  // a row that is counted to is read: the pages of a year would read it as often as it has pages
  const counting = FILES.filter((file) => /\bLIMIT \?[^'"`]*\bOFFSET\b/.test(readFileSync(path.join(ROOT, file), 'utf8')));
  t.same(counting, [], 'name the last row in the statement (`(t0, rowid) > (?, ?)`) instead of OFFSET');
});

t.test('tidy: elapsed time is not the difference of two instants', async (t) => {
  const found = FILES.filter((file) => !file.startsWith('src/console/')).flatMap(instantsReckoned);
  const fileOf = (line: string): string => line.slice(0, line.indexOf(':'));
  t.same(
    found.filter((line) => !(fileOf(line) in INSTANTS)),
    [],
    'ask a Stopwatch or Deadline; where two instants are meant, say so in the list with the reason',
  );
  t.same(
    Object.keys(INSTANTS).filter((file) => !found.some((line) => fileOf(line) === file)),
    [],
    'the list has only what is there',
  );
});

/**
 * Modules with a variable of their own, and why it is no state of an appliance: two appliances of one process, or a start after
 * a stop, must not see each other. The program of a thread is that thread's own; a page is loaded once for each browser.
 */
const MODULE_VARIABLES: Readonly<Record<string, string>> = {
  'runtime/chart/value.ts': 'counts on; a difference of two looks is asked',
  'runtime/io/notices.ts': 'who listens in a thread: its program says so once',
  'runtime/io/opcua/identity.ts': 'memo: a certificate that is kept nowhere and looked at by nobody',
  'runtime/network/arena.ts': 'counts on; a number that no other function of the thread has',
  'runtime/network/compile.ts': 'a line of the function that it writes',
  'runtime/network/fragment.ts': 'counts on; a number that no other fragment of the thread has',
  'runtime/scan/gc-pauses.ts': 'the heap is that of the thread, and so are its pauses',
  'src/domains/tags/live.ts': 'memo: the text of one instant',
  'src/platform/history/block-codec.ts': 'scratch, used up within a call',
  'src/platform/http/server.ts': 'counts on, so that no two requests of the process bear one correlation; scratch',
  'src/platform/ledger/wire.ts': 'memo: the instant of one text',
  'src/platform/stream/frames.ts': 'scratch, used up within a call',
  'src/platform/stream/subscriber.ts': 'scratch, valid until the next call',
};

t.test('tidy: a module holds no state', async (t) => {
  const found = FILES.filter((file) => !file.startsWith('src/console/') && !file.endsWith('-thread.ts')).filter((file) =>
    /^(?:export )?let /m.test(readFileSync(path.join(ROOT, file), 'utf8')),
  );
  t.same(found.sort(), Object.keys(MODULE_VARIABLES), 'make it a member of what is started and stopped; a memo or scratch goes into the list with the reason');
});

t.test('tidy: the compiler counts on nothing that may be missing, wherever it looks', async (t) => {
  const configs = [
    'tsconfig.json',
    ...readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).flatMap((name) => (/(^|\/)tsconfig[^/]*\.json$/.test(name) ? [`src/${name}`] : [])),
  ];
  t.same(configs, ['tsconfig.json', 'src/console/tsconfig.json']);
  for (const file of configs) {
    const { compilerOptions } = JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as { readonly compilerOptions: object };
    t.match(compilerOptions, { strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true }, file);
  }
  const written = readFileSync(path.join(ROOT, 'scripts/client.mjs'), 'utf8'); // writes the one of the generated client
  for (const option of ['noUncheckedIndexedAccess', 'exactOptionalPropertyTypes']) t.match(written, `${option}: true`, 'scripts/client.mjs');
});

/** Words of the protocols that are more than words: what is asked for by one of them is asked for in its folder. */
const DEVICE_WORDS = PROTOCOLS.filter((word) => !isSimulated(word)).join('|');
const ASKED_BY_WORD = new RegExp(`\\bprotocol\\s*[!=]==?\\s*['"\`]|['"\`]\\s*[!=]==?\\s*\\w*\\.?protocol\\b|(?:[!=]==?|case)\\s*'(?:${DEVICE_WORDS})'`);

t.test('tidy: nobody outside its folder asks for a protocol by its word', async (t) => {
  const asking = FILES.filter((file) => !/^runtime\/io\/[^/]+\//.test(file) && !/^src\/cli\/remote\//.test(file)).filter((file) =>
    ASKED_BY_WORD.test(readFileSync(path.join(ROOT, file), 'utf8')),
  );
  t.same(asking, [], 'what a protocol has and others have not is a trait of its description (runtime/io/description.ts), asked for through runtime/catalog.ts');
  t.ok(ASKED_BY_WORD.test("if (spec.protocol === 'modbus')") && ASKED_BY_WORD.test("case 'opcua':"), 'the pattern finds what it looks for');
});

/** Casts past the types that there are at most; the number may only get smaller. */
const CASTS_MAX = 10;

t.test('tidy: a cast past the types says why', async (t) => {
  const casts = FILES.flatMap((file) => {
    const lines = readFileSync(path.join(ROOT, file), 'utf8').split('\n');
    const isCast = (line = ''): boolean => line.includes('as unknown as');
    return lines.flatMap((line, at) => {
      if (!isCast(line)) return [];
      let above = at - 1; // those that stand one below the other share a reason
      while (isCast(lines[above])) above -= 1;
      return [{ place: `${file}:${at + 1}`, says: /\/\/ \S/.test(line) || /^\s*(\/\/|\/?\*)/.test(lines[above] ?? '') }];
    });
  });
  t.same(
    casts.flatMap(({ place, says }) => (says ? [] : [place])),
    [],
    'the line above it says what we know and the types do not',
  );
  t.ok(casts.length <= CASTS_MAX, `${casts.length}: give the value a type where it comes from`);
});
