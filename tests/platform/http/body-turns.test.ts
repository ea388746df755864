/** G22: of bodies that cost much few are read at a time. */
import t from 'tap';
import { BodyTurns } from '../../../src/platform/http/body-turns.js';

t.test('G22: a caller has one turn, all of them two; what is given back is there again, once', (t) => {
  const turns = new BodyTurns();
  const imports = { max: 2, code: 'import_busy', message: 'another package is being read' };
  const fault = (caller: string, limits = imports): unknown => {
    try {
      turns.take(limits, caller);
      return undefined;
    } catch (refusal) {
      return refusal;
    }
  };
  const busy = { kind: 'unavailable', message: 'another package is being read', context: { code: 'import_busy', retryAfterSeconds: 1 } };
  const give = turns.take(imports, 'anna');
  t.match(fault('anna'), busy, 'her second one');
  turns.take(imports, 'bert');
  t.match(fault('cleo'), busy);
  t.equal(fault('cleo', { ...imports, code: 'other_busy' }), undefined, 'another route has turns of its own');
  give();
  give();
  t.equal(fault('cleo'), undefined);
  t.match(fault('dora'), busy, 'it was given back once');
  t.end();
});
