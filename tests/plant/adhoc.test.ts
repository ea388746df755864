/** Ad-hoc execution on the demonstration plant: phases, operations and unit procedures without a batch (contract 3, Ad-hoc rules). */
import t from 'tap';
import { SITE, startPlant } from '../support/plant.js';
import { at } from '../support/at.js';

const plant = await startPlant();
t.teardown(() => plant.end());

const UNIT = `${SITE}/units/rx101`;
const LISTS = { Phase: 'phases', Operation: 'operations', UnitProcedure: 'unitprocedures' } as const;
type Kind = keyof typeof LISTS;
const REASON = 'asked for by the test';

const HEAT = { phaseTemplateRef: 'heat', parameterValues: [{ name: 'target', value: '30' }] };

const launch = (what: string, body: object) => plant.api.post(`${UNIT}/execute-${what}`, body);
const element = async (kind: Kind, name: string) => (await plant.api.get(`${SITE}/${LISTS[kind]}/${name}`)).body;
const command = (kind: string, name: string, word: string) => plant.api.post(`${SITE}/command`, { kind, name, command: word, reason: REASON });

function until(kind: Kind, name: string, state: string) {
  return plant.look(`${kind} ${name} is ${state}`, async () => {
    const body = await element(kind, name);
    return { done: body.state === state ? body : undefined, seen: `it is ${body.state}: ${body.blockedBecause} ${JSON.stringify(body.failure ?? '')}` };
  });
}

/** The unit follows the root of its work at the next look of the controller. */
function unitIs(state: string) {
  return plant.look(`rx101 is ${state}`, async () => {
    const body = await plant.unit('rx101');
    return { done: body.state === state ? body : undefined, seen: body.state };
  });
}

/** The unit is nobody's and Idle again. */
async function reset(kind: Kind, name: string): Promise<void> {
  const answer = await command(kind, name, 'Reset');
  await plant.audit(answer);
  await plant.look('rx101 is Idle', async () => {
    const { state, allocatedTo } = await plant.unit('rx101');
    return { done: (state === 'Idle' && allocatedTo === '') || undefined, seen: `${state} ${allocatedTo}` };
  });
}

t.test('ADHOC-01, ADHOC-05, ADHOC-11, ADHOC-12, ADHOC-13: a phase runs as a parentless root that has the unit until it is final', async (t) => {
  const answer = await launch('phase', {
    ...HEAT,
    parameterValues: [
      { name: 'target', value: '90' }, // far enough that it still heats when it is held
      { name: 'nobodyDeclaredThis', value: '1' },
    ],
  });
  t.match(answer, { status: 201, body: { kind: 'Phase', unit: 'rx101', state: 'Idle', templateRef: 'heat', auditRecordRef: /^audit-/ } }, answer.text);
  const { name, auditRecordRef } = answer.body;
  t.match((await plant.api.get(`${SITE}/audit/${auditRecordRef}`)).body, { action: 'Execute', category: 'adhoc-phase', result: 'Success', target: { kind: 'Phase', name } });
  await until('Phase', name, 'Running');
  t.match(await unitIs('Running'), { allocatedTo: name, activeWork: { kind: 'Phase', name, batchRef: '' } });
  const body = await element('Phase', name);
  t.match(body, { adhoc: true, parent: null, batch: '', labels: { 'lineside.io/adhoc': 'true', 'lineside.io/source-template': 'heat' } });
  t.match(
    body.spec.parameterValues.find((value: { name: string }) => value.name === 'target'),
    { value: '90', source: 'override', sourceRef: 'launch' },
  );
  t.notOk(body.spec.parameterValues.some((value: { name: string }) => value.name === 'nobodyDeclaredThis'));
  t.same(
    (await plant.api.get(`${SITE}/phases?adhoc=true`)).body.map((item: { name: string }) => item.name),
    [name],
  );
  t.match(await launch('phase', HEAT), { status: 409, body: { code: 'unit_not_idle', holder: name } });
  const batch = await plant.createBatch();
  t.match((await plant.audit(await plant.command(batch, 'Start')))[1], { result: 'Rejected', rule: 'allocation-unavailable' });

  const hold = await command('Phase', name, 'Hold');
  t.equal(hold.status, 200, 'Q-CMD-05: recorded on the root');
  t.match(await plant.audit(hold), [{ result: 'Accepted' }, { result: 'Success', component: 'batch-controller', target: { kind: 'Phase', name } }]);
  await until('Phase', name, 'Held');
  t.match((await plant.audit(await command('Phase', name, 'Pause')))[1], { result: 'Rejected', rule: 'not-running' });
  t.match(await element('Phase', name), { commandRejection: { command: 'Pause', rule: 'not-running' }, conditions: [{ type: 'CommandRejected' }] });
  t.equal((await command('Phase', name, 'Restart')).status, 200);
  await until('Phase', name, 'Running');
  t.notOk((await element('Phase', name)).commandRejection, 'the next accepted command removes the rejection');
  await command('Phase', name, 'Stop');
  await until('Phase', name, 'Stopped');
  t.match(await unitIs('Stopped'), { allocatedTo: '', activeWork: null });
  t.match(
    await launch('phase', HEAT),
    { status: 409, body: { code: 'unit_not_idle', state: 'Stopped', error: `unit rx101 is Stopped; an ad-hoc run needs an Idle unit: Reset Phase ${name} first` } },
    'ADHOC-05: the unit has to be Idle',
  );
  await reset('Phase', name);
  t.match((await plant.audit(await command('Phase', name, 'Start')))[1], { result: 'Rejected', rule: 'unit-not-allocated' });
});

t.test('ADHOC-02, ADHOC-07, ADHOC-09, ADHOC-10, ADHOC-15: an operation with its phases; only the root is commanded', async (t) => {
  const plain = await launch('operation', { operationTemplateRef: 'clean-reactor' });
  t.match(plain, { status: 201, body: { kind: 'Operation' } }, plain.text);
  const { name } = plain.body;
  const running = await until('Operation', name, 'Running');
  t.equal(running.spec.timeoutSeconds, 0, 'there is no default budget above the phase');
  const [child] = running.children;
  t.match(child, { kind: 'Phase', stepName: 'rinse' });
  t.match(await command('Phase', child.name, 'Hold'), {
    status: 400,
    body: { code: 'wrong_command_target', error: `Phase ${child.name} is part of an ad-hoc run; command Operation ${name} instead`, commandInstead: { kind: 'Operation', name } },
  });
  t.match(await command('Unit', 'rx101', 'Hold'), { status: 400, body: { commandInstead: { kind: 'Operation', name } } });
  await until('Operation', name, 'Complete');
  t.match(await element('Phase', child.name), { state: 'Complete', adhoc: true, parent: { kind: 'Operation', name } });
  await reset('Operation', name);
  t.equal((await element('Phase', child.name)).state, 'Idle');

  const brief = await launch('operation', { operationTemplateRef: 'clean-reactor', timeoutSeconds: 1 });
  const held = await until('Operation', brief.body.name, 'Held');
  t.match(held, { spec: { timeoutSeconds: 1 }, failure: { rule: 'element-timeout', class: 'hold' } });
  await command('Operation', brief.body.name, 'Abort');
  await until('Operation', brief.body.name, 'Aborted');
  await reset('Operation', brief.body.name);

  t.match(await launch('operation', { operationTemplateRef: 'react-resin' }), { status: 400, body: { code: 'template_category', field: 'operationTemplateRef' } });
});

t.test('decisions 1.1: the elements of an ad-hoc run belong to its root: they are deleted with it, and only with it', async (t) => {
  const remove = (kind: Kind, which: string) => plant.api.delete(`${SITE}/${LISTS[kind]}/${which}`);
  const { name } = (await launch('unitprocedure', { unitProcedureTemplateRef: 'clean-reactor-up', reason: 'deleted afterwards' })).body;
  const running = await until('UnitProcedure', name, 'Running');
  t.match(await remove('UnitProcedure', name), { status: 409, body: { code: 'element_active' } });
  const operations = running.children as { name: string }[];
  const phases = (await Promise.all(operations.map((operation) => element('Operation', operation.name)))).flatMap((operation) => operation.children as { name: string }[]);
  t.ok(operations.length > 0 && phases.length > 0, 'it has elements on two levels');
  await until('UnitProcedure', name, 'Complete');
  t.match(await unitIs('Complete'), { allocatedTo: '' });
  t.match(await remove('Operation', at(operations, 0).name), { status: 409, body: { code: 'element_owned' } });
  const gone = await remove('UnitProcedure', name);
  t.equal(gone.status, 204, gone.text);
  t.match(await plant.audit(gone, 1), [{ action: 'Delete', result: 'Success', target: { kind: 'UnitProcedure', name } }], 'one record for the whole tree, as for a batch');
  for (const operation of operations) t.equal((await plant.api.get(`${SITE}/operations/${operation.name}`)).status, 404);
  for (const phase of phases) t.equal((await plant.api.get(`${SITE}/phases/${phase.name}`)).status, 404);
  t.equal((await plant.unit('rx101')).state, 'Idle', 'nobody is left who could be given Reset');
});

t.test('ADHOC-08: the budget of a phase bounds one run of its chart and fails it', async (t) => {
  const { name } = (await launch('phase', { ...HEAT, parameterValues: [{ name: 'target', value: '90' }], timeoutSeconds: 2 })).body;
  t.match(await until('Phase', name, 'Aborted'), { failure: { rule: 'phase-timeout', class: 'fail' } });
  await reset('Phase', name);
});

t.test('ADHOC-03, ADHOC-06: a unit procedure with its operations and phases', async (t) => {
  const answer = await launch('unitprocedure', { unitProcedureTemplateRef: 'clean-reactor-up', reason: 'rinsed after the tests' });
  t.match(answer, { status: 201, body: { kind: 'UnitProcedure' } }, answer.text);
  const { name } = answer.body;
  await until('UnitProcedure', name, 'Complete');
  t.match(await plant.unit('rx101'), { allocatedTo: '', state: 'Complete' });
  await reset('UnitProcedure', name);
  t.equal((await launch('procedure', { procedureTemplateRef: 'clean-train' })).status, 404, 'procedures are not run ad hoc');
});

t.test('Q-RECIPE-24: what is wrong is named, and nothing is created', async (t) => {
  t.equal((await plant.api.post(`${SITE}/units/nobody/execute-phase`, HEAT)).status, 404);
  t.match(await launch('phase', { phaseTemplateRef: 'nothing' }), { status: 400, body: { code: 'unknown_reference', field: 'phaseTemplateRef' } });
  t.match(await launch('phase', { ...HEAT, parameterValues: [{ name: 'target', value: 'warm' }] }), {
    status: 400,
    body: { code: 'invalid_field', field: 'parameterValues[0].value' },
  });
  t.match(await launch('phase', { ...HEAT, timeoutSeconds: -1 }), { status: 400, body: { field: 'timeoutSeconds' } });
  t.match(await plant.api.post(`${SITE}/units/mx101/execute-phase`, HEAT), { status: 409, body: { code: 'binding_violation' } }, 'Q-RECIPE-26');
  t.equal((await plant.unit('rx101')).allocatedTo, '');
});

t.test('decisions 3.8: an ad-hoc run that ran when the appliance went down is held with its unit, and goes on', async (t) => {
  const { name } = (await launch('operation', { operationTemplateRef: 'clean-reactor' })).body;
  await until('Operation', name, 'Running');
  await plant.restart();
  await until('Operation', name, 'Held');
  t.equal((await plant.unit('rx101')).allocatedTo, name);
  await command('Operation', name, 'Restart');
  await until('Operation', name, 'Complete');
});
