/** What a probe tells while nothing can be written: it is in the store as soon as something can be written again. */
import t from 'tap';
import { parse } from 'valibot';
import { CONNECTION, IMAGE_HEADER, ProcessImage, processImageBytes } from '../../../runtime/vocabulary/process-image.js';
import { IOModule, IOModuleSpec } from '../../../src/domains/io-modules/kind.js';
import { IOModuleReconciler } from '../../../src/domains/io-modules/reconciler.js';
import type { LocalProbes, ModuleState, ResumedOutputs } from '../../../src/domains/placement/local-probes.js';
import type { UnchainedAudit } from '../../../src/platform/store/audit-record.js';
import type { Put } from '../../../src/platform/store/store.js';
import { freshStore } from '../../support/fresh-store.js';
import { NO_CREDENTIALS } from '../../support/no-secrets.js';

const { ledger, clock, store } = await freshStore(t);
const audits: UnchainedAudit[] = [];
store.watchAudit((record) => audits.push(record));
const told = new Map<string, ModuleState>();
const image = new ProcessImage(1, new SharedArrayBuffer(processImageBytes(1)));
const probes = {
  image: () => image,
  moduleState: (site: string, module: string) => told.get(`${site}/${module}`),
} as unknown as LocalProbes;
const modules = new IOModuleReconciler({
  store,
  probes,
  clock,
  contents: { restore: () => [] },
  credentials: NO_CREDENTIALS,
  box: { setting: 'live', deviceId: 'd' },
  security: { dataDir: '', isDevelopment: false },
});
store.watchReload(() => modules.catchUp());

const spec = parse(IOModuleSpec, { protocol: 'modbus', address: '127.0.0.1:502', channels: [{ name: 'level', address: 'holding:1' }] });
await store.write({ puts: ['a', 'b'].map((name) => ({ kind: IOModule, site: 'north', name, spec }) as Put) });
const says = (module: string, state: ModuleState['state']): void => {
  const word = { state, message: `it is ${state}`, outputs: { withheld: '', secondMaster: false, mismatched: [], failSafeTaken: false }, atMs: clock.wallMs() };
  told.set(`north/${module}`, word);
  modules.moduleChanged('north', module, word);
};
const shown = () => store.list(IOModule, 'north').map(({ status }) => status.state);
const reloaded = (): Promise<void> => new Promise((resolve) => store.watchReload(resolve));
const resumed = (value: number): ResumedOutputs => ({ type: 'outputs-resumed', site: 'north', module: 'a', outputs: [{ channel: 'valve', value }] }) as unknown as ResumedOutputs;

t.test('G4 D-IO-01: a module that is lost while nothing can be written is lost in the store as well, as soon as that can be told', async (t) => {
  says('a', 'Connected');
  says('b', 'Connected');
  await store.recorded;
  t.same(shown(), ['Connected', 'Connected']);

  // somebody else used the next number: the ledger refuses what does not follow, as it refuses everything on a full disk
  await ledger.commit({ puts: [], removes: [], audits: [], facts: [{ stream: 'notes/north', sequence: 1, body: {} }], nonces: [] });
  const refusing = reloaded();
  const refused = store.apply({ facts: [{ stream: 'notes/north', body: () => ({}) }] }).durable;
  says('b', 'Disconnected'); // in the store, and taken back with what failed
  await t.rejects(refused);
  await refusing;
  t.equal(store.accepting, false);
  says('a', 'Disconnected');
  modules.outputsResumed('north', 'a', resumed(1));
  modules.outputsResumed('north', 'a', resumed(2));
  const at = new Date(clock.wallMs()).toISOString();

  const accepting = reloaded();
  clock.advance(60_000);
  await accepting;
  await store.recorded;
  t.equal(store.accepting, true);
  t.same(shown(), ['Disconnected', 'Disconnected']);
  t.match(
    audits,
    [{ category: 'iomodule-write', reason: 'OutputsResumed', details: { outputs: [{ value: 2 }], happenedAt: at, times: 2 } }],
    'what was written meanwhile is on record',
  );

  audits.length = 0;
  modules.outputsResumed('north', 'a', resumed(3));
  await store.recorded;
  modules.catchUp();
  t.match(audits, [{ details: { outputs: [{ value: 3 }], happenedAt: undefined, times: undefined } }], 'once, as ever');
  t.equal(audits.length, 1);
});

t.test('a module that is connected and was never sampled says so, not how long the machine has been on', async (t) => {
  const told = () => modules.connectivity('north', 'a', { state: 'Connected', message: '' } as ModuleState);
  Atomics.store(image.header, IMAGE_HEADER.connection, CONNECTION.connected);
  t.same(told(), { verdict: 'reported', summary: 'the driver reports a connection, no channel has been sampled yet' });
  image.sampledAtMs[0] = clock.wallMs();
  image.sampledMonoMs[0] = clock.monoMs();
  t.match(told(), { verdict: 'measured' });
});
