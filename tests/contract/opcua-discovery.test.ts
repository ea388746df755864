/** Discovery of OPC UA servers over the whole appliance, against a server of its own process. */
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import t from 'tap';
import { freePort } from '../support/appliance-process.js';
import { at } from '../support/at.js';
import { FaultProxy } from '../support/fault-proxy.js';
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
const IO = `${AT}/iomodules`;
const SITE = AT.split('/').at(-1);
const node = (name: string): string => `nsu=${PLANT_NAMESPACE};s=${name}`;
const bare = { endpointUrl: server.url };
const FLOAT = node('Float');

/** Takes connections and says nothing. */
async function silentServer(): Promise<string> {
  const silent = net.createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  return `opc.tcp://127.0.0.1:${(silent.address() as AddressInfo).port}/plant`;
}

t.test('ROUTE-04, AUTH-34: the questions to servers are those of engineers', async (t) => {
  const operator = await test.as('operator');
  for (const verb of ['endpoints', 'browse', 'search', 'variables', 'services', 'read', 'method-args', 'write'])
    t.match(await operator.post(`${PATH}/${verb}`, bare), { status: 403, body: { action: `discovery:${verb}` } }, verb);
  t.match(await operator.get(`${PATH}/client-identity`), { status: 403 });
});

t.test('ROUTE-04: a question names a module with its site, or an address: exactly one of them, and nothing but OPC UA', async (t) => {
  t.match(await engineer.post(`${PATH}/endpoints`, {}), { status: 400, body: { field: 'ioModule' } });
  t.match(await engineer.post(`${PATH}/endpoints`, { ...bare, ioModule: 'plc', site: SITE }), { status: 400, body: { field: 'ioModule' } });
  t.match(await engineer.post(`${PATH}/endpoints`, { ioModule: 'plc' }), { status: 400, body: { field: 'site' } });
  t.match(await engineer.post(`${PATH}/endpoints`, { ioModule: 'nowhere', site: SITE }), { status: 404 });
  t.match(await engineer.post(`${PATH}/endpoints`, { endpointUrl: 'http://127.0.0.1:80/' }), { status: 400, body: { field: 'endpointUrl' } });
  t.match(await engineer.post(`${PATH}/endpoints`, { ...bare, timeoutMs: 50 }), { status: 400, body: { field: 'timeoutMs' } });
  t.match(await engineer.post(`${PATH}/endpoints`, { ...bare, security: { securityPolicy: 'None', securityMode: 'Sign' } }), { status: 400 });
  t.match(await engineer.post(`${PATH}/read`, { ...bare, nodeIds: ['warm'] }), { status: 400, body: { field: 'nodeIds' } });
});

t.test('ROUTE-04: a server that is not there is 503 with the status of OPC UA', async (t) => {
  const gone = await engineer.post(`${PATH}/endpoints`, { endpointUrl: 'opc.tcp://127.0.0.1:1', timeoutMs: 3000 });
  t.match(gone, { status: 503, body: { code: 'device_unreachable', opcStatus: /^Bad/ } }, gone.text);
});

t.test('ROUTE-04: endpoints, browse, search, variables and methods', async (t) => {
  const { body } = await engineer.post(`${PATH}/endpoints`, bare);
  t.equal(body.endpoints.length, 7, 'None, and three policies by two modes');
  t.ok(body.endpoints.every((row: { serverCertificateSha256: string }) => row.serverCertificateSha256 === server.sha256));
  t.match(
    body.endpoints.find((row: { securityPolicy: string; securityMode: string }) => row.securityPolicy === 'Basic256Sha256' && row.securityMode === 'Sign'),
    { applicationUri: 'urn:lineside:test-plant', userTokenTypes: ['UserName', 'Certificate', 'Anonymous'] },
  );
  const top = await engineer.post(`${PATH}/browse`, bare);
  t.match(top.body, { nodeId: 'i=85', truncated: false });
  t.ok(
    top.body.references.some((row: { nodeId: string; hasChildren: boolean }) => row.nodeId === node('Plant') && row.hasChildren),
    top.text,
  );
  const cut = await engineer.post(`${PATH}/browse`, { ...bare, nodeId: node('Plant'), maxNodes: 3 });
  t.match([cut.body.references.length, cut.body.truncated], [3, true]);
  t.match(await engineer.post(`${PATH}/browse`, { ...bare, nodeId: node('Nowhere') }), { status: 503, body: { opcStatus: 'BadNodeIdUnknown' } });
  const found = await engineer.post(`${PATH}/search`, { ...bare, text: 'feedb', root: node('Plant') });
  t.match(found.body, { items: [{ nodeId: node('Valve.Feedback'), browsePath: '/Valve/Feedback', nodeClass: 'Variable', dataType: 'Double' }], truncated: false }, found.text);
  t.match((await engineer.post(`${PATH}/search`, { ...bare, text: 'Back', root: node('Circle') })).body, { truncated: false }, 'a circle ends');
  const variables = await engineer.post(`${PATH}/variables`, { ...bare, root: node('Valve') });
  t.match(
    variables.body.items,
    [
      { nodeId: node('Valve.Setpoint'), accessLevel: 'read write', value: 10, engUnits: '%', engMin: 0, engMax: 100, readbackNodeId: node('Valve.Feedback') },
      { nodeId: node('Valve.Feedback'), accessLevel: 'read', readbackNodeId: '' },
    ],
    variables.text,
  );
  t.match((await engineer.post(`${PATH}/services`, bare)).body, { items: [] });
  const method = await engineer.post(`${PATH}/method-args`, { ...bare, objectId: node('Calculator'), methodId: node('Calculator.Add') });
  t.match(
    method.body,
    {
      inputArguments: [
        { name: 'a', dataType: 'Double', valueRank: -1, description: 'first summand' },
        { name: 'b', dataType: 'Int32' },
      ],
      outputArguments: [{ name: 'sum' }],
    },
    method.text,
  );
});

t.test('ROUTE-04: values come with their qualities, and 64 bits lose no digit', async (t) => {
  const read = await engineer.post(`${PATH}/read`, { ...bare, nodeIds: ['Double', 'Int64', 'Uncertain', 'Bad', 'Nowhere', 'Array'].map(node) });
  t.match(
    read.body.values,
    [
      { nodeId: node('Double'), value: 21.25, dataType: 'Double', quality: 'Good', opcStatus: 'Good' },
      { value: '9223372036854775792', dataType: 'Int64' },
      { value: 9, quality: 'Uncertain', opcStatus: 'UncertainLastUsableValue' },
      { quality: 'Bad', opcStatus: 'BadSensorFailure' },
      { value: null, quality: 'Bad', opcStatus: 'BadNodeIdUnknown' },
      { value: [1, 2, 3, 4], dataType: 'Double' },
    ],
    read.text,
  );
});

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
  const made = await admin.post(IO, { name: 'off', protocol: 'opcua', address: server.url, enabled: false, channels: [{ name: 'x', address: FLOAT }] });
  t.equal(made.status, 201, made.text);
  const refused = { status: 503, body: { code: 'device_unreachable', error: /off is disabled: no connection is made; enable it/ } };
  t.match(await engineer.post(`${PATH}/read`, { ioModule: 'off', site: SITE, nodeIds: [FLOAT] }), refused);
  t.match(await engineer.post(`${PATH}/write`, { ioModule: 'off', site: SITE, nodeId: FLOAT, value: 3 }), refused);
  t.match(await admin.delete(`${IO}/off`), { status: 204 });
});

t.test('ROUTE-04: whoever is confined to a site asks no server that only modules of others are for, by whatever it is named', async (t) => {
  t.match(await admin.post('/api/v1/sites', { name: 'elsewhere' }), { status: 201 });
  t.match(await admin.post('/api/v1/sites/elsewhere/iomodules', { name: 'theirs', protocol: 'opcua', address: server.url, enabled: false }), { status: 201 });
  const confined = await test.as('engineer', `site-${SITE}`);
  const outside = { status: 403, body: { code: 'site_scope' } };
  t.match(await confined.post(`${PATH}/read`, { endpointUrl: server.url, nodeIds: [FLOAT] }), outside);
  t.match(await confined.post(`${PATH}/endpoints`, { endpointUrl: `${server.url}/` }), outside);
  t.match(await confined.post(`${PATH}/write`, { endpointUrl: server.url, nodeId: FLOAT, value: 3 }), outside);
  const questions = {
    endpoints: {},
    browse: {},
    search: { text: 'x' },
    variables: {},
    services: {},
    read: { nodeIds: [FLOAT] },
    'method-args': { objectId: FLOAT, methodId: FLOAT },
  };
  const forward = await FaultProxy.start(() => server.port);
  t.teardown(() => forward.stop());
  const spellings = [`opc.tcp://localhost:${server.port}/plant`, `opc.tcp://127.0.0.2:${server.port}`, `opc.tcp://127.0.0.1:${forward.port}/plant`];
  for (const endpointUrl of spellings)
    for (const [verb, question] of Object.entries(questions)) t.match(await confined.post(`${PATH}/${verb}`, { endpointUrl, ...question }), outside, `${verb} ${endpointUrl}`);
  t.match(await confined.post(`${PATH}/write`, { endpointUrl: at(spellings, 0), nodeId: FLOAT, value: 3 }), outside);
  t.match(await engineer.post(`${PATH}/read`, { endpointUrl: server.url, nodeIds: [FLOAT] }), { status: 200 });
  t.match(await admin.post(IO, { name: 'ours', protocol: 'opcua', address: at(spellings, 0), enabled: false }), { status: 201 });
  t.match(await confined.post(`${PATH}/read`, { endpointUrl: at(spellings, 2), nodeIds: [FLOAT] }), { status: 200 }, 'a server that is theirs and ours');
  t.match(await admin.delete(`${IO}/ours`), { status: 204 });
  t.match(await admin.delete('/api/v1/sites/elsewhere/iomodules/theirs'), { status: 204 });
  t.match(await confined.post(`${PATH}/read`, { endpointUrl: server.url, nodeIds: [FLOAT] }), { status: 200 }, "a server that is nobody's");
});

t.test('ROUTE-04: a write is on record, and under the rules of a channel that stands on the node', async (t) => {
  const made = await admin.post(IO, {
    name: 'plc',
    protocol: 'opcua',
    address: server.url,
    options: { publishingInterval: '100ms', samplingInterval: '50ms' },
    channels: [
      { name: 'level', address: node('Double') },
      { name: 'valve', address: node('Valve.Setpoint'), direction: 'output' },
    ],
  });
  t.equal(made.status, 201, made.text);
  await test.until('the server is connected', `${IO}/plc`, (module) => module.state === 'Connected');
  t.match((await admin.get(`${IO}/plc`)).body.probe, { verdict: 'current' });
  t.match((await admin.get(`${IO}/plc`)).body.probe.podName, /-opcua$/, 'a thread of its own');
  const written = await engineer.post(`${PATH}/write`, { ...bare, nodeId: node('Float'), value: 2.5 });
  t.match(written, { status: 200, body: { ok: true, nodeId: node('Float'), opcStatus: 'Good' } }, written.text);
  t.match((await engineer.post(`${PATH}/read`, { ...bare, nodeIds: [node('Float')] })).body.values, [{ value: 2.5 }]);
  t.match(await engineer.post(`${PATH}/write`, { ...bare, nodeId: node('ReadOnly'), value: 1 }), { status: 200, body: { ok: false, opcStatus: 'BadNotWritable' } });
  t.match(await engineer.post(`${PATH}/write`, { ...bare, nodeId: node('Float'), value: 'warm' }), { status: 400, body: { field: 'value' } });
  t.match(await engineer.post(`${PATH}/write`, { ioModule: 'plc', site: SITE, nodeId: node('Double'), value: 1 }), { status: 400, body: { error: /level is an input/ } });
  t.match(
    await engineer.post(`${PATH}/write`, { ...bare, nodeId: 'ns=2;s=Double', value: 1 }),
    { status: 400, body: { error: /level is an input/ } },
    'by whichever name of its namespace',
  );
  const { items } = (await admin.get('/api/v1/audit?category=discovery-write&limit=50')).body;
  t.ok(items.some((row: { result: string; details: { nodeId?: string } }) => row.result === 'Success' && row.details.nodeId === node('Float')));
});

t.test('Q-UNIT-08: no other spelling of the server or of the node passes the rules of a channel', async (t) => {
  const port = new URL(server.url.replace('opc.tcp', 'http')).port;
  const write = (endpointUrl: string, nodeId: string) => engineer.post(`${PATH}/write`, { endpointUrl, nodeId, value: 99 });
  const ruled = { status: 400, body: { error: /level is an input/ } };
  for (const address of [`opc.tcp://localhost:${port}/plant`, `opc.tcp://127.0.0.1:${port}/other`, `opc.tcp://127.0.0.1:${port}/plant//`, `opc.tcp://127.0.0.2:${port}/plant`])
    t.match(await write(address, node('Double')), ruled, address);
  t.match(await write(`opc.tcp://127.1:${port}/plant`, node('Double')), { status: 400, body: { field: 'endpointUrl' } });
  t.match(await write(`opc.tcp://[::1]:${port}/plant`, node('Double')), { status: 400, body: { field: 'endpointUrl', error: /name the host/ } });
  for (const spelling of ['ns=02;s=Double', 'ns=002;s=Double'])
    t.match(await write(server.url, spelling), { status: 400, body: { field: 'nodeId', error: /is written ns=2;s=Double/ } });
  t.match(await write(server.url, 'ObjectsFolder'), { status: 400, body: { field: 'nodeId' } });
  t.match((await engineer.post(`${PATH}/read`, { ...bare, nodeIds: [node('Double')] })).body.values, [{ value: 21.25 }], 'nothing was written');
});

t.test('Q-UNIT-08: a server behind another port is the one whose certificate it shows, and what cannot be told is not written', async (t) => {
  const forward = await FaultProxy.start(() => server.port);
  t.teardown(() => forward.stop());
  const endpointUrl = `opc.tcp://127.0.0.1:${forward.port}/plant`;
  t.match(await engineer.post(`${PATH}/write`, { endpointUrl, nodeId: node('Double'), value: 99 }), { status: 400, body: { error: /level is an input/ } });
  t.match(await engineer.post(`${PATH}/write`, { endpointUrl, nodeId: node('Float'), value: 3.5 }), { status: 200 }, "a node that is nobody's");
  const spec = { protocol: 'opcua', address: `opc.tcp://127.0.0.1:${await freePort()}/away`, channels: [{ name: 'float', address: node('Float') }] };
  t.match(await admin.post(IO, { name: 'away', ...spec }), { status: 201 });
  const untold = await engineer.post(`${PATH}/write`, { ...bare, nodeId: node('Float'), value: 4.5 });
  t.match(untold, { status: 503, body: { code: 'device_unreachable', error: /server of I\/O module away .* disable away/ } }, untold.text);
  t.match(await engineer.post(`${PATH}/write`, { ...bare, nodeId: node('Int16'), value: 4 }), { status: 200 }, 'of no channel of it');
  t.match(await admin.put(`${IO}/away`, { enabled: false }), { status: 200 });
  t.match(await engineer.post(`${PATH}/write`, { ...bare, nodeId: node('Float'), value: 4.5 }), { status: 200 });
  t.match(await admin.delete(`${IO}/away`), { status: 204 });
});

t.test('Q-UNIT-08: an element and the array that it is of are one node, two elements are two', async (t) => {
  const made = await admin.post(IO, { name: 'array', protocol: 'opcua', address: server.url, channels: [{ name: 'el', address: node('Array|2') }] });
  t.equal(made.status, 201, made.text);
  const write = (name: string) => engineer.post(`${PATH}/write`, { ...bare, nodeId: node(name), value: 55 });
  t.match(await write('Array|2'), { status: 400, body: { error: /el is an input/ } });
  t.match(await write('Array'), { status: 400, body: { error: /el is an input/ } });
  t.match(await write('Array|1'), { status: 200 });
  t.match(await admin.put(`${IO}/array`, { channels: [{ name: 'el', address: node('Array|2'), direction: 'output' }] }), { status: 200 });
  t.match(await write('Array'), { status: 400, body: { field: 'nodeId', error: /parts of one another/ } });
  t.match(await admin.delete(`${IO}/array`), { status: 204 });
});

t.test('D-AUDIT-02: a refused write says on record what was to be written where', async (t) => {
  await engineer.post(`${PATH}/write`, { ...bare, nodeId: 'ns=2;s=Double', value: 97 });
  await engineer.post(`${PATH}/write`, { ioModule: 'plc', site: SITE, nodeId: node('Double'), value: 98 });
  const { items } = (await admin.get('/api/v1/audit?category=discovery-write&result=Rejected&limit=2')).body;
  t.match(items, [
    { target: { kind: 'IOModule', name: 'plc', site: SITE }, after: 98, details: { nodeId: node('Double') } },
    { target: { kind: 'Device' }, after: 97, details: { endpointUrl: server.url, nodeId: 'ns=2;s=Double' } },
  ]);
});

t.test('IO-07, IO-21: discovery on the module proposes the readback', async (t) => {
  const found = await admin.post(`${IO}/plc/discover`);
  t.match(found, { status: 200, body: { device: { vendor: 'Lineside tests', revision: '1.2' }, validated: false } }, found.text);
  t.match(found.body.channels, [
    { channel: 'level', dataType: 'float', writable: true },
    { channel: 'valve', discoveredReadbackAddress: node('Valve.Feedback') },
  ]);
  t.ok(found.body.offered.some((row: { address: string }) => row.address === node('Float')));
});

t.test('a server is trusted when a person has confirmed its certificate, and a box has one identity', async (t) => {
  const identity = await engineer.get(`${PATH}/client-identity`);
  t.match(identity, { status: 200, body: { applicationUri: /^urn:.*:Lineside$/, certificatePem: /BEGIN CERTIFICATE/, sha256: /^[0-9a-f]{64}$/ } }, identity.text);
  t.equal((await engineer.get(`${PATH}/client-identity`)).body.sha256, identity.body.sha256);
  const security = { securityPolicy: 'Aes256_Sha256_RsaPss', securityMode: 'SignAndEncrypt' };
  await admin.post(IO, { name: 'secure', protocol: 'opcua', address: server.url, options: { timeout: '3s' }, channels: [{ name: 'level', address: node('Double') }], security });
  await test.until('the first contact is not trusted by itself', `${IO}/secure`, (module) => module.state === 'Disconnected' && String(module.message).includes(server.sha256));
  await admin.put(`${IO}/secure`, { security: { ...security, serverCertificateSha256: server.sha256 } });
  await test.until('what a person has confirmed is trusted', `${IO}/secure`, (module) => module.state === 'Connected');
  await admin.put(`${IO}/secure`, { security: { ...security, serverCertificateSha256: 'ab'.repeat(32) } });
  await test.until('another certificate is refused and told', `${IO}/secure`, (module) => module.state === 'Disconnected' && /another certificate/.test(String(module.message)));
});
