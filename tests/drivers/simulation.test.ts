import t from 'tap';
import type { ProbeChannel, ProbeModule } from '../../runtime/port.js';
import { simulationDriver } from '../../runtime/io/simulation/driver.js';
import { processImageBytes } from '../../runtime/vocabulary/process-image.js';
import { conformance } from './conformance.js';

const channel = (address: string, dataType: ProbeChannel['dataType'], direction: ProbeChannel['direction'] = 'output'): ProbeChannel => ({
  name: address,
  address,
  direction,
  dataType,
  readbackAddress: '',
  pollIntervalMs: 0,
});

const channels = [channel('valve', 'bool'), channel('count', 'int'), channel('level', 'float'), channel('batch', 'string'), channel('sensor', 'float', 'input')];

const module: ProbeModule = {
  site: 'north',
  module: 'sim',
  protocol: 'simulation',
  address: '',
  options: {},
  channels,
  simulation: { seed: 1, behaviors: [{ address: 'sensor', type: 'NoisyConstant', params: { value: 5, noise: 1 } }], faults: [] },
  image: new SharedArrayBuffer(processImageBytes(channels.length)),
};

conformance(t, () => ({
  driver: simulationDriver,
  module,
  notAnAddress: '10.0.0.1',
  notAChannel: '1level',
  writable: [
    { point: { address: 'valve', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'count', dataType: 'int' }, values: [-7, 12] },
    { point: { address: 'level', dataType: 'float' }, values: [1.25, -3.5] },
    { point: { address: 'batch', dataType: 'string' }, values: ['B-1', ''] },
  ],
  readable: channels.map(({ address, dataType }) => ({ address, dataType })),
  missing: { address: 'nowhere', dataType: 'float' },
}));
