/** Walks over what batches took and made: which nodes, which edges, and how they lie on pages. */
import t from 'tap';
import { type Direction, type Node, type NodeType, type Relation, type Step, type Use, type Uses, type Walked, walkFrom } from '../../../src/domains/traceability/walk.js';

const ALL = { depth: 50, from: 0, to: 5000 };

/** `a>B` lot a went into batch B, `B>c` batch B made lot c: batches in capitals. */
function plantOf(...entries: readonly string[]): Uses {
  const uses = entries.map((entry, n): Use => {
    const [from = '', to = ''] = entry.split('>');
    const relation: Relation = from === from.toUpperCase() ? 'produced' : 'consumed';
    const [batch, lot] = relation === 'produced' ? [from, to] : [to, from];
    return { batch, lot, relation, sequence: n + 1, material: 'resin', quantity: '1', unit: 'kg', element: 'charge', at: '' };
  });
  return {
    async *steps(type: NodeType, ids: readonly string[], relation: Relation) {
      const steps = ids.flatMap((id) => uses.filter((use) => use.relation === relation && use[type] === id).map((use): Step => [id, use]));
      for (let at = 0; at < steps.length; at += 2) yield await Promise.resolve(steps.slice(at, at + 2));
    },
  };
}

const keyOf = ({ type, id }: Node): string => `${type} ${id}`;
const nodesOf = ({ nodes }: Walked): string[] => nodes.map(({ id }) => id);
const edgesOf = ({ uses }: Walked): string[] => uses.map(({ batch, lot, relation }) => (relation === 'consumed' ? `${lot}>${batch}` : `${batch}>${lot}`)).sort();

t.test('ROUTE-03, 8.5: forward goes with the material, backward against it, each node once and each entry once', async (t) => {
  // b is split over two batches, c is merged of two, a was taken twice
  const plant = plantOf('a>X', 'a>X', 'b>X', 'b>Y', 'X>c', 'Y>c', 'c>Z', 'Z>d', 'Z>e', 'q>Q');
  const forward = await walkFrom('b', ['forward'], plant, ALL);
  t.same(nodesOf(forward), ['b', 'X', 'Y', 'c', 'Z', 'd', 'e']);
  t.same(edgesOf(forward), ['X>c', 'Y>c', 'Z>d', 'Z>e', 'b>X', 'b>Y', 'c>Z']);
  t.same([forward.isFull, forward.isDeeper], [false, false]);
  const backward = await walkFrom('d', ['backward'], plant, ALL);
  t.same(nodesOf(backward), ['d', 'Z', 'c', 'X', 'Y', 'a', 'b'], 'not e, which only came of the same batch');
  t.same(edgesOf(backward), ['X>c', 'Y>c', 'Z>d', 'a>X', 'a>X', 'b>X', 'b>Y', 'c>Z'], 'two charges are two edges');
  t.same(nodesOf(await walkFrom('b', ['backward'], plant, ALL)), ['b'], 'what came from outside');
});

t.test('ROUTE-03, 8.5: rework and cycles end no walk and lose no edge', async (t) => {
  const rework = plantOf('a>X', 'X>b', 'b>X');
  t.same(nodesOf(await walkFrom('a', ['forward'], rework, ALL)), ['a', 'X', 'b']);
  t.same(edgesOf(await walkFrom('a', ['forward'], rework, ALL)), ['X>b', 'a>X', 'b>X'], 'the way back is told');
  t.same(edgesOf(await walkFrom('b', ['backward'], rework, ALL)), ['X>b', 'a>X', 'b>X']);
  const ring = plantOf('a>X', 'X>b', 'b>Y', 'Y>a');
  for (const directions of [['forward'], ['backward'], ['backward', 'forward']] as const) {
    const walked = await walkFrom('a', directions, ring, ALL);
    t.same(nodesOf(walked).sort(), ['X', 'Y', 'a', 'b'], directions.join());
    t.same(edgesOf(walked), ['X>b', 'Y>a', 'a>X', 'b>Y'], directions.join());
  }
});

t.test('ROUTE-03, 8.5: a lot may be named as a batch is, and the genealogy is what went in and where it went', async (t) => {
  const plant = plantOf('a>X', 'X>b', 'b>Y', 'Y>c', 'a>Y', 'k>Z', 'Z>c');
  const walked = await walkFrom('b', ['backward', 'forward'], plant, ALL);
  t.same(nodesOf(walked), ['b', 'X', 'a', 'Y', 'c']);
  t.same(
    walked.nodes.map(({ met }) => met),
    ['backward', 'backward', 'backward', 'forward', 'forward'],
  );
  t.same(edgesOf(walked), ['X>b', 'Y>c', 'a>X', 'b>Y'], 'not what else went into what came of it');
  const alike: Uses = {
    async *steps(_type, ids, relation) {
      if (relation === 'produced') return;
      const use: Use = { batch: 'B-1', lot: 'B-1', relation, sequence: 1, material: '', quantity: '', unit: '', element: '', at: '' };
      yield await Promise.resolve(ids.map((id): Step => [id, use]));
    },
  };
  t.same(
    (await walkFrom('B-1', ['forward'], alike, ALL)).nodes.map((node) => keyOf(node)),
    ['lot B-1', 'batch B-1'],
  );
});

t.test('ROUTE-03, 8.5: what lies beyond the depth is said to be there', async (t) => {
  const plant = plantOf('a>X', 'X>b', 'b>Y', 'b>X');
  const two = await walkFrom('a', ['forward'], plant, { ...ALL, depth: 2 });
  t.same([nodesOf(two), edgesOf(two), two.isDeeper], [['a', 'X', 'b'], ['X>b', 'a>X', 'b>X'], true]);
  const three = await walkFrom('a', ['forward'], plant, { ...ALL, depth: 3 });
  t.same([nodesOf(three), three.isDeeper], [['a', 'X', 'b', 'Y'], false]);
});

t.test('ROUTE-03, 8.5: pages have each node once, each edge once and behind both of its ends, whatever their length', async (t) => {
  const random = (seed: number) => () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let seed = 1; seed <= 30; seed += 1) {
    const next = random(seed);
    const lots = Array.from({ length: 14 }, (_, n) => `l${n}`);
    const batches = Array.from({ length: 9 }, (_, n) => `B${n}`);
    const one = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)] as T;
    const plant = plantOf(...Array.from({ length: 34 }, () => (next() < 0.6 ? `${one(lots)}>${one(batches)}` : `${one(batches)}>${one(lots)}`)));
    for (const directions of [['forward'], ['backward'], ['backward', 'forward']] as readonly Direction[][]) {
      const whole = await walkFrom('l0', directions, plant, ALL);
      for (const length of [1, 3, 7]) {
        const told = new Set<string>();
        const edges: string[] = [];
        let isFull = true;
        for (let from = 0; isFull; from += length) {
          const page = await walkFrom('l0', directions, plant, { ...ALL, from, to: from + length });
          ({ isFull } = page);
          for (const node of page.nodes) {
            if (told.has(keyOf(node))) t.fail(`${keyOf(node)} twice`);
            told.add(keyOf(node));
          }
          if (page.nodes.length > length) t.fail('too long');
          for (const { batch, lot } of page.uses) if (!told.has(`batch ${batch}`) || !told.has(`lot ${lot}`)) t.fail(`${batch} ${lot} before its ends`);
          edges.push(...edgesOf(page));
        }
        const found = [[...told].sort(), edges.sort()];
        const wanted = [whole.nodes.map(keyOf).sort(), edgesOf(whole)];
        if (JSON.stringify(found) !== JSON.stringify(wanted)) t.same(found, wanted, `seed ${seed}, ${directions.join()}, pages of ${length}`);
      }
    }
  }
  t.pass('of 30 plants');
});

t.test('ROUTE-03: every use of a node of the page is told, also those that lead off it', async (t) => {
  const plant = plantOf('a>X', 'a>Y', 'X>b', 'Y>b', 'b>Z');
  const seen: string[] = [];
  await walkFrom('a', ['forward'], plant, { ...ALL, to: 2 }, (node, { batch, lot }) => seen.push(`${keyOf(node)}: ${lot} ${batch}`));
  t.same(seen, ['lot a: a X', 'lot a: a Y', 'batch X: b X']);
});
