/** An I/O module as its probe and the unit plans are told of it (runtime/port.ts), built from what the store holds. Pure but for reading. */
import { isSimulated, mergeBehaviors, securityMembers, staleAfterMs } from '../../../runtime/catalog.js';
import type { ImagePlan, ProbeCredentials, ProbeModule, SimulationSpec } from '../../../runtime/port.js';
import { parseDuration } from '../../platform/base/duration-text.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { channelsOf } from './channels.js';
import { type BoxSecurity, deviceSecurity } from './device-security.js';
import { driverOptions, ownershipOf } from './ownership.js';
import { type OutputsOfBox, withheldByBox } from './outputs.js';
import { IOModule, type IOModuleSpec, type IOModuleStatus, SimulationPreset } from './kind.js';
import { assetKey } from './rules.js';
import { devicesRead } from './simulation-notes.js';

/** Layout and shared memory of a module, for the unit plans. */
export function imagePlan(module: string, spec: IOModuleSpec, buffer: SharedArrayBuffer): ImagePlan {
  return {
    module,
    buffer,
    staleAfterMs: staleAfterMs(spec.protocol, spec.options),
    channels: channelsOf(spec).map(({ name, address, direction, dataType, readbackAddress }) => ({ name, address, direction, dataType, hasReadback: readbackAddress !== '' })),
  };
}

export interface BoxOutputs {
  readonly setting: OutputsOfBox;
  readonly deviceId: string;
}

/** Layout and memory of any module of the site, by name. */
export type ImageOf = (module: string) => ImagePlan | undefined;

/** What is beside the store of a module. */
export interface ProbeParts {
  readonly image: SharedArrayBuffer;
  /** Of the devices that a simulated module reads. */
  readonly imageOf: ImageOf;
  readonly box: BoxOutputs;
  readonly credentials?: ProbeCredentials | undefined;
  /** Absent where no device is connected to. */
  readonly security?: BoxSecurity;
}

export function probeModule(
  { spec, status, metadata }: Resource<IOModuleSpec, IOModuleStatus>,
  read: StoreReader,
  { image, imageOf, box, credentials, security }: ProbeParts,
): ProbeModule {
  const { failSafe } = spec;
  const { password: _password, ...options } = driverOptions(spec.options);
  const withheld = withheldByBox(spec, box.setting);
  const ownership = ownershipOf(spec.options);
  return {
    site: metadata.site,
    module: metadata.name,
    protocol: spec.protocol,
    address: spec.address,
    device: assetKey(spec),
    options,
    channels: channelsOf(spec),
    ...(spec.simulation || isSimulated(spec.protocol)
      ? { simulation: { ...simulationOf(spec, metadata.site, read, imageOf), ...(status.forces?.length ? { forces: status.forces } : {}) } }
      : {}),
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
    ...(withheld === '' ? {} : { withheld }),
    ...(ownership ? { ownership: { ...ownership, deviceId: box.deviceId } } : {}),
    ...(security && securityMembers(spec.protocol).includes('securityPolicy') ? { security: deviceSecurity(spec, security) } : {}),
    ...(credentials === undefined ? {} : { credentials }),
    image,
  };
}

function simulationOf({ simulation, controllerRef }: IOModuleSpec, site: string, read: StoreReader, imageOf: ImageOf): SimulationSpec {
  const preset = simulation?.preset ? read.get(SimulationPreset, site, simulation.preset)?.spec.behaviors : undefined;
  const behaviors = mergeBehaviors(preset ?? [], simulation?.addressMap ?? {}, simulation?.behaviors ?? []);
  const reads = devicesRead(read, site, behaviors)
    .filter((module) => read.get(IOModule, site, module)?.spec.controllerRef === controllerRef)
    .flatMap((module) => imageOf(module) ?? []);
  return {
    seed: simulation?.seed ?? 0,
    behaviors,
    ...(reads.length === 0 ? {} : { reads }),
    faults: (simulation?.faults ?? []).map((fault) => ({ ...fault, triggerAfterMs: parseDuration(fault.triggerAfter) ?? 0 })),
  };
}
