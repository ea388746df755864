/** Who signs in to an OPC UA server by a certificate, and which servers are trusted for the authority that signed theirs (decisions 7.5, ADR 0067). */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { opcuaDriver } from '../../runtime/io/opcua/driver.js';
import { distrust } from '../../runtime/io/opcua/trust.js';
import { TRUST_LOOK_MS } from '../../runtime/io/opcua/trust-watch.js';
import type { ProbeModule } from '../../runtime/port.js';
import { type Clock, systemClock } from '../../runtime/vocabulary/clock.js';
import { QUALITY } from '../../runtime/vocabulary/quality.js';
import { Authority } from '../support/authority.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { opcuaModule, opcuaSecurity } from '../support/opcua-module.js';
import { OpcUaServer, PLANT_NAMESPACE } from '../support/opcua-server.js';
import { ownFolder } from '../support/own-folder.js';
import { planOf, startProbe, until, valueOf } from './probe-harness.js';

const folder = ownFolder(t);
const box = `${folder}/box`;
const AUTHORITIES = `${box}/authorities`;
mkdirSync(AUTHORITIES, { recursive: true });
const plant = new Authority(`${folder}/plant`, 'plant-authority');
const issuing = new Authority(`${folder}/issuing`, 'issuing-authority', plant);
const stranger = new Authority(`${folder}/stranger`, 'stranger');
const { certificatePem, files: shows } = issuing.sign('plc', 'urn:lineside:test-plant');
const { certificatePem: person, keyPem } = plant.sign('anna', 'urn:anna'); // of an authority that the server does not know
const foreignKey = String(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }));
const server = await OpcUaServer.start({ folder: `${folder}/server`, shows });
t.teardown(() => server.kill());
const SECURED = { securityPolicy: 'Basic256Sha256', securityMode: 'SignAndEncrypt' } as const;
const LEVEL = { address: `nsu=${PLANT_NAMESPACE};s=Float`, dataType: 'float' } as const;

const connect = (security: Parameters<typeof opcuaSecurity>[1], credentials?: ProbeModule['credentials'], url = server.url) =>
  opcuaDriver.connect(opcuaModule(url, box, [], {}, { security: opcuaSecurity(box, security), ...(credentials ? { credentials } : {}) }), systemClock);

async function writes(t: { same(found: unknown, wanted: unknown): boolean }, ...args: Parameters<typeof connect>): Promise<void> {
  const link = await connect(...args);
  t.same(await link.write(LEVEL, 2), { ok: true });
  await link.close();
}

t.test('decisions 7.5: serverTrust ca trusts whom an authority of this box has signed, over those between, and nobody else', async (t) => {
  const security = opcuaSecurity(box, { serverTrust: 'ca' });
  const distrusted = () => distrust(new X509Certificate(certificatePem).raw, security, Date.now());
  t.match(await distrusted(), /no authority is trusted/);
  writeFileSync(`${AUTHORITIES}/stranger.pem`, stranger.pem);
  writeFileSync(`${AUTHORITIES}/readme.txt`, 'no certificate');
  writeFileSync(`${AUTHORITIES}/server.pem`, certificatePem);
  t.match(await distrusted(), /no trusted authority has signed the certificate of the server: SHA-256 [0-9a-f]{64} \(CN=plc/);
  await t.rejects(
    connect({ ...SECURED, serverTrust: 'ca' }),
    /no trusted authority has signed the certificate of the server/,
    'and a server of another authority is not connected to',
  );
  writeFileSync(`${AUTHORITIES}/issuing.pem`, issuing.pem);
  t.match(await distrusted(), /no trusted authority/, 'an authority between without its root');
  writeFileSync(`${AUTHORITIES}/plant.pem`, plant.pem);
  t.equal(await distrusted(), '');
  rmSync(`${AUTHORITIES}/plant.pem`);
  t.match(await distrusted(), /no trusted authority/, 'what a person takes away counts at once');
  writeFileSync(`${AUTHORITIES}/plant.pem`, plant.pem);
  await writes(t, { ...SECURED, serverTrust: 'ca' });
});

t.test('decisions 7.5: with serverTrust ca a server of the authority is connected to by a name that its certificate carries, or when a person has confirmed it', async (t) => {
  const relay = await FaultProxy.start(() => server.port, '127.0.0.2');
  t.teardown(() => relay.stop());
  const otherName = `opc.tcp://127.0.0.2:${relay.port}/plant`;
  await t.rejects(connect({ ...SECURED, serverTrust: 'ca' }, undefined, otherName), /is for DNS:localhost, IP Address:127\.0\.0\.1, and the address names 127\.0\.0\.2/);
  await writes(t, { ...SECURED, serverTrust: 'ca', serverCertificateSha256: server.sha256 }, undefined, otherName);
});

const secured = (security: Parameters<typeof opcuaSecurity>[1], more: Partial<ProbeModule> = {}): ProbeModule =>
  opcuaModule(server.url, box, [['level', LEVEL.address, LEVEL.dataType]], { timeout: '10s' }, { security: opcuaSecurity(box, { ...SECURED, ...security }), ...more });

t.test('decisions 7.5, ADR 0095: a connection that stands ends when the authority of its server is taken away, and when its time is over', async (t) => {
  let aheadMs = 0;
  const clock: Clock = {
    ...systemClock,
    wallMs: () => systemClock.wallMs() + aheadMs,
    after: (ms, call) => systemClock.after(ms === TRUST_LOOK_MS ? 50 : ms, call),
  };
  const module = secured({ serverTrust: 'ca' });
  const probe = await startProbe(t, [module], { clock, random: () => 0.5 });
  const isBad = (): boolean => probe.state() === 'Disconnected' && valueOf(module, 'level').quality === QUALITY.Bad;
  await until('connected', () => probe.state() === 'Connected');
  rmSync(`${AUTHORITIES}/plant.pem`);
  await until('ended', isBad);
  t.match(probe.messages.map((message) => (message.type === 'module' ? message.message : '')).join('\n'), /^the server is no longer trusted: /m);
  // on a machine that stood still for seconds the look was a doubt, and ended it as well: the next one tells why
  await until('told why', () => /no trusted authority has signed[^]*put the certificate \(PEM\) of its authority into .*authorities/.test(probe.message()));
  writeFileSync(`${AUTHORITIES}/plant.pem`, plant.pem);
  await until('connected again, without a restart', () => probe.state() === 'Connected');
  aheadMs = 40 * 86_400_000;
  await until('ended by its date', isBad);
  t.match(probe.message(), /CN=plc is valid from .* to .*; the server needs another one, or the clock of this box is wrong/);
});

t.test('decisions 7.5, ADR 0095: a pin that is taken away, or another one, ends the connection that stands; so does another password', async (t) => {
  const login = (password: string): Partial<ProbeModule> => ({ credentials: { username: 'anna', password } });
  const pinned = { serverCertificateSha256: server.sha256, authType: 'UserName' } as const;
  const probe = await startProbe(t, [secured(pinned, login('secret'))], { random: () => 0.5 });
  for (const [module, told] of [
    [secured({ ...pinned, serverCertificateSha256: '' }, login('secret')), /is not confirmed: SHA-256/],
    [secured({ ...pinned, serverCertificateSha256: 'ab'.repeat(32) }, login('secret')), /another certificate than the one confirmed/],
    [secured(pinned, login('rotated')), /look at user name and password of the secret/],
  ] as const) {
    await until('connected', () => probe.state() === 'Connected');
    await probe.core.receive({ type: 'plan', plan: planOf(module) });
    await until('ended', () => probe.state() === 'Disconnected' && told.test(probe.message()));
    t.equal(valueOf(module, 'level').quality, QUALITY.Bad);
    await probe.core.receive({ type: 'plan', plan: planOf(secured(pinned, login('secret'))) });
  }
  await until('connected at last', () => probe.state() === 'Connected');
});

t.test('decisions 7.5: an authority counts for as long as it is valid, and so does what it signed', async (t) => {
  const security = opcuaSecurity(box, { serverTrust: 'ca' });
  const certificate = new X509Certificate(certificatePem);
  const at = (days: number): number => Date.now() + days * 86_400_000;
  t.equal(await distrust(certificate.raw, security, at(1)), '');
  t.match(await distrust(certificate.raw, security, at(-2)), /CN=plc is valid from/);
  t.match(await distrust(certificate.raw, security, at(40)), /CN=plc is valid from .* to/);
  t.match(await distrust(Buffer.from('no certificate'), security, at(1)), /no certificate that can be read/);
  const root = new X509Certificate(plant.pem);
  t.equal(await distrust(root.raw, security, at(1)), '');
  t.match(await distrust(root.raw, security, at(90)), /CN=plant-authority is valid from/);
});

t.test('decisions 7.5: who signs in by certificate does so with that of the box, and one of a secret is shown in its place', async (t) => {
  const byCertificate = { ...SECURED, serverCertificateSha256: server.sha256, authType: 'Certificate' } as const;
  await writes(t, byCertificate);
  await t.rejects(
    connect(byCertificate, { certificatePem: person, keyPem }),
    /opens no session: BadIdentityTokenRejected/,
    'that of the secret is shown, which this server does not take',
  );
  await t.rejects(connect(byCertificate, { certificatePem: person, keyPem: foreignKey }), /the key does not belong to the certificate/);
  await t.rejects(connect(byCertificate, { missing: 'secret anna is not on this box' }), /secret anna is not on this box/);
});
