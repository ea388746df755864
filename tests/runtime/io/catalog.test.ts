import t from 'tap';
import {
  behaviorReferences,
  checkAddress,
  checkBehavior,
  checkChannelAddress,
  checkFault,
  checkOptions,
  mergeBehaviors,
  missingAddresses,
  PROTOCOLS,
  readOptions,
  secretOptions,
  SIMULATION_BEHAVIORS,
  SIMULATION_EXPRESSIONS,
  SIMULATION_FAULTS,
  simulationProblems,
  staleAfterMs,
  TRIGGER_MODES,
} from '../../../runtime/io/catalog.js';
import { coalesce } from '../../../runtime/io/request-plan.js';
import { backoffMs } from '../../../runtime/io/backoff.js';
import { readbackAgrees } from '../../../runtime/io/readback.js';
import { planReads } from '../../../runtime/io/modbus/read-plan.js';
import type { Behavior } from '../../../runtime/port.js';
import { at } from '../../support/at.js';

t.test('IO-11, SIM-04, SIM-06, SIM-07, SIM-08, SIM-09: the catalogue lists the words of the contract', async (t) => {
  t.same([...PROTOCOLS].sort(), ['ethernetip', 'modbus', 'opcua', 'simulation']);
  t.same(
    SIMULATION_BEHAVIORS.map((row) => row.type),
    ['SineWave', 'RandomWalk', 'NoisyConstant', 'DigitalPulse', 'TemperatureRamp', 'ValveFeedback', 'TankLevel', 'PIDResponse', 'Expr'],
  );
  t.same(
    SIMULATION_FAULTS.map((row) => row.type),
    ['QualityBad', 'SensorDrift', 'StuckValue', 'WireBreak', 'Oscillation'],
  );
  t.same([...SIMULATION_EXPRESSIONS.functions].sort(), [
    'abs',
    'and',
    'clamp',
    'cos',
    'derivative',
    'exp',
    'if',
    'integral',
    'lag',
    'log',
    'max',
    'min',
    'noise',
    'not',
    'or',
    'pulse',
    'ramp',
    'sin',
    'sqrt',
  ]);
  t.same(SIMULATION_EXPRESSIONS.variables, ['self', 'dt', 't']);
  t.same(TRIGGER_MODES, ['Manual', 'Timed']);
});

t.test('decisions 7.3: endpoints are checked and normalised', async (t) => {
  const same = (protocol: string, text: string, normalized: string): void => void t.same(checkAddress(protocol, text), { normalized }, text);
  const wrong = (protocol: string, text: string): void => void t.ok('error' in checkAddress(protocol, text), `${protocol} ${text}`);
  same('modbus', '10.0.0.5', 'tcp://10.0.0.5:502');
  same('modbus', 'tcp://PLC-1.plant:1502', 'tcp://plc-1.plant:1502');
  same('modbus', '[FE80::1]:502', 'tcp://[fe80::1]:502');
  same('modbus', 'rtu:///dev/ttyS0?baud=19200&parity=even&stop=1', 'rtu:///dev/ttyS0');
  same('ethernetip', '10.0.0.9', '10.0.0.9:44818');
  same('opcua', 'opc.tcp://Server/path/', 'opc.tcp://server:4840/path');
  same('simulation', '', '');
  for (const text of ['', 'host:0', 'host:70000', 'http://host', 'rtu://ttyS0', 'rtu:///dev/ttyS0?baud=abc', 'rtu:///dev/ttyS0?parity=maybe', 'rtu:///dev/ttyS0?speed=1'])
    wrong('modbus', text);
  for (const text of ['', 'opc.http://x', 'opc.tcp://']) wrong('opcua', text);
  wrong('ethernetip', 'a b');
  wrong('simulation', 'host');
  wrong('profinet', 'host');
});

t.test('decisions 7.4: channel addresses', async (t) => {
  const accepted: [protocol: string, direction: 'input' | 'output', text: string, dataType: string | undefined][] = [
    ['modbus', 'input', 'coil:5', 'bool'],
    ['modbus', 'input', 'discrete:65535:bool', 'bool'],
    ['modbus', 'output', 'holding:100:float32:be', 'float'],
    ['modbus', 'input', 'input:30:int32:les@7', 'int'],
    ['modbus', 'input', 'input:30', 'int'],
    ['modbus', 'output', 'holding:3:bit15@0', 'bool'],
    ['modbus', 'input', 'holding:0:string64', 'string'],
    ['ethernetip', 'input', 'Program:Main.Tank[2].Level#REAL', 'float'],
    ['ethernetip', 'input', 'Tag', undefined],
    ['ethernetip', 'output', 'Word.3', 'bool'],
    ['ethernetip', 'input', 'Grid[1,2,3].x#DINT', 'int'],
    ['opcua', 'input', 'ns=2;s=Reactor.Temp', undefined],
    ['opcua', 'input', 'nsu=urn:plant:plc;i=12|3', undefined],
    ['opcua', 'input', 'g=09087e75-8e5e-499b-954f-f2a9603db28a', undefined],
    ['simulation', 'output', 'xv101.cmd', 'float'],
  ];
  for (const [protocol, direction, text, dataType] of accepted) t.same(checkChannelAddress(protocol, direction, text), { dataType }, text);
  const refusedTexts: [protocol: string, direction: 'input' | 'output', text: string][] = [
    ['modbus', 'output', 'discrete:1'],
    ['modbus', 'output', 'input:1'],
    ['modbus', 'input', 'coil:1:int16'],
    ['modbus', 'input', 'holding:65536'],
    ['modbus', 'input', 'holding:65535:int32'],
    ['modbus', 'input', 'holding:1:int16:le'],
    ['modbus', 'input', 'holding:1:bit16'],
    ['modbus', 'input', 'holding:1:string65'],
    ['modbus', 'input', 'holding:1:string0'],
    ['modbus', 'input', 'holding:1:int32:xy'],
    ['modbus', 'input', 'holding:1@248'],
    ['modbus', 'input', 'register:1'],
    ['ethernetip', 'input', 'Tag#WORD32'],
    ['ethernetip', 'input', '1Tag'],
    ['opcua', 'input', 's'],
    ['opcua', 'input', 'ns=2;i=abc'],
    ['simulation', 'input', '1x'],
  ];
  for (const [protocol, direction, text] of refusedTexts) t.ok('error' in checkChannelAddress(protocol, direction, text), text);
});

t.test('decisions 7.1, 7.2: options are known, typed and bounded', async (t) => {
  t.same(checkOptions('modbus', { pollInterval: '250ms', unitId: '7', writeMode: 'multiple', byteOrder: 'les' }), []);
  t.match(checkOptions('modbus', { speed: 1 }), [{ option: 'speed', message: /not known/ }]);
  for (const [option, value] of [
    ['pollInterval', '5ms'],
    ['pollInterval', '2h'],
    ['timeout', 'soon'],
    ['retries', -1],
    ['retries', 1.5],
    ['unitId', 248],
    ['maxRegisters', 126],
    ['byteOrder', 'abcd'],
  ] as const) {
    t.match(checkOptions('modbus', { [option]: value }), [{ option }], `${option} ${value}`);
  }
  t.match(readOptions('modbus', {}), { pollInterval: 500, timeout: 1000, retries: 2, maxRegisters: 125, maxBits: 2000, maxGap: 8, unitId: 1 });
  t.same(secretOptions('opcua'), ['password']);
  t.equal(staleAfterMs('modbus', {}), 2000);
  t.equal(staleAfterMs('modbus', { pollInterval: '5s' }), 15_000);
  t.equal(staleAfterMs('modbus', { staleAfter: '7s' }), 7000);
});

t.test('SIM-11: a param that does not parse is named', async (t) => {
  const check = (type: string, params: Behavior['params']): string[] => checkBehavior({ address: 'a', type, params }).map((row) => row.param);
  t.same(check('SineWave', { amplitude: '1e-3', period: '2m', noise: '-.5' }), []);
  t.same(check('SineWave', { amplitude: 'big', period: 'long' }), ['amplitude', 'period']);
  t.same(check('SineWave', { period: '0s' }), ['period']);
  t.same(check('SineWave', { colour: 'red' }), ['colour']);
  t.same(check('DigitalPulse', { invert: 'perhaps', dutyCycle: 2 }), ['dutyCycle', 'invert']);
  t.same(check('ValveFeedback', {}), ['command']);
  t.same(check('ValveFeedback', { command: 'a/b', kind: 'ajar' }), ['kind']);
  t.same(check('TankLevel', { inflow: 'q1', outflow: '2.5', capacity: 0 }), ['capacity']);
  t.same(check('Nonsense', {}), ['type']);
  for (const expr of ['1 +', 'foo(1)', 'lag(1)', 'sqrt(1, 2)', '[a', '[a b]', '1 2', ')', '', '#']) t.same(check('Expr', { expr }), ['expr'], expr);
  t.same(
    checkBehavior({ address: '1a', type: 'NoisyConstant', params: {} }).map((row) => row.param),
    ['address'],
  );
  const fault = { name: 'f', address: 'a', type: 'SensorDrift', params: { rate: 'x' }, triggerMode: 'Manual' as const, triggerAfterMs: 0 };
  t.same(
    checkFault(fault).map((row) => row.param),
    ['rate'],
  );
  t.same(
    simulationProblems([], [fault, fault], [], () => undefined).map((row) => row.field),
    ['faults[0].params.rate', 'faults[0].address', 'faults[1].params.rate', 'faults[1].name', 'faults[1].address'],
  );
});

const preset: Behavior[] = [
  { address: 'levelRaw', type: 'Expr', params: { expr: '4 + 16 * [contents] / capacity + [far/x]', engMin: '3.5' } },
  { address: 'capacity', type: 'NoisyConstant', params: { value: '60' } },
  { address: 'open', type: 'ValveFeedback', params: { command: 'cmd' } },
];

t.test('SIM-13: generic addresses without an entry are named', async (t) => {
  t.same(
    missingAddresses(preset, { levelRaw: 'lt1', capacity: '' }),
    ['levelRaw', 'contents', 'capacity', 'open', 'cmd'].filter((address) => address !== 'levelRaw'),
  );
  t.same(missingAddresses(preset, { levelRaw: 'lt1', contents: 'm1', capacity: 'c1', open: 'zso', cmd: 'xv' }), []);
  t.same(behaviorReferences(at(preset, 0)), ['contents', 'capacity', 'far/x']);
});

t.test('SIM-03: an inline behaviour takes the place of a preset one with the same resolved address', async (t) => {
  const map = { levelRaw: 'lt1', contents: 'm1', capacity: 'c1', open: 'zso', cmd: 'other/xv' };
  const inline: Behavior[] = [
    { address: 'more', type: 'NoisyConstant', params: {} },
    { address: 'c1', type: 'NoisyConstant', params: { value: 20 } },
  ];
  t.same(mergeBehaviors(preset, map, inline), [
    { address: 'lt1', type: 'Expr', params: { expr: '4 + 16 * [m1] / [c1] + [far/x]', engMin: '3.5' } },
    inline[1],
    { address: 'zso', type: 'ValveFeedback', params: { command: 'other/xv' } },
    inline[0],
  ]);
  t.equal(at(mergeBehaviors(preset, {}, []), 0).address, 'levelRaw', 'SIM-14: without an entry the generic address stays');
});

t.test('decisions 7.3: requests are coalesced within maxRegisters and maxGap', async (t) => {
  const spans = (...rows: [number, number][]): { start: number; length: number; position: number }[] => rows.map(([start, length], position) => ({ start, length, position }));
  const shape = (blocks: ReturnType<typeof coalesce>): number[][] => blocks.map((block) => [block.start, block.length, block.spans.length]);
  t.same(shape(coalesce(spans([10, 2], [0, 1], [4, 2]), 125, 8)), [[0, 12, 3]]);
  t.same(shape(coalesce(spans([0, 1], [9, 1], [19, 1]), 125, 8)), [
    [0, 10, 2],
    [19, 1, 1],
  ]);
  t.same(shape(coalesce(spans([0, 4], [4, 4], [8, 4]), 8, 8)), [
    [0, 8, 2],
    [8, 4, 1],
  ]);
  t.same(shape(coalesce(spans([0, 4], [1, 1], [0, 4]), 125, 0)), [[0, 4, 3]], 'overlaps share a request');
  t.same(shape(coalesce(spans([0, 64]), 10, 0)), [[0, 64, 1]], 'a value is never torn');
  const limits = { unitId: 1, maxRegisters: 125, maxBits: 2000, maxGap: 8 };
  const points = Array.from({ length: 1000 }, (_, index) => ({ address: `holding:${index}`, dataType: 'int' as const }));
  t.equal(at(planReads(points, limits).units, 0).blocks.length, 8, '1,000 registers in 8 requests');
  t.same(
    planReads(
      [
        { address: 'coil:1@3', dataType: 'bool' },
        { address: 'holding:1', dataType: 'int' },
        { address: '?', dataType: 'int' },
      ],
      limits,
    ).units.map((row) => row.unit),
    [3, 1],
  );
});

t.test('D-IO-02: back-off doubles from min to max with 20 % jitter', async (t) => {
  t.same(
    [1, 2, 3, 7, 60].map((failures) => backoffMs(failures, 500, 30_000, 0.5)),
    [500, 1000, 2000, 30_000, 30_000],
  );
  t.equal(backoffMs(1, 500, 30_000, 0), 400);
  t.ok(Math.abs(backoffMs(1, 500, 30_000, 0.999_999) - 600) < 1);
});

t.test('decisions 7.7: equal is 0.1 % of the span, 0.001 without one, exactly for bool and text', async (t) => {
  t.equal(readbackAgrees(50, 50.1, 'float', 100), true);
  t.equal(readbackAgrees(50, 50.11, 'float', 100), false);
  t.equal(readbackAgrees(50, 50.0009, 'float', undefined), true);
  t.equal(readbackAgrees(50, 50.002, 'float', undefined), false);
  t.equal(readbackAgrees(1, 0, 'bool', 1e6), false);
  t.equal(readbackAgrees('a', 'a', 'string', undefined), true);
  t.equal(readbackAgrees('a', 'b', 'string', undefined), false);
});
