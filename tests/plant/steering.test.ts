/** Active steps changed by hand on the running plant, and what a command would do (ADR 0007; decisions 3.7, 3.9). */
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { isSignatureValid } from '../../src/domains/signatures/signature.js';
import type { SignedRecord } from '../../src/domains/signatures/kind.js';
import { openDeviceKeys } from '../../src/platform/ledger/keys.js';
import { SITE, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());

const REASON = 'asked for by the test';
const mode = (kind: string, name: string, word: string) => plant.api.post(`${SITE}/mode`, { kind, name, mode: word });
const steer = (list: string, name: string, body: object) => plant.api.post(`${SITE}/${list}/${name}/active-step`, { reason: REASON, ...body });

/** The element once it is as wanted. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
function until(list: string, name: string, what: string, wanted: (body: any) => boolean): Promise<any> {
  return plant.look(`${name} ${what}`, async () => {
    const { body } = await plant.api.get(`${SITE}/${list}/${name}`);
    return { done: wanted(body) ? body : undefined, seen: `it is ${body.state} in ${body.sfcStatus?.activeSteps}: ${body.blockedBecause}` };
  });
}

async function launchHeat(target: string): Promise<string> {
  const answer = await plant.api.post(`${SITE}/units/rx101/execute-phase`, { phaseTemplateRef: 'heat', parameterValues: [{ name: 'target', value: target }] });
  t.equal(answer.status, 201, answer.text);
  return answer.body.name;
}

/** What is led by hand lasts until the hand is there: on a busy machine a charge of some seconds is over between two requests. */
async function pace(timeScale: number): Promise<void> {
  const answer = await plant.api.post('/api/v1/demo/timescale', { timeScale });
  t.equal(answer.status, 200, answer.text);
}
const [SLOW, FAST] = [1, 5];

const inStep = (step: string) => (body: { readonly sfcStatus?: { readonly activeSteps: readonly string[] } }) => body.sfcStatus?.activeSteps.includes(step) ?? false;

t.test('a phase: says what it waits for with the values of now, and is led on by hand in Manual, signed and on record', async (t) => {
  const name = await launchHeat('90');
  const waits = await until('phases', name, 'is in ramp', inStep('ramp'));
  t.match(waits.blockedBy, [
    {
      reason: 'condition',
      element: { kind: 'Phase', name, unit: 'rx101' },
      step: 'ramp',
      transition: 'ramp->done#2',
      conditions: [{ expression: "ABS(target - READ('temp.pv')) <= tolerance", met: false, now: /^[\d.]+ <= 1$/ }],
    },
  ]);
  t.match(waits.blockedBecause, /step ramp: ABS\(target - READ\('temp\.pv'\)\) <= tolerance, now [\d.]+ <= 1$/);
  const later = await until('phases', name, 'tells another temperature', (body) => body.blockedBecause !== waits.blockedBecause);
  t.equal(later.sfcStatus.scanCount, waits.sfcStatus.scanCount, 'the values of now, although the chart has reported nothing while it waits');

  t.match(await steer('phases', 'nobody', { change: 'force', transition: 'ramp->done#2' }), { status: 404 });
  t.match(await steer('phases', name, { change: 'force', transition: 'ramp->done#2' }), { status: 409, body: { code: 'not_manual', mode: 'Automatic' } });
  t.equal((await mode('Phase', name, 'Manual')).status, 200);
  const nowOf = (body: {
    readonly sfcStatus: { readonly transitionStates: readonly { readonly index: number; readonly subConditions: readonly { readonly now?: string }[] }[] };
  }) => body.sfcStatus.transitionStates.find(({ index }) => index === 2)?.subConditions[0]?.now;
  const { body: stood } = await plant.api.get(`${SITE}/phases/${name}`);
  t.match(nowOf(stood), /^[\d.]+ <= 1$/);
  await until('phases', name, 'shows in Manual what its transition waits for now', (body) => nowOf(body) !== nowOf(stood));
  t.match(await steer('phases', name, { change: 'force', transition: 'ramp->end#9' }), { status: 400, body: { code: 'unknown_transition', field: 'transition' } });
  t.match(await steer('phases', name, { change: 'activate', step: 'rampe' }), { status: 400, body: { code: 'unknown_step', field: 'step' } });
  t.match(await steer('phases', name, { change: 'activate' }), { status: 400, body: { code: 'missing_field', field: 'step' } });
  t.match(await steer('phases', name, { change: 'force', step: 'ramp', transition: 'ramp->done#2' }), { status: 400, body: { field: 'step' } });
  t.match(await steer('phases', name, { change: 'force', transition: 'agitate->start#0' }), { status: 409, body: { code: 'transition_not_enabled' } });
  t.match(await steer('phases', name, { change: 'deactivate', step: 'ramp' }), { status: 409, body: { code: 'last_active_step' } });
  t.match(await steer('phases', name, { change: 'activate', step: 'start', leave: ['ramp'], reason: 'why' }), { status: 400, body: { code: 'reason_too_short' } });

  const back = await steer('phases', name, { change: 'activate', step: 'start', leave: ['ramp'] });
  t.match(back, { status: 200, body: { ok: true, kind: 'Phase', name, change: 'activate', step: 'start', leave: ['ramp'], signature: /^[0-9a-f]{64}$/ } }, back.text);
  const [record] = await plant.audit(back, 1);
  t.match(record, {
    action: 'Execute',
    category: 'active-step',
    result: 'Success',
    operatorReason: REASON,
    target: { kind: 'Phase', name },
    details: { change: 'activate', step: 'start', activeSteps: ['ramp'] },
    signature: { meaning: 'active-step-change', reason: REASON, content: { step: 'start', leave: ['ramp'], activeSteps: ['ramp'] } },
  });
  t.ok(isSignatureValid(record.signature as SignedRecord, { ...openDeviceKeys(plant.dataDir), algorithm: 'Ed25519', authMode: 'none' }), 'the signature verifies');
  const manual = await until('phases', name, 'is in start again and waits for a hand', (body) => inStep('start')(body) && body.blockedBy[0]?.reason === 'manual');
  t.match(manual, { state: 'Running', mode: 'Manual', blockedBy: [{ reason: 'manual', step: 'start', transition: 'start->ramp#1' }] });
  t.equal((await steer('phases', name, { change: 'activate', step: 'done', leave: ['start'] })).status, 200);
  await until('phases', name, 'is Complete', (body) => body.state === 'Complete');
  t.match(await steer('phases', name, { change: 'activate', step: 'start' }), { status: 409, body: { code: 'final_state', state: 'Complete' } });
});

t.test('a procedural chart: a step is skipped, its phase is stopped; the record of the batch tells who, what and why', async (t) => {
  await pace(SLOW);
  const batch = await plant.runBatch();
  const charge = await plant.look('the premix is charged', async () => {
    const found = (await plant.phases(batch)).find((phase) => phase.stepPath === 'prepare/premix/charge');
    return { done: found?.state === 'Running' ? found : undefined, seen: found?.state };
  });
  const operation = charge.parent.name as string;
  const { body: told } = await plant.api.get(`${SITE}/operations/${operation}`);
  t.match(told.sfcStatus, {
    activeSteps: ['charge'],
    completedSteps: [],
    firedTransitions: [],
    held: false,
    activeChart: 'running',
    transitionStates: [
      { index: 0, fromStep: 'charge', toStep: 'mix', conditionST: '', evaluated: false, met: false, result: 'FALSE', reason: 'step charge has not completed', subConditions: [] },
    ],
  });
  t.notOk('sfcStatus' in (await plant.api.get(`${SITE}/operations`)).body[0], 'lists omit it');
  t.match(await steer('operations', operation, { change: 'force', transition: 'charge->mix#0' }), { status: 409, body: { code: 'not_manual', mode: 'Automatic' } });
  t.equal((await mode('Operation', operation, 'Manual')).status, 200);
  t.match(await steer('operations', operation, { change: 'force', transition: 'charge->away#0' }), { status: 400, body: { code: 'unknown_transition' } });
  t.match(await steer('operations', operation, { change: 'deactivate', step: 'charge' }), { status: 409, body: { code: 'last_active_step' } });
  const answer = await steer('operations', operation, { change: 'activate', step: 'mix', leave: ['charge'] });
  t.match(answer, { status: 200, body: { kind: 'Operation', name: operation } }, answer.text);
  await until('phases', charge.name, 'is Stopped', (body) => body.state === 'Stopped');
  const mix = await plant.untilPhase(batch, 'mix', 'Running');
  t.equal(mix.parent.name, operation);
  t.match((await plant.api.get(`${SITE}/operations/${operation}`)).body.sfcStatus, { activeSteps: ['mix'], completedSteps: ['charge'], firedTransitions: [] });
  t.match(await steer('operations', operation, { change: 'force', transition: 'charge->mix#0' }), { status: 409, body: { code: 'transition_not_enabled' } });
  t.match(
    (await plant.events(batch)).find((event) => event.eventSubType === 'Modification'),
    {
      eventType: 'Procedural Execution',
      element: { kind: 'Operation', name: operation },
      value: 'activate mix, leave charge',
      previousValue: 'charge',
      message: REASON,
      person: {},
    },
  );
  await pace(FAST);
  await plant.command(batch, 'Abort');
  const { recordRef } = await plant.look('the record is made', async () => {
    const body = await plant.batch(batch);
    return { done: body.recordRef ? body : undefined, seen: body.phase };
  });
  const made = await plant.look('the record is there', async () => {
    const { body } = await plant.api.get(`${SITE}/batchrecords/${recordRef}`);
    return { done: body.phase && body.phase !== 'Pending' ? body : undefined, seen: body.phase };
  });
  t.match(
    made.spec.operatorActions.find((action: { readonly action: string }) => action.action === 'ActiveStepChange'),
    {
      element: { kind: 'Operation', name: operation },
      signed: true,
      meaning: 'active-step-change',
      reason: REASON,
      value: 'activate mix, leave charge',
    },
  );
});

t.test('the levels above the phase: a person sees what a transition waits for, and fires it; each level tells where it stands', async (t) => {
  await pace(SLOW);
  const batch = await plant.runBatch();
  const above = { procedures: batch, unitprocedures: `${batch}-prepare`, operations: `${batch}-prepare-premix` };
  await until('procedures', above.procedures, 'has begun', (body) => body.sfcStatus?.activeSteps.length === 3);
  t.match((await plant.api.get(`${SITE}/procedures/${batch}`)).body.sfcStatus, { activeSteps: ['prepare', 'makeResin', 'store'], transitionStates: [] });
  await until('unitprocedures', above.unitprocedures, 'is in premix', inStep('premix'));
  const charging = await until('operations', above.operations, 'is in charge', inStep('charge'));
  t.equal((await mode('Operation', above.operations, 'Manual')).status, 200);
  t.match(await steer('procedures', batch, { change: 'deactivate', step: 'nowhere' }), { status: 400, body: { code: 'unknown_step' } });
  await pace(FAST);
  const ready = await until('operations', above.operations, 'waits for a hand', (body) => body.sfcStatus.transitionStates[0]?.met === true);
  t.match(ready, {
    state: 'Running',
    mode: 'Manual',
    sfcStatus: { activeSteps: ['charge'], transitionStates: [{ index: 0, evaluated: true, met: true, result: 'TRUE' }] },
    blockedBy: [{ reason: 'manual', transition: 'charge->mix#0' }],
  });
  t.match(Object.keys(ready.sfcStatus.variableSnapshot), ['charge.charged'], 'and what its conditions may read');
  t.notOk('charge.charged' in charging.sfcStatus.variableSnapshot && charging.sfcStatus.variableSnapshot['charge.charged'] === ready.sfcStatus.variableSnapshot['charge.charged']);
  await pace(SLOW);
  t.equal((await steer('operations', above.operations, { change: 'force', transition: 'charge->mix#0' })).status, 200);
  const moved = await until('operations', above.operations, 'is in mix', inStep('mix'));
  t.match(moved.sfcStatus, { completedSteps: ['charge'], firedTransitions: ['charge->mix#0'] });
  await plant.command(batch, 'Hold');
  t.match(await until('operations', above.operations, 'is Held', (body) => body.state === 'Held'), { sfcStatus: { held: true, activeSteps: ['mix'] } });
  await pace(FAST);
  await plant.command(batch, 'Abort');
  const over = await until('operations', above.operations, 'is Aborted', (body) => body.state === 'Aborted');
  t.match(over.sfcStatus, { held: false, transitionStates: [] });
  await plant.until(batch, 'Aborted');
});

t.test('decisions 3.7: a phase in Manual takes the levels above it along; the batch says which and why, and one request that names them takes them back', async (t) => {
  await pace(SLOW);
  const batch = await plant.runBatch();
  const { name, stepPath } = await plant.look('the premix is charged', async () => {
    const found = (await plant.phases(batch)).find((phase) => phase.stepPath === 'prepare/premix/charge');
    return { done: found?.state === 'Running' ? found : undefined, seen: found?.state };
  });
  const { body: before } = await plant.api.get(`${SITE}/phases/${name}`);
  const named = before.levelsAbove.map(({ kind, name: level }: { kind: string; name: string }) => ({ kind, name: level }));
  t.same(
    named.map(({ kind }: { kind: string }) => kind),
    ['Operation', 'UnitProcedure', 'Procedure'],
    'the way up',
  );
  t.ok(
    before.levelsAbove.every(({ mode: word }: { mode: string }) => word === 'Automatic'),
    before.levelsAbove,
  );
  t.same((await plant.batch(batch)).inManual, []);

  const manual = await mode('Phase', name, 'Manual');
  t.match(manual, { status: 200, body: { mode: 'Manual', levels: named.map((level: object) => ({ ...level, previousMode: 'Automatic' })), stillManual: [] } }, manual.text);
  t.match(manual.body.message, /^Phase .+ is in Manual, and with it the levels above it: Operation .+, UnitProcedure .+, Procedure .+\. None of them goes back by itself$/);
  t.match((await plant.audit(manual, 1))[0], { details: { levels: named } }, 'the record of the deed names them');
  const because = { kind: 'Phase', name, path: stepPath };
  const { inManual } = await plant.batch(batch);
  t.match(
    inManual,
    [...named.toReversed(), { kind: 'Phase', name }].map((level) => ({ ...level, mode: 'Manual', manual: { because } })),
    'from the procedure down, each with its cause',
  );

  const back = await mode('Phase', name, 'Automatic');
  t.match(back.body, { mode: 'Automatic', levels: [], stillManual: named }, 'nothing goes back by itself');
  t.match(
    back.body.message,
    /^Phase .+ is in Automatic; above it still in Manual: Operation .+, UnitProcedure .+, Procedure .+\. What is in Manual fires no transition: set these back too$/,
  );
  await pace(FAST);
  const stands = await plant.look('the batch stands in Manual', async () => {
    const body = await plant.batch(batch);
    const blocker = body.blockedBy.find(({ reason }: { reason: string }) => reason === 'manual');
    return { done: blocker, seen: body.blockedBecause };
  });
  t.match(stands.text, /is in Manual before .+; it fires by hand only: a lead operator touches it in the chart on the panel .+, or sets Operation .+ back to Automatic$/);
  t.match((await plant.api.get(`${SITE}/operations/${named[0].name}`)).body, { manual: { because }, mode: 'Manual' });

  await pace(SLOW);
  const other = await mode('Operation', named[0].name, 'Automatic').then(() =>
    plant.api.post(`${SITE}/mode`, { kind: 'Operation', name: named[0].name, mode: 'Manual', also: [{ kind: 'Phase', name: 'nobody' }] }),
  );
  t.match(other, { status: 400, body: { code: 'unknown_reference', field: 'also[0]' } }, 'one that is not there changes nothing');
  t.match(
    await plant.api.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'xv105', mode: 'Manual', also: named }),
    { status: 400, body: { field: 'also[0]' } },
    'levels are of elements',
  );
  t.match(await plant.api.post(`${SITE}/mode`, { ...named[0], mode: 'Manual', also: [{ kind: 'ControlModule', name: 'xv105' }] }), { status: 400, body: { field: 'also[0]' } });
  t.match((await plant.batch(batch)).inManual, named.slice(1).toReversed(), 'the operation went by itself, the others stay');
  const [unitProcedure, procedure] = named.slice(1);
  const all = await plant.api.post(`${SITE}/mode`, { ...unitProcedure, mode: 'Automatic', also: [procedure] });
  t.match(all.body, {
    mode: 'Automatic',
    levels: [{ ...procedure, previousMode: 'Manual' }],
    stillManual: [],
    message: /^UnitProcedure .+ is in Automatic, and so are Procedure .+$/,
  });
  t.same((await plant.batch(batch)).inManual, []);

  const { kind, name: beside } = await plant.look('another branch has a phase', async () => {
    const found = (await plant.phases(batch)).find((phase) => !phase.stepPath.startsWith('prepare/'));
    return { done: found && { kind: 'Phase', name: found.name as string }, seen: 'none' };
  });
  const above: { kind: string; name: string }[] = (await plant.api.get(`${SITE}/phases/${beside}`)).body.levelsAbove;
  const ofBranch = above.filter((level) => level.kind !== 'Procedure').map((level) => ({ kind: level.kind, name: level.name }));
  t.ok(ofBranch.length > 0);
  const both = await plant.api.post(`${SITE}/mode`, { kind: 'Phase', name, mode: 'Manual', also: [{ kind, name: beside }] });
  t.match(both.body.levels, { length: 1 + named.length + ofBranch.length }, 'each with the levels above it');
  const half = await plant.api.post(`${SITE}/mode`, { kind: 'Phase', name, mode: 'Automatic', also: [...named, { kind, name: beside }] });
  t.match(half.body, { stillManual: ofBranch }, 'those above the others as well');
  t.match((await plant.batch(batch)).inManual, { length: ofBranch.length });
  const [first, ...rest] = ofBranch;
  t.match((await plant.api.post(`${SITE}/mode`, { ...first, mode: 'Automatic', also: rest })).body, { stillManual: [] });
  t.same((await plant.batch(batch)).inManual, []);
  await pace(FAST);
  await until('operations', named[0].name, 'has gone on by itself', (body) => body.sfcStatus.completedSteps.includes('charge'));
  await plant.command(batch, 'Abort');
  await plant.until(batch, 'Aborted');

  const { recordRef } = await plant.look('the record is made', async () => {
    const body = await plant.batch(batch);
    return { done: body.recordRef !== '' && body.recordPending !== true ? body : undefined, seen: `${body.recordRef}: ${body.recordPending}` };
  });
  const recorded = async () => (await plant.api.get(`${SITE}/batchrecords/${recordRef}`)).body;
  const made = await recorded();
  t.match(await mode('Operation', named[0].name, 'Manual'), { status: 200, body: { previousMode: 'Automatic' } }, 'allowed in every state, also when the run has ended');
  t.match((await plant.api.get(`${SITE}/operations/${named[0].name}`)).body, { state: 'Aborted', mode: 'Manual' });
  t.same(await recorded(), made, 'what happened in the run is what it was');
});

const dry = (name: string, command: string, kind = 'Batch') => plant.api.post(`${SITE}/command`, { kind, name, command, dryRun: true });

interface Effect {
  readonly kind: string;
  readonly name: string;
  readonly path: string;
  readonly from: string;
  readonly to: string;
  readonly through?: string;
}

const LISTS: Readonly<Record<string, string>> = {
  Batch: 'batches',
  Procedure: 'procedures',
  UnitProcedure: 'unitprocedures',
  Operation: 'operations',
  Phase: 'phases',
  Unit: 'units',
};

/** Waits until every element has been where the effects say; of all at once, since none waits there for the others. */
async function come(t: Test, effects: readonly Effect[]): Promise<void> {
  const seen = await Promise.all(
    effects.map(({ kind, name, to }) =>
      plant.look(`${kind} ${name} is ${to}`, async () => {
        const { body } = await plant.api.get(`${SITE}/${LISTS[kind]}/${name}`);
        const state: string = kind === 'Batch' ? body.phase : body.state;
        return { done: state === to ? state : undefined, seen: state };
      }),
    ),
  );
  t.same(
    seen,
    effects.map(({ to }) => to),
  );
}

t.test('CMD: a dry run tells what a command would do to each element, changes nothing, and the command then does it', async (t) => {
  const batch = await plant.createBatch();
  const look = async () => JSON.stringify([(await plant.batch(batch)).resourceVersion, (await plant.unit('rx101')).resourceVersion, (await plant.events(batch)).length]);
  const before = await look();
  const start = await dry(batch, 'Start');
  t.match(start, { status: 200, body: { ok: true, kind: 'Batch', name: batch, command: 'Start', accepted: true } }, start.text);
  t.match(start.body.effects[0], { kind: 'Batch', name: batch, from: 'Pending', to: 'Running' });
  const phases = start.body.effects.filter((effect: Effect) => effect.kind === 'Phase').map((effect: Effect) => effect.path);
  t.same(phases.sort(), ['makeResin/charge/monomer', 'prepare/premix/charge', 'store/receive/receive'], 'the first phase on each unit');
  t.same(
    start.body.effects.filter((effect: Effect) => effect.kind === 'Unit').map((effect: Effect) => effect.name),
    ['mx101', 'rx101', 'tk201'],
  );
  t.match(await dry(batch, 'Hold'), { status: 200, body: { accepted: false, rule: 'not-running', message: /Hold is not possible while the batch is Pending/, effects: [] } });
  t.equal(await look(), before, 'nothing has changed');
  const id = start.headers.get('x-correlation-id');
  t.same((await plant.api.get(`${SITE}/audit/correlation/${id}`)).body, [], 'and nothing is audited');

  await pace(SLOW);
  await plant.command(batch, 'Start');
  await come(t, start.body.effects);
  const hold = await dry(batch, 'Hold');
  t.equal(hold.status, 200, 'no reason is asked for');
  const running = hold.body.effects.filter((effect: Effect) => effect.kind === 'Phase');
  t.ok(running.length > 0 && running.every((effect: Effect) => effect.from === 'Running' && effect.through === 'Holding' && effect.to === 'Held'));
  t.equal((await plant.batch(batch)).phase, 'Running');
  await plant.command(batch, 'Hold');
  await come(
    t,
    hold.body.effects.filter((effect: Effect) => effect.kind !== 'Phase'),
  );
  await pace(FAST);
  t.match((await dry(batch, 'Hold')).body, { accepted: false, rule: 'already-held' });
  const abort = await dry(batch, 'Abort');
  await plant.command(batch, 'Abort');
  await come(t, abort.body.effects);
  const { accepted, effects } = (await dry(batch, 'Reset')).body as { accepted: boolean; effects: { kind: string; to: string; through?: string }[] };
  t.ok(accepted);
  t.same(
    effects.filter(({ kind }) => kind === 'Unit').map(({ to }) => to),
    ['Idle', 'Idle', 'Idle'],
  );
  t.ok(
    effects.filter(({ kind }) => kind !== 'Unit').every(({ to, through }) => to === 'Idle' && through === 'Resetting'),
    'and the elements with them',
  );
  t.match(await dry('nobody', 'Start'), { status: 404 });
  t.match(await dry('rx101', 'Start', 'Unit'), { status: 400, body: { code: 'wrong_command_target' } });
  t.match(await dry(batch, 'Explode'), { status: 400, body: { field: 'command' } });
});

t.test('CMD: a dry run of Start names the first rule that forbids it; ad-hoc roots and command frames have dry runs too', async (t) => {
  await mode('Unit', 'rx101', 'Manual');
  const batch = await plant.createBatch();
  t.match((await dry(batch, 'Start')).body, { accepted: false, rule: 'mode-manual', message: 'unit rx101 is in Manual', effects: [] });
  t.notOk((await plant.batch(batch)).commandRejection, 'it is no rejection of the batch');
  await mode('Unit', 'rx101', 'Automatic');
  await plant.look('rx101 is free', async () => ({ done: (await plant.unit('rx101')).allocatedTo === '' || undefined, seen: '' }));
  for (const name of (await plant.api.get(`${SITE}/batches`)).body.map((item: { name: string }) => item.name)) if (name !== batch) await plant.command(name, 'Reset');
  await plant.look('rx101 is Idle', async () => ({ done: (await plant.unit('rx101')).state === 'Idle' || undefined, seen: (await plant.unit('rx101')).state }));
  const name = await launchHeat('90');
  await until('phases', name, 'is Running', (body) => body.state === 'Running');
  const stop = {
    accepted: true,
    effects: [
      { kind: 'Phase', name, from: 'Running', to: 'Stopped', through: 'Stopping' },
      { kind: 'Unit', name: 'rx101' },
    ],
  };
  t.match((await dry(name, 'Stop', 'Phase')).body, stop);
  t.match((await dry(name, 'Start', 'Phase')).body, { accepted: false, rule: 'already-running' });

  const socket = new WebSocket(`${plant.base.replace('http', 'ws')}/api/v1/ws`);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const answer = new Promise<Record<string, unknown>>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString());
      if (frame.requestId === 'dry') resolve(frame);
    });
  });
  socket.send(JSON.stringify({ type: 'command', requestId: 'dry', site: 'demo', kind: 'Phase', name, command: 'Stop', dryRun: true }));
  t.match(await answer, { type: 'result', ok: true, message: 'Stop would be accepted', ...stop });
  socket.close();
  t.equal((await plant.api.get(`${SITE}/phases/${name}`)).body.state, 'Running');
  await plant.api.post(`${SITE}/command`, { kind: 'Phase', name, command: 'Abort', reason: REASON });
  await until('phases', name, 'is Aborted', (body) => body.state === 'Aborted');
});
