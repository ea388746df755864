/**
 * Execution order of a network (decisions 5.1 rule 3): repeatedly the first block in array order whose source blocks have
 * all run in this scan; when none is left like that, the first remaining block.
 */

/** `sources[n]` are the blocks that feed block n; the answer lists every block once. */
export function executionOrder(sources: readonly (readonly number[])[]): number[] {
  const count = sources.length;
  const missing = sources.map((list) => new Set(list).size);
  const readers: number[][] = sources.map(() => []);
  sources.forEach((list, block) => {
    for (const source of new Set(list)) readers[source].push(block);
  });
  const ready = new MinHeap();
  missing.forEach((left, block) => {
    if (left === 0) ready.push(block);
  });
  const done = new Uint8Array(count);
  const order: number[] = [];
  let firstRemaining = 0;
  while (order.length < count) {
    let block = ready.pop();
    if (block === undefined) {
      while (done[firstRemaining] === 1) firstRemaining += 1;
      block = firstRemaining;
    }
    if (done[block] === 1) continue;
    done[block] = 1;
    order.push(block);
    for (const reader of readers[block]) {
      missing[reader] -= 1;
      if (missing[reader] === 0 && done[reader] === 0) ready.push(reader);
    }
  }
  return order;
}

/** Smallest number first. */
class MinHeap {
  readonly #items: number[] = [];

  push(item: number): void {
    const items = this.#items;
    items.push(item);
    let at = items.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (items[parent] <= items[at]) break;
      [items[parent], items[at]] = [items[at], items[parent]];
      at = parent;
    }
  }

  pop(): number | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    items[0] = last;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      let least = at;
      if (left < items.length && items[left] < items[least]) least = left;
      if (left + 1 < items.length && items[left + 1] < items[least]) least = left + 1;
      if (least === at) return top;
      [items[least], items[at]] = [items[at], items[least]];
      at = least;
    }
  }
}
