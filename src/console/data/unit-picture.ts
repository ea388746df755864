/**
 * Where everything of a unit stands on its picture, reckoned from its connections alone: the same model gives the same picture. Sources stand at the
 * left, the vessel in the middle, what leaves goes to the right; a pipe into the body comes from above while there is room, one into the jacket from
 * the side, and what leaves the body leaves at the bottom. Places of the layout of the unit come before these. Lengths are pixels of the picture at
 * its natural size; a place is the middle of a symbol, or where a pipe meets an end.
 */
import type { Connection, UnitInfo } from './types.js';
import { type Lanes, lanesOf } from './picture-lanes.js';
import { type Point, squared } from './picture-route.js';

type ConnectionEnd = Connection['from'];

/** What of a module decides where it stands. */
export interface Placed {
  readonly name: string;
  readonly symbolId: string;
  readonly deviceClass: string;
  readonly measuredVariable: string;
}

export interface PipePicture {
  /** Its place among the connections. */
  readonly at: number;
  readonly connection: Connection;
  readonly points: readonly Point[];
}

export interface EndPicture extends Point {
  /** As a layout names it: `from Monomer`. */
  readonly item: string;
  readonly text: string;
  /** Another unit; empty for a utility. */
  readonly unit: string;
  readonly isSource: boolean;
}

export interface VesselPicture {
  readonly shape: string;
  readonly hasJacket: boolean;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface ModulePicture extends Point {
  readonly name: string;
  /** In a pipe, on the vessel, in it, or beside the vessel with its value and bar. */
  readonly stands: 'pipe' | 'top' | 'inside' | 'beside';
}

export interface UnitPicture {
  readonly width: number;
  readonly height: number;
  readonly vessel: VesselPicture | undefined;
  readonly modules: readonly ModulePicture[];
  readonly ends: readonly EndPicture[];
  readonly junctions: readonly (Point & { readonly item: string })[];
  readonly pipes: readonly PipePicture[];
}

/** The vessel, as a layout names it. */
export const VESSEL_ITEM = 'vessel';
/** A step of the grid that a layout counts in. */
export const CELL = 20;
export const END_WIDTH = 112;
const ROW = 60;
const FIRST_Y = 40;
const VESSEL = { width: 220, heightMin: 225, belowLane: 72, jacket: 16 } as const;
const BESIDE = { width: 232, pitch: 66 } as const;
const INLETS_ON_TOP_MAX = 3;
const EDGE = 6;

/** Shapes that a unit may have; none of them is drawn for a skid. */
const NO_VESSEL = 'skid';

/** By the least number that no other end has: as the gateway names them (connections.ts, placedEnds). */
function endItem(way: 'from' | 'to', { unit, utility }: ConnectionEnd, taken: readonly EndPicture[]): string {
  const plain = `${way} ${unit ?? utility ?? ''}`;
  for (let count = 1; ; count += 1) {
    const item = count === 1 ? plain : `${plain} ${count}`;
    if (!taken.some((end) => end.item === item)) return item;
  }
}

/** A module as a layout names it: one that is called `vessel` is not the vessel. */
export function moduleItem(name: string): string {
  return name === VESSEL_ITEM ? `module ${name}` : name;
}

function isSource(connection: Connection): boolean {
  return connection.from.unit !== undefined || connection.from.utility !== undefined;
}

export function pictureOf(info: Pick<UnitInfo, 'symbolId' | 'connections' | 'layout'>, modules: readonly Placed[]): UnitPicture {
  const connections = info.connections ?? [];
  const hasVessel = info.symbolId !== NO_VESSEL;
  const lanes = lanesOf(connections, hasVessel);
  const inPipes = new Set(connections.flatMap(({ via }) => via));
  const free = modules.filter(({ name }) => !inPipes.has(name));
  const agitator = hasVessel ? free.find(({ symbolId }) => symbolId === 'agitator') : undefined;
  const level = hasVessel ? free.find(({ deviceClass, measuredVariable }) => measuredVariable === 'Level' && deviceClass === 'sensor') : undefined;
  const beside = free.filter((module) => module !== agitator && module !== level);
  return draw(info, lanes, { agitator, level, beside });
}

interface Free {
  readonly agitator: Placed | undefined;
  readonly level: Placed | undefined;
  readonly beside: readonly Placed[];
}

function rowY(row: number): number {
  return FIRST_Y + row * ROW;
}

function draw(info: Pick<UnitInfo, 'symbolId' | 'connections' | 'layout'>, lanes: Lanes, free: Free): UnitPicture {
  const connections = info.connections ?? [];
  const by = new Map((info.layout ?? []).map(({ item, column, row }) => [item, { x: column * CELL, y: row * CELL }]));
  const into = (part: 'body' | 'jacket') => lanes.left.filter(({ connection }) => connection.to.part === part);
  const hasJacket = info.symbolId === 'vessel-jacketed' || connections.some(({ from, to }) => from.part === 'jacket' || to.part === 'jacket');
  const overTop = into('body').slice(0, INLETS_ON_TOP_MAX);
  const laneEndX = EDGE + END_WIDTH;

  // ------------------------------------------------------------ the vessel
  const topRows = Math.max(1, ...overTop.map(({ row }) => row + 1).filter((rows) => rows <= INLETS_ON_TOP_MAX));
  const topY = rowY(topRows - 1) + VESSEL.belowLane;
  const sideX = laneEndX + Math.max(60, ...lanes.left.filter((lane) => !overTop.includes(lane)).map((lane) => lane.endX)) + 30;
  const aboveX = laneEndX + Math.max(0, ...overTop.map(({ endX }) => endX)) - 40;
  const leftX = connections.length === 0 ? 40 : Math.max(sideX, aboveX);
  const jacketRow = (y: number) => Math.max(y, topY + 80);
  const sideBottom = Math.max(0, ...lanes.left.map(({ row, connection }) => (connection.to.part === 'jacket' ? jacketRow(rowY(row)) : rowY(row))));
  const jacketOuts = lanes.right.filter(({ connection }) => connection.from.part === 'jacket').length;
  const besideY = (at: number) => 36 + at * BESIDE.pitch;
  const outY = (at: number) => Math.max(besideY(free.beside.length), topY + 80) + at * ROW;
  const bottomY = Math.max(topY + VESSEL.heightMin, sideBottom + 40, jacketOuts > 0 ? outY(jacketOuts - 1) + 40 : besideY(free.beside.length) - 40);
  const automatic: VesselPicture = { shape: info.symbolId, hasJacket, x: leftX, y: topY, width: VESSEL.width, height: bottomY - topY };
  const moved = by.get(VESSEL_ITEM);
  const vessel = lanes.hasVessel ? { ...automatic, ...(moved ?? {}) } : undefined;
  const box = vessel ?? { ...automatic, width: 0, height: 0 };
  const jacket = hasJacket ? VESSEL.jacket : 0;
  const rightX = box.x + box.width + jacket;
  const middleX = box.x + box.width / 2;

  // ------------------------------------------------------------ lanes and what stands in them
  const yOf = (lane: Lanes['left'][number]): number => {
    if (lane.side === 'left') return lane.connection.to.part === 'jacket' ? jacketRow(rowY(lane.row)) : rowY(lane.row);
    return lane.outOf === 'jacket' ? outY(lane.row) : box.y + box.height + 42 + lane.row * ROW;
  };
  const startX = (lane: Lanes['left'][number]): number => (lane.side === 'left' ? laneEndX : lane.outOf === 'jacket' ? rightX : middleX);
  const all = [...lanes.left, ...lanes.right];
  const lastX = Math.max(rightX + 40, ...all.map((lane) => startX(lane) + lane.endX + 20));
  // a pipe back into the body goes up below what stands beside it, or between
  const backs = besideY(free.beside.length) - 30 > box.y + 40 ? lanes.right.filter(({ connection }) => connection.to.part !== undefined) : [];
  const besideX = Math.max(rightX + 34, ...backs.map((lane) => startX(lane) + lane.endX + 60));
  const besideEnd = free.beside.length > 0 ? (lanes.hasVessel ? besideX : lastX + END_WIDTH + 20) + BESIDE.width : 0;
  const sinkX = Math.max(lastX, (lanes.hasVessel ? besideEnd : 0) - END_WIDTH);
  const modules: ModulePicture[] = [];
  const ends: EndPicture[] = [];
  const junctions: (Point & { item: string })[] = [];
  for (const { name, x, lane } of lanes.junctions) {
    const item = `junction ${name}`;
    junctions.push({ item, ...(by.get(item) ?? { x: startX(lane) + x, y: yOf(lane) }) });
  }
  const junctionAt = (name: string): Point => junctions.find(({ item }) => item === `junction ${name}`) ?? { x: 0, y: 0 };
  const place = (way: 'from' | 'to', connection: Connection, x: number, y: number): Point => {
    const end = connection[way];
    const item = endItem(way, end, ends);
    const found = by.get(item) ?? { x, y };
    ends.push({ item, text: end.unit?.toUpperCase() ?? end.utility ?? '', unit: end.unit ?? '', isSource: way === 'from', ...found });
    return found;
  };
  const outs = lanes.right.filter(({ connection }) => connection.from.part === 'body');
  const pipes: PipePicture[] = [];
  for (const [at, connection] of connections.entries()) {
    const lane = all.find((each) => each.at === at);
    if (!lane) continue;
    const y = yOf(lane);
    const devices = connection.via.map((name, index) => ({ name, ...(by.get(moduleItem(name)) ?? { x: startX(lane) + (lane.deviceX[index] ?? 0), y }) }));
    for (const device of devices) modules.push({ ...device, stands: 'pipe' });
    const { from, to } = connection;
    const starts: Point[] = [];
    if (isSource(connection)) starts.push(place('from', connection, laneEndX, y));
    else if (from.junction !== undefined) starts.push(junctionAt(from.junction), { x: junctionAt(from.junction).x, y: devices[0]?.y ?? y });
    else if (from.part === 'jacket') starts.push({ x: rightX - 4, y: devices[0]?.y ?? y });
    else {
      const x = middleX + (outs.length - 1 - outs.findIndex((each) => each.at === at)) * 20;
      starts.push({ x, y: box.y + box.height - 14 }, { x, y: devices[0]?.y ?? y });
    }
    const last = devices.at(-1)?.y ?? y;
    const stops: Point[] = [];
    if (to.unit !== undefined || to.utility !== undefined) stops.push(place('to', connection, sinkX, y));
    else if (to.junction !== undefined) stops.push({ x: junctionAt(to.junction).x, y: last }, junctionAt(to.junction));
    else if (lane.side === 'right') {
      const x = Math.max(...devices.map((device) => device.x + 50), rightX + 24);
      stops.push({ x, y: last }, { x, y: box.y + 50 }, { x: box.x + box.width - 4, y: box.y + 50 });
    } else if (to.part === 'jacket') stops.push({ x: box.x - jacket + 4, y: last });
    else if (overTop.includes(lane) && last < box.y) {
      const x = box.x + (box.shape === 'column' ? 60 : 30) + (overTop.length - overTop.indexOf(lane)) * 20;
      stops.push({ x, y: last }, { x, y: box.y + 56 }); // behind the lid, whatever its shape
    } else stops.push({ x: box.x + 4, y: last });
    pipes.push({ at, connection, points: squared([...starts, ...devices, ...stops]) });
  }

  // ------------------------------------------------------------ what stands in no pipe
  const put = (module: Placed | undefined, stands: ModulePicture['stands'], x: number, y: number): void => {
    if (module) modules.push({ name: module.name, stands, ...(by.get(moduleItem(module.name)) ?? { x, y }) });
  };
  put(free.agitator, 'top', middleX, box.y - 26);
  put(free.level, 'inside', box.x + (free.agitator ? box.width * 0.76 : box.width / 2), box.y + 84);
  for (const [at, module] of free.beside.entries()) put(module, 'beside', (lanes.hasVessel ? besideX : lastX + END_WIDTH + 20) + 22, besideY(at));
  const bottoms = [...modules, ...ends].map(({ y }) => y + 42);
  const rights = [...modules.map(({ x, stands }) => x + (stands === 'beside' ? BESIDE.width - 20 : 60)), ...ends.map(({ x, isSource: source }) => x + (source ? 0 : END_WIDTH))];
  return {
    width: Math.max(rightX + 40, ...rights) + EDGE,
    height: Math.max(vessel ? vessel.y + vessel.height + 30 : 0, ...bottoms, 200),
    vessel,
    modules,
    ends,
    junctions,
    pipes,
  };
}
