/**
 * Conditions of a unit that its runtime decides (contract 3, Unit read body; D-UNIT-04): is it there, is the state that is
 * shown the present one, does it run the build it should, do its programs run whole. Other conditions are left alone.
 */
import type { NetworkReport } from '../../../runtime/port.js';
import type { UnitLink } from '../placement/runtimes.js';
import type { Condition } from '../../platform/store/resource.js';

export interface RuntimeFacts {
  readonly link: Pick<UnitLink, 'ready' | 'message' | 'epoch'>;
  /** Build of this appliance, and the one the unit is pinned to; empty: no pin. */
  readonly image: string;
  readonly pinnedImage: string;
  /** Last report of each network of the plan that is loaded. */
  readonly networks: readonly NetworkReport[];
  /** It has no parent, and so no runtime. */
  readonly isStoredOnly?: boolean;
}

export function unitConditions(before: readonly Condition[], facts: RuntimeFacts): readonly Condition[] {
  const own = [runtimeReady(facts), stateUncertain(facts), runtimeBuild(facts), programsHealthy(facts)];
  return [...before.filter(({ type }) => !own.some((condition) => condition.type === type)), ...own];
}

function runtimeReady({ link, isStoredOnly = false }: RuntimeFacts): Condition {
  if (isStoredOnly) return { type: 'RuntimeReady', status: 'False', reason: 'NoProcessCell', message: link.message };
  return link.ready
    ? { type: 'RuntimeReady', status: 'True', reason: 'Scanning', message: `runtime ${link.epoch} of the unit scans` }
    : { type: 'RuntimeReady', status: 'False', reason: link.epoch === 0 ? 'NotStarted' : 'NotRunning', message: link.message };
}

/** A state is never invented: while the runtime is away the last one is served, and said to be old (D-UNIT-04). */
function stateUncertain({ link }: RuntimeFacts): Condition {
  return link.ready
    ? { type: 'StateUncertain', status: 'False', reason: 'RuntimeReady', message: 'states come from the running unit runtime' }
    : { type: 'StateUncertain', status: 'True', reason: 'RuntimeDown', message: 'the unit runtime is away; what is shown is the last that was known' };
}

/** The pin names the build the unit shall run; this appliance has its own only. Read by `runtimeBuild` of the unit. */
function runtimeBuild({ image, pinnedImage }: RuntimeFacts): Condition {
  return pinnedImage === '' || pinnedImage === image
    ? { type: 'RuntimeBuild', status: 'True', reason: 'SameBuild', message: `the unit runtime runs ${image}` }
    : { type: 'RuntimeBuild', status: 'False', reason: 'PinnedImage', message: `the unit runtime runs ${image}; it is pinned to ${pinnedImage}` };
}

/** What a High equipment alarm tells (contract 3, Control program): blocks that were skipped, networks that do not load. */
function programsHealthy({ link, networks }: RuntimeFacts): Condition {
  const broken = networks.filter(({ state }) => state !== 'Running');
  if (!link.ready) return { type: 'ProgramsHealthy', status: 'Unknown', reason: 'RuntimeDown', message: '' };
  if (broken.length === 0) return { type: 'ProgramsHealthy', status: 'True', reason: 'AllRunning', message: '' };
  const reason = broken.some(({ state }) => state === 'Error') ? 'NetworkError' : 'BlockFaulted';
  return { type: 'ProgramsHealthy', status: 'False', reason, message: broken.map(({ network, message }) => `${network}: ${message}`).join('; ') };
}
