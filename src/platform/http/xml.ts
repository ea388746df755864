/**
 * XML answers (contract 1, Rules 6; decisions Q-MES-28). A document is a tree of plain values, so that what is exported can
 * be read in one place; the namespace is chosen with the form. Text that XML cannot carry is replaced, never refused.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Format, XML_MEDIA_TYPE } from './negotiate.js';
import { Reply } from './route.js';

export type XmlFormat = Exclude<Format, 'json'>;

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly content: string | Iterable<XmlElement>;
}

/** `false`, null and undefined leave the child out. */
type Child = XmlElement | readonly XmlElement[] | false | null | undefined;

/** Contract 1, Versioning; decisions Q-MES-28. */
export const NAMESPACE: Readonly<Record<XmlFormat, string>> = {
  b2mml: 'urn:wbf:b2mml:v0700',
  xml: 'urn:wbf:b2mml:v0700',
  'b2mml-mesa': 'http://www.mesa.org/xml/B2MML',
};

export function element(name: string, ...children: readonly Child[]): XmlElement {
  return { name, attributes: {}, content: children.flat().filter((child): child is XmlElement => typeof child === 'object' && child !== null) };
}

/** An element whose children are made while it is written: for many of them. */
export function series(name: string, children: () => Iterator<XmlElement>): XmlElement {
  return { name, attributes: {}, content: { [Symbol.iterator]: children } };
}

/** An element with text; left out when there is none. */
export function text(name: string, value: string | number | null | undefined): XmlElement | undefined {
  return value === '' || value === null || value === undefined ? undefined : { name, attributes: {}, content: String(value) };
}

/** An element that the schema demands, also when its text is empty. */
export function required(name: string, value: string | number, attributes: Readonly<Record<string, string>> = {}): XmlElement {
  return { name, attributes, content: String(value) };
}

export function xmlReply(root: XmlElement, format: XmlFormat, headers: Readonly<Record<string, string>> = {}): Reply<never> {
  return new Reply<never>('ok', renderXml(root, format), headers, XML_MEDIA_TYPE[format]);
}

/** For documents of any size: everybody else gets his turn while they are written. */
export async function longXmlReply(root: XmlElement, format: XmlFormat): Promise<Reply<never>> {
  return new Reply<never>('ok', await renderXmlInTurns(root, format), {}, XML_MEDIA_TYPE[format]);
}

/** Document text with declaration; every element lies in the namespace of the form. */
export function renderXml(root: XmlElement, format: XmlFormat): string {
  return [...document(root, format)].join('');
}

const REPLACEMENT = '\uFFFD';
const PIECES_PER_TURN = 5000; // a few ms of a gateway that republishes every 200 ms
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what XML 1.0 cannot carry
const INVALID = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The same text as `renderXml`, with a turn for everybody else now and then. */
export async function renderXmlInTurns(root: XmlElement, format: XmlFormat): Promise<string> {
  let written = '';
  let count = 0;
  for (const piece of document(root, format)) {
    written += piece;
    count += 1;
    if (count % PIECES_PER_TURN === 0) await nextTurn();
  }
  return written;
}

function* document(root: XmlElement, format: XmlFormat): Generator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>';
  yield* pieces({ ...root, attributes: { xmlns: NAMESPACE[format], ...root.attributes } });
}

function* pieces({ name, attributes, content }: XmlElement): Generator<string> {
  const opening = `<${name}${Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${escaped(value).replaceAll('"', '&quot;')}"`)
    .join('')}`;
  if (typeof content === 'string') {
    yield content === '' ? `${opening}/>` : `${opening}>${escaped(content)}</${name}>`;
    return;
  }
  let isEmpty = true;
  for (const child of content) {
    if (isEmpty) yield `${opening}>`;
    isEmpty = false;
    yield* pieces(child);
  }
  yield isEmpty ? `${opening}/>` : `</${name}>`;
}

/** What looks like a reference is text like any other; a bare carriage return would be read as a line feed. */
function escaped(value: string): string {
  return value.replace(INVALID, REPLACEMENT).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;');
}
