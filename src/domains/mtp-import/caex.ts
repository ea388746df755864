/**
 * A CAEX document (IEC 62424; 2.15 of AutomationML 2.0, 3.0 of AutomationML 2.1) as a tree. There is no document type: entities are the five
 * of XML, and nothing that a document names is fetched or opened. The tree has bounds (limits.ts), so it is as long as its file at most.
 */
import { SaxesParser } from 'saxes';
import { LIMITS } from './limits.js';
import { plain, Unreadable } from './report.js';

export interface Element {
  /** Without the prefix of its namespace. */
  readonly tag: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly Element[];
  /** Its own text, without white space around it. */
  readonly text: string;
}

interface Open {
  readonly tag: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: Element[];
  text: string;
}

const PIECE = 65_536;

/** @throws Unreadable. */
export function parseCaex(bytes: Uint8Array, fileName: string): Element {
  const text = textOf(bytes, fileName);
  const parser = new SaxesParser({ xmlns: false });
  const open: Open[] = [];
  let root: Element | undefined;
  let elements = 0;
  const stop = (why: string): never => {
    throw new Unreadable(fileName, `line ${parser.line}, column ${parser.column}: ${why}`);
  };
  parser.on('error', (fault) => stop(`it is no well-formed XML: ${plain(fault.message.replace(/^\d+:\d+: /, ''), 200)}`));
  parser.on('doctype', () => stop('it has a document type (DOCTYPE), which AutomationML does not have; entities and external files are not read'));
  parser.on('attribute', ({ name, value }) => {
    if (value.length > LIMITS.attributeLength) stop(`attribute ${plain(name)} has ${value.length} characters, and one may have ${LIMITS.attributeLength}`);
  });
  parser.on('opentag', ({ name, attributes }) => {
    elements += 1;
    if (elements > LIMITS.elements) stop(`it has more than ${LIMITS.elements} elements`);
    if (open.length >= LIMITS.depth) stop(`its elements are nested more than ${LIMITS.depth} deep`);
    const given = Object.entries(attributes);
    if (given.length > LIMITS.attributesOfElement) stop(`element ${plain(name)} has ${given.length} attributes, and one may have ${LIMITS.attributesOfElement}`);
    open.push({ tag: localName(name), attributes: new Map(given.map(([key, value]) => [localName(key), String(value)])), children: [], text: '' });
  });
  const addText = (piece: string): void => {
    const element = open.at(-1);
    if (!element) return;
    if (element.text.length + piece.length > LIMITS.textLength) stop(`the text of element ${plain(element.tag)} has more than ${LIMITS.textLength} characters`);
    element.text += piece;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const { tag, attributes, children, text: own } = open.pop() as Open; // the parser closes what it has opened
    const element: Element = { tag, attributes, children, text: own.trim() };
    const around = open.at(-1);
    if (around) around.children.push(element);
    else root = element;
  });
  for (let at = 0; at < text.length; at += PIECE) parser.write(text.slice(at, at + PIECE));
  parser.close();
  if (root?.tag !== 'CAEXFile') throw new Unreadable(fileName, `it is no AutomationML: its root is ${root ? plain(root.tag) : 'missing'}, not CAEXFile`);
  return root;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

const DECLARED = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']/;
const ENCODINGS: Readonly<Record<string, string>> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'us-ascii': 'utf-8',
  'utf-16': 'utf-16le',
  'utf-16le': 'utf-16le',
  'utf-16be': 'utf-16be',
  'iso-8859-1': 'latin1',
  'iso-8859-15': 'iso-8859-15',
  'windows-1252': 'windows-1252',
};

/** By its byte order mark, by how it begins, or by what its declaration says (XML 1.0, appendix F). */
function textOf(bytes: Uint8Array, fileName: string): string {
  const encoding = encodingOf(bytes, fileName);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new Unreadable(fileName, `its bytes are not the ${encoding.toUpperCase()} that it begins with or declares`);
  }
}

function encodingOf(bytes: Uint8Array, fileName: string): string {
  const [first = 0, second = 0] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0xef && second === 0xbb) return 'utf-8';
  if (first === 0x3c && second === 0) return 'utf-16le';
  if (first === 0 && second === 0x3c) return 'utf-16be';
  const declared = DECLARED.exec(new TextDecoder('latin1').decode(bytes.subarray(0, 300)))?.[1]?.toLowerCase();
  if (declared === undefined) return 'utf-8';
  // a file that declares two bytes per character and begins with one has been converted since
  const known = ENCODINGS[declared]?.replace(/^utf-16.*/, 'utf-8');
  if (known === undefined) throw new Unreadable(fileName, `it declares the encoding ${declared}; save it in UTF-8 or UTF-16`);
  return known;
}
