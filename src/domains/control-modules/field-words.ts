/** What the fields of control modules and their templates mean (contract 3, Control module; decisions 1.5, 1.6). */
import { DESCRIPTION, SCAN_INTERVAL_EXAMPLES } from '../../platform/store/field-words.js';
import { DATA_TYPE_WORDS, STRUCTURED_TEXT } from '../logic/field-words.js';

const ENGINEERING_WORDS = {
  engMin: ['Lowest value that may be written, as text: a number, a parameter <block>.<param>, or `${…}` over both. Empty: no limit.', '0', 'ai1.engMin'],
  engMax: ['Highest value that may be written, as text: a number, a parameter <block>.<param>, or `${…}` over both. Empty: no limit.', '100', 'ai1.engMax'],
  engUnits: ['Engineering unit of the value, for people.', '°C', 'm3/h'],
} as const;

export const TEMPLATE_TAG_WORDS = {
  ...DATA_TYPE_WORDS,
  ...ENGINEERING_WORDS,
  name: ['Name of the tag: a letter, then letters, digits, _ and -. Its address is <controlModule>.<tag>.', 'pv'],
  accessLevel: 'read: the tag cannot be written. readwrite: people and charts may write it.',
  blockRef: ['Block whose port the tag stands for. It goes with portRef.', 'pid1'],
  portRef: ['Port of that block. A tag that is written stands for an input that nothing is connected to, or overrides an output.', 'SP'],
  channel: [
    'Channel of an I/O module, <ioModule>:<address>. It sets addr of the channel block that the tag stands for. Without a block the tag is the value of the device itself.',
    'plc-1:holding:100',
  ],
  role: 'What the tag is for the device. One tag of a module may have the role state.',
  publishMode: 'cyclic: a value that is not told again becomes stale. onChange: it is told when it changes and does not become stale by age. Empty: cyclic.',
  maxAge: [
    'Greatest age of the sample behind the tag: a condition, an input or an alarm that reads an older one takes it as not valid. The quality of the tag stays as it is reported. For a measured tag that is read cyclically. Empty: no limit but staleAfter of the I/O module.',
    '5s',
  ],
  trueLabel: ['Word for TRUE. Empty: TRUE, of an alarm Active.', 'Open'],
  falseLabel: ['Word for FALSE. Empty: FALSE, of an alarm Normal.', 'Closed'],
  stateWords: ['Words that a tag of the role state may take. Empty: those of its device block.', ['Opened', 'Closed', 'Failed']],
} as const;

export const INSTANCE_TAG_WORDS = {
  ...TEMPLATE_TAG_WORDS,
  inherited: 'Served where the tag comes from the template. Such a tag is not sent back.',
} as const;

export const TEMPLATE_INPUT_WORDS = {
  ...DATA_TYPE_WORDS,
  name: ['Name of the input, an identifier. Each module of the template binds it to a tag or a value.', 'level'],
  defaultValue: ['Value of an input that a module does not bind, as text.', '0'],
  description: 'What the input is, for people.',
} as const;

export const TEMPLATE_PARAMETER_WORDS = {
  ...DATA_TYPE_WORDS,
  ...ENGINEERING_WORDS,
  name: ['Name of the parameter outside its block. A tunable one is the tag <controlModule>.par.<name>.', 'gain'],
  blockRef: ['Block that has the parameter.', 'pid1'],
  param: ['Name of the parameter in that block.', 'kp'],
  tunable: 'True: engineers may change it while the module runs, within its limits.',
  dataType: 'Type of the value. It is that of the block and need not be given.',
  description: 'What the parameter is, for people.',
} as const;

const SHARED = {
  measuredVariable: 'What the device measures. Empty: that of the template, or none.',
} as const;

export const TEMPLATE_WORDS = {
  ...DESCRIPTION,
  ...STRUCTURED_TEXT,
  ...SHARED,
  measuredVariable: 'What the device measures. Empty: nothing is said.',
  moduleType: ['Word for this type of module. Roles of phase templates ask for it.', 'valve-on-off'],
  deviceClass: 'What kind of device it is. Empty: other.',
  symbolId: ['Symbol that the console draws. Another word, or none, gives that of the device class.', 'valve-on-off', 'motor', 'pump', 'instrument-field'],
  scanInterval: ['How often modules of the template are scanned: a duration from 10ms to 10s. Empty: that of the unit.', ...SCAN_INTERVAL_EXAMPLES],
  inputs: 'Values that a module of the template takes from others.',
  tags: 'The tags that every module of the template has.',
  blocks: 'The function blocks of the logic.',
  dataConnections: 'How the blocks are connected.',
  variableBindings: 'Which port of which block an input of the template feeds.',
  parameters: 'Parameters of blocks that have a name outside, so that modules can differ in them.',
} as const;

export const INPUT_BINDING_WORDS = {
  name: ['Input of the template.', 'level'],
  source: ['Tag that feeds it, <controlModule>.<tag>. Either this or value.', 'lt-1.pv'],
  value: ['Constant that it has. Either this or source.', 50],
} as const;

export const PARAM_OVERRIDE_WORDS = {
  blockRef: ['Block of the template.', 'pid1'],
  param: ['Parameter of that block.', 'kp'],
  value: ['Value that it has in this module.', 2.5],
} as const;

export const MODULE_WORDS = {
  ...DESCRIPTION,
  ...SHARED,
  parentName: ['Name of the unit that the module belongs to, or of a module of that unit. Without a parent the module is stored and not run.', 'reactor-1'],
  parentKind: 'Kind of the parent.',
  templateRef: ['Name of the template that gives the module its logic and its tags.', 'valve-on-off'],
  symbolId: ['Symbol that the console draws. Empty: that of the template.', 'valve-on-off'],
  tags: 'Tags of this module alone, and what differs of the tags of the template, such as their channels.',
  inputBindings: 'What feeds the inputs of the template.',
  paramOverrides: 'Parameters of blocks that differ from the template.',
  mode: 'Mode of the module. Empty: Automatic. Operators change it by the mode route, and a PUT does not.',
} as const;
