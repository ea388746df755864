/**
 * Every view of both consoles in every state of a plant: what axe-core finds, what a glove misses, what sticks out of the screen. The views are those of the
 * tables, so that a new one is looked at by itself; one that shows one thing has a row in `OF_ONE`. The gate looks at each state on one kind of screen,
 * `CONSOLE_STATES=all` on all of them, and in both consoles (`npm run long states`).
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import t, { type Test as Tap } from 'tap';
import { type ApiClient, eventually } from '../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';
import { launchBrowser } from './browser.js';
import {
  batch,
  drawn,
  ENVIRONMENT,
  firstAdmin,
  hiddenPlaces,
  keepPicture,
  overflow,
  panelOf,
  PASSWORD,
  raiseAlarm,
  seriousViolations,
  signIn,
  SITE,
  smallTargets,
} from './person.js';
import { wireOf } from './wire.js';

const SOURCES = path.join(process.cwd(), 'src/console');
const CONSOLES = { '/hmi': 'hmi', '/data': 'desk' } as const;
type ConsolePath = keyof typeof CONSOLES;

interface View {
  readonly name: string;
  /** Without one it is opened from other views, and may show one thing. */
  readonly hasPlace: boolean;
}

/** As they stand in the table of the console. */
function viewsOf(console: ConsolePath): View[] {
  const table = path.join(SOURCES, CONSOLES[console], 'views.ts');
  return [...readFileSync(table, 'utf8').matchAll(/import \{ (\w+) \} from '(\.\.\/views\/[^']+)\.js'/g)].map(([, constant = '', file = '']) => {
    const source = path.join(path.dirname(table), file);
    const text = readFileSync(existsSync(`${source}.ts`) ? `${source}.ts` : `${source}.tsx`, 'utf8');
    const definition = new RegExp(`const ${constant}: ViewDefinition = \\{([^]*?)\\};$`, 'm').exec(text)?.[1] ?? '';
    return { name: /\bname: '([^']+)'/.exec(definition)?.[1] ?? '', hasPlace: /\baction: '/.test(definition) };
  });
}

/** What a view of one thing is opened with. */
const OF_ONE: Readonly<Record<string, (plant: Plant) => string>> = {
  unit: () => 'rx101',
  batch: ({ batchName }) => batchName,
  record: ({ recordName }) => recordName,
};

interface Plant {
  readonly batchName: string;
  readonly recordName: string;
}
const NOTHING: Plant = { batchName: 'none', recordName: 'none' };

const LARGE = { width: 1280, height: 800 };
const SMALL = { width: 1024, height: 600 };
const PHONE = { width: 360, height: 740 };
type Screen = Required<Pick<BrowserContextOptions, 'viewport' | 'colorScheme' | 'locale'>>;

const EVERY_SCREEN = process.env.CONSOLE_STATES === 'all';
const ALL: readonly Screen[] = [LARGE, SMALL, PHONE].flatMap((viewport) =>
  (['light', 'dark'] as const).flatMap((colorScheme) => ['en-US', 'de-DE'].map((locale) => ({ viewport, colorScheme, locale }))),
);

interface State {
  readonly name: string;
  readonly screen: Screen;
  /** In which it looks otherwise than in another state; both without it. */
  readonly console?: ConsolePath;
  /** What the page is told besides, before it is opened. */
  readonly before?: (page: Page) => Promise<unknown>;
  /** In each console, once it is open. */
  readonly then?: (page: Page) => Promise<unknown>;
}

const EMPTY: State = { name: 'empty', screen: { viewport: PHONE, colorScheme: 'light', locale: 'de-DE' } };
const RUNNING: State = { name: 'running', screen: { viewport: LARGE, colorScheme: 'light', locale: 'en-US' } };
const HELD: State = { name: 'held', console: '/hmi', screen: { viewport: SMALL, colorScheme: 'dark', locale: 'de-DE' } };
const ASKED: State = { name: 'asked', console: '/hmi', screen: { viewport: PHONE, colorScheme: 'dark', locale: 'de-DE' } };
const FLOOD: State = { name: 'flood', console: '/hmi', screen: { viewport: PHONE, colorScheme: 'dark', locale: 'en-US' }, before: tellFlood };

/** The cable is pulled: what is shown is old, and says so. */
const STALE: State = {
  name: 'stale',
  console: '/hmi',
  screen: { viewport: SMALL, colorScheme: 'light', locale: 'en-US' },
  before: (page) => wireOf(page),
  then: async (page) => {
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    await page.evaluate('wire.isTold = () => false');
    await page.locator('[data-testid="hmi"][data-live="false"]').waitFor();
  },
};

const FLOOD_ALARMS = 2000;

/** As the box lists them; the one that stands is told 2,000 times. */
async function tellFlood(page: Page): Promise<void> {
  await page.route(
    ({ pathname }) => pathname === `${SITE}/alarms`,
    async (route) => {
      const answer = await route.fetch();
      const [first] = (await answer.json()) as object[];
      const json = Array.from({ length: FLOOD_ALARMS }, (_each, at) => ({
        ...first,
        name: `flood-${at}`,
        message: `Flood number ${at}`,
        severity: ['Critical', 'High', 'Medium', 'Low'][at % 4],
      }));
      return route.fulfill({ json });
    },
  );
}

/** Waits until the view is there and has what it reads: what it asked is answered, and drawn. */
function quietOf(page: Page): (name: string) => Promise<void> {
  const asked = new Set<Request>();
  page.on('request', (request) => asked.add(request));
  page.on('requestfinished', (request) => asked.delete(request));
  page.on('requestfailed', (request) => asked.delete(request));
  return async (name) => {
    await page.locator(`main[data-view="${name}"]`).waitFor();
    await eventually(`view ${name} has what it reads`, async () => {
      await drawn(page);
      return asked.size === 0;
    });
    await drawn(page);
  };
}

async function flawsOfView(page: Page, label: string, { viewport }: Screen): Promise<string[]> {
  const found = (await smallTargets(page)).map((flaw) => `too small to touch: ${flaw}`);
  const width = viewport?.width ?? 0;
  if ((await overflow(page)) > 0) found.push(`wider than the screen of ${width} px`);
  found.push(...(await hiddenPlaces(page, width)).map((place) => `${place} lies outside of its bar`), ...(await seriousViolations(page)));
  await keepPicture(page, label, found);
  return found.map((flaw) => `${label}: ${flaw}`);
}

/** Every view of both consoles, on one kind of screen. */
async function lookAt(browser: Browser, box: ApplianceProcess, state: State, plant: Plant): Promise<readonly string[]> {
  const flaws: string[] = [];
  for (const screen of EVERY_SCREEN ? ALL : [state.screen]) {
    const page = await panelOf(browser, screen);
    const quiet = quietOf(page);
    await state.before?.(page);
    await page.goto(`${box.base}/hmi`);
    await signIn(page, 'everybody');
    for (const console of EVERY_SCREEN || !state.console ? (Object.keys(CONSOLES) as ConsolePath[]) : [state.console]) {
      if (console !== '/hmi') await page.goto(`${box.base}${console}`);
      await page.getByTestId('hmi').waitFor();
      await state.then?.(page);
      for (const { name, hasPlace } of viewsOf(console)) {
        const id = hasPlace ? '' : (OF_ONE[name]?.(plant) ?? '');
        await page.evaluate(`location.hash = '#/${name}${id === '' ? '' : `/${encodeURIComponent(id)}`}'`);
        await quiet(name);
        const look = EVERY_SCREEN ? `-${screen.viewport?.width}-${screen.colorScheme}-${screen.locale}` : '';
        flaws.push(...(await flawsOfView(page, `${state.name}${console.replace('/', '-')}-${name}${look}`, screen)));
      }
    }
    await page.context().close();
  }
  return flaws;
}

/** A box of its own, and somebody who may do everything. */
async function boxWith(t: Tap, environment: Readonly<Record<string, string>>): Promise<{ readonly box: ApplianceProcess; readonly admin: ApiClient }> {
  const box = await applianceProcess({ environment });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  await box.start();
  const first = await firstAdmin(box.api, box.dataDir);
  const groups = ['admin', 'lead-operator', 'supervisor', 'engineer'].map((role) => `lineside-${role}`);
  const made = await first.post('/api/v1/auth/users', { username: 'everybody', password: PASSWORD, displayName: 'Eve Everybody', groups, mustChangePassword: false });
  if (made.status !== 201) throw new Error(made.text);
  const session = await box.api.post('/api/v1/auth/login', { username: 'everybody', password: PASSWORD });
  return { box, admin: box.api.with(`Bearer ${session.body.accessToken}`) };
}

t.test('the tables of the views are read as they stand', async (t) => {
  for (const console of Object.keys(CONSOLES) as ConsolePath[]) {
    const views = viewsOf(console);
    t.ok(views.length > 8, console);
    t.notOk(
      views.some(({ name }) => name === ''),
      'each has a name',
    );
  }
  t.ok(viewsOf('/hmi').some(({ name, hasPlace }) => name === 'overview' && hasPlace));
  t.ok(viewsOf('/hmi').some(({ name, hasPlace }) => name === 'unit' && !hasPlace));
});

const ASKS = {
  name: 'asks',
  spec: {
    steps: [{ name: 'ask', initial: true, actionST: "go := PROMPT_CHOICE('Is the sample clear?', 'Yes', 'No');" }, { name: 'done' }],
    transitions: [{ from: 'ask', to: 'done', conditionST: "go = 'Yes' OR go = 'No'" }],
  },
};

t.test('every view can be read and touched by everybody', async (t) => {
  const browser = await launchBrowser();
  t.teardown(() => browser.close());

  await t.test('on a fresh box, before there is a plant', async (t) => {
    const { box } = await boxWith(t, { LINESIDE_LOG_LEVEL: 'warn' });
    t.strictSame(await lookAt(browser, box, EMPTY, NOTHING), []);
  });

  await t.test('while a batch runs, without live data, and in a flood of alarms', async (t) => {
    const { box, admin } = await boxWith(t, ENVIRONMENT);
    const plant = await withBatch(admin);
    await raiseAlarm(admin, 'tic101-hot', 'Reactor is hot', 'Low');
    for (const state of [RUNNING, STALE, FLOOD]) t.strictSame(await lookAt(browser, box, state, plant), [], state.name);
  });

  await t.test('while somebody is asked', async (t) => {
    const { box, admin } = await boxWith(t, ENVIRONMENT);
    await admin.post(`${SITE}/phasetemplates`, ASKS);
    await eventually('a phase asks', async () => (await admin.post(`${SITE}/units/tk201/execute-phase`, { phaseTemplateRef: 'asks' })).status === 201);
    await eventually('somebody is asked', async () => ((await admin.get(`${SITE}/prompts`)).body as unknown[]).length > 0);
    t.strictSame(await lookAt(browser, box, ASKED, NOTHING), []);
  });

  await t.test('while a batch is held', async (t) => {
    const { box, admin } = await boxWith(t, ENVIRONMENT);
    const plant = await withBatch(admin);
    t.equal((await command(admin, plant, 'Hold')).status, 200);
    await eventually('it is held', async () => (await admin.get(`${SITE}/batches/${plant.batchName}`)).body.phase === 'Held');
    t.strictSame(await lookAt(browser, box, HELD, plant), []);
  });
});

function command(admin: ApiClient, { batchName }: Plant, word: string) {
  return admin.post(`${SITE}/command`, { kind: 'Batch', name: batchName, command: word, reason: 'looked at by the test' });
}

/** A batch that runs. */
async function withBatch(admin: ApiClient): Promise<Plant> {
  const batchName = await batch(admin, 'WO-1');
  const plant = { batchName, recordName: 'none' };
  await eventually('the plant is ready for the batch', async () => (await command(admin, plant, 'Start')).status === 200);
  await eventually('it runs', async () => (await admin.get(`${SITE}/batches/${batchName}`)).body.phase === 'Running');
  return { batchName, recordName: ((await admin.get(`${SITE}/batchrecords`)).body as { name: string }[])[0]?.name ?? 'none' };
}
