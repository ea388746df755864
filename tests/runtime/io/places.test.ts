/** Where an output stands in its device, and what a channel takes as a value (ADR 0085). */
import t from 'tap';
import { channelValue, deviceAt, isShared, placeOf } from '../../../runtime/io/catalog.js';

const meet = (protocol: string, a: string, b: string, options: Readonly<Record<string, string | number>> = {}, endpoint = ''): boolean => {
  const others = placeOf(protocol, b, options, endpoint);
  return placeOf(protocol, a, options, endpoint).some((cell) => others.some((other) => other.cell === cell.cell && isShared(cell, other)));
};

const ONE_PLACE: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  modbus: [
    ['holding:0', 'holding:0:uint16'],
    ['holding:0', 'holding:00'],
    ['holding:0', 'holding:0@1'],
    ['holding:0:float32', 'holding:1'],
    ['holding:3', 'holding:0:float64'],
    ['holding:0', 'holding:0:bit3'],
    ['coil:0', 'coil:0@1'],
  ],
  ethernetip: [
    ['T', 'T[0]'],
    ['T', 't#DINT'],
    ['T', 'T.3'],
    ['T[0].Level', 'T.Level'],
    ['T', 'T.Level'],
    ['Program:Main.T', 'Program:main.t'],
    ['T[2].3', 'T[2]'],
  ],
  opcua: [
    ['i=5', 'ns=0;i=5'],
    ['ns=2;i=7', 'ns=02;i=007'],
    ['ns=2;s=A', 'ns=2;s=A|3'],
    ['nsu=http://opcfoundation.org/UA/;i=5', 'i=5'],
    ['ns=2;s=A', 'nsu=urn:plant;s=A'],
    ['ns=2;s=A|3', 'nsu=urn:plant;s=A'],
    ['ns=2;s=A|3', 'nsu=urn:plant;s=A|3'],
    ['ns=2;g=09087e75-8e5e-499b-954f-f2a9603db28a', 'ns=2;g=09087E75-8E5E-499B-954F-F2A9603DB28A'],
  ],
};

const TWO_PLACES: typeof ONE_PLACE = {
  modbus: [
    ['holding:0', 'holding:1'],
    ['holding:0', 'coil:0'],
    ['holding:0', 'holding:0@2'],
    ['holding:0:bit3', 'holding:0:bit4'],
    ['holding:0:float32', 'holding:2:float32'],
  ],
  ethernetip: [
    ['T', 'T[1]'],
    ['T[1]', 'T[2]'],
    ['T.Level', 'T.Flow'],
    ['T.3', 'T.4'],
    ['T', 'Tx'],
  ],
  opcua: [
    ['ns=2;s=A', 'ns=3;s=A'],
    ['ns=2;s=A', 'ns=2;s=a'],
    ['nsu=urn:a;s=A', 'nsu=urn:b;s=A'],
    ['ns=2;s=A|3', 'ns=2;s=A|4'],
    ['ns=2;s=A|3', 'nsu=urn:plant;s=A|4'],
    ['ns=2;s=A', 'ns=3;s=A|4'],
    ['nsu=urn:a;s=A|4', 'nsu=urn:b;s=A|4'],
    ['ns=2;i=7', 'ns=2;s=7'],
  ],
};

t.test('IO-20, ADR 0085: two spellings of one place, or a part of it, have a cell in common, and others have none', async (t) => {
  for (const [protocol, pairs] of Object.entries(ONE_PLACE)) {
    for (const [a, b] of pairs) t.ok(meet(protocol, a, b) && meet(protocol, b, a), `${protocol}: ${a} and ${b}`);
  }
  for (const [protocol, pairs] of Object.entries(TWO_PLACES)) {
    for (const [a, b] of pairs) t.notOk(meet(protocol, a, b) || meet(protocol, b, a), `${protocol}: ${a} and ${b}`);
  }
  t.notOk(meet('modbus', 'holding:0', 'holding:0@1', { unitId: 3 }), 'the unit of the module counts');
  for (const line of ['rtu:///dev/ttyS0', 'rtu+tcp://server:4001']) {
    const onLine = (a: string, b: string): boolean => meet('modbus', a, b, {}, line) && meet('modbus', b, a, {}, line);
    t.ok(onLine('coil:0@1', 'coil:0@0'), 'unit 0 is every unit of a line');
    t.ok(onLine('holding:4:bit2@0', 'holding:4@7'));
    t.notOk(onLine('coil:0@1', 'coil:0@2'));
    t.notOk(onLine('coil:1@0', 'coil:0@2'));
  }
  t.notOk(meet('modbus', 'coil:0@0', 'coil:0@1', {}, 'plc:502'), 'and a unit of its own of a device or gateway on TCP');
});

t.test('Q-IO-03, ADR 0085: a device is one device however its address is spelled', async (t) => {
  const alike: Readonly<Record<string, readonly string[]>> = {
    modbus: ['127.0.0.1', 'localhost', 'LOCALHOST:502', 'tcp://127.0.0.1:502/', '127.1', '0x7f.0.0.1', '[::1]:502', '[::ffff:127.0.0.1]', '0.0.0.0'],
    ethernetip: ['plc', 'PLC:44818', 'tcp://plc'],
    opcua: ['opc.tcp://plc', 'opc.tcp://PLC:4840/', 'opc.tcp://plc:4840/server'],
  };
  for (const [protocol, texts] of Object.entries(alike)) {
    t.equal(new Set(texts.map((text) => deviceAt(protocol, text))).size, 1, JSON.stringify(texts.map((text) => deviceAt(protocol, text))));
  }
  t.equal(deviceAt('modbus', 'rtu:///dev/ttyS0?baud=9600'), deviceAt('modbus', 'rtu:///dev/../dev//ttyS0'));
  const unlike = ['127.0.0.1:502', '127.0.0.1:503', '127.0.0.2:502', 'rtu+tcp://127.0.0.1:502', 'rtu:///dev/ttyS0', 'rtu:///dev/ttyS1'];
  t.equal(new Set(unlike.map((text) => deviceAt('modbus', text))).size, unlike.length);
  t.equal(deviceAt('modbus', 'a b'), undefined);
});

t.test('Q-IO-02: no channel takes a number that is not finite, a whole number that would change, or a bit that is neither', async (t) => {
  const refused = [
    ['float', '1e400'],
    ['float', '-1e999'],
    ['int', '1e400'],
    ['int', '99999999999999999999999'],
    ['int', 1.5],
    ['bool', 1.5],
    ['bool', 2],
    ['bool', 1e308],
    ['bool', 'on'],
  ] as const;
  for (const protocol of ['simulation', 'modbus']) for (const [type, value] of refused) t.equal(channelValue(protocol, value, type), undefined, `${protocol} ${type} ${value}`);
  t.equal(channelValue('modbus', '9007199254740993', 'int'), '9007199254740993', 'a device has types of 64 bits');
  t.equal(channelValue('simulation', '9007199254740993', 'int'), undefined, 'a simulated channel is a double');
  t.same(
    [true, 0, '1', 'FALSE'].map((value) => channelValue('modbus', value, 'bool')),
    [1, 0, 1, 0],
  );
});
