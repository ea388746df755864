import t from 'tap';
import { parseInstant } from '../../../src/platform/base/instant.js';

const TIMES: readonly (readonly [string, string])[] = [
  ['2026-01-31T09:05:07Z', '2026-01-31T09:05:07.000Z'],
  ['2026-01-31t09:05:07.1239z', '2026-01-31T09:05:07.123Z'],
  ['2024-02-29T00:00:00+02:30', '2024-02-28T21:30:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
];
const NONE = [
  '2030-02-30T00:00:00Z',
  '2030-04-31T00:00:00Z',
  '2029-02-29T00:00:00Z',
  '1900-02-29T00:00:00Z',
  '2030-01-01T24:00:00Z',
  '2030-01-01T23:60:00Z',
  '2030-01-01T23:59:60Z',
  '2030-00-10T00:00:00Z',
  '2030-13-10T00:00:00Z',
  '2030-01-00T00:00:00Z',
  '2030-01-01T00:00:00+24:00',
  '2030-01-01T00:00:00',
  '2030-01-01',
  '9999-12-31T23:59:59-14:00',
  '+012030-01-01T00:00:00Z',
  '',
];

t.test('Q-MES-07 Q-ALARM-15: a time is one that exists, in UTC with a year of four digits', async (t) => {
  for (const [text, served] of TIMES) t.equal(new Date(parseInstant(text)).toISOString(), served, text);
  for (const text of NONE) t.ok(Number.isNaN(parseInstant(text)), text);
});
