/** Questions to OPC UA servers (contract 3, I/O module; decisions Q-IO-06, Q-UNIT-08): engineers look through a server before they configure it. */
import * as v from 'valibot';
import { EXPLORED_PROTOCOL } from '../../../runtime/catalog.js';
import type { ExplorerAsk } from '../../../runtime/port.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { type Route, routesFor } from '../../platform/http/route.js';
import { identityFolder } from '../io-modules/device-security.js';
import { asked } from './asked.js';
import { NodeText } from './concerned.js';
import { TARGET, type TargetBody, targetOf } from './target.js';
import { write, WriteBody, type WriteDeps, WriteQuestion } from './write.js';

export type DiscoveryDeps = WriteDeps;

const PATH = '/api/v1/discovery/opcua';
const OBJECTS = 'i=85'; // the folder Objects (OPC 10000-5)
const NODES_MAX = 10_000;
const NODES = 1000;
const READS_MAX = 500;
const IDENTITY_MS = 20_000;
const route = routesFor<DiscoveryDeps>();

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
const ERRORS = { 403: ['site_scope'], 404: ['not_found'], ...THREAD_ERRORS } as const;

type QuestionSchema<Entries extends v.ObjectEntries> = v.StrictObjectSchema<Entries, undefined>;

/** A question to a server: what it asks beside naming one, and what of the thread's answer is told. */
interface Question<Entries extends v.ObjectEntries, Answer, Told extends v.GenericSchema> {
  readonly verb: string;
  readonly summary: string;
  readonly entries: Entries;
  /** What is wrong where the server knows no such node. */
  readonly field: string;
  ask(body: v.InferOutput<QuestionSchema<Entries>>): ExplorerAsk;
  readonly reply: Told;
  /** Absent: all of it. */
  readonly told?: (answer: Answer) => v.InferOutput<Told>;
}

function question<const Entries extends v.ObjectEntries, Answer, Told extends v.GenericSchema>(row: Question<Entries, Answer, Told>): Route<DiscoveryDeps> {
  return route({
    method: 'POST',
    path: `${PATH}/${row.verb}`,
    action: `discovery:${row.verb}`,
    tier: 'engineer',
    body: v.strictObject({ ...TARGET, ...row.entries }),
    computes: true,
    reply: row.reply as v.GenericSchema,
    errors: ERRORS,
    summary: row.summary,
    async handle({ body, caller }, deps) {
      // the body barrier has read it by both: the members that name the server, and those of the question
      const own = body as TargetBody & v.InferOutput<QuestionSchema<Entries>>;
      const target = await targetOf(own, caller, deps);
      await deps.scope.refuse(target, caller);
      const answer = await asked<Answer>(target, row.ask(own), caller, deps.explorer, row.field);
      return row.told ? row.told(answer) : answer;
    },
  });
}

/** Needs DiscoveryDeps. */
export const discoveryRoutes: readonly Route<DiscoveryDeps>[] = [
  question({
    verb: 'endpoints',
    summary: 'Ask an OPC UA server which endpoints it has: policies, modes, ways to sign in, and the fingerprint of its certificate',
    entries: {},
    field: 'endpointUrl',
    ask: () => ({ what: 'endpoints' }),
    reply: EndpointsBody,
  }),
  question({
    verb: 'browse',
    summary: 'List what an OPC UA server has directly below a node',
    entries: { nodeId: v.optional(NodeText, OBJECTS), maxNodes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(NODES_MAX)), NODES) },
    field: 'nodeId',
    ask: ({ nodeId, maxNodes }) => ({ what: 'browse', nodeId, maxNodes }),
    reply: BrowseBody,
  }),
  question({
    verb: 'search',
    summary: 'Search an OPC UA server below a node for a name',
    entries: { text: v.pipe(v.string(), v.minLength(1), v.maxLength(200)), root: Root },
    field: 'root',
    ask: ({ text, root }) => ({ what: 'search', text, root }),
    reply: SearchBody,
  }),
  question({
    verb: 'variables',
    summary: 'List the variables of an OPC UA server below a node, with values, units, ranges and probable readbacks',
    entries: { root: Root },
    field: 'root',
    ask: ({ root }) => ({ what: 'variables', root }),
    reply: VariablesBody,
    told: ({ items, truncated }: { readonly items: readonly Found[]; readonly truncated: boolean }) => ({
      items: items.map(({ valueType: _valueType, isWritable: _isWritable, description: _description, ...item }) => item),
      truncated,
    }),
  }),
  question({
    verb: 'services',
    summary: 'List the services of module type packages below a node of an OPC UA server',
    entries: { root: Root },
    field: 'root',
    ask: ({ root }) => ({ what: 'services', root }),
    reply: ServicesBody,
    told: ({ items }: v.InferOutput<typeof ServicesBody>) => ({ items }),
  }),
  question({
    verb: 'read',
    summary: 'Read nodes of an OPC UA server with their qualities',
    entries: { nodeIds: v.pipe(v.array(NodeText), v.minLength(1), v.maxLength(READS_MAX)) },
    field: 'nodeIds',
    ask: ({ nodeIds }) => ({ what: 'read', nodeIds }),
    reply: ReadBody,
  }),
  question({
    verb: 'method-args',
    summary: 'Tell what a method of an OPC UA server takes and gives',
    entries: { objectId: NodeText, methodId: NodeText },
    field: 'methodId',
    ask: ({ objectId, methodId }) => ({ what: 'method-args', objectId, methodId }),
    reply: MethodBody,
  }),
  route({
    method: 'POST',
    path: `${PATH}/write`,
    action: 'discovery:write',
    tier: 'engineer',
    body: WriteQuestion,
    reply: WriteBody,
    errors: {
      400: ['unknown_channel', 'invalid_value', 'out_of_range'],
      403: ['automatic_mode', 'read_only_tag', 'site_scope'],
      404: ['not_found'],
      409: ['already_running', 'outputs_withheld'],
      503: ['device_unreachable', 'plant_changing'],
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
