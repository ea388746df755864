import t from 'tap';
import { BoundedLog } from '../../../src/platform/base/bounded-log.js';
import { createLog } from '../../../src/platform/base/log.js';
import { LogLines } from '../../../src/platform/base/log-lines.js';

interface Entry {
  readonly atMs: number;
  readonly text: string;
}

const show = ({ text }: Entry): string => text;
const newest = { order: 'desc', limit: 3 } as const;

function filled(count: number, max: number): BoundedLog<Entry> {
  const log = new BoundedLog<Entry>('test', max);
  for (let n = 0; n < count; n += 1) log.push({ atMs: 1000 * n, text: `e${n}` });
  return log;
}

t.test('Q-ERR-15: a bounded log is read page by page in both orders, whatever is written meanwhile', async (t) => {
  const log = filled(8, 100);
  const first = log.page(newest, show);
  t.same(first.items, ['e7', 'e6', 'e5']);
  log.push({ atMs: 9000, text: 'new' });
  const second = log.page({ ...newest, cursor: first.nextCursor ?? '' }, show);
  t.same(second.items, ['e4', 'e3', 'e2'], 'a new entry moves nothing');
  t.same(log.page({ ...newest, cursor: second.nextCursor ?? '' }, show), { items: ['e1', 'e0'], nextCursor: null });
  t.same(log.page({ order: 'asc', limit: 2 }, show).items, ['e0', 'e1']);
  t.same(log.page({ order: 'asc', limit: 9, fromMs: 2000, toMs: 4000 }, show).items, ['e2', 'e3'], 'from inclusive, to exclusive');
  t.same(log.page(newest, show, ({ text }) => text === 'e1').items, ['e1']);
  t.same(new BoundedLog<Entry>('test', 5).page(newest, show), { items: [], nextCursor: null });
  t.throws(() => log.page({ ...newest, cursor: 'bm9wZQ' }, show), { name: 'Refusal', context: { field: 'cursor' } });
  for (const number of ['', ' 3', '0x3', '3e0', '3.5', '1e400', 'NaN', '9007199254740993', '3:3']) {
    const cursor = Buffer.from(`test:${number}`).toString('base64url');
    t.throws(() => log.page({ ...newest, cursor }, show), { name: 'Refusal', context: { field: 'cursor' } }, number);
  }
});

t.test('a bounded log forgets the oldest; a cursor into what is gone goes on with what is left', async (t) => {
  const log = filled(4, 4);
  const { nextCursor } = log.page({ order: 'asc', limit: 1 }, show);
  for (let n = 4; n < 50; n += 1) log.push({ atMs: 1000 * n, text: `e${n}` });
  t.same(log.entries().map(show), ['e46', 'e47', 'e48', 'e49']);
  t.same(log.page({ order: 'asc', limit: 9, cursor: nextCursor ?? '' }, show).items, ['e46', 'e47', 'e48', 'e49']);
  t.same(log.page({ order: 'desc', limit: 9, cursor: nextCursor ?? '' }, show).items, []);
});

t.test('log lines are kept by what they are about, redacted as in the log, whatever goes to stdout', async (t) => {
  const lines = new LogLines(({ unit }) => (typeof unit === 'string' ? unit : undefined));
  process.env.LINESIDE_LOG_LEVEL = 'silent';
  const log = createLog(lines);
  log.info({ unit: 'r1', epoch: 2, password: 'secret' }, 'started');
  log.debug({ unit: 'r1' }, 'too fine');
  log.error({ unit: 'r2' }, 'other');
  log.warn('about nobody');
  t.match(lines.of('r1').entries(), [{ level: 'info', message: 'started', fields: { unit: 'r1', epoch: 2, password: '[Redacted]' }, atMs: Number }]);
  t.equal(lines.of('r1').entries().length, 1);
  t.match(lines.of('r2').entries(), [{ level: 'error', message: 'other' }]);
  t.same(lines.of('r3').entries(), []);
});
