/**
 * A process module from its package to its batch: the package is imported, the module connected, and phases command its services over OPC UA
 * (VDI/VDE/NAMUR 2658-4), against a module of its own that plays the state machine.
 */
import t from 'tap';
import { amlOf, DOSING } from '../support/mtp-package.js';
import { MtpPeer } from '../support/mtp-peer.js';
import { ownFolder } from '../support/own-folder.js';
import { Plant, SITE } from '../support/plant.js';

const aml = amlOf(DOSING);
const peer = await MtpPeer.start({ folder: ownFolder(t), aml });
t.teardown(() => peer.kill());
const plant = new Plant(ownFolder(t), { timeScale: 1, environment: { LINESIDE_IO__OUTPUTS: 'live' } });
t.teardown(() => plant.end());
await plant.start();
const { api } = plant;

interface ServiceView {
  readonly state: string;
  readonly commandEnable: readonly string[];
  readonly currentProcedure: string;
  readonly operationMode: string;
  readonly sourceMode: string;
}

const service = async (): Promise<ServiceView> => (await api.get(`${SITE}/units/dosing/mtp-services`)).body[0];
const untilService = (state: string): Promise<ServiceView> =>
  plant.look(`the service is ${state}`, async () => {
    const seen = await service();
    return { done: seen.state === state ? seen : undefined, seen: JSON.stringify(seen) };
  });

/** A phase of these steps one after the other: what each does, and what it waits for; '': its action. */
function phaseOf(steps: readonly (readonly [actionST: string, conditionST?: string])[], more: object = {}): object {
  const named = steps.map(([actionST], at) => ({ name: `s${at}`, ...(at === 0 ? { initial: true } : {}), actionST, timeout: '30s' }));
  const transitions = steps.map(([, conditionST = 'TRUE'], at) => ({ from: `s${at}`, to: at + 1 < steps.length ? `s${at + 1}` : 'end', conditionST }));
  return { steps: [...named, { name: 'end' }], transitions, ...more };
}
const isState = (state: string): string => `MTP_STATE('dosing/Dose') = '${state}'`;
/** In an action it is asked in each scan; in a condition once a second. */
const until = (state: string): string => `WHILE NOT (${isState(state)}) DO\nok := TRUE;\nEND_WHILE;`;
const commands = async () => (await api.get('/api/v1/audit?site=demo&category=st-mtp-command&limit=200')).body.items;

t.test('ROUTE-05 ROUTE-08: a package is imported, its module connected, and its services are seen', async (t) => {
  t.equal((await api.post(`${SITE}/units`, { name: 'dosing', processCellName: 'resin-train' })).status, 201, 'the unit that the module becomes stands in a process cell');
  const imported = await api.post('/api/v1/import/mtp', { site: 'demo', name: 'dosing', fileName: 'Dosing.aml', content: Buffer.from(aml).toString('base64'), dryRun: false });
  t.equal(imported.status, 200, imported.text);
  t.match(
    await service(),
    { name: 'Dose', ioModule: 'dosing', state: '', commandEnable: [], operationMode: '', procedures: [{ id: 1, name: 'Slow' }, {}] },
    'nothing is known of a module without a connection',
  );
  const { body } = await api.get(`${SITE}/iomodules/dosing`);
  const { channels, options, services, description } = body;
  const connected = await api.put(`${SITE}/iomodules/dosing`, {
    protocol: 'opcua',
    address: peer.url,
    enabled: true,
    channels,
    services,
    description,
    options: { ...options, publishingInterval: '100ms', samplingInterval: '50ms' },
  });
  t.equal(connected.status, 200, connected.text);
  t.match(await untilService('Idle'), { commandEnable: ['Start', 'Stop', 'Abort'], currentProcedure: '', operationMode: 'Automatic', sourceMode: 'External' });
  await peer.tell({ set: 'Level.V', value: 42.5 });
  await plant.look('the level is read', async () => {
    const { body: tag } = await api.get(`${SITE}/controlmodules/dosing-level/tags/V`);
    return { done: tag.value === 42.5 || undefined, seen: JSON.stringify(tag) };
  });
});

t.test('MTP-01 MTP-02 MTP-03 MTP-04: a phase starts a procedure of the service, holds, unholds, pauses, resumes, completes and resets it', async (t) => {
  await plant.recipeOf(
    'doses',
    phaseOf([
      [`MTP_COMMAND('dosing/Dose', 'Start', procedure := 'Slow'); ${until('Execute')}`, ''],
      [`MTP_COMMAND('dosing/Dose', 'Hold'); ${until('Held')}`, ''],
      [`MTP_COMMAND('dosing/Dose', 'Unhold'); ${until('Execute')}`, ''],
      [`MTP_COMMAND('dosing/Dose', 'Pause'); ${until('Paused')}`, ''],
      [`MTP_COMMAND('dosing/Dose', 'Resume'); ${until('Execute')}`, ''],
      ["MTP_COMMAND('dosing/Dose', 'Restart');", `${isState('Execute')} AND MTP_COMMAND_ENABLED('dosing/Dose', 'Complete') AND NOT MTP_COMMAND_ENABLED('dosing/Dose', 'Unhold')`],
      [`MTP_COMMAND('dosing/Dose', 'Complete'); ${until('Completed')}`, ''],
      [`MTP_COMMAND('dosing/Dose', 'Reset'); ${until('Idle')}`, ''],
      [`MTP_COMMAND('dosing/Dose', 'Start', procedure := 2); ${until('Completed')}`, ''],
    ]),
  );
  const batch = await plant.runBatch({ masterRecipeRef: 'doses' });
  await plant.until(batch, 'Complete');
  t.match(await untilService('Completed'), { commandEnable: ['Reset', 'Stop', 'Abort'], currentProcedure: 'Fast' });
  const records = (await commands()).toReversed();
  t.same(
    records.map(({ result, details }: { result: string; details: { command: string; procedure?: unknown } }) => [
      result,
      details.command,
      ...(details.procedure === undefined ? [] : [details.procedure]),
    ]),
    [
      ['Success', 'Start', 'Slow'],
      ['Success', 'Hold'],
      ['Success', 'Unhold'],
      ['Success', 'Pause'],
      ['Success', 'Resume'],
      ['Success', 'Restart'],
      ['Success', 'Complete'],
      ['Success', 'Reset'],
      ['Success', 'Start', 2],
    ],
    'one record of each command',
  );
});

t.test('MTP-02 MTP-04: what the service does not enable, or the mode does not let through, holds the phase with a sentence, and nothing is written', async (t) => {
  await plant.recipeOf('starts', phaseOf([[`MTP_COMMAND('dosing/Dose', 'Start'); ${until('Execute')}`, '']]));
  const held = async (why: RegExp, what: string) => {
    const before = (await commands()).length;
    const batch = await plant.runBatch({ masterRecipeRef: 'starts' });
    await plant.until(batch, 'Held');
    const { blockedBecause } = await plant.batch(batch);
    t.match(blockedBecause, why, what);
    const [record] = await commands();
    t.match(record, { result: 'Rejected', details: { command: 'Start' } });
    t.equal((await commands()).length, before + 1);
    await plant.command(batch, 'Abort');
    await plant.until(batch, 'Aborted');
  };
  await held(/does not enable Start: it is Completed and enables Reset, Stop, Abort/, 'a state that does not let it');
  await plant.recipeOf('resets', phaseOf([[`MTP_COMMAND('dosing/Dose', 'Reset'); ${until('Idle')}`, '']]));
  await plant.until(await plant.runBatch({ masterRecipeRef: 'resets' }), 'Complete');
  await peer.tell({ service: 'Dose', mode: 'Offline' });
  await held(/operation mode Offline/, 'a module that is off line');
  await peer.tell({ service: 'Dose', mode: 'Internal' });
  await held(/source mode Internal/, 'a module that commands by itself');
  await peer.tell({ service: 'Dose', mode: 'Automatic' });
  t.equal((await service()).state, 'Idle', 'nothing has come to it');
});

t.test('MTP-02: a service in Operator is commanded as an operator does', async (t) => {
  await peer.tell({ service: 'Dose', mode: 'Operator' });
  await plant.recipeOf(
    'by-hand',
    phaseOf([
      [`MTP_COMMAND('dosing/Dose', 'Start', procedure := 1); ${until('Execute')}`, ''],
      [`MTP_COMMAND('dosing/Dose', 'Stop'); ${until('Stopped')}`, ''],
      [`MTP_COMMAND('dosing/Dose', 'Reset'); ${until('Idle')}`, ''],
    ]),
  );
  await plant.until(await plant.runBatch({ masterRecipeRef: 'by-hand' }), 'Complete');
  t.match(await service(), { operationMode: 'Operator' });
  await peer.tell({ service: 'Dose', mode: 'Automatic' });
});

t.test('MTP-02: a module that takes no notice keeps no command of a phase that was aborted; one that is gone holds the phase', async (t) => {
  await peer.tell({ service: 'Dose', isDeaf: true });
  const deaf = await plant.runBatch({ masterRecipeRef: 'starts' });
  const stands = () => peer.tell({ get: 'Dose.CommandExt' });
  await plant.look('the command word stands in the module', async () => {
    const word = await stands();
    return { done: word === 4 || undefined, seen: String(word) };
  });
  await plant.command(deaf, 'Abort');
  await plant.until(deaf, 'Aborted');
  const [taken] = await plant.look('the command is settled', async () => {
    const found = await commands();
    return { done: found[0]?.rule === 'mtp-command-withdrawn' ? found : undefined, seen: JSON.stringify(found[0]) };
  });
  t.match(taken, {
    result: 'Rejected',
    details: { command: 'Start', message: /had not accepted Start \(it is Idle\) when its phase was held or waited no more; CommandExt was set back to 0/ },
  });
  t.equal(await stands(), 0, 'a module that wakes up does not start');
  await peer.kill();
  const gone = await plant.runBatch({ masterRecipeRef: 'starts' });
  await plant.until(gone, 'Held');
  t.match((await plant.batch(gone)).blockedBecause, /StateCur is Bad: /);
  await plant.look('the state is not known any more', async () => {
    const seen = await service();
    return { done: (seen.state === '' && seen.commandEnable.length === 0) || undefined, seen: JSON.stringify(seen) };
  });
});
