/**
 * An export as files that people keep in version control: one resource a file, members in the order of the interface, long texts as
 * blocks. Where a file holds the resource already, its comments and its order stay, and one that says the same, or that apply would take
 * without a change, is left as it is.
 */
import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { documentText, isMap, isScalar, isSeq, writeOutAliases, type YamlDocument, yamlText } from '../../platform/base/yaml.js';
import { isResourceName } from '../../platform/base/resource-name.js';
import { type FiledManifest, readManifestFiles } from './manifest-files.js';
import { CommandError, EXIT } from '../remote/outcome.js';

export interface ExportedManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: unknown;
}

export interface WrittenExport {
  readonly written: readonly string[];
  readonly unchanged: number;
  /** Files with resources that are not on the box. */
  readonly notOnBox: readonly string[];
}

const keyOf = ({ kind, metadata: { name, namespace = '' } }: ExportedManifest): string => `${kind}/${namespace}/${name}`;

/** What stands in a folder that an export goes into. */
export type Filed = ReturnType<typeof readManifestFiles>;

export function readFolder(folder: string): Filed {
  mkdirSync(folder, { recursive: true });
  return readManifestFiles([folder]);
}

/**
 * `said`: manifests of the folder whose spec says what the box has, in fewer words or as structured text: it stays as it is. What the box says about
 * them comes into the file all the same, such as the id by which another box knows that a device is not its own.
 * @throws CommandError where a file of the folder cannot be read, two say what one resource is, or what the box tells can be no name of a
 * file: nothing is written then.
 */
export function writeExport(
  folder: string,
  manifests: readonly ExportedManifest[],
  { manifests: there, faults }: Filed = readFolder(folder),
  said: ReadonlySet<FiledManifest> = new Set(),
): WrittenExport {
  for (const manifest of manifests) checkNames(manifest);
  const [fault] = faults;
  if (fault)
    throw new CommandError(EXIT.no, 'invalid_yaml', `${fault.file}:${fault.line}:${fault.column}: ${fault.message}; correct it first: what you have written there would be lost`, {
      faults,
    });
  const known = new Map<string, FiledManifest>();
  for (const manifest of there) {
    if (!isManifest(manifest.value)) continue;
    const key = keyOf(manifest.value);
    const other = known.get(key);
    if (other)
      throw new CommandError(EXIT.no, 'twice', `${other.file} and ${manifest.file} both hold ${manifest.value.kind} ${manifest.value.metadata.name}: keep one of them`, {
        files: [other.file, manifest.file],
      });
    known.set(key, manifest);
  }
  const changed = new Map<string, readonly FiledManifest[]>();
  const texts = new Map<string, string>();
  let unchanged = 0;
  for (const manifest of manifests) {
    const filed = known.get(keyOf(manifest));
    known.delete(keyOf(manifest));
    const wanted = filed && said.has(filed) ? { ...(filed.value as ExportedManifest), metadata: manifest.metadata } : manifest;
    if (!filed) texts.set(freeFile(folder, manifest, texts), yamlText(manifest));
    else if (isDeepStrictEqual(filed.value, wanted)) unchanged += 1;
    else {
      merge(filed, wanted);
      changed.set(
        filed.file,
        there.filter(({ file }) => file === filed.file),
      );
    }
  }
  for (const [file, parts] of changed) texts.set(file, textOfFile(file, parts));
  for (const [file, text] of texts) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: changed.has(file) ? 'w' : 'wx' });
  }
  return { written: [...texts.keys()].sort(), unchanged, notOnBox: [...new Set([...known.values()].map(({ file }) => file))].sort() };
}

function isManifest(value: unknown): value is ExportedManifest {
  const { kind, metadata } = (value ?? {}) as { readonly kind?: unknown; readonly metadata?: { readonly name?: unknown } | null };
  return typeof kind === 'string' && typeof metadata?.name === 'string';
}

/** What answers may be another program than a box, and names become paths. */
function checkNames({ kind, metadata: { name, namespace } }: ExportedManifest): void {
  if (/^[A-Za-z]+$/.test(kind) && isResourceName(String(name)) && (namespace === undefined || namespace === '' || isResourceName(String(namespace)))) return;
  const told = JSON.stringify({ kind, name, namespace });
  throw new CommandError(EXIT.refused, 'invalid_name', `${told} is no resource of a box: nothing was written; is the address right?`, { kind, name, namespace });
}

/** `north/unit/reactor-1.yaml`; what is of no site stands in a folder of its kind beside the sites. */
function fileOf({ kind, metadata: { name, namespace } }: ExportedManifest, more: string): string {
  const site = namespace?.replace(/^site-/, '') ?? '';
  return path.join(...(site === '' ? [] : [site]), kind.toLowerCase(), `${name}${more}.yaml`);
}

/** A file that is there holds something else, which people may have written: the new one stands beside it as `reactor-1-2.yaml`. */
function freeFile(folder: string, manifest: ExportedManifest, taken: ReadonlyMap<string, string>): string {
  for (let n = 1; ; n += 1) {
    const file = path.join(folder, fileOf(manifest, n === 1 ? '' : `-${n}`));
    if (!taken.has(file) && lstatSync(file, { throwIfNoEntry: false }) === undefined) return file;
  }
}

function textOfFile(file: string, parts: readonly FiledManifest[]): string {
  const documents = [...new Set(parts.map(({ document }) => document))];
  if (file.endsWith('.json')) {
    const values = documents.map((document) => document.toJS() as unknown);
    return `${JSON.stringify(values.length === 1 ? values[0] : values, null, 2)}\n`;
  }
  return documents.map(documentText).join(documents.length > 1 && !documents.slice(1).every((document) => documentText(document).startsWith('---')) ? '---\n' : '');
}

/** What stands for something else in the file is written out first: a change of the one would change all that say the same by its name. */
function merge({ document, index }: FiledManifest, manifest: ExportedManifest): void {
  writeOutAliases(document);
  const { contents } = document;
  const node: unknown = index !== undefined && isSeq(contents) ? contents.items[index] : contents;
  mergeInto(document, node, manifest);
}

/** Brings a node to what a value says and leaves what says it already, so that comments stay with what they are about. */
function mergeInto(document: YamlDocument, node: unknown, value: unknown): unknown {
  if (isMap(node) && isObject(value)) {
    for (const pair of [...node.items]) {
      const key = String(isScalar(pair.key) ? pair.key.value : pair.key);
      if (!Object.hasOwn(value, key)) node.delete(pair.key);
    }
    for (const [key, member] of Object.entries(value)) {
      const old: unknown = node.get(key, true);
      const merged = old === undefined ? document.createNode(member) : mergeInto(document, old, member);
      if (merged !== old) node.set(key, merged);
    }
    return node;
  }
  if (isSeq(node) && Array.isArray(value)) {
    const old = [...node.items];
    const items = value.map((item: unknown, at) => {
      const name = nameOf(item);
      const same = name === undefined ? old[at] : old.find((each) => isMap(each) && each.get('name') === name);
      return same === undefined ? document.createNode(item) : mergeInto(document, same, item);
    });
    node.items = items;
    return node;
  }
  if (isScalar(node) && !isObject(value) && !Array.isArray(value)) {
    if (!Object.is(node.value, value)) node.value = value;
    return node;
  }
  return document.createNode(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(item: unknown): unknown {
  return isObject(item) ? item.name : undefined;
}
