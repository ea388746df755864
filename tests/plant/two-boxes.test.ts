/** Two whole appliances and one device: who writes its outputs, and what is refused (D-C-06, TAG-27). */
import t from 'tap';
import { ModbusPeer } from '../drivers/modbus-peer.js';
import type { ApiAnswer } from '../support/api-client.js';
import { type Plant, startPlant } from '../support/plant.js';
import { manifest, NORTH, outputs, PLC, plc, until } from '../support/shared-device.js';

/** The last audit record of a request. */
function verdictOn(box: Plant, answer: ApiAnswer): Promise<unknown> {
  return box.look('the record of a refusal', async () => {
    const { body, text } = await box.api.get(`${NORTH}/audit/correlation/${answer.headers.get('x-correlation-id')}`);
    return { done: body?.length >= 2 ? body.at(-1) : undefined, seen: text };
  });
}

t.test('D-C-06: a copy of the plant on another box writes nothing: it arrives disabled, and enabled it sees that the device has a master', async (t) => {
  const peer = await ModbusPeer.start();
  t.teardown(() => peer.kill());
  const [one, two] = [await startPlant({ production: true }), await startPlant({ production: true })];
  t.teardown(() => Promise.all([one.end(), two.end()]));
  const made = await one.api.post('/api/v1/apply', [manifest('Site', 'north', {}, {}), manifest('IOModule', 'plc', plc(`127.0.0.1:${peer.port}`))]);
  t.equal(made.status, 200, made.text);
  await until(one, 'the first box drives the device', 'live');
  t.match(await one.api.post(`${PLC}/write`, { channel: 'coil', value: true }), { status: 200 });

  const applied = await two.api.post('/api/v1/apply', (await one.api.get('/api/v1/export')).body);
  t.equal(applied.status, 200, applied.text);
  t.match(applied.body.find(({ kind }: { kind: string }) => kind === 'IOModule').warnings, [/arrives disabled/]);
  t.match((await two.api.get(PLC)).body, { enabled: false, state: 'Pending', outputs: { state: 'disabled' }, writePosture: { summary: /at present disabled/ } });
  t.match(await two.api.post(`${PLC}/write`, { channel: 'coil', value: false }), { status: 409, body: { code: 'outputs_withheld' } });

  t.match(await two.api.put(PLC, { enabled: true }), { status: 200, body: { enabled: true } });
  await until(two, 'the second box withholds', 'withheld');
  await two.look('the alarm of the second master', async () => {
    const { body, text } = await two.api.get(`${NORTH}/alarms`);
    const list = (Array.isArray(body) ? body : (body.items ?? [])) as { severity: string; message: string }[];
    return { done: list.some(({ severity, message }) => severity === 'High' && /plc are withheld: another box/.test(message)) || undefined, seen: text.slice(0, 300) };
  });
  const refused = await two.api.post(`${PLC}/write`, { channel: 'coil', value: false });
  t.match(refused, { status: 409, body: { code: 'outputs_withheld' } });
  t.match(await verdictOn(two, refused), { result: 'Rejected', reason: 'OutputsWithheld' });
  t.match((await two.api.post(`${PLC}/read`, { channel: 'level' })).body, { quality: 'Good' }, 'what is measured is read all the same');
  t.equal((await outputs(one)).state, 'live');
  t.match((await one.api.post(`${PLC}/read`, { channel: 'coil' })).body, { value: true });
});

t.test('D-C-06, TAG-27: a box that withholds reads its devices and refuses every write; one whose device is away refuses them too', async (t) => {
  const peer = await ModbusPeer.start();
  t.teardown(() => peer.kill());
  const box = await startPlant({ production: true, environment: { LINESIDE_IO__OUTPUTS: 'withheld' } });
  t.teardown(() => box.end());
  const tag = { name: 'lamp', channel: 'plc:coil:1', dataType: 'Boolean', accessLevel: 'readwrite' };
  const made = await box.api.post('/api/v1/apply', [
    manifest('Site', 'north', {}, {}),
    manifest('Area', 'hall', {}),
    manifest('ProcessCell', 'cell', { areaName: 'hall' }),
    manifest('Unit', 'u1', { processCellName: 'cell' }),
    manifest('IOModule', 'plc', { ...plc(`127.0.0.1:${peer.port}`), options: { pollInterval: '100ms', timeout: '500ms' } }),
    manifest('ControlModuleTemplate', 'lamp', { tags: [tag] }, {}),
    manifest('ControlModule', 'gm', { parentKind: 'Unit', parentName: 'u1', templateRef: 'lamp', mode: 'Manual' }),
  ]);
  t.equal(made.status, 200, made.text);
  await box.look('the unit scans and the device is read', async () => {
    const [unit, module] = [(await box.api.get(`${NORTH}/units/u1`)).body, (await box.api.get(PLC)).body];
    return { done: (unit.runtimeReady && module.state === 'Connected') || undefined, seen: JSON.stringify([unit.runtimeReady, module.state, module.message]) };
  });
  t.match(await outputs(box), { state: 'withheld', reason: /io\.outputs/ });
  t.match(await box.api.post(`${NORTH}/mode`, { kind: 'ControlModule', name: 'gm', mode: 'Manual' }), { status: 200 });
  const write = (): ReturnType<typeof box.api.post> => box.api.post(`${NORTH}/units/u1/tags/gm.lamp`, { value: true });
  // until the unit has scanned what its device says of itself, the device is away to it: refused as well
  const refused = await box.look('the unit knows that its outputs are withheld', async () => {
    const answer = await write();
    t.not(answer.status, 200, 'no write is taken meanwhile');
    return { done: answer.status === 409 ? answer : undefined, seen: answer.text };
  });
  t.match(refused, { status: 409, body: { code: 'outputs_withheld' } });
  t.match(await verdictOn(box, refused), { result: 'Rejected', reason: 'OutputsWithheld' });

  t.match(await box.api.put(PLC, { address: '127.0.0.1:1' }), { status: 200 });
  await box.restart({ LINESIDE_IO__OUTPUTS: 'live' });
  await box.look('the unit scans again', async () => {
    const unit = (await box.api.get(`${NORTH}/units/u1`)).body;
    return { done: unit.runtimeReady || undefined, seen: JSON.stringify(unit.runtimeReady) };
  });
  const away = await write();
  t.match(away, { status: 503, body: { code: 'device_unreachable' } });
  t.match(await verdictOn(box, away), { result: 'Failed', reason: 'DeviceUnreachable' });
  t.match((await box.api.get(`${NORTH}/units/u1/tags/gm.lamp`)).body, { value: false }, 'nothing waits for the device');
});
