/** What the fields of alarms and their definitions mean (contract 2, Alarms; decisions ALARM). */
const RAISED = {
  type: 'Type of the alarm.',
  severity: 'Severity of the alarm.',
  message: ['What the operator reads.', 'Level of tank 1 is too high'],
} as const;

export const ARMING_GATE_WORDS = {
  phaseTemplateRef: ['Phase template whose phases arm the definition.', 'heat'],
  unitRef: ['Unit that the phase runs on.', 'reactor-1'],
  states: ['States of the phase in which the definition watches.', ['Running']],
} as const;

export const ALARM_DEFINITION_WORDS = {
  ...RAISED,
  sourceKind: 'Kind of what is watched. Conditions of tags are for control modules.',
  sourceName: ['Name of what is watched.', 'lt-101'],
  conditionType:
    'What raises the alarm: StateEquals a state of the source; TagHigh, TagHighHigh, TagLow, TagLowLow a limit; TagDeviation a distance from the set point; TagTrue, TagFalse a tag of type BOOL.',
  stateValue: ['Of StateEquals: the state.', 'Disconnected', 'Held'],
  tagName: ['Of a condition of a tag: name of the tag of the source.', 'pv'],
  threshold: ['Limit as a number in text. High and low need one; of TagDeviation it is the greatest distance.', '80', '12.5'],
  setpoint: ['Of TagDeviation: the value that the tag should have, a number in text.', '60'],
  deadband: ['How far the value must come back before the alarm clears, a number in text from 0. Empty: 0.', '2'],
  debounceSeconds: ['How long the condition must hold before the alarm is raised, in seconds. It clears at once.', 5],
  priority: 'Order among alarms of one severity, 0 to 1000; a larger one is more urgent.',
  enabled: 'False: the definition does not watch.',
  exceptionAction: 'Command that is given to the work it concerns when the alarm is raised. Empty: the alarm is told and nothing is commanded.',
  cause: ['What the operator is told it comes of.', 'Filter F101 is blocked'],
  consequence: ['What happens if nobody acts.', 'The pump runs dry'],
  action: ['What the operator shall do, step by step.', ['Change over to filter F102']],
  follows: ['Definitions whose alarm explains this one: while one of theirs stands, alarms of this one belong to it.', ['pump-1-stopped']],
  armingGate: 'The definition watches only while a phase of this template is in one of these states on the unit. null: always. Only apply writes it.',
} as const;

export const ALARM_WORDS = {
  ...RAISED,
  source: ['What the alarm is about, <Kind>/<name>.', 'ControlModule/lt-101'],
  definitionRef: 'Name of the definition that raised it. Empty: the system itself.',
  conditionType: 'Condition of that definition. Empty: none.',
  setpoint: 'Limit or set point that the condition compared with, as text.',
  value: 'Value that was met, as text.',
} as const;
