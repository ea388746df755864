import { inside } from '../vocabulary/assert.js';

/**
 * Execution order of a network (decisions 5.1 rule 3): repeatedly the first block in array order whose source blocks have
 * all run in this scan; when none is left like that, the first remaining block.
 */

const OF_BLOCKS = 'a source is a block of the network, and so is a reader';

interface Waiting {
  readonly block: number;
  readonly readers: Waiting[];
  /** Sources that have not run yet. */
  missing: number;
  isDone: boolean;
}

/** `sources[n]` are the blocks that feed block n; the answer lists every block once. */
export function executionOrder(sources: readonly (readonly number[])[]): number[] {
  const blocks = sources.map((list, block): Waiting => ({ block, readers: [], missing: new Set(list).size, isDone: false }));
  for (const reader of blocks) {
    for (const source of new Set(sources[reader.block])) inside(blocks, source, OF_BLOCKS).readers.push(reader);
  }
  const ready = new MinHeap();
  for (const { block, missing } of blocks) if (missing === 0) ready.push(block);
  const order: number[] = [];
  let firstRemaining = 0;
  while (order.length < blocks.length) {
    let next = ready.pop();
    if (next === undefined) {
      while (blocks[firstRemaining]?.isDone) firstRemaining += 1;
      next = firstRemaining;
    }
    const block = inside(blocks, next, OF_BLOCKS);
    if (block.isDone) continue;
    block.isDone = true;
    order.push(block.block);
    for (const reader of block.readers) {
      reader.missing -= 1;
      if (reader.missing === 0 && !reader.isDone) ready.push(reader.block);
    }
  }
  return order;
}

/** Smallest number first. Invariant: no item is smaller than its parent, which stands at half its place. */
class MinHeap {
  readonly #items: number[] = [];

  push(item: number): void {
    const items = this.#items;
    let at = items.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = inside(items, parent, HEAP);
      if (above <= item) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  pop(): number | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= items.length) break;
      const right = items[left + 1];
      const below = inside(items, left, HEAP);
      const [least, place] = right !== undefined && right < below ? [right, left + 1] : [below, left];
      if (least >= last) break;
      items[at] = least;
      at = place;
    }
    items[at] = last;
    return top;
  }
}

const HEAP = 'a place of the heap is below its length';
