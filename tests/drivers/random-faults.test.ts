/** The drawn faults find what they are there for: a driver that carries out later what it has given up. */
import t, { type Test } from 'tap';
import type { Driver, Link } from '../../runtime/io/driver.js';
import { modbusDriver } from '../../runtime/io/modbus/driver.js';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { freePort } from '../support/appliance-process.js';
import type { DeviceHandle, FaultCase } from './conformance-faults.js';
import { ModbusPeer } from './modbus-peer.js';
import { randomFaults } from './random-faults.js';

const FAULTS = 60;

async function device(t: Test): Promise<DeviceHandle> {
  const port = await freePort();
  let peer = await ModbusPeer.start(port);
  t.teardown(() => peer.kill());
  return {
    port,
    kill: () => peer.kill(),
    async restart() {
      peer = await ModbusPeer.start(port);
    },
  };
}

const caseOf = (driver: Driver): FaultCase => ({
  drivers: { modbus: async () => driver },
  device,
  module: (name, port, channels, options = {}) => ({
    site: 'north',
    module: name,
    protocol: 'modbus',
    address: `127.0.0.1:${port}`,
    options,
    channels,
    image: new ProcessImage(channels.length).buffer,
  }),
  inputs: [{ row: ['a', 'holding:11', 'int'], value: 65000 }],
  output: { row: ['out', 'holding:130', 'int'], shows: ['echo', 'holding:130', 'int'] },
  written: (request) => (request[7] === 6 ? [request.readUInt16BE(10)] : []),
  missing: ['hole', 'holding:302', 'int'],
  many: [],
  lies: [],
});

/** Gives to the device of the next connection what it has failed to give to the one before. */
function stubborn(): Driver {
  const failed = new Map<string, Parameters<Link['write']>>();
  return {
    ...modbusDriver,
    async connect(module, clock) {
      const link = await modbusDriver.connect(module, clock);
      const owed = failed.get(module.address);
      if (owed) link.write(owed[0], owed[1]).catch(() => undefined);
      failed.delete(module.address);
      const write: Link['write'] = async (point, value, barred) => {
        const outcome = await link.write(point, value, barred);
        if (!outcome.ok) failed.set(module.address, [point, value]);
        return outcome;
      };
      return { lost: link.lost, read: (points, sink) => link.read(points, sink), write, close: () => link.close() };
    },
  };
}

t.test('TAG-27: a driver that carries out later what it has given up is found', async (t) => {
  const counts = await randomFaults(t, () => caseOf(stubborn()), FAULTS, 7);
  t.ok(counts.outputsNobodyCommanded > 0, JSON.stringify(counts));
});
