/**
 * Node ids as text (OPC 10000-6, 5.3.1.10), with the place of an array element behind `|` (decisions 7.4): which of them name the same node. No library
 * behind it, since the gateway asks before a server is.
 */
import { type Parsed, parsed, refused } from '../description.js';

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

/**
 * Whether two texts name the same node of a server: `same`; `part` where one is an element of the array that the other is. One that names its namespace by
 * index and one that does by URI are taken as the same node: only the server knows better.
 */
export function compareNodes(a: string, b: string): 'same' | 'part' | 'other' {
  if (a === b) return 'same';
  const [one, other] = [read(a), read(b)];
  if (!one || !other || one.identifier !== other.identifier) return 'other';
  if (typeof one.namespace === typeof other.namespace && one.namespace !== other.namespace) return 'other';
  if (one.element === other.element) return 'same';
  return one.element === '' || other.element === '' ? 'part' : 'other';
}
