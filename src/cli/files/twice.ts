/** A resource that stands twice in files: whoever edits one of the places would see nothing come of it, so it is an error before anything is judged or sent. */
import { APPLIED_KINDS } from '../../domains/index.js';
import type { FiledManifest, FileFault } from './manifest-files.js';
import { placeOfField } from './places.js';

/** One fault for each place after the first, with both. */
export function twiceIn(manifests: readonly FiledManifest[]): readonly FileFault[] {
  const first = new Map<string, FiledManifest>();
  return manifests.flatMap((manifest): readonly FileFault[] => {
    const named = namedOf(manifest.value);
    if (!named) return [];
    const { kind, namespace, name } = named;
    const key = `${kind}/${namespace}/${name}`;
    const other = first.get(key);
    if (!other) {
      first.set(key, manifest);
      return [];
    }
    const message = `${kind} ${name} stands in ${saidPlace(other)} and ${saidPlace(manifest)}: keep one of them`;
    return [{ file: manifest.file, ...placeOfField(manifest, ''), message, code: 'twice' }];
  });
}

function saidPlace(manifest: FiledManifest): string {
  return `${manifest.file}:${placeOfField(manifest, '').line}`;
}

/** By its own word, whatever alias the file has. What is no manifest is told where it is judged. */
function namedOf(value: unknown): { readonly kind: string; readonly namespace: string; readonly name: string } | undefined {
  const { kind, metadata } = (value ?? {}) as { readonly kind?: unknown; readonly metadata?: { readonly name?: unknown; readonly namespace?: unknown } | null };
  if (typeof kind !== 'string' || typeof metadata?.name !== 'string') return undefined;
  const { name, namespace } = metadata;
  return { kind: APPLIED_KINDS.named(kind)?.kind ?? kind, namespace: typeof namespace === 'string' ? namespace : '', name };
}
