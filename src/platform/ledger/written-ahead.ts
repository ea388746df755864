/**
 * Texts of values that somebody knew before the turn in which they are written: a plant of a thousand manifests is some megabytes of
 * JSON, and the turn that writes them all is one that everybody waits for. A value that is written never changes, so its text stays true.
 */
import { canonicalText } from './canonical-json.js';

export class WrittenAhead {
  readonly #plain = new Map<object, string>();
  readonly #canonical = new Map<object, string>();

  /** Of a spec, as it stands in the row of its resource. */
  writePlain(value: unknown): void {
    if (!isObject(value)) return;
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) this.#plain.set(value, text);
  }

  /** Of a `before` or `after`, as it stands in an audit record. */
  writeCanonical(value: unknown): void {
    if (isObject(value)) this.#canonical.set(value, canonicalText(value));
  }

  plain(value: unknown): string | undefined {
    return isObject(value) ? this.#plain.get(value) : undefined;
  }

  canonical(value: unknown): string | undefined {
    return isObject(value) ? this.#canonical.get(value) : undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
