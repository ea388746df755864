/** OPC UA modules through the probe: who is trusted, silence, pulled cables, servers that come back, and peers that misbehave. */
import t, { type Test } from 'tap';
import { ProbeCore } from '../../runtime/io/probe-core.js';
import { opcuaDriver } from '../../runtime/io/opcua/driver.js';
import type { ProbeModule, ProbeOutbound } from '../../runtime/port.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../runtime/vocabulary/quality.js';
import { at } from '../support/at.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { BytePeer } from '../support/opcua-bytes.js';
import { opcuaModule, opcuaSecurity } from '../support/opcua-module.js';
import { OpcUaServer, PLANT_NAMESPACE } from '../support/opcua-server.js';
import { ownFolder } from '../support/own-folder.js';
import { quickClock } from '../support/quick-clock.js';
import { until } from './probe-harness.js';

const folder = ownFolder(t);
const box = `${folder}/box`;
const server = await OpcUaServer.start({ folder: `${folder}/server`, clockMs: 50 });
t.teardown(() => server.kill());
const node = (name: string): string => `nsu=${PLANT_NAMESPACE};s=${name}`;
type ModuleMessage = Extract<ProbeOutbound, { type: 'module' }>;

async function serve(t: Test, module: ProbeModule) {
  const said: ModuleMessage[] = [];
  const core = new ProbeCore({ clock: quickClock(4), random: Math.random, post: (message) => void (message.type === 'module' && said.push(message)) });
  t.teardown(() => core.receive({ type: 'stop' }));
  await core.receive({ type: 'plan', plan: { probe: 'p', revision: 1, timeScale: 1, modules: [module], reconnectMinMs: 50, reconnectMaxMs: 200, readbackTimeoutMs: 600 } });
  const image = new ProcessImage(module.channels.length, module.image);
  return {
    said,
    image,
    state: () => said.at(-1)?.state ?? '',
    message: () => said.at(-1)?.message ?? '',
    isGood: (channel = 0) => image.quality[channel] === QUALITY.Good && at(image.sampledMonoMs, channel) > 0,
  };
}

t.test('samples arrive by themselves, with the quality that the server gives them', async (t) => {
  const module = opcuaModule(server.url, box, [
    ['level', node('Double'), 'float'],
    ['doubtful', node('Uncertain'), 'float'],
    ['broken', node('Bad'), 'float'],
    ['text', node('String'), 'float'],
    ['big', node('Int64'), 'int'],
  ]);
  const probe = await serve(t, module);
  await until('the first samples', () => probe.isGood() && /Uncertain.*Bad.*String/.test(probe.message()));
  t.match(probe.message(), /doubtful: UncertainLastUsableValue.*broken: BadSensorFailure.*text: the channel is float, but the server delivers String; dataType string fits it/);
  t.equal(new TextDecoder().decode(probe.image.getText(4)), '9223372036854775792');
  await server.tell({ set: 'Double', value: 42.5 });
  await until('the change', () => probe.image.value[0] === 42.5);
  const before = at(probe.image.sampledMonoMs, 0);
  await until('samples that did not change are confirmed', () => at(probe.image.sampledMonoMs, 0) > before + 500);
  t.equal(probe.image.quality[0], QUALITY.Good);
});

t.test('every policy and mode connects once the certificate is confirmed', async (t) => {
  for (const securityPolicy of ['Basic256Sha256', 'Aes128_Sha256_RsaOaep', 'Aes256_Sha256_RsaPss'] as const)
    for (const securityMode of ['Sign', 'SignAndEncrypt'] as const) {
      const security = opcuaSecurity(box, { securityPolicy, securityMode, serverCertificateSha256: server.sha256.toUpperCase() });
      const link = await opcuaDriver.connect(opcuaModule(server.url, box, [], {}, { security }), systemClock);
      t.same(await link.write({ address: node('Float'), dataType: 'float' }, 2), { ok: true }, `${securityPolicy} ${securityMode}`);
      await link.close();
    }
});

t.test('a server is not trusted at first use, nor with another certificate, nor whoever it is in production', async (t) => {
  const secured = { securityPolicy: 'Basic256Sha256', securityMode: 'SignAndEncrypt' } as const;
  const connect = (more: Parameters<typeof opcuaSecurity>[1]) =>
    opcuaDriver.connect(opcuaModule(server.url, box, [], {}, { security: opcuaSecurity(box, { ...secured, ...more }) }), systemClock);
  await t.rejects(connect({}), new RegExp(`not confirmed: SHA-256 ${server.sha256}`));
  await t.rejects(connect({ serverCertificateSha256: 'ab'.repeat(32) }), /another certificate than the one confirmed/);
  await t.rejects(connect({ serverTrust: 'any' }), /for development only/);
  await t.rejects(connect({ serverTrust: 'ca' }), /no authority is trusted/);
  const link = await connect({ serverTrust: 'any', isDevelopment: true });
  await link.close();
});

t.test('who signs in by name needs the right password; a secret that is not there is told', async (t) => {
  const security = opcuaSecurity(box, { authType: 'UserName' });
  const connect = (credentials: ProbeModule['credentials']) =>
    opcuaDriver.connect(opcuaModule(server.url, box, [], {}, { security, ...(credentials ? { credentials } : {}) }), systemClock);
  const link = await connect({ username: 'anna', password: 'secret' });
  await link.close();
  await t.rejects(connect({ username: 'anna', password: 'wrong' }), /opens no session/);
  await t.rejects(connect({ missing: 'secret plc is not on this box' }), /secret plc is not on this box/);
  await t.rejects(connect(undefined), /needs a user name/);
});

t.test('D-IO-02: a subscription that stays silent is made anew, then the session, then the connection', async (t) => {
  const probe = await serve(t, opcuaModule(server.url, box, [['level', node('Double'), 'float']]));
  await until('samples', () => probe.isGood() && probe.state() === 'Connected');
  await server.tell({ mute: 'these' });
  t.ok((await until('the silence is told', () => probe.image.quality[0] === QUALITY.Bad)) < 4000);
  await until('the subscription is made anew', () => probe.isGood() && probe.state() === 'Connected');
  t.ok(
    probe.said.some(({ message }) => /the subscription is made anew/.test(message)),
    JSON.stringify(probe.said.map(({ state, message }) => [state, message])),
  );
  t.notOk(probe.said.some(({ message }) => /the session is made anew/.test(message)));
  await server.tell({ mute: 'all' });
  await until('the session is made anew', () => probe.said.some(({ message }) => /the session is made anew/.test(message)));
  await until('the client is made anew', () => probe.said.some(({ message }) => /the client is made anew/.test(message)));
  await server.tell({ mute: 'none' });
  await until('samples again', () => probe.isGood() && probe.state() === 'Connected');
});

t.test('a pulled cable is told within 3 s, and its end needs nobody', async (t) => {
  const proxy = await FaultProxy.start(() => server.port);
  t.teardown(() => proxy.stop());
  const probe = await serve(t, opcuaModule(`opc.tcp://127.0.0.1:${proxy.port}/plant`, box, [['level', node('Double'), 'float']], { timeout: '1s' }));
  await until('samples', () => probe.isGood());
  proxy.mode = 'half-open';
  t.ok((await until('Bad', () => probe.image.quality[0] === QUALITY.Bad && probe.state() === 'Disconnected')) < 3500);
  proxy.mode = 'pass';
  await until('samples again', () => probe.isGood() && probe.state() === 'Connected');
});

t.test('sessions that a server has forgotten are made anew', async (t) => {
  const probe = await serve(t, opcuaModule(server.url, box, [['level', node('Double'), 'float']]));
  await until('samples', () => probe.isGood() && probe.state() === 'Connected');
  await server.tell({ closeSessions: true });
  await until('the loss', () => !probe.isGood());
  await until('samples again', () => probe.isGood() && probe.state() === 'Connected');
});

for (const limits of [{ maxSessions: 3 }, { maxSubscriptions: 1 }])
  t.test(`G9: a cable that is loose does not use up what its server has (${Object.keys(limits).join()}); a server that ends takes its values with it`, async (t) => {
    const other = await OpcUaServer.start({ folder: `${folder}/server`, clockMs: 50, ...limits });
    const wire = await FaultProxy.start(() => other.port);
    t.teardown(() => wire.stop());
    const loose = await serve(t, opcuaModule(`opc.tcp://127.0.0.1:${wire.port}/plant`, box, [['level', node('Double'), 'float']], { timeout: '3s' }));
    for (let pull = 0; pull < 8; pull += 1) {
      await until(`samples after ${pull} pulls`, () => loose.isGood() && loose.state() === 'Connected');
      wire.reset();
      await until('the loss', () => loose.state() === 'Disconnected');
    }
    await until('samples at last', () => loose.isGood());
    await other.kill();
    t.ok((await until('Bad', () => loose.image.quality[0] === QUALITY.Bad && loose.state() === 'Disconnected')) < 3000);
  });

t.test('peers that misbehave are refused with a sentence, in time, and leave no connection', async (t) => {
  const peer = await BytePeer.start();
  t.teardown(() => peer.stop());
  const connect = () => opcuaDriver.connect(opcuaModule(peer.url, box, [], { timeout: '300ms' }), systemClock);
  peer.garbage = Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n');
  for (const behaviour of ['silent', 'silent-after-acknowledge', 'garbage', 'garbage-after-acknowledge', 'oversized', 'closes', 'error'] as const) {
    peer.behaviour = behaviour;
    const started = performance.now();
    await t.rejects(connect(), Error, behaviour);
    t.ok(performance.now() - started < 3000, `${behaviour}: in time`);
    await until(`${behaviour}: no connection is left`, () => peer.open === 0);
  }
  let seed = 20_261_128;
  const random = (): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  for (let round = 0; round < 40; round += 1) {
    peer.behaviour = round % 2 === 0 ? 'garbage' : 'garbage-after-acknowledge';
    const bytes = Buffer.from(Array.from({ length: 8 + Math.floor(random() * 120) }, () => Math.floor(random() * 256)));
    if (random() < 0.6) bytes.write(round % 2 === 0 ? 'ACKF' : 'OPNF', 0, 'ascii');
    if (random() < 0.6) bytes.writeUInt32LE(bytes.length, 4);
    peer.garbage = bytes;
    await t.rejects(connect(), Error, `round ${round}`);
  }
  await until('no connection is left', () => peer.open === 0);
});
