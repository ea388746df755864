/**
 * A plant behind an OPC UA server, as a process of its own: `fork`ed with its settings as JSON, told what to do by messages. The server is that
 * of node-opcua, whose authors wrote our client's library too; what only another hand would get wrong is played by `opcua-bytes.ts`.
 */
import { createRequire } from 'node:module';
import net from 'node:net';
import path from 'node:path';
import { AccessLevelFlag, DataType, MessageSecurityMode, SecurityPolicy, StatusCodes, Variant, VariantArrayType } from 'node-opcua-client';
import { OPCUACertificateManager } from 'node-opcua-certificate-manager';
import type * as OpcUaServerLibrary from 'node-opcua-server';
import type { OPCUAServer as Server } from 'node-opcua-server';
import { PLANT_NAMESPACE, type ServerCommand, type ServerSettings } from './opcua-server.js';

process.env.NODEOPCUA_LOG_LEVEL = '0';
const { OPCUAServer } = createRequire(import.meta.url)('node-opcua-server') as typeof OpcUaServerLibrary;

const settings = JSON.parse(process.argv[2] ?? '{}') as ServerSettings;

function managerIn(name: string): OPCUACertificateManager {
  return new OPCUACertificateManager({
    rootFolder: path.join(settings.folder, name),
    automaticallyAcceptUnknownCertificate: settings.accepts !== 'nobody',
    disableFileWatchers: true,
  });
}

const server: Server = new OPCUAServer({
  port: settings.port ?? 0,
  host: '127.0.0.1',
  hostname: '127.0.0.1',
  resourcePath: '/plant',
  serverInfo: { applicationUri: 'urn:lineside:test-plant' },
  buildInfo: { productName: 'Test plant', softwareVersion: '1.2', buildNumber: '7', manufacturerName: 'Lineside tests' },
  serverCertificateManager: managerIn('pki'),
  ...settings.shows,
  userCertificateManager: managerIn('users'),
  securityPolicies: [SecurityPolicy.None, SecurityPolicy.Basic256Sha256, SecurityPolicy.Aes128_Sha256_RsaOaep, SecurityPolicy.Aes256_Sha256_RsaPss],
  securityModes: [MessageSecurityMode.None, MessageSecurityMode.Sign, MessageSecurityMode.SignAndEncrypt],
  allowAnonymous: settings.anonymous ?? true,
  userManager: { isValidUser: (user: string, password: string) => user === 'anna' && password === 'secret' },
  serverCapabilities: {
    maxSessions: settings.maxSessions ?? 50,
    maxSubscriptions: settings.maxSubscriptions ?? 100,
    ...(settings.operationLimits ? { operationLimits: settings.operationLimits } : {}),
  },
});

await server.initialize();
const space = server.engine.addressSpace;
if (!space) throw new Error('a server that is initialised has an address space');
const clockOfServer = space.findNode('i=2258');
if (settings.clockMs !== undefined && clockOfServer) Object.assign(clockOfServer, { minimumSamplingInterval: settings.clockMs });
const plant = space.registerNamespace(PLANT_NAMESPACE);
const folder = plant.addFolder('ObjectsFolder', { browseName: 'Plant', nodeId: 's=Plant' });

type Held = ReturnType<typeof plant.addVariable>;
const held = new Map<string, Held>();

function variable(name: string, dataType: DataType, value: unknown, more: Record<string, unknown> = {}): Held {
  const made = plant.addVariable({
    componentOf: folder,
    browseName: name,
    nodeId: `s=${name}`,
    dataType: DataType[dataType],
    minimumSamplingInterval: 0,
    value: { dataType, arrayType: VariantArrayType.Scalar, value } as never,
    ...more,
  });
  held.set(name, made);
  return made;
}

variable('Bool', DataType.Boolean, true);
variable('SByte', DataType.SByte, -5);
variable('Byte', DataType.Byte, 5);
variable('Int16', DataType.Int16, -300);
variable('UInt16', DataType.UInt16, 60_000);
variable('Int32', DataType.Int32, -70_000);
variable('UInt32', DataType.UInt32, 4_000_000_000);
variable('Int64', DataType.Int64, [0x7fffffff, 0xfffffff0]);
variable('UInt64', DataType.UInt64, [0, 7]);
variable('Float', DataType.Float, 1.5);
variable('Double', DataType.Double, 21.25);
variable('String', DataType.String, 'Batch-12');
variable('Date', DataType.DateTime, new Date('2026-01-02T03:04:05Z'));
variable('Text', DataType.LocalizedText, { text: 'warm' });
variable('a|b', DataType.Double, 3);
variable('ReadOnly', DataType.Double, 4, { accessLevel: AccessLevelFlag.CurrentRead, userAccessLevel: AccessLevelFlag.CurrentRead });
variable('Array', DataType.Double, undefined, {
  valueRank: 1,
  arrayDimensions: [4],
  value: { dataType: DataType.Double, arrayType: VariantArrayType.Array, value: new Float64Array([1, 2, 3, 4]) },
});
variable('Uncertain', DataType.Double, 9).setValueFromSource({ dataType: DataType.Double, value: 9 }, StatusCodes.UncertainLastUsableValue);
variable('Bad', DataType.Double, 9).setValueFromSource({ dataType: DataType.Double, value: 9 }, StatusCodes.BadSensorFailure);
variable('NotANumber', DataType.Double, Number.NaN);
for (let number = 0; number < (settings.many ?? 0); number += 1) variable(`Many${number}`, DataType.Double, number);

// an output and what the device says of it, as device libraries lay them out
const valve = plant.addObject({ componentOf: folder, browseName: 'Valve', nodeId: 's=Valve' });
for (const [name, access] of [
  ['Setpoint', AccessLevelFlag.CurrentRead | AccessLevelFlag.CurrentWrite],
  ['Feedback', AccessLevelFlag.CurrentRead],
] as const) {
  held.set(
    `Valve.${name}`,
    plant.addAnalogDataItem({
      componentOf: valve,
      browseName: name,
      nodeId: `s=Valve.${name}`,
      dataType: 'Double',
      accessLevel: access,
      userAccessLevel: access,
      minimumSamplingInterval: 0,
      engineeringUnitsRange: { low: 0, high: 100 },
      engineeringUnits: { namespaceUri: 'http://www.opcfoundation.org/UA/units/un/cefact', unitId: 20529, displayName: { text: '%' }, description: { text: 'percent' } },
      value: { dataType: DataType.Double, value: 10 },
    }) as unknown as Held,
  );
}

// a place that leads back to itself
const first = plant.addFolder(folder, { browseName: 'Circle', nodeId: 's=Circle' });
const second = plant.addFolder(first, { browseName: 'Back', nodeId: 's=Back' });
second.addReference({ referenceType: 'Organizes', nodeId: first.nodeId });

const calculator = plant.addObject({ componentOf: folder, browseName: 'Calculator', nodeId: 's=Calculator' });
const add = plant.addMethod(calculator, {
  browseName: 'Add',
  nodeId: 's=Calculator.Add',
  inputArguments: [
    { name: 'a', dataType: DataType.Double, description: { text: 'first summand' } },
    { name: 'b', dataType: DataType.Int32, description: { text: 'second summand' } },
  ],
  outputArguments: [{ name: 'sum', dataType: DataType.Double, description: { text: 'the sum' } }],
});
add.bindMethod((inputs, _context, done) =>
  done(null, { statusCode: StatusCodes.Good, outputArguments: [new Variant({ dataType: DataType.Double, value: Number(inputs[0]?.value) + Number(inputs[1]?.value) })] }),
);
const fail = plant.addMethod(calculator, { browseName: 'Fail', nodeId: 's=Calculator.Fail', inputArguments: [], outputArguments: [] });
fail.bindMethod((_inputs, _context, done) => done(null, { statusCode: StatusCodes.BadInvalidState, outputArguments: [] }));
const never = plant.addMethod(calculator, { browseName: 'Never', nodeId: 's=Calculator.Never', inputArguments: [], outputArguments: [] });
never.bindMethod((_inputs, _context, _done) => undefined);

await server.start();

let pace: NodeJS.Timeout | undefined;
let muting: NodeJS.Timeout | undefined;

interface Session {
  readonly authenticationToken: never;
  readonly publishEngine: { readonly subscriptions: readonly { setPublishingMode(isEnabled: boolean): void }[] };
}
/** The library keeps them to itself. */
const sessions = (): Session[] => Object.values((server.engine as unknown as { _sessions: Record<string, Session> })._sessions);
function muteNow(): void {
  for (const { publishEngine } of sessions()) for (const subscription of publishEngine.subscriptions) subscription.setPublishingMode(false);
}

/** Large writes of notifications: a round has left with the last one before the next round begins. */
const LARGE_BYTES = 4096;
const sends: { round: number; sentMs: number }[] = [];
if (settings.tellsSends) {
  const write = Reflect.get(net.Socket.prototype, 'write') as (...args: unknown[]) => boolean;
  Object.assign(net.Socket.prototype, {
    write(this: net.Socket, ...args: unknown[]): boolean {
      const latest = sends.at(-1);
      if (latest && Buffer.isBuffer(args[0]) && args[0].length > LARGE_BYTES) latest.sentMs = Date.now();
      return write.apply(this, args);
    },
  });
}

process.on('message', (command: ServerCommand) => {
  if ('sends' in command) {
    process.send?.({ sends: sends.filter(({ sentMs }) => sentMs > 0) });
    return;
  }
  if ('set' in command)
    held.get(command.set)?.setValueFromSource({ dataType: held.get(command.set)?.readValue().value.dataType ?? DataType.Double, value: command.value } as never);
  if ('changeMany' in command) {
    clearInterval(pace);
    let round = 0;
    pace = setInterval(() => {
      round += 1;
      const now = Date.now();
      if (settings.tellsSends) sends.push({ round: now, sentMs: 0 });
      for (let number = 0; number < (settings.many ?? 0); number += 1)
        held.get(`Many${number}`)?.setValueFromSource({ dataType: DataType.Double, value: command.changeMany === 'time' ? now : round + number });
    }, command.everyMs);
  }
  if ('mute' in command) {
    clearInterval(muting);
    if (command.mute !== 'none') muteNow();
    if (command.mute === 'all') muting = setInterval(muteNow, 20);
  }
  if ('closeSessions' in command) for (const { authenticationToken } of sessions()) server.engine.closeSession(authenticationToken, true, 'Terminated');
  process.send?.({ done: true });
});
process.on('disconnect', () => process.exit(0));
const [endpoint] = server.endpoints;
process.send?.({ port: endpoint?.port, certificate: server.getCertificate().toString('base64') });
