/**
 * A function-block network as structured text (decisions 4.7). Invariant: lowering the text gives the same blocks in the
 * same order, the same connections, the name and the scan interval, and the inputs and outputs with the ports they lead to.
 */
import { type DataType, iecType } from '../vocabulary/data-types.js';
import type { BlockSpec, Connection, ParamValue, VariableBinding } from '../vocabulary/network.js';
import { type BlockCatalog, type BlockMetadata, genericType, type GenericType, hasOpenOutput, named, textName } from './block-catalog.js';
import { IDENTIFIER_MAX, isIdentifier } from './lexer.js';
import { isIoBuiltin } from './lower-expression.js';
import { type NetworkInput, type NetworkOutput, SCAN_INTERVAL_DEFAULT } from './lower.js';
import { CONTINUATION, NAME_MARK } from './network-comments.js';
import { printReal, printString } from './print.js';
import { parseTimeText, printTime } from './time-text.js';
import { parseDecimal, parseInteger, parseValueText, printValue } from './value-text.js';

export interface PrintableNetwork {
  readonly name: string;
  readonly description?: string;
  readonly scanInterval?: string;
  readonly blocks: readonly BlockSpec[];
  readonly connections: readonly Connection[];
  /** Inputs and the ports they are bound to; printed as VAR_INPUT. Their names must be printable (`isPrintableName`). */
  readonly inputs?: readonly NetworkInput[];
  readonly variableBindings?: readonly VariableBinding[];
  /** Names of output ports; printed as VAR_OUTPUT. */
  readonly outputs?: readonly NetworkOutput[];
}

/** A variable may have any name that is no word of the language. */
export function isPrintableName(name: string): boolean {
  return isIdentifier(name) && !isIoBuiltin(name);
}

export function printNetwork(network: PrintableNetwork, catalog: BlockCatalog): string {
  const { inputs = [], outputs = [], variableBindings = [] } = network;
  const names = identifiers(
    network.blocks,
    [...inputs, ...outputs].map(({ name }) => name),
  );
  const incoming = new Map<string, Feed[]>(network.blocks.map(({ name }) => [name, []]));
  for (const { destBlock, destPort, sourceBlock, sourcePort } of network.connections)
    incoming.get(destBlock)?.push({ port: destPort, source: `${names.get(sourceBlock) ?? sourceBlock}.${sourcePort}` });
  for (const { variable, blockRef, portRef } of variableBindings) {
    const feeds = incoming.get(blockRef);
    // a connection goes before a binding (decisions 5.1 rule 2)
    if (!feeds?.some(({ port }) => port.toLowerCase() === portRef.toLowerCase())) feeds?.push({ port: portRef, source: variable });
  }
  const lines = [
    headerLine('name', network.name),
    ...(network.description ? [headerLine('description', network.description)] : []),
    headerLine('scanInterval', network.scanInterval || SCAN_INTERVAL_DEFAULT),
    `PROGRAM ${programName(network.name)}`,
    ...section('VAR_INPUT', inputs.map(inputLine)),
    ...section(
      'VAR_OUTPUT',
      outputs.map(({ name, dataType }) => `  ${name} : ${iecType(dataType) ?? 'REAL'};`),
    ),
    'VAR',
    ...network.blocks.map((block) => declarationLine(block, names, catalog(block.type))),
    'END_VAR',
    ...network.blocks.flatMap((block) => callLines(block, incoming.get(block.name) ?? [], names, catalog(block.type))),
    ...outputs.map(({ name, blockRef, portRef }) => `  ${name} := ${names.get(blockRef) ?? blockRef}.${portRef};`),
    'END_PROGRAM',
    '',
  ];
  return lines.join('\n');
}

/** What an input is called with: an output of a block, or a variable. */
interface Feed {
  readonly port: string;
  readonly source: string;
}

function section(word: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [word, ...lines, 'END_VAR'];
}

function inputLine({ name, dataType, defaultValue = '' }: NetworkInput): string {
  const type = iecType(dataType) ?? 'REAL';
  return `  ${name} : ${type}${defaultValue === '' ? '' : ` := ${printInitial(type, defaultValue)}`};`;
}

function printInitial(type: DataType, text: string): string {
  const value = parseValueText(type, text);
  if (type === 'REAL') return printReal(Number(value));
  return type === 'STRING' ? printString(text) : printValue(type, value);
}

/** One line; the end mark of a comment inside the text is broken up. */
function headerLine(key: string, text: string): string {
  const oneLine = text.split('\r\n').join(' ').split('\n').join(' ').split('\r').join(' ');
  return `(* ${key}: ${oneLine.split('*)').join('* )')} *)`;
}

function isWordCharacter(character: string): boolean {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || (character >= '0' && character <= '9') || character === '_';
}

function words(text: string): string {
  return [...text].map((character) => (isWordCharacter(character) ? character : '_')).join('');
}

function programName(name: string): string {
  const plain = words(name);
  const safe = plain !== '' && !/^[0-9]/.test(plain) ? plain : `p_${plain}`;
  const cut = safe.slice(0, IDENTIFIER_MAX);
  return isIdentifier(cut) ? cut : `p_${cut}`.slice(0, IDENTIFIER_MAX);
}

/** A name for every block that can be written as an identifier and is unique without regard to case, also beside the variables. */
function identifiers(blocks: readonly BlockSpec[], variables: readonly string[]): Map<string, string> {
  const taken = new Set<string>(variables.map((name) => name.toLowerCase()));
  const names = new Map<string, string>();
  const take = (name: string, identifier: string): void => {
    taken.add(identifier.toLowerCase());
    names.set(name, identifier);
  };
  for (const { name } of blocks) if (isIdentifier(name) && !taken.has(name.toLowerCase())) take(name, name);
  for (const { name } of blocks) {
    if (names.has(name)) continue;
    const stem = `b_${words(name)}`.slice(0, IDENTIFIER_MAX - 8);
    let identifier = stem;
    for (let count = 2; taken.has(identifier.toLowerCase()); count += 1) identifier = `${stem}_${count}`;
    take(name, identifier);
  }
  return names;
}

function declarationLine({ name, type, params = {} }: BlockSpec, names: ReadonlyMap<string, string>, metadata: BlockMetadata | undefined): string {
  const ports = [...(metadata?.params ?? []), ...(metadata?.inputs ?? [])];
  const order = (key: string): number => {
    const index = ports.findIndex((port) => port.name.toLowerCase() === key.toLowerCase());
    return index < 0 ? ports.length : index;
  };
  const open = metadata !== undefined && hasOpenOutput(metadata);
  const presets = Object.entries(params)
    .toSorted(([a], [b]) => order(a) - order(b))
    .map(([key, value]) => {
      const port = genericType(named(ports, key)?.type ?? 'ANY');
      return `${key} := ${(open && typeof value === 'string' ? plainReal(port, value) : null) ?? printParam(port, value)}`;
    });
  const identifier = names.get(name) ?? name;
  const given = presets.length > 0 ? ` := (${presets.join(', ')})` : '';
  const mark = identifier === name ? '' : ` (* ${NAME_MARK} ${name} *)`;
  return `  ${identifier} : ${textName(type)}${given};${mark}`;
}

/** Numbers of REAL ports show a decimal point; texts keep their text, canonical times stand as TIME literals. */
function printParam(type: GenericType, value: ParamValue): string {
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'string') return printTextParam(type, value);
  return type === 'REAL' || !Number.isSafeInteger(value) ? printReal(value) : String(value);
}

function printTextParam(type: GenericType, text: string): string {
  if (type === 'STRING') return printString(text);
  const ms = parseTimeText(text);
  if (ms !== null && printTime(ms) === text) return text;
  const integer = type === 'REAL' ? null : parseInteger(text);
  // numbers beyond 2^53 are texts in params and INT literals here
  if (integer !== null && String(integer) === text && !Number.isSafeInteger(Number(integer))) return text;
  return printString(text);
}

/** A whole REAL is text in params where JSON would show an INT, and a REAL literal here; null for every other text. */
function plainReal(type: GenericType, text: string): string | null {
  const plain = type === 'ANY' && text.startsWith('REAL#') ? text.slice(5) : type === 'NUM' ? text : '';
  const value = parseDecimal(plain);
  return value !== null && Number.isSafeInteger(value) && printReal(value) === plain ? plain : null;
}

function callLines({ name, comment = '' }: BlockSpec, incoming: readonly Feed[], names: ReadonlyMap<string, string>, metadata: BlockMetadata | undefined): string[] {
  const inputs = metadata?.inputs ?? [];
  const order = (port: string): number => {
    const index = inputs.findIndex((input) => input.name.toLowerCase() === port.toLowerCase());
    return index < 0 ? inputs.length : index;
  };
  const args = incoming.toSorted((a, b) => order(a.port) - order(b.port)).map(({ port, source }) => `${port} := ${source}`);
  const call = `  ${names.get(name) ?? name}(${args.join(', ')});`;
  if (comment === '') return [call];
  const [first, ...further] = comment.split('\r\n').join('\n').split('\r').join('\n').split('\n');
  return [`${call} // ${first}`, ...further.map((line) => `  //${CONTINUATION}${line}`)];
}
