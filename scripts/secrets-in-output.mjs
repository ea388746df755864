// Secrets in what the suites print: the runner (scripts/test.mjs) fails a run whose output holds a password that tests sign in with, a key, a
// token or a private key, since what a test sees printed is printed on a box too, into its journal.

/** What is a secret by its form alone. */
const FORMS = [
  ['an API key', /\blsk_[\w-]{32,}/],
  ['a token', /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{16,}/],
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?:\\n|\s)+[\w+/]{16}/],
  ['the identity of a backup', /\bAGE-SECRET-KEY-1[A-Z0-9]{20,}/],
  ['the secret of a second factor', /\botpauth:\/\/\w+\//],
];

/** Suites, as `domains/access/sign-in`, that print one on purpose, each with why. */
export const PRINTED_ON_PURPOSE = {};

/** Passwords that suites sign in with: the constants of that name. */
export function passwordsIn(source) {
  return [...source.matchAll(/\bconst (?:[A-Z]+_)?PASSWORD = '([^']{8,64})'/g)].map(([, password]) => password);
}

/** @returns which kinds of secrets the text holds; never the secret itself. */
export function secretsIn(text, passwords) {
  const found = FORMS.filter(([, form]) => form.test(text)).map(([what]) => what);
  return passwords.some((password) => text.includes(password)) ? [...found, 'a password'] : found;
}

/**
 * @param text what a process of suites has printed: each suite ends with `# suite <file> …`, one that has its process to itself with nothing.
 * @param nameOf the short name of a suite.
 * @returns sentences, each with the suite's name.
 */
export function secretsOf(text, names, nameOf, passwords) {
  const parts = names.length === 1 ? [[names[0], text]] : partsOf(text, names);
  return parts.flatMap(([name, part]) => {
    const suite = nameOf(name);
    return suite in PRINTED_ON_PURPOSE ? [] : secretsIn(part, passwords).map((what) => `${suite} prints ${what}`);
  });
}

/** What stands behind the last end belongs to the suite that was running. */
function partsOf(text, names) {
  const parts = [];
  let from = 0;
  for (const end of text.matchAll(/^# suite (\S+) .*$/gm)) {
    parts.push([end[1], text.slice(from, end.index)]);
    from = end.index + end[0].length;
  }
  return [...parts, [names[Math.min(parts.length, names.length - 1)], text.slice(from)]];
}
