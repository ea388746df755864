/** What is in the way of a Restart is told before it is given, and after an interruption too (decisions 3.5, 3.8; contract 3, preflight). */
import t from 'tap';
import { SITE, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Body = any;

const TEMPLATE = {
  roles: [
    { name: 'drain', requiredType: 'on-off-valve' },
    { name: 'agitator', requiredType: 'motor' },
  ],
  steps: [
    { name: 'open', initial: true, actionST: "WRITE('drain.cmd', TRUE);", rerunOnRestart: true },
    { name: 'stir', actionST: "WRITE('agitator.cmd', FALSE);" },
  ],
  transitions: [{ from: 'open', to: 'stir', conditionST: "READ('drain.closed') AND READ('drain.opened')" }],
};
const phase = { name: 'open', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'opens' };
const procedure = {
  chart: {
    steps: [{ name: 'work', stepLevel: 'UnitProcedure', targetCapability: 'reactor', subChart: { steps: [{ name: 'op', stepLevel: 'Operation', subChart: { steps: [phase] } }] } }],
  },
};
const mode = async (name: string, wanted: string) => t.equal((await plant.api.post(`${SITE}/mode`, { kind: 'ControlModule', name, mode: wanted })).status, 200);
const restartCheck = async (batch: string): Promise<Body> => (await plant.api.post(`${SITE}/batches/preflight`, { batch, command: 'Restart' })).body;
const bad = ({ checks }: Body): Body[] => checks.filter(({ ok }: Body) => !ok);

t.test('contract 3: preflight of Restart names the module in Manual that holds the batch again at once, and what does so later', async (t) => {
  const made = await plant.api.post(`${SITE}/phasetemplates`, { name: 'opens', spec: TEMPLATE });
  t.equal(made.status, 201, made.text);
  const recipe = await plant.api.post(`${SITE}/recipes/master`, { name: 'opens', spec: { equipmentRequirements: [{ capability: 'reactor', defaultUnit: 'rx101' }], procedure } });
  t.equal(recipe.status, 201, recipe.text);
  const batch = await plant.runBatch({ masterRecipeRef: 'opens' });
  await plant.untilPhase(batch, 'opens', 'Running');
  t.match(bad(await restartCheck(batch)), [{ check: 'command', message: /is Running/ }]);
  const resume = (await plant.api.post(`${SITE}/batches/preflight`, { batch, command: 'Resume' })).body as Body;
  t.match(bad(resume), [{ check: 'command', liftedBy: { action: 'Resume is for a batch that is Paused' } }]);
  t.equal((await plant.command(batch, 'Hold')).status, 200);
  await plant.until(batch, 'Held');
  t.match(await restartCheck(batch), { ok: true });
  await mode('xv105', 'Manual');
  await mode('ag101', 'Manual');
  const told = await restartCheck(batch);
  t.equal(told.ok, false);
  t.match(bad(told), [
    {
      check: 'modes',
      severity: 'error',
      element: 'xv105',
      message: /xv105 is in Manual, and phase work\/op\/open writes drain\.cmd: it is held again at once by step open/,
      liftedBy: { tier: 'operate' },
    },
    { check: 'modes', severity: 'warning', element: 'ag101', message: /when it comes to step stir/ },
  ]);
  t.equal((await plant.command(batch, 'Restart')).status, 200);
  const again = await plant.look('it was told truly', async () => {
    const body = await plant.batch(batch);
    return { done: body.phase === 'Held' && body.heldBy?.rule === 'write-mode-manual' ? body : undefined, seen: body.phase };
  });
  t.notOk(again.validCommands.includes('Restart'));
  const rows = bad(await restartCheck(batch)).filter(({ severity }) => severity === 'error');
  t.match(rows, [{ check: 'modes', element: 'xv105', told: { code: 'manual-at-once', parts: { module: 'xv105', phase: 'work/op/open', step: 'open' } } }]);
  t.equal(rows.length, 1, 'one cause is one row: the module that the failure is about is told with its name');

  t.equal((await plant.api.post(`${SITE}/controlmodules/ag101/tags/cmd`, { value: true })).status, 200);
  await plant.restart();
  const { recovery } = await plant.look('the appliance is back', async () => {
    const body = await plant.batch(batch);
    return { done: body.recovery?.heldAt && body.failure?.active ? body : undefined, seen: JSON.stringify(body.recovery) };
  });
  t.match(
    recovery.operator,
    { needed: true, text: /^Restart is not possible while this lasts: write-mode-manual: .*Manual.*\. Put it right/ },
    'decisions 3.8: and who is told what to do after an interruption is told this',
  );
  t.notOk('command' in recovery.operator);
  await plant.look('decisions 3.8: what was retained and stands commanded is told', async () => {
    const { commanded } = (await plant.batch(batch)).recovery;
    return { done: commanded.some(({ controlModule, tag }: Body) => controlModule === 'ag101' && tag === 'cmd'), seen: JSON.stringify(commanded) };
  });
  await mode('xv105', 'Automatic');
  const free = await plant.look('it may go on', async () => {
    const body = await plant.batch(batch);
    return { done: body.validCommands.includes('Restart') ? body : undefined, seen: JSON.stringify(body.failure) };
  });
  t.match(free.recovery.operator, { needed: true, command: 'Restart' });
  t.match(await restartCheck(batch), { ok: true });
  t.equal((await plant.command(batch, 'Abort')).status, 200);
  await plant.until(batch, 'Aborted');
});

const LATER = {
  roles: [{ name: 'agitator', requiredType: 'motor' }],
  steps: [{ name: 'stir', initial: true, actionST: "WRITE('agitator.cmd', FALSE);" }],
};
const WAITS = { roles: [], steps: [{ name: 'wait', initial: true, actionST: '' }, { name: 'end' }], transitions: [{ from: 'wait', to: 'end', conditionST: 'FALSE' }] };

t.test('contract 3: preflight of Restart names a module in Manual that only a later phase writes to, and what people have taken that nobody writes to', async (t) => {
  t.equal((await plant.api.post(`${SITE}/phasetemplates`, { name: 'waits', spec: WAITS })).status, 201);
  t.equal((await plant.api.post(`${SITE}/phasetemplates`, { name: 'stirs', spec: LATER })).status, 201);
  const phases = ['waits', 'stirs'].map((name, at) => ({ name, stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: name, ...(at === 0 ? { initial: true } : {}) }));
  const steps = [
    { name: 'work', stepLevel: 'UnitProcedure', targetCapability: 'reactor', subChart: { steps: [{ name: 'op', stepLevel: 'Operation', subChart: { steps: phases } }] } },
  ];
  const spec = { equipmentRequirements: [{ capability: 'reactor', defaultUnit: 'rx101' }], procedure: { chart: { steps } } };
  const recipe = await plant.api.post(`${SITE}/recipes/master`, { name: 'later', spec });
  t.equal(recipe.status, 201, recipe.text);
  const batch = await plant.runBatch({ masterRecipeRef: 'later' });
  await plant.untilPhase(batch, 'waits', 'Running');
  t.notOk(
    bad(await restartCheck(batch)).some(({ check }: Body) => check !== 'command'),
    'of a batch that runs nothing is told but that it runs',
  );
  t.equal((await plant.command(batch, 'Hold')).status, 200);
  await plant.until(batch, 'Held');
  t.match(await restartCheck(batch), { ok: true });
  await mode('tic101', 'Manual');
  await mode('ag101', 'Manual');
  t.equal((await plant.api.post(`${SITE}/controlmodules/ag101/tags/cmd`, { value: true })).status, 200);
  const told = await plant.look('what stands commanded is told of every hold', async () => {
    const found = await restartCheck(batch);
    return { done: bad(found).some(({ element, told }: Body) => element === 'ag101' && told?.code === 'commanded') ? found : undefined, seen: JSON.stringify(found) };
  });
  t.equal(told.ok, true, 'it keeps nothing from going on');
  t.strictSame(
    bad(told)
      .filter(({ check }: Body) => check === 'modes')
      .map(({ severity, element, told: { code } }: Body) => [severity, element, code]),
    [
      ['warning', 'ag101', 'manual-in-phase'],
      ['warning', 'tic101', 'not-automatic'],
    ],
  );
  t.match(bad(told)[0], { message: /phase work\/op\/stirs writes agitator\.cmd: the batch is held again when it comes to that phase/, about: { unit: 'rx101' } });
  for (const name of ['tic101', 'ag101']) await mode(name, 'Automatic');
  t.notOk(bad(await restartCheck(batch)).some(({ check }: Body) => check === 'modes'));
  t.equal((await plant.command(batch, 'Abort')).status, 200);
  await plant.until(batch, 'Aborted');
});

t.test('contract 3: preflight of Restart names a value that a person wrote, that no phase writes and that stands after the module is back in Automatic', async (t) => {
  const batch = await plant.runBatch({ masterRecipeRef: 'later' });
  await plant.untilPhase(batch, 'waits', 'Running');
  await mode('tic101', 'Manual');
  for (const [tag, value] of [
    ['auto', false],
    ['man', 40],
  ] as const)
    t.equal((await plant.api.post(`${SITE}/controlmodules/tic101/tags/${tag}`, { value })).status, 200);
  await mode('tic101', 'Automatic');
  t.equal((await plant.command(batch, 'Hold')).status, 200);
  await plant.until(batch, 'Held');
  const told = await plant.look('both are told', async () => {
    const found = bad(await restartCheck(batch)).filter((row: Body) => row.told?.code === 'written-by-hand');
    return { done: found.length === 2 ? found : undefined, seen: JSON.stringify(found) };
  });
  t.match(told, [
    { check: 'devices', severity: 'warning', element: 'tic101', told: { parts: { tag: 'auto', value: 'Manual', initial: 'Auto', who: String } }, about: { unit: 'rx101' } },
    { element: 'tic101', told: { parts: { tag: 'man', value: '40', initial: '0', engUnits: '%', at: /^20\d\d-/ } }, liftedBy: { action: /write 0 to man/ } },
  ]);
  await mode('tic101', 'Semi-Automatic');
  for (const [tag, value] of [
    ['auto', true],
    ['man', 0],
  ] as const)
    t.equal((await plant.api.post(`${SITE}/controlmodules/tic101/tags/${tag}`, { value })).status, 200);
  await mode('tic101', 'Automatic');
  await plant.look('what is set back is told no more', async () => {
    const rows = bad(await restartCheck(batch)).filter((row: Body) => row.told?.code === 'written-by-hand');
    return { done: rows.length === 0 ? true : undefined, seen: JSON.stringify(rows) };
  });
  t.equal((await plant.command(batch, 'Abort')).status, 200);
  await plant.until(batch, 'Aborted');
});
