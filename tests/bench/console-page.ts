/**
 * A page of the console as its bench looks at it: by the clock of the page itself, whose zero is the navigation, and by what Chromium counts
 * of it. Frames of values are given to the page by itself, as those that its socket has brought: at the rate of a plant, or as fast as it takes them.
 */
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { open, signIn } from '../console/person.js';

export const UNITS = ['mx101', 'rx101', 'tk201'];
const REACHED_MS_MAX = 60_000;
const LONG_TASK_MS = 50;

/** What a signed-in panel keeps when it is switched off: its cookie. */
export type Panel = Awaited<ReturnType<BrowserContext['storageState']>>;

export async function signedIn(browser: Browser, base: string): Promise<Panel> {
  const page = await open(browser, `${base}/login`);
  await signIn(page, 'anna');
  const kept = await page.context().storageState();
  await page.context().close();
  return kept;
}

/** By the clock of the page: no answer to this process is counted. */
export async function reached(page: Page, selectors: readonly string[]): Promise<number> {
  const look = `new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const look = () => {
      const nowMs = performance.now();
      if (${JSON.stringify(selectors)}.every((each) => document.querySelector(each))) resolve(nowMs);
      else if (nowMs - startedAt > ${REACHED_MS_MAX}) reject(new Error('the page did not get so far'));
      else requestAnimationFrame(look);
    };
    look();
  })`;
  return Number(await page.evaluate(look));
}

/** What is noted from the first moment of the page on: tasks that hold up everything else, and the last frame of each tag. */
const NOTES = `{
  globalThis.longTasks = [];
  new PerformanceObserver((list) => { for (const { startTime, duration } of list.getEntries()) longTasks.push({ startTime, duration }); }).observe({ type: 'longtask', buffered: true });
  globalThis.lastFrames = new Map();
  globalThis.isReplaying = false;
  const receive = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'onmessage');
  Object.defineProperty(WebSocket.prototype, 'onmessage', { ...receive, set(listener) {
    globalThis.deliver = listener;
    receive.set.call(this, (event) => {
      if (isReplaying) return;
      globalThis.heardAt = performance.now();
      globalThis.framesHeard = (globalThis.framesHeard ?? 0) + 1;
      if (globalThis.isNoting && event.data.includes('"type":"tag"')) { const frame = JSON.parse(event.data); lastFrames.set(frame.unit + ' ' + frame.address, frame); }
      if (globalThis.isNoting) globalThis.lastSeq = JSON.parse(event.data).seq;
      listener(event);
    });
  } });
}`;

export interface Request {
  /** With its question. */
  readonly path: string;
  readonly kind: string;
  /** On the wire, with its head. */
  bytes: number;
}

export interface Load {
  /** The overview stands with all its units. */
  readonly viewMs: number;
  /** Its first measured value is live. */
  readonly liveMs: number;
  readonly longTasks: readonly number[];
  readonly requests: readonly Request[];
}

export interface OpenPage {
  readonly page: Page;
  readonly session: CDPSession;
  readonly requests: readonly Request[];
}

/** A new context has neither cache nor compiled code of the page. @param slowdown how many times slower its processor is. */
export async function openPage(browser: Browser, base: string, panel: Panel, slowdown = 1, address = '/hmi', noting = false): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState: panel });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await page.addInitScript(NOTES);
  if (noting) await page.addInitScript('globalThis.isNoting = true');
  const found = new Map<string, Request>();
  await session.send('Network.enable');
  session.on('Network.requestWillBeSent', ({ requestId, request, type }) => {
    const { pathname, search } = new URL(request.url);
    found.set(requestId, { path: pathname + search, kind: type ?? '', bytes: 0 });
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const request = found.get(requestId);
    if (request) request.bytes = encodedDataLength;
  });
  if (slowdown > 1) await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  await page.goto(base + address, { waitUntil: 'commit' });
  return {
    page,
    session,
    get requests() {
      return [...found.values()];
    },
  };
}

export async function untilLive(page: Page): Promise<{ readonly viewMs: number; readonly liveMs: number }> {
  const viewMs = await reached(
    page,
    UNITS.map((unit) => `[data-testid="unit-${unit}"]`),
  );
  const liveMs = await reached(page, ['[data-testid="value-tic101.pv"][data-quality="Good"]']);
  return { viewMs, liveMs };
}

export async function load(browser: Browser, base: string, panel: Panel, slowdown = 1): Promise<Load> {
  const opened = await openPage(browser, base, panel, slowdown);
  const { viewMs, liveMs } = await untilLive(opened.page);
  const longTasks = (await opened.page.evaluate('longTasks')) as { readonly startTime: number; readonly duration: number }[];
  await opened.page.waitForLoadState('networkidle'); // what is still on its way counts as well
  const { requests } = opened;
  await opened.page.context().close();
  return { viewMs, liveMs, longTasks: longTasks.filter(({ duration }) => duration > LONG_TASK_MS).map(({ duration }) => duration), requests };
}

/**
 * The tasks of the main thread in a load, each by the processor time it took, longest first, in ms: what other programs took meanwhile is not in it.
 * The processor is slowed down by a thread that keeps the page from its own, so the time includes it.
 */
export async function tasksOf(browser: Browser, base: string, panel: Panel, slowdown: number): Promise<number[]> {
  const opened = await openPage(browser, 'about:blank', panel, slowdown, '');
  await browser.startTracing(opened.page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] });
  await opened.page.goto(`${base}/hmi`, { waitUntil: 'commit' });
  await untilLive(opened.page);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { readonly traceEvents: readonly TraceEvent[] };
  await opened.page.context().close();
  const main = new Set(traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(({ pid, tid }) => `${pid} ${tid}`));
  const tasks = traceEvents.filter(({ name, ph, pid, tid }) => name.endsWith('RunTask') && ph === 'X' && main.has(`${pid} ${tid}`));
  return tasks.map(({ tdur, dur }) => (tdur ?? dur ?? 0) / 1000).sort((a, b) => b - a);
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Of the clock and of the thread, in microseconds. */
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** How often each address was asked for, most often first. */
export function counted(requests: readonly Request[]): { readonly path: string; readonly count: number; readonly bytes: number }[] {
  const found = new Map<string, { path: string; count: number; bytes: number }>();
  for (const { path, bytes } of requests) {
    const row = found.get(path) ?? { path, count: 0, bytes: 0 };
    row.count += 1;
    row.bytes += bytes;
    found.set(path, row);
  }
  return [...found.values()].sort((a, b) => b.count - a.count || b.bytes - a.bytes);
}

/** Ms of script and of layout since the page began, by the clock of the thread: what other programs took meanwhile is not in them. */
export async function work(session: CDPSession): Promise<{ readonly scriptMs: number; readonly layoutMs: number }> {
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name: string): number => metrics.find((each) => each.name === name)?.value ?? 0;
  return { scriptMs: of('ScriptDuration') * 1000, layoutMs: (of('LayoutDuration') + of('RecalcStyleDuration')) * 1000 };
}

export async function heap(session: CDPSession): Promise<{ readonly heapMb: number; readonly nodes: number }> {
  for (let round = 0; round < 3; round += 1) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes } = await session.send('Memory.getDOMCounters');
  return { heapMb: usedSize / 1e6, nodes };
}

/** Frames of every tag that was heard, one tag after the other, each with a value that differs from the one before. */
const MAKER = `
  const templates = [...lastFrames.values()].filter(({ value }) => typeof value === 'number');
  let made = 0;
  const next = (ts) => {
    const frame = templates[made % templates.length];
    made += 1;
    lastSeq += 1;
    const swing = 1 + 0.01 * Math.sin(made * 0.7);
    return JSON.stringify({ ...frame, seq: lastSeq, replay: undefined, value: frame.value * swing + Math.sin(made) * 0.05, ts: new Date(ts).toISOString() });
  };`;

/** Instead of what the socket brings, for so many seconds. The frames are made before. */
export async function feed(page: Page, framesPerSecond: number, seconds: number): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    ${MAKER}
    const total = ${framesPerSecond * seconds};
    const frames = Array.from({ length: total }, (_, at) => next(Date.now() + (at * 1000) / ${framesPerSecond}));
    globalThis.isReplaying = true;
    const startedAt = performance.now();
    let told = 0;
    globalThis.fed = new Promise((done) => {
      const timer = setInterval(() => {
        const due = Math.min(total, Math.floor(((performance.now() - startedAt) * ${framesPerSecond}) / 1000));
        for (; told < due; told += 1) deliver({ data: frames[told] });
        if (told === total) { clearInterval(timer); done(); }
      }, 20);
    });
    resolve();
  })`);
}

export async function fed(page: Page): Promise<void> {
  await page.evaluate('fed.then(() => { isReplaying = false; })');
}

/** So many hours of frames up to now, a minute of them in each task: what is drawn is drawn between two minutes. */
export async function replay(page: Page, framesPerSecond: number, hours: number): Promise<number> {
  return Number(
    await page.evaluate(`(async () => {
      ${MAKER}
      const endMs = Date.now();
      globalThis.isReplaying = true;
      let told = 0;
      for (let minute = ${hours * 60}; minute > 0; minute -= 1) {
        for (let at = 0; at < ${framesPerSecond * 60}; at += 1, told += 1) deliver({ data: next(endMs - minute * 60000 + (at * 1000) / ${framesPerSecond}) });
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      }
      isReplaying = false;
      return told;
    })()`),
  );
}

/** Ms from the click at the button of an alarm until it is gone: the alarm is shown as acknowledged. */
export async function acknowledged(page: Page): Promise<number> {
  return Number(
    await page.evaluate(`new Promise((resolve, reject) => {
      const button = document.querySelector('[data-testid^="acknowledge-flood-"]:not(:disabled)');
      if (!button) return reject(new Error('no alarm to acknowledge is in sight'));
      const own = '[data-testid="' + button.dataset.testid + '"]';
      const clickedAt = performance.now();
      button.click();
      const look = () => {
        if (!document.querySelector(own)) return resolve(performance.now() - clickedAt);
        if (performance.now() - clickedAt > ${REACHED_MS_MAX}) return reject(new Error('it is never shown as acknowledged'));
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    })`),
  );
}
