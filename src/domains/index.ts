/**
 * The only registry of the domains: their kinds and their route rows. main.ts gives each group of rows what it works on
 * and starts the reconcilers.
 */
import type { RouteColumns } from '../platform/http/route.js';
import { type Kind, ruled, type Ruled } from '../platform/store/kind.js';
import { ACCESS_KINDS } from './access/kind.js';
import { ACCESS_ROUTES } from './access/routes.js';
import { alarmDefinitionRoutes } from './alarms/definition-routes.js';
import { AlarmCounter } from './alarms/kind.js';
import { alarmRoutes } from './alarms/routes.js';
import { APPLIED_KINDS } from './apply/kinds.js';
import { applyRoutes } from './apply/routes.js';
import { EVIDENCE_ROUTES } from './audit/evidence-routes.js';
import { AUDIT_ROUTES } from './audit/routes.js';
import { adhocRoutes } from './batches/adhoc-routes.js';
import { batchRoutes } from './batches/routes.js';
import { commandRoutes } from './commands/routes.js';
import { controlModuleRoutes } from './control-modules/routes.js';
import { DemoMark } from './demo/kind.js';
import { demoRoutes } from './demo/routes.js';
import { controllerRoutes } from './edge-controllers/routes.js';
import { HISTORIAN_ROUTES } from './historian/routes.js';
import { ioModuleRoutes } from './io-modules/routes.js';
import { SimulationContents } from './io-modules/simulation-contents.js';
import { logicRoutes } from './logic/routes.js';
import { mesRoutes } from './mes/routes.js';
import { plantRoutes } from './plant/routes.js';
import { procedureRoutes } from './procedures/routes.js';
import { RecipeRevision } from './recipes/kind.js';
import { recipeRoutes } from './recipes/routes.js';
import { BatchRecord } from './records/kind.js';
import { recordRoutes } from './records/routes.js';
import { rehearsalRoutes } from './rehearsal/routes.js';
import { SEARCH_ROUTES } from './search/routes.js';
import { usedByRoutes } from './search/used-by.js';
import { SignatureRecord } from './signatures/kind.js';
import { signatureRoutes } from './signatures/routes.js';
import { SYSTEM_ROUTES } from './system/routes.js';
import { tagRoutes } from './tags/routes.js';
import { streamRoutes } from './streams/live-transports.js';
import { RetainedValues } from './placement/kind.js';
import { recordingRoutes } from './units/recording-routes.js';
import { overviewRoutes } from './units/overview-routes.js';
import { runtimeRoutes } from './units/runtime-routes.js';
import { controlRecipeRules } from './recipes/rules.js';
import { unitRoutes } from './units/unit-routes.js';
import { elementRoutes } from './batches/element-routes.js';

/** What can be applied, and what the gateway makes by itself. */
export const KINDS: readonly Ruled[] = [...APPLIED_KINDS, controlRecipeRules, ruled(RecipeRevision, {}), ruled(BatchRecord, {})];

/** Every kind there is a row of in the store. */
export const STORED_KINDS: readonly Kind[] = [...KINDS, ...ACCESS_KINDS, AlarmCounter, DemoMark, RetainedValues, SimulationContents, SignatureRecord];

/** Every row of the domains, for whoever tells of them without serving them. */
export const ROWS: readonly RouteColumns[] = [
  ...ACCESS_ROUTES,
  ...SYSTEM_ROUTES,
  ...plantRoutes,
  ...unitRoutes,
  ...controlModuleRoutes,
  ...ioModuleRoutes({ exists: () => false }),
  ...logicRoutes,
  ...elementRoutes,
  ...procedureRoutes,
  ...recipeRoutes,
  ...rehearsalRoutes,
  ...applyRoutes,
  ...tagRoutes,
  ...streamRoutes,
  ...commandRoutes,
  ...overviewRoutes,
  ...runtimeRoutes,
  ...recordingRoutes,
  ...batchRoutes,
  ...adhocRoutes(false),
  ...signatureRoutes,
  ...controllerRoutes,
  ...alarmDefinitionRoutes,
  ...alarmRoutes,
  ...demoRoutes,
  ...recordRoutes,
  ...mesRoutes,
  ...AUDIT_ROUTES,
  ...EVIDENCE_ROUTES,
  ...SEARCH_ROUTES,
  ...usedByRoutes,
  ...HISTORIAN_ROUTES,
];
