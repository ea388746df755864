/** The drivers of this build, each loaded when its first module connects. A new one is one line here and in protocols.ts. */
import type { Driver } from './driver.js';
import type { Protocol } from './protocols.js';

export type DriverTable = Readonly<Partial<Record<Protocol, () => Promise<Driver>>>>;

export const DRIVERS: DriverTable = {
  modbus: async () => (await import('./modbus/driver.js')).modbusDriver,
  ethernetip: async () => (await import('./ethernet-ip/driver.js')).ethernetIpDriver,
};
