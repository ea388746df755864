/** What is too large for one turn: texts written in earlier turns, and messages that go in parts. */
import t from 'tap';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { Message } from '../../../src/platform/ledger/wire.js';
import { WrittenAhead } from '../../../src/platform/ledger/written-ahead.js';
import fc, { anyCharacter } from '../../support/fuzz.js';
import { auditDraft, resource, transaction } from '../../support/ledger-data.js';
import { ownFolder } from '../../support/own-folder.js';

const WINDOW_MS = 600_000;

function fieldsOf(parts: Parameters<typeof transaction>[0]): readonly unknown[] {
  const message = new Message();
  message.add(transaction(parts));
  return message.fields;
}

t.test('8.6: a text that was written ahead is the one that would have been written', async (t) => {
  const text = fc.string({ unit: anyCharacter });
  const value = fc.oneof(fc.dictionary(text, fc.jsonValue()), fc.jsonValue());
  fc.assert(
    fc.property(value, value, value, fc.boolean(), (spec, before, after, isStatusLess) => {
      const { status, ...bare } = resource('Unit', 'north', 'u1', 1, spec);
      const puts = [isStatusLess ? (bare as ReturnType<typeof resource>) : { ...bare, status }];
      const audits = [auditDraft(1, { before, after })];
      const ahead = new WrittenAhead();
      ahead.writePlain(spec);
      ahead.writeCanonical(before);
      ahead.writeCanonical(after);
      t.strictSame(fieldsOf({ puts, audits, ahead }), fieldsOf({ puts, audits }));
    }),
    { numRuns: 300 },
  );
  const spec = { a: 1 };
  const nobodys = new WrittenAhead();
  t.strictSame(
    fieldsOf({ puts: [resource('Unit', 'north', 'u1', 1, spec)], ahead: nobodys }),
    fieldsOf({ puts: [resource('Unit', 'north', 'u1', 1, spec)] }),
    'of what was not written ahead too',
  );
});

t.test('design 3: a transaction of megabytes goes in parts, whole and in its place, whatever is committed or asked meanwhile', async (t) => {
  const dir = ownFolder(t);
  const ledger = await openLedger(dir);
  await ledger.load(WINDOW_MS);
  const settled: string[] = [];
  const note = (what: string) => (): void => void settled.push(what);
  const large = (at: number) => ({ text: String.fromCodePoint(0x61 + (at % 26)).repeat(30_000) });
  const versions = Array.from({ length: 200 }, (_, at) => at + 1);
  const puts = versions.map((version) => resource('Unit', 'north', `u${version}`, version, large(version)));
  const first = ledger.commit(transaction({ puts })).then(note('large'));
  const second = ledger.commit(transaction({ puts: [resource('Unit', 'north', 'small', 201)] })).then(note('with it'));
  await new Promise((resolve) => setImmediate(resolve)); // its first part has gone
  t.same(settled, []);
  const third = ledger.commit(transaction({ puts: [resource('Unit', 'north', 'u1', 202, { text: 'again' })] })).then(note('behind it'));
  const image = await ledger.load(WINDOW_MS); // stands behind all of them
  await Promise.all([first, second, third]);
  t.same(settled, ['large', 'with it', 'behind it']);
  t.equal(image.resourceVersion, 202);
  t.equal(image.resources.length, 201);
  const specOf = (name: string): unknown => image.resources.find(({ metadata }) => metadata.name === name)?.spec;
  t.same(specOf('u1'), { text: 'again' });
  t.same(specOf('u200'), large(200));
  await ledger.close();

  const again = await openLedger(dir);
  t.teardown(() => again.close());
  t.equal((await again.load(WINDOW_MS)).resources.length, 201);
});

t.test('design 3: what goes in parts when the ledger is closed is written before it closes', async (t) => {
  const dir = ownFolder(t);
  const ledger = await openLedger(dir);
  await ledger.load(WINDOW_MS);
  const puts = Array.from({ length: 100 }, (_, at) => resource('Unit', 'north', `u${at}`, at + 1, { text: 'x'.repeat(30_000) }));
  const written = ledger.commit(transaction({ puts }));
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([written, ledger.close()]);
  const again = await openLedger(dir);
  t.teardown(() => again.close());
  t.equal((await again.load(WINDOW_MS)).resources.length, 100);
});
