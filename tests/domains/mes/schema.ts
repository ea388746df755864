/** The official B2MML V7 schemas as judges of the MESA form (decisions Q-MES-28, D-RECIPE-05). */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { XmlDocument, XmlElement, XsdValidator } from 'libxml2-wasm';
import { xmlRegisterFsInputProviders } from 'libxml2-wasm/lib/nodejs.mjs';

const SCHEMA = fileURLToPath(new URL('../../../../tests/domains/mes/xsd/AllSchemas.xsd', import.meta.url));

let validator: XsdValidator | undefined;

/** Empty when the document is valid, else what the schema says against it. */
export function schemaFaults(text: string): string {
  validator ??= readSchema();
  const document = XmlDocument.fromString(text);
  try {
    validator.validate(document);
    return '';
  } catch (fault) {
    return (fault as Error).message;
  } finally {
    document.dispose();
  }
}

function readSchema(): XsdValidator {
  xmlRegisterFsInputProviders();
  const document = XmlDocument.fromBuffer(readFileSync(SCHEMA), { url: SCHEMA });
  const made = XsdValidator.fromDoc(document);
  document.dispose();
  return made;
}

/** Texts of all elements that an XPath finds; `b:` stands for the namespace of the document. */
export function texts(document: string, xpath: string): string[] {
  const parsed = XmlDocument.fromString(document);
  try {
    const found = parsed.find(xpath, { b: parsed.root.namespaceUri });
    return found.map((node) => (node instanceof XmlElement ? node.content : ''));
  } finally {
    parsed.dispose();
  }
}
