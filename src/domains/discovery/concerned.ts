/**
 * Which modules a write to a node of a server concerns, however the server and the node are spelled. A module whose address is written otherwise may be for the
 * same server all the same: it is asked who it is, and what cannot be told is not written.
 */
import * as v from 'valibot';
import { compareChannels, EXPLORED_PROTOCOL } from '../../../runtime/catalog.js';
import type { ServerComparison } from '../../../runtime/port.js';
import { Refusal } from '../../platform/base/refusal.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { isEnabled } from '../io-modules/outputs.js';
import { asked } from './asked.js';
import type { Explorer } from './explorer.js';
import { outsideScope } from './scope.js';
import { type Module, modulesOf, serverOf, type Target } from './target.js';

export const NodeText = v.pipe(v.string(), v.minLength(1), v.maxLength(5000));

export interface Concern {
  readonly module: Module;
  /** That the node is; `isPart`: an element of it, or the array that it is an element of. */
  readonly channels: readonly { readonly address: string; readonly isPart: boolean }[];
}

export interface ServerOfWrite {
  /** As the plant is now. @throws Refusal `site_scope`, `device_unreachable`, `plant_changing` */
  concerns(caller: Caller): readonly Concern[];
}

/** `judge`: what is sure before any server is asked. @throws Refusal of `judge` and of `concerns` */
export async function concerned(
  target: Target,
  nodeId: string,
  { caller }: { readonly caller: Caller },
  { store, explorer }: { readonly store: StoreReader; readonly explorer: Explorer },
  judge: (sure: readonly Concern[]) => void,
): Promise<ServerOfWrite> {
  const concern = (module: Module): Concern => ({ module, channels: channelsOn(module, nodeId) });
  const isSure = (module: Module): boolean => serverOf(module) === target.server;
  /** Should the server be the same, the write is under its rules, or not the caller's. */
  const isOpen = (module: Module, asks: Caller): boolean => !isSure(module) && (hasRules(module, nodeId) || !mayVisit(asks, module.metadata.site));
  judge(
    modulesOf(store)
      .filter(isSure)
      .filter((module) => mayVisit(caller, module.metadata.site))
      .map(concern),
  );
  const urls = [
    ...new Set(
      modulesOf(store)
        .filter((module) => isOpen(module, caller))
        .map(serverOf),
    ),
  ];
  const verdicts = new Map<string, ServerComparison>();
  if (urls.length > 0) {
    const { servers } = await asked<{ readonly servers: readonly ServerComparison[] }>(target, { what: 'same-server', urls }, caller, explorer, 'endpointUrl');
    urls.forEach((url, place) => verdicts.set(url, servers[place] ?? { verdict: 'unknown', message: 'it was not compared' }));
  }
  return {
    concerns: (asks) =>
      modulesOf(store)
        .filter((module) => isSure(module) || (isOpen(module, asks) && isOfServer(module, nodeId, verdicts.get(serverOf(module)))))
        .map((module) => {
          if (!mayVisit(asks, module.metadata.site)) throw outsideScope();
          return concern(module);
        }),
  };
}

/** @throws Refusal where it cannot be told. */
function isOfServer(module: Module, nodeId: string, comparison: ServerComparison | undefined): boolean {
  const { name } = module.metadata;
  if (comparison === undefined) throw new Refusal('unavailable', 'the I/O modules have changed meanwhile; nothing was written', { code: 'plant_changing' });
  if (comparison.verdict !== 'unknown') return comparison.verdict === 'same';
  if (!isEnabled(module.spec) || !hasRules(module, nodeId)) return false; // nobody drives it, or not by this node
  throw new Refusal(
    'unavailable',
    `it cannot be told whether this is the server of I/O module ${name} (${module.spec.address}: ${comparison.message}), and the write would be under its rules; disable ${name}, or write when its server answers`,
    { code: 'device_unreachable' },
  );
}

function hasRules(module: Module, nodeId: string): boolean {
  return module.status.outputs?.state === 'withheld' || channelsOn(module, nodeId).length > 0;
}

function channelsOn({ spec }: Module, nodeId: string): Concern['channels'] {
  return spec.channels.flatMap(({ address }) => {
    const relation = compareChannels(EXPLORED_PROTOCOL, address, nodeId);
    return relation === 'other' ? [] : [{ address, isPart: relation === 'part' }];
  });
}
