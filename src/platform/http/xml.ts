/**
 * XML answers (contract 1, Rules 6; decisions Q-MES-28). A document is a tree of plain values, so that what is exported can
 * be read in one place; the namespace is chosen with the form. Text that XML cannot carry is replaced, never refused.
 */
import { create } from 'xmlbuilder2';
import type { XMLBuilder } from 'xmlbuilder2/lib/interfaces.js';
import { type Format, XML_MEDIA_TYPE } from './negotiate.js';
import { Reply } from './route.js';

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly content: string | readonly XmlElement[];
}

/** `false`, null and undefined leave the child out. */
type Child = XmlElement | readonly XmlElement[] | false | null | undefined;

/** Contract 1, Versioning; decisions Q-MES-28. */
export const NAMESPACE: Readonly<Record<Exclude<Format, 'json'>, string>> = {
  b2mml: 'urn:wbf:b2mml:v0700',
  xml: 'urn:wbf:b2mml:v0700',
  'b2mml-mesa': 'http://www.mesa.org/xml/B2MML',
};

export function element(name: string, ...children: readonly Child[]): XmlElement {
  return { name, attributes: {}, content: children.flat().filter((child): child is XmlElement => typeof child === 'object' && child !== null) };
}

/** An element with text; left out when there is none. */
export function text(name: string, value: string | number | null | undefined): XmlElement | undefined {
  return value === '' || value === null || value === undefined ? undefined : { name, attributes: {}, content: String(value) };
}

/** An element that the schema demands, also when its text is empty. */
export function required(name: string, value: string | number, attributes: Readonly<Record<string, string>> = {}): XmlElement {
  return { name, attributes, content: String(value) };
}

/** Document text with declaration; every element lies in the namespace of the form. */
export function renderXml(root: XmlElement, format: Exclude<Format, 'json'>): string {
  const document = create({ version: '1.0', encoding: 'UTF-8', invalidCharReplacement: '\uFFFD' });
  append(document, root, NAMESPACE[format]);
  return document.end();
}

function append(parent: XMLBuilder, { name, attributes, content }: XmlElement, namespace: string): void {
  const node = parent.ele(namespace, name, attributes);
  if (typeof content === 'string') node.txt(content);
  else for (const child of content) append(node, child, namespace);
}

export function xmlReply(root: XmlElement, format: Exclude<Format, 'json'>, headers: Readonly<Record<string, string>> = {}): Reply {
  return new Reply('ok', renderXml(root, format), headers, XML_MEDIA_TYPE[format]);
}
