/** What a test plant does not have. */
import type { UnitRuntimes } from '../../src/domains/placement/runtimes.js';

/** Whoever uses it fails by its name, not by a member of undefined. */
export function absent<Part extends object>(name: string): Part {
  const refuse = (): never => {
    throw new Error(`this test plant has no ${name}`);
  };
  return new Proxy({}, { get: refuse, set: refuse, has: refuse }) as Part;
}

/** A box on which no unit runs. */
export const NO_RUNTIMES: UnitRuntimes = { link: () => undefined, links: () => [], onMessage: () => undefined, onChange: () => undefined };
