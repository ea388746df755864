/** One device with an ownership register, and boxes that are configured to drive it. */
import type { Plant } from './plant.js';

export const NORTH = '/api/v1/sites/north';
export const PLC = `${NORTH}/iomodules/plc`;
/** Of pymodbus: registers 0 to 199 are there. */
export const REGISTER = 'holding:60';
export const OWNERSHIP_INTERVAL_MS = 500;

export const manifest = (kind: string, name: string, spec: object, metadata: object = { namespace: 'site-north' }) => ({
  apiVersion: 'physical.lineside.io/v1alpha1',
  kind,
  metadata: { name, ...metadata },
  spec,
});

export function plc(address: string): object {
  const channels = [
    { name: 'coil', address: 'coil:1', direction: 'output' },
    { name: 'level', address: 'holding:11' },
  ];
  const ownership = { address: REGISTER, intervalMs: OWNERSHIP_INTERVAL_MS };
  return { protocol: 'modbus', address, options: { pollInterval: '100ms', timeout: '500ms', ownership }, channels };
}

export const outputs = async (box: Plant): Promise<{ state: string; reason: string }> => (await box.api.get(PLC)).body.outputs;

export function until(box: Plant, what: string, state: string): Promise<unknown> {
  return box.look(what, async () => {
    const found = await outputs(box);
    return { done: found?.state === state || undefined, seen: JSON.stringify(found) };
  });
}
