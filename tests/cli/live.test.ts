/** Commands that go on or look back, against a box that is made up: by whose clock, how often, and how much they keep. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import t from 'tap';
import { KnownBoxes } from '../../src/cli/remote/boxes.js';
import { followEvents } from '../../src/cli/remote/event-stream.js';
import { findBatch } from '../../src/cli/remote/find-batch.js';
import { Latest } from '../../src/cli/remote/latest.js';
import { markedLines } from '../../src/cli/remote/line-diff.js';
import { boxContext, rowOf, silentTerminal } from './support.js';

const HOUR_MS = 3_600_000;
const folder = mkdtempSync(path.join(tmpdir(), 'lineside-live-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

const asked: URL[] = [];
/** Its clock is an hour behind ours. */
const box = createServer(({ url = '' }, response) => {
  const at = new URL(url, 'http://box');
  asked.push(at);
  response.setHeader('Date', new Date(Date.now() - HOUR_MS).toUTCString());
  if (at.pathname.endsWith('/events/sse')) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify({ type: 'session-ended', reason: 'access token expired' })}\n\n`);
  } else if (at.pathname.endsWith('/batches')) {
    const items =
      at.searchParams.get('batchID') === null && at.searchParams.get('name') === null
        ? [{ batchID: 'B-1', name: 'b-1', workOrderID: 'WO-1', phase: 'Running', masterRecipeRef: 'resin', startedAt: '', units: [], blockedBecause: '' }]
        : [];
    response.setHeader('Link', '</api/v1/sites/north/batches?cursor=x>; rel="next"').setHeader('X-Total-Count', '7');
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(items));
  } else response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ items: [], nextCursor: null }));
});
await new Promise<void>((resolve) => void box.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  box.closeAllConnections();
  box.close();
});
const boxes = new KnownBoxes(path.join(folder, 'lineside'));
const KNOWN = { url: `http://127.0.0.1:${(box.address() as AddressInfo).port}`, username: '', accessToken: '', refreshToken: '', site: 'north' };
boxes.keep('made-up', KNOWN);

t.test('a time back from now is by the clock of the box', async (t) => {
  for (const [words, args] of [
    ['logs', ['rx101']],
    ['alarm history', []],
  ] as const) {
    asked.length = 0;
    await rowOf(words).run(boxContext(boxes, args, { since: '10m' }));
    const from = Date.parse(asked.at(-1)?.searchParams.get('from') ?? '');
    const backMs = Date.now() - HOUR_MS - from;
    t.ok(backMs >= 600_000 && backMs < 660_000, `${words} asks from ${backMs} ms before the time of the box on`);
  }
});

t.test('years of batches are not read for a list of a hundred, nor for one batch', async (t) => {
  asked.length = 0;
  const said: string[] = [];
  await rowOf('batch list').run(boxContext(boxes, [], {}, silentTerminal(said)));
  t.strictSame(said, ['lineside: the first 1 are shown, 6 more: --limit, or --state and --search']);
  t.strictSame(
    asked.map(({ search }) => search),
    ['?order=recent&limit=100'],
  );
  await t.rejects(rowOf('batch list').run(boxContext(boxes, [], { limit: '0' })), /--limit is a whole number from 1 to 1000/);
  asked.length = 0;
  t.strictSame(await findBatch(boxContext(boxes, []).box, 'WO-1'), { site: 'north', name: 'b-1' });
  t.strictSame(
    asked.map(({ search }) => search),
    ['?batchID=WO-1', '?name=WO-1', '?workOrderID=WO-1'],
  );
  await t.rejects(findBatch(boxContext(boxes, []).box, 'B-2'), /there is no batch B-2 in north; did you mean B-1\?/);
});

t.test('a token that ends again and again is not asked for without a pause', async (t) => {
  asked.length = 0;
  const ending = new AbortController();
  const begun = performance.now();
  const context = boxContext(boxes, []);
  const told: string[] = [];
  const listener = { onFrame: async () => undefined, onBack: async () => undefined, onLost: async (why: string) => void told.push(why) };
  box.on('request', () => {
    if (asked.length === 3) ending.abort();
  });
  await followEvents(context.box, { site: 'north', channels: ['states'], unit: undefined }, listener, ending.signal);
  t.ok(performance.now() - begun > 900, 'two pauses');
  t.strictSame(told, [], 'it is the ordinary course');
});

t.test('what is noted last is kept, and no more than may be', async (t) => {
  const latest = new Latest(3, 20);
  const kept = (): readonly (string | undefined)[] => ['a', 'b', 'c', 'd'].map((key) => latest.get(key));
  for (const [n, key] of ['a', 'b', 'c', 'a', 'd'].entries()) latest.set(key, String(n));
  t.strictSame(kept(), ['3', undefined, '2', '4']);
  latest.set('b', 'x'.repeat(17));
  t.strictSame(kept(), [undefined, 'x'.repeat(17), undefined, '4'], 'long ones take the place of several');
  latest.set('d', 'x'.repeat(40));
  t.strictSame(kept(), [undefined, undefined, undefined, undefined], 'one that is too long is not kept');
});

t.test('tokens that a killed command has left beside the file are taken away', async (t) => {
  const [old, fresh, other] = ['0e2f5b1c-0000-4000-8000-000000000001', '0e2f5b1c-0000-4000-8000-000000000002', 'of-mine'].map((end) => `${boxes.file}.${end}`);
  mkdirSync(path.dirname(boxes.file), { recursive: true });
  for (const file of [old, fresh, other]) writeFileSync(file ?? '', '{}');
  for (const file of [old, other]) utimesSync(file ?? '', 1_700_000_000, 1_700_000_000);
  boxes.keep('made-up', KNOWN);
  t.strictSame(
    [old, fresh, other].map((file) => existsSync(file ?? '')),
    [false, true, true],
  );
});

t.test('a difference of lines says both texts, keeps as much as can be, and is made of long ones', async (t) => {
  const texts = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
  fc.assert(
    fc.property(texts, texts, (from, to) => {
      const marked = markedLines(from, to);
      const of = (...marks: readonly string[]): readonly string[] => marked.filter((line) => marks.includes(line.slice(0, 2))).map((line) => line.slice(2));
      t.strictSame(of('  ', '- '), from);
      t.strictSame(of('  ', '+ '), to);
      t.equal(of('  ').length, commonOf(from, to));
    }),
    { numRuns: 60 },
  );
  const many = Array.from({ length: 5000 }, (_, n) => `line ${n}`);
  const changed = many.map((line, n) => (n % 2 === 0 ? line : `${line} changed`));
  t.equal(markedLines(many, changed).length, 7500);
});

/** By definition. */
function commonOf([head, ...rest]: readonly string[], to: readonly string[]): number {
  if (head === undefined) return 0;
  const at = to.indexOf(head);
  const without = commonOf(rest, to);
  return at < 0 ? without : Math.max(without, 1 + commonOf(rest, to.slice(at + 1)));
}
