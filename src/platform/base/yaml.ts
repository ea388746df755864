/**
 * YAML 1.2, core schema, as what it stands for: JSON. The one place that knows the library.
 *
 * A document of a plant is read strictly: no key twice, no tag that this product does not know, no number that JSON cannot write, aliases
 * only as far as they do not unfold without end, nothing that holds itself, and nothing nested deeper than JSON may be.
 */
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parse,
  Parser,
  type ParsedNode,
  stringify,
  visit,
} from 'yaml';
import { DEPTH_MAX } from './nesting.js';

export type YamlDocument = Document<ParsedNode>;

/** As settings are read: one document, as lenient as the library. */
export const parseSettings: (text: string) => unknown = (text) => parse(text) as unknown;

/** Where a text is wrong; lines and columns from 1. */
export class YamlFault extends Error {
  readonly line: number;
  readonly column: number;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.name = 'YamlFault';
    this.line = line;
    this.column = column;
  }
}

export interface ReadDocument {
  readonly document: YamlDocument;
  readonly value: unknown;
  /** Of an offset into the text. */
  readonly placeAt: (offset: number) => Place;
}

export interface Place {
  readonly line: number;
  readonly column: number;
}

const ALIASES_MAX = 100;
/** Keys that are no texts or are there twice are found by ourselves (`refuseNotJson`): the library compares each with each. */
const OPTIONS = { version: '1.2', schema: 'core', uniqueKeys: false, prettyErrors: false } as const;

/**
 * The documents of a text; empty ones (a comment, a lone `---`) are left out.
 * @throws YamlFault of the first place that is wrong.
 */
export function readDocuments(text: string): readonly ReadDocument[] {
  const lines = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer<ParsedNode>({ ...OPTIONS, lineCounter: lines });
  const documents = [...composer.compose(shallow(parser.parse(text), placeAt))];
  return documents.flatMap((document) => {
    const [wrong] = [...document.errors, ...document.warnings];
    if (wrong) throw faultAt(withRemedy(wrong.message, placeAt(wrong.pos[0])), placeAt(wrong.pos[0]));
    const value = valueOf(document, placeAt);
    return value === null && !document.contents?.range?.some((at, n) => n > 0 && at > (document.contents?.range?.[0] ?? 0)) ? [] : [{ document, value, placeAt }];
  });
}

/** Looked at before the library follows it, call within call. */
function* shallow(tokens: Iterable<CST.Token>, placeAt: (offset: number) => Place): Generator<CST.Token> {
  for (const token of tokens) {
    const open: [token: CST.Token, depth: number][] = [[token, 0]];
    for (let next = open.pop(); next; next = open.pop()) {
      const [at, depth] = next;
      if (at.type === 'document') {
        if (at.value) open.push([at.value, depth]);
        continue;
      }
      if (!('items' in at)) continue;
      if (depth === DEPTH_MAX) throw tooDeep(placeAt(at.offset));
      for (const item of at.items) {
        if (item.key) open.push([item.key, depth + 1]);
        if (item.value) open.push([item.value, depth + 1]);
      }
    }
    yield token;
  }
}

function tooDeep(place: Place): YamlFault {
  return faultAt(`it is nested deeper than ${DEPTH_MAX} levels`, place);
}

/** What aliases make of it: a circle would have no end, and one that stands deep may hold what is deep itself. */
class Unfolded {
  readonly #placeAt: (offset: number) => Place;
  /** The last that has the name, as far as the text was read. */
  readonly #anchors = new Map<string, unknown>();
  readonly #heights = new Map<unknown, number>();
  readonly #open = new Set<unknown>();

  constructor(placeAt: (offset: number) => Place) {
    this.#placeAt = placeAt;
  }

  /** @returns how many levels are in it. @throws YamlFault */
  heightOf(node: unknown, depth = 0): number {
    if (isPair(node)) return Math.max(this.heightOf(node.key, depth), this.heightOf(node.value, depth));
    if (isAlias(node)) return this.#heightOfAlias(node, depth);
    if (!isNode(node)) return 0;
    if ('anchor' in node && typeof node.anchor === 'string') this.#anchors.set(node.anchor, node);
    if (!isCollection(node)) return 0;
    this.#open.add(node);
    let height = 0;
    for (const item of node.items) height = Math.max(height, this.heightOf(item, depth + 1));
    this.#open.delete(node);
    this.#heights.set(node, height + 1);
    return height + 1;
  }

  #heightOfAlias({ source, range }: { readonly source: string; readonly range?: readonly number[] | null | undefined }, depth: number): number {
    const meant = this.#anchors.get(source);
    const place = this.#placeAt(range?.[0] ?? 0);
    if (this.#open.has(meant)) throw faultAt(`*${source} stands within &${source}: it would hold itself without end`, place);
    const height = this.#heights.get(meant) ?? 0;
    if (depth + height > DEPTH_MAX) throw tooDeep(place);
    return height;
  }
}

function valueOf(document: YamlDocument, placeAt: (offset: number) => Place): unknown {
  try {
    new Unfolded(placeAt).heightOf(document.contents);
    const value = document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown;
    refuseNotJson(document.contents, placeAt);
    return value;
  } catch (fault) {
    if (fault instanceof YamlFault) throw fault;
    throw faultAt((fault as Error).message, placeAt(document.contents?.range?.[0] ?? 0));
  }
}

/** `.inf`, `.nan`, keys that are no texts, and those that are there twice. */
function refuseNotJson(node: unknown, placeAt: (offset: number) => Place): void {
  if (isScalar(node)) {
    if (typeof node.value === 'number' && !Number.isFinite(node.value)) throw faultAt('a number must be finite', placeAt(node.range?.[0] ?? 0));
  } else if (isPair(node)) {
    const { key } = node;
    if (!isScalar(key) || (typeof key.value !== 'string' && typeof key.value !== 'number' && typeof key.value !== 'boolean'))
      throw faultAt('a key must be a text', placeAt((isNode(key) && key.range?.[0]) || 0));
    refuseNotJson(node.value, placeAt);
  } else if (isCollection(node)) {
    const keys = new Set<string>();
    for (const item of node.items) {
      refuseNotJson(item, placeAt);
      if (!isPair(item)) continue;
      const key = String((item.key as { readonly value?: unknown }).value);
      if (keys.has(key))
        throw faultAt(
          `Map keys must be unique${OF_EACH.has(key) ? `: is a --- missing between two manifests? (${key} stands here twice)` : ''}`,
          placeAt((isNode(item.key) && item.key.range?.[0]) || 0),
        );
      keys.add(key);
    }
  }
}

/** Members that each manifest has once, at its head. */
const OF_EACH: ReadonlySet<string> = new Set(['apiVersion', 'kind']);

/** What is wrong most often where the library says this. */
function withRemedy(message: string, { line }: Place): string {
  return message.startsWith('Nested mappings are not allowed in compact mappings') ? `${message}: is line ${line} indented like its neighbours?` : message;
}

function faultAt(message: string, { line, column }: Place): YamlFault {
  return new YamlFault(message, line, column);
}

/** Long texts as blocks, nothing folded, members in the order given: the same value gives the same text. */
export function yamlText(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Each alias becomes a copy of what it stands for, and no anchor is left. */
export function writeOutAliases(document: YamlDocument): void {
  visit(document, {
    // of what comes out of an alias the aliases inside are visited in turn; one that would hold itself was refused when it was read
    Alias: (_key, alias) => alias.resolve(document)?.clone() as ParsedNode | undefined,
  });
  visit(document, {
    Node: (_key, node) => {
      if (!isAlias(node)) delete node.anchor;
    },
  });
}

/** As it stands, with the comments of its author. */
export function documentText(document: YamlDocument): string {
  return document.toString({ lineWidth: 0 });
}

export { isMap, isScalar, isSeq };
