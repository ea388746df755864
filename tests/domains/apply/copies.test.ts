/** Backup and export are written in pieces, and are to the byte what one text of everything in memory was, however much of it is past. */
import { hash } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { backupJson, exportedJson, manifestOf } from '../../../src/domains/apply/export.js';
import { APPLIED_KINDS } from '../../../src/domains/index.js';
import { OperationSpec, Operation, Phase, PhaseSpec, Procedure, ProcedureSpec } from '../../../src/domains/procedures/kind.js';
import { canonicalJson } from '../../../src/platform/ledger/canonical-json.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import { pastRows } from '../../../src/platform/store/past-rows.js';
import { inOrder, referencesIn, targetOf } from '../../../src/platform/store/references.js';
import type { Resource } from '../../../src/platform/store/resource.js';
import type { Past, Put, Store } from '../../../src/platform/store/store.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const BACKUP = '/api/v1/backup/crds';
const EXPORT = '/api/v1/export?status=true';
const FACTS = { createdAt: '2026-01-31T09:00:00Z', version: '0.0.0', operatingMode: 'development', deviceId: 'box' } as const;

interface Page {
  readonly kind: string;
  readonly number: number;
}

/** The plant of the demonstration; `onPage` is called before a page of the past is given back. */
async function plant(t: Test) {
  const gateway = await startPlantGateway();
  const queries = openQueries(gateway.dataDir, () => gateway.store.recorded);
  t.teardown(async () => {
    await queries.close();
    await gateway.stop();
  });
  const pages = { read: 0, onPage: async (_page: Page): Promise<void> => undefined };
  pastRows(gateway.store).connect({
    pastRun: (run) => queries.pastRun(run),
    pastTexts: (asked) => queries.pastTexts(asked),
    pastPage: async (asked) => {
      const page = await queries.pastPage(asked);
      pages.read += 1;
      await pages.onPage({ kind: asked.kind, number: pages.read });
      return page;
    },
  });
  const admin = await gateway.as('admin');
  const provisioned = await admin.post('/api/v1/demo/provision');
  if (provisioned.status >= 300) throw new Error(provisioned.text);
  return { gateway, store: gateway.store, admin, pages, past: pastRows(gateway.store) };
}

/** Elements of so many batches that have ended. @returns those of every other batch, as what becomes past. */
async function ended(store: Store, count: number, description = ''): Promise<readonly Past[]> {
  const element = (name: string, batch: string, kind: Kind, spec: v.GenericSchema, parent: string | null): Put => {
    const whole = v.parse(spec, { description }) as object;
    const parentRef = parent === null ? null : { kind: parent === batch ? 'Procedure' : 'Operation', name: parent };
    const made = { ...whole, batchRef: batch, parentRef, ...(kind.kind === 'Phase' ? { unitRef: 'rx101' } : {}) };
    return { kind, site: 'demo', name, spec: made, status: { ...(kind.initialStatus(made) as object), state: 'Complete' } };
  };
  const pasts: Past[] = [];
  for (let n = 0; n < count; n += 1) {
    const batch = `b-${String(n).padStart(4, '0')}`;
    const puts = [
      element(batch, batch, Procedure as unknown as Kind, ProcedureSpec, null),
      element(`${batch}-op`, batch, Operation as unknown as Kind, OperationSpec, batch),
      element(`${batch}-op-charge`, batch, Phase as unknown as Kind, PhaseSpec, `${batch}-op`),
      element(`${batch}-op-heat`, batch, Phase as unknown as Kind, PhaseSpec, `${batch}-op`),
    ];
    await store.write({ puts });
    const members = puts.map(({ kind, site, name }) => ({ kind: kind.kind, site, name }));
    if (n % 2 === 0) pasts.push({ run: members[0] as (typeof members)[0], members, streams: [] });
  }
  return pasts;
}

/** As everything was written while all of it was in memory. */
function inOneText(store: Store): string {
  const all = APPLIED_KINDS.all.flatMap((kind) => store.list<unknown, unknown>(kind).map((resource) => ({ kind, resource: resource as Resource })));
  const resources = inOrder(all, ({ kind, resource }) => ({ ...targetOf(resource), references: referencesIn(kind, resource) })).map(({ kind, resource }) => {
    const manifest = manifestOf(kind, resource, true);
    return { ...manifest, metadata: { ...manifest.metadata, uid: resource.metadata.uid } };
  });
  return JSON.stringify({ format: 'lineside-backup/1', ...FACTS, resources, sha256: hash('sha256', canonicalJson(resources), 'hex') });
}

async function whole(texts: AsyncIterable<string>): Promise<string> {
  let all = '';
  for await (const text of texts) all += text;
  return all;
}

t.test('a backup has the bytes and the digest that it had, present and past', async (t) => {
  const { store, gateway, admin } = await plant(t);
  const pasts = await ended(store, 40);
  const before = inOneText(store);
  t.ok(JSON.parse(before).resources.length > 200);
  t.equal(await whole(backupJson(store, APPLIED_KINDS, FACTS, gateway.clock)), before);
  const exported = (await admin.get(EXPORT)).text;
  await store.write({ pasts });
  t.not(inOneText(store), before);
  t.equal(await whole(backupJson(store, APPLIED_KINDS, FACTS, gateway.clock)), before);
  t.equal((await admin.get(EXPORT)).text, exported);
  const { text } = await admin.get(BACKUP);
  const { resources, sha256 } = JSON.parse(text) as { resources: unknown; sha256: string };
  t.same(resources, JSON.parse(before).resources);
  t.equal(sha256, JSON.parse(before).sha256);
  t.equal(sha256, hash('sha256', canonicalJson(resources), 'hex'));
});

t.test('an export leaves out what it left out, and nothing that is empty is broken', async (t) => {
  const { store, gateway, admin } = await plant(t);
  await store.write({ pasts: await ended(store, 4) });
  t.same((await admin.get('/api/v1/export?kinds=Phase')).body, [], 'what a batch made comes with the status only');
  t.equal((await admin.get('/api/v1/export?kinds=Phase&status=true')).body.length, 8);
  t.same((await admin.get('/api/v1/export?kinds=Phase&status=true&site=south')).body, []);
  const wish = { status: true, visible: () => true, site: 'south', kinds: ['Phase'] };
  t.equal(await whole(exportedJson(store, APPLIED_KINDS, wish, gateway.clock)), '[]');
});

t.test('no kind that may be past has an order of its own: nothing names it at a write, and it names nothing behind it', (t) => {
  const mayBePast = APPLIED_KINDS.all.filter((kind) => kind.pastWith ?? kind.pastIndex);
  t.ok(mayBePast.length >= 4);
  t.same(
    mayBePast.filter((kind) => !['Procedure', 'UnitProcedure', 'Operation', 'Phase', 'Batch', 'CoordinationBlock', 'SyncBarrier', 'ChangeRequest'].includes(kind.kind)),
    [],
  );
  const spec = v.parse(PhaseSpec, {});
  for (const kind of APPLIED_KINDS.all.filter(({ kind: name }) => ['Procedure', 'UnitProcedure', 'Operation', 'Phase'].includes(name)))
    t.notOk(referencesIn(kind, { kind: kind.kind, metadata: { site: 'demo' }, spec: { ...spec, templateRef: 'a' } } as unknown as Resource).some(({ when }) => when === 'write'));
  t.end();
});

t.test('one page of the past is held at a time, however slow the reader is', async (t) => {
  const { store, gateway, pages, past } = await plant(t);
  await store.write({ pasts: await ended(store, 160, 'x'.repeat(20_000)) });
  const texts = backupJson(store, APPLIED_KINDS, FACTS, gateway.clock);
  let characters = 0;
  let ahead = 0;
  for (;;) {
    const next = await texts.next();
    if (next.done) break;
    characters += next.value.length;
    const taken = pages.read;
    await wait(0);
    t.equal(pages.read, taken, 'nothing is read while nobody takes anything');
    ahead = Math.max(ahead, taken * 250_000 - characters);
    t.ok(past.isWalked);
  }
  t.ok(characters > 6_000_000 && pages.read > 25, `${characters} characters, ${pages.read} pages`);
  t.ok(ahead < 1_000_000, `${ahead} characters were read before somebody took them`);
  t.notOk(past.isWalked);
});

/** The head of an answer, and its body as it comes. */
function opened(port: number, token: string, target: string, method = 'GET'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: target, method, headers: { Authorization: `Bearer ${token}` }, agent: false }, resolve)
      .once('error', reject)
      .end();
  });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await wait(2);
}

t.test('a long one is sent while it is made, and is whole', async (t) => {
  const { store, admin, pages } = await plant(t);
  await store.write({ pasts: await ended(store, 100, 'x'.repeat(10_000)) });
  for (const target of [BACKUP, EXPORT]) {
    pages.read = 0;
    const answer = await admin.get(target);
    t.equal(answer.headers['content-length'], undefined);
    const written = target === BACKUP ? answer.body.resources : answer.body;
    t.equal(written.filter(({ kind }: { kind: string }) => kind === 'Phase').length, 200);
    if (target === BACKUP) t.equal(answer.body.sha256, hash('sha256', canonicalJson(answer.body.resources), 'hex'));
    t.ok(pages.read > 6);
  }
  const short = await admin.get('/api/v1/export?kinds=Site&status=true');
  t.equal(short.headers['content-length'], String(Buffer.byteLength(short.text)));
});

t.test('a fault on the way cuts the connection, one before it is told; then others are served', async (t) => {
  const { store, admin, pages, past } = await plant(t);
  await store.write({ pasts: await ended(store, 200, 'x'.repeat(10_000)) });
  for (const target of [BACKUP, EXPORT]) {
    pages.read = 0;
    pages.onPage = ({ number }) => (number === 10 ? Promise.reject(new Error('the query thread stopped')) : Promise.resolve());
    await t.rejects(admin.get(target), { code: 'ECONNRESET' });
    t.equal(pages.read, 10);
    t.notOk(past.isWalked);
    pages.onPage = () => Promise.reject(new Error('the query thread stopped'));
    t.match(await admin.get(target), { status: 503, body: { code: 'no_answer' } });
    t.notOk(past.isWalked);
    pages.onPage = () => Promise.resolve();
    t.equal((await admin.get(target)).status, 200);
  }
});

t.test('who goes away, before or while it is sent, or only asks for its head, lets go of everything', async (t) => {
  const { gateway, store, admin, pages, past } = await plant(t);
  await store.write({ pasts: await ended(store, 200, 'x'.repeat(20_000)) });
  const answer = await opened(gateway.port, admin.token, BACKUP);
  await new Promise((resolve) => answer.once('data', resolve));
  t.ok(past.isWalked);
  answer.destroy();
  await until(() => !past.isWalked);
  const head = await opened(gateway.port, admin.token, BACKUP, 'HEAD');
  t.equal(head.statusCode, 200);
  head.resume();
  await until(() => !past.isWalked);
  let goOn = (): void => undefined;
  let isReading = false;
  pages.onPage = () => {
    isReading = true;
    return new Promise((resolve) => (goOn = resolve));
  };
  const early = request({ host: '127.0.0.1', port: gateway.port, path: BACKUP, headers: { Authorization: `Bearer ${admin.token}` }, agent: false });
  early.on('error', () => undefined);
  early.end();
  await until(() => isReading);
  t.ok(past.isWalked);
  early.destroy();
  pages.onPage = () => Promise.resolve();
  goOn();
  await until(() => !past.isWalked);
  t.equal((await admin.get(BACKUP)).status, 200);
});

t.test('one is written at a time, two wait, and the next is told to come again', async (t) => {
  const { store, admin, pages, past } = await plant(t);
  await store.write({ pasts: await ended(store, 6) });
  let goOn = (): void => undefined;
  let isReading = false;
  pages.onPage = () => {
    isReading = true;
    return new Promise((resolve) => (goOn = resolve));
  };
  const first = admin.get(BACKUP);
  await until(() => isReading);
  const answers = [admin.get(BACKUP), admin.get(EXPORT), admin.get(EXPORT)];
  const refused = await Promise.race(answers);
  t.match(refused, { status: 503, headers: { 'retry-after': '2' }, body: { code: 'past_busy' } });
  t.equal((await admin.get('/api/v1/export')).status, 200, 'what reads nothing past waits for nobody');
  pages.onPage = () => Promise.resolve();
  goOn();
  t.equal((await first).status, 200);
  t.same((await Promise.all(answers)).map(({ status }) => status).sort(), [200, 200, 503]);
  t.notOk(past.isWalked);
});
