/** Long bodies that are held at once have a bound, of one caller and of all. */
import t from 'tap';
import { BodyRoom } from '../../../src/platform/http/body-room.js';

const MB = 1024 ** 2;
const busy = { kind: 'unavailable', context: { code: 'bodies_busy' } };

t.test('one caller holds two of the longest, all of them four; what is given back is there again', (t) => {
  const room = new BodyRoom();
  const fault = (caller: string, bytes: number): unknown => {
    try {
      room.take(caller, bytes);
      return undefined;
    } catch (refusal) {
      return refusal;
    }
  };
  const give = room.take('anna', 16 * MB);
  room.take('anna', 16 * MB);
  t.match(fault('anna', 2 * MB), { ...busy, message: /long bodies of yours/ });
  t.equal(fault('anna', MB), undefined, 'a short one needs no room');
  for (let n = 0; n < 2; n += 1) room.take('bert', 16 * MB);
  t.match(fault('cleo', 2 * MB), { ...busy, message: /^other long bodies are/ });
  give();
  give();
  t.equal(fault('cleo', 16 * MB), undefined);
  t.match(fault('dora', 2 * MB), busy, 'it was given back once');
  t.end();
});
