/** Secrets reach neither the output of a suite (scripts/secrets-in-output.mjs, which the runner asks) nor the list of processes. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { COMMANDS } from '../../src/cli/remote/commands.js';
import { SETTINGS } from '../../src/settings.js';

interface Look {
  passwordsIn(source: string): string[];
  secretsIn(text: string, passwords: readonly string[]): string[];
  secretsOf(text: string, names: readonly string[], nameOf: (name: string) => string, passwords: readonly string[]): string[];
}

const look = (await import(pathToFileURL(path.join(process.cwd(), 'scripts/secrets-in-output.mjs')).href)) as Look;
/** Put together here, so that this suite prints none itself where it fails. */
const made = (...parts: readonly string[]): string => parts.join('');
const LETTERS = 'a'.repeat(40);
const WORDS = made('quite ', 'a password');

t.test('each form of a secret is found, and what is none is not', async (t) => {
  const samples = [
    ['an API key', made('ls', 'k_', LETTERS)],
    ['a token', made('ey', 'J', LETTERS, '.', LETTERS, '.', LETTERS)],
    ['a private key', made('-----BEGIN EC ', 'PRIVATE KEY-----\n', LETTERS)],
    ['the identity of a backup', made('AGE-SECRET', '-KEY-1', 'Q'.repeat(50))],
    ['the secret of a second factor', made('otp', 'auth://totp/x')],
    ['a password', WORDS],
  ] as const;
  for (const [what, sample] of samples) t.same(look.secretsIn(`before ${sample} after`, [WORDS]), [what]);
  t.same(look.secretsIn('ok 1 - a key lsk_… is shown once, eyJ… too; -----BEGIN CERTIFICATE-----; must be PEM (-----BEGIN PRIVATE KEY-----)', [WORDS]), []);
  t.same(look.passwordsIn(made('export const PASS', `WORD = '${WORDS}';`)), [WORDS]);
});

t.test('the suite that prints one is named, also within a process of several', async (t) => {
  const text = `ok 1\n# suite a 1 1\n${WORDS}\n# suite b 1 1\nok 3\n# suite c 1 1\n`;
  t.same(
    look.secretsOf(text, ['a', 'b', 'c'], (name) => `suite ${name}`, [WORDS]),
    ['suite b prints a password'],
  );
  t.same(
    look.secretsOf(WORDS, ['d'], (name) => name, [WORDS]),
    ['d prints a password'],
  );
});

/** Values that are no secret, or that serve once. */
const NO_SECRET = /^--(code|second-factor|key|ca-file|certificate) <|^--fingerprint/;

t.test('no option of a command and no flag of the start takes a secret as its value: it is typed, or comes by standard input or a file', async (t) => {
  const options = COMMANDS.flatMap(({ options = [] }) => options.map(([typed]) => typed));
  t.ok(options.includes('--password-stdin'));
  const taking = options.filter((typed) => /passw|secret|token|passphrase|credential|\bkey\b|\bcode\b/.test(typed) && /[<[]/.test(typed) && !NO_SECRET.test(typed));
  t.same(taking, []);
  const flags = Object.values(SETTINGS).filter((row) => 'flag' in row && /passw|secret|token/i.test(row.key));
  t.same(flags, []);
  const inClear = Object.values(SETTINGS).filter(({ key }) => /(password|secret|token|passphrase)$/i.test(key));
  t.same(inClear, [], 'settings name the file of a secret');
});
