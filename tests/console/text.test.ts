/** Texts and numbers as the pages show them, without a browser: what is recorded is shown with every letter of it. */
import t from 'tap';
import { pageModule } from './page-module.js';

interface Texts {
  recordText(text: string, isNumber: boolean): string;
  readingText(value: number): string;
  numberText(value: number, span: number | undefined): string;
  measuredText(value: number, limit?: number): string;
}

const load = (language: string): Promise<Texts> => pageModule<Texts>('common/text.ts', language);

t.test('RECORD-03: what is recorded is what is shown', async (t) => {
  const english = await load('en-GB');
  const german = await load('de-DE');
  const TEXTS = ['20261122007', '2026112200017', '000123', '0x1F', '1e5', ' 12 ', '1000.49', '-0', '+5', '', 'Infinity'];
  for (const text of TEXTS) for (const page of [english, german]) t.equal(page.recordText(text, false), text, `the text '${text}' stays as it is`);

  const NUMBERS = ['12345.6', '1000.49', '81.58405303955078', '0.00094', '9007199254740993', '1e-7', '-40', '1500'];
  for (const text of NUMBERS) {
    t.equal(english.recordText(text, true), text);
    t.equal(german.recordText(text, true), text.includes('e') ? text : text.replace('.', ','), 'the decimal sign of its reader, and all digits');
  }
});

t.test('a reading decides something: it is as exact as the instrument', async (t) => {
  const { readingText } = await load('en-GB');
  const ROWS: readonly (readonly [number, string])[] = [
    [12345.6, '12345.6'],
    [2026112200017, '2026112200017'],
    [0.0009406, '0.0009406'],
    [80.03417205810547, '80.03417'],
    [123456789.126, '123456789.13'],
    [0, '0'],
    [-17, '-17'],
  ];
  for (const [value, text] of ROWS) t.equal(readingText(value), text);
});

t.test('a live value has a steady number of digits, which its declared range asks for', async (t) => {
  const { numberText } = await load('en-GB');
  t.equal(numberText(80.034, 150), '80.0');
  t.equal(numberText(0.0345, 0.05), '0.03450');
  t.equal(numberText(-0.0001, 100), '0.0');
});

t.test('a measured value in a sentence has the digits of the screen, and more where they would hide on which side of its limit it is', async (t) => {
  const { measuredText } = await load('en-GB');
  const ROWS: readonly (readonly [value: number, limit: number | undefined, text: string])[] = [
    [81.58405303955078, undefined, '81.58'],
    [20.675302463846492, 20, '20.68'],
    [0.0009406, 5, '0.00'],
    [80.0034, 80, '80.0034'],
    [80, 80, '80'],
    [12345.6, undefined, '12346'],
  ];
  for (const [value, limit, text] of ROWS) t.equal(measuredText(value, limit), text);
  t.equal((await load('de-DE')).measuredText(81.58405303955078), '81,58');
});

t.test('a line of the journal has a quantity with what it is counted in, and nothing twice', async (t) => {
  const { partsOf } = await pageModule<{ partsOf(event: object): string[] }>('plant/event-words.ts', 'en-GB');
  const event = (eventType: string, message: string, value: string, previousValue = '', eventSubType = '') => partsOf({ eventType, eventSubType, message, value, previousValue });
  t.same(event('Material', 'monomer (kg)', '20.675302463846492', '20261122007'), ['monomer', '20.675302463846492 kg', '20261122007']);
  t.same(event('Material', 'resin (clear) (mPa.s)', '3.0000'), ['resin (clear)', '3.0000 mPa·s'], 'every digit that was recorded');
  t.same(event('Material', 'water', '3'), ['water', '3']);
  t.same(event('Operator', 'viscosity', 'viscosity'), ['viscosity']);
  t.same(event('Alarm', 'Activated: alarm hot-1 (kg)', 'ActiveUnacknowledged'), ['Activated: alarm hot-1 (kg)', 'active, unacknowledged']);
  t.same(event('Procedural Execution', '', 'Manual', 'Automatic', 'Mode Change'), ['Automatic → Manual'], 'a change goes from what it was to what it is');
});

t.test('a record of the trail says for whom a component did it: the first person of the same request', async (t) => {
  const { askersOf, askedBy } = await pageModule<{ askersOf(records: readonly object[]): object; askedBy(record: object, askers: object): string }>(
    'views/audit/audit-askers.ts',
    'en-GB',
  );
  const record = (correlationID: string, actorType: string, displayName: string) => ({ correlationID, actorType, displayName });
  const records = [record('c1', 'component', 'batch-controller'), record('c1', 'person', 'Anna'), record('c1', 'person', 'Otto'), record('c2', 'component', 'alarm-controller')];
  const askers = askersOf(records);
  t.same(
    records.map((each) => askedBy(each, askers)),
    ['Anna', '', '', ''],
  );
});
