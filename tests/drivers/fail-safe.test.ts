/** Fail-safe values at a real device that does not take them: it is named, and asked again until it does. */
import t from 'tap';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { FieldDevice } from '../support/field-device.js';
import { channelsOf, startProbe, until } from './probe-harness.js';

t.test('decisions 7.6: a fail-safe value that the device refuses is named in the state of the module, and is written again until it is taken', async (t) => {
  const device = await FieldDevice.start();
  t.teardown(() => device.kill());
  const output = { direction: 'output' } as const;
  const channels = channelsOf([
    ['valve', 'coil:1', 'bool', output],
    ['pump', 'coil:2', 'bool', output],
    ['level', 'input:3', 'int'],
  ]);
  const image = new ProcessImage(channels.length);
  const probe = await startProbe(t, [
    {
      site: 'north',
      module: 'io',
      protocol: 'modbus',
      address: device.address,
      options: { pollInterval: '20ms', timeout: '1s' },
      channels,
      image: image.buffer,
      failSafe: { posture: 'supervisory', timeoutMs: 500, heartbeatChannel: '', outputs: [{ channel: 'valve', value: false }] },
    },
  ]);
  await until('connected', () => probe.state() === 'Connected');
  for (const channel of [0, 1]) image.write(channel, 1); // the last that a runtime says
  await until('both are open', () => device.coils[1] === 1 && device.coils[2] === 1);
  device.isLocked = true;
  await until('it is named', () => /^the unit runtime is silent: fail-safe values written, except valve \(.+\)$/.test(probe.message()));
  t.equal(probe.state(), 'Degraded');
  t.equal(device.coils[1], 1);
  device.isLocked = false;
  await until('it has been written again', () => device.coils[1] === 0);
  await until('and is named no more', () => probe.message() === 'the unit runtime is silent: fail-safe values written');
  t.equal(device.coils[2], 1, 'what has no fail-safe value stays');
});
