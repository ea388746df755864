/** The memory of nonces against the plainest one that could do the same. */
import t from 'tap';
import { Nonces } from '../../../src/platform/http/nonces.js';
import { TestClock } from '../../support/test-clock.js';

const WINDOW_MS = 1000;

/** Numbers that look random and are the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

for (const seed of [1, 2, 3]) {
  t.test(`D-NONCE-01: each nonce is a duplicate for exactly one window, however many there are and whenever they come (seed ${seed})`, async (t) => {
    const clock = new TestClock();
    const nonces = new Nonces(clock, WINDOW_MS, 1e9);
    const below = numbers(seed);
    const admittedAtMs = new Map<string, number>();
    const wrong: string[] = [];
    for (let request = 0; request < 60_000; request += 1) {
      if (below(4) === 0) clock.advance(below(3));
      if (below(20_000) === 0) clock.advance(below(3 * WINDOW_MS));
      const nonce = `nonce-${below(30_000)}`;
      const nowMs = clock.monoMs();
      const atMs = admittedAtMs.get(nonce);
      const expected = atMs !== undefined && nowMs - atMs < WINDOW_MS ? 'duplicate' : 'admitted';
      if (expected === 'admitted') admittedAtMs.set(nonce, nowMs);
      const given = nonces.admit(Nonces.hash(nonce), false);
      if (given !== expected) wrong.push(`request ${request}: ${nonce} is ${given}, ${expected} was right`);
    }
    t.same(wrong.slice(0, 5), []);
  });
}

t.test('Q-NONCE-04: a memory that is full all the time admits as many in a window as it has room for', async (t) => {
  const clock = new TestClock();
  const entriesMax = 3000;
  const nonces = new Nonces(clock, WINDOW_MS, entriesMax);
  const admitted: number[] = [];
  const wrong: string[] = [];
  for (let request = 0; request < 40_000; request += 1) {
    if (request % 4 === 0) clock.advance(1); // 4,000 in a window
    while (admitted[0] !== undefined && clock.monoMs() - admitted[0] >= WINDOW_MS) admitted.shift();
    const hasRoom = admitted.length < entriesMax;
    const given = nonces.admit(Nonces.hash(`nonce-${request}`), false);
    if (given === 'admitted') admitted.push(clock.monoMs());
    if (hasRoom !== (given === 'admitted')) wrong.push(`request ${request} is ${given} ${hasRoom ? 'with' : 'without'} room`);
  }
  t.same(wrong.slice(0, 5), []);
});

t.test('Q-NONCE-04: where anonymous nonces drop their oldest, no younger one is forgotten with it', async (t) => {
  const clock = new TestClock();
  const nonces = new Nonces(clock, WINDOW_MS, 1e9);
  const admit = (nonce: number) => nonces.admit(Nonces.hash(`anonymous-${nonce}`), true);
  for (let nonce = 0; nonce < 50_000; nonce += 1) {
    if (nonce % 100 === 0) clock.advance(1);
    admit(nonce);
  }
  clock.advance(WINDOW_MS - 600); // the first are 100 ms from the end of their window
  admit(50_000); // drops the oldest
  clock.advance(200);
  admit(50_001); // in the next window of the first
  const young = Array.from({ length: 4900 }, (_, nonce) => 45_000 + nonce);
  t.same(
    young.filter((nonce) => admit(nonce) !== 'duplicate'),
    [],
    'half a window old',
  );
});
