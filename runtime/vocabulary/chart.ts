/**
 * Sequential function charts as data: the charts of phases (structured text in steps and transitions) and the
 * procedural charts of the levels above (steps that name elements).
 */
export interface ChartStep {
  readonly name: string;
  readonly initial?: boolean;
  readonly actionST?: string;
  /** `once` runs to its end once per activation; `cyclic` runs completely every scan and must not suspend. */
  readonly actionMode?: 'once' | 'cyclic';
  /** Duration text, for example `30m`; empty or absent: none. */
  readonly timeout?: string;
  readonly onTimeout?: 'Hold' | 'Stop' | 'Abort' | 'Alarm';
  /** False keeps the phase out of Paused while this step is active. */
  readonly pauseAllowed?: boolean;
  readonly rerunOnRestart?: boolean;
  readonly description?: string;
}

export interface ChartTransition {
  readonly from: string;
  readonly to: string;
  /** One boolean expression; empty: true once the action of every `from` step has finished. */
  readonly conditionST?: string;
  readonly description?: string;
}

export type DivergenceType = 'SimultaneousDiverge' | 'SimultaneousConverge' | 'SelectionDiverge' | 'SelectionConverge';

export interface ChartDivergence {
  readonly name: string;
  readonly type: DivergenceType;
  readonly branches?: readonly string[];
  readonly from?: string;
  readonly to?: string;
}

/** Chart of a phase. A transition is identified by its index; its key is `<from>-><to>#<index>`. */
export interface Chart {
  readonly steps?: readonly ChartStep[];
  readonly transitions?: readonly ChartTransition[];
  readonly divergences?: readonly ChartDivergence[];
}

export const EXCEPTION_CHARTS = ['holding', 'restarting', 'stopping', 'aborting', 'resetting'] as const;
export type ExceptionChartName = (typeof EXCEPTION_CHARTS)[number];
export type ChartName = 'running' | ExceptionChartName;

export type StepLevel = 'UnitProcedure' | 'Operation' | 'Phase';
export type TemplateKind = 'PhaseTemplate' | 'OperationTemplate' | 'UnitProcedureTemplate' | 'ProcedureTemplate';

export interface ParameterBinding {
  readonly name: string;
  /** A parameter of the enclosing element, or `<step>.<output>` of a step of the same chart. */
  readonly from?: string;
  /** Literal text. */
  readonly value?: string;
}

export interface ProceduralStep {
  readonly name: string;
  readonly initial?: boolean;
  readonly templateRef?: string;
  readonly templateKind?: TemplateKind;
  readonly subChart?: ProceduralChart;
  readonly stepLevel?: StepLevel;
  readonly targetCapability?: string;
  readonly parameterBindings?: readonly ParameterBinding[];
  readonly roleMap?: Readonly<Record<string, string>>;
  readonly timeoutSeconds?: number;
  readonly description?: string;
}

/** Chart of an operation, unit procedure, procedure or recipe. */
export interface ProceduralChart {
  readonly steps?: readonly ProceduralStep[];
  readonly transitions?: readonly ChartTransition[];
  readonly divergences?: readonly ChartDivergence[];
}

/** Key of a transition as it appears in `firedTransitions`. */
export function transitionKey(transition: ChartTransition, index: number): string {
  return `${transition.from}->${transition.to}#${index}`;
}
