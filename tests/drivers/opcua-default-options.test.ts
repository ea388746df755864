/** An OPC UA module with the options that nobody has set, against a healthy server, for as long as many of its intervals take. */
import t from 'tap';
import { QUALITY } from '../../runtime/vocabulary/quality.js';
import { opcuaDriver } from '../../runtime/io/opcua/driver.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import type { ProbeModule } from '../../runtime/port.js';
import { opcuaModule } from '../support/opcua-module.js';
import { OpcUaServer, PLANT_NAMESPACE } from '../support/opcua-server.js';
import { ownFolder } from '../support/own-folder.js';
import { startProbe, until, valueOf } from './probe-harness.js';

const folder = ownFolder(t);
const server = await OpcUaServer.start({ folder: `${folder}/server` });
t.teardown(() => server.kill());
const node = (name: string): string => `nsu=${PLANT_NAMESPACE};s=${name}`;
const SESSIONS = 'i=2277'; // CurrentSessionCount (OPC 10000-5, 12.10)

for (const options of [{}, { publishingInterval: '2s' }] as const)
  t.test(`D-IO-02, G9: a value that stands still stays Good on one connection, with options ${JSON.stringify(options)}`, async (t) => {
    const module: ProbeModule = { ...opcuaModule(server.url, `${folder}/box`, [['level', node('Double'), 'float']]), options };
    const probe = await startProbe(t, [module]);
    await until('the first sample', () => valueOf(module, 'level').quality === QUALITY.Good && probe.state() === 'Connected');
    const first = valueOf(module, 'level').atMs;
    // confirmed by the publishes of ten intervals
    await until('it is confirmed for 5 s', () => {
      if (valueOf(module, 'level').quality !== QUALITY.Good || probe.state() !== 'Connected') throw new Error(`it was ${probe.state()}: ${probe.message()}`);
      return valueOf(module, 'level').atMs > first + 5000;
    });
    await probe.core.receive({ type: 'statistics', id: 1, module: 'io' });
    const told = probe.messages.find((message) => message.type === 'statistics-result');
    t.match(told, { statistics: { reconnects: 0, failedConnects: 0 } });
  });

t.test('a session that is closed is closed at the server too', async (t) => {
  const connect = () => opcuaDriver.connect(opcuaModule(server.url, `${folder}/box`), systemClock);
  const count = async (): Promise<number> => {
    const link = await connect();
    let sessions = -1;
    const none = (): void => undefined;
    await link.read([{ address: SESSIONS, dataType: 'int' }], {
      begin: none,
      end: none,
      integer: (_, value) => (sessions = Number(value)),
      number: (_, value) => (sessions = value),
      text: none,
      bad: none,
    });
    await link.close();
    return sessions;
  };
  const before = await count();
  for (let round = 0; round < 10; round += 1) await (await connect()).close();
  t.equal(await count(), before);
});
