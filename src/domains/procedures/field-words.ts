/** What the fields of procedural elements, their templates and charts mean (contract 3, Procedural resources; decisions 1.7, 2.1, 2.2). */
import { DESCRIPTION } from '../../platform/store/field-words.js';

const DRAWN = { position: 'Where a console draws it. It has no effect.' } as const;
const DESCRIBED = { description: 'What it is for, for people. It has no effect.' } as const;

export const POSITION_WORDS = { x: 'From the left, in units of the drawing.', y: 'From the top, in units of the drawing.' } as const;

export const CHART_STEP_WORDS = {
  ...DESCRIBED,
  ...DRAWN,
  name: ['Name of the step, once in the chart: a letter, then letters, digits, _ and -. Conditions name its time <step>.T and whether it is active <step>.X.', 'charge'],
  initial: 'True: the chart begins here. One step of a chart with transitions is initial.',
  actionST: ['What the step does, statements in structured text. Empty: nothing.', "WRITE('inlet.cmd', TRUE);"],
  actionMode: 'once: the action runs to its end once each time the step is entered. cyclic: it runs in every scan and must not wait.',
  timeout: ['How long the step may be active: a duration. Empty: without end.', '30s', '5m'],
  onTimeout: 'What happens to the phase when that time is over.',
  pauseAllowed: 'False: the phase does not pause while the step is active.',
  rerunOnRestart: 'True: after a restart of the held phase the action runs again from its beginning.',
  secondSigner: 'True: what people answer in this step counts when a second person has confirmed it beside them.',
} as const;

export const TRANSITION_WORDS = {
  ...DESCRIBED,
  ...DRAWN,
  from: ['Step, or name of a converging branch, that is left.', 'charge'],
  to: ['Step, or name of a diverging branch, that is entered.', 'heat'],
  conditionST: ['Condition in structured text, one expression of type BOOL. Empty: TRUE as soon as the step has finished.', "READ('level.pv') >= amount", 'charge.T > T#10s'],
} as const;

export const DIVERGENCE_WORDS = {
  ...DESCRIBED,
  ...DRAWN,
  name: ['Name of the branching, once among steps and branchings.', 'both'],
  type: 'SimultaneousDiverge: all branches begin together; SimultaneousConverge: they end together; SelectionDiverge and SelectionConverge: drawing of a choice among transitions.',
  branches: ['Names of the steps with which the branches begin, or end.', ['charge-a', 'charge-b']],
  from: 'Of SelectionDiverge: the step that is left.',
  to: 'Of SelectionConverge: the step that is entered.',
} as const;

export const PHASE_CHART_WORDS = {
  steps: 'Steps of the chart.',
  transitions: 'How steps follow each other. Of the transitions of a step the first whose condition is TRUE fires. Without transitions the steps run in their order.',
  divergences: 'Branchings of the chart.',
} as const;

export const PHASE_CHARTS_WORDS = {
  holding: 'Chart that runs when the phase is held, before it is Held.',
  restarting: 'Chart that runs when the held phase is restarted, before it goes on.',
  stopping: 'Chart that runs when the phase is stopped.',
  aborting: 'Chart that runs when the phase is aborted.',
  resetting: 'Chart that runs when the ended phase is reset to Idle.',
} as const;

export const STEP_BINDING_WORDS = {
  name: ['Parameter of what the step stands for.', 'amount'],
  from: ['Parameter of the element that holds the chart (of a recipe: of its formula), or <step>.<output> of a step of the chart. Either this or value.', 'monomer', 'weigh.net'],
  value: ['Constant, as text. Either this or from.', '250'],
} as const;

export const PROCEDURAL_STEP_WORDS = {
  ...DESCRIBED,
  ...DRAWN,
  name: ['Name of the step, once in the chart: a letter, then letters, digits, _ and -.', 'charge'],
  initial: 'True: the chart begins here. One step of a chart with transitions is initial.',
  templateRef: ['Name of the template that the step stands for. Either this or subChart.', 'charge-monomer'],
  templateKind: 'Kind of that template.',
  subChart: 'Chart of the next lower level that the step stands for, without a template.',
  stepLevel: 'Level of the step: charts of recipes and procedures hold unit procedures, those hold operations, those hold phases.',
  targetCapability: ['Of a unit procedure: capability that its unit must have. Left out: the name of the step.', 'reactor'],
  parameterBindings: 'Where the parameters come from. One that is left out takes the parameter of the same name of the element around it, else its default.',
  roleMap: ['Of a phase: roles of its template to roles of the unit.', { inlet: 'monomer-inlet' }],
  timeoutSeconds: ['How long the element may take, in seconds. 0: without end.', 3600],
} as const;

export const PROCEDURAL_CHART_WORDS = {
  ...PHASE_CHART_WORDS,
  transitions: 'How steps follow each other. A condition is looked at when the step before it is Complete. Without transitions the steps run in their order.',
} as const;

const TYPE = { type: 'Type of the value.' } as const;
const UNIT = { unit: ['Engineering unit, for people.', 'kg', '°C'] } as const;

export const PARAMETER_WORDS = {
  ...TYPE,
  ...UNIT,
  name: ['Name of the parameter, an identifier, once among parameters, outputs and variables.', 'amount'],
  description: 'What the parameter is, for people.',
  defaultValue: ['Value where none is given, as text. Empty: none.', '250', 'TRUE', 'T#5m'],
  required: 'True: a value must be given.',
  min: ['Lowest value, a number in text. Empty: no limit.', '0'],
  max: ['Highest value, a number in text. Empty: no limit.', '500'],
  choices: ['Of a STRING: the texts that it may be. Empty: any.', ['fast', 'slow']],
} as const;

export const OUTPUT_WORDS = {
  ...TYPE,
  ...UNIT,
  name: ['Name of the output, an identifier. Charts give it its value by this name.', 'net'],
  description: 'What the output is, for people.',
  from: ['Of an operation or unit procedure: <step>.<output> that it is taken from.', 'weigh.net'],
} as const;

export const ROLE_WORDS = {
  name: ['Name of the role, an identifier. Charts write <role>.<tag>.', 'inlet'],
  requiredType: ['Module type that a control module must have to play it.', 'valve-on-off'],
  description: 'What plays the role, for people.',
  required: 'False: the unit may leave the role unbound; a chart that uses it then fails.',
} as const;

export const VARIABLE_WORDS = {
  ...TYPE,
  name: ['Name of the variable, an identifier.', 'done'],
  initial: ['Value with which it begins, as text. Left out: it has none until a chart gives it one.', '0', 'FALSE'],
  description: 'What the variable is, for people.',
} as const;

export const MATERIAL_WORDS = {
  ...UNIT,
  direction: 'input: the phase consumes it. output: the phase makes it.',
  material: ['Parameter of type STRING that names the material.', 'material'],
  lot: ['Parameter of type STRING that names the lot. Empty: of an output the lot of the batch, of an input unknown.', 'lot'],
  quantity: ['Output of type REAL that tells how much.', 'net'],
} as const;

export const PARAMETER_VALUE_WORDS = {
  name: ['Name of the parameter.', 'amount'],
  value: ['Its value as text.', '250'],
  unit: 'Engineering unit of the value.',
  source: 'Where the value comes from.',
  sourceRef: 'What gave it: the formula, the work order or whoever entered it.',
} as const;

const PARAMETERS = {
  parameters: 'Values that it takes.',
} as const;
const OUTPUTS = { outputs: 'Values that it tells when it has ended.' } as const;

export const PHASE_TEMPLATE_WORDS = {
  ...DESCRIPTION,
  ...PARAMETERS,
  ...OUTPUTS,
  ...PHASE_CHART_WORDS,
  roles: 'Control modules that the charts work with, by the roles that they play. Units say which module plays which.',
  variables: 'Variables of the charts.',
  materials: 'What the phase consumes and makes, for the record of the batch.',
  charts: 'The charts of the other states.',
  timeoutSeconds: ['How long one run of the running chart may take, in seconds. 0: without end.', 1800],
  restartStep: ['Step with which the running chart goes on after a restart. Empty: where it was.', 'charge'],
  edgeLocalHold: 'True: the unit runs the holding chart by itself when nobody is heard any more.',
  autoRestartWithinSeconds: 'Withdrawn. It is read and has no effect: a restart of the box starts nothing.',
} as const;

export const PROCEDURE_TEMPLATE_WORDS = { ...DESCRIPTION, ...PARAMETERS, chart: 'Its steps, and how they follow each other.' } as const;

export const SEQUENCE_TEMPLATE_WORDS = {
  ...PROCEDURE_TEMPLATE_WORDS,
  ...OUTPUTS,
  category: 'process: runs within batches only. equipment: operators may also run it by hand on a unit.',
  timeoutSeconds: ['How long it may take from entering Running, times of Held and Paused included, in seconds. 0: without end.', 7200],
} as const;

export const PARENT_WORDS = { kind: 'Kind of the element that it belongs to.', name: 'Name of that element.' } as const;

export const ELEMENT_WORDS = {
  templateRef: ['Name of the template that it was made of. Empty: none.', 'charge'],
  batchRef: ['Name of the batch that it belongs to. Empty: none.', 'b-2041'],
  parentRef: 'Element that it belongs to. null: it is a root.',
  stepName: 'Step of the chart above that it stands for.',
  stepPath: ['Path of steps from the root.', 'makeResin/charge/monomer'],
  roleMap: ['Roles of the template to roles of the unit.', { inlet: 'monomer-inlet' }],
  parameterValues: 'The values of its parameters.',
  mode: 'Mode in which it begins. Empty: Automatic.',
} as const;

export const ON_UNIT_WORDS = { unitRef: ['Name of the unit that it runs on. Empty: none yet.', 'reactor-1'] } as const;
