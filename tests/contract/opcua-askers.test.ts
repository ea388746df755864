/** Whom questions to OPC UA servers wait for, and which servers are not asked. */
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import t from 'tap';
import { ownFolder } from '../support/own-folder.js';
import { OpcUaServer, PLANT_NAMESPACE } from '../support/opcua-server.js';
import { ApplianceTest, AT } from './appliance.js';

const test = await ApplianceTest.start();
t.teardown(() => test.stop());
const server = await OpcUaServer.start({ folder: ownFolder(t) });
t.teardown(() => server.kill());
const { admin } = test;
const engineer = await test.as('engineer');
const PATH = '/api/v1/discovery/opcua';
const SITE = AT.split('/').at(-1);
const FLOAT = `nsu=${PLANT_NAMESPACE};s=Float`;

/** Takes connections and says nothing. */
async function silentServer(): Promise<string> {
  const silent = net.createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  return `opc.tcp://127.0.0.1:${(silent.address() as AddressInfo).port}/plant`;
}

t.test('ROUTE-04: servers that are silent keep nobody from asking another one, nor this box for its certificate', async (t) => {
  let settled = 0;
  const silent = await Promise.all([silentServer(), silentServer(), silentServer()]);
  const asked = silent.map((endpointUrl) => admin.post(`${PATH}/read`, { endpointUrl, nodeIds: [FLOAT], timeoutMs: 10_000 }).then(({ status }) => ((settled += 1), status)));
  t.match(await engineer.post(`${PATH}/read`, { endpointUrl: server.url, nodeIds: [FLOAT] }), { status: 200 });
  t.match(await engineer.get(`${PATH}/client-identity`), { status: 200 });
  t.equal(settled, 0, 'the silent ones are still waited for');
  t.same(await Promise.all(asked), [503, 503, 503]);
});

t.test('ROUTE-04: a module that is disabled is connected to by no question', async (t) => {
  const made = await admin.post(`${AT}/iomodules`, { name: 'off', protocol: 'opcua', address: server.url, enabled: false, channels: [{ name: 'x', address: FLOAT }] });
  t.equal(made.status, 201, made.text);
  const refused = { status: 503, body: { code: 'device_unreachable', error: /off is disabled: no connection is made; enable it/ } };
  t.match(await engineer.post(`${PATH}/read`, { ioModule: 'off', site: SITE, nodeIds: [FLOAT] }), refused);
  t.match(await engineer.post(`${PATH}/write`, { ioModule: 'off', site: SITE, nodeId: FLOAT, value: 3 }), refused);
  t.match(await admin.delete(`${AT}/iomodules/off`), { status: 204 });
});

t.test('ROUTE-04: whoever is confined to a site asks no server that only modules of others are for, by whatever it is named', async (t) => {
  t.match(await admin.post('/api/v1/sites', { name: 'elsewhere' }), { status: 201 });
  t.match(await admin.post('/api/v1/sites/elsewhere/iomodules', { name: 'theirs', protocol: 'opcua', address: server.url, enabled: false }), { status: 201 });
  const confined = await test.as('engineer', `site-${SITE}`);
  const outside = { status: 403, body: { code: 'site_scope' } };
  t.match(await confined.post(`${PATH}/read`, { endpointUrl: server.url, nodeIds: [FLOAT] }), outside);
  t.match(await confined.post(`${PATH}/endpoints`, { endpointUrl: `${server.url}/` }), outside);
  t.match(await confined.post(`${PATH}/write`, { endpointUrl: server.url, nodeId: FLOAT, value: 3 }), outside);
  t.match(await engineer.post(`${PATH}/read`, { endpointUrl: server.url, nodeIds: [FLOAT] }), { status: 200 });
  t.match(await admin.delete('/api/v1/sites/elsewhere/iomodules/theirs'), { status: 204 });
  t.match(await confined.post(`${PATH}/read`, { endpointUrl: server.url, nodeIds: [FLOAT] }), { status: 200 }, "a server that is nobody's");
});
