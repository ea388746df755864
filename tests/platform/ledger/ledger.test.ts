/** The ledger thread on real files: order, durability, refusals, recovery. */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { openLedger, type ThreadLedger } from '../../../src/platform/ledger/ledger.js';
import type { LedgerTransaction } from '../../../src/platform/ledger/protocol.js';
import { auditDraft, resource, transaction } from '../../support/ledger-data.js';

const WINDOW_MS = 600_000;

interface Test {
  teardown(call: () => unknown): void;
}

function dataDir(test: Test): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-ledger-'));
  test.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function open(test: Test, dir = dataDir(test)): Promise<{ ledger: ThreadLedger; dir: string }> {
  const ledger = await openLedger(dir);
  test.teardown(() => ledger.close());
  return { ledger, dir };
}

t.test('design 3: what was committed is there after a restart, in the order of the calls', async (t) => {
  const dir = dataDir(t);
  const first = await openLedger(dir);
  const { past, ...empty } = await first.load(WINDOW_MS);
  t.same(past?.unreadable, []);
  t.same({ ...empty, resources: [] }, { resources: [], resourceVersion: 0, auditSequence: 0, auditHead: '0'.repeat(64), factSequences: [], nonces: [] });
  const settled: number[] = [];
  const now = Date.now();
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      first
        .commit(
          transaction({
            puts: [resource('Unit', 'north', `u${index % 10}`, index + 1)],
            audits: [auditDraft(index + 1)],
            facts: [{ stream: 'events/north/b1', sequence: index + 1, body: { n: index } }],
            nonces: [{ hash: `h${index}`, atMs: now }],
          }),
        )
        .then(() => settled.push(index)),
    ),
  );
  t.same(
    settled,
    [...settled].sort((a, b) => a - b),
    'answered in order',
  );
  await first.commit(transaction({ removes: [{ kind: 'Unit', site: 'north', name: 'u0' }] }));
  await first.close();

  const { ledger } = await open(t, dir);
  const image = await ledger.load(WINDOW_MS);
  t.equal(image.resources.length, 9);
  t.equal(image.resources.find((one) => one.metadata.name === 'u9')?.metadata.resourceVersion, 50);
  t.equal(image.resourceVersion, 50);
  t.equal(image.auditSequence, 50);
  t.match(image.auditHead, /^[0-9a-f]{64}$/);
  t.same(image.factSequences, [['events/north/b1', 50]]);
  t.equal(image.nonces.length, 50);
  t.same(ledger.findings, []);
});

t.test('8.6: keys and head file are made at first start and readable by the owner only', async (t) => {
  const { dir } = await open(t);
  for (const file of ['keys/audit-hmac', 'keys/device-ed25519.pem', 'audit-head']) {
    t.ok(existsSync(path.join(dir, file)), file);
    t.equal(statSync(path.join(dir, file)).mode & 0o777, 0o600, file);
  }
});

t.test('a transaction whose audit sequence is not the next one is refused, and so is what follows until the store has loaded', async (t) => {
  const { ledger } = await open(t);
  await ledger.load(0);
  const tries: LedgerTransaction[] = [
    transaction({ audits: [auditDraft(1)] }),
    transaction({ audits: [auditDraft(3)] }),
    transaction({ puts: [resource('Unit', 'north', 'late', 1)] }),
  ];
  const outcomes = await Promise.allSettled(tries.map((one) => ledger.commit(one)));
  t.same(
    outcomes.map((one) => one.status),
    ['fulfilled', 'rejected', 'rejected'],
  );
  await t.rejects(ledger.commit(transaction({ audits: [auditDraft(2)] })));
  await ledger.probe();
  const image = await ledger.load(0);
  t.equal(image.auditSequence, 1);
  t.equal(image.resources.length, 0);
  await ledger.commit(transaction({ audits: [auditDraft(2)] }));
});

t.test('entries of a stream have no gap, and resource versions rise', async (t) => {
  const { ledger } = await open(t);
  await ledger.load(0);
  await ledger.commit(
    transaction({
      facts: [
        { stream: 's', sequence: 1, body: 1 },
        { stream: 's', sequence: 2, body: 2 },
      ],
    }),
  );
  await t.rejects(ledger.commit(transaction({ facts: [{ stream: 's', sequence: 4, body: 4 }] })), /entry 4 of s came where 3/);
  await ledger.load(0);
  await ledger.commit(transaction({ puts: [resource('Unit', '', 'a', 5)] }));
  await t.rejects(ledger.commit(transaction({ puts: [resource('Unit', '', 'a', 5)] })), /version 5/);
});

t.test('nothing is committed before the first load', async (t) => {
  const { ledger } = await open(t);
  await t.rejects(ledger.commit(transaction({ audits: [auditDraft(1)] })), /loaded/);
});

t.test('D-NONCE-01, D-C-07: nonces come back whatever their instants say: a clock that was set forth or back forgets none', async (t) => {
  const { ledger } = await open(t);
  await ledger.load(WINDOW_MS);
  const now = Date.now();
  await ledger.commit(
    transaction({
      nonces: [
        { hash: 'old', atMs: now - WINDOW_MS - 1000 },
        { hash: 'young', atMs: now - 1000 },
      ],
    }),
  );
  t.same(
    (await ledger.load(WINDOW_MS)).nonces.map((nonce) => nonce.hash),
    ['old', 'young'],
  );
  await ledger.commit(transaction({ nonces: [{ hash: 'future', atMs: now + 3_600_000 }] }));
  t.ok((await ledger.load(WINDOW_MS)).nonces.some((nonce) => nonce.hash === 'young'));
  t.ok((await ledger.load(WINDOW_MS)).nonces.some((nonce) => nonce.hash === 'future'));
});

t.test('D-NONCE-01, D-C-07: what was spent before the clock was set an hour forth is known after a restart a moment later', async (t) => {
  const { ledger, dir } = await open(t);
  await ledger.load(WINDOW_MS);
  const now = Date.now();
  await ledger.commit(transaction({ nonces: [{ hash: 'before', atMs: now }] }));
  await ledger.commit(transaction({ nonces: [{ hash: 'after', atMs: now + 3_600_000 }] }));
  await ledger.close(); // rests first
  const again = await openLedger(dir);
  t.teardown(() => again.close());
  t.same(
    (await again.load(WINDOW_MS)).nonces.map((nonce) => nonce.hash),
    ['before', 'after'],
  );
});
