/**
 * What the console reads of the bodies and frames of the gateway (contract 2; contract 3; decisions AUTH, Q-TAG-15, Q-STREAM-01, 1.7).
 * Each type is that of the schema or of the frame which the gateway serves: the compiler keeps the page to it, and nothing is written twice.
 */
import type { ChartName } from '../../../runtime/vocabulary/chart.js';
import type * as access from '../../domains/access/bodies.js';
import type * as passkeys from '../../domains/access/passkeys/bodies.js';
import type { AlarmFrame } from '../../domains/alarms/alarm-channel.js';
import type * as alarmEvents from '../../domains/alarms/alarm-event.js';
import type { DefinitionBody } from '../../domains/alarms/definition-routes.js';
import type { AlarmBody } from '../../domains/alarms/dto.js';
import type { AlarmReport } from '../../domains/alarms/metrics.js';
import type { ArchiveRun, AuditPage, AuditRecordBody, EvidenceState as ServedEvidence, GapsPage, VerificationBody } from '../../domains/audit/bodies.js';
import type * as batches from '../../domains/batches/reading/dto.js';
import type { ElementBody, ElementItem, PhaseBody } from '../../domains/batches/reading/element-dto.js';
import type { StateFrame as ServedStateFrame } from '../../domains/batches/reading/state-channel.js';
import type * as batchRoutes from '../../domains/batches/routes.js';
import type * as starts from '../../domains/batches/start/preflight.js';
import type { Verification as ServedChanges } from '../../domains/change-control/routes.js';
import type * as changes from '../../domains/change-control/view.js';
import type * as prompts from '../../domains/commands/prompt-routes.js';
import type { ModuleBody, TemplateBody } from '../../domains/control-modules/dto.js';
import type { TrendSetBody } from '../../domains/historian/trend-set-routes.js';
import type { RecordedGaps, RecordedStates, RecordedTags, Samples } from '../../domains/historian/bodies.js';
import type * as recorder from '../../domains/historian/bodies.js';
import type { DemoStatus as ServedDemo } from '../../domains/demo/demo.js';
import type { IOModuleBody } from '../../domains/io-modules/dto.js';
import type { BlockTypeBody } from '../../domains/logic/dto.js';
import type * as mes from '../../domains/mes/dto.js';
import type { SiteBody } from '../../domains/plant/dto.js';
import type * as charts from '../../domains/procedures/chart-status.js';
import type { OperationTemplateSpec, PhaseSpec, PhaseTemplateSpec, ProceduralChartField } from '../../domains/procedures/kind.js';
import type { ControlRecipeBody, RecipeBody } from '../../domains/recipes/dto.js';
import type { ConsolidatedRecord as ServedConsolidatedRecord } from '../../domains/records/consolidated.js';
import type * as records from '../../domains/records/dto.js';
import type { CommandRejection } from '../../domains/runs/command-rejection.js';
import type * as log from '../../domains/runs/execution-log.js';
import type { Found } from '../../domains/search/search-index.js';
import type { SignatureVerification as ServedVerification } from '../../domains/signatures/checks.js';
import type { OfferedMeaning } from '../../domains/signatures/meanings.js';
import type { ListedSignature as ServedSignature } from '../../domains/signatures/served.js';
import type { HealthBody, VersionBody } from '../../domains/system/routes.js';
import type * as ahead from '../../domains/shift/plan-bodies.js';
import type * as shift from '../../domains/shift/routes.js';
import type * as tags from '../../domains/tags/catalog.js';
import type { TagValue as LiveTag } from '../../domains/tags/live.js';
import type { ModelFrame } from '../../domains/units/model-revision.js';
import type * as overview from '../../domains/units/overview.js';
import type { PlantOverview as ServedPlant } from '../../domains/units/overview-routes.js';
import type { NetworkView } from '../../domains/units/runtime-bodies.js';
import type { UnitBody } from '../../domains/units/unit-dto.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { ControlFrame, TagFrame as ServedTagFrame } from '../../platform/stream/frames.js';

export type { Mode } from '../../../runtime/vocabulary/modes.js';
export type { Quality } from '../../../runtime/vocabulary/quality.js';
export type { Command } from '../../../runtime/vocabulary/states.js';

/** JSON has no `undefined`: a member that may be left out is there or is not. */
type Arrived<Value> = Value extends readonly (infer Item)[]
  ? readonly Arrived<Item>[]
  : Value extends object
    ? { readonly [Member in keyof Value]: Arrived<Exclude<Value[Member], undefined>> }
    : Value;

// ---------------------------------------------------------------- who is there

export type AuthConfig = Arrived<access.AuthConfig>;
export type Me = Arrived<access.Me>;
export type Session = Arrived<access.SessionBody>;
export type AuthPolicy = Arrived<access.AuthPolicy>;
export type Account = Arrived<access.UserBody>;
export type OpenSession = Arrived<access.OpenSession>;
export type LockOut = Arrived<access.LockOutBody>;
export type ApiKey = Arrived<access.KeyBody>;
export type NewApiKey = Arrived<ToldBy<typeof access.NewKey>>;
export type OwnSecondFactor = Arrived<access.SecondFactorBody>;
export type PasskeyCreation = Arrived<passkeys.PasskeyCreation>;
export type NewPasskey = Arrived<ToldBy<typeof passkeys.NewPasskey>>;
export type PasskeyMade = Arrived<passkeys.Attestation>;
/** What is sent beside a password. */
export interface Second {
  readonly code?: string;
  readonly passkey?: Arrived<passkeys.Assertion>;
}

// ---------------------------------------------------------------- what the plant is

export type Site = Arrived<ToldBy<typeof SiteBody>>;
export type UnitInfo = Arrived<UnitBody>;
/** A pipe of a unit. */
export type Connection = NonNullable<UnitInfo['connections']>[number];
export type IoModule = Arrived<IOModuleBody>;
export type ModuleInfo = Arrived<ModuleBody>;
export type TagDescriptor = Arrived<tags.TagDescriptor>;
/** The logic of a module: its template, and the composites that are used in it. */
export type TemplateLogic = Arrived<TemplateBody>;
export type CompositeLogic = Arrived<BlockTypeBody>;

/** Data types whose values are numbers, as tags and as programs call them. */
const NUMERIC: readonly string[] = ['Float', 'Integer', 'REAL', 'INT'];

export function isNumeric(dataType: string): boolean {
  return NUMERIC.includes(dataType);
}

// ---------------------------------------------------------------- frames of the stream

type Live = Pick<Arrived<ToldBy<typeof LiveTag>>, 'value' | 'quality'>;
/** What the platform writes as its source gives it is of a tag as it is read. */
export type TagFrame = Omit<ServedTagFrame, keyof Live> & Live;
export type StateFrame = Arrived<ServedStateFrame>;
export type Frame = { readonly seq: number; readonly replay?: true } & (TagFrame | StateFrame | Arrived<AlarmFrame> | ModelFrame | Arrived<ControlFrame>);

// ---------------------------------------------------------------- what the plant does

export type TagData = Live['value'];
/** Without a quality: nothing has come yet. */
export type TagValue = Pick<Live, 'value'> & { readonly quality: Live['quality'] | '' };
export type LiveNetwork = Arrived<ToldBy<typeof NetworkView>>;

export type SiteOverview = Arrived<overview.SiteOverview>;
export type PlantOverview = Arrived<ServedPlant>;
/** A batch that has ended, as the MES is told of it. */
export type ProductionSummary = Arrived<mes.ProductionSummary>;
/** Its state is that of the overview, or of a frame since. */
export type OverviewUnit = Omit<SiteOverview['units'][number], 'state'> & Pick<StateFrame, 'state'>;

/** Its state is that of the list, or of a frame since. */
export type BatchItem = Omit<Arrived<batches.BatchItem>, 'phase'> & { readonly phase: StateFrame['state'] };
export type BatchDetail = Arrived<batches.BatchBody>;
export type BatchMessage = Arrived<log.BatchMessage>;
/** Event enumerations of BatchML (decisions 8.3). */
export type BatchEvent = Arrived<log.ExecutionEvent>;
/** A level of a procedure, with its mode. */
export type Level = BatchDetail['inManual'][number];
export type Rejection = Arrived<CommandRejection>;
export type PreflightAnswer = Arrived<starts.Preflight>;
/** The next hours of the units. */
export type Plan = Arrived<ahead.Plan>;
export type PlannedBatch = Plan['batches'][number];
export type ShiftNote = Arrived<shift.ShiftNote>;
export type MasterRecipe = Arrived<RecipeBody>;
export type Timeline = Arrived<batchRoutes.Timeline>;

export type ProceduralChart = Arrived<ToldBy<typeof ProceduralChartField>>;
/** Of a template of any level: a chart, or the steps of a phase. */
export type TemplateSpec = Partial<Pick<Arrived<PhaseTemplateSpec>, 'steps' | 'transitions'> & Pick<Arrived<OperationTemplateSpec>, 'chart'>>;
type ServedRecipe = Arrived<ToldBy<typeof ControlRecipeBody>>;
export type Template = Omit<ServedRecipe['spec']['templates'][number], 'spec'> & { readonly spec: TemplateSpec };
/** A template in it is told as any of its kind; what a chart is made of is told by the kinds. */
export type ControlRecipe = { readonly spec: Pick<ServedRecipe['spec'], 'chart'> & { readonly templates: readonly Template[] } };

export type PhaseAtWork = Arrived<ElementItem>;
export type PhaseDetail = Arrived<ToldBy<typeof PhaseBody>>;
/** Of any level: only phases have charts for Holding, Stopping and so on, by the names that the status of a chart gives. */
export type ElementDetail = Arrived<ElementBody<{ readonly charts?: Partial<Record<ChartName, PhaseSpec['charts']['holding']>> }>>;
type OfTemplate<Spec> = Partial<Arrived<Spec>>;
/** Of a phase its roles, of a sequence its category; each may be run by hand. */
export interface RunnableTemplate {
  readonly name: string;
  readonly spec: OfTemplate<Pick<PhaseTemplateSpec, 'roles'> & Pick<OperationTemplateSpec, 'category'>> & Arrived<Pick<PhaseTemplateSpec, 'description' | 'parameters'>>;
}
export type SfcStatus = Arrived<charts.ChartStatus>;
export type TransitionState = Arrived<charts.TransitionState>;
export type ConditionPart = Arrived<charts.ConditionPart>;
export type Prompt = Arrived<prompts.Prompt>;
export type PromptAnswer = Arrived<prompts.PromptAnswer>;
/** Who confirms an answer beside the person who gave it. */
export interface SecondPerson extends Second {
  readonly username: string;
  readonly password: string;
}

// ---------------------------------------------------------------- alarms, records, history

export type SearchResult = Arrived<Found>;
export type RecordItem = Arrived<records.RecordItem>;
export type BatchRecord = Arrived<records.RecordBody>;
/** Everything that is on record about a batch, as it is handed out. */
export type ConsolidatedRecord = Arrived<ServedConsolidatedRecord>;
/** What verifying a signature comes to, check by check. */
export type SignatureVerification = Arrived<ServedVerification>;
export type Alarm = Arrived<AlarmBody>;
export type AlarmDefinition = Arrived<DefinitionBody>;
export type AlarmEvent = Arrived<alarmEvents.AlarmEvent>;
/** ISA-18.2 metrics over a window; `standing` tells the present. */
export type AlarmMetrics = Arrived<AlarmReport>;

/** A page of a log; only the audit trail names files that could not be read. */
export interface LogPage<Item> extends Omit<Arrived<ToldBy<typeof AuditPage>>, 'items' | 'damaged'> {
  readonly items: readonly Item[];
  /** Names of audit records, or numbers of entries, that would stand here and are damaged on the box. */
  readonly damaged?: readonly (string | number)[];
}
export type AuditRecord = Arrived<AuditRecordBody>;
export type IntegrityRun = Arrived<ArchiveRun>;
export type ArchiveFinding = IntegrityRun['archives'][number];
export type TrailVerification = Arrived<VerificationBody>;
export type TrailGap = Arrived<ToldBy<typeof GapsPage>>['items'][number];
export type EvidenceState = Arrived<ServedEvidence>;
export type EvidenceRun = NonNullable<EvidenceState['last']>;
export type ChangeRequest = Arrived<changes.ChangeRequestBody>;
export type ChangeDetail = Arrived<changes.ChangeRequestDetail>;
export type ChangeVerification = Arrived<ToldBy<typeof ServedChanges>>;
export type Health = Arrived<HealthBody>;
export type HistorianStatus = Arrived<recorder.HistorianStatus>;
export type Ingest = Arrived<recorder.Ingest>;
export type DemoStatus = Arrived<ToldBy<typeof ServedDemo>>;
export type BoxVersion = Arrived<ToldBy<typeof VersionBody>>;
export type SignatureMeaning = Arrived<OfferedMeaning>;
export type ListedSignature = Arrived<ServedSignature>;

export type RecordedTag = Arrived<ToldBy<typeof RecordedTags>>['items'][number];
export type HistorySample = Arrived<ToldBy<typeof Samples>>['items'][number];
/** Curves that are kept on the box. */
export type TrendSet = Arrived<TrendSetBody>;
export type RecordedState = Arrived<ToldBy<typeof RecordedStates>>['items'][number];
/** A time that the historian knows it has nothing of; without an address the whole unit is meant. */
export type HistoryGap = Arrived<ToldBy<typeof RecordedGaps>>['items'][number];
