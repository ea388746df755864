/**
 * The runtime of a unit from outside (contract 3, Physical model and logic; decisions Q-UNIT-07, Q-UNIT-08). `status` and
 * `programs` answer from what the gateway knows, so that they answer while the runtime is away; the others need it.
 */
import type { WallMs } from '../../platform/base/times.js';
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { oneOf } from '../../platform/http/alternatives.js';
import { QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import type { BoundedLog } from '../../platform/base/bounded-log.js';
import { timestamp } from '../../platform/base/clock.js';
import { LOG_LEVELS, type LogLines } from '../../platform/base/log-lines.js';
import { conflict, missing, Refusal } from '../../platform/base/refusal.js';
import { readChoice, readLogQuery } from '../../platform/http/log-query.js';
import { listReply } from '../../platform/http/paged-list.js';
import { LIST, LOG as LOG_PAGE, parameters, word } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { type Query, type RequestContext, type Route, routesFor } from '../../platform/http/route.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { ControlProgram, type ControlProgramSpec, type ControlProgramStatus, ownerOfProgram } from '../logic/kind.js';
import { elementIndex } from '../batches/tree/element-index.js';
import { Batch } from '../batches/kind.js';
import { asShown } from '../batches/recovery/unrecovered.js';
import type { LocalRuntimes } from '../placement/local-runtimes.js';
import { Unit, UNIT_SCAN_INTERVAL_DEFAULT } from '../plant/kind.js';
import { NO_CELL } from '../plant/rules.js';
import { phasesAtWork } from '../procedures/at-work.js';
import { type ElementStatus, Phase, type PhaseSpec } from '../procedures/kind.js';
import { adhocRoot } from '../procedures/roots.js';
import { reachable, TagValue, unreachable, valueList } from '../tags/live.js';
import { servedValue } from '../tags/values.js';
import { TAG_WRITE_CATEGORY, TAG_WRITE_ERRORS, type TagDeps, writeAddress } from '../tags/write.js';
import type { UnitJournal } from './journal.js';
import type { UnitLink } from '../placement/runtimes.js';
import {
  Diagnostics,
  ManyWritten,
  NetworkView,
  OneWritten,
  Restarted,
  RuntimeProgram,
  RuntimeStatus,
  TagReading,
  UnitEvents,
  UnitLogLines,
  type WriteVerdict,
} from './runtime-bodies.js';

export interface RuntimeRouteDeps {
  readonly store: Store;
  readonly runtimes: LocalRuntimes;
  readonly tags: TagDeps;
  readonly journal: UnitJournal;
  readonly logLines: LogLines;
  readonly timeScale: () => number;
  readonly nodeName: string;
  readonly image: string;
}

type PhaseResource = Resource<PhaseSpec, ElementStatus>;

const READS_MAX = 500;
const WRITES_MAX = 100;
const UNIT_PATH = '/api/v1/sites/{site}/units/{name}/runtime';

type Named = { readonly site: string; readonly name: string };

const route = routesFor<RuntimeRouteDeps>();
const here = ({ site, name }: Named, { store }: RuntimeRouteDeps): void => {
  if (!store.get(Unit, site, name)) throw missing('Unit', name);
};
const running = ({ site, name }: Named, { runtimes }: RuntimeRouteDeps): UnitLink => reachable(runtimes, site, name);

/** What a worker tells of itself; null of a network that it does not have. */
interface Inspected {
  readonly network: Omit<ToldBy<typeof NetworkView>, 'unit'> | null;
  readonly diagnostics: Omit<ToldBy<typeof Diagnostics>, 'unit' | 'realtime' | 'thread'>;
}

/** What the worker itself knows. @throws Refusal `runtime_unreachable` when it does not answer. */
async function inspected<What extends keyof Inspected>(params: Named, deps: RuntimeRouteDeps, what: What, name: string): Promise<Inspected[What]> {
  const result = await running(params, deps).inspect(what, name);
  if (result === undefined) throw unreachable(params.name, 'it does not answer');
  return result as Inspected[What];
}

const OneWrite = v.strictObject({ address: v.string(), value: v.unknown() });
const ManyWrites = v.strictObject({ writes: v.pipe(v.array(OneWrite), v.minLength(1), v.maxLength(WRITES_MAX)) });
type WriteBody = v.InferOutput<typeof OneWrite> | v.InferOutput<typeof ManyWrites>;
/** Chosen by the member `writes`, so that an unknown field is named; a union could only say that nothing fits. */
const WriteBody = oneOf<v.GenericSchema<unknown, WriteBody>>([OneWrite, ManyWrites], (input) =>
  typeof input === 'object' && input !== null && 'writes' in input ? ManyWrites : OneWrite,
);

nameSchemas({ RuntimeOneWrite: OneWrite, RuntimeManyWrites: ManyWrites });

export const runtimeRoutes: readonly Route<RuntimeRouteDeps>[] = [
  route({
    method: 'GET',
    path: `${UNIT_PATH}/status`,
    action: 'unit:runtime-status',
    tier: 'read',
    reply: RuntimeStatus,
    summary: 'The unit runtime: ready, scans, networks, elements',
    exists: here,
    handle: ({ params }, deps) => runtimeStatus(params, deps),
  }),
  route({
    method: 'GET',
    path: `${UNIT_PATH}/tags`,
    action: 'unit:runtime-tags',
    tier: 'read',
    query: parameters(LIST),
    reply: v.array(TagValue),
    errors: { 503: ['runtime_unreachable'] },
    summary: 'All live tag values of the unit runtime; query limit, cursor',
    exists: here,
    handle: (context, deps) => {
      const { site, name } = context.params;
      running({ site, name }, deps);
      return valueList(context, deps.tags.catalog.ofUnit(site, name), deps.runtimes);
    },
  }),
  route({
    method: 'GET',
    path: `${UNIT_PATH}/fbnetwork/{network}`,
    action: 'unit:runtime-fbnetwork',
    tier: 'read',
    reply: NetworkView,
    errors: { 503: ['runtime_unreachable'] },
    summary: 'Port values of one network after one scan, which scanCount names',
    exists: here,
    handle: async ({ params }, deps) => {
      const network = await inspected(params, deps, 'network', params.network);
      if (network === null) throw missing('network', params.network);
      return { ...network, unit: params.name };
    },
  }),
  route({
    method: 'GET',
    path: `${UNIT_PATH}/diagnostics`,
    action: 'unit:runtime-diagnostics',
    tier: 'engineer',
    reply: Diagnostics,
    errors: { 503: ['runtime_unreachable'] },
    summary: 'Scan times, lateness, overruns, priority, garbage collections, memory, faulted blocks, age of the I/O',
    exists: here,
    handle: async ({ params }, deps) => ({
      ...(await inspected(params, deps, 'diagnostics', '')),
      unit: params.name,
      realtime: running(params, deps).realtime,
      thread: threadOf(params, deps),
    }),
  }),
  route({
    method: 'GET',
    path: `${UNIT_PATH}/programs`,
    action: 'unit:runtime-programs',
    tier: 'engineer',
    query: parameters(LIST),
    reply: v.array(RuntimeProgram),
    summary: 'Networks of the unit: control programs and the logic of its control modules; query limit, cursor',
    exists: here,
    handle: (context, deps) => {
      const { site, name } = context.params;
      const link = deps.runtimes.link(site, name);
      return listReply(context, {
        list: 'runtime-programs',
        items: programsOf({ site, name }, deps.store),
        keyOf: ({ metadata }) => [metadata.name],
        render: (program) => shownProgram(program, link),
      });
    },
  }),
  route({
    method: 'GET',
    path: `${UNIT_PATH}/events`,
    action: 'unit:runtime-events',
    tier: 'engineer',
    reply: UnitEvents,
    errors: { 503: ['runtime_unreachable'] },
    summary: 'What happened to the runtime: plans, faulted blocks, late scans, modes, restarts',
    exists: here,
    query: parameters(LOG_PAGE),
    handle: ({ params, query }, deps) => {
      running(params, deps);
      return pageOf(deps.journal.events(params.site, params.name), query, ({ atMs, ...event }) => ({ ts: timestamp(atMs), ...event }));
    },
  }),
  route({
    method: 'GET',
    path: `${UNIT_PATH}/logs`,
    action: 'unit:runtime-logs',
    tier: 'engineer',
    reply: UnitLogLines,
    errors: { 503: ['runtime_unreachable'] },
    summary: 'Log lines about the unit, of a level or worse',
    exists: here,
    query: parameters({ ...LOG_PAGE, level: word(LOG_LEVELS) }),
    handle: ({ params, query }, deps) => {
      running(params, deps);
      const least = LOG_LEVELS.indexOf(readChoice(query, 'level', LOG_LEVELS));
      return pageOf(
        deps.logLines.of(`${params.site}/${params.name}`),
        query,
        ({ atMs, ...line }) => ({ ts: timestamp(atMs), ...line }),
        ({ level }) => LOG_LEVELS.indexOf(level) >= least,
      );
    },
  }),
  route({
    method: 'POST',
    path: `${UNIT_PATH}/read`,
    action: 'unit:runtime-read',
    tier: 'operate',
    body: v.strictObject({ addresses: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(READS_MAX)) }),
    computes: true,
    reply: v.strictObject({ values: v.array(TagReading) }),
    errors: { 503: ['runtime_unreachable'] },
    summary: 'Values of some tags, all of one scan',
    exists: here,
    handle: ({ params, body }, deps) => {
      const link = running(params, deps);
      link.refresh();
      return { values: body.addresses.map((address) => readTag(params, address, link, deps.tags)) };
    },
  }),
  route({
    method: 'POST',
    path: `${UNIT_PATH}/write`,
    action: 'unit:runtime-write',
    tier: 'operate',
    body: WriteBody,
    reply: v.union([OneWritten, ManyWritten]),
    errors: TAG_WRITE_ERRORS,
    summary: 'Write one tag, or some of them with a verdict each, under the rules of a tag write',
    audit: { action: 'Update', category: TAG_WRITE_CATEGORY, target: ({ site, name }) => ({ kind: 'Unit', name, site }) },
    exists: here,
    handle: (context, deps) => ('writes' in context.body ? writeSome(context, context.body.writes, deps) : writeOne(context, context.body, deps)),
  }),
  route({
    method: 'POST',
    path: `${UNIT_PATH}/restart`,
    action: 'unit:runtime-restart',
    tier: 'engineer',
    reason: 'policy',
    body: v.strictObject({ reason: v.string() }),
    reply: Restarted,
    errors: { 409: ['active_batch'], 503: ['runtime_unreachable'] },
    summary: 'Restart the unit runtime; refused while it runs and a batch holds the unit',
    audit: { action: 'Request', category: 'runtime', target: ({ site, name }) => ({ kind: 'Unit', name, site }) },
    exists: here,
    handle: async (context, deps) => {
      const { site, name } = context.params;
      const { store, runtimes, journal, image } = deps;
      const idle = () => {
        const unit = store.get(Unit, site, name);
        const holder = unit?.status.allocatedTo ?? '';
        // one that has been given up holds nothing any more, and its batch waits for nothing else (decisions D-UNIT-04)
        if (holder !== '' && unit?.status.runtime.ready) throw conflict('active_batch', `unit ${name} is held by ${holder}`, { batch: holder, unit: name });
        const link = runtimes.link(site, name);
        if (!link) throw unreachable(name, unit?.spec.processCellName === '' ? NO_CELL : 'it was never started');
        return link;
      };
      const unit = store.get(Unit, site, name);
      idle();
      await store.write({ audits: [context.audit({ result: 'Success', operatorReason: context.body.reason })] });
      const link = idle(); // a batch may have taken the unit while the record was synced
      journal.tell(site, name, 'Normal', { reason: 'RestartRequested', message: `${context.caller.displayName}: ${context.body.reason}`, object: `Unit/${name}` });
      await link.restart();
      return { unit: name, podName: unit?.status.runtime.podName ?? '', oldImage: image, newImage: image, status: 'Restarting' as const };
    },
  }),
];

/** How many units its thread scans, and the names of the others of this site (ADR 0012). */
function threadOf({ site, name }: Named, { runtimes }: RuntimeRouteDeps) {
  const others = runtimes.link(site, name)?.sharedWith ?? [];
  return { units: 1 + others.length, sharedWith: others.filter((other) => other.site === site).map(({ unit }) => unit) };
}

// ---------------------------------------------------------------- status, programs

type Program = Resource<ControlProgramSpec, ControlProgramStatus>;

function programsOf({ site, name }: Named, store: Store): readonly Program[] {
  return store.list(ControlProgram, site).filter((program) => program.spec.unitRef === name);
}

function runtimeStatus(params: Named, deps: RuntimeRouteDeps): RuntimeStatus {
  const { site, name } = params;
  const { store, runtimes, timeScale, nodeName, image } = deps;
  const link = runtimes.link(site, name);
  const unit = store.get(Unit, site, name);
  const scan = link?.statistics();
  return {
    unit: name,
    ready: link?.ready ?? false,
    message: link?.message ?? 'not started',
    node: nodeName,
    podName: unit?.status.runtime.podName ?? '',
    image,
    epoch: link?.epoch ?? 0,
    startedAt: link ? timestamp(link.startedAtMs) : '',
    scanInterval: unit?.spec.scanInterval || UNIT_SCAN_INTERVAL_DEFAULT,
    timeScale: timeScale(),
    scanCount: scan?.scanCount ?? 0,
    lastScanAt: scan && scan.heartbeatAtMs > 0 ? timestamp(scan.heartbeatAtMs) : '',
    overruns: scan?.overruns ?? 0,
    missed: scan?.missed ?? 0,
    maxLatenessMs: (scan?.maxLatenessUs ?? 0) / 1000,
    networks: programsOf(params, store).map((program) => {
      const { name: network, state, scanCount } = shownProgram(program, link);
      return { name: network, state, scanCount };
    }),
    elements: phasesOn(store, site, name)
      .filter(({ status }) => status.state !== 'Idle')
      .map((phase) => ({ kind: 'Phase', name: phase.metadata.name, state: asShown(store, phase).status.state })),
  };
}

/** What the runtime has, or will have, to do with: phases at work on the unit, and those of the batch or run that holds it. */
function phasesOn(store: Store, site: string, unit: string): PhaseResource[] {
  const holder = store.get(Unit, site, unit)?.status.allocatedTo ?? '';
  const found = new Map<string, PhaseResource>();
  for (const phase of [...phasesAtWork(store).of(site), ...(holder === '' ? [] : phasesOfScope(store, site, holder))]) {
    if (phase.spec.unitRef === unit) found.set(phase.metadata.name, phase);
  }
  return [...found.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

function phasesOfScope(store: Store, site: string, scope: string): PhaseResource[] {
  const index = elementIndex(store);
  const root = store.get(Batch, site, scope) ? undefined : adhocRoot(store, site, scope);
  const elements = root ? [root, ...index.below(root)] : index.phasesOf(site, scope);
  return elements.filter((element): element is PhaseResource => element.kind === Phase.kind);
}

function shownProgram({ metadata, spec, status }: Program, link: UnitLink | undefined): RuntimeProgram {
  return {
    name: metadata.name,
    controlModule: ownerOfProgram(metadata) ?? '',
    state: link?.ready ? status.state : 'Stopped',
    scanInterval: spec.scanInterval,
    scanCount: link?.networkScans(metadata.name) ?? 0,
    blockCount: spec.blocks.length,
    faultedBlocks: link?.ready ? status.faultedBlocks : [],
    message: status.message,
    networkHash: status.networkHash,
    loadedAt: status.loadedAt,
  };
}

function pageOf<Entry extends { readonly atMs: WallMs }, Shown>(
  log: BoundedLog<Entry>,
  query: Query<keyof typeof LOG_PAGE>,
  show: (entry: Entry) => Shown,
  fits?: (entry: Entry) => boolean,
) {
  return log.page(readLogQuery(query), show, fits);
}

// ---------------------------------------------------------------- values

function readTag({ site, name }: Named, address: string, link: UnitLink, { catalog }: TagDeps): TagReading {
  const at = link.tagIndex(catalog.find(site, name, address)?.path ?? address);
  if (at < 0) return { address, value: null, quality: 'Bad', ts: '', error: `unit ${name} has no tag ${address}` };
  const { value, quality, atMs } = link.reading(at);
  return { address, value: servedValue(value), quality: QUALITY_WORDS[quality] ?? 'Bad', ts: atMs === 0 ? '' : timestamp(atMs), error: '' };
}

type WriteContext = RequestContext<Named, WriteBody>;
type OneWrite = v.InferOutput<typeof OneWrite>;

function written({ params: { site, name }, audit }: WriteContext, { address, value }: OneWrite, { tags }: RuntimeRouteDeps) {
  return writeAddress(tags, { site, unit: name, address, value, audit });
}

async function writeOne(context: WriteContext, write: OneWrite, deps: RuntimeRouteDeps): Promise<OneWritten> {
  const { ok, message, refusal } = await written(context, write, deps);
  if (refusal) throw refusal;
  return { ok, address: write.address, message };
}

/** Each write stands for itself: one that is refused keeps no other from being done. They reach the worker in their order. */
async function writeSome(context: WriteContext, writes: readonly OneWrite[], deps: RuntimeRouteDeps): Promise<ManyWritten> {
  running(context.params, deps);
  const results = await Promise.all(writes.map((write) => verdict(context, write, deps)));
  return { ok: results.every((result) => result.ok), results };
}

async function verdict(context: WriteContext, write: OneWrite, deps: RuntimeRouteDeps): Promise<WriteVerdict> {
  const { address } = write;
  try {
    const { ok, message, refusal } = await written(context, write, deps);
    return { address, ok, message, ...(refusal ? { code: refusal.context.code } : {}) };
  } catch (fault) {
    if (!(fault instanceof Refusal) || fault.context.code === 'storage_unavailable') throw fault;
    return { address, ok: false, message: fault.message, code: fault.context.code };
  }
}
