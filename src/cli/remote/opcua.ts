/** opcua: questions to OPC UA servers, before they are configured and afterwards. */
import type { Answered, Call } from '../../client/typed.js';
import { ioModuleNames, type Scalar, valueOf } from './channels.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { EXIT, type Outcome, table, usage } from './outcome.js';

const DISCOVERY = '/api/v1/discovery/opcua';
type Target = Pick<NonNullable<Call<'/api/v1/discovery/opcua/endpoints', 'post'>['body']>, 'ioModule' | 'site' | 'endpointUrl' | 'security' | 'timeoutMs'>;
type Endpoint = Answered<'/api/v1/discovery/opcua/endpoints', 'post'>['endpoints'][number];
type Security = NonNullable<Target['security']>;

const POLICIES = ['None', 'Basic256Sha256', 'Aes128_Sha256_RsaOaep', 'Aes256_Sha256_RsaPss'] as const;
const MODES = ['None', 'Sign', 'SignAndEncrypt'] as const;

function oneOf<Word extends string>({ options }: CommandContext, option: string, words: readonly Word[]): Word | undefined {
  const text = textOf(options, option);
  const word = words.find((each) => each === text);
  if (text !== undefined && word === undefined) throw usage(`--${option} ${text}: give ${words.join(', ')}`);
  return word;
}

/** An address, or a module that is configured for one. */
async function targetOf(context: CommandContext): Promise<Target> {
  const { box, args } = context;
  const [server = ''] = args;
  const security: Security = {};
  const [securityPolicy, securityMode, fingerprint] = [oneOf(context, 'policy', POLICIES), oneOf(context, 'mode', MODES), textOf(context.options, 'fingerprint')];
  if (securityPolicy !== undefined) security.securityPolicy = securityPolicy;
  if (securityMode !== undefined) security.securityMode = securityMode;
  if (fingerprint !== undefined) security.serverCertificateSha256 = plainFingerprint(fingerprint);
  const isGiven = Object.keys(security).length > 0;
  if (server.includes('://')) return { endpointUrl: server, ...(isGiven ? { security } : {}) };
  if (isGiven) throw usage(`--policy, --mode and --fingerprint go with an address: ${server} is a module, and has its own security`);
  return { ioModule: server, site: await box.site() };
}

/** As openssl and other tools show it: with colons, or without. */
export function plainFingerprint(text: string): string {
  const plain = text.replace(/[:\s]/g, '').toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(plain)) throw usage(`${text} is no fingerprint: give the SHA-256 of the certificate, 64 hexadecimal digits`);
  return plain;
}

export function endpointsOf({ box }: CommandContext, target: Target): Promise<readonly Endpoint[]> {
  return box.typed.post(`${DISCOVERY}/endpoints`, { body: target }).then(({ endpoints: found }) => found);
}

async function endpoints(context: CommandContext): Promise<Outcome> {
  const found = await endpointsOf(context, await targetOf(context));
  const rows = found.map((row) => [row.endpointUrl, row.securityPolicy, row.securityMode, row.userTokenTypes.join(', '), row.applicationUri]);
  const fingerprints = [...new Set(found.flatMap(({ serverCertificateSha256 }) => (serverCertificateSha256 === '' ? [] : [serverCertificateSha256])))];
  const text = [table(['endpoint', 'policy', 'mode', 'signs in by', 'application'], rows), ...fingerprints.map((each) => `it shows the certificate with SHA-256 ${each}`)].join(
    '\n',
  );
  return { data: { endpoints: found }, text };
}

async function browse(context: CommandContext): Promise<Outcome> {
  const [, nodeId = ''] = context.args;
  const body = { ...(await targetOf(context)), ...(nodeId === '' ? {} : { nodeId }) };
  const found = await context.box.typed.post(`${DISCOVERY}/browse`, { body });
  const rows = found.references.map((row) => [row.nodeId, row.displayName, row.nodeClass, row.dataType, row.hasChildren ? 'yes' : '']);
  return { data: found, text: cut(rows.length === 0 ? `there is nothing below ${found.nodeId}` : table(['node', 'name', 'class', 'type', 'more below'], rows), found.truncated) };
}

const cut = (text: string, truncated: boolean): string => (truncated ? `${text}\nthere is more: begin at a node further down` : text);

async function search(context: CommandContext): Promise<Outcome> {
  const [, text = ''] = context.args;
  const root = textOf(context.options, 'root');
  const body = { ...(await targetOf(context)), text, ...(root === undefined ? {} : { root }) };
  const found = await context.box.typed.post(`${DISCOVERY}/search`, { body });
  const rows = found.items.map((row) => [row.nodeId, row.browsePath, row.nodeClass, row.dataType]);
  return { data: found, text: cut(rows.length === 0 ? `nothing is called ${text}` : table(['node', 'path', 'class', 'type'], rows), found.truncated) };
}

async function variables(context: CommandContext): Promise<Outcome> {
  const [, root = ''] = context.args;
  const body = { ...(await targetOf(context)), ...(root === '' ? {} : { root }) };
  const found = await context.box.typed.post(`${DISCOVERY}/variables`, { body });
  const rows = found.items.map((row) => [
    row.nodeId,
    row.browsePath,
    row.dataType,
    row.accessLevel,
    valueText(row.value),
    [row.engUnits, row.engMin === null && row.engMax === null ? '' : `${row.engMin ?? '-'} to ${row.engMax ?? '-'}`].filter((part) => part !== '').join(', '),
    row.readbackNodeId,
  ]);
  return {
    data: found,
    text: cut(rows.length === 0 ? 'there is no variable' : table(['node', 'path', 'type', 'access', 'value', 'unit', 'reads back at'], rows), found.truncated),
  };
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '-'));

async function read(context: CommandContext): Promise<Outcome> {
  const { several } = context;
  const found = await context.box.typed.post(`${DISCOVERY}/read`, { body: { ...(await targetOf(context)), nodeIds: [...several] } });
  const rows = found.values.map((row) => [row.nodeId, valueText(row.value), row.dataType, row.quality, row.opcStatus, row.sourceTimestamp]);
  return { data: found, text: table(['node', 'value', 'type', 'quality', 'status', 'at'], rows) };
}

async function method(context: CommandContext): Promise<Outcome> {
  const [, objectId = '', methodId = ''] = context.args;
  const found = await context.box.typed.post(`${DISCOVERY}/method-args`, { body: { ...(await targetOf(context)), objectId, methodId } });
  const rows = (way: string, list: typeof found.inputArguments): string[][] =>
    list.map(({ name, dataType, valueRank, description }) => [way, name, `${dataType}${valueRank >= 0 ? '[]' : ''}`, description]);
  const all = [...rows('takes', found.inputArguments), ...rows('gives', found.outputArguments)];
  return { data: found, text: all.length === 0 ? 'it takes and gives nothing' : table(['', 'argument', 'type', 'what'], all) };
}

async function services(context: CommandContext): Promise<Outcome> {
  const [, root = ''] = context.args;
  const body = { ...(await targetOf(context)), ...(root === '' ? {} : { root }) };
  const found = await context.box.typed.post(`${DISCOVERY}/services`, { body });
  const rows = found.items.map((row) => [row.name, row.nodeId, row.state, row.commandEnable.join(', '), row.procedures.map(({ id, name }) => `${id} ${name}`.trim()).join(', ')]);
  return { data: found, text: rows.length === 0 ? 'there is no service of a module type package' : table(['service', 'node', 'state', 'takes now', 'procedures'], rows) };
}

/** As the type of the node takes what was typed; a whole number of 64 bits keeps its digits as text. */
function typedValue(text: string, dataType: string, node: string): Scalar {
  if (dataType === 'Boolean') return valueOf(text, 'Boolean', node);
  if (!NUMBERS.includes(dataType)) return text;
  const value = valueOf(text, 'Float', node);
  return /^-?\d+$/.test(text.trim()) && !Number.isSafeInteger(value) ? text.trim() : value;
}

async function write(context: CommandContext): Promise<Outcome> {
  const [, nodeId = '', text = ''] = context.args;
  const target = await targetOf(context);
  const given = textOf(context.options, 'type');
  const dataType = given ?? (await typeOf(context, target, nodeId));
  const body = { ...target, nodeId, value: typedValue(text, dataType, nodeId), ...(given === undefined ? {} : { dataType: given }) };
  const done = await context.box.typed.post(`${DISCOVERY}/write`, { body });
  if (!done.ok) return { data: done, text: `nothing was written to ${nodeId}: ${done.message}`, exitCode: EXIT.no };
  return { data: done, text: `${nodeId} was written: ${text}` };
}

/** Of the value that the node holds. */
async function typeOf({ box }: CommandContext, target: Target, nodeId: string): Promise<string> {
  const [held] = (await box.typed.post(`${DISCOVERY}/read`, { body: { ...target, nodeIds: [nodeId] } })).values;
  if (held === undefined || held.dataType === '')
    throw usage(`the type of ${nodeId} is not known, for it holds no value (${held?.opcStatus ?? 'no answer'}): name it with --type, as Double or Boolean`);
  return held.dataType;
}

async function identity({ box, options }: CommandContext): Promise<Outcome> {
  const found = await box.typed.get(`${DISCOVERY}/client-identity`, {});
  if (options.pem === true) return { data: found, text: found.certificatePem.trimEnd(), isContent: true };
  const text = [
    `servers know this box by the certificate of ${found.applicationUri}`,
    `SHA-256  ${found.sha256}`,
    `valid    ${found.notBefore} to ${found.notAfter}`,
    'put it into the list of trusted clients of the server: lineside opcua identity --pem > box.pem',
  ].join('\n');
  return { data: found, text };
}

const NUMBERS: readonly string[] = ['SByte', 'Byte', 'Int16', 'UInt16', 'Int32', 'UInt32', 'Int64', 'UInt64', 'Float', 'Double'];
const SECURITY = [
  ['--policy <policy>', `of an address: ${POLICIES.join(', ')}`],
  ['--mode <mode>', `of an address: ${MODES.join(', ')}`],
  ['--fingerprint <sha256>', 'of an address: the certificate that the server has to show'],
] as const;
const names = { server: ioModuleNames, policy: () => Promise.resolve(POLICIES), mode: () => Promise.resolve(MODES) };

export const OPCUA_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'opcua endpoints <server>',
    about: 'what a server offers: policies, modes, ways to sign in, and the fingerprint of its certificate',
    names,
    examples: ['lineside opcua endpoints opc.tcp://192.168.10.30:4840'],
    run: endpoints,
  },
  {
    typed: 'opcua browse <server> [node]',
    about: 'what is directly below a node; below the folder Objects where none is named',
    options: SECURITY,
    names,
    examples: ['lineside opcua browse plc', "lineside opcua browse plc 'nsu=urn:plant;s=Line1'"],
    run: browse,
  },
  {
    typed: 'opcua search <server> <text>',
    about: 'nodes with a text in their name',
    options: [['--root <node>', 'below it; below the folder Objects where none is named'], ...SECURITY],
    names,
    run: search,
  },
  {
    typed: 'opcua variables <server> [node]',
    about: 'variables below a node with values, units, ranges, and where an output is probably read back',
    options: SECURITY,
    names,
    run: variables,
  },
  {
    typed: 'opcua read <server> <node...>',
    about: 'values of nodes with their quality and status',
    options: SECURITY,
    names,
    examples: ["lineside opcua read plc 'nsu=urn:plant;s=Level' 'nsu=urn:plant;s=Flow'"],
    run: read,
  },
  {
    typed: 'opcua write <server> <node> <value>',
    about: 'write one node: on record, and under the rules of the channel that stands on it, if there is one',
    options: [['--type <type>', 'of the value, as Double or Boolean; of a node that holds no value'], ...SECURITY],
    names,
    examples: ["lineside opcua write opc.tcp://192.168.10.30:4840 'nsu=urn:plant;s=Setpoint' 42.5"],
    run: write,
  },
  {
    typed: 'opcua services <server> [node]',
    about: 'services of module type packages below a node, with their state and what they take now',
    options: SECURITY,
    names,
    run: services,
  },
  { typed: 'opcua method <server> <object> <method>', about: 'what a method takes and gives', options: SECURITY, names, run: method },
  {
    typed: 'opcua identity',
    about: 'the certificate by which servers know this box',
    options: [['--pem', 'the certificate itself, to be given to a server']],
    examples: ['lineside opcua identity', 'lineside opcua identity --pem > box.pem'],
    run: identity,
  },
];
