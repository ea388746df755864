/** The exception action of an alarm on a state while nothing can be written (D-C-09): it is given all the same, once for each match. */
import t from 'tap';
import { AlarmRegister } from '../../../src/domains/alarms/alarm-register.js';
import { DefinitionReconciler } from '../../../src/domains/alarms/definition-reconciler.js';
import { ExceptionCommands } from '../../../src/domains/alarms/exception-commands.js';
import { Alarm, AlarmDefinition } from '../../../src/domains/alarms/kind.js';
import { IOModule } from '../../../src/domains/io-modules/kind.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import type { Put } from '../../../src/platform/store/store.js';
import { freshStore } from '../../support/fresh-store.js';
import { SPEC } from './bench.js';

const { ledger, clock, store } = await freshStore(t);
const commands: string[] = [];
const exceptions = new ExceptionCommands(store, {
  targets: () => [{ kind: 'Batch', name: 'b-1' }],
  give(_site, { name }, action, alarm, beside) {
    commands.push(`${action} ${name} by ${alarm}`);
    store.apply({ puts: [beside] });
    return 'given';
  },
  giveUnrecorded: (_site, { name }, action, definition) => commands.push(`${action} ${name} unrecorded by ${definition}`),
});
let told: string | undefined;
const runtimes = { link: () => undefined, links: () => [] };
const reconciler = new DefinitionReconciler({ store, clock, runtimes, register: new AlarmRegister({ store, clock }), timeScale: () => 1, exceptions, toldState: () => told });

const onState = (sourceKind: 'Unit' | 'IOModule', sourceName: string, stateValue: string, debounceSeconds: number) => ({
  ...SPEC,
  sourceKind,
  sourceName,
  conditionType: 'StateEquals' as const,
  stateValue,
  tagName: '',
  threshold: '',
  debounceSeconds,
  exceptionAction: 'Hold' as const,
});
const put = (kind: { readonly kind: string }, name: string, more: object): Put => ({ kind, site: 'north', name, spec: {}, ...more }) as unknown as Put;
await store.write({
  puts: [
    put(Unit, 'u1', { status: { state: 'Paused' } }),
    put(IOModule, 'io', { spec: { channels: [] }, status: { state: 'Connected' } }),
    put(AlarmDefinition, 'paused-long', { spec: onState('Unit', 'u1', 'Paused', 30) }),
    put(AlarmDefinition, 'io-lost', { spec: onState('IOModule', 'io', 'Disconnected', 0) }),
  ],
});
const look = (name: string) => reconciler.reconcile({ site: 'north', name });
const reloaded = (): Promise<void> => new Promise((resolve) => store.watchReload(resolve));

t.test('D-C-09 ADEF-10: an alarm on a state whose time is over while nothing can be written commands, as one on a tag does', async (t) => {
  t.same(look('paused-long'), { lookAgainMs: 30_000 });
  t.equal(look('io-lost'), 'settled');
  // somebody else used the next number: the ledger refuses what does not follow, as it refuses everything on a full disk
  await ledger.commit({ puts: [], removes: [], audits: [], facts: [{ stream: 'notes/north', sequence: 1, body: {} }], nonces: [] });
  const refusing = reloaded();
  await t.rejects(store.write({ facts: [{ stream: 'notes/north', body: () => ({}) }] }));
  await refusing;
  // the disk is full for a minute: the clock of the store's probe stands still
  const real = clock.monoMs.bind(clock);
  let laterMs = 0;
  clock.monoMs = () => real() + laterMs;
  t.equal(store.accepting, false);
  look('paused-long');
  look('io-lost');
  t.same(commands, []);
  laterMs = 30_000;
  told = 'Disconnected';
  for (let times = 0; times < 3; times += 1) for (const name of ['paused-long', 'io-lost']) t.equal(look(name), 'settled');
  t.same(commands.splice(0), ['Hold b-1 unrecorded by paused-long', 'Hold b-1 unrecorded by io-lost'], 'once, however often it is looked at');
  told = 'Connected';
  look('io-lost');
  told = 'Disconnected';
  look('io-lost');
  t.same(commands.splice(0), ['Hold b-1 unrecorded by io-lost'], 'and again when it comes again');
  t.same(store.list(Alarm), []);

  clock.monoMs = real;
  const accepting = reloaded();
  clock.advance(60_000);
  await accepting;
  t.equal(store.accepting, true);
  look('paused-long');
  await store.recorded;
  t.same(commands, ['Hold b-1 by paused-long-1'], 'then the alarm comes, and its command with it');
  t.match(store.list(Alarm), [{ status: { state: 'ActiveUnacknowledged' } }]);
});
