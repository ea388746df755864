/** A document without some of its members, as refusals name them: `spec.roleBindings[2].role`. */

/** @returns a copy; undefined where a path is not found, leads through a list to one of its entries, or to all of the document. */
export function withoutMembers<Document extends object>(document: Document, paths: readonly string[]): Document | undefined {
  const copy = structuredClone(document);
  for (const path of paths) {
    const keys = path.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
    const last = keys.pop() ?? '';
    const holder = keys.reduce<unknown>((at, key) => memberOf(at, key), copy);
    if (typeof holder !== 'object' || holder === null || Array.isArray(holder) || keys.length === 0) return undefined;
    if (!Object.hasOwn(holder, last)) continue; // it is missing
    delete (holder as Record<string, unknown>)[last];
  }
  return copy;
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}
