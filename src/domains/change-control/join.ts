/** Change control: requests, their decisions and what they change, and the gate that nothing else passes where the appliance is set so. */
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import type { BoundRoute, RouteColumns } from '../../platform/http/route.js';
import { routeSet } from '../../platform/http/route.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import { ReconcileLoop } from '../../platform/reconcile/loop.js';
import { on, whenPut } from '../../platform/reconcile/wakes.js';
import type { Store } from '../../platform/store/store.js';
import type { SettingValues } from '../../settings.js';
import type { ApplyDeps } from '../apply/context.js';
import type { Snapshots } from '../apply/snapshots.js';
import type { AppliedKinds } from '../apply/kinds.js';
import type { IntegrityProblem } from '../audit/bodies.js';
import type { Secrets } from '../io-modules/secret-kind.js';
import type { SigningKeys } from '../signatures/signature.js';
import { ChangeGate } from './gate.js';
import { ChangeRequest } from './kind.js';
import { PastRequestReconciler } from './past-requests.js';
import { ExpiryReconciler } from './reconciler.js';
import { changeControlRoutes } from './routes.js';

const HOUR_MS = 3_600_000;

export interface ChangeControlParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly keys: SigningKeys;
  readonly queries: Pick<LedgerQueries, 'auditOf' | 'auditPage'>;
  readonly kinds: AppliedKinds;
  readonly deviceId: string;
  readonly production: boolean;
  readonly secrets: Secrets;
  readonly settings: Pick<SettingValues, 'outputs' | 'recordPastAfterMs' | 'changeRequestExpiryHours' | 'selfApprovalAllowed' | 'changeControlEnforced' | 'authMode'>;
  readonly snapshots: Pick<Snapshots, 'take'>;
  rows(): readonly RouteColumns[];
  deletes(action: string): BoundRoute | undefined;
  /** Told of a request that is not what was signed. */
  report(problem: IntegrityProblem): void;
}

export function joinChangeControl({ settings, secrets, snapshots, log, rows, deletes, report, ...parts }: ChangeControlParts) {
  const { store, clock, keys, kinds, deviceId, production } = parts;
  const { recordPastAfterMs: afterMs } = settings;
  const applying: ApplyDeps = { deviceId, box: { outputs: settings.outputs, secrets }, store, clock, kinds, production, snapshots };
  const asking = { clock, keys, kinds, terms: store.terms, lifeMs: settings.changeRequestExpiryHours * HOUR_MS, nextAuditName: (offset: number) => store.nextAuditName(offset) };
  const gate = new ChangeGate(store, settings.changeControlEnforced, asking);
  return {
    /** What generic apply asks. */
    gate: gate.ofApply,
    routes: [
      routeSet(changeControlRoutes, {
        ...parts,
        ...asking,
        applying,
        selfApproval: settings.selfApprovalAllowed || settings.authMode === 'none',
        rows,
        deletes,
        mismatch: (target, problem) => report({ part: 'change-requests', ...target, problem }),
      }),
    ],
    reconcilers: [
      new ReconcileLoop(new ExpiryReconciler({ store, clock }), clock, log, [on(ChangeRequest)]),
      ...(afterMs === 0 ? [] : [new ReconcileLoop(new PastRequestReconciler({ store, clock, afterMs }), clock, log, [on(ChangeRequest, whenPut)])]),
    ],
  };
}
