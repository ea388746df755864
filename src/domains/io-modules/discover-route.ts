/**
 * Discovery on one configured module (decisions Q-TIER-11, Q-IO-03, 7.7): the device is asked what it is and whether it has
 * the channels as they are configured; what it says stays in the status until the configuration of the device is another one.
 */
import * as v from 'valibot';
import type { Discovery } from '../../../runtime/port.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { missing, Refusal } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { routesFor } from '../../platform/http/route.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import type { LocalProbes } from '../placement/local-probes.js';
import { discoveredFor, judged } from './discovered.js';
import { isDistinct } from './distinct.js';
import { CHANNEL_TYPES, IOModule, type IOModuleSpec, type IOModuleStatus } from './kind.js';
import { isEnabled } from './outputs.js';

type Module = Resource<IOModuleSpec, IOModuleStatus>;

const route = routesFor<{ readonly store: Store; readonly clock: Clock; readonly probes: LocalProbes }>();

/** Of the probe; a request to it waits for 10 s. */
const DISCOVER_TIMEOUT_MS = 8000;

const DataType = v.optional(v.picklist(CHANNEL_TYPES));

const DiscoveredBody = v.strictObject({
  channel: v.string(),
  address: v.string(),
  discoveredReadbackAddress: v.optional(v.string()),
  dataType: DataType,
  writable: v.optional(v.boolean()),
  /** Why it was not found as it is configured. */
  error: v.optional(v.string()),
});

const OfferedBody = v.strictObject({
  address: v.string(),
  dataType: DataType,
  writable: v.boolean(),
  description: v.string(),
  engUnits: v.optional(v.string()),
  engMin: v.optional(v.number()),
  engMax: v.optional(v.number()),
  readbackAddress: v.optional(v.string()),
});

const DiscoveryBody = v.strictObject({
  ioModule: v.string(),
  startedAt: v.string(),
  finishedAt: v.string(),
  /** Each empty where the device does not say. */
  device: v.strictObject({ vendor: v.string(), product: v.string(), revision: v.string(), serial: v.string() }),
  channels: v.array(DiscoveredBody),
  /** What the device has beside the configured channels. */
  offered: v.array(OfferedBody),
  /** It has more than is listed. */
  truncated: v.boolean(),
  distinctAssetRecord: v.boolean(),
  validated: v.boolean(),
});

nameSchemas({ DiscoveredChannel: DiscoveredBody, OfferedChannel: OfferedBody, DeviceDiscovery: DiscoveryBody });

function moduleOf({ site, name }: { readonly site: string; readonly name: string }, store: Store): Module {
  const module = store.get(IOModule, site, name);
  if (!module) throw missing('IOModule', name);
  return module;
}

/** @throws Refusal `device_unreachable`. */
async function asked({ metadata: { site, name }, spec }: Module, probes: LocalProbes): Promise<Discovery> {
  const unreachable = (reason: string): Refusal => new Refusal('unavailable', reason, { code: 'device_unreachable' });
  if (!isEnabled(spec)) throw unreachable(`I/O module ${name} is disabled: no connection is made; enable it and ask again`);
  const reply = await probes.discover(site, name, DISCOVER_TIMEOUT_MS);
  if (!reply?.discovery) throw unreachable(`the device of I/O module ${name} cannot be asked: ${reply?.message ?? 'its probe does not answer'}`);
  return reply.discovery;
}

/** Needs store, clock and probes. */
export const discoverRoute = route({
  method: 'POST',
  path: '/api/v1/sites/{site}/iomodules/{name}/discover',
  action: 'iomodule:discover',
  tier: 'admin',
  reply: DiscoveryBody,
  errors: { 503: ['device_unreachable'] },
  summary: 'Ask the device what it is, whether it has the configured channels, and what else it offers',
  audit: { action: 'Request', category: 'iomodule-discover', target: ({ site, name }) => ({ kind: 'IOModule', name, site }) },
  exists: (params, { store }) => void moduleOf(params, store),
  async handle(context, { store, clock, probes }) {
    const { params } = context;
    const before = moduleOf(params, store);
    const startedAt = timestamp(clock.wallMs());
    const discovery = await asked(before, probes);
    const finishedAt = timestamp(clock.wallMs());
    context.judgeAgain();
    const { channels, discoveredReadbacks, validated } = judged(before.spec, discovery);
    const { status } = moduleOf(params, store); // it may have been removed meanwhile, and its status is another one
    const found = { validated, discoveredReadbacks, discoveredFor: discoveredFor(before.spec) };
    const missed = channels.filter(({ error }) => error !== undefined).length;
    await store.write({
      puts: [{ kind: IOModule, site: params.site, name: params.name, status: { ...status, ...found } }],
      audits: [
        context.audit({
          result: 'Success',
          details: { validated, channels: channels.length, notFound: missed, readbacksElsewhere: Object.keys(discoveredReadbacks).length, device: discovery.device },
        }),
      ],
    });
    return {
      ioModule: params.name,
      startedAt,
      finishedAt,
      device: discovery.device,
      channels,
      offered: discovery.offered.map(({ isWritable, ...row }) => ({ ...row, writable: isWritable })),
      truncated: discovery.isTruncated,
      distinctAssetRecord: isDistinct(before, store),
      validated,
    };
  },
});

const ExchangeBody = v.strictObject({
  ioModule: v.string(),
  /** Hexadecimal, as it went over the wire; empty: no exchange is known. */
  sent: v.string(),
  /** Empty: nothing came within the time-out. */
  received: v.string(),
  /** When the request was sent; empty: none is known. */
  at: v.string(),
  roundTripMs: v.number(),
});

nameSchemas({ DeviceExchange: ExchangeBody });

/** The bytes of the last request and its answer (ADR 0062). Needs store and probes. */
export const exchangeRoute = route({
  method: 'GET',
  path: '/api/v1/sites/{site}/iomodules/{name}/exchange',
  action: 'iomodule:read-exchange',
  tier: 'engineer',
  reply: ExchangeBody,
  summary: 'Bytes of the last request to the device and of its answer, for whoever looks for a fault of the wire',
  exists: (params, { store }) => void moduleOf(params, store),
  async handle({ params }, { store, probes }) {
    moduleOf(params, store);
    const last = await probes.exchange(params.site, params.name);
    const { sent = '', received = '', atMs = 0, roundTripMs = 0 } = last ?? {};
    return { ioModule: params.name, sent, received, at: atMs === 0 ? '' : timestamp(atMs), roundTripMs };
  },
});
