/** The command of docs/operations/copies.md that cuts a long export: each part is below what one apply takes, by count and by size, and nothing is lost. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';

const MANIFESTS_MAX = 5000;
const BYTES_MAX = 16 * 1024 ** 2;

/** The program of awk, which gets a manifest a line. */
const program = /LC_ALL=C awk '([^']+)'/.exec(readFileSync('docs/operations/copies.md', 'utf8'))?.[1] ?? '';

function partsOf(manifests: readonly object[]): readonly string[] {
  const input = manifests.map((manifest) => `${JSON.stringify(manifest)}\n`).join('');
  const { status, stdout, stderr } = spawnSync('awk', [program], { input, encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`awk ended with ${status}: ${stderr}`);
  return stdout.split('\n').slice(0, -1);
}

const manifests = (count: number, text: string): object[] => Array.from({ length: count }, (_, at) => ({ kind: 'Tag', name: `t${at}`, text }));

for (const [name, given, parts] of [
  ['many small ones by count', manifests(12_000, 'm³/h %s "quoted" \\n'), 3],
  ['large ones by size, in bytes', manifests(4000, 'µ'.repeat(4000)), 3],
  ['one that is larger than that by itself', [...manifests(2, ''), ...manifests(1, 'x'.repeat(15_000_001)), ...manifests(2, '')], 3],
  ['a short one is one part', manifests(3, ''), 1],
  ['of nothing there is none', [], 0],
] as const) {
  t.test(name, (t) => {
    const cut = partsOf(given);
    t.equal(cut.length, parts);
    for (const part of cut) t.ok(Buffer.byteLength(part) < BYTES_MAX && (JSON.parse(part) as unknown[]).length <= MANIFESTS_MAX);
    t.strictSame(
      cut.flatMap((part) => JSON.parse(part) as object[]),
      given,
      'in their order',
    );
    t.end();
  });
}
