/** Read body of a controller (contract 3, Controller). */
import { metadataBody } from '../../platform/store/read-body.js';
import type { Resource } from '../../platform/store/resource.js';
import type { ControllerSpec, ControllerStatus } from './kind.js';

/** `displayName` is read from the bound node; until there is one, what was configured. */
export function controllerBody(resource: Resource<ControllerSpec, ControllerStatus>): unknown {
  const { metadata, spec, status } = resource;
  return {
    name: metadata.name,
    displayName: status.nodeRef === '' ? spec.displayName : status.displayName,
    nodeLabels: spec.nodeLabels,
    simulation: spec.simulation,
    phase: status.phase,
    health: status.health,
    healthReason: status.healthReason,
    address: status.address,
    nodeRef: status.nodeRef,
    ioProbePodName: status.ioProbePodName,
    ioProbeReady: status.ioProbeReady,
    lastAlive: status.lastAlive,
    ...metadataBody(resource),
  };
}
