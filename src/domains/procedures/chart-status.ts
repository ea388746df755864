/** Where a chart stands (port.ts, SfcStatus), as a schema: the same for phases, whose scan thread tells it, and for what is above them. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { CHART_NAMES } from '../../../runtime/vocabulary/chart.js';
import { DATA_TYPES } from '../../../runtime/vocabulary/data-types.js';
import type { ToldBy } from '../../platform/http/replies.js';

/** What a side of a comparison is: `computed` is made of several, `value` stands in the condition itself. */
export const SIDE_KINDS = ['tag', 'signal', 'barrier', 'time', 'step', 'output', 'name', 'value', 'computed'] as const;

/** One side of a comparison, in parts that a reader can word. */
export const ConditionSide = v.strictObject({
  what: v.picklist(SIDE_KINDS),
  /** As the engineer wrote it. */
  text: v.string(),
  /** Of the parameter, output, step, signal or barrier. */
  name: v.exactOptional(v.string()),
  /** Absent where nothing is known of it now. TIME is in milliseconds of plant time. */
  type: v.exactOptional(v.picklist(DATA_TYPES)),
  value: v.exactOptional(v.string()),
  /** Of a tag: the unit, and its address in it. */
  unit: v.exactOptional(v.string()),
  address: v.exactOptional(v.string()),
  engUnits: v.exactOptional(v.string()),
  /** Of a signal or barrier: the elements that it comes from. */
  from: v.exactOptional(v.array(v.strictObject({ path: v.string(), unit: v.string() }))),
});
export type ConditionSide = ToldBy<typeof ConditionSide>;

/** A single BOOL is compared with TRUE, one with NOT with FALSE. */
export const ComparedSides = v.strictObject({ left: ConditionSide, operator: v.picklist(['<', '>', '<=', '>=', '=', '<>']), right: ConditionSide });
export type ComparedSides = ToldBy<typeof ComparedSides>;

/** A part of a condition; `now` renders its operands with their present values. */
export const ConditionPart = v.strictObject({
  expression: v.string(),
  met: v.boolean(),
  now: v.optional(v.string()),
  /** It is not known now: as the chart has told it last. */
  asTold: v.exactOptional(v.literal(true)),
  /** What is compared; absent where it is no comparison. */
  sides: v.exactOptional(ComparedSides),
});
export type ConditionPart = ToldBy<typeof ConditionPart>;

export const TransitionState = v.strictObject({
  index: v.number(),
  fromStep: v.string(),
  toStep: v.string(),
  conditionST: v.string(),
  evaluated: v.boolean(),
  met: v.boolean(),
  result: v.picklist(['TRUE', 'FALSE', 'INVALID', 'ERROR']),
  reason: v.exactOptional(v.string()),
  /** Why it is as the chart has told it last, and not as it is now. */
  asTold: v.exactOptional(v.string()),
  subConditions: v.array(ConditionPart),
});

export type TransitionState = ToldBy<typeof TransitionState>;

const ChartWord = v.picklist(CHART_NAMES);

export const ChartStatus = v.strictObject({
  activeSteps: v.array(v.string()),
  completedSteps: v.array(v.string()),
  firedTransitions: v.array(v.string()),
  scanCount: v.number(),
  held: v.boolean(),
  transitionStates: v.array(TransitionState),
  variableSnapshot: v.record(v.string(), v.string()),
  activeChart: v.exactOptional(ChartWord),
});

export type ChartStatus = ToldBy<typeof ChartStatus>;

/** Of the exception chart that is executed. */
export const ExceptionStatus = v.strictObject({ ...ChartStatus.entries, chart: v.exactOptional(ChartWord) });
export type ExceptionStatus = ToldBy<typeof ExceptionStatus>;

nameSchemas({ ConditionSide, ComparedSides, ConditionPart, TransitionState, ChartStatus, ExceptionStatus });
