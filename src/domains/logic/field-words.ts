/** What the fields of control logic mean (contract 3, Control program and Logic transforms; decisions 1.6). */
import { DESCRIPTION, SCAN_INTERVAL_EXAMPLES } from '../../platform/store/field-words.js';

export const STRUCTURED_TEXT = {
  structuredText: 'Logic as structured text instead of blocks and their connections. It is compiled when it is written, and only the blocks are stored.',
} as const;

export const BLOCK_WORDS = {
  name: ['Name of the block, once in the network.', 'pid1'],
  type: ['Type of the block: one of the built-in types (reference of blocks), or the name of a function block type.', 'AI', 'PID', 'AND'],
  params: [
    'Parameters of the type, by name, and constants of inputs that nothing is connected to. Values are texts, numbers or true and false; times are texts such as T#5s.',
    { kp: 2, ti: 'T#30s' },
  ],
  comment: 'What the block is for, for people. It has no effect.',
} as const;

export const BLOCK_CONNECTION_WORDS = {
  sourceBlock: ['Block that gives the value.', 'ai1'],
  sourcePort: ['Its output.', 'OUT'],
  destBlock: ['Block that takes the value.', 'pid1'],
  destPort: ['Its input. An input takes one connection.', 'PV'],
} as const;

export const VARIABLE_BINDING_WORDS = {
  variable: ['Name of the variable, or of the input of the template.', 'setpoint'],
  blockRef: ['Name of the block.', 'pid1'],
  portRef: ['Name of its port.', 'SP'],
} as const;

const DATA_TYPE = { dataType: 'Type of the value. Both vocabularies mean the same: Boolean is BOOL, Integer INT, Float REAL, String STRING, Time TIME.' } as const;
export const DATA_TYPE_WORDS = DATA_TYPE;

export const BLOCK_PORT_WORDS = {
  ...DATA_TYPE,
  name: ['Name of the port, an identifier.', 'PV'],
  defaultValue: ['Value of an input that nothing is connected to, as text.', '0', 'TRUE'],
  description: 'What the port is, for people.',
} as const;

export const BLOCK_PARAM_WORDS = {
  ...DATA_TYPE,
  name: ['Name of the parameter, an identifier.', 'gain'],
  defaultValue: ['Its value where a block names none, as text.', '1'],
  required: 'True: every block of the type must give it.',
  description: 'What the parameter is, for people.',
} as const;

export const PORT_BINDING_WORDS = {
  port: ['Port of the type. An input may feed several inner ones; an output is fed by one.', 'PV'],
  blockRef: ['Name of the inner block.', 'pid1'],
  portRef: ['Name of its port.', 'PV'],
} as const;

export const PARAM_BINDING_WORDS = {
  param: ['Parameter of the type.', 'gain'],
  blockRef: ['Name of the inner block.', 'pid1'],
  blockParam: ['Parameter of the inner block that takes its value.', 'kp'],
} as const;

export const FUNCTION_BLOCK_TYPE_WORDS = {
  ...DESCRIPTION,
  ...STRUCTURED_TEXT,
  inputs: 'Inputs of the type.',
  outputs: 'Outputs of the type.',
  params: 'Parameters of the type.',
  blocks: 'The blocks that the type is made of. Types may be nested eight deep and never hold themselves.',
  connections: 'How the inner blocks are connected.',
  inputBindings: 'Which inner ports an input of the type feeds.',
  outputBindings: 'Which inner port feeds an output of the type.',
  paramBindings: 'Which inner parameters take the value of a parameter of the type.',
} as const;

export const PROGRAM_VARIABLE_WORDS = {
  ...DATA_TYPE,
  name: ['Name of the variable, an identifier. Outputs, local variables and inputs without source are tags <program>.<variable>.', 'demand'],
  direction: 'input, output or local, in any case of letters.',
  source: ['Of an input: the tag of the same unit that feeds it, <controlModule>.<tag>. Without it the variable is a tag that can be written.', 'tic-1.pv'],
} as const;

export const CONTROL_PROGRAM_WORDS = {
  unitRef: ['Name of the unit that runs the program.', 'reactor-1'],
  scanInterval: ['How often the program is scanned: a duration from 10ms to 10s, or a number of milliseconds.', ...SCAN_INTERVAL_EXAMPLES],
  blocks: 'The function blocks of the program.',
  connections: 'How the blocks are connected. It is served as dataConnections.',
  variables: 'Variables by which the program takes values and gives them away.',
  variableBindings: 'Which port of which block a variable stands for.',
} as const;
