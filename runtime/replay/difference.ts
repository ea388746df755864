/** Where two states first differ, as a path; undefined when they are the same. Every NaN counts as the same. */
export function firstDifference(a: unknown, b: unknown, path = ''): string | undefined {
  if (Object.is(a, b)) return undefined;
  if (!isObject(a) || !isObject(b)) return path === '' ? 'the value' : path;
  if (ArrayBuffer.isView(a) || ArrayBuffer.isView(b) || Array.isArray(a)) return differenceOfLists(a, b, path);
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = firstDifference(a[key], b[key], path === '' ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function differenceOfLists(a: object, b: object, path: string): string | undefined {
  const [left, right] = [a as ArrayLike<unknown>, b as ArrayLike<unknown>];
  if (left.length !== right.length) return `${path}.length`;
  for (let at = 0; at < left.length; at += 1) {
    const found = firstDifference(left[at], right[at], `${path}[${at}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
