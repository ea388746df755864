/** Overview and the runtime of a unit (contract 2, Tags; contract 3, Physical model and logic; decisions Q-UNIT-07, Q-UNIT-08). */
import * as v from 'valibot';
import { conflict, invalid, missing, Refusal } from '../../platform/base/refusal.js';
import { timestamp } from '../../platform/base/clock.js';
import { mayVisit } from '../../platform/http/caller.js';
import { routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import { ControlProgram } from '../logic/kind.js';
import type { LocalRuntimes } from '../placement/local-runtimes.js';
import { requireSite, Site, Unit, UNIT_SCAN_INTERVAL_DEFAULT } from '../plant/kind.js';
import { modulesOf } from '../control-modules/rules.js';
import { Phase } from '../procedures/kind.js';
import { type OverviewDeps, siteOverview } from './overview.js';
import type { UnitLink } from './runtimes.js';

export interface UnitRouteDeps extends OverviewDeps {
  readonly store: Store;
  readonly runtimes: LocalRuntimes;
  readonly timeScale: () => number;
  readonly nodeName: string;
  readonly image: string;
}

const route = routesFor<UnitRouteDeps>();
const RUNTIME = '/api/v1/sites/{site}/units/{name}/runtime';
const here = ({ site, name }: { readonly site: string; readonly name: string }, { store }: UnitRouteDeps): void => {
  if (!store.get(Unit, site, name)) throw missing('Unit', name);
};

function requireLink({ runtimes }: UnitRouteDeps, site: string, name: string): UnitLink {
  const link = runtimes.link(site, name);
  if (link?.ready) return link;
  throw new Refusal('unavailable', `the runtime of unit ${name} is not reachable: ${link?.message ?? 'not started'}`, { code: 'runtime_unreachable', unit: name });
}

export const unitRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/overview',
    action: 'overview:read',
    tier: 'read',
    reply: 'SiteOverview',
    summary: 'Units, batches and alarms of a site',
    exists: ({ site }, { store }) => void requireSite(store, site),
    handle: ({ params }, deps) => siteOverview(params.site, deps),
  }),
  route({
    method: 'GET',
    path: '/api/v1/overview',
    action: 'overview:read',
    tier: 'read',
    reply: '{asOf, sites: SiteOverview[]}',
    summary: 'All sites the caller may see',
    handle: ({ caller }, deps) => ({
      asOf: timestamp(deps.nowMs()),
      sites: deps.store
        .list(Site, '')
        .filter((site) => mayVisit(caller, site.metadata.name))
        .map((site) => siteOverview(site.metadata.name, deps)),
    }),
  }),
  route({
    method: 'GET',
    path: `${RUNTIME}/status`,
    action: 'unit:runtime-status',
    tier: 'read',
    summary: 'The unit runtime: ready, scans, networks, elements',
    exists: here,
    handle: ({ params }, deps) => runtimeStatus(params.site, params.name, deps),
  }),
  route({
    method: 'GET',
    path: `${RUNTIME}/fbnetwork/{network}`,
    action: 'unit:runtime-fbnetwork',
    tier: 'read',
    summary: 'Live port values of one network',
    exists: here,
    handle: async ({ params }, deps) => {
      const link = requireLink(deps, params.site, params.name);
      const result = await link.inspect('network', params.network);
      if (result === undefined || result === null) throw missing('network', params.network);
      return { unit: params.name, ...(result as object) };
    },
  }),
  route({
    method: 'GET',
    path: `${RUNTIME}/diagnostics`,
    action: 'unit:runtime-diagnostics',
    tier: 'engineer',
    summary: 'Scan times, lateness, memory',
    exists: here,
    handle: async ({ params }, deps) => ({ unit: params.name, ...((await requireLink(deps, params.site, params.name).inspect('diagnostics', '')) as object) }),
  }),
  route({
    method: 'GET',
    path: `${RUNTIME}/programs`,
    action: 'unit:runtime-programs',
    tier: 'engineer',
    reply: 'array',
    summary: 'Control programs and module networks of the unit',
    exists: here,
    handle: ({ params }, { store, runtimes }) => {
      const link = runtimes.link(params.site, params.name);
      const modules = modulesOf(store, params.site, params.name).map((module) => ({
        name: module.metadata.name,
        controlModule: module.metadata.name,
        state: link?.ready ? 'Running' : 'Stopped',
        faultedBlocks: [] as readonly string[],
      }));
      const programs = store
        .list(ControlProgram, params.site)
        .filter((program) => program.spec.unitRef === params.name)
        .map((program) => ({
          name: program.metadata.name,
          controlModule: '',
          state: link?.ready ? program.status.state : 'Stopped',
          faultedBlocks: program.status.faultedBlocks,
          blockCount: program.spec.blocks.length,
          loadedAt: program.status.loadedAt,
        }));
      return [...modules, ...programs];
    },
  }),
  route({
    method: 'POST',
    path: `${RUNTIME}/read`,
    action: 'unit:runtime-read',
    tier: 'operate',
    body: v.strictObject({ addresses: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(500)) }),
    computes: true,
    summary: 'Values of some tags',
    exists: here,
    handle: ({ params, body }, deps) => {
      const link = requireLink(deps, params.site, params.name);
      link.refresh();
      const values = body.addresses.map((address) => {
        const at = link.tagIndex(address);
        if (at < 0) return { address, value: null, quality: 'Bad', ts: '', error: `unit ${params.name} has no tag ${address}` };
        const reading = link.reading(at);
        return { address, value: reading.value, quality: QUALITY_WORDS[reading.quality], ts: reading.atMs === 0 ? '' : timestamp(reading.atMs), error: '' };
      });
      return { values };
    },
  }),
  route({
    method: 'POST',
    path: `${RUNTIME}/restart`,
    action: 'unit:runtime-restart',
    tier: 'engineer',
    reason: 'policy',
    body: v.strictObject({ reason: v.string() }),
    summary: 'Restart the unit runtime; refused while a batch holds the unit',
    audit: { action: 'Request', category: 'runtime', target: ({ site, name }) => ({ kind: 'Unit', name, site }) },
    exists: here,
    handle: async ({ params, body, audit }, { store, runtimes, image }) => {
      const unit = store.get(Unit, params.site, params.name);
      const holder = unit?.status.allocatedTo ?? '';
      if (holder !== '') throw conflict('active_batch', `unit ${params.name} is held by ${holder}`, { batch: holder, unit: params.name });
      const link = runtimes.link(params.site, params.name);
      if (!link) throw invalid('unknown_reference', 'name', `unit ${params.name} has no runtime`);
      await store.write({ audits: [audit({ result: 'Success', operatorReason: body.reason })] });
      await link.restart();
      return { unit: params.name, podName: unit?.status.runtime.podName ?? '', oldImage: image, newImage: image, status: 'Restarting' };
    },
  }),
];

const QUALITY_WORDS = ['Good', 'Uncertain', 'Raw', 'Bad'] as const;

function runtimeStatus(site: string, name: string, { store, runtimes, timeScale, nodeName, image }: UnitRouteDeps) {
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
    networks: store
      .list(ControlProgram, site)
      .filter((program) => program.spec.unitRef === name)
      .map((program) => ({ name: program.metadata.name, state: program.status.state, scanCount: program.status.scanCount })),
    elements: store
      .list(Phase, site)
      .filter((phase) => phase.spec.unitRef === name && phase.status.state !== 'Idle')
      .map((phase) => ({ kind: 'Phase', name: phase.metadata.name, state: phase.status.state })),
  };
}
