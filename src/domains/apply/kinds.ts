/** Which kinds generic apply takes (contract 3, Generic apply; decisions Q-CHANGE-05), and the order in which an export lists them. */
import type { Ruled } from '../../platform/store/kind.js';
import { alarmDefinitionRules, alarmRules } from '../alarms/rules.js';
import { moduleRules, templateRules } from '../control-modules/rules.js';
import { coordinationBlockRules, syncBarrierRules } from '../coordination/rules.js';
import { controllerRules } from '../edge-controllers/rules.js';
import { ioModuleRules, presetRules } from '../io-modules/rules.js';
import { blockTypeRules, programRules } from '../logic/rules.js';
import { siteRules, unitRules, enterpriseRules, areaRules, processCellRules } from '../plant/rules.js';
import {
  phaseTemplateRules,
  operationTemplateRules,
  unitProcedureTemplateRules,
  procedureTemplateRules,
  procedureRules,
  unitProcedureRules,
  operationRules,
  phaseRules,
} from '../procedures/rules.js';
import { masterRecipeRules } from '../recipes/rules.js';
import { batchRules } from '../batches/rules.js';

// biome-ignore lint/suspicious/noExplicitAny: kinds of every spec and status
export type AnyKind = Ruled<any, any>;

/** In an order in which every reference points backwards, so that an export can be applied as it is. */
export const APPLIED_KINDS: readonly AnyKind[] = [
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
  procedureRules,
  unitProcedureRules,
  operationRules,
  phaseRules,
  batchRules,
];

const DERIVED = 'it is made by the gateway and cannot be written';
const EVIDENCE = 'it is a read-only evidence record';

/** Recognised and deliberately not applied: 422 with the reason. */
export const UNAPPLIED_KINDS: Readonly<Record<string, string>> = {
  ControlRecipe: `a control recipe is frozen when its batch starts; ${DERIVED}`,
  RecipeRevision: `a recipe revision records a write of its master recipe; ${DERIVED}`,
  BatchRecord: EVIDENCE,
  AuditRecord: EVIDENCE,
  SignatureRecord: EVIDENCE,
  QualificationRecord: EVIDENCE,
  ArchiveReport: EVIDENCE,
  MaterialLot: `a material lot follows from the batches that made and used it; ${DERIVED}`,
  NodeMaintenance: 'node maintenance is requested through the server routes, which record who authorised it',
  NodeIdentity: 'a node is named through the server identity route',
  SiteOutage: 'a site outage is requested through the outage routes, which record who authorised it',
};

/** Kinds without create and update routes: apply itself is the permission (decisions Q-CHANGE-07). */
export const ROUTELESS_KINDS: readonly string[] = ['CoordinationBlock', 'SyncBarrier', 'Alarm'];

const BY_NAME = new Map<string, AnyKind>(APPLIED_KINDS.flatMap((kind) => [kind.kind, ...(kind.aliases ?? [])].map((name) => [name, kind] as const)));

/** A kind by its name or alias. */
export function appliedKind(name: string): AnyKind | undefined {
  return BY_NAME.get(name);
}
