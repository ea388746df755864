/** Questions to OPC UA servers (contract 3, I/O module; decisions Q-IO-06, Q-UNIT-08): engineers look through a server before they configure it. */
import * as v from 'valibot';
import { EXPLORED_PROTOCOL } from '../../../runtime/catalog.js';
import type { ExplorerAsk } from '../../../runtime/port.js';
import { invalid, Refusal } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { Caller } from '../../platform/http/caller.js';
import { type AuditEntry, type RequestContext, type Route, routesFor } from '../../platform/http/route.js';
import { Scalar, Text } from '../../platform/store/fields.js';
import type { Store } from '../../platform/store/store.js';
import { checkWrite, type WriteBarriers } from '../io-modules/write-barriers.js';
import { identityFolder } from '../io-modules/device-security.js';
import { withheldByBox } from '../io-modules/outputs.js';
import type { Explorer } from './explorer.js';
import { type Module, TARGET, type Target, type TargetBody, type TargetDeps, targetOf } from './target.js';

export interface DiscoveryDeps extends TargetDeps, WriteBarriers {
  readonly store: Store;
  readonly explorer: Explorer;
  /** Setting io.outputs. */
  readonly outputs: 'live' | 'withheld';
}

const PATH = '/api/v1/discovery/opcua';
const OBJECTS = 'i=85'; // the folder Objects (OPC 10000-5)
const NODES_MAX = 10_000;
const NODES = 1000;
const READS_MAX = 500;
const IDENTITY_MS = 20_000;
const route = routesFor<DiscoveryDeps>();

const NodeText = v.pipe(v.string(), v.minLength(1), v.maxLength(5000));
const Root = v.optional(NodeText, OBJECTS);

const EndpointsBody = v.strictObject({
  endpoints: v.array(
    v.strictObject({
      endpointUrl: v.string(),
      securityPolicy: v.string(),
      securityMode: v.string(),
      userTokenTypes: v.array(v.string()),
      applicationUri: v.string(),
      applicationName: v.string(),
      /** Of the certificate that the server shows; empty: it shows none. */
      serverCertificateSha256: v.string(),
    }),
  ),
});
const BrowseBody = v.strictObject({
  nodeId: v.string(),
  references: v.array(
    v.strictObject({
      nodeId: v.string(),
      browseName: v.string(),
      displayName: v.string(),
      nodeClass: v.string(),
      typeDefinition: v.string(),
      dataType: v.string(),
      hasChildren: v.boolean(),
    }),
  ),
  truncated: v.boolean(),
});
const SearchBody = v.strictObject({
  items: v.array(v.strictObject({ nodeId: v.string(), browsePath: v.string(), displayName: v.string(), nodeClass: v.string(), dataType: v.string() })),
  truncated: v.boolean(),
});
const VariablesBody = v.strictObject({
  items: v.array(
    v.strictObject({
      nodeId: v.string(),
      browsePath: v.string(),
      dataType: v.string(),
      accessLevel: v.string(),
      value: v.unknown(),
      engUnits: v.string(),
      engMin: v.nullable(v.number()),
      engMax: v.nullable(v.number()),
      /** Where what is written is probably read back; empty: nothing looks like it. */
      readbackNodeId: v.string(),
    }),
  ),
  truncated: v.boolean(),
});
const ServicesBody = v.strictObject({
  items: v.array(
    v.strictObject({
      name: v.string(),
      nodeId: v.string(),
      state: v.string(),
      commandEnable: v.array(v.string()),
      procedures: v.array(v.strictObject({ id: v.number(), name: v.string() })),
    }),
  ),
});
const ReadBody = v.strictObject({
  values: v.array(
    v.strictObject({
      nodeId: v.string(),
      value: v.unknown(),
      dataType: v.string(),
      quality: v.picklist(['Good', 'Uncertain', 'Bad']),
      opcStatus: v.string(),
      sourceTimestamp: v.string(),
    }),
  ),
});
const Arguments = v.array(v.strictObject({ name: v.string(), dataType: v.string(), valueRank: v.number(), description: v.string() }));
const MethodBody = v.strictObject({ inputArguments: Arguments, outputArguments: Arguments });
const WriteBody = v.strictObject({ ok: v.boolean(), nodeId: v.string(), opcStatus: v.string(), message: v.string() });
const IdentityBody = v.strictObject({ applicationUri: v.string(), certificatePem: v.string(), sha256: v.string(), notBefore: v.string(), notAfter: v.string() });

nameSchemas({
  OpcUaEndpoints: EndpointsBody,
  OpcUaReferences: BrowseBody,
  OpcUaFound: SearchBody,
  OpcUaVariables: VariablesBody,
  OpcUaServices: ServicesBody,
  OpcUaValues: ReadBody,
  OpcUaMethod: MethodBody,
  OpcUaWritten: WriteBody,
  OpcUaIdentity: IdentityBody,
});

const THREAD_ERRORS = { 409: ['already_running'], 503: ['device_unreachable'] } as const;
/** Of a question to a configured module too. */
const ERRORS = { 404: ['not_found'], ...THREAD_ERRORS } as const;

/** @throws Refusal `device_unreachable`, 400 where the question is wrong. */
async function asked<T>(
  target: Pick<Target, 'endpointUrl' | 'security' | 'credentials' | 'timeoutMs'>,
  ask: ExplorerAsk,
  caller: Caller,
  explorer: Explorer,
  field: string,
): Promise<T> {
  const { endpointUrl, security, credentials, timeoutMs } = target;
  const reply = await explorer.ask(caller.accountId, { endpointUrl, security, credentials, timeoutMs, ask });
  if (reply.ok) return reply.answer as T; // of a thread of the same build
  if (reply.reason === 'invalid') throw invalid('invalid_field', field, reply.message);
  throw new Refusal('unavailable', `the server ${endpointUrl} cannot be asked: ${reply.message}`, { code: 'device_unreachable', opcStatus: reply.opcStatus });
}

type Question<Body> = RequestContext<Readonly<Record<string, never>>, Body & TargetBody>;

async function answered<T, Body>({ body, caller }: Pick<Question<Body>, 'body' | 'caller'>, ask: ExplorerAsk, deps: DiscoveryDeps, field: string): Promise<T> {
  return asked<T>(await targetOf(body, caller, deps), ask, caller, deps.explorer, field);
}

// ---------------------------------------------------------------- write

/** The identifier without its namespace, which a configured channel may name by index and a caller by URI. */
function identifierOf(node: string): string {
  return node.replace(/^nsu?=[^;]*;/, '');
}

/** Channels that stand on the node: what is written to them is written under their rules. */
function checkChannels({ modules }: Target, nodeId: string, value: string | number | boolean, deps: DiscoveryDeps): void {
  for (const module of modules) {
    refuseWithheld(module);
    const isSame = (address: string): boolean => address === nodeId || (identifierOf(address) === identifierOf(nodeId) && /^nsu=/.test(address) !== /^nsu=/.test(nodeId));
    for (const { address } of module.spec.channels) if (isSame(address)) checkWrite(module, { channel: address, value }, deps);
  }
}

function refuseWithheld({ metadata, status }: Module): void {
  if (status.outputs?.state !== 'withheld') return;
  throw new Refusal('conflict', `outputs of I/O module ${metadata.name}, which is for this server, are withheld: ${status.outputs.reason}`, { code: 'outputs_withheld' });
}

async function write(
  context: Question<{ readonly nodeId: string; readonly value: string | number | boolean; readonly dataType: string }>,
  deps: DiscoveryDeps,
): Promise<v.InferOutput<typeof WriteBody>> {
  const { body, caller } = context;
  const { nodeId, value, dataType } = body;
  const target = await targetOf(body, caller, deps);
  const withheld = withheldByBox({ protocol: EXPLORED_PROTOCOL }, deps.outputs);
  if (withheld !== '') throw new Refusal('conflict', withheld, { code: 'outputs_withheld' });
  checkChannels(target, nodeId, value, deps);
  const [module] = target.modules;
  const about = {
    ...(module ? { target: { kind: 'IOModule', name: module.metadata.name, site: module.metadata.site } } : {}),
    after: value,
    details: { endpointUrl: target.endpointUrl, nodeId, ...(dataType === '' ? {} : { dataType }) },
  };
  await deps.store.write({ audits: [context.audit({ ...about, result: 'Accepted' })] }); // on record before the device sees it (D-AUDIT-01)
  context.judgeAgain();
  checkChannels(await targetOf(body, caller, deps), nodeId, value, deps); // while it was synced, a module may have gone to Automatic
  try {
    const ask = { what: 'write', nodeId, value, ...(dataType === '' ? {} : { dataType }) } as const;
    const written = await asked<v.InferOutput<typeof WriteBody>>(target, ask, caller, deps.explorer, 'value');
    const verdict = written.ok ? { result: 'Success' } : { result: 'Failed', reason: 'DeviceRefused' };
    await deps.store.write({ audits: [context.audit({ ...about, ...verdict, details: { ...about.details, opcStatus: written.opcStatus } } as AuditEntry)] });
    return written;
  } catch (fault) {
    const message = fault instanceof Error ? fault.message : String(fault);
    await deps.store.write({ audits: [context.audit({ ...about, result: 'Failed', reason: 'DeviceRefused', details: { ...about.details, message } } as AuditEntry)] });
    throw fault;
  }
}

/** Needs DiscoveryDeps. */
export const discoveryRoutes: readonly Route<DiscoveryDeps>[] = [
  route({
    method: 'POST',
    path: `${PATH}/endpoints`,
    action: 'discovery:endpoints',
    tier: 'engineer',
    body: v.strictObject(TARGET),
    computes: true,
    reply: EndpointsBody,
    errors: ERRORS,
    summary: 'Ask an OPC UA server which endpoints it has: policies, modes, ways to sign in, and the fingerprint of its certificate',
    handle: (context, deps) => answered(context, { what: 'endpoints' }, deps, 'endpointUrl'),
  }),
  route({
    method: 'POST',
    path: `${PATH}/browse`,
    action: 'discovery:browse',
    tier: 'engineer',
    body: v.strictObject({ ...TARGET, nodeId: v.optional(NodeText, OBJECTS), maxNodes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(NODES_MAX)), NODES) }),
    computes: true,
    reply: BrowseBody,
    errors: ERRORS,
    summary: 'List what an OPC UA server has directly below a node',
    handle: (context, deps) => answered(context, { what: 'browse', nodeId: context.body.nodeId, maxNodes: context.body.maxNodes }, deps, 'nodeId'),
  }),
  route({
    method: 'POST',
    path: `${PATH}/search`,
    action: 'discovery:search',
    tier: 'engineer',
    body: v.strictObject({ ...TARGET, text: v.pipe(v.string(), v.minLength(1), v.maxLength(200)), root: Root }),
    computes: true,
    reply: SearchBody,
    errors: ERRORS,
    summary: 'Search an OPC UA server below a node for a name',
    handle: (context, deps) => answered(context, { what: 'search', text: context.body.text, root: context.body.root }, deps, 'root'),
  }),
  route({
    method: 'POST',
    path: `${PATH}/variables`,
    action: 'discovery:variables',
    tier: 'engineer',
    body: v.strictObject({ ...TARGET, root: Root }),
    computes: true,
    reply: VariablesBody,
    errors: ERRORS,
    summary: 'List the variables of an OPC UA server below a node, with values, units, ranges and probable readbacks',
    handle: async (context, deps) => {
      const { items, truncated } = await answered<{ readonly items: readonly Found[]; readonly truncated: boolean }, unknown>(
        context,
        { what: 'variables', root: context.body.root },
        deps,
        'root',
      );
      return { items: items.map(({ valueType: _valueType, isWritable: _isWritable, description: _description, ...item }) => item), truncated };
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/services`,
    action: 'discovery:services',
    tier: 'engineer',
    body: v.strictObject({ ...TARGET, root: Root }),
    computes: true,
    reply: ServicesBody,
    errors: ERRORS,
    summary: 'List the services of module type packages below a node of an OPC UA server',
    handle: async (context, deps) => {
      const { items } = await answered<v.InferOutput<typeof ServicesBody>, unknown>(context, { what: 'services', root: context.body.root }, deps, 'root');
      return { items };
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/read`,
    action: 'discovery:read',
    tier: 'engineer',
    body: v.strictObject({ ...TARGET, nodeIds: v.pipe(v.array(NodeText), v.minLength(1), v.maxLength(READS_MAX)) }),
    computes: true,
    reply: ReadBody,
    errors: ERRORS,
    summary: 'Read nodes of an OPC UA server with their qualities',
    handle: (context, deps) => answered(context, { what: 'read', nodeIds: context.body.nodeIds }, deps, 'nodeIds'),
  }),
  route({
    method: 'POST',
    path: `${PATH}/method-args`,
    action: 'discovery:method-args',
    tier: 'engineer',
    body: v.strictObject({ ...TARGET, objectId: NodeText, methodId: NodeText }),
    computes: true,
    reply: MethodBody,
    errors: ERRORS,
    summary: 'Tell what a method of an OPC UA server takes and gives',
    handle: (context, deps) => answered(context, { what: 'method-args', objectId: context.body.objectId, methodId: context.body.methodId }, deps, 'methodId'),
  }),
  route({
    method: 'POST',
    path: `${PATH}/write`,
    action: 'discovery:write',
    tier: 'engineer',
    body: v.strictObject({ ...TARGET, nodeId: NodeText, value: Scalar, dataType: Text }),
    reply: WriteBody,
    errors: {
      400: ['unknown_channel', 'invalid_value', 'out_of_range'],
      403: ['automatic_mode', 'read_only_tag'],
      404: ['not_found'],
      409: ['already_running', 'outputs_withheld'],
      503: ['device_unreachable'],
    },
    audit: { action: 'Update', category: 'discovery-write', target: () => ({ kind: 'Device', name: EXPLORED_PROTOCOL, site: '' }) },
    summary: 'Write one node of an OPC UA server; a node that is a configured channel is written under the rules of that channel',
    handle: (context, deps) => write(context, deps),
  }),
  route({
    method: 'GET',
    path: `${PATH}/client-identity`,
    action: 'discovery:client-identity',
    tier: 'engineer',
    reply: IdentityBody,
    errors: THREAD_ERRORS,
    summary: 'Show the certificate by which OPC UA servers know this box',
    handle: ({ caller }, { explorer, security: box }) => {
      const security = {
        securityPolicy: 'None',
        securityMode: 'None',
        authType: 'Anonymous',
        serverTrust: 'pinned',
        serverCertificateSha256: '',
        folder: identityFolder(box),
        isDevelopment: box.isDevelopment,
      } as const;
      return asked({ endpointUrl: 'of this box', security, credentials: undefined, timeoutMs: IDENTITY_MS }, { what: 'identity' }, caller, explorer, '');
    },
  }),
];

type Found = v.InferOutput<typeof VariablesBody>['items'][number] & { readonly valueType: number; readonly isWritable: boolean; readonly description: string };
