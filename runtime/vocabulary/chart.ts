/**
 * Sequential function charts as data: the charts of phases (structured text in steps and transitions) and the
 * procedural charts of the levels above (steps that name elements).
 */
export interface ChartStep {
  readonly name: string;
  readonly initial?: boolean | undefined;
  readonly actionST?: string | undefined;
  /** `once` runs to its end once per activation; `cyclic` runs completely every scan and must not suspend. */
  readonly actionMode?: 'once' | 'cyclic' | undefined;
  /** Duration text, for example `30m`; empty or absent: none. */
  readonly timeout?: string | undefined;
  readonly onTimeout?: 'Hold' | 'Stop' | 'Abort' | 'Alarm' | undefined;
  /** False keeps the phase out of Paused while this step is active. */
  readonly pauseAllowed?: boolean | undefined;
  readonly rerunOnRestart?: boolean | undefined;
  /** What people answer in this step is confirmed by a second person (ADR 0144). */
  readonly secondSigner?: boolean | undefined;
  readonly description?: string | undefined;
}

export interface ChartTransition {
  readonly from: string;
  readonly to: string;
  /** One boolean expression; empty: true once the action of every `from` step has finished. */
  readonly conditionST?: string | undefined;
  readonly description?: string | undefined;
}

export type DivergenceType = 'SimultaneousDiverge' | 'SimultaneousConverge' | 'SelectionDiverge' | 'SelectionConverge';

export interface ChartDivergence {
  readonly name: string;
  readonly type: DivergenceType;
  readonly branches?: readonly string[] | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Chart of a phase. A transition is identified by its index; its key is `<from>-><to>#<index>`. */
export interface Chart {
  readonly steps?: readonly ChartStep[] | undefined;
  readonly transitions?: readonly ChartTransition[] | undefined;
  readonly divergences?: readonly ChartDivergence[] | undefined;
}

export const EXCEPTION_CHARTS = ['holding', 'restarting', 'stopping', 'aborting', 'resetting'] as const;
export type ExceptionChartName = (typeof EXCEPTION_CHARTS)[number];
export const CHART_NAMES = ['running', ...EXCEPTION_CHARTS] as const;
export type ChartName = (typeof CHART_NAMES)[number];

export type StepLevel = 'UnitProcedure' | 'Operation' | 'Phase';
export type TemplateKind = 'PhaseTemplate' | 'OperationTemplate' | 'UnitProcedureTemplate' | 'ProcedureTemplate';

export interface ParameterBinding {
  readonly name: string;
  /** A parameter of the enclosing element, or `<step>.<output>` of a step of the same chart. */
  readonly from?: string | undefined;
  /** Literal text. */
  readonly value?: string | undefined;
}

export interface ProceduralStep {
  readonly name: string;
  readonly initial?: boolean | undefined;
  readonly templateRef?: string | undefined;
  readonly templateKind?: TemplateKind | undefined;
  readonly subChart?: ProceduralChart | undefined;
  readonly stepLevel?: StepLevel | undefined;
  readonly targetCapability?: string | undefined;
  readonly parameterBindings?: readonly ParameterBinding[] | undefined;
  readonly roleMap?: Readonly<Record<string, string>> | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly description?: string | undefined;
}

/** Chart of an operation, unit procedure, procedure or recipe. */
export interface ProceduralChart {
  readonly steps?: readonly ProceduralStep[] | undefined;
  readonly transitions?: readonly ChartTransition[] | undefined;
  readonly divergences?: readonly ChartDivergence[] | undefined;
}

/** Key of a transition as it appears in `firedTransitions`. */
export function transitionKey(transition: ChartTransition, index: number): string {
  return `${transition.from}->${transition.to}#${index}`;
}
