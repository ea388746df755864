/** Control modules and their templates: the programs that follow from them, and what may be changed of them while a unit works. */
import type { Log } from '../../platform/base/log.js';
import { routeSet } from '../../platform/http/route.js';
import { ReconcileLoop } from '../../platform/reconcile/loop.js';
import { on, whenConfigured } from '../../platform/reconcile/wakes.js';
import type { SettingsOf } from '../../settings.js';
import type { ChannelHub } from '../../platform/stream/hub.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import type { BypassDeps } from './bypass-routes.js';
import { ModuleHealths } from './health-channel.js';
import { ControlModule, ControlModuleTemplate } from './kind.js';
import { touchesPlan } from './modules.js';
import { ControlModuleReconciler } from './reconciler.js';
import type { ResetDeps } from './reset-routes.js';
import { controlModuleRoutes } from './routes.js';

export interface ControlModuleParts extends Omit<BypassDeps, 'bypassDefaultMs' | 'bypassMaxMs'>, ResetDeps {
  readonly log: Log;
  readonly runtimes: ResetDeps['runtimes'] & UnitRuntimes;
  readonly settings: SettingsOf<'interlock'>;
}

export function joinControlModules({ store, clock, log, runtimes, settings }: ControlModuleParts) {
  const { bypassDefaultMs, bypassMaxMs } = settings;
  const wokenBy = [on(ControlModule, touchesPlan), on(ControlModuleTemplate, whenConfigured, 'all')];
  return {
    routes: [routeSet(controlModuleRoutes, { store, clock, runtimes, bypassDefaultMs, bypassMaxMs })],
    reconcilers: [new ReconcileLoop(new ControlModuleReconciler({ store }), clock, log, wokenBy)],
    publish(hub: ChannelHub): void {
      new ModuleHealths({ hub, store, runtimes, clock });
    },
  };
}
