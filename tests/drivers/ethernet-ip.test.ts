/** The EtherNet/IP driver against a device in a process of its own over loopback: types, tags, messages, routes. */
import t from 'tap';
import type { Point } from '../../runtime/io/driver.js';
import { ethernetIpDriver } from '../../runtime/io/ethernet-ip/driver.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { EthernetIpPeer } from '../support/ethernet-ip-peer.js';
import { DEAD_PORT, moduleOf } from '../support/probe-bench.js';
import { collector, conformance } from './conformance.js';

const peer = await EthernetIpPeer.start();
t.teardown(() => peer.kill());

const ofPeer = (port: number, options: Parameters<typeof moduleOf>[3] = {}): ReturnType<typeof moduleOf> => moduleOf('ethernetip', port, [], options);

conformance(t, () => ({
  driver: ethernetIpDriver,
  module: ofPeer(peer.port),
  unreachable: ofPeer(DEAD_PORT),
  notAnAddress: 'host:0',
  notAChannel: 'Tag#COMPLEX',
  writable: [
    { point: { address: 'OutBool#BOOL', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'OutSint#SINT', dataType: 'int' }, values: [-128, 5] },
    { point: { address: 'OutInt#INT', dataType: 'int' }, values: [-32768, 5] },
    { point: { address: 'OutDint#DINT', dataType: 'int' }, values: [-2_000_000_000, 17] },
    { point: { address: 'OutLint#LINT', dataType: 'int' }, values: [-9_007_199_254_740_991, 3] },
    { point: { address: 'OutUsint#USINT', dataType: 'int' }, values: [255, 1] },
    { point: { address: 'OutUint#UINT', dataType: 'int' }, values: [65535, 1] },
    { point: { address: 'OutUdint#UDINT', dataType: 'int' }, values: [4_294_967_295, 0] },
    { point: { address: 'OutUlint#ULINT', dataType: 'int' }, values: [9_007_199_254_740_991, 3] },
    { point: { address: 'OutReal#REAL', dataType: 'float' }, values: [1.5, -0.25] },
    { point: { address: 'OutLreal#LREAL', dataType: 'float' }, values: [0.1, -1e200] },
    { point: { address: 'OutText#STRING', dataType: 'string' }, values: ['Batch-12', 'x'] },
    { point: { address: 'OutText21#STRING', dataType: 'string' }, values: ['021 characters are it', ''] },
    { point: { address: 'OutText1000#STRING', dataType: 'string' }, values: ['y'.repeat(1000), 'z'] },
    { point: { address: 'OutFlags[33]', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'OutFlags[64]#BOOL', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'List[3].31#DINT', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'Grid[1,2,3].7', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'Program:Main.Tank[1].Open', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'Program:Main.Tank[1].Set[2]#REAL', dataType: 'float' }, values: [7.5, -1] },
    { point: { address: 'Program:Main.Tank[0].Word.15', dataType: 'bool' }, values: [true, false] },
    { point: { address: 'Program:Main.Tank[0].Label', dataType: 'string' }, values: ['left', 'right'] },
    { point: { address: 'Program:Main.Step', dataType: 'int' }, values: [10, 20] },
  ],
  readable: [
    { address: 'Bool#BOOL', dataType: 'bool' },
    { address: 'Dint', dataType: 'int' },
    { address: 'Real#REAL', dataType: 'float' },
    { address: 'Text', dataType: 'string' },
    { address: 'Text1000', dataType: 'string' },
    { address: 'Flags[35]', dataType: 'bool' },
    { address: 'Program:Main.Tank[2].Level#REAL', dataType: 'float' },
  ],
  missing: { address: 'Nothing', dataType: 'int' },
}));

const READ: readonly (readonly [address: string, dataType: Point['dataType'], value: number | bigint | string])[] = [
  ['Bool', 'bool', 1],
  ['Bool#BOOL', 'bool', 1],
  ['Sint#SINT', 'int', -128],
  ['Int#INT', 'int', -12345],
  ['Dint#DINT', 'int', -123456789],
  ['Lint#LINT', 'int', -1234567890123456789n],
  ['Usint#USINT', 'int', 250],
  ['Uint#UINT', 'int', 65000],
  ['Udint#UDINT', 'int', 4000000000],
  ['Ulint#ULINT', 'int', 18000000000000000000n],
  ['Real#REAL', 'float', 3.25],
  ['Lreal#LREAL', 'float', -0.1],
  ['Text#STRING', 'string', 'Reactor'],
  ['Text21#STRING', 'string', 'Batch 7'],
  ['Text1000#STRING', 'string', 'x'.repeat(990)],
  ['Lint', 'int', -1234567890123456789n],
  ['Real', 'float', 3.25],
  ['Dint', 'float', -123456789],
  ['Bool', 'int', 1],
  ['List[9]', 'int', 109],
  ['Grid[1,2,3]#INT', 'int', 23],
  ['Grid[0,1,2]', 'int', 6],
  ['Flags[35]', 'bool', 1],
  ['Flags[36]#BOOL', 'bool', 0],
  ['Flags[63]#BOOL', 'bool', 1],
  ['Uint.3', 'bool', 1],
  ['Uint.0#UINT', 'bool', 0],
  ['Int.15', 'bool', 1],
  ['Ulint.63', 'bool', 1],
  ['Program:Main.Step', 'int', 30],
  ['Program:Main.Tank[2].Level', 'float', 2.5],
  ['Program:Main.Tank[2].Open', 'bool', 0],
  ['Program:Main.Tank[2].Closed#BOOL', 'bool', 1],
  ['Program:Main.Tank[2].Set[3]#REAL', 'float', 23],
  ['Program:Main.Tank[2].Label', 'string', 'Tank 2'],
  ['Program:Main.Tank[2].Word.0#INT', 'bool', 0],
];

const fresh = await EthernetIpPeer.start();
t.teardown(() => fresh.kill());

for (const connected of [false, true])
  t.test(`decisions 7.4: every type, bit, element, member and text is read${connected ? ' over a connection' : ''}`, async (t) => {
    const link = await ethernetIpDriver.connect(ofPeer(fresh.port, { connected }), systemClock);
    t.teardown(() => link.close());
    const got = collector(READ.length);
    t.same(
      await link.read(
        READ.map(([address, dataType]) => ({ address, dataType })),
        got.sink,
      ),
      { status: 'answered' },
    );
    for (const [place, [address, , value]] of READ.entries()) t.equal(got.values[place], value, `${address} ${got.messages[place]}`);
  });
