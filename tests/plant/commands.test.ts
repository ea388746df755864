/** Commands, modes, prompts and the batch routes on the running plant (contract 2 and 3; decisions CMD, Q-RECIPE-19 to 33). */
import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import t from 'tap';
import { canonicalDigest } from '../../src/platform/ledger/canonical-json.js';
import { openDeviceKeys } from '../../src/platform/ledger/keys.js';
import { isSignatureValid } from '../../src/domains/signatures/signature.js';
import type { SignedRecord } from '../../src/domains/signatures/kind.js';
import { batchName } from '../../src/domains/batches/creation/creation.js';
import { SITE, SMALL, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());

const REASON = 'asked for by the test';
const send = (body: Record<string, unknown>) => plant.api.post(`${SITE}/command`, body);
const mode = (kind: string, name: string, word: string) => plant.api.post(`${SITE}/mode`, { kind, name, mode: word });

t.test('decisions 3.7: Semi-Automatic stops before each transition of the procedure, Resume fires exactly it', async (t) => {
  const batch = await plant.createBatch({ masterRecipeRef: 'clean-train' });
  await plant.command(batch, 'Start');
  const phase = await plant.untilPhase(batch, 'cip', 'Running');
  t.match((await mode('Phase', phase.name, 'Semi-Automatic')).body, { ok: true, previousMode: 'Automatic' });
  const paused = await plant.look('the phase waits before a transition', async () => {
    const body = (await plant.api.get(`${SITE}/phases/${phase.name}`)).body;
    return { done: body.state === 'Paused' ? body : undefined, seen: `${body.state} ${body.mode}, ${body.blockedBecause}` };
  });
  t.match(paused.pausedAt, /->/, 'it names the transition');
  const before = { reason: 'semi-automatic', element: { kind: 'Phase', name: phase.name, path: phase.stepPath, unit: 'rx101' }, transition: paused.pausedAt, command: 'Resume' };
  t.match(paused.blockedBy, [before], 'decisions 3.9: as data');
  t.equal(paused.blockedBecause, `${phase.stepPath} waits before ${paused.pausedAt}; Resume fires it`, 'and in words');
  t.match(await plant.batch(batch), { blockedBecause: paused.blockedBecause, blockedBy: [before] }, 'the batch says it too');
  t.match(await plant.unit('rx101'), { blockedBecause: paused.blockedBecause, blockedBy: [before] }, 'and so does the unit');
  await mode('Phase', phase.name, 'Automatic');
  await plant.look(
    'the batch has something to resume',
    async () => ({ done: (await plant.batch(batch)).validCommands.includes('Resume') || undefined, seen: JSON.stringify((await plant.batch(batch)).validCommands) }),
    5000,
  );
  t.equal((await plant.command(batch, 'Resume')).status, 200);
  await plant.finish(batch);
});

t.test('CMD-01, CMD-02, CMD-06, CMD-08, CMD-14: only a Batch and ad-hoc roots take one of the eight commands', async (t) => {
  const name = await plant.createBatch();
  t.match(
    (await send({ kind: 'Batch', name, command: 'Resume' })).body,
    { ok: true, kind: 'Batch', name, command: 'Resume', message: `Resume recorded for Batch ${name}` },
    'recorded, whatever the state machine makes of it',
  );
  t.match(
    await send({ kind: 'Batch', name, command: 'start' }),
    { status: 400, body: { code: 'invalid_field', field: 'command', allowed: ['Start', 'Pause', 'Resume', 'Hold', 'Restart', 'Stop', 'Abort', 'Reset'] } },
    'case counts',
  );
  t.match(await send({ kind: 'batch', name, command: 'Start' }), { status: 400, body: { code: 'invalid_field', field: 'kind' } });
  t.match(await send({ kind: 'Recipe', name, command: 'Start' }), { status: 400, body: { field: 'kind', error: /command the Batch or the root of the ad-hoc execution instead/ } });
  t.match(await send({ kind: 'Unit', name: 'rx101', command: 'Start' }), { status: 400, body: { code: 'wrong_command_target', commandInstead: null } });
  t.match(await send({ kind: 'Batch', name: 'nobody', command: 'Start' }), { status: 404 });
  t.match(await send({ kind: 'Batch', name: (await plant.batch(name)).batchID.toLowerCase(), command: 'Start' }), { status: 404 }, 'CMD-07: the resource name, not the batchID');
  const { batchID } = await plant.batch(name);
  t.match(
    await send({ kind: 'Batch', name: batchID, command: 'Start' }),
    { status: 404, body: { code: 'not_found', field: 'name', batch: name } },
    'who sends the batchID is told the name',
  );
  t.match(await plant.api.post('/api/v1/sites/nowhere/command', { kind: 'Batch', name, command: 'Start' }), { status: 404 });
  t.match(await send({ kind: 'Batch', name }), { status: 400 });
  t.match(await send({ kind: 'Batch', name, command: 'Start', because: 'x' }), { status: 400 });
});

t.test('GEN-23, CMD-09, CMD-10, CMD-11, LIMIT-13: a reason is mandatory for Abort, Stop, Hold and Reset, and at most 1024 characters', async (t) => {
  const name = await plant.createBatch();
  for (const command of ['Abort', 'Stop', 'Hold', 'Reset']) {
    for (const reason of [undefined, '   ', 'too short'])
      t.match(await send({ kind: 'Batch', name, command, reason }), { status: 400, body: { code: 'reason_too_short', field: 'reason' } }, `${command} with ${reason}`);
    t.equal((await send({ kind: 'Batch', name, command, reason: REASON })).status, 200);
  }
  for (const command of ['Pause', 'Resume', 'Restart']) t.equal((await send({ kind: 'Batch', name, command })).status, 200);
  t.match(await send({ kind: 'Batch', name, command: 'Pause', reason: 'x'.repeat(1025) }), { status: 400, body: { code: 'reason_too_long', maxLength: 1024 } });
  const kept = await send({ kind: 'Batch', name, command: 'Hold', reason: `  ${REASON}  ` });
  const [accepted, judged] = await plant.audit(kept);
  t.match(accepted, { action: 'Command', category: 'command', result: 'Accepted', operatorReason: REASON, details: { command: 'Hold' } }, 'CMD-15');
  t.match(judged, { action: 'Command', result: 'Rejected', rule: 'not-running', correlationID: accepted.correlationID }, 'CMD-16');
  t.match(
    await plant.batch(name),
    { commandRejection: { command: 'Hold', state: 'Pending', rule: 'not-running' }, conditions: [{ type: 'CommandRejected', reason: 'not-running' }] },
    'CMD-17',
  );
});

t.test('CMD-12: Start is refused with the rule of what it lacks', async (t) => {
  const draft = await plant.api.post(`${SITE}/recipes/master`, {
    name: 'gone',
    spec: { ...(await plant.api.get(`${SITE}/recipes/master/clean-train`)).body.spec, productID: 'GONE' },
  });
  t.equal(draft.status, 201, draft.text);
  const withdrawn = await plant.createBatch({ masterRecipeRef: 'gone' });
  for (const action of ['approve', 'release', 'activate', 'withdraw']) {
    const step = await plant.api.post(`${SITE}/recipes/master/gone/${action}`, { reason: REASON });
    t.equal(step.status, 200, step.text);
  }
  t.match(await judged(withdrawn), { result: 'Rejected', rule: 'recipe-withdrawn' });
  t.match(await plant.batch(withdrawn), { phase: 'Pending', commandRejection: { rule: 'recipe-withdrawn', message: 'recipe gone is Withdrawn' } });
  t.match(await plant.api.post(`${SITE}/batches`, { batchID: 'X-1', masterRecipeRef: 'gone' }), { status: 409, body: { code: 'recipe_not_effective', phase: 'Withdrawn' } });

  const manual = await plant.createBatch();
  t.match((await mode('Unit', 'rx101', 'Manual')).body, { ok: true, mode: 'Manual', previousMode: 'Automatic' });
  t.match(await judged(manual), { result: 'Rejected', rule: 'mode-manual' });
  t.match((await plant.batch(manual)).commandRejection, { rule: 'mode-manual', message: 'unit rx101 is in Manual' });
  t.match((await mode('Unit', 'rx101', 'Automatic')).body, { previousMode: 'Manual' });

  const scaled = await plant.createBatch({ quantity: '20' });
  t.equal((await plant.api.put(`${SITE}/batches/${scaled}`, { quantity: '99' })).status, 400, 'outside the limits of the recipe');
});

t.test('MODE-01, MODE-04, MODE-05: any mode is set from any other, answered with the former one, and audited', async (t) => {
  for (const [word, before] of [
    ['Manual', 'Automatic'],
    ['Semi-Automatic', 'Manual'],
    ['Semi-Automatic', 'Semi-Automatic'],
    ['Automatic', 'Semi-Automatic'],
  ] as const) {
    const answer = await mode('ControlModule', 'xv105', word);
    t.match(answer, { status: 200, body: { ok: true, kind: 'ControlModule', name: 'xv105', mode: word, previousMode: before } });
    t.match((await plant.audit(answer, 1))[0], { action: 'Update', category: 'mode', result: 'Success', before: { mode: before }, after: { mode: word } });
  }
  t.match(await mode('ControlModule', 'xv105', 'manual'), { status: 400, body: { allowed: ['Automatic', 'Semi-Automatic', 'Manual'] } });
  t.match(await mode('Batch', 'xv105', 'Manual'), { status: 400, body: { code: 'invalid_field', field: 'kind' } });
  t.match(await mode('ControlModule', 'nothing', 'Manual'), { status: 404 });
  const tag = `${SITE}/units/rx101/tags/xv105.cmd`;
  t.match(await plant.api.post(tag, { value: true }), { status: 403, body: { code: 'automatic_mode' } }, 'MODE-06');
  await mode('ControlModule', 'xv105', 'Manual');
  t.equal((await plant.api.post(tag, { value: false })).status, 200, 'MODE-07');
  await mode('ControlModule', 'xv105', 'Automatic');
});

t.test('CMD-03, CMD-04, CMD-06: elements of a batch name the batch to command instead; so do Unit and Procedure', async (t) => {
  const batch = await plant.runBatch();
  const phase = await plant.untilPhase(batch, 'charge', 'Running');
  const instead = { code: 'wrong_command_target', commandInstead: { kind: 'Batch', name: batch } };
  t.match(await send({ kind: 'Phase', name: phase.name, command: 'Hold', reason: REASON }), {
    status: 400,
    body: { ...instead, error: `Phase ${phase.name} belongs to batch ${batch}; command Batch ${batch} instead` },
  });
  for (const [kind, list] of [
    ['Operation', 'operations'],
    ['UnitProcedure', 'unitprocedures'],
  ] as const) {
    const own = (await plant.api.get(`${SITE}/${list}`)).body.find((item: { batch: string }) => item.batch === batch);
    t.match(await send({ kind, name: own.name, command: 'Hold', reason: REASON }), { status: 400, body: instead }, kind);
  }
  t.match(await send({ kind: 'Unit', name: 'rx101', command: 'Hold', reason: REASON }), {
    status: 400,
    body: { ...instead, error: `kind Unit cannot be commanded; command Batch ${batch} instead` },
  });
  t.match(await send({ kind: 'Procedure', name: batch, command: 'Hold', reason: REASON }), { status: 400, body: instead });
  t.match(await send({ kind: 'Phase', name: 'nothing', command: 'Hold', reason: REASON }), { status: 404 });
  t.match(await plant.api.post(`${SITE}/units/rx101/runtime/restart`, { reason: REASON }), { status: 409, body: { code: 'active_batch', batch } }, 'RUNTIME-05');
  await plant.command(batch, 'Abort');
  await plant.until(batch, 'Aborted');
});

t.test('WS-05 WS-20 WS-21 WS-22: a command frame obeys the rules of the route, and is on record before its answer, refused or not', async (t) => {
  const batch = await plant.createBatch();
  const socket = new WebSocket(`${plant.base.replace('http', 'ws')}/api/v1/ws`);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const ask = (frame: object) =>
    new Promise<Record<string, unknown>>((resolve) => {
      const id = randomUUID();
      const take = (data: Buffer): void => {
        const answer = JSON.parse(data.toString());
        if (answer.requestId !== id) return;
        socket.off('message', take);
        resolve(answer);
      };
      socket.on('message', take);
      socket.send(JSON.stringify({ type: 'command', requestId: id, site: 'demo', ...frame }));
    });
  t.match(await ask({ kind: 'Batch', name: batch, command: 'Hold' }), { type: 'error', code: 'reason_too_short' });
  const records = async () => (await plant.api.get(`${SITE}/audit?category=command&limit=1`)).body;
  t.match(await records(), { items: [{ action: 'Command', result: 'Rejected', reason: 'ReasonTooShort', target: { kind: 'Batch', name: batch } }] });
  t.match(await ask({ kind: 'Batch', name: 'nobody', command: 'Start' }), { type: 'error' });
  t.match(await ask({ kind: 'Unit', name: 'rx101', command: 'Start' }), { type: 'error', code: 'wrong_command_target' });
  t.match(await ask({ kind: 'Batch', name: batch, command: 'Hold', reason: REASON }), { type: 'result', ok: true, message: `Hold recorded for Batch ${batch}` });
  socket.close();
});

t.test('PHASE-01, PHASE-06 to PHASE-15: prompts are answered once, by type, signed and audited', async (t) => {
  const batch = await plant.runBatch(SMALL);
  const prompt = await plant.untilPrompt(batch);
  t.match(prompt, { type: 'value', min: '0', max: '14', unit: 'rx101', stepName: 'measure', batch, text: /pH/ });
  const detail = (await plant.api.get(`${SITE}/phases/${prompt.phase}`)).body;
  t.match(detail, { pendingPrompt: { id: prompt.id, type: 'value', unit: 'pH' }, state: 'Running', sfcStatus: { activeSteps: ['measure'] } });
  t.match(
    detail.sfcStatus.transitionStates.map((entry: { index: number }) => entry.index),
    [0, 1],
    'PHASE-05: transitions are known by their index',
  );
  const asked = {
    reason: 'prompt',
    element: { kind: 'Phase', name: prompt.phase, unit: 'rx101' },
    step: 'measure',
    prompt: { id: prompt.id, type: 'value', text: prompt.text, resultKey: '' },
    by: ['operate-lead'],
  };
  t.match(detail, { blockedBy: [asked], blockedBecause: new RegExp(`waits for an answer: ${prompt.text}`) }, 'who may answer what');
  t.match((await plant.batch(batch)).blockedBy, [asked]);
  const route = `${SITE}/phases/${prompt.phase}/prompt-response`;
  t.match(await plant.api.post(`${SITE}/phases/nothing/prompt-response`, { promptID: prompt.id, response: '7', reason: REASON }), { status: 404 });
  for (const reason of [undefined, '', '   ']) t.match(await plant.api.post(route, { promptID: prompt.id, response: '7', reason }), { status: 400 }, `PHASE-13: reason ${reason}`);
  t.match(
    await plant.api.post(route, { promptID: randomUUID(), response: 'nonsense', reason: 'x' }),
    { status: 409, body: { code: 'prompt_not_pending' } },
    'the id is judged before the value',
  );
  for (const response of ['15', '-0.1', 'Infinity']) t.match(await plant.answer(prompt, response), { status: 400 }, response);
  t.match(await plant.answer(prompt, '14.1'), { status: 400, body: { code: 'out_of_range', min: '0', max: '14' } });
  for (const response of ['', 'seven', '7,2', '0x7']) t.match(await plant.answer(prompt, response), { status: 400, body: { code: 'invalid_value', field: 'response' } }, response);

  const acidic = await plant.answer(prompt, ' 05.50 ');
  t.match(acidic, { status: 200, body: { ok: true, phase: prompt.phase, promptID: prompt.id, response: '5.5' } }, 'the canonical value');
  t.match(await plant.answer(prompt, '7'), { status: 409, body: { code: 'prompt_not_pending' } }, 'answered already');
  const [record] = await plant.audit(acidic, 1);
  t.match(record, { action: 'PromptAcknowledge', result: 'Success', operatorReason: 'measured at the bench', name: acidic.body.auditRecordRef, details: { response: '5.5' } });
  const signature = record.signature as SignedRecord;
  const keys = { ...openDeviceKeys(plant.dataDir), algorithm: 'HMAC-SHA256', authMode: 'none' } as const;
  t.match(signature, { meaning: 'prompt-response', algorithm: 'HMAC-SHA256', content: { promptID: prompt.id, response: '5.5' }, subject: { kind: 'Phase', name: prompt.phase } });
  t.ok(isSignatureValid(signature, keys), 'PHASE-12: the signature verifies');
  t.notOk(isSignatureValid({ ...signature, content: { ...signature.content, response: '7' } }, keys), 'and does not over another answer');
  const { value: _value, ...base } = signature;
  t.equal(acidic.body.signature, canonicalDigest(base));

  const choice = await plant.untilPrompt(batch);
  t.match(choice, { type: 'choice', choices: ['Accept', 'Repeat'] }, 'outside the limits the operator decides');
  for (const response of ['accept', 'Maybe', ''])
    t.match(await plant.answer(choice, response), { status: 400, body: { code: 'invalid_value', allowed: ['Accept', 'Repeat'] } }, 'PHASE-09');
  t.equal((await plant.answer(choice, 'Repeat')).status, 200);
  const again = await plant.untilPrompt(batch);
  t.match(again, { type: 'value' });
  t.not(again.id, prompt.id, 'a prompt of its own');
  t.equal((await plant.answer(again, '7')).status, 200);

  const sample = await plant.look('the laboratory value is awaited', async () => {
    const open = (await plant.prompts(batch)).find((candidate) => candidate.resultKey === 'viscosity');
    return { done: open, seen: '' };
  });
  t.match(await plant.answer(sample, '100'), { status: 400, body: { code: 'out_of_range' } });
  const manual = await plant.answer(sample, '420');
  t.match((await plant.audit(manual, 1))[0], { signature: { meaning: 'external-result-manual-entry' } }, 'Q-MES-26: an operator may enter it');
  await plant.finish(batch);
  t.match(await plant.answer(sample, '420'), { status: 409, body: { code: 'prompt_not_pending' } }, 'PHASE-11: the phase has ended');
  t.notOk((await plant.api.get(`${SITE}/phases/${prompt.phase}`)).body.pendingPrompt);

  const events = await plant.events(batch);
  t.equal(events.filter((event) => event.eventSubType === 'Prompt Response').length, 4, 'each answer once');
  const messages = (await plant.api.get(`${SITE}/batches/${batch}/messages?order=asc&limit=1000`)).body.items as { type: string; text: string }[];
  t.ok(
    messages.some((message) => message.type === 'Message' && /^Charged /.test(message.text)),
    'BATCH-01: messages of the charts',
  );
  t.equal(messages.filter((message) => message.type === 'Prompt').length, 4);
  const answers = messages.filter((message) => message.type === 'PromptResponse').map(({ text }) => text);
  t.equal(answers.length, 4, 'Q-RECIPE-33: and each answer');
  t.ok(
    answers.some((text) => text.startsWith(`${prompt.text}: 5.5`)),
    answers.join('; '),
  );
});

t.test('Decisions 2.4, 8.3: a prompt that a Stop cancels is told to be cancelled', async (t) => {
  const batch = await plant.runBatch(SMALL);
  const prompt = await plant.untilPrompt(batch);
  await plant.command(batch, 'Stop');
  await plant.until(batch, 'Stopped');
  const told = (await plant.events(batch)).filter(({ eventSubType }) => eventSubType === 'Prompt');
  t.match(
    told,
    [
      { eventType: 'Operator', value: prompt.text, previousValue: '' },
      { eventType: 'Operator', value: prompt.text, previousValue: 'PromptCancelled', message: /without an answer: the phase is Stopping/, element: { name: prompt.phase } },
    ],
    'beside the prompt, in its words',
  );
  const { markers } = (await plant.api.get(`${SITE}/batches/${batch}/timeline`)).body;
  t.ok(markers.some(({ type, label }: { type: string; label: string }) => type === 'PromptCancelled' && label.startsWith(prompt.text)));
  const messages = (await plant.api.get(`${SITE}/batches/${batch}/messages?order=asc&limit=1000`)).body.items as { type: string; text: string }[];
  t.ok(messages.some(({ type, text }) => type === 'System' && /cancelled without an answer/.test(text)));
});

t.test('BATCH-01, BATCH-03, BATCH-05, Q-RECIPE-28 to 33: batches are made, changed, withdrawn; their log is served', async (t) => {
  const batchID = `Ä Batch/No. 7 ${process.pid}`;
  const made = await plant.api.post(`${SITE}/batches`, {
    spec: { batchID, masterRecipeRef: 'resin-a', parameters: [{ name: 'reactTemp', value: '75' }] },
    labels: { 'plant.example/line': 'a' },
  });
  t.match(made, { status: 201, body: { batchID, phase: 'Pending', quantity: '28', engineeringUnit: 'kg', lotID: batchID, priority: 100, labels: { 'plant.example/line': 'a' } } });
  const { name } = made.body;
  t.equal(name, batchName('demo', batchID));
  t.match(name, /^b-batch-no-7-\d+-[0-9a-f]{8}$/);
  t.equal(made.headers.get('location'), `${SITE}/batches/${name}`);
  t.match(
    await plant.api.post(`${SITE}/batches`, { name: 'other', batchID, masterRecipeRef: 'resin-a' }),
    { status: 409, body: { code: 'batch_id_in_use', batch: name } },
    'BATCH-05',
  );
  t.match(await plant.api.post(`${SITE}/batches`, { name, batchID: 'other', masterRecipeRef: 'resin-a' }), { status: 409, body: { code: 'already_exists' } });
  const refused: [string, object, string][] = [
    ['no batchID', { masterRecipeRef: 'resin-a' }, 'missing_field'],
    ['unknown recipe', { batchID: 'x', masterRecipeRef: 'nothing' }, 'unknown_reference'],
    ['unknown field', { batchID: 'x', masterRecipeRef: 'resin-a', colour: 'red' }, 'unknown_field'],
    ['flat beside spec', { batchID: 'x', spec: { batchID: 'x', masterRecipeRef: 'resin-a' } }, 'unknown_field'],
    ['unknown unit', { batchID: 'x', masterRecipeRef: 'resin-a', equipment: { react: 'nothing' } }, 'unknown_reference'],
    ['unit without the capability', { batchID: 'x', masterRecipeRef: 'resin-a', equipment: { react: 'mx101' } }, 'unknown_reference'],
  ];
  for (const [what, body, code] of refused) t.match(await plant.api.post(`${SITE}/batches`, body), { status: 400, body: { code } }, what);
  for (const parameters of [[{ name: 'colour', value: '1' }], [{ name: 'reactTemp', value: '95' }], [{ name: 'reactTemp', value: 'hot' }]]) {
    t.equal((await plant.api.post(`${SITE}/batches`, { batchID: 'x', masterRecipeRef: 'resin-a', parameters })).status, 400, JSON.stringify(parameters));
  }
  t.match(await plant.api.put(`${SITE}/batches/${name}`, { description: 'a change', quantity: '30' }), {
    status: 200,
    body: { description: 'a change', quantity: '30', spec: { batchID } },
  });
  t.match(await plant.api.put(`${SITE}/batches/${name}`, { batchID: 'other' }), { status: 409, body: { field: 'batchID' } });
  t.ok((await plant.api.get(`${SITE}/batches`)).body.some((item: { name: string; spec?: object }) => item.name === name && item.spec === undefined));

  const preflight = (body: object) => plant.api.post(`${SITE}/batches/preflight`, body);
  const good = await preflight({ batch: name });
  t.match(good, { status: 200, body: { ok: true, bindings: { violations: 0 } } }, 'BATCH-02');
  t.same(good.body.allocations.map((entry: { unit: string; available: boolean }) => [entry.unit, entry.available]).sort(), [
    ['mx101', true],
    ['rx101', true],
    ['tk201', true],
  ]);
  t.match(
    good.body.parameters.find((value: { name: string }) => value.name === 'reactTemp'),
    { value: '75', source: 'override' },
  );
  t.match(
    good.body.parameters.find((value: { name: string }) => value.name === 'monomerAmount'),
    { source: 'formula-scaled', value: /^21\.428/ },
  );
  for (const check of ['recipe-effective', 'batch-id', 'formula-limits', 'batch-size', 'equipment', 'bindings', 'charts', 'runtime-ready', 'storage', 'coordination']) {
    t.match(
      good.body.checks.find((entry: { check: string }) => entry.check === check),
      { ok: true, message: '' },
      check,
    );
  }
  const bad = await preflight({ batchID: 'y', masterRecipeRef: 'resin-a', parameters: [{ name: 'reactTemp', value: '95' }], quantity: '99' });
  t.match(bad, { status: 200, body: { ok: false } });
  t.match(
    bad.body.checks.find((entry: { check: string }) => entry.check === 'formula-limits'),
    { ok: false, severity: 'error' },
  );
  t.match(
    bad.body.checks.find((entry: { check: string }) => entry.check === 'batch-size'),
    { ok: false },
  );
  t.match(await preflight({ batch: 'nothing' }), { status: 404 });

  const batch = await plant.runBatch();
  t.match(await plant.api.put(`${SITE}/batches/${batch}`, { description: 'while it runs' }), { status: 200, body: { description: 'while it runs' } });
  t.match(await plant.api.put(`${SITE}/batches/${batch}`, { priority: 5 }), { status: 409, body: { code: 'batch_started', field: 'priority' } });
  t.match(await plant.api.delete(`${SITE}/batches/${batch}`), { status: 409, body: { phase: 'Running' } });
  const busy = await preflight({ batch: name });
  t.match(busy.body, { ok: false });
  t.match(
    busy.body.checks.find((entry: { check: string }) => entry.check === 'equipment'),
    { ok: false, message: new RegExp(`is taken by ${(await plant.batch(batch)).batchID}`) },
  );
  await plant.untilPhase(batch, 'charge', 'Running');
  await plant.command(batch, 'Stop');
  await plant.until(batch, 'Stopped');

  const events = await plant.events(batch);
  t.same(
    events.map((event) => event.id),
    events.map((_, index) => index + 1),
    'numbered from 1 without a gap',
  );
  const page = (await plant.api.get(`${SITE}/batches/${batch}/events?limit=3`)).body;
  t.same(
    page.items.map((event: { id: number }) => event.id),
    [events.length, events.length - 1, events.length - 2],
    'newest first',
  );
  const next = (await plant.api.get(`${SITE}/batches/${batch}/events?limit=3&cursor=${encodeURIComponent(page.nextCursor)}`)).body;
  t.equal(next.items[0].id, events.length - 3);
  const states = events.filter((event) => event.eventSubType === 'State Change' && event.element.kind === 'Batch').map((event) => event.value);
  t.same(states, ['Running', 'Stopping', 'Stopped']);
  t.ok(events.some((event) => event.eventSubType === 'State Command' && event.value === 'Stop' && event.message === REASON && event.auditRecordRef !== ''));
  for (const subType of ['Allocation', 'Deallocation'])
    t.same(
      events
        .filter((event) => event.eventSubType === subType)
        .map((event) => event.unit)
        .sort(),
      ['mx101', 'rx101', 'tk201'],
      subType,
    );
  t.match(await plant.api.get(`${SITE}/batches/${batch}/events?limit=0`), { status: 400 });
  t.match(await plant.api.get(`${SITE}/batches/nothing/events`), { status: 404 });

  const timeline = (await plant.api.get(`${SITE}/batches/${batch}/timeline`)).body;
  t.match(timeline, { batch, from: (await plant.batch(batch)).startedAt, to: (await plant.batch(batch)).endedAt });
  const lane = timeline.lanes.find((entry: { kind: string }) => entry.kind === 'Batch');
  t.same(
    lane.spans.map((span: { state: string }) => span.state),
    ['Running', 'Stopping', 'Stopped'],
  );
  t.ok(timeline.lanes.filter((entry: { kind: string }) => entry.kind === 'Phase').length >= 2, 'a lane per phase that ran');
  t.ok(
    timeline.markers.some((marker: { type: string; label: string }) => marker.type === 'Command' && /Stop/.test(marker.label)),
    'commands are marked',
  );

  await plant.remove(batch); // development: a final batch may go
  t.match(await plant.api.get(`${SITE}/batches/${batch}`), { status: 404 });
  t.same(await plant.phases(batch), [], 'its elements with it');
  t.equal((await plant.api.delete(`${SITE}/batches/${name}`)).status, 204, 'a pending batch is withdrawn');
});

/** What the batch controller made of Start. */
async function judged(batch: string) {
  const answer = await plant.command(batch, 'Start');
  return (await plant.audit(answer))[1];
}
