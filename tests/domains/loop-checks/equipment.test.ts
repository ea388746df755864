/** Equipment in the hand of a loop check: a person may stand at its device, so nothing begins there until he has ended the check (ADR 0098). */
import t from 'tap';
import { eventually } from '../../support/api-client.js';
import { FieldDevice, FULL } from '../../support/field-device.js';
import { begun, type Body, CHECK, LIST, LIVE, NORTH, PATIENT, QUICK, read, served, stepped, untilSealed } from '../../support/loop-checked.js';
import { manifest } from '../../support/manifest.js';
import { startPlant } from '../../support/plant.js';

const device = await FieldDevice.start();
const box = await startPlant({ production: true, environment: LIVE });
t.teardown(async () => {
  await box.end();
  await device.kill();
});
await served(box, device.address, PATIENT);

/** Of a phase that runs until it is stopped. */
const ENDLESS = { steps: [{ name: 'on', initial: true }, { name: 'never' }], transitions: [{ from: 'on', to: 'never', conditionST: 'FALSE' }] };
const phase = { name: 'phase', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'endless' };
const operation = { name: 'op', stepLevel: 'Operation', subChart: { steps: [phase] } };
const procedure = { chart: { steps: [{ name: 'up', stepLevel: 'UnitProcedure', targetCapability: 'tank', subChart: { steps: [operation] } }] } };
const recipe = (allocation: string) => ({ equipmentRequirements: [{ capability: 'tank', defaultUnit: 'tank' }], procedure, allocation });
const valve = {
  moduleType: 'control-valve',
  tags: [{ name: 'out', dataType: 'Float', accessLevel: 'readwrite', blockRef: 'ao', portRef: 'IN', engMin: '0', engMax: '100' }],
  blocks: [{ name: 'ao', type: 'AO', params: { addr: '', rawMin: 0, rawMax: FULL, outMin: 0, outMax: 100 } }],
};
const valveOf = (name: string, unit: string, addr: string) =>
  manifest('ControlModule', name, { parentKind: 'Unit', parentName: unit, templateRef: 'valve', paramOverrides: [{ blockRef: 'ao', param: 'addr', value: addr }] });

const applied = await box.api.post('/api/v1/apply', [
  manifest('Area', 'hall'),
  manifest('ProcessCell', 'line', { areaName: 'hall' }),
  manifest('Unit', 'tank', { processCellName: 'line', capabilities: ['tank'] }),
  manifest('Unit', 'other', { processCellName: 'line' }),
  manifest('ControlModuleTemplate', 'valve', valve, {}),
  valveOf('fv', 'tank', 'plc:v1'),
  manifest('PhaseTemplate', 'endless', ENDLESS),
  manifest('MasterRecipe', 'at-once', recipe('AtStart')),
  manifest('MasterRecipe', 'in-turn', recipe('OnDemand')),
]);
if (applied.status !== 200) throw new Error(applied.text);

const mode = (word: string) => box.api.post(`${NORTH}/mode`, { kind: 'ControlModule', name: 'fv', mode: word });
const start = (name: string) => box.api.post(`${NORTH}/command`, { kind: 'Batch', name, command: 'Start', reason: 'asked for by the test' });
const batch = async (name: string): Promise<Body> => (await box.api.get(`${NORTH}/batches/${name}`)).body;
const unit = async (name: string): Promise<Body> => (await box.api.get(`${NORTH}/units/${name}`)).body;

async function batchOf(masterRecipeRef: string): Promise<string> {
  const { status, text, body } = await box.api.post(`${NORTH}/batches`, { batchID: masterRecipeRef.toUpperCase(), masterRecipeRef });
  if (status !== 201) throw new Error(text);
  return body.name;
}

const SAYS = /^outputs of (unit tank|control module fv) are in loop check plc-\S+ of I\/O module plc, which .+ conducts; somebody may stand at the device: abort the check first$/;

t.test('ADR 0098: a run, a batch, and Automatic are refused while a loop check has outputs of theirs; the check goes on, and once it is aborted they begin', async (t) => {
  await eventually('both units are ready', async () => (await Promise.all(['tank', 'other'].map(unit))).every(({ runtimeReady }) => runtimeReady));
  t.equal((await mode('Manual')).status, 200);
  await eventually('logic commands the output', async () => device.writes.some(({ offset, table }) => offset === 0 && table === 'holding'));
  const { id } = await begun(box, { ...QUICK, channels: ['v1'], attendTimeout: '5m' });
  await stepped(box, id, 3);
  t.equal(device.holding[0], FULL / 2);

  const refused = { status: 409, body: { code: 'under_loop_check', loopCheck: id, ioModule: 'plc', error: SAYS } };
  t.match(await box.api.post(`${NORTH}/units/tank/execute-phase`, { phaseTemplateRef: 'endless' }), refused);
  t.match(await mode('Automatic'), refused);
  t.equal((await mode('Semi-Automatic')).status, 200, 'which no check is barred by');
  t.equal((await mode('Manual')).status, 200);
  const atOnce = await batchOf('at-once');
  const preflight = (await box.api.post(`${NORTH}/batches/preflight`, { batch: atOnce })).body;
  t.match(
    preflight.checks.filter(({ ok, element }: Body) => !ok && element === 'tank'),
    [{ check: 'equipment', severity: 'error', message: SAYS, liftedBy: { tier: 'operate', action: `abort loop check ${id}, or wait until it is through` } }],
    'whoever looks before he starts is told',
  );
  await start(atOnce);
  const rejected = await eventually('Start is judged', async () => (await batch(atOnce)).commandRejection ?? undefined);
  t.match(rejected, { rule: 'under-loop-check', message: SAYS });
  t.equal((await batch(atOnce)).phase, 'Pending');
  const inTurn = await batchOf('in-turn');
  await start(inTurn);
  t.match(await eventually('the batch waits for its unit', async () => SAYS.test((await batch(inTurn)).blockedBecause.replace(/^.* waits: /, '')) && batch(inTurn)), {
    phase: 'Running',
  });

  const elsewhere = await box.api.post(`${NORTH}/units/other/execute-phase`, { phaseTemplateRef: 'endless' });
  t.equal(elsewhere.status, 201, `a unit that the check does not touch: ${elsewhere.text}`);
  t.match(await read(box, id), { phase: 'Running', end: null, next: { step: 4, isWaiting: true } }, 'the check has seen nothing of all that');
  t.equal(device.holding[0], FULL / 2);

  t.equal((await box.api.post(`${LIST}/${id}/abort`, { reason: 'the batch goes first' })).status, 200);
  await untilSealed(box, id);
  await eventually('the batch that has waited has its unit', async () => (await unit('tank')).allocatedTo === inTurn);
  t.equal((await mode('Automatic')).status, 200);
  t.match(await box.api.post(CHECK, { ...QUICK, channels: ['v1'] }), { status: 409, body: { code: 'active_batch' } });
});
