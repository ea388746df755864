/**
 * What the console reads of the bodies and frames of the gateway (contract 2; contract 3; decisions AUTH, Q-TAG-15, Q-STREAM-01, 1.7).
 * What comes from a schema by its type follows it; that all other bodies have what is read of them here is held by tests/console/served.
 */
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import type { Mode } from '../../../runtime/vocabulary/modes.js';
import type { Quality } from '../../../runtime/vocabulary/quality.js';
import type { Command } from '../../../runtime/vocabulary/states.js';
import type * as access from '../../domains/access/bodies.js';
import type { ChartStatus, ExceptionStatus, TransitionState } from '../../domains/procedures/chart-status.js';
import type { CommandRejection } from '../../domains/runs/command-rejection.js';
import type { BatchMessage, ExecutionEvent } from '../../domains/runs/execution-log.js';

/** The words of both sides: the compiler keeps the page to those the gateway uses. */
export type { Command, Mode, Quality };
export type TagData = Value;

export type AuthConfig = Pick<access.AuthConfig, 'authMode' | 'reasonMinLength' | 'reasonMaxLength' | 'firstAdminRequired' | 'passwordMinLength' | 'oidc'>;
export type Me = Pick<access.Me, 'username' | 'displayName' | 'tiers' | 'actions' | 'mustChangePassword'>;
export type Session = Pick<access.SessionBody, 'accessToken' | 'expiresIn' | 'user'>;

export interface AlarmCounts {
  readonly active: number;
  readonly unacknowledged: number;
  readonly highestSeverity: string;
}

export interface ActiveWork {
  readonly kind: string;
  readonly name: string;
  readonly state: string;
  readonly batchRef: string;
  readonly since: string;
}

export interface OverviewUnit {
  readonly name: string;
  readonly state: string;
  readonly mode: string;
  readonly allocatedTo: string;
  readonly activeWork: ActiveWork | null;
  readonly runtimeReady: boolean;
  readonly heldInside: boolean;
  readonly alarms: AlarmCounts;
}

export interface SiteOverview {
  readonly site: string;
  readonly asOf: string;
  readonly units: readonly OverviewUnit[];
}

export interface UnitInfo {
  readonly name: string;
  readonly description: string;
  readonly symbolId: string;
}

export interface IoModule {
  readonly name: string;
  readonly protocol: string;
  /** Whether this box writes them (D-C-06). */
  readonly outputs?: { readonly state: 'live' | 'withheld' | 'disabled'; readonly reason: string };
}

export interface ModuleInfo {
  readonly name: string;
  readonly unit: string;
  readonly equipmentModule: string;
  readonly templateRef: string;
  readonly description: string;
  readonly deviceClass: string;
  readonly symbolId: string;
  readonly measuredVariable: string;
  readonly mode: Mode;
  /** Health of its logic. */
  readonly state: string;
  readonly message: string;
  /** Name of its control program; empty when it has none. */
  readonly program: string;
  readonly inputBindings: readonly { readonly name: string; readonly source?: string }[];
  readonly paramOverrides: readonly { readonly blockRef: string; readonly param: string; readonly value: unknown }[];
  readonly interlockBypass: { readonly active: boolean; readonly until: string; readonly by: string; readonly reason: string; readonly interlocks: readonly string[] };
}

export interface TagDescriptor {
  readonly name: string;
  readonly address: string;
  readonly dataType: string;
  readonly accessLevel: string;
  readonly controlModule: string;
  readonly moduleType: string;
  readonly unit: string;
  readonly engUnits: string;
  readonly engMin: string;
  readonly engMax: string;
  readonly role: string;
  readonly trueLabel: string;
  readonly falseLabel: string;
}

/** Data types whose values are numbers. */
const NUMERIC: readonly string[] = ['Float', 'Integer', 'Int', 'Double'];

export function isNumeric(dataType: string): boolean {
  return NUMERIC.includes(dataType);
}

export interface TagValue {
  readonly value: TagData;
  readonly quality: Quality | '';
}

export interface BatchItem {
  readonly name: string;
  readonly batchID: string;
  readonly phase: string;
  readonly mode: string;
  readonly masterRecipeRef: string;
  readonly quantity: string;
  readonly engineeringUnit: string;
  readonly priority: number;
  readonly workOrderID: string;
  readonly units: readonly string[];
  readonly heldInside: boolean;
  readonly blockedBecause: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type Rejection = CommandRejection;

export interface BatchDetail extends BatchItem {
  readonly recipe: { readonly name: string; readonly version: string; readonly productID: string /** Empty before the start. */; readonly controlRecipe: string };
  readonly parameterValues: readonly { readonly name: string; readonly value: string; readonly unit: string; readonly source: string }[];
  readonly outputs: readonly { readonly element: string; readonly name: string; readonly type: string; readonly value: string; readonly unit: string }[];
  /** Each reason of `blockedBecause` for itself. */
  readonly blockedBy?: readonly { readonly text: string }[];
  readonly validCommands: readonly Command[];
  /** Of an interruption; `commanded` while it waits for an operator: what was retained and stands commanded (decisions 3.8). */
  readonly recovery?: { readonly commanded?: readonly { readonly controlModule: string; readonly value: string }[] };
  readonly failure?: { readonly class: string; readonly rule: string; readonly message: string };
  readonly commandRejection?: Rejection;
}

export type { BatchMessage };

/** Event enumerations of BatchML (decisions 8.3). */
export type BatchEvent = ExecutionEvent;

export interface PhaseAtWork {
  readonly name: string;
  readonly unit: string;
  readonly batch: string;
  readonly stepPath: string;
  readonly templateRef: string;
  readonly state: string;
  readonly startedAt: string;
  readonly blockedBecause: string;
  readonly activeSteps?: readonly string[];
}

export interface ProceduralChart {
  readonly steps?: readonly {
    readonly name: string;
    readonly initial?: boolean;
    readonly templateRef?: string;
    readonly templateKind?: string;
    readonly subChart?: ProceduralChart;
  }[];
  readonly transitions?: readonly { readonly from: string; readonly to: string; readonly conditionST?: string }[];
}

export type { TransitionState };

export type SfcStatus = ChartStatus;

export interface ElementDetail {
  readonly name: string;
  readonly state: string;
  readonly mode: Mode;
  readonly blockedBecause: string;
  readonly sfcStatus?: SfcStatus;
  /** The chart of Holding, Stopping and so on while it runs. */
  readonly chartStatus?: ExceptionStatus;
  readonly spec: { readonly charts?: Readonly<Record<string, ProceduralChart>> };
}

export interface Prompt {
  readonly id: string;
  readonly phase: string;
  readonly unit: string;
  /** Unit of measure of a value prompt. */
  readonly engUnits?: string;
  readonly batch: string;
  readonly batchID: string;
  readonly stepName: string;
  readonly type: 'value' | 'choice' | 'acknowledge';
  readonly text: string;
  readonly timestamp: string;
  readonly choices?: readonly string[];
  readonly min?: string;
  readonly max?: string;
  readonly resultKey?: string;
}

export interface Alarm {
  readonly name: string;
  readonly source: string;
  readonly severity: 'Low' | 'Medium' | 'High' | 'Critical';
  readonly state: string;
  readonly message: string;
  readonly shelved: boolean;
  readonly shelvedUntil: string;
  readonly shelvedBy: string;
  readonly acknowledgedBy: string;
  readonly conditionType: string;
  readonly setpoint: string;
  readonly value: string;
  readonly unit: string;
  readonly priority: number;
  readonly activatedAt: string;
}

export interface AlarmEvent {
  readonly sequence: number;
  readonly timestamp: string;
  readonly alarm: string;
  readonly source: string;
  readonly unit: string;
  readonly severity: string;
  readonly event: string;
  readonly state: string;
  readonly message: string;
  readonly value: string;
  /** Absent when the alarm controller did it. */
  readonly displayName?: string;
}

/** ISA-18.2 metrics over a window; `standing` tells the present. */
export interface AlarmMetrics {
  readonly activations: number;
  readonly rate: { readonly average: number; readonly peak: number; readonly floodShare: number };
  /** Null where it is not known what stood at the end of the window. */
  readonly standing: { readonly active: number; readonly unacknowledged: number; readonly stale: number } | null;
  readonly chattering: { readonly count: number };
  readonly mostFrequent: { readonly alarms: readonly { readonly alarm: string; readonly activations: number; readonly share: number }[] };
  readonly bySeverity: readonly { readonly severity: string; readonly activations: number; readonly share: number }[];
  readonly timeToAcknowledge: { readonly medianSeconds: number | null };
  readonly shelved: { readonly events: number; readonly now: number };
}

export interface LogPage<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
  /** Files of the audit archive that may hold more of the answer and could not be read; absent when there are none. */
  readonly unreadable?: readonly string[];
}

export interface TagFrame {
  readonly type: 'tag';
  readonly site: string;
  readonly unit: string;
  readonly address: string;
  readonly value: TagData;
  readonly quality: Quality;
  readonly ts: string;
}

export interface StateFrame {
  readonly type: 'state';
  readonly site: string;
  readonly kind: string;
  readonly name: string;
  readonly state: string;
  readonly previousState: string;
  readonly mode: string;
  readonly unit?: string;
  readonly batchRef?: string;
  readonly ts: string;
}

export interface Frame {
  readonly type: string;
  readonly seq: number;
  readonly [member: string]: unknown;
}

export interface AuditRecord {
  readonly name: string;
  readonly timestamp: string;
  readonly displayName: string;
  readonly action: string;
  readonly category: string;
  readonly result: string;
  /** Why it was refused, in one word of the gateway. */
  readonly reason?: string;
  readonly operatorReason?: string;
  readonly correlationID: string;
  readonly target: { readonly kind: string; readonly name: string };
  readonly before?: unknown;
  readonly after?: unknown;
  readonly details?: unknown;
}
