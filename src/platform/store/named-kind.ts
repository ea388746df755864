import type { Kind } from './kind.js';

/**
 * A kind by its name, for rules that only look resources up: kinds refer to each other in circles (a unit to its
 * modules, a module to its unit), and would otherwise have to import each other's schemas in circles too.
 *
 * `const UNIT = kindNamed<typeof Unit>('Unit')` with a type-only import of `Unit`.
 */
// biome-ignore lint/suspicious/noExplicitAny: any kind may be named
export function kindNamed<K extends Kind<any, any>>(kind: string): K {
  return { kind } as K;
}
