/** What a row must be to be worked with (D-C-02). */
import t from 'tap';
import * as v from 'valibot';
import type { Kind } from '../../../src/platform/store/kind.js';
import { unfitRow } from '../../../src/platform/store/read-row.js';
import type { Resource } from '../../../src/platform/store/resource.js';

const kind = {
  kind: 'Valve',
  spec: v.strictObject({ make: v.picklist(['ball', 'gate']), size: v.number(), also: v.optional(v.literal('drain')) }),
  initialStatus: () => ({ open: false }),
} as unknown as Kind;

const row = (spec: object): Resource => ({ kind: 'Valve', metadata: { name: 'v1', site: 'north' }, spec, status: { open: true } }) as unknown as Resource;

t.test('a word that its list does not have any more is named and kept; what is of another type is left out', async (t) => {
  t.equal(unfitRow(row({ make: 'ball', size: 2 }), kind), undefined);
  t.match(unfitRow(row({ make: 'needle', size: 2 }), kind), { kept: true, fault: /spec\.make/ });
  t.match(unfitRow(row({ make: 'ball', size: 2, also: 'vent' }), kind), { kept: true });
  t.match(unfitRow(row({ make: 7, size: 2 }), kind), { kept: false });
  t.match(unfitRow(row({ make: 'ball', size: 'two' }), kind), { kept: false });
  t.match(unfitRow(row({ make: 'needle', size: 'two' }), kind), { kept: false }, 'the worse of two counts');
});
