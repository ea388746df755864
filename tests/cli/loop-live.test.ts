/** A loop check at the terminal whose box refuses to be asked: what a person is told, and that the question is withdrawn. */
import t from 'tap';
import { type Attending, LiveCheck } from '../../src/cli/remote/loop-live.js';
import type { CommandContext } from '../../src/cli/remote/command.js';
import type { Dialogue } from '../../src/cli/remote/terminal.js';

const WAITS = { step: 1, channel: 'valve', value: 5, isWaiting: true };
const SHEET = {
  phase: 'Running',
  module: 'rack',
  neighbours: [],
  settleMs: 1000,
  attendTimeoutMs: 300,
  channels: [{ channel: 'valve', steps: [], outcome: 'not-checked', dataType: 'float' }],
  next: WAITS,
};
const REFUSED = '401 the session has ended';

interface Played {
  readonly readsGood: number;
  readonly confirms: boolean;
}

/** A box that refuses all reads but the first. */
function played({ readsGood, confirms }: Played): { readonly check: (attending: Attending) => LiveCheck; readonly said: string[] } {
  let reads = 0;
  const said: string[] = [];
  const dialogue: Dialogue = {
    ended: new AbortController().signal,
    ask: (_question, withdrawn) =>
      confirms
        ? Promise.resolve('')
        : new Promise((resolve) => {
            withdrawn.addEventListener('abort', () => {
              said.push('withdrawn');
              resolve(undefined);
            });
          }),
    close: () => said.push('closed'),
  };
  const typed = {
    get: async () => {
      reads += 1;
      if (reads > readsGood) throw new Error(REFUSED);
      return SHEET;
    },
    all: async () => [],
    post: async () => {
      if (confirms) throw new Error(REFUSED);
    },
  };
  const context = { box: { typed }, terminal: { converse: () => dialogue, say: () => undefined }, options: {}, print: async () => undefined } as unknown as CommandContext;
  return { check: (attending) => new LiveCheck(context, { site: 'north', name: 'rack', id: 'c1' }, attending), said };
}

t.test('a check that cannot be looked at any more withdraws its question, closes the dialogue and tells why', async (t) => {
  const { check, said } = played({ readsGood: 2, confirms: false });
  await t.rejects(check('confirm').conduct(new AbortController().signal), { message: REFUSED });
  t.same(said, ['withdrawn', 'closed']);
});

t.test('a sign that is refused ends the command with what the box says, while the check is still looked at', async (t) => {
  const { check, said } = played({ readsGood: Number.POSITIVE_INFINITY, confirms: true });
  await t.rejects(check('hold').conduct(new AbortController().signal), { message: REFUSED });
  t.same(said, ['closed']);
});
