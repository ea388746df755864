/**
 * What a kustomization resolves to: as much of kustomize as k3s/ uses. A field that is not known here is refused, so that nothing is passed over.
 * Where there is a kubectl, tests/k3s/manifests.test.ts compares both.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  [field: string]: unknown;
}

interface Patch {
  readonly target: { readonly kind: string; readonly name: string };
  readonly patch: string;
}

interface Kustomization {
  readonly namespace?: string;
  readonly labels?: readonly { readonly pairs: Readonly<Record<string, string>> }[];
  readonly resources: readonly string[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly files: readonly string[] }[];
  readonly images?: readonly { readonly name: string; readonly newTag: string }[];
  readonly patches?: readonly Patch[];
}

const KNOWN = ['apiVersion', 'kind', 'namespace', 'labels', 'resources', 'configMapGenerator', 'images', 'patches'];
const WITHOUT_NAMESPACE = ['Namespace', 'PriorityClass', 'StorageClass'];

/** The manifests of a folder, in the order in which they are named; config maps keep their names without the hash of their contents. */
export function resolve(folder: string): Manifest[] {
  const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');
  const said = parse(read('kustomization.yaml')) as Kustomization;
  for (const field of Object.keys(said)) if (!KNOWN.includes(field)) throw new Error(`${folder}/kustomization.yaml: ${field} is not known here`);
  const manifests = said.resources.flatMap((name) => (name.endsWith('.yaml') ? manifestsIn(read(name)) : resolve(path.join(folder, name))));
  for (const { name, files } of said.configMapGenerator ?? [])
    manifests.push({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: Object.fromEntries(files.map((file) => [path.basename(file), read(file)])) });
  for (const manifest of manifests) {
    const { metadata, kind } = manifest;
    for (const { pairs } of said.labels ?? []) metadata.labels = { ...metadata.labels, ...pairs };
    if (said.namespace !== undefined && !WITHOUT_NAMESPACE.includes(kind)) metadata.namespace = said.namespace;
    for (const image of said.images ?? []) tag(manifest, image);
  }
  for (const { target, patch } of said.patches ?? []) {
    const [found, ...others] = manifests.filter(({ kind, metadata }) => kind === target.kind && metadata.name === target.name);
    if (!found || others.length > 0) throw new Error(`${folder}: the patch of ${target.kind} ${target.name} has no target, or several`);
    for (const step of parse(patch) as readonly { readonly op: string; readonly path: string; readonly value: unknown }[]) add(found, step);
  }
  return manifests;
}

/** The documents of a stream of YAML. */
export function manifestsIn(text: string): Manifest[] {
  return text.split(/^---$/m).map((document) => parse(document) as Manifest);
}

/** RFC 6902, `add` alone. */
function add(into: object, { op, path: pointer, value }: { readonly op: string; readonly path: string; readonly value: unknown }): void {
  if (op !== 'add') throw new Error(`${op} ${pointer}: only add is known here`);
  const names = pointer.split('/').slice(1);
  const last = names.pop() ?? '';
  let at = into as Record<string, unknown>;
  for (const name of names) {
    const next = at[name];
    if (typeof next !== 'object' || next === null) throw new Error(`${pointer}: there is no ${name}`);
    at = next as Record<string, unknown>;
  }
  if (Array.isArray(at) && last === '-') at.push(value);
  else at[last] = value;
}

function tag(node: unknown, image: { readonly name: string; readonly newTag: string }): void {
  if (typeof node !== 'object' || node === null) return;
  const fields = node as Record<string, unknown>;
  if (typeof fields.image === 'string' && fields.image.replace(/:[^:/]*$/, '') === image.name) fields.image = `${image.name}:${image.newTag}`;
  for (const value of Object.values(fields)) tag(value, image);
}
