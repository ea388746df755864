// `npm run assurance`: writes docs/assurance/contract.md, the rules of the contract each with what proves it; `--check` writes nothing and fails
// when a rule stands without a row or the page is out of date. The rules are docs/contract/rules.md, and the decisions beside them that have an id of
// their own, docs/contract/decisions-c.md; the proofs are titles and messages of the tests that name a rule by its id; what no test names has a row in docs/assurance/contract.json, kept by hand:
//   { "covered": ["GEN-03"], "how": "…" }   tests that name another rule prove this one too, and how
//   { "untestable": "why" }                  no test can
//   { "later": "identity", "what": "…" }     belongs to a part of the product that does not stand yet; beside tests too, then `what` says what they leave open
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from './build.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const RULES = ['docs/contract/rules.md', 'docs/contract/decisions-c.md'];
const ROWS = 'docs/assurance/contract.json';
const PAGE = 'docs/assurance/contract.md';
/** Benches measure, they prove no rule. */
const NO_PROOF = /^tests\/bench\//;
const ID = /\b(D-C|[A-Z]{2,9})-(\d{2})(?: to \1-(\d{2}))?(?!\d)/g;
const areaOf = (id) => id.replace(/-\d+$/, '');

/** @returns the sections of the page of rules, each with its rules in their order. */
export function readRules(text) {
  const sections = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('## ')) sections.push({ title: line.slice(3), rules: [] });
    const rule = line.match(/^- ((?:D-)?[A-Z]+-\d{2}): (.+)$/);
    if (rule) sections.at(-1).rules.push({ id: rule[1], text: rule[2] });
  }
  return sections;
}

/** Ids in a title; "AUTH-14 to AUTH-21" are eight. The number of a decision that the pages sum up is none: Q-AUTH-09 is not AUTH-09. */
export function idsIn(text) {
  const rules = text.replace(/\b(?!D-C-)[QD]-(?:[A-Z]+-)?\d+/g, '');
  return [...rules.matchAll(ID)].flatMap(([id, area, first, last]) => {
    if (last === undefined) return [id];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => `${area}-${String(Number(first) + at).padStart(2, '0')}`);
  });
}

/** @returns the strings of a suite that name ids, each with the title it stands under. */
export function proofsIn(ts, file, text) {
  const found = [];
  const suite = file.replace(/^tests\//, '').replace(/(\.test)?\.tsx?$/, '');
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const textOf = (node) => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
    if (ts.isTemplateExpression(node)) return node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join('');
    return undefined;
  };
  const isTest = (node) => ts.isCallExpression(node) && (ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression).getText(tree) === 'test';
  const walk = (node, title) => {
    const under = isTest(node) && node.arguments.length > 0 ? (textOf(node.arguments[0]) ?? title) : title;
    const said = textOf(node);
    const ids = said === undefined ? [] : idsIn(said);
    const isTitle = isTest(node.parent) && node.parent.arguments[0] === node;
    if (ids.length > 0) found.push({ ids, suite, title: isTitle ? undefined : title, said });
    ts.forEachChild(node, (child) => walk(child, under));
  };
  ts.forEachChild(tree, (child) => walk(child, undefined));
  return found;
}

/** The page and what is wrong with its sources; `proofs` as of {@link proofsIn}, `rows` and `parts` as of docs/assurance/contract.json. */
export function assure(sections, proofs, { parts, rows }) {
  const problems = [];
  const known = new Set(sections.flatMap(({ rules }) => rules.map(({ id }) => id)));
  const areas = new Set([...known].map(areaOf));
  const provenBy = new Map();
  for (const { ids, suite, title, said } of proofs) {
    for (const id of ids) {
      if (!known.has(id)) {
        if (areas.has(areaOf(id))) problems.push(`${suite} > ${said}: there is no rule ${id}`);
        continue;
      }
      const proof = title === undefined || title.includes(id) ? `\`${suite}\` ${title ?? said}` : `\`${suite}\` ${title} > ${said}`;
      provenBy.set(id, (provenBy.get(id) ?? new Set()).add(proof));
    }
  }
  for (const id of Object.keys(rows)) if (!known.has(id)) problems.push(`${ROWS}: there is no rule ${id}`);
  const counts = { tests: 0, covered: 0, untestable: 0, later: 0 };
  const cells = (id) => {
    const tests = [...(provenBy.get(id) ?? [])].sort();
    const row = rows[id];
    if (tests.length > 0) counts.tests += 1;
    else if (row === undefined)
      problems.push(`${id} has no row: name it in the title of the test that proves it, or say in ${ROWS} what covers it, why no test can or which part it belongs to`);
    if (row === undefined) return tests;
    if (row.later !== undefined) {
      if (!(row.later in parts)) problems.push(`${ROWS}: ${id}: "${row.later}" is no part of the product; the parts are ${Object.keys(parts).join(', ')}`);
      if (tests.length > 0 && !row.what) problems.push(`${ROWS}: ${id} is named by a test: take its row away, or say what the test leaves to "${row.later}"`);
      if (tests.length === 0) counts.later += 1;
      return [...tests, `later: ${row.later}${row.what ? ` (${row.what})` : ''}`];
    }
    if (tests.length > 0) problems.push(`${ROWS}: ${id} is named by a test: take its row away`);
    if (row.untestable !== undefined) {
      counts.untestable += 1;
      return [`no test can: ${row.untestable}`];
    }
    const lost = (row.covered ?? []).filter((other) => !provenBy.has(other));
    if (!row.covered?.length || !row.how) problems.push(`${ROWS}: ${id} says neither what covers it and how, nor why no test can, nor where it belongs`);
    else if (lost.length > 0) problems.push(`${ROWS}: ${id} is covered by ${lost.join(', ')}, which no test names`);
    counts.covered += 1;
    return [`with ${(row.covered ?? []).join(', ')}: ${row.how}`];
  };
  const clean = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;');
  const tables = sections.map(({ title, rules }) =>
    [`## ${title}`, '', '| rule | statement | proof |', '|---|---|---|', ...rules.map(({ id, text }) => `| ${id} | ${clean(text)} | ${cells(id).map(clean).join('<br>')} |`)].join(
      '\n',
    ),
  );
  const head = [
    '# The contract, rule by rule',
    '',
    'Generated by `npm run assurance` from the rules (docs/contract/rules.md) and decisions (docs/contract/decisions-c.md), the titles of the tests and the rows kept by hand (contract.json). Do not edit it.',
    'A proof is a suite under `tests/` and the title in it, after `>` the single assertion; a suite runs by its path: `npm test -- platform/http/barriers`.',
    '',
    '| proof | rules |',
    '|---|---|',
    `| a test names the rule | ${counts.tests} |`,
    `| a test that names another rule proves it | ${counts.covered} |`,
    `| no test can | ${counts.untestable} |`,
    `| belongs to a part that does not stand yet | ${counts.later} |`,
    `| all | ${known.size} |`,
    '',
    'Parts that do not stand yet, as the rows name them:',
    '',
    ...Object.entries(parts).map(([part, what]) => `- **${part}**: ${what}`),
  ];
  return { page: `${[head.join('\n'), ...tables].join('\n\n')}\n`, problems };
}

export function suites(folder) {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const name = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return suites(name);
      return /\.tsx?$/.test(entry.name) && !NO_PROOF.test(name) ? [name] : [];
    });
}

async function main() {
  await install();
  const { default: ts } = await import('typescript');
  const read = (name) => readFileSync(path.join(root, name), 'utf8');
  const proofs = suites('tests').flatMap((name) => proofsIn(ts, name, read(name)));
  const { page, problems } = assure(
    RULES.flatMap((page) => readRules(read(page))),
    proofs,
    JSON.parse(read(ROWS)),
  );
  const check = process.argv.includes('--check');
  const stale = !existsSync(path.join(root, PAGE)) || read(PAGE) !== page;
  for (const problem of problems) console.log(problem);
  if (stale && check) console.log(`${PAGE} is out of date: npm run assurance, and read the diff`);
  if (stale && !check) {
    writeFileSync(path.join(root, PAGE), page);
    console.log(`wrote ${PAGE}`);
  }
  process.exit(problems.length > 0 || (stale && check) ? 1 : 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
