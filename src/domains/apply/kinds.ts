/** Which kinds generic apply takes (contract 3, Generic apply; decisions Q-CHANGE-05), and the order in which an export lists them. */
import type { Ruled } from '../../platform/store/kind.js';
import { Alarm } from '../alarms/kind.js';
import { alarmDefinitionRules } from '../alarms/rules.js';
import { Batch } from '../batches/kind.js';
import { moduleRules, templateRules } from '../control-modules/rules.js';
import { coordinationBlockRules, syncBarrierRules } from '../coordination/rules.js';
import { controllerRules } from '../edge-controllers/rules.js';
import { ioModuleRules, presetRules } from '../io-modules/rules.js';
import { blockTypeRules, programRules } from '../logic/rules.js';
import { Area, Enterprise, ProcessCell } from '../plant/kind.js';
import { siteRules, unitRules } from '../plant/rules.js';
import { Operation, OperationTemplate, Phase, PhaseTemplate, Procedure, ProcedureTemplate, UnitProcedure, UnitProcedureTemplate } from '../procedures/kind.js';
import { MasterRecipe } from '../recipes/kind.js';

// biome-ignore lint/suspicious/noExplicitAny: kinds of every spec and status
export type AnyKind = Ruled<any, any>;

/** In an order in which every reference points backwards, so that an export can be applied as it is. */
export const APPLIED_KINDS: readonly AnyKind[] = [
  Enterprise,
  siteRules,
  Area,
  ProcessCell,
  controllerRules,
  blockTypeRules,
  templateRules,
  presetRules,
  ioModuleRules,
  unitRules,
  moduleRules,
  programRules,
  PhaseTemplate,
  OperationTemplate,
  UnitProcedureTemplate,
  ProcedureTemplate,
  coordinationBlockRules,
  syncBarrierRules,
  MasterRecipe,
  alarmDefinitionRules,
  Alarm,
  Procedure,
  UnitProcedure,
  Operation,
  Phase,
  Batch,
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
