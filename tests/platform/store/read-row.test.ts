/** What a row must be to be worked with (D-C-02). */
import t from 'tap';
import * as v from 'valibot';
import type { Kind } from '../../../src/platform/store/kind.js';
import { unfitRow, usableRow, workable } from '../../../src/platform/store/read-row.js';
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

const run = {
  kind: 'Run',
  runs: true,
  spec: v.strictObject({
    of: v.optional(v.string(), ''),
    chart: v.optional(v.strictObject({ steps: v.optional(v.array(v.strictObject({ name: v.string() })), []) }), {}),
    make: v.picklist(['ball', 'gate']),
    parent: v.optional(v.nullable(v.strictObject({ name: v.string() })), null),
  }),
  initialStatus: () => ({ state: 'Idle', conditions: [], progress: { active: [] }, since: '', endsAt: null }),
} as unknown as Kind;

const ran = (spec: object, status: object): Resource => ({ kind: 'Run', metadata: { name: 'r1', site: 'north' }, spec, status }) as unknown as Resource;
const SPEC = { of: 'b-1', chart: { steps: [{ name: 's1' }] }, make: 'ball', parent: null };
const STATUS = { state: 'Held', conditions: [], progress: { active: ['s1'] }, since: '', endsAt: null };

t.test('a list or an object of a status that has become nothing does not fit; a single value may have; of what is worked with all the time no member is missing', async (t) => {
  t.equal(unfitRow(ran(SPEC, STATUS), run), undefined);
  t.match(unfitRow(ran(SPEC, { ...STATUS, conditions: null }), run), { fault: 'status.conditions is null where a list is expected' });
  t.match(unfitRow(ran(SPEC, { ...STATUS, progress: null }), run), { fault: 'status.progress is null where object is expected' });
  t.match(unfitRow(ran(SPEC, { ...STATUS, conditions: undefined }), run), { fault: 'status.conditions is not there', kept: true });
  t.match(
    unfitRow(ran(SPEC, { ...STATUS, conditions: undefined }), { ...run, runs: false } as unknown as Kind),
    undefined,
    'of others one may be: a release before this one had none',
  );
  t.match(unfitRow(ran(SPEC, []), run), { fault: 'status is a list where an object is expected', kept: true });
  t.match(unfitRow(ran([] as never, STATUS), run), { fault: 'spec is a list where an object is expected', kept: true });
  t.equal(unfitRow(ran(SPEC, { ...STATUS, since: null }), run), undefined);
  t.equal(unfitRow(ran(SPEC, { ...STATUS, endsAt: '2026-01-01T00:00:00.000Z' }), run), undefined);
});

t.test('what runs is worked with as its kind begins where it has lost its shape', async (t) => {
  const whole = ran(SPEC, STATUS);
  t.equal(usableRow(whole, run), whole, 'nothing is made anew where all of it fits');
  const { spec, status } = usableRow(
    ran({ of: 7, chart: { steps: [null] }, make: 'needle', parent: 'x', was: 1 }, { state: 5, conditions: null, progress: [], since: null, more: 1 }),
    run,
  );
  t.same(spec, { of: '', chart: { steps: [] }, make: 'needle', parent: null, was: 1 }, 'a word that its list does not have any more is of the shape');
  t.same(status, { state: 'Idle', conditions: [], progress: { active: [] }, since: null, endsAt: null, more: 1 });
  t.same(usableRow(ran(SPEC, []), run).status, { state: 'Idle', conditions: [], progress: { active: [] }, since: '', endsAt: null });
});

const known = {
  ...run,
  status: {
    ...Object.fromEntries(['state', 'since'].map((member) => [member, v.string()])),
    progress: v.object({ active: v.array(v.string()) }),
    spentMs: v.nullable(v.number()),
    of: v.picklist(['a', 'b']),
  },
} as unknown as Kind;

t.test('a member that a status may have is named where it is of another type, and is dropped; one that it begins with begins anew', async (t) => {
  t.equal(
    unfitRow(ran(SPEC, { ...STATUS, spentMs: null, of: 'c', unknown: 5 }), known),
    undefined,
    'nor is a word that its list does not have any more at fault, nor a member that is not known',
  );
  t.equal(unfitRow(ran(SPEC, { ...STATUS, since: null, of: undefined }), known), undefined);
  t.match(unfitRow(ran(SPEC, { ...STATUS, progress: { active: 'x' } }), known), { kept: true, fault: /^status\.progress\.active: / });
  t.match(unfitRow(ran(SPEC, { ...STATUS, progress: { active: ['s1', null] } }), known), { kept: true, fault: /^status\.progress\.active\.1: / });
  t.match(unfitRow(ran(SPEC, { ...STATUS, of: null }), known), { fault: /^status\.of: / });
  t.match(unfitRow(ran(SPEC, { ...STATUS, spentMs: 'long' }), { ...known, runs: undefined } as unknown as Kind), { kept: false });
  const { status } = usableRow(ran(SPEC, { ...STATUS, progress: { active: [5] }, spentMs: [], of: null, more: 1 }), known);
  t.same(status, { ...STATUS, progress: { active: [] }, more: 1 });
});

t.test('equipment is kept where only its status does not fit, and is repaired; what has no spec to work with is left out', async (t) => {
  const unit = { ...known, runs: undefined, mendsStatus: true } as unknown as Kind;
  const damaged = ran(SPEC, { ...STATUS, progress: { active: [null] }, spentMs: 'long' });
  const fault = unfitRow(damaged, unit);
  t.match(fault, { kept: true, fault: /^status\.progress\.active\.0: / });
  t.same(workable(damaged, unit, fault)?.status, { ...STATUS, progress: { active: [] } });
  t.match(unfitRow(ran({ ...SPEC, of: 5 }, STATUS), unit), { kept: false });
  t.match(unfitRow(ran({ ...SPEC, make: 'needle' }, { ...STATUS, conditions: null }), unit), { kept: true, fault: /^status\.conditions/ });
  t.equal(unfitRow(ran(SPEC, STATUS), unit), undefined);
});
