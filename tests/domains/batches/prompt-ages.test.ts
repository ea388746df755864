/** A prompt waits as long as time elapses (D-C-07). */
import t from 'tap';
import { pendingWait, requirePhase } from '../../../src/domains/commands/prompt-response.js';
import { type ElementStatus, type PendingPrompt, Phase, type PhaseSpec } from '../../../src/domains/procedures/kind.js';
import { promptAges } from '../../../src/domains/procedures/prompt-ages.js';
import { voidPrompts } from '../../../src/domains/procedures/void-prompts.js';
import { timestamp } from '../../../src/platform/base/clock.js';
import { freshStore } from '../../support/fresh-store.js';

const HOUR_MS = 3_600_000;

t.test('D-C-07: the age of a prompt does not jump with the clock', async (t) => {
  const { store, clock } = await freshStore(t);
  const ages = promptAges(store);
  const prompt = { id: 'w1', timestamp: timestamp(clock.wallMs()), text: 'Go on?', stepName: 'ask', type: 'acknowledge' } as const satisfies PendingPrompt;
  const age = (): number => ages.ageMs('north', 'p', prompt, clock);
  t.equal(age(), 0);
  clock.advance(30_000);
  for (const jumpMs of [HOUR_MS, -2 * HOUR_MS, HOUR_MS]) {
    clock.jump(jumpMs);
    t.equal(age(), 30_000, `set by ${jumpMs} ms`);
  }
  t.equal(ages.ageMs('north', 'p', { ...prompt, id: 'w2', timestamp: timestamp(clock.wallMs()) }, clock), 0, 'the next prompt of the phase begins anew');
});

t.test('decisions 3.8: what an exception chart has asked before a restart is asked no more, since the chart asks anew', async (t) => {
  const { store, clock } = await freshStore(t, [Phase]);
  const asks = async (name: string, state: string, unitRef = 'u1'): Promise<void> => {
    const pendingPrompt = { id: `${name}-w`, timestamp: timestamp(clock.wallMs()), text: 'Is it empty?', stepName: 'ask', type: 'acknowledge' };
    await store.write({
      puts: [{ kind: Phase, site: 'north', name, spec: { unitRef, batchRef: 'b' } as PhaseSpec, status: { state, pendingPrompt } as unknown as ElementStatus }],
    });
  };
  for (const [name, state] of [
    ['stops', 'Stopping'],
    ['aborts', 'Aborting'],
    ['resets', 'Resetting'],
    ['runs', 'Running'],
    ['held', 'Held'],
    ['holding', 'Holding'],
  ] as const)
    await asks(name, state);
  await asks('elsewhere', 'Stopping', 'u2');
  const step = (actionST: string) => ({ steps: [{ name: 'ask', actionST }] });
  const holdingAsks = { unitRef: 'u1', batchRef: 'b', ...step('n := 1;'), charts: { holding: step("PROMPT('Is it empty?');") } } as unknown as PhaseSpec;
  const { status } = requirePhase(store, 'north', 'holding');
  await store.write({
    puts: [{ kind: Phase, site: 'north', name: 'holds-itself', spec: holdingAsks, status: { ...status, pendingPrompt: { ...status.pendingPrompt, id: 'h' } } as ElementStatus }],
  });
  const asked = (): string[] => store.list(Phase).flatMap(({ metadata: { site, name }, status }) => (voidPrompts(store).asked(site, name, status) ? [name] : []));
  t.same(asked(), ['aborts', 'elsewhere', 'held', 'holding', 'holds-itself', 'resets', 'runs', 'stops']);
  voidPrompts(store).runtimeEnded('north', 'u1');
  t.same(asked(), ['elsewhere', 'held', 'holding', 'runs']);
  const stops = requirePhase(store, 'north', 'stops');
  t.throws(() => pendingWait(store, stops, 'stops-w', 'prompt_not_pending'), { message: /does not wait for stops-w/ }, 'nobody signs an answer that nobody reads');
  const { pendingPrompt } = stops.status;
  await store.write({ puts: [{ kind: Phase, site: 'north', name: 'stops', status: { ...stops.status, pendingPrompt: { ...pendingPrompt, id: 'anew' } } as ElementStatus }] });
  t.same(asked(), ['elsewhere', 'held', 'holding', 'runs', 'stops'], 'the chart has asked again');
  voidPrompts(store).runtimeEnded();
  t.same(asked(), ['held', 'holding', 'runs']);
});
