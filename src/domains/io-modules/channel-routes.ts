/**
 * Channels of an I/O module from outside: read, write, release, list (contract 3,
 * I/O module and Simulation; decisions Q-IO-02, Q-UNIT-08). A write to a simulated channel forces it until it is released.
 */
import { told } from '../../../runtime/vocabulary/told.js';
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { isSimulated } from '../../../runtime/catalog.js';
import type { ChannelSample, ImagePlan, ProbeChannel } from '../../../runtime/port.js';
import { QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import { inside } from '../../platform/base/assert.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { invalid, missing, Refusal } from '../../platform/base/refusal.js';
import { listReply } from '../../platform/http/paged-list.js';
import { LIST, parameters } from '../../platform/http/parameters.js';
import { type AuditEntry, type RequestContext, type Route, routesFor } from '../../platform/http/route.js';
import { Required, Scalar } from '../../platform/store/fields.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put, Store } from '../../platform/store/store.js';
import { asked } from '../runs/asked.js';
import { ControlModule } from '../control-modules/kind.js';
import { sayOutputOwner } from '../control-modules/output-owners.js';
import type { LocalProbes } from '../placement/local-probes.js';
import { type ChannelHold, forced as withForce, forceOf, HELD_HOW, overrideOf, released as withoutForces } from './channel-holds.js';
import { channelUsers } from './channel-users.js';
import { channelsOf } from './channels.js';
import { CHANNEL_TYPES, IOModule, type IOModuleSpec, type IOModuleStatus } from './kind.js';
import { imaged } from './imaged.js';
import { type OutputHands, outputHands } from './output-hands.js';
import { channelMissing, checkWrite, declaredChannel, hasChannel, noChannel, unknownChannel, type Write } from './write-barriers.js';
import { unitOf } from '../plant/unit-of.js';
import { failureOf, SILENT_PROBE } from './write-failure.js';

export interface ChannelDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly probes: LocalProbes;
  readonly ioModules: { image(site: string, module: string): ImagePlan | undefined };
  /** Setting gateway.tagWrite.modeCheckDeviceTags (decisions Q-TAG-09). */
  readonly modeCheckDeviceTags: boolean;
}

type Named = { readonly site: string; readonly name: string };
type Module = Resource<IOModuleSpec, IOModuleStatus>;

const route = routesFor<ChannelDeps>();
const PATH = '/api/v1/sites/{site}/iomodules/{name}';
const READS_MAX = 500; // decisions Q-IO-02
const WRITES = {
  action: 'Update',
  category: 'iomodule-write',
  target: ({ site, name }: { readonly site: string; readonly name: string }) => ({ kind: 'IOModule', name, site }),
} as const;

function moduleOf({ site, name }: Named, store: Store): Module {
  const module = store.get(IOModule, site, name);
  if (!module) throw missing('IOModule', name);
  return module;
}

const here = (params: Named, { store }: ChannelDeps): void => void moduleOf(params, store);

const ANSWERED = 'a probe answers with a sample for each channel that it was asked for';

async function samplesOf(module: Module, channels: readonly string[], probes: LocalProbes): Promise<readonly ChannelSample[]> {
  const { site, name } = module.metadata;
  const found = await probes.read(site, name, channels);
  return (
    found ??
    channels.map((channel) => ({ channel, address: declaredChannel(module, channel)?.address ?? channel, value: null, quality: 'Bad' as const, atMs: 0, message: SILENT_PROBE }))
  );
}

/** One channel as its device, or its simulation, has answered. */
const SampleBody = v.strictObject({
  channel: v.string(),
  address: v.string(),
  value: v.nullable(Scalar),
  quality: v.picklist(QUALITY_WORDS),
  /** Empty when it was never sampled. */
  ts: v.string(),
  message: v.string(),
});

/** A block of a control module or program. */
const ChannelOwner = v.strictObject({ kind: v.string(), name: v.string(), block: v.string(), unit: v.string() });

/** A row of the list. */
const ChannelBody = v.strictObject({
  channel: v.string(),
  address: v.string(),
  direction: v.picklist(['input', 'output']),
  dataType: v.picklist(CHANNEL_TYPES),
  value: v.nullable(Scalar),
  quality: v.picklist(QUALITY_WORDS),
  ts: v.string(),
  forced: v.boolean(),
  controlModules: v.array(v.strictObject({ name: v.string(), tag: v.string() })),
  /** The block that goes on writing the output (ADR 0071); null of an input, and of an output that nothing writes by itself. */
  owner: v.nullable(ChannelOwner),
  /** Who writes it beside its owner: what an earlier release has taken, or an edit of a template has brought about. */
  contestedBy: v.array(ChannelOwner),
  /** Who holds it at a value of his own, whatever its owner says; null where nobody does. */
  heldBy: v.nullable(v.strictObject({ how: v.picklist(HELD_HOW), by: v.string(), at: v.string(), tag: v.string() })),
});

const WrittenBody = v.strictObject({
  ok: v.literal(true),
  channel: v.string(),
  address: v.string(),
  message: v.string(),
  forced: v.boolean(),
  /** What the device shows afterwards; null when it is not read back. */
  readback: v.nullable(Scalar),
});

nameSchemas({ ChannelSample: SampleBody, ChannelBody, ChannelWritten: WrittenBody });

function shown({ channel, address, value, quality, atMs, message }: ChannelSample): v.InferOutput<typeof SampleBody> {
  return { channel, address, value, quality, ts: atMs === 0 ? '' : timestamp(atMs), message };
}

// ---------------------------------------------------------------- write

const FAILURES = {
  unknown_channel: 'invalid',
  invalid_value: 'invalid',
  device_unreachable: 'unavailable',
  device_write_failed: 'bad-gateway',
  outputs_withheld: 'conflict',
} as const;

async function writeChannel(context: RequestContext<Named, Write>, deps: ChannelDeps): Promise<v.InferOutput<typeof WrittenBody>> {
  const { site, name } = context.params;
  const { channel, value } = context.body;
  const module = moduleOf(context.params, deps.store);
  checkWrite(module, context.body, deps);
  const found = declaredChannel(module, channel);
  const about = { after: value, details: { channel: found?.name ?? channel, address: found?.address ?? channel } };
  const channelName = `${name}:${about.details.channel}`;
  return asked(deps.store).during(site, unitsOn(deps.store, module, channel), async (factsOf) => {
    await deps.store.write({ audits: [context.audit({ ...about, result: 'Accepted' })] }); // on record before the device sees it (D-AUDIT-01)
    checkWrite(moduleOf(context.params, deps.store), context.body, deps); // while it was synced, a module may have gone to Automatic or been disabled
    const reply = await deps.probes.write(site, name, channel, value);
    if (reply?.ok) {
      const audit = context.audit({ ...about, result: 'Success', details: { ...about.details, forced: reply.forced } });
      const force = { address: about.details.address, value, by: context.caller.displayName, at: timestamp(deps.clock.wallMs()) };
      const puts = reply.forced ? forcesPut(context.params, deps, (status) => withForce(status, force)) : [];
      const words = { at: timestamp(deps.clock.wallMs()), action: reply.forced ? 'Force' : 'Write', value: String(value), previousValue: '' };
      await deps.store.write({
        puts,
        audits: [audit],
        facts: factsOf(channelName, { ...words, audit, message: `channel ${channelName}`, told: told('channel-set', { channel: channelName }) }),
      });
      const { forced, readback, message } = reply;
      return {
        ok: true,
        channel: about.details.channel,
        address: about.details.address,
        message: message || (forced ? 'forced until it is released' : writtenWords(deps.store, module, found)),
        forced,
        readback,
      };
    }
    const { verdict, details } = failureOf(reply);
    const code = reply?.code ?? (reply ? 'device_write_failed' : 'device_unreachable');
    await deps.store.write({ audits: [context.audit({ ...about, ...verdict, details: { ...about.details, ...details } } as AuditEntry)] });
    throw new Refusal(FAILURES[code], details.message, { code, ...(FAILURES[code] === 'invalid' ? { field: 'value' } : {}) });
  });
}

/** What logic commands goes out again with its next refresh: who has written by hand is told. */
function writtenWords(store: Store, { metadata: { site, name } }: Module, channel: ProbeChannel | undefined): string {
  const owners = channel ? outputHands(store, site, name)(channel).owners : [];
  return owners.length === 0 ? 'written' : `written; ${owners.map(sayOutputOwner).join(' and ')} goes on writing this output, and takes it back with its next write`;
}

/** What is forced, as it is kept; a thread of its probe that comes later begins with it. */
function forcesPut({ site, name }: Named, { store, probes }: ChannelDeps, change: (status: IOModuleStatus) => IOModuleStatus): Put[] {
  const module = store.get(IOModule, site, name);
  if (!module) return [];
  const status = change(module.status);
  probes.keepForces(site, name, status.forces ?? []);
  return [{ kind: IOModule, site, name, status } as Put];
}

/** Units whose modules stand on the channel, or write its output. */
function unitsOn(store: Store, { metadata: { site, name }, spec }: Module, channel: string | undefined): string[] {
  const usersOf = channelUsers(store, site, name);
  const handsOf = outputHands(store, site, name);
  const channels = channelsOf(spec).filter((each) => channel === undefined || each.name === channel || each.address === channel);
  const inputs = channels.filter(({ direction }) => direction === 'input').flatMap(usersOf);
  const ofInputs = inputs.flatMap(({ controlModule }) => {
    const module = store.get(ControlModule, site, controlModule);
    return module ? [unitOf(store, site, module.spec)] : [];
  });
  return [...ofInputs, ...channels.filter(({ direction }) => direction === 'output').flatMap((output) => handsOf(output).units)];
}

// ---------------------------------------------------------------- list

/** Simulated channels from their probe, which knows what is forced; those of devices from the process image: a list polls no device. */
async function listed(module: Module, deps: ChannelDeps): Promise<v.InferOutput<typeof ChannelBody>[]> {
  const { site, name } = module.metadata;
  const channels = channelsOf(module.spec);
  const names = channels.map((channel) => channel.name);
  const samples = isSimulated(module.spec.protocol) ? await samplesOf(module, names, deps.probes) : imaged(deps.ioModules.image(site, name));
  const usersOf = channelUsers(deps.store, site, name);
  const handsOf = outputHands(deps.store, site, name);
  return channels.map((channel, index) => {
    const sample = samples[index];
    const users = usersOf(channel);
    const isForced = sample?.forced ?? false;
    const hands = channel.direction === 'output' ? handsOf(channel) : undefined;
    const [owner = null, ...contestedBy] = hands?.owners ?? [];
    return {
      channel: channel.name,
      address: channel.address,
      direction: channel.direction,
      dataType: channel.dataType,
      value: sample?.value ?? null,
      quality: sample?.quality ?? 'Bad',
      ts: sample && sample.atMs > 0 ? timestamp(sample.atMs) : '',
      forced: isForced,
      controlModules: users.map(({ controlModule, tag }) => ({ name: controlModule, tag: tag.name })),
      owner,
      contestedBy: [...contestedBy],
      heldBy: isForced ? forceOf(module.status, channel.address) : heldBy(deps.store, site, hands),
    };
  });
}

/** A fail-safe value goes before everything else that writes the output. */
function heldBy(store: Store, site: string, hands: OutputHands | undefined): ChannelHold | null {
  if (!hands) return null;
  return hands.failSafe === '' ? overrideOf(store, site, hands.users) : { how: 'FailSafe', by: '', at: '', tag: '' };
}

/** Needs ChannelDeps. */
export const channelRoutes: readonly Route<ChannelDeps>[] = [
  route({
    method: 'POST',
    path: `${PATH}/read`,
    action: 'iomodule:poll',
    tier: 'operate',
    body: v.strictObject({ channel: Required }),
    computes: true,
    reply: SampleBody,
    errors: { 400: ['unknown_channel'] },
    summary: 'Read one channel from the device; one that does not answer is Bad with a message',
    exists: here,
    handle: async ({ params, body }, { store, probes }) => {
      const module = moduleOf(params, store);
      if (!hasChannel(module, body.channel, store)) throw unknownChannel(module, body.channel);
      return shown(inside(await samplesOf(module, [body.channel], probes), 0, ANSWERED));
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/read-batch`,
    action: 'iomodule:poll',
    tier: 'operate',
    body: v.strictObject({ channels: v.pipe(v.array(Required), v.minLength(1), v.maxLength(READS_MAX)) }),
    computes: true,
    reply: v.strictObject({ values: v.array(SampleBody) }),
    summary: 'Read some channels from the device; an unknown one is an item of quality Bad',
    exists: here,
    handle: async ({ params, body }, { store, probes }) => {
      const module = moduleOf(params, store);
      const samples = await samplesOf(module, body.channels, probes);
      return {
        values: body.channels.map((channel, index) => {
          const sample = inside(samples, index, ANSWERED);
          return shown(hasChannel(module, channel, store) ? sample : { ...sample, message: noChannel(module, channel) });
        }),
      };
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/write`,
    action: 'iomodule:write',
    tier: 'operate',
    body: v.strictObject({ channel: Required, value: Scalar }),
    reply: WrittenBody,
    errors: {
      400: ['unknown_channel', 'invalid_value', 'out_of_range'],
      403: ['automatic_mode', 'read_only_tag'],
      409: ['outputs_withheld', 'output_claimed', 'output_held'],
      502: ['device_write_failed'],
      503: ['device_unreachable'],
    },
    summary: 'Write an output; on a simulated module force any channel until it is released',
    audit: WRITES,
    exists: here,
    handle: (context, deps) => writeChannel(context, deps),
  }),
  route({
    method: 'POST',
    path: `${PATH}/release`,
    action: 'iomodule:release',
    tier: 'operate',
    body: v.strictObject({ channel: v.optional(Required) }),
    reply: v.strictObject({ released: v.array(v.string()) }),
    errors: { 400: ['unknown_channel', 'not_simulated'], 503: ['device_unreachable'] },
    summary: 'End the forcing of one channel, or of all',
    audit: WRITES,
    exists: here,
    async handle(context, deps) {
      const { store, probes, clock } = deps;
      const { site, name } = context.params;
      const { channel } = context.body;
      const module = moduleOf(context.params, store);
      if (!isSimulated(module.spec.protocol)) throw invalid('not_simulated', 'name', `I/O module ${name} is no simulation, so none of its channels is forced`);
      if (channel !== undefined && !hasChannel(module, channel, store)) throw unknownChannel(module, channel);
      return asked(store).during(site, unitsOn(store, module, channel), async (factsOf) => {
        const released = await probes.release(site, name, channel === undefined ? [] : [channel]);
        if (!released) throw new Refusal('unavailable', SILENT_PROBE, { code: 'device_unreachable' });
        const addresses = channel === undefined ? [] : [...released, channel].map((each) => declaredChannel(module, each)?.address ?? each);
        const puts = forcesPut(context.params, deps, (status) => withoutForces(status, addresses));
        const audit = context.audit({ details: { released } });
        const channels = released.join(', ');
        const as = told('channels-released', { ioModule: name, channels });
        const words = { audit, at: timestamp(clock.wallMs()), action: 'Release', value: '', previousValue: 'forced', message: `channels ${channels} of ${name}`, told: as };
        await store.write({ puts, audits: [audit], facts: released.length > 0 ? factsOf(name, words) : [] });
        return { released };
      });
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/tags`,
    action: 'iomodule:list-tags',
    tier: 'read',
    query: parameters(LIST),
    reply: v.array(ChannelBody),
    summary: 'Channels with their values and the tags that stand on them, as the module has them; query limit, cursor',
    exists: here,
    handle: async (context, deps) => {
      const items = [...(await listed(moduleOf(context.params, deps.store), deps)).entries()];
      // By place: channels stand as the module has them, which is no order that a cursor could name. Where a new module gives others, a page that follows may skip or repeat some.
      return listReply(context, { list: 'channels', items, keyOf: ([place]) => [place], render: ([, channel]) => channel });
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/tags/{channel...}`,
    action: 'iomodule:read-tag',
    tier: 'read',
    reply: ChannelBody,
    errors: { 404: ['unknown_channel'] },
    summary: 'One channel by its name or address',
    exists: (params, { store }) => {
      const module = moduleOf(params, store);
      if (!declaredChannel(module, params.channel)) throw channelMissing(module, params.channel);
    },
    handle: async ({ params }, deps) => {
      const module = moduleOf(params, deps.store);
      const all = await listed(module, deps);
      const found = all.find(({ channel, address }) => channel === params.channel || address === params.channel);
      if (!found) throw channelMissing(module, params.channel);
      return found;
    },
  }),
];
