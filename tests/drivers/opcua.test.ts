/** The OPC UA driver and the probe against a real server (node-opcua's, a separate process) over loopback. */
import t from 'tap';
import { opcuaDriver } from '../../runtime/io/opcua/driver.js';
import type { ProbeModule } from '../../runtime/port.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { QUALITY } from '../../runtime/vocabulary/quality.js';
import { ownFolder } from '../support/own-folder.js';
import { OpcUaServer, PLANT, PLANT_NAMESPACE } from '../support/opcua-server.js';
import { opcuaModule } from '../support/opcua-module.js';
import { conformance } from './conformance.js';
import { startProbe, until, valueOf } from './probe-harness.js';

const folder = ownFolder(t);
const server = await OpcUaServer.start({ folder: `${folder}/server` });
t.teardown(() => server.kill());
const node = (name: string): string => `nsu=${PLANT_NAMESPACE};s=${name}`;

/** CurrentSessionCount (OPC 10000-5, 12.10). */
const SESSIONS = 'i=2277';

// options that nobody has set, for as long as many of their intervals take
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

/** A port on which nobody listens (tcpmux). */
const DEAD = 'opc.tcp://127.0.0.1:1';

for (const mode of ['subscribe', 'poll'])
  t.test(`mode ${mode}`, async (t) => {
    conformance(t, () => ({
      driver: opcuaDriver,
      module: opcuaModule(server.url, `${folder}/box`, [], { mode }),
      unreachable: opcuaModule(DEAD, `${folder}/box`, [], { mode }),
      notAnAddress: 'opc.tcp://',
      notAChannel: 'ns=2;x=1',
      writable: [
        { point: { address: node('Bool'), dataType: 'bool' }, values: [true, false] },
        { point: { address: node('SByte'), dataType: 'int' }, values: [-128, 127] },
        { point: { address: node('Byte'), dataType: 'int' }, values: [255, 0] },
        { point: { address: node('Int16'), dataType: 'int' }, values: [-32_768, 5] },
        { point: { address: node('UInt16'), dataType: 'int' }, values: [65_535, 0] },
        { point: { address: `${PLANT}Int32`, dataType: 'int' }, values: [-2_147_483_648, 17] },
        { point: { address: node('UInt32'), dataType: 'int' }, values: [4_294_967_295, 0] },
        { point: { address: node('Int64'), dataType: 'int' }, values: [-9_007_199_254_740_991, 3] },
        { point: { address: node('UInt64'), dataType: 'int' }, values: [9_007_199_254_740_991, 3] },
        { point: { address: node('Float'), dataType: 'float' }, values: [1.5, -0.25] },
        { point: { address: node('Double'), dataType: 'float' }, values: [0.1, -1e200] },
        { point: { address: node('String'), dataType: 'string' }, values: ['Batch-12', 'x'] },
        { point: { address: node('a|b'), dataType: 'float' }, values: [2, 4] },
        { point: { address: `${node('Array')}|2`, dataType: 'float' }, values: [33, 3] },
      ],
      readable: [
        { address: node('Bool'), dataType: 'bool' },
        { address: node('Double'), dataType: 'float' },
        { address: node('Int32'), dataType: 'float' },
        { address: `${node('Array')}|0`, dataType: 'float' },
        { address: node('Date'), dataType: 'string' },
        { address: node('Text'), dataType: 'string' },
      ],
      learned: node('Int16'),
      missing: { address: node('Nowhere'), dataType: 'float' },
    }));
  });

t.test('methods are called with the types that the server names', async (t) => {
  const link = await opcuaDriver.connect(opcuaModule(server.url, `${folder}/box`), systemClock);
  t.teardown(() => link.close());
  t.same(await link.call?.(node('Calculator'), node('Calculator.Add'), [1.5, 2], 2000), { ok: true, outputs: [3.5] });
  t.match(await link.call?.(node('Calculator'), node('Calculator.Add'), [1.5], 2000), { ok: false, reason: 'invalid', message: /2 arguments/ });
  t.match(await link.call?.(node('Calculator'), node('Calculator.Add'), [1.5, 2.5], 2000), { ok: false, reason: 'invalid', message: /argument b.*Int32/ });
  t.match(await link.call?.(node('Calculator'), node('Calculator.Fail'), [], 2000), { ok: false, reason: 'refused', message: /BadInvalidState/ });
  t.match(await link.call?.(node('Calculator'), node('Calculator.Never'), [], 200), { ok: false, reason: 'unreachable', message: /200 ms/ });
});
