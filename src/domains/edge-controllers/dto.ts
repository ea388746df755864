/** Read body of a controller (contract 3, Controller). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { metadataBody, SITE_METADATA } from '../../platform/store/read-body.js';
import type { Resource } from '../../platform/store/resource.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { IOModule, type IOModuleSpec, type IOModuleStatus } from '../io-modules/kind.js';
import { CONTROLLER_HEALTHS, CONTROLLER_PHASES, ControllerSpec, type ControllerStatus } from './kind.js';

export const ControllerBody = v.strictObject({
  name: v.string(),
  ...ControllerSpec.entries,
  phase: v.picklist(CONTROLLER_PHASES),
  health: v.picklist(CONTROLLER_HEALTHS),
  healthReason: v.string(),
  address: v.string(),
  nodeRef: v.string(),
  ioProbePodName: v.string(),
  ioProbeReady: v.boolean(),
  lastAlive: v.string(),
  ...SITE_METADATA,
});
export type ControllerBody = ToldBy<typeof ControllerBody>;

nameSchemas({ EdgeControllerBody: ControllerBody });

/** `displayName` is read from the bound node; until there is one, what was configured. */
export function controllerBody(resource: Resource<ControllerSpec, ControllerStatus>, read: StoreReader): ControllerBody {
  const { metadata, spec, status } = resource;
  const probe = probeOf(read.list(IOModule, metadata.site).filter((module) => module.spec.controllerRef === metadata.name));
  return {
    name: metadata.name,
    displayName: status.nodeRef === '' ? spec.displayName : status.displayName,
    nodeLabels: spec.nodeLabels,
    simulation: spec.simulation,
    phase: status.phase === 'Pending' && probe.hasReported ? 'Joined' : status.phase,
    health: status.health === 'unknown' ? probe.health : status.health,
    healthReason: status.healthReason || probe.healthReason,
    address: status.address,
    nodeRef: status.nodeRef,
    ioProbePodName: status.ioProbePodName || probe.name,
    ioProbeReady: status.ioProbeReady || probe.isReady,
    lastAlive: status.lastAlive || probe.lastReportAt,
    ...metadataBody(resource),
  };
}

interface ProbeSeen {
  readonly name: string;
  /** A module behind it has been reached at some time: the box is adopted, and stays so when it falls silent. */
  readonly hasReported: boolean;
  readonly isReady: boolean;
  readonly health: ControllerStatus['health'];
  readonly healthReason: string;
  readonly lastReportAt: string;
}

/**
 * What the probe of a controller says of the modules behind it: whether the box works now is whether they answer (contract
 * 3, Controller). Its name is read from the modules it serves, never derived; nothing is known without a module.
 */
function probeOf(modules: readonly Resource<IOModuleSpec, IOModuleStatus>[]): ProbeSeen {
  const served = modules.filter(({ status }) => status.probePodName !== '' && status.state !== 'Pending');
  const hasReported = served.some(({ status }) => status.state === 'Connected' || status.state === 'Degraded') || modules.some(({ status }) => status.lastSampleAt !== '');
  const [first] = served;
  if (!first)
    return {
      name: '',
      hasReported,
      isReady: false,
      health: 'unknown',
      healthReason: modules.length === 0 ? 'no I/O module is behind it' : 'its probe has not reported yet',
      lastReportAt: '',
    };
  const away = served.filter(({ status }) => status.state !== 'Connected');
  const reasons = away.map(({ metadata, status }) => `${metadata.name} is ${status.state}${status.message === '' ? '' : `: ${status.message}`}`);
  return {
    name: first.status.probePodName,
    hasReported,
    isReady: served.some(({ status }) => status.probe.verdict === 'current'),
    health: away.length === 0 ? 'healthy' : away.length === served.length ? 'offline' : 'degraded',
    healthReason: reasons.join('; '),
    lastReportAt:
      served
        .map(({ status }) => status.lastSampleAt)
        .sort()
        .at(-1) ?? '',
  };
}
