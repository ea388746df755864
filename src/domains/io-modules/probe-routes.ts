/** The probe behind a module from outside (contract 3, I/O module; IO-15, IO-16; ADR 0076): its restart, and what it has counted of the way to the device. */
import * as v from 'valibot';
import { ERROR_KINDS, isSimulated, ROUND_TRIP_UP_TO_MS } from '../../../runtime/catalog.js';
import type { ProbeStatistics } from '../../../runtime/port.js';
import { inside } from '../../platform/base/assert.js';
import { timestamp } from '../../platform/base/clock.js';
import { guardedPromise } from '../../platform/base/guarded.js';
import { missing, Refusal } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { type RequestContext, type Route, routesFor } from '../../platform/http/route.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import type { LocalProbes } from '../placement/local-probes.js';
import { channelsOf } from './channels.js';
import { armedOf, refuseUnacknowledged } from './fail-safe-ceremony.js';
import { FailSafe, IOModule, type IOModuleSpec, type IOModuleStatus } from './kind.js';
import { isEnabled } from './outputs.js';

export interface ProbeDeps {
  readonly store: Store;
  readonly probes: LocalProbes;
  /** Build of the probes. */
  readonly image: string;
}

type Named = { readonly site: string; readonly name: string };
type Module = Resource<IOModuleSpec, IOModuleStatus>;

const route = routesFor<ProbeDeps>();
const PATH = '/api/v1/sites/{site}/iomodules/{name}';

function moduleOf({ site, name }: Named, store: Store): Module {
  const module = store.get(IOModule, site, name);
  if (!module) throw missing('IOModule', name);
  return module;
}

const here = (params: Named, { store }: ProbeDeps): void => void moduleOf(params, store);

const RestartBody = v.strictObject({
  ioModule: v.string(),
  pod: v.string(),
  oldImage: v.string(),
  newImage: v.string(),
  servedModules: v.array(v.string()),
  failSafeArmed: v.array(v.strictObject({ ioModule: v.string(), timeout: v.string(), outputs: FailSafe.entries.outputs })),
  status: v.literal('Restarting'),
});

const Counts = v.strictObject({ silent: v.number(), refused: v.number(), lost: v.number(), malformed: v.number() });

const ChannelStatistics = v.strictObject({
  channel: v.string(),
  address: v.string(),
  direction: v.picklist(['input', 'output']),
  /** ms since the last good sample; null where there was none, and of an output that is not read back. */
  lastGoodAgeMs: v.nullable(v.number()),
  /** Samples there should have been, and how many of them were Bad. */
  samples: v.number(),
  bad: v.number(),
  /** The Bad ones by kind. */
  errors: Counts,
});

const StatisticsBody = v.strictObject({
  ioModule: v.string(),
  probe: v.string(),
  /** False: no wire leads to the module now, or its probe does not answer; `reason` says which. What is below is then null. */
  measured: v.boolean(),
  reason: v.string(),
  counted: v.nullable(
    v.strictObject({
      /** When the probe began with the module: its start, or a change of its device. */
      since: v.string(),
      polls: v.number(),
      /** Polls that had not ended when the next one was due. */
      latePolls: v.number(),
      /** Connections after the first. */
      reconnects: v.number(),
      failedConnects: v.number(),
      /** Polls in which the kind was met. */
      errors: Counts,
      /** Of the polls that were answered; the last bound is null: what took longer. */
      roundTrip: v.strictObject({
        meanMs: v.nullable(v.number()),
        maxMs: v.nullable(v.number()),
        buckets: v.array(v.strictObject({ upToMs: v.nullable(v.number()), count: v.number() })),
      }),
      /** What came by itself; null of a module that is read. Each reread is counted as a poll too. */
      arrivals: v.nullable(v.strictObject({ notifications: v.number(), keepAlives: v.number(), proofs: v.number(), rereads: v.number() })),
      channels: v.array(ChannelStatistics),
    }),
  ),
  /** Bytes of the last exchange with the device, for whoever hunts a broken wire; null where the protocol does not tell them. */
  lastExchange: v.nullable(v.strictObject({ sent: v.string(), received: v.string(), at: v.string(), roundTripMs: v.number() })),
});
type StatisticsBody = ToldBy<typeof StatisticsBody>;

nameSchemas({ ChannelRestart: RestartBody, ErrorCounts: Counts, ChannelStatistics, IOModuleStatistics: StatisticsBody });

/** @throws Refusal 409 `fail_safe_not_acknowledged`, 503 `device_unreachable`. */
function checkRestart({ params: { site, name }, body }: RequestContext<Named, { reason: string; acknowledgeFailSafe: boolean }>, { store, probes }: ProbeDeps) {
  const served = probes.servedWith(site, name);
  if (served.length === 0) throw new Refusal('unavailable', `no probe serves I/O module ${name}`, { code: 'device_unreachable' });
  const armed = armedOf(store, site, served);
  refuseUnacknowledged(armed, body.acknowledgeFailSafe);
  return { served: [...served].sort(), armed };
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;

function counted(spec: IOModuleSpec, { sinceMs, roundTrip, channels, ...counts }: ProbeStatistics): NonNullable<StatisticsBody['counted']> {
  const answered = roundTrip.counts.reduce((sum, count) => sum + count, 0);
  const configured = channelsOf(spec);
  return {
    ...counts,
    since: timestamp(sinceMs),
    roundTrip: {
      meanMs: answered === 0 ? null : tenths(roundTrip.sumMs / answered),
      maxMs: answered === 0 ? null : tenths(roundTrip.maxMs),
      buckets: roundTrip.counts.map((count, place) => ({ upToMs: ROUND_TRIP_UP_TO_MS[place] ?? null, count })),
    },
    // a plan under way may have others for a moment
    channels: configured.slice(0, channels.length).map(({ name, address, direction }, place) => {
      const { lastGoodAgeMs, good, errors } = inside(channels, place, 'the slice is as long as what was counted');
      const bad = ERROR_KINDS.reduce((sum, kind) => sum + errors[kind], 0);
      return { channel: name, address, direction, lastGoodAgeMs: lastGoodAgeMs === null ? null : Math.round(lastGoodAgeMs), samples: good + bad, bad, errors };
    }),
  };
}

async function statistics({ metadata: { site, name }, spec }: Module, probes: LocalProbes): Promise<StatisticsBody> {
  const nothing = (reason: string): StatisticsBody => ({ ioModule: name, probe: probes.probeOf(site, name), measured: false, reason, counted: null, lastExchange: null });
  if (!isEnabled(spec)) return nothing('the module is disabled: no connection is made');
  if (isSimulated(spec.protocol)) return nothing('the module is simulated: no wire leads to a device');
  const [found, exchange] = await Promise.all([probes.statistics(site, name), probes.exchange(site, name)]);
  if (!found) return nothing('the probe of the module does not answer');
  const lastExchange = exchange ? { sent: exchange.sent, received: exchange.received, at: timestamp(exchange.atMs), roundTripMs: tenths(exchange.roundTripMs) } : null;
  return { ioModule: name, probe: probes.probeOf(site, name), measured: true, reason: '', counted: counted(spec, found), lastExchange };
}

export const probeRoutes: readonly Route<ProbeDeps>[] = [
  route({
    method: 'GET',
    path: `${PATH}/statistics`,
    action: 'iomodule:read',
    tier: 'read',
    reply: StatisticsBody,
    summary: 'Polls, round trips, errors by kind and connections of the way to the device, and the age of the last good sample of each channel',
    exists: here,
    handle: ({ params }, { store, probes }) => statistics(moduleOf(params, store), probes),
  }),
  route({
    method: 'POST',
    path: `${PATH}/ioprobe/restart`,
    action: 'iomodule:restart-probe',
    tier: 'engineer',
    reason: 'policy',
    body: v.strictObject({ reason: v.string(), acknowledgeFailSafe: v.optional(v.boolean(), false) }),
    reply: RestartBody,
    errors: { 409: ['fail_safe_not_acknowledged'], 503: ['device_unreachable'] },
    summary: 'Restart the probe that serves the module; fail-safe values that may be taken must be acknowledged',
    audit: { action: 'Request', category: 'ioprobe', target: ({ site, name }) => ({ kind: 'IOModule', name, site }) },
    exists: here,
    async handle(context, deps) {
      const { site, name } = context.params;
      const asked = checkRestart(context, deps);
      const about = { operatorReason: context.body.reason, details: { servedModules: asked.served, failSafeArmed: asked.armed } };
      await deps.store.write({ audits: [context.audit({ ...about, result: 'Accepted' })] });
      const { served, armed } = checkRestart(context, deps); // while it was synced, a module may have come with a time-out that nobody has seen
      const { probePodName } = moduleOf(context.params, deps.store).status;
      guardedPromise('restart of an I/O probe', () => deps.probes.restart(site, name));
      await deps.store.write({ audits: [context.audit({ ...about, details: { servedModules: served, failSafeArmed: armed }, result: 'Success' })] });
      return {
        ioModule: name,
        pod: probePodName,
        oldImage: deps.image,
        newImage: deps.image,
        servedModules: served,
        failSafeArmed: armed,
        status: 'Restarting' as const,
      };
    },
  }),
];
