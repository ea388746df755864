/**
 * A process module as a process of its own: an OPC UA server whose nodes are those of a module type package, as the importer reads it, and the
 * state machine of VDI/VDE/NAMUR 2658-4 behind each service. `fork`ed with its settings as JSON; told what to do by messages.
 */
import { createRequire } from 'node:module';
import { DataType, VariantArrayType } from 'node-opcua-client';
import { OPCUACertificateManager } from 'node-opcua-certificate-manager';
import type * as OpcUaServerLibrary from 'node-opcua-server';
import type { OPCUAServer as Server } from 'node-opcua-server';
import { bitOf, type ServiceCommand, type ServiceState } from '../../src/domains/io-modules/service-words.js';
import { parseCaex } from '../../src/domains/mtp-import/caex.js';
import type { Assembly } from '../../src/domains/mtp-import/module-package.js';
import { readPackage } from '../../src/domains/mtp-import/read-package.js';
import { Report } from '../../src/domains/mtp-import/report.js';
import { typeOfVariable } from '../../src/domains/mtp-import/variables.js';
import type { PeerCommand, PeerSettings } from './mtp-peer.js';

process.env.NODEOPCUA_LOG_LEVEL = '0';
const { OPCUAServer } = createRequire(import.meta.url)('node-opcua-server') as typeof OpcUaServerLibrary;
const settings = JSON.parse(process.argv[2] ?? '{}') as PeerSettings;
const module = readPackage(parseCaex(Buffer.from(settings.aml), 'peer.aml'), 'peer.aml', new Report());

const managerIn = (name: string): OPCUACertificateManager =>
  new OPCUACertificateManager({ rootFolder: `${settings.folder}/${name}`, automaticallyAcceptUnknownCertificate: true, disableFileWatchers: true });
const server: Server = new OPCUAServer({
  port: 0,
  host: '127.0.0.1',
  hostname: '127.0.0.1',
  serverInfo: { applicationUri: 'urn:lineside:test-module' },
  serverCertificateManager: managerIn('pki'),
  userCertificateManager: managerIn('users'),
});
await server.initialize();
const space = server.engine.addressSpace;
if (!space) throw new Error('a server that is initialised has an address space');

const TYPES = { bool: DataType.Boolean, int: DataType.UInt32, float: DataType.Float, string: DataType.String } as const;
const INITIAL = { bool: false, int: 0, float: 0, string: '' } as const;
const [, uri = ''] = /^nsu=([^;]+);/.exec(module.assemblies[0]?.variables.find(({ item }) => item)?.item?.nodeId ?? '') ?? [];
// the module has its nodes at another number than whoever wrote the package may think
space.registerNamespace('urn:lineside:something-else');
const namespace = space.registerNamespace(uri);

type Held = ReturnType<typeof namespace.addVariable>;
const held = new Map<string, { readonly node: Held; readonly type: keyof typeof TYPES }>();
for (const { name, className, variables } of module.assemblies)
  for (const { name: variable, item } of variables) {
    if (!item) continue;
    const type = typeOfVariable(className, variable) ?? 'float';
    const access = `${item.isReadable ? 'CurrentRead' : ''}${item.isReadable && item.isWritable ? ' | ' : ''}${item.isWritable ? 'CurrentWrite' : ''}`;
    const node = namespace.addVariable({
      organizedBy: 'ObjectsFolder',
      browseName: `${name}.${variable}`,
      nodeId: item.nodeId.replace(/^nsu=[^;]+;/, ''),
      dataType: DataType[TYPES[type]],
      accessLevel: access,
      userAccessLevel: access,
      minimumSamplingInterval: 0,
      value: { dataType: TYPES[type], arrayType: VariantArrayType.Scalar, value: INITIAL[type] } as never,
    });
    held.set(`${name}.${variable}`, { node, type });
  }

function set(name: string, value: number | boolean | string): void {
  const found = held.get(name);
  found?.node.setValueFromSource({ dataType: TYPES[found.type], value } as never);
}
const valueOf = (name: string): unknown => held.get(name)?.node.readValue().value.value;

/** By state: its number, what it enables, and the state that it goes on to by itself. */
const STATES: Readonly<Record<ServiceState, { readonly value: number; readonly enables: readonly ServiceCommand[]; readonly then?: ServiceState }>> = {
  Idle: { value: 16, enables: ['Start', 'Stop', 'Abort'] },
  Starting: { value: 8, enables: ['Hold', 'Stop', 'Abort'], then: 'Execute' },
  Execute: { value: 64, enables: ['Pause', 'Hold', 'Restart', 'Complete', 'Stop', 'Abort'] },
  Completing: { value: 65_536, enables: ['Stop', 'Abort'], then: 'Completed' },
  Completed: { value: 131_072, enables: ['Reset', 'Stop', 'Abort'] },
  Pausing: { value: 8192, enables: ['Stop', 'Abort'], then: 'Paused' },
  Paused: { value: 32, enables: ['Resume', 'Hold', 'Stop', 'Abort'] },
  Resuming: { value: 16_384, enables: ['Stop', 'Abort'], then: 'Execute' },
  Holding: { value: 1024, enables: ['Stop', 'Abort'], then: 'Held' },
  Held: { value: 2048, enables: ['Unhold', 'Stop', 'Abort'] },
  Unholding: { value: 4096, enables: ['Stop', 'Abort'], then: 'Execute' },
  Stopping: { value: 128, enables: ['Abort'], then: 'Stopped' },
  Stopped: { value: 4, enables: ['Reset', 'Abort'] },
  Aborting: { value: 256, enables: [], then: 'Aborted' },
  Aborted: { value: 512, enables: ['Reset'] },
  Resetting: { value: 32_768, enables: [], then: 'Idle' },
};
const LEADS_TO: Readonly<Record<ServiceCommand, ServiceState>> = {
  Reset: 'Resetting',
  Start: 'Starting',
  Stop: 'Stopping',
  Hold: 'Holding',
  Unhold: 'Unholding',
  Pause: 'Pausing',
  Resume: 'Resuming',
  Abort: 'Aborting',
  Restart: 'Starting',
  Complete: 'Completing',
};
const TRANSIENT_MS = 80;
const SELF_COMPLETES_AFTER_MS = 400;

class PlayedService {
  readonly #name: string;
  readonly #service: (typeof module.services)[number];
  #state: ServiceState = 'Idle';
  #timer: NodeJS.Timeout | undefined;
  /** Does nothing, and leaves the word standing that it is given. */
  isDeaf = false;

  constructor(service: (typeof module.services)[number], control: Assembly) {
    this.#service = service;
    this.#name = control.name;
    this.mode('Automatic');
    this.#enter('Idle');
    for (const [variable, isMine] of [
      ['Op', () => valueOf(`${this.#name}.StateOpAct`) === true],
      ['Ext', () => valueOf(`${this.#name}.StateAutAct`) === true && valueOf(`${this.#name}.SrcExtAct`) === true],
    ] as const) {
      this.#listen(`Command${variable}`, (word) => this.#command(word, `${this.#name}.Command${variable}`, isMine()));
      this.#listen(`Procedure${variable}`, (id) => isMine() && !this.isDeaf && this.#service.procedures.some((each) => each.id === id) && set(`${this.#name}.ProcedureReq`, id));
    }
  }

  #listen(variable: string, take: (word: number) => void): void {
    held.get(`${this.#name}.${variable}`)?.node.on('value_changed', (data) => {
      const word = Number(data.value.value);
      if (word !== 0) setImmediate(() => take(word));
    });
  }

  mode(mode: string): void {
    for (const [flag, word] of [
      ['StateOffAct', 'Offline'],
      ['StateOpAct', 'Operator'],
      ['StateAutAct', 'Automatic'],
    ] as const)
      set(`${this.#name}.${flag}`, mode === 'Internal' ? word === 'Automatic' : word === mode);
    set(`${this.#name}.SrcIntAct`, mode === 'Internal');
    set(`${this.#name}.SrcExtAct`, mode !== 'Internal');
  }

  #command(word: number, variable: string, isMine: boolean): void {
    if (this.isDeaf) return;
    set(variable, 0);
    const command = STATES[this.#state].enables.find((each) => bitOf(each) === word);
    if (!command || !isMine) return;
    if (command === 'Start' || command === 'Restart') {
      const asked = Number(valueOf(`${this.#name}.ProcedureReq`));
      const first = this.#service.procedures.find(({ isDefault }) => isDefault) ?? this.#service.procedures[0];
      set(`${this.#name}.ProcedureCur`, asked || (first?.id ?? 0));
    }
    this.#enter(LEADS_TO[command]);
  }

  #enter(state: ServiceState): void {
    clearTimeout(this.#timer);
    this.#state = state;
    const { value, enables, then } = STATES[state];
    set(
      `${this.#name}.CommandEn`,
      enables.reduce((sum, command) => sum + (bitOf(command) ?? 0), 0),
    );
    set(`${this.#name}.StateCur`, value);
    if (state === 'Completed') for (const name of new Set(this.#current?.reportValues)) set(`${name}.V`, Number(valueOf('Amount.VOp') ?? 0));
    if (then) this.#timer = setTimeout(() => this.#enter(then), TRANSIENT_MS);
    else if (state === 'Execute' && this.#current?.isSelfCompleting) this.#timer = setTimeout(() => this.#enter('Completing'), SELF_COMPLETES_AFTER_MS);
  }

  get #current() {
    return this.#service.procedures.find(({ id }) => id === Number(valueOf(`${this.#name}.ProcedureCur`)));
  }
}

const services = new Map<string, PlayedService>();
for (const service of module.services) {
  const control = module.assemblies.find(({ name }) => name === service.control);
  if (control) services.set(service.name, new PlayedService(service, control));
}
await server.start();

process.on('message', (command: PeerCommand) => {
  let value: unknown;
  if ('get' in command) value = valueOf(command.get);
  else if ('set' in command) set(command.set, command.value);
  else {
    const service = services.get(command.service);
    if ('mode' in command) service?.mode(command.mode);
    else if (service) service.isDeaf = command.isDeaf;
  }
  process.send?.({ value });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: server.endpoints[0]?.port });
