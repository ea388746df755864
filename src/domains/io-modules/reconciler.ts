/**
 * Gives every I/O probe the modules it serves and keeps their status (decisions 7, D-IO-01, D-IO-03). One probe per
 * controller of a site; network modules without a controller share one.
 */
import { checkChannelAddress, mergeBehaviors, staleAfterMs } from '../../../runtime/catalog.js';
import type { ImagePlan, ProbeChannel, ProbeModule, SimulationSpec } from '../../../runtime/port.js';
import { CONNECTION, IMAGE_HEADER } from '../../../runtime/vocabulary/process-image.js';
import type { Clock } from '../../platform/base/clock.js';
import { timestamp } from '../../platform/base/clock.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import type { Key, Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put, Store } from '../../platform/store/store.js';
import { type LocalProbes, type ModuleState, SHARED_PROBE } from '../placement/local-probes.js';
import type { ContentsKeeper } from './simulation-contents.js';
import { IOModule, type IOModuleSpec, type IOModuleStatus, SimulationPreset } from './kind.js';

const POLL_DEFAULT_MS = 500; // decisions 7.2
const STALE_MIN_MS = 2000;

type ModuleResource = Resource<IOModuleSpec, IOModuleStatus>;

export class IOModuleReconciler implements Reconciler {
  readonly name = 'io-module';
  readonly #store: Store;
  readonly #probes: LocalProbes;
  readonly #clock: Clock;
  readonly #contents: Pick<ContentsKeeper, 'restore'>;
  readonly #sent = new Map<string, string>();

  constructor(parts: { readonly store: Store; readonly probes: LocalProbes; readonly clock: Clock; readonly contents: Pick<ContentsKeeper, 'restore'> }) {
    this.#store = parts.store;
    this.#probes = parts.probes;
    this.#clock = parts.clock;
    this.#contents = parts.contents;
  }

  /** One key per probe: a probe is given all its modules together, because simulations tick together. */
  keys(): Iterable<Key> {
    const keys = new Map<string, Key>();
    for (const module of this.#store.list(IOModule)) {
      const name = probeOf(module);
      keys.set(`${module.metadata.site}/${name}`, { site: module.metadata.site, name });
    }
    for (const key of this.#sent.keys()) {
      const at = key.indexOf('/');
      keys.set(key, { site: key.slice(0, at), name: key.slice(at + 1) });
    }
    return keys.values();
  }

  keyOf(module: Resource): Key {
    return { site: module.metadata.site, name: probeOf(module as ModuleResource) };
  }

  reconcile({ site, name }: Key): Outcome {
    const modules = this.#store.list(IOModule, site).filter((module) => probeOf(module) === name);
    const plans = modules.map((module) => this.#probeModule(module));
    const look = JSON.stringify(plans, (key, value: unknown) => (key === 'image' ? undefined : value));
    const key = `${site}/${name}`;
    if (this.#sent.get(key) === look) return 'settled';
    if (plans.length === 0) this.#sent.delete(key);
    else this.#sent.set(key, look);
    this.#probes.run(site, name, plans);
    return 'settled';
  }

  /** Layout and shared memory of a module, for the unit plans. */
  image(site: string, module: string): ImagePlan | undefined {
    const resource = this.#store.get(IOModule, site, module);
    if (!resource) return undefined;
    const channels = channelsOf(resource.spec);
    return {
      module,
      buffer: this.#probes.image(
        site,
        module,
        channels.map((channel) => channel.address),
      ).buffer,
      staleAfterMs: staleAfterMs(resource.spec.protocol, resource.spec.options),
      channels: channels.map(({ name, address, direction, dataType, readbackAddress }) => ({ name, address, direction, dataType, hasReadback: readbackAddress !== '' })),
    };
  }

  moduleChanged(site: string, module: string, state: ModuleState): void {
    const resource = this.#store.get(IOModule, site, module);
    if (!resource || !this.#store.accepting) return;
    const status: IOModuleStatus = {
      ...resource.status,
      state: state.state,
      message: state.message,
      connectivity: this.connectivity(site, module, state),
      probe: { verdict: 'current', summary: 'served by this build' },
      probePodName: `probe-${probeOf(resource)}`,
      lastSampleAt: timestamp(state.atMs),
      conditions: [{ type: 'Connected', status: state.state === 'Connected' ? 'True' : 'False', reason: state.state, message: state.message }],
    };
    this.#store.apply({ puts: [{ kind: IOModule, site, name: module, status } as Put] });
  }

  /** The verdict as it is at this moment (D-IO-01): a sample of the last 3 poll periods proves a connection. */
  connectivity(site: string, module: string, { state, message }: ModuleState): IOModuleStatus['connectivity'] {
    const resource = this.#store.get(IOModule, site, module);
    if (!resource || resource.spec.channels.length === 0) return { verdict: 'none', summary: 'the module has no channels' };
    const image = this.#probes.image(
      site,
      module,
      channelsOf(resource.spec).map((channel) => channel.address),
    );
    const connection = Atomics.load(image.header, IMAGE_HEADER.connection);
    if (state === 'Pending') return { verdict: 'none', summary: 'not connected yet' };
    if (connection === CONNECTION.never || state === 'Disconnected' || state === 'Failed') return { verdict: 'lost', summary: message || 'no connection' };
    let newest = 0;
    for (const at of image.sampledAtMs) newest = Math.max(newest, at);
    const ageMs = this.#clock.wallMs() - newest;
    if (connection === CONNECTION.connected) {
      return ageMs <= Math.max(3 * pollIntervalMs(resource.spec), STALE_MIN_MS)
        ? { verdict: 'measured', summary: `last sample ${timestamp(newest)}` }
        : { verdict: 'reported', summary: `the driver reports a connection, the last sample is ${Math.round(ageMs / 1000)} s old` };
    }
    return { verdict: 'lost', summary: message };
  }

  #probeModule(module: ModuleResource): ProbeModule {
    const { spec, metadata } = module;
    const channels = channelsOf(spec);
    const failSafe = spec.failSafe;
    return {
      site: metadata.site,
      module: metadata.name,
      protocol: spec.protocol,
      address: spec.address,
      options: spec.options,
      channels,
      ...(spec.simulation || spec.protocol === 'simulation' ? { simulation: this.#simulation(module) } : {}),
      ...(failSafe
        ? {
            failSafe: {
              posture: failSafe.posture,
              timeoutMs: parseDuration(failSafe.timeout) ?? 0,
              ...(failSafe.heartbeatChannel === '' ? {} : { heartbeatChannel: failSafe.heartbeatChannel }),
              outputs: failSafe.outputs,
            },
          }
        : {}),
      image: this.#probes.image(
        metadata.site,
        metadata.name,
        channels.map((channel) => channel.address),
      ).buffer,
    };
  }

  #simulation(module: ModuleResource): SimulationSpec {
    const simulation = module.spec.simulation;
    const preset = simulation?.preset ? this.#store.get(SimulationPreset, module.metadata.site, simulation.preset)?.spec.behaviors : undefined;
    return {
      seed: simulation?.seed ?? 0,
      behaviors: this.#contents.restore(module.metadata.site, module.metadata.name, mergeBehaviors(preset ?? [], simulation?.addressMap ?? {}, simulation?.behaviors ?? [])),
      faults: (simulation?.faults ?? []).map((fault) => ({ ...fault, triggerAfterMs: parseDuration(fault.triggerAfter) ?? 0 })),
    };
  }
}

function probeOf(module: ModuleResource): string {
  return module.spec.controllerRef || SHARED_PROBE;
}

/** Channels in slot order, with the data type their address implies where none is given. */
export function channelsOf(spec: IOModuleSpec): ProbeChannel[] {
  const poll = pollIntervalMs(spec);
  return spec.channels.map((channel) => ({
    name: channel.name || channel.address,
    address: channel.address,
    direction: channel.direction,
    dataType: channel.dataType || impliedType(spec.protocol, channel.direction, channel.address),
    readbackAddress: channel.readbackAddress,
    pollIntervalMs: parseDuration(channel.pollInterval) ?? poll,
    ...(channel.initial === undefined ? {} : { initial: channel.initial }),
  }));
}

function pollIntervalMs(spec: IOModuleSpec): number {
  return parseDuration(String(spec.options.pollInterval ?? '')) ?? POLL_DEFAULT_MS;
}

function impliedType(protocol: string, direction: 'input' | 'output', address: string): ProbeChannel['dataType'] {
  const checked = checkChannelAddress(protocol, direction, address);
  return ('dataType' in checked ? checked.dataType : undefined) ?? 'float';
}
