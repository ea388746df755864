/** A box that is killed in each moment of a loop check, and a probe that hangs in one: outputs go back once, and the sheet is signed once. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import Database from '../../../src/platform/base/sqlite.js';
import { eventually } from '../../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../../support/appliance-process.js';
import { FieldDevice, FULL } from '../../support/field-device.js';
import { begun, type Body, connected, gone, LIST, LIVE, PATIENT, QUICK, served, stepped, untilSealed, untilWaiting, V1 } from '../../support/loop-checked.js';

const BEFORE = 120;
const ENVIRONMENT = { ...LIVE, LINESIDE_AUTH__MODE: 'none', LINESIDE_DEMO__ENABLED: 'false' };
const preloaded = (name: string): string => fileURLToPath(new URL(`../../support/${name}.js`, import.meta.url));

async function boxOf(t: Test, device: FieldDevice, more: object): Promise<ApplianceProcess> {
  device.holding[0] = BEFORE;
  const box = await applianceProcess({ environment: ENVIRONMENT, ...more });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
    await device.kill();
  });
  await box.start();
  return box;
}

const writesOf = (device: FieldDevice): number[] => device.writes.filter(({ table, offset }) => table === 'holding' && offset === 0).map(({ value }) => value);
const rowsOf = async ({ api }: ApplianceProcess, query: string): Promise<Body[]> => (await api.get(`/api/v1/audit?${query}&limit=50`)).body.items;

const KILLS = [
  { at: 'hold set 500', what: 'before the third step leaves for the device', stands: 250, isWrittenAgain: true, ends: 'restart' },
  { at: 'hold return', what: 'before the way back is asked for', stands: 500, isWrittenAgain: true, ends: 'restart' },
  { at: '"returned":[{', what: 'when the outputs are back and that is not on record', stands: BEFORE, isWrittenAgain: true, ends: 'aborted' },
  { at: '"phase":"Sealed"', what: 'when that is on record and the sheet is not sealed', stands: BEFORE, isWrittenAgain: false, ends: 'aborted' },
] as const;

for (const { at, what, stands, isWrittenAgain, ends } of KILLS) {
  t.test(`ADR 0078: a kill ${what}: the next start brings back what is not back, and seals the sheet once`, async (t) => {
    const device = await FieldDevice.start();
    const killed = await boxOf(t, device, { preload: preloaded('killed-at'), environment: { ...ENVIRONMENT, KILLED_AT: at } });
    await served(killed, device.address, PATIENT);
    const { id } = await begun(killed, { ...QUICK, channels: [V1] });
    await stepped(killed, id, 2);
    await killed.api.post(`${LIST}/${id}/confirm`, { step: 3 }).catch(() => undefined);
    if (killed.isRunning) await untilWaiting(killed, id, 4).catch(() => undefined);
    if (killed.isRunning) await killed.api.post(`${LIST}/${id}/abort`, { reason: 'enough' }).catch(() => undefined);
    await eventually('it is killed', async () => !killed.isRunning);
    t.equal(device.holding[0], stands, 'as the kill has left it');
    const before = writesOf(device).length;

    const box = await applianceProcess({ environment: ENVIRONMENT, dataDir: killed.dataDir });
    t.teardown(() => box.end('SIGKILL'));
    await box.start();
    t.match(await untilSealed(box, id), {
      end: { reason: ends },
      outcome: 'incomplete',
      signedBy: 'loop-check',
      valid: true,
      returned: [{ channel: 'v1', value: BEFORE, isReturned: true }],
    });
    await connected(box);
    t.equal(device.holding[0], BEFORE);
    t.same(writesOf(device).slice(before), isWrittenAgain ? [BEFORE] : [], 'what is back is not written again');
    t.equal((await rowsOf(box, 'category=loop-check&action=Sign')).length, 1, 'one signature');
    t.match(await rowsOf(box, 'category=iomodule-write').then((rows) => rows.filter(({ details }) => details.isWayBack)), [{ result: 'Success' }], 'one way back is on record');
    await box.end('SIGKILL');
    await box.start();
    await connected(box);
    t.equal((await rowsOf(box, 'category=loop-check&action=Sign')).length, 1, 'and the start after it leaves the sheet alone');
    t.same(writesOf(device).slice(before), isWrittenAgain ? [BEFORE] : []);
  });
}

t.test('ADR 0078: a probe that hangs in the middle of a step ends the check; the thread that comes after it brings the output back', async (t) => {
  const device = await FieldDevice.start();
  const box = await boxOf(t, device, { preload: preloaded('with-hanging-probes') });
  await served(box, device.address, PATIENT);
  const { id } = await begun(box, { ...QUICK, channels: [V1] });
  await stepped(box, id, 2);
  await box.api.post(`${LIST}/${id}/confirm`, { step: 3 });
  await eventually('the device has the step', async () => device.holding[0] === FULL / 2);
  const sheet = await untilSealed(box, id);
  t.match(sheet, { end: { reason: /^(device-lost|hold-lost)$/ }, outcome: 'incomplete', signedBy: 'loop-check', valid: true });
  t.match(sheet.returned, [{ channel: 'v1', value: BEFORE, isReturned: true }]);
  t.equal(device.holding[0], BEFORE);
  t.comment(`${sheet.end.reason}: ${sheet.end.message}`);
  const steps = (await rowsOf(box, 'category=iomodule-write')).filter(({ details }) => details.step === 3);
  t.same(steps.map(({ result }) => result).sort(), ['Accepted', 'Failed'], 'what nobody answered is on record as such');
  t.match(
    steps.find(({ result }) => result === 'Failed'),
    { reason: 'OutcomeUnknown' },
  );
});

const NORTH_ALARMS = '/api/v1/sites/north/alarms';
const EDITS = [
  { what: 'with another value of before', from: `"value":${BEFORE}`, to: '"value":700', isRead: true },
  { what: 'with another address', from: '"address":"holding:0"', to: '"address":"holding:7"', isRead: true },
  { what: 'as if it were sealed', from: '"phase":"Running"', to: '"phase":"Sealed"', isRead: true },
  { what: 'cut in half', from: '"spec"', to: '', isRead: false },
] as const;

for (const { what, from, to, isRead } of EDITS) {
  t.test(`ADR 0104, ADR 0018: the row of an open sheet that lies on the disk ${what} drives nothing, and is told at the sheet, the module and by an alarm`, async (t) => {
    const device = await FieldDevice.start();
    const box = await boxOf(t, device, {});
    await served(box, device.address, PATIENT);
    const { id } = await begun(box, { ...QUICK, channels: [V1] });
    await stepped(box, id, 3);
    await box.end('SIGKILL');
    const written = device.writes.length;
    const database = new Database(path.join(box.dataDir, 'state.db'));
    const where = "WHERE kind = 'LoopCheck' AND name = ?";
    if (isRead) t.equal(database.prepare(`UPDATE resources SET body = replace(body, ?, ?) ${where}`).run(from, to, id).changes, 1);
    else t.equal(database.prepare(`UPDATE resources SET body = substr(body, 1, instr(body, ?)) ${where}`).run(from, id).changes, 1);
    database.close();
    await box.start();
    await connected(box);
    if (isRead) {
      const sheet = await eventually('the sheet is closed', async () => {
        const { body } = await box.api.get(`${LIST}/${id}`);
        return body.end?.reason === 'altered' ? body : undefined;
      });
      t.match(sheet, { outcome: 'incomplete', end: { reason: 'altered' }, signature: '', valid: false, problems: [/changed past the product: nothing was driven out of it/] });
      t.match(sheet.returned, [{ channel: 'v1', isReturned: false, message: /may stand as they were stepped/ }]);
      t.match(await box.api.post('/api/v1/system/integrity', {}), { body: { ok: false } });
    }
    const told = await eventually('the module tells of it', async () =>
      (await box.api.get('/api/v1/sites/north/iomodules/plc')).body.conditions.find(({ type }: Body) => type === 'OutputsAsStepped'),
    );
    t.match(told, { status: 'True', message: new RegExp(id) });
    const alarm = await eventually('an alarm tells of it', async () =>
      (await box.api.get(NORTH_ALARMS)).body.find(({ message }: Body) => /may stand as they were stepped/.test(message)),
    );
    t.match(alarm, { severity: 'High' });
    t.same([device.holding[0], device.holding[7], device.writes.length], [FULL / 2, 0, written], 'nothing was written that nobody commanded');
    if (!isRead) return;
    await gone(box, { ...QUICK, channels: [V1] });
    await eventually('a later check that has come to its end ends it', async () => {
      const { conditions } = (await box.api.get('/api/v1/sites/north/iomodules/plc')).body;
      return !conditions.some(({ type }: Body) => type === 'OutputsAsStepped');
    });
  });
}

t.test('ADR 0104: a kill between the sealing of an altered sheet and what its module tells of it: the next start tells it', async (t) => {
  const device = await FieldDevice.start();
  const first = await boxOf(t, device, {});
  await served(first, device.address, PATIENT);
  const { id } = await begun(first, { ...QUICK, channels: [V1] });
  await stepped(first, id, 3);
  await first.end('SIGKILL');
  const database = new Database(path.join(first.dataDir, 'state.db'));
  database.prepare("UPDATE resources SET body = replace(body, ?, ?) WHERE kind = 'LoopCheck' AND name = ?").run(`"value":${BEFORE}`, '"value":700', id);
  database.close();
  const killed = await applianceProcess({ environment: { ...ENVIRONMENT, KILLED_AT: 'OutputsAsStepped' }, preload: preloaded('killed-at'), dataDir: first.dataDir });
  t.teardown(() => killed.end('SIGKILL'));
  await killed.start().catch(() => undefined);
  await eventually('it is killed', async () => !killed.isRunning);

  const box = await applianceProcess({ environment: ENVIRONMENT, dataDir: first.dataDir });
  t.teardown(() => box.end('SIGKILL'));
  await box.start();
  await connected(box);
  t.match(await untilSealed(box, id), { end: { reason: 'altered' } });
  await eventually('the module tells of it', async () =>
    (await box.api.get('/api/v1/sites/north/iomodules/plc')).body.conditions.find(({ type }: Body) => type === 'OutputsAsStepped'),
  );
  await eventually('an alarm tells of it', async () => (await box.api.get(NORTH_ALARMS)).body.find(({ message }: Body) => /may stand as they were stepped/.test(message)));
});
