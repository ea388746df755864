/** What the fields of I/O modules and simulation presets mean (contract 3, I/O module and Simulation; decisions 6 and 7). */
import { DESCRIPTION } from '../../platform/store/field-words.js';

export const BEHAVIOR_WORDS = {
  address: ['Address that the behaviour gives values to: a channel, or in a preset a general address that each module maps to one of its own.', 'Level'],
  type: ['How the value moves.', 'SineWave', 'RandomWalk', 'NoisyConstant', 'DigitalPulse', 'TemperatureRamp', 'ValveFeedback', 'TankLevel', 'PIDResponse', 'Expr'],
  params: ['Parameters of the type, by name; the reference of simulation lists them. Values are texts, numbers or true and false.', { initial: 20, noise: 0.1 }],
} as const;

export const PRESET_WORDS = { ...DESCRIPTION, behaviors: 'How the addresses of the simulated device behave.' } as const;

export const CHANNEL_WORDS = {
  name: ['Name of the channel, once in the module. Empty: the address.', 'level'],
  address: ['Where the value is in the device, in the grammar of the protocol. Once in the module.', 'holding:100:float32:be', 'coil:5', 'ns=2;s=Reactor.Temp', 'Level'],
  direction: 'input: the box reads it. output: the box writes it.',
  dataType: 'Type of the value. Empty: the type that the address says.',
  readbackAddress: ['Of an output: address where the device tells what it has taken. What is written must be read there within 5 s.', 'input:12'],
  pollInterval: ['How often the channel is read: a duration from 10ms to 1h. Empty: pollInterval of the options of the module.', '500ms', '2s'],
  initial: 'Of a simulated channel: the value it starts with. Empty: FALSE, 0 or an empty text.',
  description: 'What the channel is, for people. It has no effect.',
} as const;

export const FAULT_WORDS = {
  name: ['Name of the fault, once in the module.', 'broken-wire'],
  address: 'Address of the channel or behaviour that the fault befalls.',
  type: ['What goes wrong.', 'QualityBad', 'SensorDrift', 'StuckValue', 'WireBreak', 'Oscillation'],
  params: ['Parameters of the type, by name; the reference of simulation lists them.', { rate: 0.5, max: 10 }],
  triggerMode: 'Manual: the fault stands as soon as it is configured. Timed: after triggerAfter. It ends when it is removed.',
  triggerAfter: ['Of a timed fault: how long after it is configured it begins, in plant time.', '30s', '5m'],
} as const;

export const SIMULATION_WORDS = {
  preset: ['Name of the simulation preset whose behaviours the module has. Empty: only its own.', 'reactor'],
  seed: 'Start of the pseudo-random numbers. The same seed gives the same values.',
  addressMap: ['General addresses of the preset to addresses of this module. Each general address needs an entry.', { level: 'Level' }],
  behaviors: 'Own behaviours. One with the address of a behaviour of the preset stands in its place.',
  faults: 'Faults that befall the simulated device.',
} as const;

export const SECRET_WORDS = {
  username: 'Name with which the box signs in at the device. Left out: stays as it is. null: removed.',
  password: 'Password with which the box signs in at the device. Never served. Left out: stays as it is. null: removed.',
  certificate: 'Client certificate in PEM. Never served. Left out: stays as it is. null: removed.',
  key: 'Private key of the certificate in PEM, without a passphrase. Never served. Left out: stays as it is. null: removed.',
} as const;

export const SECRET_REF_WORDS = { name: ['Name of the secret in the secret store of the box. The secret itself never stands in a resource.', 'plc-1-login'] } as const;

export const SECURITY_WORDS = {
  securityPolicy: 'Of OPC UA: how messages are protected. Left out: None.',
  securityMode: 'Of OPC UA: whether messages are signed, and encrypted too. None goes with policy None alone. Left out: None.',
  authType: 'Of OPC UA: how the box signs in to the server. Left out: Anonymous.',
  secretRef: 'Secret with the members username and password.',
  clientCertificateRef: 'Secret with the members certificate and key. Left out: the client identity of the box.',
  serverTrust:
    'Of OPC UA: which server is trusted. pinned: the one whose fingerprint stands beside it; ca: one that a known authority has signed; any: every one, in development only. Left out: pinned.',
  serverCertificateSha256: 'Fingerprint of the certificate of the server, SHA-256 in hexadecimal digits.',
} as const;

export const FAIL_SAFE_OUTPUT_WORDS = {
  channel: ['Name or address of an output channel of the module.', 'valve'],
  value: 'Value that the output goes to.',
} as const;

export const FAIL_SAFE_WORDS = {
  posture:
    'How much the device depends on the box. observed: nothing is written; supervisory: the box writes set points and the device controls; regulating: the box closes control loops.',
  timeout: ['How long without a write or heartbeat until the outputs go to their fail-safe values: a duration. Empty: never.', '5s'],
  heartbeatChannel: ['Output channel that the box toggles every second while the unit runs, by which the device knows that it is alive. Empty: none.', 'heartbeat'],
  outputs: 'Values that outputs go to when the time is over.',
} as const;

export const OWNERSHIP_WORDS = {
  address: ['First of four registers of the device that nobody else uses. The box writes its mark and a counter there.', 'holding:900'],
  intervalMs: 'How often the mark is written and looked at, in milliseconds.',
  takeFrom: ['Mark of the box whose place this one takes, eight hexadecimal digits, once that one is off. Empty: none.', '1a2b3c4d'],
} as const;

export const PROBE_PLACEMENT_WORDS = {
  nodeSelector: ['Labels that the node must have which serves the module, in a cluster. Only for a module without controllerRef.', { zone: 'field' }],
} as const;

export const SERVICE_PROCEDURE_WORDS = {
  id: 'Number by which the module knows it.',
  name: ['Name by which a chart may ask for it.', 'fast'],
  isDefault: 'The module runs it where nobody has asked for another one.',
  isSelfCompleting: 'It ends by itself; another one ends by the command Complete.',
  parameters: 'Elements of the module that are set before it is started.',
  reportValues: 'Elements of the module that tell what came of it.',
} as const;

export const SERVICE_WORDS = {
  name: ['Name of the service; a chart names it as <ioModule>/<service>.', 'dosing'],
  variables: [
    'Channels of the module by the variable of VDI/VDE/NAMUR 2658-4 that they are.',
    { StateCur: 'dosing.StateCur', CommandEn: 'dosing.CommandEn', CommandExt: 'dosing.CommandExt' },
  ],
  procedures: 'Ways in which it can run.',
  parameters: 'Elements of the module that configure it.',
} as const;

export const IO_MODULE_WORDS = {
  ...DESCRIPTION,
  controllerRef: ['Name of the controller that serves the module. Protocol simulation needs one; another protocol may do without.', 'cabinet-1'],
  protocol: 'How the box talks to the device.',
  address: [
    'Where the device is, in the form of the protocol. Protocol simulation needs none.',
    '192.168.10.20:502',
    'rtu:///dev/ttyS0?baud=19200&parity=even&stop=1',
    'opc.tcp://plc-1:4840',
  ],
  enabled: 'False: the box makes no connection to the device at all.',
  options: [
    'Options of the connection, by name. All protocols know pollInterval (500ms), timeout (1s), retries (2) and staleAfter; the reference of the protocol lists the others. An unknown one is refused.',
    { unitId: 1, pollInterval: '500ms' },
  ],
  channels: 'The values of the device that the box reads and writes.',
  simulation: 'How the simulated device behaves. Only with protocol simulation.',
  security: 'How the connection is protected. A password or key never stands here, only the name of a secret. modbus and ethernetip take secretRef alone.',
  failSafe: 'What happens to the outputs when the box falls silent.',
  probePlacement: 'Where in a cluster the module is served.',
  services: 'What a process module can do by itself (module type package). The import of a package fills it in.',
} as const;
