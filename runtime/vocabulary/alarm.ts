/** An alarm definition on a tag, as the scan evaluates it and the gateway replays it (decisions Q-ALARM-09). */
export type AlarmCondition = 'TagHigh' | 'TagHighHigh' | 'TagLow' | 'TagLowLow' | 'TagDeviation' | 'TagTrue' | 'TagFalse';

export interface AlarmPlan {
  readonly definition: string;
  readonly address: string;
  /** Index of the tag. */
  readonly tag: number;
  readonly condition: AlarmCondition;
  readonly threshold?: number;
  readonly setpoint?: number;
  readonly deadband: number;
  /** Plant time. */
  readonly debounceMs: number;
}

/** What the gateway holds true of a definition. */
export interface AlarmGate {
  readonly definition: string;
  /** In service, and its arming gate is open. */
  readonly armed: boolean;
  readonly active: boolean;
  readonly evaluable: boolean;
}

/** `lost` and `evaluable`: the tag stopped or began to be Good. */
export type AlarmEdge = 'raised' | 'cleared' | 'lost' | 'evaluable';
