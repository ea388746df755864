/** Routes of control programs and block types (contract 3, Control program, Logic transforms; decisions PROG). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { blockTypeEntries, type BlockTypeEntry } from '../../../runtime/catalog.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { invalid, missing } from '../../platform/base/refusal.js';
import { shown } from '../../platform/base/term.js';
import { AnnotationChange, cleared, LabelChange } from '../../platform/http/clearing.js';
import { crudRoutes } from '../../platform/http/crud.js';
import { decode } from '../../platform/http/json-body.js';
import { readWord } from '../../platform/http/log-query.js';
import { listReply } from '../../platform/http/paged-list.js';
import { LIST, parameters, word } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { checkIfMatch } from '../../platform/http/revision.js';
import { routesFor, withRevision } from '../../platform/http/route.js';
import { checkDocument, writtenKeys } from '../../platform/store/envelope.js';
import { checkReferences } from '../../platform/store/references.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { armingFacts, editFacts } from '../runs/logic-edits.js';
import { compositesOf } from './composites.js';
import { BlockTypeBody, blockTypeBody, ProgramBody, ProgramManifest, programBody, programManifest, type ScanCounts } from './dto.js';
import { armOverride, passGate, refuseNewProgram } from './hot-swap.js';
import { ControlProgram, ControlProgramSpec, type ControlProgramStatus, ProgramVariable, Block, BlockConnection, BlockVariableBinding } from './kind.js';
import { admitProgram, blockTypeRules, programRules } from './rules.js';

export interface LogicDeps extends ScanCounts {
  readonly store: Store;
  readonly clock: Clock;
}

const TIERS = { read: 'read', write: 'engineer' } as const;
const route = routesFor<LogicDeps>();
const PROGRAM_PATH = '/api/v1/sites/{site}/fbnetworks/{name}';

type Program = Resource<ControlProgramSpec, ControlProgramStatus>;
type Named = { readonly site: string; readonly name: string };

function requireProgram({ site, name }: Named, store: Store): Program {
  const program = store.get(ControlProgram, site, name);
  if (!program) throw missing('ControlProgram', name);
  return program;
}

const exists = (params: Named, { store }: LogicDeps): void => void requireProgram(params, store);

/** The whole spec; members that the stored program declares must be sent back (contract 3, Control program). */
const PutBody = v.strictObject({
  apiVersion: v.optional(v.string()),
  kind: v.optional(v.picklist(['ControlProgram', 'FBNetwork'])),
  metadata: v.optional(
    v.strictObject({
      name: v.optional(v.string()),
      namespace: v.optional(v.string()),
      labels: LabelChange,
      annotations: AnnotationChange,
    }),
  ),
  spec: v.strictObject({
    unitRef: v.string(),
    scanInterval: v.union([v.string(), v.number()]),
    blocks: v.array(Block),
    connections: cleared(v.array(BlockConnection), []),
    variables: cleared(v.array(ProgramVariable), []),
    variableBindings: cleared(v.array(BlockVariableBinding), []),
  }),
});

const readProgram = route({
  method: 'GET',
  path: PROGRAM_PATH,
  action: 'controlprogram:read',
  tier: 'read',
  query: parameters({ form: word(['manifest'], 'manifest: the document that PUT and apply take') }),
  reply: v.union([ProgramBody, ProgramManifest]),
  summary: 'Read one ControlProgram; query form',
  exists,
  handle({ params, query }, deps) {
    const program = requireProgram(params, deps.store);
    const form = readWord(query, 'form', ['manifest']);
    return withRevision(form === 'manifest' ? programManifest(program) : programBody(program, deps.store, deps), program.metadata.resourceVersion);
  },
});

const replaceProgram = route({
  method: 'PUT',
  path: PROGRAM_PATH,
  action: 'controlprogram:update',
  tier: 'engineer',
  summary: 'Replace a control program; the body states the whole spec',
  body: PutBody,
  reply: ProgramBody,
  errors: { 400: ['invalid_network', 'unknown_reference', 'reserved_key'], 403: ['change_request_required'], 409: ['active_batch', 'managed_by_control_module'] },
  audit: { action: 'Update', category: 'controlprogram', target: ({ site, name }) => ({ kind: 'ControlProgram', name, site }) },
  exists,
  served: (params, deps) => {
    const program = requireProgram(params, deps.store);
    const body = programBody(program, deps.store, deps);
    const checkRead = (ifMatch: string | undefined): void => checkIfMatch(ifMatch, program.metadata.resourceVersion);
    // whoever puts what he has read into a document puts all of it there
    return { body: { ...body, spec: body }, never: ['dataConnections', 'structuredText'], whole: true, checkRead };
  },
  async handle(context, deps) {
    const { store } = deps;
    const { site, name } = context.params;
    const { metadata, spec } = context.body;
    const before = requireProgram(context.params, store);
    checkDocument(context.body, site);
    if (metadata?.name !== undefined && metadata.name !== name)
      throw invalid('invalid_field', 'metadata.name', `ControlProgram ${name} cannot be renamed: name must be ${name}, as in the path, or left out`);
    for (const member of ['variables', 'variableBindings'] as const) {
      if (spec[member] === undefined && before.spec[member].length > 0)
        throw invalid('missing_field', `spec.${member}`, `the stored program declares ${member}; send them back, or send an explicit empty array`);
    }
    const decoded = decode(v.strictObject({ spec: ControlProgramSpec }), { spec }).spec;
    checkReferences(ControlProgram, decoded, site, store);
    const after = admitProgram(decoded, { name, site, via: 'rest', before, read: store });
    const labels = writtenKeys(metadata?.labels, before.metadata.labels, 'metadata.labels');
    const annotations = writtenKeys(metadata?.annotations, before.metadata.annotations, 'metadata.annotations');
    checkIfMatch(context.header('if-match'), before.metadata.resourceVersion);
    const { status, edits } = passGate(before, after, store, store.terms);
    const audit = context.audit({
      before: before.spec,
      after,
      ...(before.status.hotSwapOverride && !status.hotSwapOverride ? { details: { hotSwapOverride: shown(before.status.hotSwapOverride) } } : {}),
    });
    const applied = await store.write({
      puts: [
        {
          kind: ControlProgram,
          site,
          name,
          spec: after,
          status,
          ...(labels ? { labels } : {}),
          ...(annotations ? { annotations } : {}),
        },
      ],
      audits: [audit],
      facts: editFacts(store, edits, { audit, at: timestamp(deps.clock.wallMs()) }),
    });
    const program = applied.resources[0] as Program;
    return withRevision(programBody(program, store, deps), program.metadata.resourceVersion);
  },
});

/** Arms a one-shot bypass of the active-batch gate for the next edit (contract 3, Control program). */
const overrideHotSwap = route({
  method: 'POST',
  path: `${PROGRAM_PATH}/override-hot-swap`,
  action: 'controlprogram:override-hot-swap',
  tier: 'engineer',
  summary: 'Allow the next edit of the program although its unit is active',
  body: v.strictObject({ reason: v.optional(v.string(), '') }),
  reply: v.strictObject({ name: v.string(), armed: v.literal(true), by: v.string(), reason: v.string(), until: v.string() }),
  errors: { 409: ['managed_by_control_module'] },
  reason: 'policy',
  audit: { action: 'Command', category: 'hot-swap-override', target: ({ site, name }) => ({ kind: 'ControlProgram', name, site }) },
  exists,
  async handle(context, { store, clock }) {
    const { site, name } = context.params;
    const { reason } = context.body;
    const program = requireProgram(context.params, store);
    const status = armOverride(program, context.caller.displayName, reason, store.terms);
    const audit = context.audit({ operatorReason: reason, after: shown(status.hotSwapOverride) });
    const facts = armingFacts(store, { site, unit: program.spec.unitRef, name }, { audit, at: timestamp(clock.wallMs()) });
    await store.write({ puts: [{ kind: ControlProgram, site, name, status }], audits: [audit], facts });
    return { name, armed: true as const, ...shown(status.hotSwapOverride) };
  },
});

const PortBody = v.strictObject({
  name: v.string(),
  dataType: v.string(),
  description: v.optional(v.string()),
  defaultValue: v.optional(v.string()),
  required: v.boolean(),
});

const EntryBody = v.strictObject({
  name: v.string(),
  kind: v.picklist(['builtin', 'composite']),
  family: v.string(),
  description: v.string(),
  inputs: v.array(PortBody),
  outputs: v.array(PortBody),
  params: v.array(PortBody),
  /** Words of the states that the block counts, from 0. */
  stateWords: v.optional(v.array(v.string())),
});
type EntryBody = ToldBy<typeof EntryBody>;

nameSchemas({ ControlProgramPut: PutBody, BlockPort: PortBody, BlockEntry: EntryBody });

const catalog = [
  route({
    method: 'GET',
    path: '/api/v1/blocktypes',
    action: 'blocktype:list',
    tier: 'read',
    query: parameters(LIST),
    reply: v.array(EntryBody),
    summary: 'Built-in and composite block types with their ports and parameters; query limit, cursor',
    handle: (context, { store }) => {
      const items = [...blockTypeEntries(compositesOf(store))].sort((a, b) => (a.name < b.name ? -1 : 1));
      return listReply(context, { list: 'blocktypes', items, keyOf: ({ name }) => [name], render: shownEntry });
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/blocktypes/{name}',
    action: 'blocktype:read',
    tier: 'read',
    reply: EntryBody,
    summary: 'One block type',
    handle({ params }, { store }) {
      const entry = blockTypeEntries(compositesOf(store)).find((candidate) => candidate.name === params.name);
      if (!entry) throw missing('block type', params.name);
      return shownEntry(entry);
    },
  }),
];

/** Ports and params in one form (contract 3, Logic transforms): name, dataType, required and, when there are any, description and default. */
function shownEntry(entry: BlockTypeEntry): EntryBody {
  const shown = (list: typeof entry.params) =>
    list.map(({ name, dataType, description, defaultValue, required }) => ({
      name,
      dataType,
      ...(description ? { description } : {}),
      ...(defaultValue === undefined ? {} : { defaultValue }),
      required: required ?? false,
    }));
  return { ...entry, inputs: shown(entry.inputs), outputs: shown(entry.outputs), params: shown(entry.params) };
}

export const logicRoutes = [
  ...crudRoutes(programRules, {
    ...TIERS,
    reply: ProgramBody,
    dto: (program, read, deps: LogicDeps) => programBody(program, read, deps),
    only: ['list', 'create', 'delete'],
    refuse({ verb, site, name, spec, read }) {
      if (verb === 'create' && spec) refuseNewProgram(site, name, spec, read);
    },
  }),
  readProgram,
  replaceProgram,
  overrideHotSwap,
  ...crudRoutes(blockTypeRules, { ...TIERS, reply: BlockTypeBody, dto: blockTypeBody }),
  ...catalog,
];
