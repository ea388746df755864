/**
 * Node ids as text (OPC 10000-6, 5.3.1.10), with the place of an array element behind `|` (decisions 7.4): which of them name the same node. No library
 * behind it, since the gateway asks before a server is.
 */
import { type Parsed, parsed, refused } from '../description.js';
import { type Cell, isShared, whole, within } from '../place.js';

const NODE_TEXT = /^(?:ns=(?<index>\d{1,9});|nsu=(?<uri>[^;]+);)?(?<kind>[isgb])=(?<value>.+?)(?:\|(?<element>\d{1,9}))?$/s;
const STRING_LENGTH_MAX = 4096;
const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NUMBER = /^\d{1,10}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const NAMESPACE_MAX = 0xffff;
const NUMBER_MAX = 0xffffffff;
/** The namespace with the index 0 in every server (OPC 10000-3, 8.2.2). */
const STANDARD_URI = 'http://opcfoundation.org/UA/';

interface NodeText {
  /** Its index, or its URI, which a server may have at any index. */
  readonly namespace: number | string;
  /** With its kind, in the one spelling that we take. */
  readonly identifier: string;
  /** '' for the whole value. */
  readonly element: string;
  /** The whole text in that spelling. */
  readonly text: string;
}

function read(text: string): NodeText | undefined {
  const { index, uri, kind = '', value = '', element = '' } = NODE_TEXT.exec(text)?.groups ?? {};
  const plain = valueIn(kind, value);
  if (plain === undefined || Number(index ?? 0) > NAMESPACE_MAX) return undefined;
  const namespace = uri === undefined ? Number(index ?? 0) : uri === STANDARD_URI ? 0 : uri;
  const identifier = `${kind}=${plain}`;
  const place = element === '' ? '' : String(Number(element));
  const prefix = index === undefined ? '' : `ns=${Number(index)};`;
  return { namespace, identifier, element: place, text: `${uri === undefined ? prefix : `nsu=${uri};`}${identifier}${place === '' ? '' : `|${place}`}` };
}

function valueIn(kind: string, value: string): string | undefined {
  switch (kind) {
    case 'i':
      return NUMBER.test(value) && Number(value) <= NUMBER_MAX ? String(Number(value)) : undefined;
    case 's':
      return value.length <= STRING_LENGTH_MAX ? value : undefined;
    case 'g': {
      const lower = value.toLowerCase();
      return GUID.test(lower) ? lower : undefined;
    }
    default:
      return BASE64.test(value) ? canonicalBase64(value) : undefined;
  }
}

/** The last character may carry bits that mean nothing, and the padding may be left out. */
function canonicalBase64(value: string): string | undefined {
  const digits = value.replace(/=+$/, '');
  if (digits.length % 4 === 1) return undefined;
  try {
    return btoa(atob(digits));
  } catch {
    return undefined;
  }
}

/** Refuses what is no node id, and a second spelling of one: zeros before a number, bytes without their padding. Letters of a GUID may be of either case. */
export function parseNodeText(text: string): Parsed<NodeText> {
  const node = read(text);
  if (!node) return refused(`${text} is not a node id such as ns=2;s=Reactor.Temp`);
  const isSpelledSo = node.text === text || (node.identifier.startsWith('g=') && node.text.toLowerCase() === text.toLowerCase());
  return isSpelledSo ? parsed(node) : refused(`${text} is written ${node.text}`);
}

/** Cells of a node, or of an element of its value (ADR 0085); none of a text that is no node id. */
export function nodeCells(text: string): readonly Cell[] {
  const node = read(text);
  return node ? cellsOf(node) : [];
}

/** Of nodes that name their namespaces alike these cells are enough; the others are for one that does by index and one that does by URI. */
function cellsOf(node: NodeText): readonly Cell[] {
  const { namespace, identifier, element } = node;
  const array = `${namespace};${identifier}`;
  const own = element === '' ? [whole(array)] : [within(array), whole(`${array}|${element}`)];
  return namespace === 0 ? own : [...own, ...cellsByOtherName(node)];
}

/**
 * Only the server knows which index is which URI: one identifier that is named both ways counts as one node. Two whole nodes, or a whole one and an element, meet
 * in the cell of the one that is whole; two elements in that of their place.
 */
function cellsByOtherName({ namespace, identifier, element }: NodeText): readonly Cell[] {
  const [own, other] = typeof namespace === 'number' ? ['ns', 'nsu'] : ['nsu', 'ns'];
  const inWholeOfOther = within(`${other}=?;${identifier}`, 'other name');
  return element === '' ? [within(`${own}=?;${identifier}`, 'own name'), inWholeOfOther] : [inWholeOfOther, within(`?;${identifier}|${element}`, own)];
}

/** Whether two texts name the same node of a server: `same`; `part` where one is an element of the array that the other is. They are one, or overlap, where their cells do. */
export function compareNodes(a: string, b: string): 'same' | 'part' | 'other' {
  if (a === b) return 'same';
  const [one, other] = [read(a), read(b)];
  if (!one || !other) return 'other';
  const cells = cellsOf(other);
  const meet = cellsOf(one).some((mine) => cells.some((theirs) => mine.cell === theirs.cell && isShared(mine, theirs)));
  if (!meet) return 'other';
  return one.element === other.element ? 'same' : 'part';
}
