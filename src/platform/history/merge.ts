/** Merges ordered sequences of rows into one: a binary heap over the first row of each. */
export interface Timed {
  readonly at: number;
  /** Breaks ties between sequences; always rising. */
  readonly rank: number;
}

/** What is left of one sequence, and its first row. */
interface Sequence<Row> {
  row: Row;
  readonly rest: Iterator<Row>;
}

/** Each sequence is ordered by `at` in the same direction; ties come in the order of rank. */
export function* mergeOrdered<Row extends Timed>(sequences: readonly Iterator<Row>[], descending: boolean): Generator<Row> {
  const sign = descending ? -1 : 1;
  const heap: Sequence<Row>[] = [];
  const isBefore = (a: Row, b: Row): boolean => (a.at === b.at ? a.rank < b.rank : sign * (a.at - b.at) < 0);
  const at = (place: number): Sequence<Row> => heap[place] as Sequence<Row>; // places are bounded by the length of the heap
  const sink = (from: number): void => {
    for (let parent = from; ; ) {
      let first = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2]) if (child < heap.length && isBefore(at(child).row, at(first).row)) first = child;
      if (first === parent) return;
      [heap[parent], heap[first]] = [at(first), at(parent)];
      parent = first;
    }
  };
  for (const rest of sequences) {
    const next = rest.next();
    if (!next.done) heap.push({ row: next.value, rest });
  }
  for (let parent = (heap.length >> 1) - 1; parent >= 0; parent -= 1) sink(parent);
  while (heap.length > 0) {
    const top = at(0);
    yield top.row;
    const next = top.rest.next();
    if (next.done) {
      const last = heap.pop();
      if (heap.length > 0 && last) heap[0] = last;
    } else top.row = next.value;
    sink(0);
  }
}
