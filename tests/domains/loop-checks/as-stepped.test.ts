/** What a module tells of outputs that stand as a loop check has stepped them (ADR 0104), from the sheets that there are. */
import t from 'tap';
import { modulesAsStepped, type SheetRecords, tellAsStepped, unfitBecause } from '../../../src/domains/loop-checks/open-sheets.js';
import { LoopCheck } from '../../../src/domains/loop-checks/kind.js';

/** A store with these sheets. @returns what its module is told. */
function told(sheets: readonly { readonly name: string; readonly resourceVersion: number; readonly reason: string }[], unreadable: readonly string[] = []): unknown[] {
  const conditions: unknown[] = [];
  const rows = sheets.map(({ name, resourceVersion, reason }) => ({
    metadata: { name, resourceVersion },
    spec: { end: { reason, message: 'changed' } },
    status: { phase: 'Sealed' },
  }));
  const store = {
    accepting: true,
    get: () => ({ status: { conditions: [] } }),
    list: ({ kind }: { readonly kind: string }) => (kind === LoopCheck.kind ? rows : []),
    apply: ({ puts: [put] }: { readonly puts: readonly { readonly status: { readonly conditions: readonly unknown[] } }[] }) => conditions.push(...(put?.status.conditions ?? [])),
  };
  tellAsStepped(store as never, 'north', 'plc', unreadable);
  return conditions;
}

t.test('ADR 0104: outputs that stand as stepped are told until a later loop check has come to its end, however the clock was set in between', (t) => {
  const altered = { name: 'plc-20360101120000-00aa', resourceVersion: 7, reason: 'altered' };
  t.match(told([altered]), [{ type: 'OutputsAsStepped', status: 'True', message: /plc-20360101120000-00aa/ }]);
  t.same(told([altered, { name: 'plc-20260101120000-00bb', resourceVersion: 9, reason: 'complete' }]), [], 'the clock was ten years ahead, and was set back');
  t.equal(
    told([{ name: 'plc-20370101120000-00bb', resourceVersion: 5, reason: 'complete' }, altered]).length,
    1,
    'one that was complete before ends nothing, whatever the clock said',
  );
  t.equal(told([altered, { name: 'plc-20260101120000-00bb', resourceVersion: 9, reason: 'aborted' }]).length, 1, 'nor one that has not come to its end');
  t.equal(told([], ['plc-20260101120000-00cc']).length, 1);
  t.same(told([{ name: 'plc-20260101120001-00bb', resourceVersion: 9, reason: 'complete' }], ['plc-20260101120000-00cc']), []);
  t.end();
});

t.test('ADR 0104: the module that is told of an altered sheet is that in the name of the check, whatever the row says', (t) => {
  const sheet = { metadata: { site: 'north', name: 'plc-20260101120000-00aa' }, spec: { module: 'another', end: { reason: 'altered' } } };
  const store = { list: ({ kind }: { readonly kind: string }) => (kind === LoopCheck.kind ? [sheet] : []) };
  t.same(modulesAsStepped(store as never), [{ site: 'north', module: 'plc' }]);
  t.end();
});

t.test('ADR 0104: a row is altered only where the ledger says so; a ledger that does not answer says nothing, and a trail with holes cannot clear it', async (t) => {
  const records = (recorded: () => Promise<boolean>, page: object = { items: [] }): SheetRecords =>
    ({ isRowRecorded: recorded, auditPage: async () => page }) as unknown as SheetRecords;
  const yes = (): Promise<boolean> => Promise.resolve(true);
  t.equal(await unfitBecause(records(yes), 'north', 'plc-1'), '');
  t.match(
    await unfitBecause(
      records(() => Promise.resolve(false)),
      'north',
      'plc-1',
    ),
    /changed past the product/,
  );
  t.match(await unfitBecause(records(yes, { items: [{}] }), 'north', 'plc-1'), /put back as it once was/);
  t.match(await unfitBecause(records(yes, { items: [], unreadable: ['audit-1.ndjson.gz'] }), 'north', 'plc-1'), /missing/);
  await t.rejects(
    unfitBecause(
      records(() => Promise.reject(new Error('no answer'))),
      'north',
      'plc-1',
    ),
    /no answer/,
  );
});
