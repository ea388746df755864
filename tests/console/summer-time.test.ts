/** Times in the two nights in which the clocks are put on and back, as a panel in Berlin shows them. */
import t from 'tap';
import { pageBox } from './page-box.js';
import { pageModule } from './page-module.js';

process.env.TZ = 'Europe/Berlin';

interface Texts {
  clockText(atMs: number): string;
  momentText(timestamp: string): string;
  preciseMomentText(timestamp: string): string;
  instantOf(local: string): string;
  localText(wallMs: number): string;
  noteBoxTime(asOf: string, tookMs: number): void;
}

t.test('the hour that comes twice is told with its zone, wherever a time stands alone; no other is', async (t) => {
  pageBox(() => ({}));
  const page = await pageModule<Texts>('common/text.ts data/box-clock.ts', 'de-DE');
  page.noteBoxTime('2026-10-25T02:00:00.000Z', 0);
  const clocks = (from: string, minutes: number): string[] => Array.from({ length: 5 }, (_, at) => page.clockText(Date.parse(from) + at * minutes * 60_000));
  t.same(clocks('2026-10-24T23:30:00.000Z', 30), ['01:30:00', '02:00:00 MESZ', '02:30:00 MESZ', '02:00:00 MEZ', '02:30:00 MEZ']);
  t.same(clocks('2026-03-29T00:00:00.000Z', 30), ['01:00:00', '01:30:00', '03:00:00', '03:30:00', '04:00:00'], 'an hour that does not come');
  t.same(page.momentText('2026-10-25T00:59:59.000Z'), '02:59:59 MESZ', 'of today');
  t.same(page.momentText('2026-10-25T01:00:00.000Z'), '02:00:00 MEZ');
  t.same(page.momentText('2026-10-25T02:00:00.000Z'), '03:00:00');
  t.match(page.momentText('2025-10-26T01:15:00.000Z'), /^26\.10\.2025.*02:15:00 MEZ$/);
  t.match(page.preciseMomentText('2026-10-25T00:15:00.250Z'), /02:15:00,250 MESZ$/);
});

t.test('a field of date and time holds the moment that was put into it, but for the second of two that are called alike', async (t) => {
  pageBox(() => ({}));
  const page = await pageModule<Texts>('common/text.ts data/box-clock.ts', 'de-AT');
  for (const at of ['2026-03-29T00:59:59.000Z', '2026-03-29T01:00:00.000Z', '2026-10-24T23:59:59.000Z', '2026-10-25T00:30:00.000Z', '2026-10-25T02:00:00.000Z'])
    t.equal(page.instantOf(page.localText(Date.parse(at))), at);
  t.equal(
    page.instantOf(page.localText(Date.parse('2026-10-25T01:30:00.000Z'))),
    '2026-10-25T00:30:00.000Z',
    'it shows an hour more rather than an hour less of a span that begins there',
  );
});
