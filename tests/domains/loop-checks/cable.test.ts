/** Cable acceptances: what is shown while a real connection is pulled, left half open, doubled and delayed. */
import t, { type Test } from 'tap';
import { type Shown, TrialObserver } from '../../../src/domains/loop-checks/cable-trial.js';
import { ModbusPeer } from '../../drivers/modbus-peer.js';
import { eventually } from '../../support/api-client.js';
import { FaultProxy } from '../../support/fault-proxy.js';
import { FieldDevice } from '../../support/field-device.js';
import { type Body, killableBox, LIVE, NORTH, served } from '../../support/loop-checked.js';
import { type Plant, startPlant } from '../../support/plant.js';

const MODULE = `${NORTH}/iomodules/plc`;
const PAGES = `${MODULE}/cable-acceptances`;
const BEGUN = { reason: 'cable of hall 2' };

async function bench(t: Test): Promise<{ readonly box: Plant; readonly device: FieldDevice; readonly proxy: FaultProxy }> {
  const device = await FieldDevice.start();
  const proxy = await FaultProxy.start(() => device.port);
  const box = await startPlant({ production: true, environment: LIVE });
  t.teardown(async () => {
    await box.end();
    await proxy.stop();
    await device.kill();
  });
  await served(box, `127.0.0.1:${proxy.port}`);
  await eventually('every channel is Good', async () => (await quality(box)).every((word) => word === 'Good'));
  return { box, device, proxy };
}

const page = async (box: Plant, id: string): Promise<Body> => (await box.api.get(`${PAGES}/${id}`)).body;
const quality = async (box: Plant): Promise<string[]> => (await box.api.get(`${MODULE}/tags`)).body.map((channel: Body) => channel.quality);

/** A trial from its begin to the return of all channels. */
async function tried(box: Plant, id: string, trial: string, fault: () => Promise<void>, mend: () => void): Promise<Body> {
  const mark = async (body: object): Promise<void> => {
    const answer = await box.api.post(`${PAGES}/${id}/mark`, body);
    if (answer.status !== 200) throw new Error(answer.text);
  };
  const count = (await page(box, id)).trials.length;
  await mark({ mark: 'begin', trial, note: `${trial} at the switch` });
  await fault();
  mend();
  await mark({ mark: 'end' });
  return eventually(`${trial} is noted`, async () => (await page(box, id)).trials[count]);
}

t.test('D-IO-01 D-IO-03: an acceptance of a cable tells what was tried, when quality turned Bad and Good again, and drives nothing', async (t) => {
  const { box, device, proxy } = await bench(t);
  const begun = await box.api.post(`${MODULE}/cable-acceptance`, BEGUN);
  t.match(begun, { status: 200, body: { phase: 'Running', trials: [], open: null } });
  const { id } = begun.body;
  const allBad = (): Promise<void> => eventually('no channel is Good', async () => (await quality(box)).every((word) => word !== 'Good')).then(() => undefined);
  const asked = device.writes.length;
  const pulled = await tried(
    box,
    id,
    'cable-pulled',
    () => {
      proxy.refuse(true);
      proxy.reset();
      return allBad();
    },
    () => proxy.refuse(false),
  );
  const halfOpen = await tried(
    box,
    id,
    'half-open',
    () => {
      proxy.mode = 'half-open';
      return allBad();
    },
    () => {
      proxy.mode = 'pass';
      proxy.reset();
    },
  );
  const doubled = await tried(
    box,
    id,
    'duplicated',
    async () => {
      proxy.mode = 'double';
      const from = (await box.api.get(`${MODULE}/tags/limit`)).body.ts;
      await eventually('doubled replies came', async () => (await box.api.get(`${MODULE}/tags/limit`)).body.ts !== from);
    },
    () => {
      proxy.mode = 'pass';
    },
  );
  for (const trial of [pulled, halfOpen]) {
    t.match(trial, { watched: 4, goodWhileGone: [], problems: [], failSafeTaken: false, note: /at the switch$/ });
    t.ok(trial.allBadMs !== null && trial.goodAgainMs !== null, 'both times are noted');
    t.comment(`${trial.trial}: Bad after ${trial.firstBadMs} to ${trial.allBadMs} ms, oldest Good ${trial.oldestGoodMs} ms, Good again ${trial.goodAgainMs} ms after its end`);
  }
  t.match(doubled, { problems: [], goodWhileGone: [] });
  t.same(
    pulled.outputs.map(({ channel, isSame }: Body) => [channel, isSame]),
    [
      ['v1', true],
      ['v2', true],
      ['xv', true],
    ],
  );
  t.equal(device.writes.length, asked, 'it drives nothing');
  t.match(await box.api.post(`${MODULE}/cable-acceptance`, BEGUN), { status: 409, body: { code: 'cable_acceptance_active', cableAcceptance: id } });
  t.match(await box.api.post(`${PAGES}/${id}/mark`, { mark: 'end' }), { status: 409, body: { code: 'no_trial' } });
  t.match(await box.api.post(`${PAGES}/${id}/mark`, { mark: 'begin' }), { status: 400, body: { field: 'trial' } });
  t.equal((await box.api.post(`${PAGES}/${id}/mark`, { mark: 'finish' })).status, 200);
  const whole = await page(box, id);
  t.match(whole, { phase: 'Sealed', outcome: 'pass', end: { reason: 'finished' }, valid: true });
  t.match((await box.api.get(`/api/v1/signatures/${whole.signature}`)).body, { valid: true, meaning: 'qualification', digest: whole.digest });
  t.match(await box.api.post(`${PAGES}/${id}/mark`, { mark: 'finish' }), { status: 409, body: { code: 'cable_acceptance_ended' } });

  const left = (await box.api.post(`${MODULE}/cable-acceptance`, BEGUN)).body.id;
  await box.restart();
  t.match(await page(box, left), { phase: 'Sealed', outcome: 'incomplete', end: { reason: 'shutdown' }, valid: true }, 'one that is open is sealed as far as it came');
  t.equal((await box.api.get(PAGES)).body.length, 2);
});

t.test('D-IO-01: a value that is Good while the device is gone is a problem by its name', async (t) => {
  const row = (channel: string, isGood: boolean, sampledMonoMs: number): Shown => ({ channel, isGood, sampledMonoMs, pollMs: 100 });
  const watch = new TrialObserver('cable-pulled', [row('a', true, 0), row('b', true, 0), row('c', false, 0)], 0);
  watch.look([row('a', false, 0), row('b', true, 0)], 1000);
  watch.look([row('a', false, 0), row('b', true, 0)], 3900);
  t.match(watch.figures(3900, 0), {
    watched: 2,
    firstBadMs: 1000,
    allBadMs: null,
    problems: ['b stayed Good while the device was gone', /^b was shown as Good with a sample of 3900 ms/],
    incomplete: ['it ended before every channel was Good again'],
  });
  watch.look([row('a', false, 0), row('b', false, 0)], 4000);
  watch.look([row('a', true, 4900), row('b', false, 0)], 5000);
  watch.over(6000);
  watch.look([row('a', true, 6100), row('b', true, 6100)], 6200);
  t.match(watch.figures(6200, 0), {
    allBadMs: 4000,
    goodWhileGone: ['a'],
    goodAgainMs: 200,
    problems: [/^the last channel was Good no more after 4000 ms/, 'a became Good while the device was gone', /^b was shown/],
  });
});

t.test('ADR 0087: a trial that shows nothing is incomplete, and accuses nobody', async (t) => {
  const row = (channel: string, isGood: boolean, sampledMonoMs: number): Shown => ({ channel, isGood, sampledMonoMs, pollMs: 100 });
  const short = new TrialObserver('cable-pulled', [row('a', true, 0)], 0);
  short.over(500);
  short.look([row('a', true, 600)], 600);
  t.match(short.figures(600, 0), { problems: [], incomplete: [/^it lasted 500 ms/] });
  const still = new TrialObserver('clock-jumped', [row('a', true, 0)], 0);
  still.over(200);
  still.look([row('a', true, 210)], 210);
  t.match(still.figures(210, 3), { problems: [], incomplete: ['the clock was not set while it lasted'] });
  t.same(still.figures(210, -3_600_000).incomplete, []);
  const late = new TrialObserver('other', [row('a', true, 0)], 0);
  late.look([row('a', false, 0)], 100);
  late.over(200);
  t.same(late.figures(70_000, 0).problems, ['not every channel was Good again'], 'a minute was long enough');
});

t.test('ADR 0087: of five who begin a trial at once one does; a page without a shown trial is no pass', async (t) => {
  const { box } = await bench(t);
  const { id } = (await box.api.post(`${MODULE}/cable-acceptance`, BEGUN)).body;
  const trials = ['cable-pulled', 'half-open', 'device-restarted', 'delayed', 'clock-jumped'];
  const answers = await Promise.all(trials.map((trial) => box.api.post(`${PAGES}/${id}/mark`, { mark: 'begin', trial })));
  t.same(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409]);
  for (const { status, body } of answers) if (status === 409) t.equal(body.code, 'trial_open');
  const { items } = (await box.api.get('/api/v1/audit?category=cable-acceptance&action=Acknowledge&limit=50')).body;
  t.same(items.map(({ result }: Body) => result).sort(), ['Rejected', 'Rejected', 'Rejected', 'Rejected', 'Success'], 'one record each');
  t.equal((await box.api.post(`${PAGES}/${id}/mark`, { mark: 'end' })).status, 200);
  await eventually('the trial is noted', async () => (await page(box, id)).trials[0]);
  await box.api.post(`${PAGES}/${id}/mark`, { mark: 'finish' });
  const sealed = await page(box, id);
  t.match(sealed, { phase: 'Sealed', outcome: 'incomplete', trials: [{ problems: [] }], signatures: [{ meaning: 'qualification', valid: true, problems: [] }] });
  t.equal((await box.api.delete(MODULE)).status, 204);
  t.same(
    (await box.api.get(PAGES)).body.map((each: Body) => each.id),
    [id],
    'pages outlive their module, and are found',
  );
  t.equal((await box.api.get(PAGES.replace('/plc/', '/other/'))).status, 404);
});

t.test('ADR 0079: a trial that was under way when the box was killed stands on its page, as one that shows nothing', async (t) => {
  const { box } = await killableBox(t);
  const { id } = (await box.api.post(`${MODULE}/cable-acceptance`, BEGUN)).body;
  const begun = await box.api.post(`${PAGES}/${id}/mark`, { mark: 'begin', trial: 'cable-pulled', note: 'at the switch' });
  t.match(begun, { status: 200, body: { trials: [], open: { trial: 'cable-pulled' } } });
  await box.end('SIGKILL');
  await box.start();
  const sealed = await eventually('the page is sealed', async () => {
    const { body } = await box.api.get(`${PAGES}/${id}`);
    return body.phase === 'Sealed' ? body : undefined;
  });
  t.match(sealed, { outcome: 'incomplete', end: { reason: 'restart' }, valid: true });
  t.match(sealed.trials, [{ trial: 'cable-pulled', note: 'at the switch', problems: [], incomplete: [/^the gateway ended while it was under way/] }]);
});

t.test('D-IO-01: a device of another maker that is stopped at the mark and goes on after the next one: every channel is Bad in time, and the trial has no problem', async (t) => {
  const peer = await ModbusPeer.start();
  const box = await startPlant({ production: true, environment: LIVE });
  t.teardown(async () => {
    peer.freeze(false);
    await box.end();
    await peer.kill();
  });
  await served(box, `127.0.0.1:${peer.port}`, { options: { pollInterval: '100ms', timeout: '1s' } });
  await eventually('every channel is Good', async () => (await quality(box)).every((word) => word === 'Good'));
  const { id } = (await box.api.post(`${MODULE}/cable-acceptance`, BEGUN)).body;
  t.equal((await box.api.post(`${PAGES}/${id}/mark`, { mark: 'begin', trial: 'half-open' })).status, 200);
  peer.freeze(true);
  await eventually('no channel is Good', async () => (await quality(box)).every((word) => word !== 'Good'));
  t.equal((await box.api.post(`${PAGES}/${id}/mark`, { mark: 'end' })).status, 200);
  peer.freeze(false);
  const trial = await eventually('the trial is noted', async () => (await page(box, id)).trials[0]);
  t.comment(`Bad after ${trial.firstBadMs} to ${trial.allBadMs} ms, oldest Good ${trial.oldestGoodMs} ms, Good again ${trial.goodAgainMs} ms after its end`);
  t.match(trial, { watched: 4, goodWhileGone: [], problems: [] });
});
