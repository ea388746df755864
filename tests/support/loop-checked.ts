/** A box with one module of three outputs on a device of the field, and loop checks of it. */
import type { Test } from 'tap';
import { type ApplianceProcess, applianceProcess } from './appliance-process.js';
import { FieldDevice, FULL } from './field-device.js';
import { manifest } from './manifest.js';
import { type ApiClient, eventually } from './api-client.js';

/** An appliance, in this process or in its own. */
export interface Box {
  readonly api: ApiClient;
}

export const NORTH = '/api/v1/sites/north';
export const CHECK = `${NORTH}/iomodules/plc/loop-check`;
export const LIST = `${NORTH}/iomodules/plc/loop-checks`;
export const REASON = 'loop check of the new valve';

/** An empty box whose outputs are live. */
export const LIVE = {
  LINESIDE_GATEWAY__OPERATINGMODE: 'development',
  LINESIDE_IO__OUTPUTS: 'live',
  LINESIDE_IO__RECONNECT__MIN: '50ms',
};

export const module = (address: string, more: object = {}) => ({
  protocol: 'modbus',
  address,
  options: { pollInterval: '100ms', timeout: '300ms', retries: 0 },
  channels: [
    { name: 'v1', address: 'holding:0', direction: 'output', readbackAddress: 'input:0' },
    { name: 'v2', address: 'holding:1', direction: 'output', readbackAddress: 'input:1' },
    { name: 'xv', address: 'coil:0', direction: 'output', readbackAddress: 'discrete:0' },
    { name: 'limit', address: 'discrete:5' },
  ],
  ...more,
});

/** A valve of a unit on the first output. */
export const VALVE_LOGIC = [
  manifest('Area', 'hall'),
  manifest('ProcessCell', 'line', { areaName: 'hall' }),
  manifest('Unit', 'tank', { processCellName: 'line' }),
  manifest(
    'ControlModuleTemplate',
    'valve',
    {
      moduleType: 'control-valve',
      tags: [{ name: 'out', dataType: 'Float', accessLevel: 'readwrite', blockRef: 'ao', portRef: 'IN', engMin: '0', engMax: '100' }],
      blocks: [{ name: 'ao', type: 'AO', params: { addr: '', rawMin: 0, rawMax: FULL, outMin: 0, outMax: 100 } }],
    },
    {},
  ),
  manifest('ControlModule', 'fv', { parentKind: 'Unit', parentName: 'tank', templateRef: 'valve', paramOverrides: [{ blockRef: 'ao', param: 'addr', value: 'plc:v1' }] }),
];

/** A machine at work is no lost device. */
export const PATIENT = { options: { pollInterval: '100ms', timeout: '3s', retries: 0 } };

export async function served(box: Box, address: string, more: object = {}): Promise<void> {
  const answer = await box.api.post('/api/v1/apply', [manifest('Site', 'north', {}, {}), manifest('IOModule', 'plc', module(address, more))]);
  if (answer.status !== 200) throw new Error(answer.text);
  await connected(box);
}

export const connected = (box: Box): Promise<Body> =>
  eventually('the module is connected', async () => {
    const { body } = await box.api.get(`${NORTH}/iomodules/plc`);
    return body.state === 'Connected' && body.outputs?.state === 'live' ? body : undefined;
  });

export const V1 = { channel: 'v1', low: 0, high: FULL };
export const QUICK = { reason: REASON, settle: '200ms', attendTimeout: '30s' };

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
export type Body = any;

export const read = async (box: Box, id: string): Promise<Body> => (await box.api.get(`${LIST}/${id}`)).body;

/** The step waits for a person, or the check has ended. */
export const untilWaiting = (box: Box, id: string, step: number): Promise<Body> =>
  eventually(`step ${step} waits`, async () => {
    const body = await read(box, id);
    return body.phase !== 'Running' || (body.next?.isWaiting && body.next.step === step) ? body : undefined;
  });

export const untilSealed = (box: Box, id: string): Promise<Body> =>
  eventually('the sheet is sealed', async () => {
    const body = await read(box, id);
    return body.phase === 'Sealed' ? body : undefined;
  });

/** Confirms the first steps; each of them has been looked at. */
export async function stepped(box: Box, id: string, count: number): Promise<Body> {
  for (let step = 1; step <= count; step += 1) {
    await untilWaiting(box, id, step);
    await box.api.post(`${LIST}/${id}/confirm`, { step });
  }
  return untilWaiting(box, id, count + 1);
}

export async function begun(box: Box, body: object): Promise<Body> {
  const answer = await box.api.post(CHECK, body);
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body;
}

/** Confirms step after step until the sheet is sealed. */
export async function gone(box: Box, body: object): Promise<Body> {
  const { id } = await begun(box, body);
  for (let step = 1; ; step += 1) {
    const seen = await untilWaiting(box, id, step);
    if (seen.phase !== 'Running') break;
    const answer = await box.api.post(`${LIST}/${id}/confirm`, { step });
    if (answer.status !== 200) break;
    if (step === seen.channels.reduce((sum: number, { dataType }: Body) => sum + (dataType === 'bool' ? 3 : 5), 0)) break;
  }
  return untilSealed(box, id);
}

/** In a process of its own, with its device and the module of it; both end with the test. */
export async function killableBox(t: Test): Promise<{ readonly box: ApplianceProcess; readonly device: FieldDevice }> {
  const device = await FieldDevice.start();
  const box = await applianceProcess({ environment: { ...LIVE, LINESIDE_AUTH__MODE: 'none', LINESIDE_DEMO__ENABLED: 'false' } });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
    await device.kill();
  });
  await box.start();
  await served(box, device.address);
  return { box, device };
}
