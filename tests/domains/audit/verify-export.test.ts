/** An export of the audit trail is judged elsewhere by whoever has the public key: every change of it is found, and nothing else is. */
import { execFile } from 'node:child_process';
import { appendFileSync, copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { AuditAnchors } from '../../../src/domains/audit/anchors.js';
import { auditBackup } from '../../../src/domains/audit/backup.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import type { ExportRange } from '../../../src/platform/ledger/audit-trail.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { type ExportVerdict, ExportVerifier } from '../../../src/platform/ledger/signed-export.js';
import { verify } from '../../../src/cli/verify.js';
import { auditDraft, transaction } from '../../support/ledger-data.js';
import { ownFolder } from '../../support/own-folder.js';
import { randomOf } from '../../support/row-edits.js';

const RECORDS = 300;
const EDITS = Number(process.env.EDITS ?? 120);
const folder = ownFolder(t);
const dataDir = path.join(folder, 'data');

const keys = openDeviceKeys(dataDir);
const publicKey = { key: keys.publicKey, keyId: keys.kid };
const KEY_FILE = path.join(folder, 'box.pub');
writeFileSync(KEY_FILE, keys.publicKey.export({ type: 'spki', format: 'pem' }));

/** What a box with this many records exports, and an anchor at its end. */
async function lived(records: number): Promise<string> {
  const ledger = await openLedger(dataDir);
  const { auditSequence } = await ledger.load(0);
  await ledger.commit(transaction({ audits: Array.from({ length: records }, (_, index) => auditDraft(auditSequence + index + 1)) }));
  await ledger.close();
  return exported();
}

async function exported(range: ExportRange = {}): Promise<string> {
  const queries = openQueries(dataDir);
  const text: Buffer[] = [];
  for await (const chunk of auditBackup(queries, range, { ...keys, exportedAt: '2026-11-29T00:00:00.000Z' })) text.push(Buffer.from(chunk));
  await queries.close();
  return Buffer.concat(text).toString('utf8');
}

interface Judging {
  readonly chunk?: number;
  /** Null: whoever judges has none. */
  readonly key?: typeof publicKey | null;
}

function judged(text: string, { chunk = 1000, key = publicKey }: Judging = {}): ExportVerdict {
  const verifier = new ExportVerifier(key ?? undefined);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunk) verifier.take(bytes.subarray(at, at + chunk));
  return verifier.end();
}

const whole = await lived(RECORDS);

t.test('a whole export is genuine with the key, however it arrives, and without a key is only shown to contradict nothing', async (t) => {
  for (const chunk of [1, 7, 1000, 1 << 20])
    t.match(judged(whole, { chunk }), { ok: true, records: RECORDS, firstSequence: 1, lastSequence: RECORDS, signature: 'valid', keyId: keys.kid, problems: [] });
  t.match(judged(whole, { key: null }), { ok: false, signature: 'none', problemsInAll: 0 });
  const other = openDeviceKeys(path.join(folder, 'other'));
  t.match(judged(whole, { key: { key: other.publicKey, keyId: other.kid } }), { ok: false, signature: 'invalid', problems: [/not signed with this key/] });
});

t.test('G22: whatever somebody writes into a file is judged in words, and what stands in a trailer beside what was signed is found', async (t) => {
  const lines = whole.split('\n').slice(0, -1);
  const trailer = lines.at(-1) as string;
  const withTrailer = (text: string): string => `${[...lines.slice(0, -1), text].join('\n')}\n`;
  t.match(judged(withTrailer(trailer.replace('{', '{"approvedBy":"Ann",'))), { ok: false, signature: 'invalid', problems: [/not signed with this key/] });
  t.match(judged(withTrailer(trailer.replace('{', '{"more":1e999,'))), { ok: false, signature: 'invalid' });
  t.match(judged(withTrailer(trailer.replace('{', `{"more":${'['.repeat(20_000)}${']'.repeat(20_000)},`))), { ok: false, signature: 'invalid' });
  t.match(judged(withTrailer(trailer.replace('=="', '==x"'))), { ok: false, signature: 'invalid' }, 'something behind the signature');
  const signature = `{"algorithm":"Ed25519","keyId":"${keys.kid}","value":"AA==","content":1e999}`;
  const first = lines[0] as string;
  const edits = [first.replace('{', `{"signature":${signature},`), first.replace(/"keyId":"[^"]*"/g, '"keyId":"\\u12"'), first.replace(/"keyId":"[^"]*"/g, '"keyId":"\\x"')];
  for (const edit of edits) t.match(judged(`${[edit, ...lines.slice(1)].join('\n')}\n`), { ok: false }, edit.slice(0, 80));
  const endless = path.join(folder, 'endless');
  writeFileSync(endless, '');
  truncateSync(endless, 70 * 1024 * 1024);
  const said: string[] = [];
  t.equal(await verify(endless, { key: KEY_FILE }, { out: () => undefined, say: (text) => said.push(text) }), 2);
  t.match(said, [/line 1 is longer than any record can be/]);
});

t.test('every edit of an export is found: a byte, a line taken out, doubled or moved, the end cut off', async (t) => {
  const random = randomOf(Number(process.env.FUZZ_SEED ?? 20261129));
  const below = (end: number): number => Math.floor(random() * end);
  const lines = whole.split('\n').slice(0, -1);
  const joined = (changed: readonly string[]): string => `${changed.join('\n')}\n`;
  const edits: (() => string)[] = [
    () => {
      const at = below(whole.length - 1);
      const to = String.fromCharCode(whole.charCodeAt(at) ^ (1 + below(7)));
      return whole.slice(0, at) + to + whole.slice(at + 1);
    },
    () => joined(lines.toSpliced(below(lines.length), 1)),
    () => joined(lines.toSpliced(below(lines.length), 0, lines[below(lines.length)] as string)),
    () => {
      const [one, two] = [below(lines.length), below(lines.length - 1)];
      return joined(lines.toSpliced(two >= one ? two + 1 : two, 1, lines[one] as string));
    },
    () => whole.slice(0, below(whole.length - 1)),
    () => joined([...lines, lines.at(-1) as string]),
  ];
  let unseen = 0;
  for (let edit = 0; edit < EDITS; edit += 1) {
    const changed = (edits[edit % edits.length] as () => string)();
    if (changed !== whole && judged(changed).ok) unseen += 1;
  }
  t.equal(unseen, 0, `${EDITS} edits`);
});

t.test('a rollback of the whole disk is found with anchors only, and without them the command says so', async (t) => {
  const file = (name: string): string => path.join(folder, name);
  const anchors = file('anchors');
  const print = async (name: string, options: object): Promise<{ code: number; said: string }> => {
    const said: string[] = [];
    const take = (text: string): void => void said.push(text);
    return { code: await verify(file(name), { key: KEY_FILE, ...options }, { out: take, say: take }), said: said.join('\n') };
  };
  const state = path.join(dataDir, 'state.db');
  copyFileSync(state, file('state.early'));
  const queries = openQueries(dataDir);
  const sends = (): void => {
    throw new Error('the broker is gone');
  };
  const kept = new AuditAnchors({ folder, intervalMs: 1000, queries, keys, clock: systemClock, sends });
  await t.rejects(kept.keep(), /the broker is gone/); // and the folder has it nonetheless
  await queries.close();
  const anchorFile = file(`lineside-anchors-${keys.kid}.ndjson`);
  copyFileSync(anchorFile, anchors);
  writeFileSync(file('export'), whole);
  writeFileSync(file('export.gz'), gzipSync(whole));
  for (const name of ['export', 'export.gz']) {
    t.match(await print(name, {}), { code: 0, said: /genuine[\s\S]*|no anchors were given: that the box itself was set back/ });
    t.match(await print(name, { anchors }), { code: 0, said: /1 anchors were looked at/ });
  }
  const later = await lived(20);
  const some = await exported({ fromMs: Date.parse(auditDraft(RECORDS + 1).timestamp) });
  const again = openQueries(dataDir);
  for (const torn of ['{"seq', '\n{"sequence":310,"ha']) appendFileSync(anchorFile, torn); // a power cut while they were written
  const grown = new AuditAnchors({ folder, intervalMs: 1000, queries: again, keys, clock: systemClock });
  await grown.keep();
  t.match(await grown.check(), { configured: true, checked: 2, newest: { sequence: RECORDS + 20 }, problems: [] });
  await grown.keep();
  t.match(await grown.check(), { checked: 2 }, 'a trail that has not grown is not anchored again');
  await again.close();
  copyFileSync(anchorFile, anchors);
  t.match(await print('export', { anchors }), { code: 1, said: /record 320 was anchored outside, and the trail ends with record 300/ }, 'the copy that was taken before');
  writeFileSync(file('later'), later);
  t.match(await print('later', { anchors }), { code: 0, said: /2 anchors were looked at\n/ });
  writeFileSync(file('some'), some);
  const shown = await print('some', { anchors });
  t.match(shown, { code: 0, said: /2 anchors were looked at, and 1 of them are of records in this file/ }, 'what an export of some times cannot show is told');
  t.match(shown.said, /records 1 to 300 are not in this file: .* it does not show; only that record 301 was written behind one with the hash it names/);
  // the disk of before, on which the box lives on: other records of the same numbers
  copyFileSync(file('state.early'), state);
  for (const beside of ['audit-head', 'state.db-wal', 'state.db-shm']) writeFileSync(path.join(dataDir, beside), '');
  const rolled = openQueries(dataDir);
  const looking = new AuditAnchors({ folder, intervalMs: 1000, queries: rolled, keys, clock: systemClock });
  t.match((await looking.check()).problems, [/record 320 was anchored .* and the trail ends with record 300: this box was set back/]);
  await rolled.close();
  t.match(await print('none', {}), { code: 2, said: /cannot be read/ });
  t.match(await print('export', { key: anchors }), { code: 2, said: /no public key of a box/ });
  const [first = ''] = readFileSync(anchors, 'utf8').split('\n');
  const behind = file('behind');
  writeFileSync(behind, `${first.replace('"}', 'x"}')}\n`);
  t.match(await print('export', { anchors: behind }), { code: 2, said: /line 1 is no anchor/ }, 'a letter behind its signature');
  appendFileSync(anchors, '{"sequence":1,"hash":"00"}\n');
  t.match(await print('export', { anchors }), { code: 2, said: /line 5 is no anchor/ });
});

t.test('the command as a stranger runs it, with the file and the key alone', async (t) => {
  const run = (...args: string[]): Promise<{ code: number; text: string }> =>
    new Promise((resolve) => {
      const lineside = path.resolve('bin/lineside.js');
      execFile(process.execPath, [lineside, 'verify', ...args], { cwd: folder, env: { PATH: process.env.PATH } }, (fault, out, err) =>
        resolve({ code: Number((fault as { code?: unknown } | null)?.code ?? 0), text: out + err }),
      );
    });
  t.match(await run('export', '--key', 'box.pub'), { code: 0, text: /300 records, 1 to 300, exported 2026-11-29T00:00:00.000Z[\s\S]*genuine/ });
  t.match(JSON.parse((await run('export', '--key', 'box.pub', '--json')).text), { ok: true, signature: 'valid', anchors: 0 });
  writeFileSync(path.join(folder, 'changed'), readFileSync(path.join(folder, 'export'), 'utf8').replace('"result":"Success"', '"result":"Refused"'));
  const changed = await run('changed', '--key', 'box.pub');
  t.match(changed, { code: 1, text: /record 1 does not match its hash: it was changed/ });
  t.match(changed.text, /^NOT GENUINE$/m);
});
