/**
 * The pages of the consoles on the panel of a plant. Chromium and the box share the machine, as they do on a panel PC.
 *
 * - The cold first view (goal: 1.5 s): from the navigation of a signed-in panel with an empty cache until the overview stands with all its
 *   units, and until the first measured value is live. Of the demonstration plant, and of one with 500 batches and 2,000 standing alarms; of
 *   the latter also with a processor four times slower (goal: 3 s, and no task over 50 ms). In turns; the median of the loads is judged: a first view that needs luck is slow.
 * - What it takes from the wire, and every request of it.
 * - What 110 frames of values in a second cost its main thread, and what eight hours of them leave behind.
 * - How soon an acknowledgement is shown among 2,000 alarms, and how soon values are marked as old when the box falls silent without closing
 *   anything (goal: 1 s).
 *
 * `PROFILE=1` also says which functions the frames cost most.
 */
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../console/browser.js';
import { ENVIRONMENT, firstAdmin, SITE } from '../console/person.js';
import type { ApiClient } from '../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';
import { ALARMS, BATCHES, enlarge } from './console-large.js';
import {
  acknowledged,
  counted,
  fed,
  feed,
  heap,
  type Load,
  load,
  openPage,
  type OpenPage,
  type Panel,
  reached,
  replay,
  signedIn,
  tasksOf,
  untilLive,
  work,
} from './console-page.js';
import { least, median, tell, verdict } from './judge.js';
import { hottest } from './console-profile.js';

const LOADS = 9;
const GOAL_MS = 1500;
const LOADS_LARGE = 7;
const SLOWDOWN = 4;
const SLOW_GOAL_MS = 3000;
const TASK_MS_MAX = 50;
const ASSETS_KB_MAX = 250;
const WHOLE_KB_MAX = 400;
const FRAMES_PER_SECOND = 110;
const FED_SECONDS = 15;
const ROUNDS = 3;
const WORK_MS_MAX = 80;
const HOURS = Number(process.env.HOURS ?? 8);
const GROWTH_MB_MAX = 1;
const ACKNOWLEDGEMENTS = 15;
const ACKNOWLEDGED_GOAL_MS = 150;
const SILENCES = 5;
const MARKED_GOAL_MS = 1000;

/** From the last frame that arrived to the mark, by the clock of the page; the process is stopped as a pulled cable stops it. */
async function silences(page: Page, box: ApplianceProcess): Promise<number[]> {
  const found: number[] = [];
  for (let round = 0; round < SILENCES; round += 1) {
    await reached(page, ['[data-testid="hmi"][data-live="true"]', '[data-testid="value-tic101.pv"][data-quality="Good"]']);
    process.kill(box.pid, 'SIGSTOP');
    const markedAt = await reached(page, ['[data-testid="hmi"][data-live="false"]']);
    found.push(markedAt - Number(await page.evaluate('globalThis.heardAt')));
    process.kill(box.pid, 'SIGCONT');
  }
  return found;
}

function line(name: string, values: readonly number[], word = '', unit = 'ms'): void {
  const [middle, low, high] = [median(values), least(values), Math.max(...values)].map((value) => `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`);
  console.log(`${name.padEnd(52)} median ${middle}   least ${low}   most ${high}   ${word}`);
}

function limited(name: string, values: readonly number[], goal: number, unit = 'ms'): void {
  tell(`${name}, median, ${unit}`, median(values));
  line(name, values, `goal ${goal} ${unit}   ${verdict(median(values) <= goal)}`, unit);
}

/** Of what is read at the start of the page nothing is read again: what is asked for every second may be. */
const EVERY_SECOND = /\/(prompts|phases)\?|\/batches\/[^/?]+(\/messages.*)?$/;

function wire(loads: readonly Load[]): void {
  const first = loads[0] as Load;
  const rows = counted(first.requests);
  console.log('requests of one cold start:');
  for (const { path, count, bytes } of rows) console.log(`  ${count} x ${String(bytes).padStart(7)} bytes  ${path}`);
  const again = loads.map(({ requests }) => counted(requests.filter(({ path }) => !EVERY_SECOND.test(path))).filter(({ count }) => count > 1).length);
  tell('addresses asked for twice by a cold start', Math.max(...again));
  console.log(`asked for more than once: ${Math.max(...again)}   goal 0   ${verdict(Math.max(...again) === 0)}`);
  const kb = (of: (kind: string) => boolean): number[] => loads.map(({ requests }) => requests.filter(({ kind }) => of(kind)).reduce((sum, { bytes }) => sum + bytes, 0) / 1000);
  limited(
    'page, scripts and styles',
    kb((kind) => ['Document', 'Script', 'Stylesheet', 'Other', 'Image'].includes(kind)),
    ASSETS_KB_MAX,
    'kB',
  );
  limited(
    'all of a cold first view',
    kb(() => true),
    WHOLE_KB_MAX,
    'kB',
  );
}

async function frames({ page, session }: OpenPage): Promise<void> {
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const found: { readonly scriptMs: number; readonly layoutMs: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await feed(page, FRAMES_PER_SECOND, FED_SECONDS);
    const profile = process.env.PROFILE === '1' && round === 0 ? await hottest(session) : undefined;
    const before = await work(session);
    const fromMs = performance.now();
    await fed(page);
    const after = await work(session);
    const seconds = (performance.now() - fromMs) / 1000;
    found.push({ scriptMs: (after.scriptMs - before.scriptMs) / seconds, layoutMs: (after.layoutMs - before.layoutMs) / seconds });
    for (const text of (await profile?.()) ?? []) console.log(text);
    await reached(page, ['[data-testid="hmi"][data-live="true"]']);
  }
  line(
    `script of ${FRAMES_PER_SECOND} frames per second`,
    found.map(({ scriptMs }) => scriptMs),
    '',
    'ms/s',
  );
  limited(
    `script and layout of ${FRAMES_PER_SECOND} frames per second`,
    found.map(({ scriptMs, layoutMs }) => scriptMs + layoutMs),
    WORK_MS_MAX,
    'ms/s',
  );
}

async function hours({ page, session }: OpenPage): Promise<void> {
  await replay(page, FRAMES_PER_SECOND, 0.25); // what is compiled and kept once
  const before = await heap(session);
  const told = await replay(page, FRAMES_PER_SECOND, HOURS);
  await reached(page, ['[data-testid="hmi"][data-live="true"]', '[data-testid="value-tic101.pv"][data-quality="Good"]']);
  const after = await heap(session);
  const growth = after.heapMb - before.heapMb;
  tell(`heap grown in ${HOURS} hours of frames, MB`, growth);
  console.log(
    `heap after ${told.toLocaleString('en')} frames (${HOURS} hours): ${before.heapMb.toFixed(2)} to ${after.heapMb.toFixed(2)} MB, nodes ${before.nodes} to ${after.nodes}   goal ${GROWTH_MB_MAX} MB more   ${verdict(growth <= GROWTH_MB_MAX)}`,
  );
}

/** The peer is the same by a client of the interface that draws nothing: the write, and the read of what became of it. */
async function acknowledgedByClient(admin: ApiClient, name: string): Promise<number> {
  const fromMs = performance.now();
  await admin.post(`${SITE}/alarms/${name}/acknowledge`);
  await admin.get(`${SITE}/alarms?name=${name}`);
  return performance.now() - fromMs;
}

async function acknowledgements(browser: Browser, base: string, panel: Panel, admin: ApiClient): Promise<void> {
  const { page } = await openPage(browser, base, panel, 1, '/hmi#/alarms');
  await reached(page, ['[data-testid="alarm-rows"]']);
  if ((await page.locator('[data-testid^="acknowledge-flood-"]').count()) === 0) await page.locator('[data-testid^="group-"]').first().click();
  await reached(page, ['[data-testid^="acknowledge-flood-"]']);
  const [found, peer]: [number[], number[]] = [[], []];
  for (let round = 0; round < ACKNOWLEDGEMENTS; round += 1) {
    found.push(await acknowledged(page));
    peer.push(await acknowledgedByClient(admin, `flood-${ALARMS - 1 - round}-1`));
  }
  line('acknowledgement and its read, by a client', peer);
  const name = `acknowledgement to its mark among ${ALARMS.toLocaleString('en')}`;
  if (median(peer) <= ACKNOWLEDGED_GOAL_MS) limited(name, found, ACKNOWLEDGED_GOAL_MS);
  else line(name, found, `goal ${ACKNOWLEDGED_GOAL_MS} ms   undecided`);
  await page.context().close();
}

const box = await applianceProcess({ environment: ENVIRONMENT });
const browser = await launchBrowser();
try {
  await box.start();
  const admin = await firstAdmin(box.api, box.dataDir);
  const panel = await signedIn(browser, box.base);
  await load(browser, box.base, panel); // the first one also waits for the demo plant and the start of the browser
  const loads: Load[] = [];
  for (let round = 0; round < LOADS; round += 1) loads.push(await load(browser, box.base, panel));
  limited(
    'cold first view',
    loads.map(({ viewMs }) => viewMs),
    GOAL_MS,
  );
  line(
    'its first live value',
    loads.map(({ liveMs }) => liveMs),
  );
  await enlarge(admin);
  const large = `with ${BATCHES} batches and ${ALARMS.toLocaleString('en')} alarms`;
  const [quick, slow]: [Load[], Load[]] = [[], []];
  for (let round = 0; round < LOADS_LARGE; round += 1) {
    quick.push(await load(browser, box.base, panel));
    slow.push(await load(browser, box.base, panel, SLOWDOWN));
  }
  limited(
    `values of a cold first view ${large}`,
    quick.map(({ liveMs }) => liveMs),
    GOAL_MS,
  );
  limited(
    `the same, processor ${SLOWDOWN} times slower`,
    slow.map(({ liveMs }) => liveMs),
    SLOW_GOAL_MS,
  );
  line(
    'tasks over 50 ms in it, by the clock',
    slow.map(({ longTasks }) => longTasks.length),
    '',
    '',
  );
  line(
    'the longest of them',
    slow.map(({ longTasks }) => Math.max(0, ...longTasks)),
  );
  const tasks: number[][] = [];
  for (let round = 0; round < ROUNDS; round += 1) tasks.push(await tasksOf(browser, box.base, panel, SLOWDOWN));
  line(
    'tasks over 50 ms in it, of processor time',
    tasks.map((each) => each.filter((ms) => ms > TASK_MS_MAX).length),
    '',
    '',
  );
  limited(
    'its longest task, of processor time',
    tasks.map(([longest = 0]) => longest),
    TASK_MS_MAX,
  );
  wire(quick);
  const opened = await openPage(browser, box.base, panel, 1, '/hmi', true);
  await untilLive(opened.page);
  await frames(opened);
  await hours(opened);
  await opened.page.context().close();
  await acknowledgements(browser, box.base, panel, admin);
  const watched = await openPage(browser, box.base, panel);
  const marks = await silences(watched.page, box);
  limited('silence to the mark', marks, MARKED_GOAL_MS);
} finally {
  await browser.close();
  await box.end('SIGKILL');
  box.remove();
}
