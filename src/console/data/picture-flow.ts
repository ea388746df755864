/**
 * In which pipes something flows, from what the devices in them do now. A pipe flows when everything in it lets through, when something can come in at
 * one end and go out at the other, and when a device says so somewhere on that way: of a pipe with nothing in it nobody knows by itself.
 */
import type { Connection } from './types.js';

/** What a device does to a flow: a valve that is shut, a pump that stands or a meter that measures nothing lets nothing through. */
export type Passage = 'open' | 'shut' | 'none';

/** @param passage of a module by its name; `none` for one that has no part in it. @returns for each connection, same order. */
export function flowing(connections: readonly Connection[], passage: (module: string) => Passage): boolean[] {
  const told = connections.map(({ via }) => via.map(passage));
  const open = told.map((each) => !each.includes('shut'));
  const driven = told.map((each) => each.includes('open'));
  const comes = reach(connections, open, driven, 'from', 'to');
  const goes = reach(connections, open, driven, 'to', 'from');
  return connections.map((_, at) => (comes[at] ?? 0) > 0 && (goes[at] ?? 0) > 0 && (comes[at] === 2 || goes[at] === 2));
}

/** From the ends inwards. 0: nothing gets there; 1: the way is open; 2: and a device on it says so. */
function reach(connections: readonly Connection[], open: readonly boolean[], driven: readonly boolean[], near: 'from' | 'to', far: 'from' | 'to'): number[] {
  const found = connections.map(() => 0);
  for (let grown = true; grown; ) {
    grown = false;
    for (const [at, connection] of connections.entries()) {
      if (open[at] !== true) continue;
      const junction = connection[near].junction;
      const before = junction === undefined ? 1 : Math.max(0, ...connections.map((other, index) => (other[far].junction === junction ? (found[index] ?? 0) : 0)));
      const value = before === 0 ? 0 : driven[at] === true ? 2 : before;
      if (value > (found[at] ?? 0)) {
        found[at] = value;
        grown = true;
      }
    }
  }
  return found;
}
