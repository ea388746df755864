/** How the pages read: all that is asked for, in the order of the questions, and nothing that has ended; against a box that the test answers for. */
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { held, listAnswer, pageBox } from './page-box.js';
import { pageModule } from './page-module.js';

t.test('runs by hand: the newest of all kinds, whatever they are called, and whether there are older ones', async (t) => {
  interface ByHand {
    readRuns(unit: string): Promise<{ readonly runs: readonly { readonly name: string }[]; readonly hasOlder: boolean }>;
  }
  const run = (name: string, second: number, parent: unknown = null): object => ({ name, parent, createdAt: `2026-11-22T12:00:${String(second).padStart(2, '0')}.000Z` });
  const pages: Readonly<Record<string, Response>> = {
    'phases?adhoc=true&order=recent&unit=rx101&limit=100': listAnswer(
      [run('a', 30), run('z', 20), run('part', 19, { kind: 'Operation', name: 'o' })],
      '/api/v1/sites/x/phases?more',
      4,
    ),
    'phases?more': listAnswer([run('b', 10)]),
    'operations?adhoc=true&order=recent&unit=rx101&limit=100': listAnswer([run('o', 18)]),
    'unitprocedures?adhoc=true&order=recent&unit=rx101&limit=100': listAnswer([]),
  };
  pageBox((path) => pages[path]);
  const { readRuns } = await pageModule<ByHand>('data/by-hand.ts');
  const { runs, hasOlder } = await readRuns('rx101');
  t.strictSame(
    runs.map(({ name }) => name),
    ['a', 'z', 'o', 'b'],
  );
  t.equal(hasOlder, false);
  const many = Array.from({ length: 60 }, (_, at) => run(`r${at}`, 59 - at));
  pageBox((path) => (path.startsWith('phases') ? listAnswer(many, '/api/v1/sites/x/phases?more', 200) : listAnswer([])));
  const newest = await readRuns('rx101');
  t.strictSame([newest.runs.length, newest.runs[0]?.name, newest.hasOlder], [50, 'r0', true]);
});

interface BatchPage {
  select(name: string): void;
  startBatch(): void;
  startHistory(): void;
  readSoon(): void;
  readWhole(): Promise<boolean>;
  readOlder(): Promise<void>;
  readOlderMessages(): Promise<void>;
  readonly EVENTS_MAX: number;
  readonly me: { value: object };
  readonly site: { value: string };
  readonly detail: { readonly value: { readonly name: string } | null };
  readonly messages: { readonly value: readonly { readonly id: number }[] };
  readonly olderMessages: { readonly value: string | null };
  readonly batchFault: { readonly value: unknown };
  readonly events: { readonly value: readonly { readonly id: number }[] };
  readonly olderCursor: { readonly value: string | null };
}
const BATCH = 'data/batch.ts data/history.ts data/session.ts data/plant.ts';
const down = (from: number, count: number): readonly { readonly id: number }[] => Array.from({ length: Math.min(count, from) }, (_, at) => ({ id: from - at }));
const NO_PAGE = { items: [], nextCursor: null };
const HELD = { name: 'b', phase: 'Running', updatedAt: '1', recipe: { name: 'r', controlRecipe: 'c' } };

/** A log of so many entries, newest first, page by page; a cursor is the number that comes next. */
function logOf(last: number, path: string): object {
  const query = new URLSearchParams(path.split('?')[1]);
  const [from, limit] = [Number(query.get('cursor') ?? last), Number(query.get('limit'))];
  return { items: down(from, limit), nextCursor: from > limit ? String(from - limit) : null };
}

t.test('messages that came in a gap, more than a page holds, are not lost between the new ones and the old', async (t) => {
  let last = 60;
  const box = pageBox((path) => (path.startsWith('batches/b/messages') ? logOf(last, path) : HELD));
  const page = await pageModule<BatchPage>(BATCH);
  page.me.value = { actions: ['batch:messages'] };
  page.select('b');
  await eventually('the first page is there', async () => page.messages.value.length === 50);
  await page.readOlderMessages();
  t.equal(page.messages.value.length, 60);
  last = 62;
  page.readSoon();
  await eventually('two more are there', async () => page.messages.value.length === 62);
  t.equal(page.olderMessages.value, null, 'what somebody has gone back to stays');
  last = 200;
  page.readSoon();
  await eventually('the newest are there', async () => page.messages.value[0]?.id === 200);
  const ids = (): readonly number[] => page.messages.value.map(({ id }) => id);
  t.strictSame(
    ids(),
    down(200, 50).map(({ id }) => id),
  );
  t.equal(page.olderMessages.value, '150');
  await page.readOlderMessages();
  t.strictSame(
    ids(),
    down(200, 100).map(({ id }) => id),
    'and those before them can be read',
  );
  t.ok(box.asked.length > 0);
});

t.test('a batch that could not be read is asked for again, and the page says why it is not there', async (t) => {
  let answer: () => unknown = () => Promise.reject(new TypeError('the line is down'));
  const box = pageBox(() => answer());
  const page = await pageModule<BatchPage>(BATCH, 'en-US');
  page.startBatch();
  page.select('b');
  await eventually('the fault is told', async () => page.batchFault.value !== undefined);
  answer = () => HELD;
  box.tick();
  await eventually('it is there', async () => page.detail.value?.name === 'b');
  t.equal(page.batchFault.value, undefined);
});

t.test('the whole journal is read page by page to its end, or to its bound, and older events are a page at a time', async (t) => {
  let last = 4100;
  pageBox((path) => (path.startsWith('batches/b/events') || path.startsWith('batches/c/events') ? logOf(last, path) : path.includes('messages') ? NO_PAGE : HELD));
  const page = await pageModule<BatchPage>(BATCH, 'en-AU');
  page.me.value = { actions: ['batch:events'] };
  page.startHistory();
  page.select('b');
  t.equal(await page.readWhole(), true);
  t.equal(page.events.value.length, 4100);
  t.equal(page.events.value[0]?.id, 1, 'from the first');
  t.equal(page.olderCursor.value, null);
  last = 50_000;
  page.select('c');
  t.equal(await page.readWhole(), true);
  t.equal(page.events.value.length, page.EVENTS_MAX, 'a bound');
  t.not(page.olderCursor.value, null, 'and that there is more is known');
});

t.test('what was answered before is looked for page by page, and no further than it has to be', async (t) => {
  interface Prompts {
    readonly me: { value: object };
    readAsked(prompt: object): Promise<{ readonly earlier: readonly { readonly id: number }[] }>;
  }
  const box = pageBox((path) => {
    if (!path.includes('/events')) return { stepPath: 'p/q', spec: { parameterValues: [] } };
    const { items, ...more } = logOf(3000, path) as { readonly items: readonly { readonly id: number }[] };
    return { ...more, items: items.map(({ id }) => ({ id, eventSubType: id % 100 === 0 ? 'Prompt Response' : 'State Change' })) };
  });
  const page = await pageModule<Prompts>('data/prompt-answers.ts data/session.ts');
  page.me.value = { actions: ['batch:events'] };
  const { earlier } = await page.readAsked({ phase: 'p', batch: 'b' });
  t.strictSame(
    earlier.map(({ id }) => id),
    [3000, 2900, 2800, 2700],
  );
  t.equal(box.asked.filter((path) => path.startsWith('batches/b/events')).length, 2);
});

interface GoingOnPage extends BatchPage {
  watchGoingOn(): () => void;
  readonly goingOn: { readonly value: { readonly list: readonly object[] } | null };
  readonly modules: { value: ReadonlyMap<string, object> };
  readonly watching: { value: boolean };
  readonly signInAsked: { readonly value: boolean };
}

t.test('what is in the way is asked when what it rests on changes, seldom otherwise, and not while nobody can see it; a panel that watches asks too', async (t) => {
  const batch = { ...HELD, phase: 'Held', units: ['rx101'] };
  const box = pageBox((path) => (path === 'batches/preflight' ? { checks: [], allocations: [] } : path.includes('messages') ? NO_PAGE : batch));
  const page = await pageModule<GoingOnPage>(`${BATCH} data/going-on.ts data/watching.ts`, 'en-NZ');
  const asked = (): number => box.asked.filter((path) => path === 'batches/preflight').length;
  page.me.value = { actions: ['batch:preflight'] };
  page.watching.value = true;
  page.select('b');
  await eventually('the batch is there', async () => page.detail.value !== null);
  const end = page.watchGoingOn();
  await eventually('it is answered', async () => page.goingOn.value !== null);
  t.equal(page.signInAsked.value, false, 'who watches is not asked to sign in');
  t.equal(asked(), 1);
  const second = (): Promise<void> => {
    box.tick();
    return new Promise((resolve) => setImmediate(resolve)); // what an interval does once more it does when it is done with the last time
  };
  for (let seconds = 0; seconds < 9; seconds += 1) await second();
  t.equal(asked(), 1, 'not each second');
  page.modules.value = new Map([['tic101', { name: 'tic101', unit: 'rx101', mode: 'Manual', interlockBypass: { active: false } }]]);
  t.equal(asked(), 2, 'a module was taken');
  page.modules.value = new Map([...page.modules.value, ['tic201', { name: 'tic201', unit: 'tk201', mode: 'Manual', interlockBypass: { active: false } }]]);
  t.equal(asked(), 2, 'of another unit');
  await second();
  t.equal(asked(), 3, 'now and then');
  box.hide();
  for (let seconds = 0; seconds < 20; seconds += 1) await second();
  t.equal(asked(), 3, 'nobody sees it');
  end();
});

interface CurvesPage {
  readBatchCurves(batch: object, pens: readonly object[], span: object, compared: object | undefined, known: unknown): Promise<Curves>;
  readOther(name: string): Promise<{ readonly batch: object; readonly timeline: object | undefined; readonly timelineFault: unknown }>;
}
interface Curves {
  readonly curves: readonly { readonly own: { readonly times: readonly number[]; readonly values: readonly number[] }; readonly other: object | undefined }[];
  readonly otherFault: unknown;
}
const START_MS = Date.parse('2026-11-22T12:00:00.000Z');
const S = (second: number): number => START_MS + second * 1000;

/** One sample each ten seconds; its value is the second. */
function samples(path: string): object {
  const query = new URLSearchParams(path.split('?')[1]);
  const [from, to] = ['from', 'to'].map((name) => (Date.parse(query.get(name) ?? '') - START_MS) / 10_000);
  const items = [];
  for (let at = Math.max(0, Math.ceil(from ?? 0)); at <= (to ?? 0); at += 1) items.push({ ts: new Date(S(at * 10)).toISOString(), value: at * 10, quality: 'Good' });
  return { items, nextCursor: null };
}

t.test('curves of a batch that runs go on from what is known, and are what a whole read gives', async (t) => {
  const box = pageBox(samples);
  const page = await pageModule<CurvesPage>('data/batch-curves.ts', 'en-ZA');
  const batch = { startedAt: new Date(S(0)).toISOString(), allocations: [] };
  const pens = [{ unit: 'u', address: 'a.pv', label: '', engUnits: '' }];
  const first = await page.readBatchCurves(batch, pens, { fromMs: S(0), toMs: S(600) }, undefined, undefined);
  box.asked.length = 0;
  const next = await page.readBatchCurves(batch, pens, { fromMs: S(0), toMs: S(605) }, undefined, first);
  const longer = await page.readBatchCurves(batch, pens, { fromMs: S(0), toMs: S(640) }, undefined, next);
  const froms = box.asked.map((path) => (Date.parse(new URLSearchParams(path.split('?')[1]).get('from') ?? '') - START_MS) / 1000);
  t.ok(
    froms.every((from) => from >= 500),
    `only the end is asked for: ${froms.join()}`,
  );
  t.strictSame(
    longer.curves[0]?.own.times,
    Array.from({ length: 65 }, (_, at) => S(at * 10) / 1000),
    'each once, in order',
  );
  t.strictSame(
    longer.curves[0]?.own.values,
    Array.from({ length: 65 }, (_, at) => at * 10),
  );
  box.asked.length = 0;
  await page.readBatchCurves(batch, pens, { fromMs: S(100), toMs: S(300) }, undefined, longer);
  t.strictSame(box.asked, [], 'a part of what is known');
  await page.readBatchCurves(batch, pens, { fromMs: S(-900), toMs: S(300) }, undefined, longer);
  t.not(box.asked.length, 0, 'what lies before is read');
});

t.test('of another batch what can be read is shown, and what could not is told', async (t) => {
  const refusal = (): Response => Response.json({ error: 'the historian is busy', code: 'busy' }, { status: 503 });
  const other = { batch: { startedAt: new Date(S(-86_400)).toISOString(), endedAt: '', allocations: [] } };
  pageBox((path) =>
    path.endsWith('/timeline')
      ? refusal()
      : path.startsWith('batches/')
        ? { name: 'c' }
        : Date.parse(new URLSearchParams(path.split('?')[1]).get('to') ?? '') < S(-1000)
          ? refusal()
          : samples(path),
  );
  const page = await pageModule<CurvesPage>('data/batch-curves.ts data/other-batch.ts', 'en-CA');
  const batch = { startedAt: new Date(S(0)).toISOString(), allocations: [] };
  const { curves, otherFault } = await page.readBatchCurves(batch, [{ unit: 'u', address: 'a.pv' }], { fromMs: S(0), toMs: S(600) }, other, undefined);
  t.equal(curves[0]?.own.times.length, 61);
  t.equal(curves[0]?.other, undefined);
  t.match(otherFault, { message: 'the historian is busy' });
  t.match(await page.readOther('c'), { batch: { name: 'c' }, timeline: undefined, timelineFault: { message: 'the historian is busy' } });
});

interface SitePage {
  readonly me: { value: object };
  readonly site: { value: string };
  readonly batches: { value: readonly object[] };
  readonly alarms: { value: readonly object[] };
  readonly plan: { readonly value: { readonly batches: readonly object[] } | null };
  isAcknowledging(alarm: { readonly name: string }): boolean;
  watchPlan(): () => void;
  plannedOf(batch: string): object | undefined;
  acknowledge(alarm: object): Promise<void>;
  lately(unit: string, address: string): { readonly value: { readonly values: readonly (number | null)[] } };
}

t.test('what is known of one site is not told of a batch or a value of another that is called alike', async (t) => {
  const answer = held<object>();
  const box = pageBox((path) => (path === 'plan' ? { batches: [{ batch: 'b', endsAt: 'soon' }] } : []));
  const page = await pageModule<SitePage>('data/plan.ts data/lately.ts data/session.ts data/plant.ts', 'en-SG');
  page.me.value = { actions: ['plan:read'] };
  page.site.value = 'north';
  const end = page.watchPlan();
  await eventually('the plan is there', async () => page.plannedOf('b') !== undefined);
  box.answer = (path) => (path === 'plan' ? answer.promise : []);
  page.site.value = 'south';
  t.equal(page.plannedOf('b'), undefined, 'until that of the other site is read');
  end();
  const south = page.lately('u', 'a.pv');
  box.tick();
  t.equal(south.value.values.length, 1);
  page.site.value = 'north';
  box.tick();
  t.equal(south.value.values.length, 1, 'no value of another site');
  t.not(page.lately('u', 'a.pv'), south);
  answer.give({ batches: [] });
});

t.test('an alarm that was acknowledged and is gone is acknowledged no more', async (t) => {
  pageBox(() => ({}));
  const page = await pageModule<SitePage>('data/alarms.ts data/plant.ts', 'en-HK');
  const alarm = { name: 'hot', state: 'ActiveUnacknowledged', activatedAt: '' };
  page.alarms.value = [alarm];
  await page.acknowledge(alarm);
  t.equal(page.isAcknowledging(alarm), true);
  page.alarms.value = [];
  t.equal(page.isAcknowledging(alarm), false);
});
