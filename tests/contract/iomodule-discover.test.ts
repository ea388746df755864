/** Discovery on a configured module, over the whole appliance against a Modbus device of its own process. */
import t from 'tap';
import { ModbusPeer } from '../drivers/modbus-peer.js';
import { ApplianceTest, AT } from './appliance.js';

const test = await ApplianceTest.start();
t.teardown(() => test.stop());
const peer = await ModbusPeer.start();
t.teardown(() => peer.kill());
const admin = test.admin;
const IO = `${AT}/iomodules`;
const PLC = `${IO}/plc`;
const CHANNELS = [
  { name: 'level', address: 'holding:11' },
  { name: 'valve', address: 'coil:1', direction: 'output', readbackAddress: 'coil:1' },
];

t.test('IO-21, HIER-13: discovery needs admin and is on record', async (t) => {
  const made = await admin.post(IO, {
    name: 'plc',
    protocol: 'modbus',
    address: `127.0.0.1:${peer.port}`,
    options: { pollInterval: '100ms', timeout: '500ms' },
    channels: CHANNELS,
  });
  t.equal(made.status, 201, made.text);
  await test.until('the device is connected', PLC, (module) => module.state === 'Connected');
  t.match(await (await test.as('engineer')).post(`${PLC}/discover`), { status: 403, body: { action: 'iomodule:discover' } });
  const found = await admin.post(`${PLC}/discover`);
  t.match(
    found,
    {
      status: 200,
      body: {
        ioModule: 'plc',
        channels: [
          { channel: 'level', address: 'holding:11' },
          { channel: 'valve', address: 'coil:1' },
        ],
        offered: [],
        truncated: false,
        distinctAssetRecord: true,
        validated: true,
      },
    },
    found.text,
  );
  t.notOk(found.text.includes('"error"'));
  t.ok(found.body.startedAt <= found.body.finishedAt);
  t.match((await admin.get(`${AT}/audit?category=iomodule-discover&limit=1`)).body.items, [
    { action: 'Request', result: 'Success', target: { kind: 'IOModule', name: 'plc' }, details: { validated: true, channels: 2, notFound: 0 } },
  ]);
});

t.test('IO-01, IO-07: a module is validated as long as it is configured as it was discovered', async (t) => {
  t.match((await admin.get(PLC)).body, { validated: true, simulated: false });
  await admin.put(PLC, { description: 'the same device' });
  t.match((await admin.get(PLC)).body, { validated: true, description: 'the same device' });
  await admin.put(PLC, { channels: [...CHANNELS, { name: 'hole', address: 'holding:302' }] });
  await test.until('what was discovered is of before', PLC, (module) => module.validated === false);
  await test.until('the hole is seen', PLC, (module) => module.state === 'Degraded');
  const found = await admin.post(`${PLC}/discover`);
  t.match(found, { status: 200, body: { validated: false, channels: [{}, {}, { channel: 'hole', error: /illegal data address/ }] } }, found.text);
  t.match((await admin.get(PLC)).body, { validated: false });
});

t.test('Q-TIER-11: a device that is not there, or not connected, is 503 and leaves a record', async (t) => {
  await admin.put(PLC, { enabled: false });
  t.match(await admin.post(`${PLC}/discover`), { status: 503, body: { code: 'device_unreachable', error: /disabled/ } });
  await admin.put(PLC, { enabled: true, address: '127.0.0.1:1' });
  await test.until('it is lost', PLC, (module) => module.state === 'Disconnected');
  t.match(await admin.post(`${PLC}/discover`), { status: 503, body: { code: 'device_unreachable', error: /not connected/ } });
  t.match((await admin.get(`${AT}/audit?category=iomodule-discover&limit=1`)).body.items, [{ result: 'Rejected', target: { name: 'plc' } }]);
  t.match(await admin.post(`${IO}/nobody/discover`), { status: 404 });
});

t.test('decisions 6.1: a simulation offers the addresses of its behaviours beside its channels', async (t) => {
  const behaviors = [
    { address: 'level', type: 'NoisyConstant', params: { value: 5, noise: 0 } },
    { address: 'inflow', type: 'NoisyConstant', params: { value: 1, noise: 0 } },
  ];
  await admin.post(`${AT}/controllers`, { name: 'edge-d', simulation: true });
  await admin.post(IO, { name: 'sim', controllerRef: 'edge-d', protocol: 'simulation', channels: [{ address: 'level', dataType: 'float' }], simulation: { behaviors } });
  await test.until('it is simulated', `${IO}/sim`, (module) => module.state === 'Connected');
  t.match((await admin.get(`${IO}/sim`)).body, { simulated: true });
  const found = await admin.post(`${IO}/sim/discover`);
  t.match(
    found,
    {
      status: 200,
      body: { validated: true, channels: [{ channel: 'level', dataType: 'float', writable: false }], offered: [{ address: 'inflow', dataType: 'float', writable: false }] },
    },
    found.text,
  );
});
