/** Hold, Stop and Abort while nothing can be written (D-C-09, ADR 0026): who is told of them hears what they have reached. */
import t from 'tap';
import { parse } from 'valibot';
import { Batch } from '../../../src/domains/batches/kind.js';
import { PhaseCommands } from '../../../src/domains/batches/phases/phase-commands.js';
import { sendCommand } from '../../../src/domains/commands/command.js';
import { Phase, PhaseSpec } from '../../../src/domains/procedures/kind.js';
import type { UnitLink, UnitRuntimes } from '../../../src/domains/placement/runtimes.js';
import { component } from '../../../src/platform/store/audit-record.js';
import type { Put } from '../../../src/platform/store/store.js';
import { freshStore } from '../../support/fresh-store.js';

const { ledger, clock, store } = await freshStore(t);
const sent: string[] = [];
/** Number of the last command. */
let sentAs = 0;
const linkOf = (unit: string) =>
  ({
    site: 'north',
    unit,
    epoch: 1,
    ready: unit !== 'away',
    loadPhase: () => undefined,
    send: (message: { type: string; id?: number; phase?: string; command?: string }) => {
      if (message.type !== 'command') return;
      sent.push(`${message.command} ${message.phase}`);
      sentAs = message.id ?? 0;
    },
  }) as unknown as UnitLink;
const links = new Map(['here', 'away'].map((unit) => [unit, linkOf(unit)]));
const runtimes = { link: (_site: string, unit: string) => links.get(unit), links: () => [...links.values()] } as unknown as UnitRuntimes;
const phases = new PhaseCommands(store, runtimes);

const phase = (name: string, unitRef: string, state: string): Put => {
  const spec = parse(PhaseSpec, { batchRef: 'b-1', unitRef, stepName: name, stepPath: name });
  return { kind: Phase, site: 'north', name, spec, status: { ...Phase.initialStatus(spec), state } } as unknown as Put;
};
await store.write({
  puts: [
    { kind: Batch, site: 'north', name: 'b-1', spec: { batchID: 'B-1' }, status: { ...Batch.initialStatus({} as never), phase: 'Running' } } as unknown as Put,
    phase('fill', 'here', 'Running'),
    phase('heat', 'away', 'Running'),
    phase('drain', 'here', 'Idle'),
    phase('stir', 'here', 'Idle'),
  ],
});
// begun, and its worker has said so: that it runs is not on disk when the disk is full
phases.command(store.get(Phase, 'north', 'stir') as never, 'Start');
phases.answered('north', 'stir', sentAs, true);
t.same(sent.splice(0), ['Start stir']);

t.test('ADR 0026: the answer counts the phases that a Hold has reached, and names those that nobody executes', async (t) => {
  // somebody else used the next number: the ledger refuses what does not follow, as it refuses everything on a full disk
  await ledger.commit({ puts: [], removes: [], audits: [], facts: [{ stream: 'notes/north', sequence: 1, body: {} }], nonces: [] });
  await t.rejects(store.write({ facts: [{ stream: 'notes/north', body: () => ({}) }] }));
  t.equal(store.accepting, false);
  const actor = component('alarm-controller');
  const hold = () =>
    sendCommand({ store, runtimes, clock, reasonLengthMin: 0, phases }, 'north', { kind: 'Batch', name: 'b-1', command: 'Hold', reason: 'the level' } as never, {
      actor,
      correlationID: 'c',
      audit: (entry) =>
        ({
          site: 'north',
          action: 'Command',
          category: 'command',
          actor,
          correlationID: 'c',
          ...entry,
        }) as never,
    });
  const { message, recorded } = await hold();
  t.equal(recorded, false);
  t.match(message, /^Hold was given to 2 phases of Batch b-1 at once, and not to 1 phase whose runtime is not ready; nothing can be written now/);
  t.same(sent, ['Hold fill', 'Hold stir'], 'one that is seen as Idle, and is in its worker, may run');
  links.set('away', { ...linkOf('away'), ready: true } as UnitLink);
  t.match((await hold()).message, /^Hold was given to 3 phases of Batch b-1 at once; nothing/);
  t.same(sent, ['Hold fill', 'Hold stir', 'Hold heat'], 'each is asked once');
});
