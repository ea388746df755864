/** The request of `validate/sfc-chart` (decisions Q-ST-03): a chart with what surrounds it, or the same under `chart`. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { oneOf } from '../../platform/http/alternatives.js';
import type { ChartDiagnostic } from '../../../runtime/language/check-chart.js';
import type { ExceptionChartName, ProceduralChart } from '../../../runtime/vocabulary/chart.js';
import { decode } from '../../platform/http/json-body.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { checkPhase, checkSequence } from './charts.js';
import { OutputSpec, ParameterSpec, PhaseChart, PhaseTemplateSpec, ProceduralChartField, RoleSpec } from './kind.js';

const CHART_KINDS = ['running', 'holding', 'restarting', 'stopping', 'aborting', 'resetting', 'procedural'] as const;

/** Steps are read again once the kind of chart is known; the rest of the shape is fixed. */
const MEMBERS = {
  steps: v.optional(v.array(v.record(v.string(), v.unknown())), []),
  transitions: v.optional(v.array(v.record(v.string(), v.unknown())), []),
  divergences: v.optional(v.array(v.record(v.string(), v.unknown())), []),
  charts: v.optional(v.record(v.string(), PhaseChart), {}),
  parameters: v.optional(v.array(ParameterSpec), []),
  outputs: v.optional(v.array(OutputSpec), []),
  variables: v.optional(v.array(v.record(v.string(), v.unknown())), []),
  roles: v.optional(v.array(RoleSpec), []),
  edgeLocalHold: v.optional(v.boolean()),
  unit: v.optional(v.string(), ''),
  site: v.optional(v.string(), ''),
  chartKind: v.optional(v.picklist(CHART_KINDS), 'running'),
  /** Level of a procedural chart; the level above its steps when absent. */
  level: v.optional(v.picklist(['Recipe', 'Procedure', 'UnitProcedure', 'Operation'])),
};

const Flat = v.strictObject(MEMBERS);
type Flat = v.InferOutput<typeof Flat>;

nameSchemas({ ChartRequest: Flat });

const Wrapped = v.pipe(
  v.strictObject({ chart: Flat }),
  v.transform(({ chart }) => chart),
);

/** Chosen by the member `chart`, so that an unknown field is named (decisions Q-ERR-04); a union could only say that nothing fits. */
export const ChartRequest = oneOf<v.GenericSchema<unknown, Flat>>([Flat, Wrapped], (input) => (typeof input === 'object' && input !== null && 'chart' in input ? Wrapped : Flat));

export function diagnoseChart(request: Flat, read: StoreReader): ChartDiagnostic[] {
  const { steps, transitions, divergences, parameters, outputs, variables, roles, charts, unit, site, chartKind } = request;
  if (chartKind === 'procedural') {
    const chart = decode(ProceduralChartField, { steps, transitions, divergences });
    return checkSequence(chart, request.level ?? levelAbove(chart), { parameters, outputs }, read, site);
  }
  const shape = { steps, transitions, divergences };
  const running = chartKind === 'running' ? shape : {};
  const exceptions = chartKind === 'running' ? charts : { ...charts, [chartKind as ExceptionChartName]: shape };
  const spec = decode(PhaseTemplateSpec, {
    ...running,
    charts: exceptions,
    parameters,
    outputs,
    variables,
    roles,
    ...(request.edgeLocalHold === undefined ? {} : { edgeLocalHold: request.edgeLocalHold }),
  });
  return checkPhase(spec, read, site, unit);
}

/** A chart of phases belongs to an operation, one of operations to a unit procedure, one of unit procedures to a recipe. */
function levelAbove(chart: ProceduralChart): 'Recipe' | 'UnitProcedure' | 'Operation' {
  const level = chart.steps?.[0]?.stepLevel;
  if (level === 'Phase') return 'Operation';
  return level === 'Operation' ? 'UnitProcedure' : 'Recipe';
}
