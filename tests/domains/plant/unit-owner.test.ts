/** What a unit shows when its work is given back (decisions 3.6). */
import t from 'tap';
import type { UnitStatus } from '../../../src/domains/plant/kind.js';
import { givenBack, shownReset, taken, takenBack } from '../../../src/domains/plant/unit-owner.js';

const AT = '2026-01-31T09:00:00.000Z';
const FREE = { state: 'Idle', mode: 'Automatic', allocatedTo: '', activeWork: null, heldInside: false } as unknown as UnitStatus;

const at = (unit: UnitStatus, name: string, state: 'Complete' | 'Aborted' | 'Running'): UnitStatus => ({
  ...unit,
  state,
  activeWork: { kind: 'Phase', name, state, batchRef: '', since: AT },
});
const ended = (unit: UnitStatus, name: string, state: 'Complete' | 'Aborted'): UnitStatus => givenBack(at(taken(unit, name), name, state), AT, false, () => true);
const reset = (unit: UnitStatus, name: string): UnitStatus => givenBack(unit, AT, true, (element) => element === name);

t.test('decisions 3.6: work that is reset before its own end was seen on the unit leaves it Idle, whatever was there before', async (t) => {
  const before = ended(FREE, 'p1', 'Complete');
  t.match(before, { state: 'Complete', allocatedTo: '', lastWork: { name: 'p1', state: 'Complete' } });
  for (const earlier of [before, { ...before, state: 'Idle' as const }]) {
    const work = at(taken(earlier, 'p2'), 'p2', 'Running');
    t.match(reset(work, 'p2'), { state: 'Idle', allocatedTo: '' });
  }
});

t.test('decisions 3.6: the end of work that came after it stays to be seen', async (t) => {
  const after = ended(ended(FREE, 'p1', 'Complete'), 'p2', 'Aborted');
  t.match(reset(takenBack(after, 'p1'), 'p1'), { state: 'Aborted', lastWork: { name: 'p2' } });
  t.match(reset(takenBack(after, 'p2'), 'p2'), { state: 'Idle', lastWork: { name: 'p2', state: 'Idle' } });
  t.match(reset(takenBack(shownReset(after), 'p1'), 'p1'), { state: 'Idle' });
});
