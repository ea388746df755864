/**
 * The only registry of the domains: their kinds, their route rows, and how each of them joins the appliance; main.ts gives them what
 * they work on, in its order.
 */
import type { RouteColumns } from '../platform/http/route.js';
import { type Kind, ruled } from '../platform/store/kind.js';
import { ACCESS_KINDS } from './access/kind.js';
import { ACCESS_ROUTES } from './access/routes.js';
import { alarmDefinitionRoutes } from './alarms/definition-routes.js';
import { AlarmCounter } from './alarms/kind.js';
import { alarmRoutes } from './alarms/routes.js';
import { type AnyKind, AppliedKinds } from './apply/kinds.js';
import { alarmDefinitionRules, alarmRules } from './alarms/rules.js';
import { moduleRules, templateRules } from './control-modules/rules.js';
import { changeRequestRules } from './change-control/rules.js';
import { changeControlRoutes } from './change-control/routes.js';
import { coordinationBlockRules, syncBarrierRules } from './coordination/rules.js';
import { controllerRules } from './edge-controllers/rules.js';
import { ioModuleRules, presetRules } from './io-modules/rules.js';
import { blockTypeRules, programRules } from './logic/rules.js';
import { siteRules, unitRules, enterpriseRules, areaRules, processCellRules } from './plant/rules.js';
import {
  phaseTemplateRules,
  operationTemplateRules,
  unitProcedureTemplateRules,
  procedureTemplateRules,
  procedureRules,
  unitProcedureRules,
  operationRules,
  phaseRules,
} from './procedures/rules.js';
import { masterRecipeRules } from './recipes/rules.js';
import { batchRules } from './batches/rules.js';
import { applyRoutes } from './apply/routes.js';
import { snapshotRoutes } from './apply/snapshot-routes.js';
import { schemaRoutes } from './apply/schema-routes.js';
import { EVIDENCE_ROUTES } from './audit/evidence-routes.js';
import { AUDIT_ROUTES } from './audit/routes.js';
import { adhocRoutes } from './batches/adhoc-routes.js';
import { batchRoutes } from './batches/routes.js';
import { commandRoutes } from './commands/routes.js';
import { controlModuleRoutes } from './control-modules/routes.js';
import { DemoMark } from './demo/kind.js';
import { demoRoutes } from './demo/routes.js';
import { discoveryRoutes } from './discovery/routes.js';
import { controllerRoutes } from './edge-controllers/routes.js';
import { HISTORIAN_ROUTES } from './historian/routes.js';
import { trendSetRoutes, trendSetRules } from './historian/trend-set-routes.js';
import { ioModuleRoutes } from './io-modules/routes.js';
import { Secret } from './io-modules/secret-kind.js';
import { secretRoutes } from './io-modules/secret-routes.js';
import { SimulationContents } from './io-modules/simulation-contents.js';
import { CableAcceptance } from './loop-checks/cable-kind.js';
import { cableRoutes } from './loop-checks/cable-routes.js';
import { LegalHold } from './legal-holds/kind.js';
import { legalHoldRoutes } from './legal-holds/routes.js';
import { LoopCheck } from './loop-checks/kind.js';
import { loopCheckRoutes } from './loop-checks/routes.js';
import { logicRoutes } from './logic/routes.js';
import { mesRoutes } from './mes/routes.js';
import { mtpRoutes } from './mtp/routes.js';
import { mtpImportRoutes } from './mtp-import/routes.js';
import { plantRoutes } from './plant/routes.js';
import { procedureRoutes } from './procedures/routes.js';
import { RecipeRevision } from './recipes/kind.js';
import { recipeRoutes } from './recipes/routes.js';
import { BatchRecord } from './records/kind.js';
import { recordRoutes } from './records/routes.js';
import { PeriodicReview } from './reviews/kind.js';
import { reviewRoutes } from './reviews/routes.js';
import { rehearsalRoutes } from './rehearsal/routes.js';
import { SEARCH_ROUTES } from './search/routes.js';
import { usedByRoutes } from './search/used-by.js';
import { RunExperience } from './shift/kind.js';
import { shiftRoutes } from './shift/routes.js';
import { SignatureRecord } from './signatures/kind.js';
import { signatureRoutes } from './signatures/routes.js';
import { signatureStateRoutes } from './signatures/state-routes.js';
import { SYSTEM_ROUTES } from './system/routes.js';
import { RESTORE_ROUTES } from './system/restore-routes.js';
import { SERVICE_ROUTES } from './system/service-routes.js';
import { tagRoutes } from './tags/routes.js';
import { streamRoutes } from './streams/live-transports.js';
import { traceRoutes } from './traceability/routes.js';
import { RetainedValues } from './placement/kind.js';
import { recordingRoutes } from './units/recording-routes.js';
import { overviewRoutes } from './units/overview-routes.js';
import { runtimeRoutes } from './units/runtime-routes.js';
import { controlRecipeRules } from './recipes/rules.js';
import { unitRoutes } from './units/unit-routes.js';
import { elementRoutes } from './batches/element-routes.js';

/** What can be applied, in an order in which every reference to what must be there at a write points backwards (others may dangle, and point anywhere), and what the gateway makes by itself. */
export const KINDS: readonly AnyKind[] = [
  enterpriseRules,
  siteRules,
  areaRules,
  processCellRules,
  controllerRules,
  blockTypeRules,
  templateRules,
  presetRules,
  ioModuleRules,
  unitRules,
  moduleRules,
  programRules,
  phaseTemplateRules,
  operationTemplateRules,
  unitProcedureTemplateRules,
  procedureTemplateRules,
  coordinationBlockRules,
  syncBarrierRules,
  masterRecipeRules,
  alarmDefinitionRules,
  alarmRules,
  trendSetRules,
  procedureRules,
  unitProcedureRules,
  operationRules,
  phaseRules,
  batchRules,
  controlRecipeRules,
  ruled(RecipeRevision, {}),
  ruled(BatchRecord, {}),
  ruled(LoopCheck, {}),
  ruled(CableAcceptance, {}),
  changeRequestRules,
];

export const APPLIED_KINDS = new AppliedKinds(KINDS);

/** Every kind there is a row of in the store. */
export const STORED_KINDS: readonly Kind[] = [
  ...KINDS,
  ...ACCESS_KINDS,
  AlarmCounter,
  DemoMark,
  RetainedValues,
  Secret,
  SimulationContents,
  SignatureRecord,
  LegalHold,
  PeriodicReview,
  RunExperience,
];

/** Every row of the domains, for whoever tells of them without serving them. */
export const ROWS: readonly RouteColumns[] = [
  ...ACCESS_ROUTES,
  ...SYSTEM_ROUTES,
  ...SERVICE_ROUTES,
  ...RESTORE_ROUTES,
  ...plantRoutes,
  ...unitRoutes,
  ...controlModuleRoutes,
  ...ioModuleRoutes({ exists: () => false }, { nextAttempt: () => undefined }),
  ...discoveryRoutes,
  ...secretRoutes,
  ...loopCheckRoutes,
  ...cableRoutes,
  ...logicRoutes,
  ...elementRoutes,
  ...procedureRoutes,
  ...recipeRoutes,
  ...rehearsalRoutes,
  ...applyRoutes,
  ...snapshotRoutes,
  ...schemaRoutes,
  ...mtpImportRoutes,
  ...changeControlRoutes,
  ...tagRoutes,
  ...streamRoutes,
  ...mtpRoutes,
  ...commandRoutes,
  ...overviewRoutes,
  ...runtimeRoutes,
  ...recordingRoutes,
  ...batchRoutes,
  ...adhocRoutes(false),
  ...signatureRoutes,
  ...signatureStateRoutes,
  ...legalHoldRoutes,
  ...reviewRoutes,
  ...controllerRoutes,
  ...alarmDefinitionRoutes,
  ...alarmRoutes,
  ...trendSetRoutes,
  ...demoRoutes,
  ...recordRoutes,
  ...shiftRoutes,
  ...traceRoutes,
  ...mesRoutes,
  ...AUDIT_ROUTES,
  ...EVIDENCE_ROUTES,
  ...SEARCH_ROUTES,
  ...usedByRoutes,
  ...HISTORIAN_ROUTES,
];

export { joinAccess } from './access/join.js';
export { recoveryTrouble } from './access/recovery/recoveries.js';
export { joinAlarms } from './alarms/join.js';
export { joinApply } from './apply/join.js';
export { Snapshots } from './apply/snapshots.js';
export { joinAudit } from './audit/join.js';
export { joinBatches } from './batches/join.js';
export { joinChangeControl } from './change-control/join.js';
export { changeRequestEvidence } from './change-control/verify.js';
export { commandWays, joinCommands } from './commands/join.js';
export { joinControlModules } from './control-modules/join.js';
export { joinDiscovery } from './discovery/join.js';
export { joinDemo } from './demo/join.js';
export { joinControllers } from './edge-controllers/join.js';
export { joinHistorian } from './historian/join.js';
export { joinIOModules } from './io-modules/join.js';
export { DeviceSecrets } from './io-modules/secrets.js';
export { joinLegalHolds } from './legal-holds/join.js';
export { joinLogic } from './logic/join.js';
export { joinLoopChecks } from './loop-checks/join.js';
export { joinMes } from './mes/join.js';
export { joinMtp } from './mtp/join.js';
export { joinMtpImport } from './mtp-import/join.js';
export { placeHere } from './placement/join.js';
export { joinPlant } from './plant/join.js';
export { joinProcedures } from './procedures/join.js';
export { joinRecipes } from './recipes/join.js';
export { joinRecords } from './records/join.js';
export { joinRehearsal } from './rehearsal/join.js';
export { joinReviews } from './reviews/join.js';
export { reviewEvidence } from './reviews/verify.js';
export { joinSearch } from './search/join.js';
export { joinShift } from './shift/join.js';
export { joinSignatures } from './signatures/join.js';
export { joinStreams } from './streams/join.js';
export { Backups } from './system/backups.js';
export { openRestoration } from './system/restoration.js';
export { joinSystem } from './system/join.js';
export { joinTags } from './tags/join.js';
export { joinTelemetry } from './telemetry/join.js';
export { joinTraceability } from './traceability/join.js';
export { joinUnits, openRecordings } from './units/join.js';
