/** Faults inside the control side: a block that errors, a unit runtime that dies (contract 3, Control program; decisions 3.8, 5.1 rule 6, D-UNIT-04). */
import t from 'tap';
import { SITE, SLOWLY_HEATED, SMALL, startPlant } from '../support/plant.js';
import { unitThreads } from '../support/unit-threads.js';

const threads = unitThreads();
const plant = await startPlant();
t.teardown(() => plant.end());

const scanCount = async (unit: string): Promise<number> => (await plant.api.get(`${SITE}/units/${unit}/runtime/status`)).body.scanCount;

async function moreScans(unit: string, than: number): Promise<boolean> {
  return plant.look(`unit ${unit} goes on scanning`, async () => ({ done: (await scanCount(unit)) > than || undefined, seen: `after ${than}` }), 5000);
}

/** Waits until the newest alarm of a source is in the state. */
const untilAlarm = (source: string, state: string) =>
  plant.look(`the alarm of ${source} is ${state}`, async () => {
    const alarms = (await plant.api.get(`${SITE}/alarms?source=${source}`)).body as { name: string; state: string }[];
    const system = alarms.filter(({ name }) => name.startsWith('system-')).at(-1);
    return { done: system?.state === state ? system : undefined, seen: system?.state ?? 'there is none' };
  });

t.test('PROG-14, PROG-15: a block that divides by zero marks itself, the scan goes on, and it recovers', async (t) => {
  const program = {
    unitRef: 'tk201',
    scanInterval: '100ms',
    blocks: [
      { name: 'ratio', type: 'DIV', params: { IN1: 10 } },
      { name: 'twice', type: 'MUL', params: { IN1: 21, IN2: 2 } },
    ],
    connections: [],
    variables: [
      { name: 'divisor', dataType: 'REAL', direction: 'input' },
      { name: 'quotient', dataType: 'REAL', direction: 'output' },
      { name: 'other', dataType: 'REAL', direction: 'output' },
    ],
    variableBindings: [
      { variable: 'divisor', blockRef: 'ratio', portRef: 'IN2' },
      { variable: 'quotient', blockRef: 'ratio', portRef: 'OUT' },
      { variable: 'other', blockRef: 'twice', portRef: 'OUT' },
    ],
  };
  const made = await plant.api.post(`${SITE}/fbnetworks`, { metadata: { name: 'divider' }, spec: program });
  t.equal(made.status, 201, made.text);
  const read = async () => (await plant.api.get(`${SITE}/fbnetworks/divider`)).body;
  const inState = (state: string) =>
    plant.look(`the program is ${state}`, async () => {
      const body = await read();
      return { done: body.state === state ? body : undefined, seen: `it is ${body.state} ${body.message}` };
    });
  const tag = async (name: string) => (await plant.api.get(`${SITE}/units/tk201/tags/divider.${name}`)).body;

  t.same((await inState('Degraded')).faultedBlocks, ['ratio']);
  t.match(await untilAlarm('ControlProgram/divider', 'ActiveUnacknowledged'), {
    name: 'system-program-1',
    type: 'Equipment',
    severity: 'High',
    value: 'ratio',
    unit: 'tk201',
    definitionRef: '',
    origin: 'system',
  });
  t.match(await tag('quotient'), { quality: 'Bad' });
  t.match(await tag('other'), { value: 42, quality: 'Good' }, 'the block beside it runs');
  t.ok(await moreScans('tk201', await scanCount('tk201')));

  t.equal((await plant.api.post(`${SITE}/units/tk201/tags/divider.divisor`, { value: 4 })).status, 200);
  t.same((await inState('Running')).faultedBlocks, []);
  await untilAlarm('ControlProgram/divider', 'ClearedUnacknowledged');
  t.match(
    await plant.look(
      'the quotient is good',
      async () => {
        const value = await tag('quotient');
        return { done: value.quality === 'Good' ? value : undefined, seen: JSON.stringify(value) };
      },
      5000,
    ),
    { value: 2.5 },
  );

  t.equal((await plant.api.post(`${SITE}/units/tk201/tags/divider.divisor`, { value: 0 })).status, 200);
  t.same((await inState('Degraded')).faultedBlocks, ['ratio'], 'and again');
  t.match(await untilAlarm('ControlProgram/divider', 'ActiveUnacknowledged'), { name: 'system-program-1', occurrences: 2 });
  t.equal((await plant.api.delete(`${SITE}/fbnetworks/divider`)).status, 204);
});

/** Ends a unit runtime until its supervisor gives it up. */
async function giveUp(unit: string): Promise<string> {
  const message = 'the runtime stopped 3 times within 60 s; restart it when the cause is found';
  await plant.look(`the runtime of ${unit} is given up`, async () => {
    const seen = await plant.unit(unit);
    if (seen.runtimeReady) await threads.get(unit)?.terminate();
    return { done: seen.runtimeMessage === message || undefined, seen: seen.runtimeMessage };
  });
  return message;
}

t.test('3.7, 3.8: a mode changed while the unit runtime is down is that of the work and the modules when it is back', async (t) => {
  const reason = 'asked for by the test';
  const asking = {
    steps: [
      { name: 'ask', initial: true, actionST: "said := PROMPT('Go on?');" },
      { name: 'drive', actionST: "WRITE('ag111.cmd', FALSE);" },
    ],
    transitions: [{ from: 'ask', to: 'drive', conditionST: "said = 'Acknowledged'" }],
  };
  t.equal((await plant.api.post(`${SITE}/phasetemplates`, { name: 'ask-and-drive', spec: asking })).status, 201);
  const launched = await plant.api.post(`${SITE}/units/mx101/execute-phase`, { phaseTemplateRef: 'ask-and-drive' });
  t.equal(launched.status, 201, launched.text);
  const { name } = launched.body;
  const mode = (kind: string, target: string, word: string) => plant.api.post(`${SITE}/mode`, { kind, name: target, mode: word });
  const command = (word: string) => plant.api.post(`${SITE}/command`, { kind: 'Phase', name, command: word, reason });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  const until = (what: string, wanted: (body: any) => boolean) =>
    plant.look(`the phase ${what}`, async () => {
      const { body } = await plant.api.get(`${SITE}/phases/${name}`);
      return { done: wanted(body) ? body : undefined, seen: `it is ${body.state} in ${body.sfcStatus?.activeSteps}: ${body.blockedBecause}` };
    });
  await until('asks', (body) => body.pendingPrompt !== undefined);
  const message = await giveUp('mx101');
  for (const [kind, target] of [
    ['Phase', name],
    ['ControlModule', 'ag111'],
  ])
    t.match(await mode(kind, target, 'Manual'), { status: 200, body: { mode: 'Manual', previousMode: 'Automatic' } });
  t.match(await until('is in Manual', (body) => body.mode === 'Manual'), { pendingPrompt: { text: 'Go on?' } }, 'the last state is served');
  const steer = (body: object) => plant.api.post(`${SITE}/phases/${name}/active-step`, { reason, ...body });
  t.match(await steer({ change: 'force', transition: 'ask->drive#0' }), { status: 409, body: { code: 'runtime_not_ready' } }, 'nobody could fire it');
  t.match(await plant.unit('mx101'), { runtimeMessage: message, runtimeReady: false });

  t.equal((await plant.api.post(`${SITE}/units/mx101/runtime/restart`, { reason: 'cause found and removed' })).status, 200);
  await plant.runtimesReady();
  await until('is Held', (body) => body.state === 'Held');
  t.equal((await command('Restart')).status, 200);
  const { pendingPrompt } = await until('runs', (body) => body.state === 'Running');
  t.equal((await plant.api.post(`${SITE}/phases/${name}/prompt-response`, { promptID: pendingPrompt.id, response: '', reason })).status, 200);
  const waits = await until('waits for a hand', (body) => body.blockedBy[0]?.reason === 'manual');
  t.match(waits, { mode: 'Manual', sfcStatus: { activeSteps: ['ask'], transitionStates: [{ met: true }] } }, 'a transition that is true does not fire');
  t.equal((await steer({ change: 'force', transition: 'ask->drive#0' })).status, 200);
  t.match(await until('is held by the module', (body) => body.state === 'Held'), { failure: { rule: 'write-mode-manual', active: true } });
  t.equal((await mode('ControlModule', 'ag111', 'Automatic')).status, 200);
  t.equal((await mode('Phase', name, 'Automatic')).status, 200);
  await until('may be restarted', (body) => body.validCommands.includes('Restart'));
  t.equal((await command('Restart')).status, 200);
  await until('is Complete', (body) => body.state === 'Complete');
  t.equal((await command('Reset')).status, 200);
  await plant.look('mx101 is Idle', async () => ({ done: (await plant.unit('mx101')).state === 'Idle' || undefined, seen: '' }));
});

t.test('D-UNIT-04, 3.8: a unit runtime that dies is started again; its phase comes back Held with the batch, and Restart finishes it', async (t) => {
  const batch = await plant.runBatch(SLOWLY_HEATED);
  const heat = await plant.untilPhase(batch, 'heat', 'Running');
  const before = (await plant.api.get(`${SITE}/units/rx101/runtime/status`)).body.epoch;
  await threads.get('rx101')?.terminate();
  const held = await plant.until(batch, 'Held');
  t.match(await untilAlarm('Unit/rx101', 'ClearedUnacknowledged'), { name: /^system-runtime-\d+$/, type: 'System', severity: 'High' }, 'G10: nobody overlooks that it died');
  t.match(held, { failure: { rule: 'runtime-restart', class: 'hold' }, validCommands: ['Restart', 'Stop', 'Abort'] });
  t.equal((await plant.api.get(`${SITE}/units/rx101/runtime/status`)).body.epoch, before + 1, 'a new runtime');
  t.match((await plant.api.get(`${SITE}/phases/${heat.name}`)).body, { state: 'Held', failure: { rule: 'runtime-restart' }, sfcStatus: { completedSteps: [] } });
  for (const unit of ['rx101', 'tk201']) t.match(await plant.unit(unit), { allocatedTo: batch, runtimeReady: true, state: 'Held' });
  t.equal((await plant.command(batch, 'Restart')).status, 200);
  await plant.until(batch, 'Running');
  const done = await plant.finish(batch);
  t.notOk(done.failure);
});

t.test('D-UNIT-04: after three restarts within 60 s the runtime stays down and its unit says so; runtime/restart brings it back', async (t) => {
  const message = await giveUp('tk201');
  t.match(await plant.unit('tk201'), { runtimeReady: false, runtimeMessage: message });
  t.match(await untilAlarm('Unit/tk201', 'ActiveUnacknowledged'), { message: `the runtime of unit tk201 is down: ${message}` });
  t.match((await plant.api.get(`${SITE}/units/tk201/runtime/status`)).body, { ready: false, message, epoch: 4 });
  t.match(await plant.api.get(`${SITE}/units/tk201/runtime/diagnostics`), { status: 503, body: { code: 'runtime_unreachable' } });
  const waits = await plant.createBatch(SMALL);
  t.match(await plant.command(waits, 'Start'), { status: 409, body: { code: 'runtime_not_ready', units: ['tk201'] } }, 'CMD-12');
  t.ok(await moreScans('rx101', await scanCount('rx101')), 'the other units do not notice');
  t.equal((await plant.api.post(`${SITE}/units/tk201/runtime/restart`, { reason: 'cause found and removed' })).status, 200);
  await plant.runtimesReady();
  await untilAlarm('Unit/tk201', 'ClearedUnacknowledged');
  t.equal((await plant.command(waits, 'Start')).status, 200);
  await plant.finish(waits);
});
