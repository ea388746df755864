/** What must hold whatever comes late, twice, damaged or not at all: modules of the pages against a box that the test answers for. */
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { held, pageBox } from './page-box.js';
import { pageModule } from './page-module.js';

interface Sent {
  readonly address: string;
  readonly nonce: string;
}

/** What the page sends from now on, with the whole address. */
function watchSent(): Sent[] {
  const sent: Sent[] = [];
  const page = globalThis as unknown as { fetch: (address: string, init: { readonly method?: string; readonly headers: Readonly<Record<string, string>> }) => unknown };
  const send = page.fetch;
  page.fetch = (address, init) => {
    if (init.method !== 'GET') sent.push({ address, nonce: init.headers['X-DCS-Nonce'] ?? '' });
    return send(address, init);
  };
  return sent;
}

t.test('an acknowledgement is under way for the alarm of its site only, and goes to that site although another is chosen meanwhile', async (t) => {
  interface AlarmPage {
    acknowledge(alarm: object): Promise<void>;
    acknowledgeAll(alarms: readonly object[]): Promise<void>;
    isAcknowledging(alarm: { readonly name: string }): boolean;
    readonly site: { value: string };
    readonly alarms: { value: readonly object[] };
  }
  const answer = held<object>();
  pageBox(() => answer.promise);
  const sent = watchSent();
  const page = await pageModule<AlarmPage>('data/alarms.ts data/plant.ts', 'en-IE');
  const alarm = (name: string) => ({ name, state: 'ActiveUnacknowledged' });
  page.site.value = 'north';
  page.alarms.value = [alarm('tic101-high')];
  const first = page.acknowledge(alarm('tic101-high'));
  t.equal(page.isAcknowledging(alarm('tic101-high')), true);
  page.site.value = 'south';
  t.equal(page.isAcknowledging(alarm('tic101-high')), false, 'of the other site nobody has acknowledged it');
  page.site.value = 'north';
  const all = page.acknowledgeAll(['a', 'b', 'c', 'd', 'e', 'f'].map(alarm));
  page.site.value = 'south';
  page.alarms.value = [alarm('tic101-high')];
  answer.give({});
  await Promise.all([first, all]);
  t.equal(page.isAcknowledging(alarm('tic101-high')), false);
  page.site.value = 'north';
  t.equal(page.isAcknowledging(alarm('tic101-high')), false, 'what became of it is read when the site is shown again');
  t.equal(sent.length, 7);
  t.ok(
    sent.every(({ address }) => address.startsWith('/api/v1/sites/north/alarms/')),
    sent.map(({ address }) => address).join(' '),
  );
});

t.test('a note whose answer was lost and that is sent again stands once', async (t) => {
  interface NotePage {
    readonly Once: new () => object;
    writeNote(note: object, once: object): Promise<void>;
    boxNowMs(): number;
    readonly site: { value: string };
    readonly me: { value: object };
  }
  const notes: { text: string; ts: string; unit: string; handOverTo: string; corrects: null; author: { accountId: string } }[] = [];
  const spent = new Set<string>();
  let lose: 'nothing' | 'answers' | 'requests' | 'storage' = 'nothing';
  /** Looks for which the newest is not there yet. */
  let hidden = 0;
  pageBox((path, body) => {
    if (path.startsWith('shift-notes?')) return { items: notes.slice(0, notes.length - (hidden-- > 0 ? 1 : 0)), nextCursor: null };
    if (lose === 'requests') return Promise.reject(new TypeError('the line is down'));
    const nonce = sent.at(-1)?.nonce ?? '';
    if (spent.has(nonce)) return Response.json({ error: 'duplicate request nonce', status: 409 }, { status: 409 });
    spent.add(nonce);
    if (lose !== 'storage')
      notes.push({ unit: '', handOverTo: '', corrects: null, ...(body as { text: string }), ts: new Date(page.boxNowMs()).toISOString(), author: { accountId: 'olga' } });
    return lose === 'nothing' ? {} : Promise.reject(new TypeError('the line is down'));
  });
  const sent = watchSent();
  const page = await pageModule<NotePage>('data/once.ts data/shift-notes.ts data/plant.ts data/session.ts data/box-clock.ts', 'en-SG');
  page.site.value = 'north';
  page.me.value = { accountId: 'olga', actions: [] };
  const texts = () => notes.map(({ text }) => text);
  const unknown = { code: 'outcome_unknown' };

  lose = 'answers';
  const once = new page.Once();
  await t.rejects(page.writeNote({ text: 'all is quiet' }, once), unknown);
  lose = 'nothing';
  await page.writeNote({ text: 'all is quiet' }, once);
  t.same([texts(), sent.length], [['all is quiet'], 1], 'it is found, and not sent');

  lose = 'answers';
  const late = new page.Once();
  await t.rejects(page.writeNote({ text: 'it is late' }, late), unknown);
  lose = 'nothing';
  hidden = 1; // it is on its way yet when it is looked for
  await page.writeNote({ text: 'it is late' }, late);
  t.same(texts(), ['all is quiet', 'it is late'], 'the nonce says that it came');
  t.equal(sent[1]?.nonce, sent[2]?.nonce);

  lose = 'storage';
  const refused = new page.Once();
  await t.rejects(page.writeNote({ text: 'the disk is full' }, refused), unknown);
  lose = 'nothing';
  await page.writeNote({ text: 'the disk is full' }, refused);
  t.same(texts(), ['all is quiet', 'it is late', 'the disk is full'], 'what came and was not recorded is');

  lose = 'requests';
  const lost = new page.Once();
  await t.rejects(page.writeNote({ text: 'nobody hears' }, lost), unknown);
  lose = 'nothing';
  await page.writeNote({ text: 'nobody hears' }, lost);
  await page.writeNote({ text: 'all is quiet' }, new page.Once());
  t.same(texts(), ['all is quiet', 'it is late', 'the disk is full', 'nobody hears', 'all is quiet'], 'and who writes the same once more has it stand twice');
});

t.test('that a held batch goes on with Restart is not promised while something stands against Restart', async (t) => {
  interface Blockers {
    blockerText(blocker: object, isStopped?: boolean): string;
  }
  pageBox(() => []);
  const page = await pageModule<Blockers>('plant/blocker-words.ts', 'de-LI');
  const held = { reason: 'held', text: 'held; Restart goes on', element: { path: '' } };
  t.equal(page.blockerText(held), 'Ist angehalten; Wiederanfahren führt weiter');
  t.equal(page.blockerText(held, true), 'Ist angehalten; Wiederanfahren führt weiter, sobald behoben ist, was dagegen spricht');
});

t.test('of curves one that cannot be read takes none of the others away, and is read whole the next time', async (t) => {
  interface Curves {
    readonly curves: readonly { readonly own: { readonly times: readonly number[] } }[];
    readonly faults: readonly { readonly pen: { readonly label: string }; readonly fault: Error }[];
  }
  interface CurvesPage {
    readBatchCurves(batch: object, pens: readonly object[], span: object, compared: undefined, known: unknown): Promise<Curves>;
  }
  const START_MS = Date.parse('2026-11-22T12:00:00.000Z');
  const refusal = (): Response => Response.json({ error: 'the block is damaged', code: 'storage_damaged' }, { status: 503 });
  let broken = ['b.pv'];
  pageBox((path) => {
    const address = new URLSearchParams(path.split('?')[1]).get('address') ?? '';
    return broken.includes(address) ? refusal() : { items: [{ ts: new Date(START_MS + 10_000).toISOString(), value: 1, quality: 'Good' }], nextCursor: null };
  });
  const page = await pageModule<CurvesPage>('data/batch-curves.ts', 'en-JM');
  const batch = { startedAt: new Date(START_MS).toISOString(), allocations: [] };
  const pens = ['a.pv', 'b.pv', 'c.pv'].map((address) => ({ unit: 'u', address, label: address, engUnits: '' }));
  const read = () => page.readBatchCurves(batch, pens, { fromMs: START_MS, toMs: START_MS + 600_000 }, undefined, undefined);
  const lengths = ({ curves }: Curves) => curves.map(({ own }) => own.times.length);
  const some = await read();
  t.same(lengths(some), [1, 0, 1]);
  t.match(some.faults, [{ pen: { label: 'b.pv' }, fault: { message: 'the block is damaged' } }]);
  broken = [];
  t.same(lengths(await read()), [1, 1, 1]);
  broken = ['a.pv', 'b.pv', 'c.pv'];
  await t.rejects(read(), { message: 'the block is damaged' }, 'none at all is a fault');
});

t.test('when the clock of the panel is set, the time of the box goes on; the box is asked once what time it is, for the machine may have slept', async (t) => {
  interface ClockPage {
    boxNowMs(): number;
    noteBoxTime(asOf: string, tookMs: number): void;
    clocksMoved(): boolean;
  }
  pageBox(() => ({}));
  const real = Date.now;
  let setMs = 0;
  Date.now = () => real() + setMs;
  t.teardown(() => {
    Date.now = real;
  });
  const page = await pageModule<ClockPage>('data/box-clock.ts', 'en-BZ');
  const near = (atMs: number) => Math.abs(page.boxNowMs() - atMs) < 1000;
  const BOX_MS = real() + 5 * 60_000;
  page.noteBoxTime(new Date(BOX_MS).toISOString(), 0);
  t.ok(near(BOX_MS));
  t.notOk(page.clocksMoved());
  for (const jumpMs of [3 * 3_600_000, -5 * 3_600_000]) {
    setMs += jumpMs;
    t.ok(near(BOX_MS), `after ${jumpMs} ms`);
    t.equal(page.clocksMoved(), true);
    t.equal(page.clocksMoved(), false, 'once');
  }
  page.noteBoxTime(new Date(BOX_MS - 7_200_000).toISOString(), 0);
  t.ok(near(BOX_MS - 7_200_000), 'the box itself was set');
});

t.test('that severities of the alarms of a batch are not all read is known, and they are read anew for a batch of the same number at another site', async (t) => {
  interface SeverityPage {
    watchBatchAlarms(): () => void;
    readonly alarmSeverities: { readonly value: ReadonlyMap<string, string> };
    readonly severitiesCutAt: { readonly value: number };
    readonly detail: { value: object };
    readonly site: { value: string };
    readonly me: { value: object };
  }
  pageBox((path) => {
    const isCut = new URLSearchParams(path.split('?')[1]).get('site') === 'north';
    return { items: [{ alarm: 'a', severity: isCut ? 'High' : 'Low' }], nextCursor: isCut ? 'more' : null };
  });
  const page = await pageModule<SeverityPage>('data/batch-alarms.ts data/batch.ts data/plant.ts data/session.ts', 'en-TT');
  page.me.value = { actions: ['historian:batch-alarms'] };
  page.site.value = 'north';
  const end = page.watchBatchAlarms();
  page.detail.value = { batchID: 'B-1' };
  await eventually('they are read', async () => page.alarmSeverities.value.get('a') === 'High');
  t.equal(page.severitiesCutAt.value, 1);
  page.site.value = 'south';
  await eventually('those of the other site are read', async () => page.alarmSeverities.value.get('a') === 'Low');
  t.equal(page.severitiesCutAt.value, 0);
  end();
});

t.test('a browser that keeps nothing, or has no room, shows the pages all the same', async (t) => {
  interface KeepingPage {
    choose(look: string): void;
    choosePens(keys: readonly string[]): void;
    showSite(name: string): Promise<void>;
    readonly look: { readonly value: string };
    readonly site: { readonly value: string };
  }
  pageBox(() => ({ items: [], nextCursor: null, asOf: '', units: [], armedByPhase: [] }));
  const no = (): never => {
    throw new DOMException('no room', 'QuotaExceededError');
  };
  const kept = pageModule<KeepingPage>('common/look.ts views/trends/trend-address.ts data/plant.ts', 'en-NZ');
  Object.defineProperty(globalThis, 'localStorage', { value: { getItem: no, setItem: no }, configurable: true });
  Object.assign((globalThis as unknown as { document: { documentElement: object } }).document.documentElement, { dataset: {} });
  const page = await kept;
  page.choose('dark');
  t.equal(page.look.value, 'dark');
  page.choosePens(['rx101 tic101.pv']);
  void page.showSite('north').catch(() => undefined);
  t.equal(page.site.value, 'north');
});

t.test('of two engineers who change one limit, the second is told that it is another by now', async (t) => {
  interface LimitPage {
    changeThreshold(name: string, threshold: string, from: string): Promise<void>;
    readonly site: { value: string };
  }
  let threshold = '80';
  const etags: (string | undefined)[] = [];
  pageBox((_path, body) => {
    if (body === undefined) return Response.json({ name: 'hot', threshold }, { headers: { ETag: `"${threshold}"` } });
    ({ threshold } = body as { readonly threshold: string });
    return {};
  });
  const page = await pageModule<LimitPage>('data/alarm-limits.ts data/plant.ts', 'en-GH');
  const watched = globalThis as unknown as { fetch: (address: string, init: { readonly method?: string; readonly headers: Readonly<Record<string, string>> }) => unknown };
  const send = watched.fetch;
  watched.fetch = (address, init) => {
    if (init.method === 'PUT') etags.push(init.headers['If-Match']);
    return send(address, init);
  };
  page.site.value = 'north';
  await page.changeThreshold('hot', '85', '80');
  await t.rejects(page.changeThreshold('hot', '90', '80'), { status: 412, message: /the limit is 85 by now/ });
  t.same([threshold, etags], ['85', ['"80"']], 'and what changes between the look and the write is refused by the box');
});
