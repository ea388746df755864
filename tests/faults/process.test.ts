/** The appliance as a process: a full disk, a second instance, a clean end (decisions D-CFG, 8.7; design, section 1). */
import t from 'tap';
import { type ApiAnswer, eventually } from '../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';
import { canLimitFiles, limitFiles } from '../support/disk-limit.js';
import { ANSWERS, answerTo, outputOf, type Prompt, SITE, unitsReady } from '../support/plant.js';

const ENVIRONMENT = {
  LINESIDE_AUTH__MODE: 'none',
  LINESIDE_DEMO__ENABLED: 'true',
  LINESIDE_GATEWAY__OPERATINGMODE: 'development',
  LINESIDE_GATEWAY__RATELIMIT__ENABLED: 'false',
  LINESIDE_RUNTIME__MAXTHREADS: '12', // as the product runs
  LINESIDE_RUNTIME__TIMESCALE: '10',
  LINESIDE_LOG_LEVEL: 'warn',
};
const STOP_MAX_MS = 3000;

/** No file of the process can be written any more, as on a full disk; '' gives the space back. */
function writable(box: ApplianceProcess, is: boolean): void {
  limitFiles(box.pid, is ? undefined : 0);
}

const create = (box: ApplianceProcess, batchID: string): Promise<ApiAnswer> => box.api.post(`${SITE}/batches`, { batchID, masterRecipeRef: 'resin-a' });
const scans = async (box: ApplianceProcess): Promise<number> => (await box.api.get(`${SITE}/units/rx101/runtime/status`)).body.scanCount;

async function serve(box: ApplianceProcess): Promise<void> {
  for (const prompt of (await box.api.get(`${SITE}/prompts`)).body as Prompt[]) {
    await box.api.post(`${SITE}/phases/${prompt.phase}/prompt-response`, { promptID: prompt.id, response: answerTo(prompt, ANSWERS), reason: 'measured at the bench' });
  }
}

t.test('promise 2: on a full disk writes answer 503, scans and reads go on, and all is well again without a restart when there is space', async (t) => {
  if (!canLimitFiles(t)) return;
  const box = await applianceProcess({ environment: ENVIRONMENT, bare: true });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  await box.start();
  await unitsReady(box.api);
  const batch = (await create(box, 'before')).body.name as string;
  t.equal((await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Start' })).status, 200);
  const charging = await eventually('a phase charges', async () =>
    ((await box.api.get(`${SITE}/phases`)).body as { templateRef: string; state: string; name: string }[]).find(
      (phase) => phase.templateRef === 'charge' && phase.state === 'Running',
    ),
  );
  const pid = box.pid;
  const eventsBefore = (await box.api.get(`${SITE}/batches/${batch}/events?limit=1000&order=asc`)).body.items;

  writable(box, false);
  const refused = await create(box, 'refused');
  t.match(refused, { status: 503, body: { code: 'storage_unavailable' } });
  t.match(await create(box, 'refused-again'), { status: 503, body: { code: 'storage_unavailable' } });
  t.match(await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Pause' }), {
    status: 503,
    body: { code: 'storage_unavailable' },
  });
  t.equal((await box.api.get('/readyz')).status, 503);
  t.equal((await box.api.get('/healthz')).status, 200);
  const alarms = async (): Promise<{ source: string; name: string }[]> => (await box.api.get(`${SITE}/alarms?type=System`)).body;
  const told = (await alarms()).find(({ source }) => source === 'System/ledger');
  t.match(told, { state: 'ActiveUnacknowledged', severity: 'High', message: /^the storage refuses changes since 20/ }, 'whoever looks sees it at once');
  t.match((await box.api.get(`${SITE}/alarms/${told?.name}`)).body, { state: 'ActiveUnacknowledged' });
  t.ok((await box.api.get(`${SITE}/overview`)).body.alarms.active >= 1, 'the overview counts it');
  t.match((await box.api.get('/api/v1/system/health')).body, { status: 'degraded', storage: { accepting: false } });
  t.match(await box.api.post(`${SITE}/alarms/${told?.name}/acknowledge`), { status: 503, body: { code: 'storage_unavailable' } });
  const before = await scans(box);
  await eventually('the scans go on', async () => (await scans(box)) > before + 50);
  t.equal((await box.api.get(`${SITE}/batches`)).body.length, 1, 'reads go on and show nothing that was refused');
  t.equal((await box.api.get(`${SITE}/units/rx101/tags/li101.pv`)).body.quality, 'Good', 'so do the live values');
  // the phase that charges ends while nothing can be written: its valve is closed by the unit, not by the gateway
  await eventually('the charge has ended in the vessel', async () => (await box.api.get(`${SITE}/units/rx101/tags/xv101.state`)).body.value === 'Closed');

  writable(box, true);
  await eventually('writes work again', async () => (await create(box, 'after')).status === 201);
  t.equal((await box.api.get('/readyz')).status, 200);
  t.equal(box.pid, pid, 'it is the same process');
  const stored = await eventually('the alarm of the storage is stored', async () =>
    (await alarms()).find(({ source, state }: { source: string; state?: string }) => source === 'System/ledger' && state === 'ClearedUnacknowledged'),
  );
  t.match(stored, { name: told?.name, message: /^the storage refused changes from 20.* to 20/ }, 'G4: under the name under which it was told');
  t.match((await box.api.get(`${SITE}/alarmevents?alarm=${told?.name}&order=asc`)).body.items, [{ event: 'Activated' }, { event: 'Cleared' }]);
  t.match((await box.api.get(`${SITE}/batches/${batch}`)).body, { phase: 'Running' }, 'the batch was not touched');
  await eventually('the batch is Complete', async () => {
    await serve(box);
    return (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Complete';
  }).catch(async (fault: Error) => {
    const phases = ((await box.api.get(`${SITE}/phases`)).body as { name: string; state: string }[])
      .filter((phase) => phase.state !== 'Idle')
      .map((phase) => `${phase.name} ${phase.state}`);
    throw new Error(`${fault.message}; ${JSON.stringify((await box.api.get(`${SITE}/batches/${batch}`)).body.blockedBecause)} ${phases.join(', ')}`);
  });
  const done = (await box.api.get(`${SITE}/batches/${batch}`)).body;
  t.equal(outputOf(done, 'ph'), 7.2);
  const events = (await box.api.get(`${SITE}/batches/${batch}/events?limit=1000&order=asc`)).body.items as { id: number; value: string; element: { name: string } }[];
  t.same(events.slice(0, eventsBefore.length), eventsBefore);
  t.same(
    events.map((event) => event.id),
    events.map((_, index) => index + 1),
    'no event was lost or doubled',
  );
  t.same(
    events.filter((event) => event.element.name === charging.name && ['Running', 'Complete'].includes(event.value)).map((event) => event.value),
    ['Running', 'Complete'],
    'what happened meanwhile is on record',
  );
  t.match((await box.api.get('/api/v1/audit/verify')).body, { ok: true, problems: [] });
  t.equal(await box.end('SIGTERM'), 0);
});

t.test('NONCE-12 LIMIT-02 D-CFG: a second instance on the same data directory is refused; SIGTERM ends with 0 within 3 s in the middle of a batch', async (t) => {
  const box = await applianceProcess({ environment: ENVIRONMENT, bare: true });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  await box.start();
  await unitsReady(box.api);
  const second = await box.attempt();
  t.equal(second.code, 2);
  t.match(second.output, new RegExp(`another lineside process \\(pid ${box.pid}\\) already uses the data directory`));
  const batch = (await create(box, 'running')).body.name as string;
  t.equal((await box.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command: 'Start' })).status, 200);
  await eventually('it runs', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Running');
  const startedAt = performance.now();
  t.equal(await box.end('SIGTERM'), 0);
  const tookMs = performance.now() - startedAt;
  t.ok(tookMs < STOP_MAX_MS, `ended after ${Math.round(tookMs)} ms`);
  await box.start();
  t.equal((await box.api.get(`${SITE}/batches/${batch}`)).body.batchID, 'running', 'and starts again');
  await eventually('the batch is Held', async () => (await box.api.get(`${SITE}/batches/${batch}`)).body.phase === 'Held');
  t.equal(await box.end('SIGINT'), 0);
});
