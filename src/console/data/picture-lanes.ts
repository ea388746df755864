/**
 * The lanes of a picture: each connection gets a row of its own, junctions a place in a column, and the modules of a connection theirs along its row.
 * Left of the vessel what leads to it, right of it what comes from it; without a vessel everything goes from left to right.
 */
import type { Connection } from './types.js';

export interface Lane {
  readonly at: number;
  readonly connection: Connection;
  readonly side: 'left' | 'right';
  /** Of the right side: what the flow came out of. Rows are counted for each. */
  readonly outOf: 'body' | 'jacket';
  readonly row: number;
  /** From where the lanes of its side begin. */
  readonly deviceX: readonly number[];
  readonly endX: number;
}

export interface Lanes {
  readonly hasVessel: boolean;
  readonly left: readonly Lane[];
  readonly right: readonly Lane[];
  readonly junctions: readonly { readonly name: string; readonly x: number; readonly lane: Lane }[];
}

const DEVICE = 100;
const DEVICE_FIRST = 60;
const PIPE_MIN = 50;

interface Pipe {
  readonly at: number;
  readonly connection: Connection;
}

export function lanesOf(connections: readonly Connection[], hasVessel: boolean): Lanes {
  const pipes: Pipe[] = connections.map((connection, at) => ({ at, connection }));
  const after = hasVessel ? downstream(connections) : new Map<string, 'body' | 'jacket'>();
  const outOf = ({ connection: { from } }: Pipe): 'body' | 'jacket' | undefined => from.part ?? after.get(from.junction ?? '');
  const left = pipes.filter((pipe) => outOf(pipe) === undefined);
  const found: Lane[] = [...laid(left, 'left', 'body')];
  for (const part of ['body', 'jacket'] as const) {
    const own = pipes.filter((pipe) => outOf(pipe) === part);
    found.push(...laid(own, 'right', part));
  }
  const junctions = [...new Set(connections.flatMap(({ from, to }) => [from.junction, to.junction]))].flatMap((name) => {
    const lane = found.find(({ connection }) => connection.to.junction === name);
    return name === undefined || !lane ? [] : [{ name, x: lane.endX, lane }];
  });
  return { hasVessel, left: found.filter(({ side }) => side === 'left'), right: found.filter(({ side }) => side === 'right'), junctions };
}

/** Junctions that the contents of the vessel come to, and out of which part of it. */
function downstream(connections: readonly Connection[]): Map<string, 'body' | 'jacket'> {
  const found = new Map<string, 'body' | 'jacket'>();
  for (let grown = true; grown; ) {
    grown = false;
    for (const { from, to } of connections) {
      const part = from.part ?? found.get(from.junction ?? '');
      if (part === undefined || to.junction === undefined || found.has(to.junction)) continue;
      found.set(to.junction, part);
      grown = true;
    }
  }
  return found;
}

/** One side: columns by how many junctions lie before, rows so that what meets stands together. */
function laid(pipes: readonly Pipe[], side: Lane['side'], outOf: Lane['outOf']): Lane[] {
  const into = (junction: string) => pipes.filter(({ connection }) => connection.to.junction === junction);
  const outs = (junction: string) => pipes.filter(({ connection }) => connection.from.junction === junction);
  const ranks = new Map<string, number>();
  const rankOf = (junction: string | undefined): number => {
    if (junction === undefined) return 0;
    const known = ranks.get(junction);
    if (known !== undefined) return known;
    ranks.set(junction, 1); // a ring of junctions ends here
    const rank = 1 + Math.max(0, ...into(junction).map(({ connection }) => rankOf(connection.from.junction)));
    ranks.set(junction, rank);
    return rank;
  };
  const widths: number[] = [];
  for (const { connection } of pipes) {
    const rank = rankOf(connection.from.junction);
    widths[rank] = Math.max(widths[rank] ?? 0, PIPE_MIN, connection.via.length * DEVICE + 20);
  }
  const columnX = (rank: number): number => widths.slice(0, rank).reduce((sum, width) => sum + (width ?? 0), 0);

  const rows = new Map<number, number>();
  const junctionRows = new Map<string, number>();
  let next = 0;
  const goesOn = (junction: string): Pipe | undefined => outs(junction).find(({ connection: { to } }) => to.junction !== undefined || to.part !== undefined) ?? outs(junction)[0];
  const place = (pipe: Pipe): number => {
    const known = rows.get(pipe.at);
    if (known !== undefined) return known;
    const { from } = pipe.connection;
    const own = from.junction !== undefined && goesOn(from.junction) === pipe ? feed(from.junction) : undefined;
    if (from.junction !== undefined && own === undefined) feed(from.junction);
    const row = own ?? next++;
    rows.set(pipe.at, row);
    return row;
  };
  const feed = (junction: string): number => {
    const known = junctionRows.get(junction);
    if (known !== undefined) return known;
    junctionRows.set(junction, next);
    const found = into(junction).map(place);
    const row = found[0] ?? next++;
    junctionRows.set(junction, row);
    return row;
  };
  // into the body first: its pipes come from above
  const order = ['body', 'jacket', undefined];
  for (const part of order) for (const pipe of pipes) if (pipe.connection.to.part === part) place(pipe);

  return pipes.map(({ at, connection }) => {
    const startX = columnX(rankOf(connection.from.junction));
    const toRank = connection.to.junction === undefined ? rankOf(connection.from.junction) + 1 : rankOf(connection.to.junction);
    return {
      at,
      connection,
      side,
      outOf,
      row: rows.get(at) ?? 0,
      deviceX: connection.via.map((_, index) => startX + DEVICE_FIRST + index * DEVICE),
      endX: Math.max(columnX(toRank), startX + PIPE_MIN),
    };
  });
}
