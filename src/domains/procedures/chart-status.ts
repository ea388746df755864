/** Where a chart stands (port.ts, SfcStatus), as a schema: the same for phases, whose scan thread tells it, and for what is above them. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { CHART_NAMES } from '../../../runtime/vocabulary/chart.js';
import type { ToldBy } from '../../platform/http/replies.js';

/** A part of a condition; `now` renders its operands with their present values. */
export const ConditionPart = v.strictObject({
  expression: v.string(),
  met: v.boolean(),
  now: v.optional(v.string()),
  /** It is not known now: as the chart has told it last. */
  asTold: v.exactOptional(v.literal(true)),
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

nameSchemas({ ConditionPart, TransitionState, ChartStatus, ExceptionStatus });
