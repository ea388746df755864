/**
 * Gives every I/O probe the modules it serves and keeps their status (decisions 7, D-IO-01, D-IO-03). One probe per
 * controller of a site; network modules without a controller share one.
 */
import type { ImagePlan, ProbeModule } from '../../../runtime/port.js';
import { CONNECTION, IMAGE_HEADER, OUTPUTS, type ProcessImage, staleAfterOf } from '../../../runtime/vocabulary/process-image.js';
import { createHash, randomUUID } from 'node:crypto';
import type { Clock } from '../../platform/base/clock.js';
import { timestamp } from '../../platform/base/clock.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import { component } from '../../platform/store/audit-record.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put, Store } from '../../platform/store/store.js';
import { type LocalProbes, type ModuleState, type ResumedOutputs } from '../placement/local-probes.js';
import { type Credentials, secretNames } from './credentials.js';
import type { FoundSecret } from './secrets.js';
import type { ContentsKeeper } from './simulation-contents.js';
import { IOModule, type IOModuleSpec, type IOModuleStatus } from './kind.js';
import { forcesWithin } from './channel-holds.js';
import { channelsOf, pollIntervalMs } from './channels.js';
import type { BoxSecurity } from './device-security.js';
import { discoveredFor } from './discovered.js';
import { probeOf } from './probe-of.js';
import { assetKey } from './rules.js';
import { conditionsBeside, isEnabled, isWithheldByBox, moduleConditions, outputsStatus } from './outputs.js';
import { type BoxOutputs, imagePlan, probeModule } from './probe-module.js';
import type { Key } from '../../platform/reconcile/key.js';

const STALE_MIN_MS = 2000;
/** So often a secret that lies in files is read again: nobody tells when it is rotated. */
const FILES_LOOK_MS = 10_000;
/** Outputs that one record names; the others are counted. */
const RESUMED_MAX = 200;

type ModuleResource = Resource<IOModuleSpec, IOModuleStatus>;

export class IOModuleReconciler implements Reconciler {
  readonly name = 'io-module';
  readonly #store: Store;
  readonly #probes: LocalProbes;
  readonly #clock: Clock;
  readonly #contents: Pick<ContentsKeeper, 'restore'>;
  readonly #box: BoxOutputs;
  readonly #security: BoxSecurity;
  readonly #credentials: Credentials;
  readonly #sent = new Map<string, string>();
  /** Modules without any connection, by site and name. */
  readonly #disabled = new Set<string>();
  /** Modules, by site and name, whose last word is not in the store: it came while nothing could be written, or was taken back. */
  readonly #untold = new Map<string, { readonly site: string; readonly module: string }>();
  /** The last of each module that has no record yet, and how many there were. */
  readonly #unrecorded = new Map<string, { readonly site: string; readonly module: string; readonly last: ResumedOutputs; readonly at: string; readonly times: number }>();

  constructor(parts: {
    readonly store: Store;
    readonly probes: LocalProbes;
    readonly clock: Clock;
    readonly contents: Pick<ContentsKeeper, 'restore'>;
    readonly box: BoxOutputs;
    readonly credentials: Credentials;
    readonly security: BoxSecurity;
  }) {
    this.#store = parts.store;
    this.#probes = parts.probes;
    this.#clock = parts.clock;
    this.#contents = parts.contents;
    this.#box = parts.box;
    this.#security = parts.security;
    this.#credentials = parts.credentials;
  }

  /** One key per probe: a probe is given all its modules together, because simulations tick together. */
  keys(): Iterable<Key> {
    const keys = new Map<string, Key>();
    for (const module of this.#store.list(IOModule)) {
      const name = probeOf(module.spec);
      keys.set(`${module.metadata.site}/${name}`, { site: module.metadata.site, name });
    }
    for (const key of this.#sent.keys()) {
      const at = key.indexOf('/');
      keys.set(key, { site: key.slice(0, at), name: key.slice(at + 1) });
    }
    return keys.values();
  }

  keyOf(module: Resource): Key {
    return { site: module.metadata.site, name: probeOf((module as ModuleResource).spec) };
  }

  /** Modules that name no secret in files wait for no disk. */
  reconcile(key: Key): Outcome | Promise<Outcome> {
    const { site } = key;
    const names = new Set(this.#modulesOf(key).flatMap(({ spec }) => this.#credentials.inFiles(site, spec)));
    if (names.size === 0) return this.#serve(key, new Map());
    return this.#credentials.readFiles(site, [...names]).then((files) => {
      this.#serve(key, files);
      return { lookAgainMs: FILES_LOOK_MS };
    });
  }

  /** Keys of the probes whose modules name the secret. */
  keysOfSecret({ metadata: { site, name } }: Resource): Key[] {
    return this.#store.list(IOModule, site).flatMap((module) => (secretNames(module.spec).includes(name) ? [this.keyOf(module)] : []));
  }

  #modulesOf({ site, name }: Key): readonly ModuleResource[] {
    return this.#store.list(IOModule, site).filter((module) => probeOf(module.spec) === name);
  }

  #serve({ site, name }: Key, files: ReadonlyMap<string, FoundSecret>): Outcome {
    const modules = this.#modulesOf({ site, name });
    for (const module of modules) this.#settleOutputs(this.#settledForces(this.#settledDiscovery(module)));
    const plans = modules.filter(({ spec }) => isEnabled(spec)).map((module) => this.#probeModule(module, files));
    const look = JSON.stringify(plans, (key, value: unknown) => (key === 'image' || key === 'forces' ? undefined : key === 'credentials' ? digest(value) : value));
    const key = `${site}/${name}`;
    if (this.#sent.get(key) === look) return 'settled';
    if (plans.length === 0) this.#sent.delete(key);
    else this.#sent.set(key, look);
    this.#probes.run(site, name, plans);
    return 'settled';
  }

  /** What was discovered of another device, or of other channels, is no word on this one. */
  #settledDiscovery(module: ModuleResource): ModuleResource {
    const { site, name } = module.metadata;
    const { discoveredFor: before, ...others } = module.status;
    if (!this.#store.accepting || before === undefined || before === discoveredFor(module.spec)) return module;
    const status = { ...others, validated: false, discoveredReadbacks: {} };
    this.#store.apply({ puts: [{ kind: IOModule, site, name, status } as Put] });
    return { ...module, status };
  }

  /** A force ends with its channel (ADR 0087): one that has its name later is not forced. */
  #settledForces(module: ModuleResource): ModuleResource {
    const { site, name } = module.metadata;
    const { forces = [] } = module.status;
    const kept = forcesWithin(module.spec, forces);
    if (!this.#store.accepting || kept.length === forces.length) return module;
    const status = { ...module.status, forces: kept };
    this.#store.apply({ puts: [{ kind: IOModule, site, name, status } as Put] });
    return { ...module, status };
  }

  /** What the configuration alone says of the outputs is so before any probe has told of it; without a connection nobody tells. */
  #settleOutputs(module: ModuleResource): void {
    const { spec, status, metadata } = module;
    const { site, name } = metadata;
    const key = `${site}/${name}`;
    const isDisabled = !isEnabled(spec);
    if (isDisabled || this.#disabled.has(key)) {
      const { header } = this.#image(module);
      Atomics.store(header, IMAGE_HEADER.outputs, isDisabled ? OUTPUTS.withheld : OUTPUTS.live);
      if (isDisabled) this.#disabled.add(key);
      else this.#disabled.delete(key);
    }
    if (!this.#store.accepting) return;
    const outputs = outputsStatus(spec, this.#box.setting);
    const known = status.outputs;
    // of a device that is served the probe tells; what an earlier configuration said of it is over
    const isToldByProbe = known !== undefined && known.state !== 'disabled' && !isWithheldByBox(known.reason);
    const isBySetting = isDisabled || isWithheldByBox(outputs.reason);
    const isKnown = isBySetting ? known?.reason === outputs.reason : isToldByProbe;
    if (isKnown && (!isDisabled || status.state === 'Pending')) return;
    const disabled = {
      state: 'Pending' as const,
      message: outputs.reason,
      connectivity: { verdict: 'none' as const, summary: outputs.reason },
      conditions: [...moduleConditions(spec, { state: 'Pending', message: outputs.reason }), ...conditionsBeside(status.conditions)],
    };
    this.#store.apply({ puts: [{ kind: IOModule, site, name, status: { ...status, ...(isDisabled ? disabled : {}), outputs } } as Put] });
  }

  /** What was written because a device came is on record: nobody gave the order at that moment. */
  outputsResumed(site: string, module: string, last: ResumedOutputs): void {
    const key = `${site}/${module}`;
    const { times = 0 } = this.#unrecorded.get(key) ?? {};
    this.#unrecorded.set(key, { site, module, last, at: timestamp(this.#clock.wallMs()), times: times + 1 });
    if (this.#store.accepting) this.#recordResumed(key, false);
  }

  #recordResumed(key: string, isLate: boolean): void {
    const resumed = this.#unrecorded.get(key);
    if (!resumed) return;
    const { site, module, last, at, times } = resumed;
    const { outputs } = last;
    const { durable } = this.#store.apply({
      audits: [
        {
          site,
          actor: component('io-probe'),
          action: 'Update',
          category: 'iomodule-write',
          target: { kind: 'IOModule', name: module, site },
          result: 'Success',
          reason: 'OutputsResumed',
          details: {
            outputs: outputs.slice(0, RESUMED_MAX),
            ...(outputs.length > RESUMED_MAX ? { more: outputs.length - RESUMED_MAX } : {}),
            ...(isLate ? { happenedAt: at } : {}),
            ...(times > 1 ? { times } : {}),
          },
          correlationID: randomUUID(),
        },
      ],
    });
    const recorded = (): void => {
      if (this.#unrecorded.get(key) === resumed) this.#unrecorded.delete(key);
    };
    durable.then(recorded, () => undefined);
  }

  /** Its image goes with it: whoever is made under its name later knows nothing of it. */
  forget(site: string, module: string): void {
    this.#disabled.delete(`${site}/${module}`);
    this.#probes.forget(site, module);
  }

  /** Layout and shared memory of a module, for the unit plans. */
  image(site: string, module: string): ImagePlan | undefined {
    const resource = this.#store.get(IOModule, site, module);
    return resource && imagePlan(module, resource.spec, this.#image(resource).buffer);
  }

  #image({ metadata, spec }: ModuleResource): ProcessImage {
    const addresses = channelsOf(spec).map((channel) => channel.address);
    return this.#probes.image(metadata.site, metadata.name, addresses, `${metadata.uid} ${assetKey(spec)}`);
  }

  moduleChanged(site: string, module: string, state: ModuleState): void {
    const resource = this.#store.get(IOModule, site, module);
    if (!resource || !isEnabled(resource.spec)) return;
    if (!this.#store.accepting) {
      this.#keepUntold(site, module);
      return;
    }
    const status: IOModuleStatus = {
      ...resource.status,
      state: state.state,
      message: state.message,
      connectivity: this.connectivity(site, module, state),
      probe: { verdict: 'current', summary: 'served by this build' },
      probePodName: `probe-${probeOf(resource.spec)}`,
      lastSampleAt: timestamp(state.atMs),
      outputs: outputsStatus(resource.spec, this.#box.setting, state.outputs),
      conditions: [...moduleConditions(resource.spec, state, state.outputs), ...conditionsBeside(resource.status.conditions)],
    };
    const { durable } = this.#store.apply({ puts: [{ kind: IOModule, site, name: module, status } as Put] });
    durable.catch(() => this.#keepUntold(site, module));
  }

  #keepUntold(site: string, module: string): void {
    this.#untold.set(`${site}/${module}`, { site, module });
  }

  /** What could not be written while the storage refused: a module that was lost meanwhile would be shown as connected until it comes back. */
  catchUp(): void {
    if (!this.#store.accepting) return;
    const untold = [...this.#untold.values()];
    this.#untold.clear();
    for (const { site, module } of untold) {
      const state = this.#probes.moduleState(site, module);
      if (state) this.moduleChanged(site, module, state);
    }
    for (const key of [...this.#unrecorded.keys()]) this.#recordResumed(key, true);
  }

  /** The verdict as it is at this moment (D-IO-01): a sample of the last 3 poll periods proves a connection. */
  connectivity(site: string, module: string, { state, message }: ModuleState): IOModuleStatus['connectivity'] {
    const resource = this.#store.get(IOModule, site, module);
    if (!resource || resource.spec.channels.length === 0) return { verdict: 'none', summary: 'the module has no channels' };
    const image = this.#image(resource);
    const connection = Atomics.load(image.header, IMAGE_HEADER.connection);
    if (state === 'Pending') return { verdict: 'none', summary: 'not connected yet' };
    if (connection === CONNECTION.never || state === 'Disconnected' || state === 'Failed') return { verdict: 'lost', summary: message || 'no connection' };
    if (connection !== CONNECTION.connected) return { verdict: 'lost', summary: message };
    let newest = 0;
    for (const at of image.sampledAtMs) newest = Math.max(newest, at);
    if (newest === 0) return { verdict: 'reported', summary: 'the driver reports a connection, no channel has been sampled yet' };
    const ageMs = this.#clock.monoMs() - Math.max(0, ...image.sampledMonoMs);
    return ageMs <= staleAfterOf(image.header, Math.max(3 * pollIntervalMs(resource.spec), STALE_MIN_MS))
      ? { verdict: 'measured', summary: `last sample ${timestamp(newest)}` }
      : { verdict: 'reported', summary: `the driver reports a connection, the last sample is ${Math.round(ageMs / 1000)} s old` };
  }

  #probeModule(module: ModuleResource, files: ReadonlyMap<string, FoundSecret>): ProbeModule {
    const { site, name } = module.metadata;
    const credentials = this.#credentials.made(site, module.spec, files);
    const planned = probeModule(module, this.#store, {
      image: this.#image(module).buffer,
      imageOf: (other) => this.image(site, other),
      box: this.#box,
      credentials,
      security: this.#security,
    });
    if (!planned.simulation) return planned;
    return { ...planned, simulation: { ...planned.simulation, behaviors: this.#contents.restore(site, name, planned.simulation.behaviors) } };
  }
}

/** What was sent is compared, and a secret is kept nowhere for it. */
function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}
