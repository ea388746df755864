/** Everything there is, written down in pieces, is of one moment, whatever becomes of it meanwhile; and a page of the past is held at a time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import type { OneMoment } from '../../../src/platform/store/one-moment.js';
import { runEntry } from '../../../src/platform/store/past-index.js';
import type { UnboundedReads } from '../../../src/platform/store/past-reads.js';
import { PastRows } from '../../../src/platform/store/past-rows.js';
import type { Resource } from '../../../src/platform/store/resource.js';
import { type Past, Store } from '../../../src/platform/store/store.js';
import { auditDraft } from '../../support/ledger-data.js';
import { takeAuditNumber } from '../../support/ledger-child.js';
import { TestClock } from '../../support/test-clock.js';

const base = { group: 'system', scope: 'site', action: 'run', body: 'flat', apply: { how: 'yes' } } as const;
const Run: Kind<{ order: string }, object> = {
  ...base,
  kind: 'Run',
  spec: v.object({ order: v.string() }),
  initialStatus: () => ({}),
  pastWith: { kind: 'Run', named: 'alike' },
  pastIndex: (_run, members) => ({ ...runEntry(members) }),
};
const Step: Kind<{ of: string }, object> = { ...base, kind: 'Step', spec: v.object({ of: v.string() }), initialStatus: () => ({}), pastWith: { kind: 'Run', named: 'below' } };
const Tank: Kind<{ order: string }, object> = { ...base, kind: 'Tank', spec: v.object({ order: v.string() }), initialStatus: () => ({}) };
const KINDS = [Run, Step, Tank] as const;
const STEPS = ['cool', 'heat'];

/** A page is some twenty of them. */
const PADDING = 'x'.repeat(10_000);

/** `before` and `after` are called round each page that is read, with its kind and number. */
async function plant(t: Test) {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-moment-'));
  const ledger = await openLedger(dir);
  const store = new Store(ledger, new TestClock(), undefined, KINDS as unknown as Kind[]);
  const queries = openQueries(dir, () => store.recorded);
  await store.open(0);
  t.teardown(async () => {
    await queries.close();
    await ledger.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const pages = { read: [] as string[], before: async (_page: string): Promise<void> => undefined, after: async (_page: string): Promise<void> => undefined };
  const reads: UnboundedReads = {
    pastRun: (run) => queries.pastRun(run),
    pastTexts: (request) => queries.pastTexts(request),
    pastPage: async (request) => {
      const page = `${request.kind} ${pages.read.filter((each) => each.startsWith(request.kind)).length + 1}`;
      pages.read.push(page);
      await pages.before(page);
      const read = await queries.pastPage(request);
      await pages.after(page);
      return read;
    },
  };
  return { dir, ledger, store, pages, past: new PastRows(store, reads) };
}

type Plant = Awaited<ReturnType<typeof plant>>;

async function ran(store: Store, name: string, site = 'north'): Promise<Past> {
  await store.write({
    puts: [{ kind: Run, site, name, spec: { order: PADDING } }, ...STEPS.map((step) => ({ kind: Step, site, name: `${name}-${step}`, spec: { of: PADDING } }))],
  });
  const run = { kind: 'Run', site, name };
  return { run, members: [run, ...STEPS.map((step) => ({ kind: 'Step', site, name: `${name}-${step}` }))], streams: [] };
}

/** So many runs, a third of them present; as they are listed while all of them are. */
async function filled({ store }: Plant, count: number, sites: readonly string[] = ['north']): Promise<readonly Resource[]> {
  const pasts: Past[] = [];
  for (let n = 0; n < count; n += 1) {
    const run = await ran(store, `r${String(n).padStart(4, '0')}`, sites[n % sites.length]);
    if (n % 3 !== 1) pasts.push(run);
  }
  await store.write({ puts: [{ kind: Tank, site: 'north', name: 'feed', spec: { order: '' } }] });
  const all = listed(store);
  await store.write({ pasts });
  return all;
}

function listed(store: Store): readonly Resource[] {
  return KINDS.flatMap((kind) => store.list(kind as unknown as Kind));
}

async function written(moment: OneMoment): Promise<readonly Resource[]> {
  const all: Resource[] = [];
  for (const kind of KINDS as unknown as Kind[]) for await (const page of moment.of(kind)) all.push(...page);
  return all;
}

const kinds = KINDS as unknown as Kind[];
const run = (name: string) => ({ kind: 'Run', site: 'north', name });

t.test('what is present and what is past are as all of it was while it was present, of several sites by name', async (t) => {
  for (const sites of [['north'], ['north', 'south', 'east']]) {
    const box = await plant(t);
    const all = await filled(box, 150, sites);
    const { moment, end } = await box.past.moment(kinds);
    t.same(await written(moment), all, sites.join());
    end();
  }
});

t.test('of a site that is not wanted nothing past is read', async (t) => {
  const box = await plant(t);
  const all = await filled(box, 30, ['north', 'south']);
  const { moment, end } = await box.past.moment(kinds, (site) => site === 'south');
  const found = (await written(moment)).filter(({ metadata }) => metadata.site === 'south');
  t.same(
    found,
    all.filter(({ metadata }) => metadata.site === 'south'),
  );
  end();
  const { moment: none, end: over } = await box.past.moment(kinds, () => false);
  t.notOk(none.hasPast);
  t.notOk(box.past.isWalked, 'and nobody waits for it');
  over();
});

t.test('what comes back, is changed and removed, is made or becomes past meanwhile changes nothing of it', async (t) => {
  const box = await plant(t);
  const { store, past, pages } = box;
  const all = await filled(box, 150);
  const walked: boolean[] = [];
  const change = async (name: string): Promise<void> => {
    await past.bringBack(run(name));
    await store.write({ puts: [{ kind: Run, site: 'north', name, spec: { order: 'another' } }] });
  };
  const remove = async (name: string): Promise<void> => {
    await past.bringBack(run(name));
    await store.write({ removes: [run(name), ...STEPS.map((step) => ({ kind: 'Step', site: 'north', name: `${name}-${step}` }))] });
  };
  // of runs ahead of the page, in it and behind it, before it is read and when it was
  pages.before = async (page) => {
    walked.push(past.isWalked);
    if (page === 'Run 3') {
      for (const name of ['r0000', 'r0021', 'r0141']) await change(name);
      for (const name of ['r0002', 'r0023', 'r0143']) await remove(name);
      await store.write({ puts: [{ kind: Tank, site: 'north', name: 'feed', spec: { order: 'full' } }] });
      await ran(store, 'r0050-new');
    }
  };
  pages.after = async (page) => {
    if (page === 'Run 3') {
      for (const name of ['r0003', 'r0024', 'r0144']) await change(name);
      for (const name of ['r0005', 'r0026', 'r0146']) await remove(name);
      await store.write({ removes: [run('r0001')] });
    }
    if (page === 'Step 3') for (const name of ['r0006', 'r0027', 'r0147']) await remove(name); // while the steps are read
  };
  const { moment, end } = await past.moment(kinds);
  t.same(await written(moment), all);
  t.ok(walked.every(Boolean), 'until the end nothing becomes past');
  t.ok(pages.read.includes('Run 5') && pages.read.includes('Step 8'), pages.read.join());
  end();
  end();
  t.notOk(past.isWalked);
  pages.before = pages.after = async () => undefined;
  const after = await past.moment(kinds);
  t.notSame(await written(after.moment), all);
  after.end();
});

t.test('a run that comes back in vain is in it once', async (t) => {
  const box = await plant(t);
  const { store, past, pages, ledger } = box;
  const all = await filled(box, 60);
  pages.before = async (page) => {
    if (page !== 'Run 2') return;
    await takeAuditNumber(ledger, store.auditSequence + 1);
    const refused = store.write({ audits: [{ ...auditDraft(1), actor: { accountId: '', displayName: '', actorType: 'component' } } as never] });
    const back = past.bringBack(run('r0048')).catch(() => undefined); // in vain before the commit is refused, or behind it
    await t.rejects(refused);
    await back;
  };
  const { moment, end } = await past.moment(kinds);
  t.same(await written(moment), all);
  t.notOk(store.accepting);
  end();
});

t.test('runs whose mark was refused after all are in it', async (t) => {
  const { store, past, ledger } = await plant(t);
  const [a, b] = [await ran(store, 'a'), await ran(store, 'b')];
  await store.write({ pasts: [a] });
  await takeAuditNumber(ledger, store.auditSequence + 1);
  const refused = store.write({ pasts: [b], audits: [{ ...auditDraft(1), actor: { accountId: '', displayName: '', actorType: 'component' } } as never] });
  t.equal(store.get(Run, 'north', 'b'), undefined);
  const beginning = past.moment(kinds);
  await t.rejects(refused);
  const { moment, end } = await beginning;
  t.same(
    (await written(moment)).map(({ metadata }) => metadata.name),
    ['a', 'b', 'a-cool', 'a-heat', 'b-cool', 'b-heat'],
  );
  end();
});

t.test('one is written down at a time, the next waits for its end, and who would wait long is told to come again', async (t) => {
  const box = await plant(t);
  await filled(box, 9);
  const first = await box.past.moment(kinds);
  const [second, third] = [box.past.moment(kinds), box.past.moment(kinds)];
  await t.rejects(box.past.moment(kinds), { name: 'Refusal', context: { code: 'past_busy' } });
  let isSecond = false;
  void second.then(() => (isSecond = true));
  await box.store.write({ puts: [{ kind: Tank, site: 'north', name: 'late', spec: { order: '' } }] });
  await turn();
  t.notOk(isSecond);
  first.end();
  const { moment, end } = await second;
  t.ok(
    (await written(moment)).some(({ metadata }) => metadata.name === 'late'),
    'its moment is when it begins',
  );
  end();
  (await third).end();
  t.notOk(box.past.isWalked);
});

t.test('more than can be kept of what comes back ends it', async (t) => {
  const { store, past } = await plant(t);
  const order = 'x'.repeat(6_000_000);
  const pasts = [await ran(store, 'a')];
  for (const name of ['b', 'c', 'd']) {
    await store.write({ puts: [{ kind: Run, site: 'north', name, spec: { order } }] });
    pasts.push({ run: run(name), members: [run(name)], streams: [] });
  }
  await store.write({ pasts });
  const { moment, end } = await past.moment(kinds);
  for (const name of ['b', 'c', 'd']) await past.bringBack(run(name));
  await t.rejects(written(moment), { name: 'Refusal', context: { code: 'past_busy' } });
  end();
});

t.test('a damaged row is left out, as of a list', async (t) => {
  const box = await plant(t);
  const all = await filled(box, 30);
  const state = new Database(path.join(box.dir, 'state.db'));
  state.prepare("UPDATE resources SET body = 'nothing' WHERE name = 'r0003'").run();
  state.close();
  const { moment, end } = await box.past.moment(kinds);
  t.same(
    await written(moment),
    all.filter(({ metadata }) => metadata.name !== 'r0003'),
  );
  end();
});
