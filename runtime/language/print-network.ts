/**
 * A function-block network as structured text (decisions 4.7). Invariant: lowering the text gives the same blocks in the
 * same order, the same connections, the name and the scan interval.
 */
import type { BlockSpec, Connection, ParamValue } from '../vocabulary/network.js';
import { type BlockCatalog, type BlockMetadata, genericType, type GenericType, hasOpenOutput, named, textName } from './block-catalog.js';
import { IDENTIFIER_MAX, isIdentifier } from './lexer.js';
import { SCAN_INTERVAL_DEFAULT } from './lower.js';
import { CONTINUATION, NAME_MARK } from './network-comments.js';
import { printReal, printString } from './print.js';
import { parseTimeText, printTime } from './time-text.js';
import { parseDecimal, parseInteger } from './value-text.js';

export interface PrintableNetwork {
  readonly name: string;
  readonly description?: string;
  readonly scanInterval?: string;
  readonly blocks: readonly BlockSpec[];
  readonly connections: readonly Connection[];
}

export function printNetwork(network: PrintableNetwork, catalog: BlockCatalog): string {
  const names = identifiers(network.blocks);
  const incoming = new Map<string, Connection[]>(network.blocks.map(({ name }) => [name, []]));
  for (const connection of network.connections) incoming.get(connection.destBlock)?.push(connection);
  const lines = [
    headerLine('name', network.name),
    ...(network.description ? [headerLine('description', network.description)] : []),
    headerLine('scanInterval', network.scanInterval || SCAN_INTERVAL_DEFAULT),
    `PROGRAM ${programName(network.name)}`,
    'VAR',
    ...network.blocks.map((block) => declarationLine(block, names, catalog(block.type))),
    'END_VAR',
    ...network.blocks.flatMap((block) => callLines(block, incoming.get(block.name) ?? [], names, catalog(block.type))),
    'END_PROGRAM',
    '',
  ];
  return lines.join('\n');
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
  const safe = plain !== '' && !(plain[0] >= '0' && plain[0] <= '9') ? plain : `p_${plain}`;
  const cut = safe.slice(0, IDENTIFIER_MAX);
  return isIdentifier(cut) ? cut : `p_${cut}`.slice(0, IDENTIFIER_MAX);
}

/** A name for every block that can be written as an identifier and is unique without regard to case. */
function identifiers(blocks: readonly BlockSpec[]): Map<string, string> {
  const taken = new Set<string>();
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

function callLines({ name, comment = '' }: BlockSpec, incoming: readonly Connection[], names: ReadonlyMap<string, string>, metadata: BlockMetadata | undefined): string[] {
  const inputs = metadata?.inputs ?? [];
  const order = (port: string): number => {
    const index = inputs.findIndex((input) => input.name.toLowerCase() === port.toLowerCase());
    return index < 0 ? inputs.length : index;
  };
  const args = incoming
    .toSorted((a, b) => order(a.destPort) - order(b.destPort))
    .map(({ destPort, sourceBlock, sourcePort }) => `${destPort} := ${names.get(sourceBlock) ?? sourceBlock}.${sourcePort}`);
  const call = `  ${names.get(name) ?? name}(${args.join(', ')});`;
  if (comment === '') return [call];
  const [first, ...further] = comment.split('\r\n').join('\n').split('\r').join('\n').split('\n');
  return [`${call} // ${first}`, ...further.map((line) => `  //${CONTINUATION}${line}`)];
}
