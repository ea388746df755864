/** Where things stand on the picture of a unit, and in which pipes something flows, without a browser. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { type Connection, placedEnds } from '../../src/domains/plant/connections.js';
import { at } from '../support/at.js';
import { pageModule } from './page-module.js';
import { BREWHOUSE, type FixtureModule, type FixtureUnit, SKID } from './unit-fixtures.js';

interface Point {
  readonly x: number;
  readonly y: number;
}
interface Picture {
  readonly width: number;
  readonly height: number;
  readonly vessel?: Point & { readonly width: number; readonly height: number };
  readonly modules: readonly (Point & { readonly name: string; readonly stands: string })[];
  readonly ends: readonly (Point & { readonly item: string; readonly isSource: boolean })[];
  readonly pipes: readonly { readonly points: readonly Point[] }[];
}
type Passage = 'open' | 'shut' | 'none';
interface Pages {
  pictureOf(info: object, modules: readonly Omit<FixtureModule, 'templateRef'>[]): Picture;
  flowing(connections: readonly object[], passage: (module: string) => Passage): boolean[];
  squared(points: readonly Point[]): Point[];
}

const { pictureOf, flowing, squared } = await pageModule<Pages>('data/unit-picture.ts data/picture-flow.ts data/picture-route.ts');

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly symbolId?: string;
    readonly parentName?: string;
    readonly templateRef?: string;
    readonly measuredVariable?: string;
    readonly connections?: readonly Connection[];
  };
}
const TEMPLATES = new Map(
  (JSON.parse(readFileSync('demo/30-control-templates.json', 'utf8')) as (Manifest & { readonly spec: { readonly deviceClass?: string } })[]).map(({ metadata, spec }) => [
    metadata.name,
    spec,
  ]),
);
const DEMO = JSON.parse(readFileSync('demo/50-units.json', 'utf8')) as Manifest[];

function demoUnit(name: string): Pick<FixtureUnit, 'name' | 'symbolId' | 'connections' | 'modules'> {
  const unit = DEMO.find(({ kind, metadata }) => kind === 'Unit' && metadata.name === name);
  const modules = DEMO.filter(({ kind, spec }) => kind === 'ControlModule' && spec.parentName === name).map(({ metadata, spec }) => {
    const template = TEMPLATES.get(spec.templateRef ?? '');
    return {
      name: metadata.name,
      templateRef: spec.templateRef ?? '',
      symbolId: spec.symbolId ?? template?.symbolId ?? '',
      deviceClass: template?.deviceClass ?? '',
      measuredVariable: spec.measuredVariable ?? template?.measuredVariable ?? '',
    };
  });
  const connections = (unit?.spec.connections ?? []).map(({ via = [], ...ends }) => ({ ...ends, via })) as FixtureUnit['connections']; // as the gateway serves them
  return { name, symbolId: unit?.spec.symbolId ?? '', connections, modules };
}

const ALL = [...['mx101', 'rx101', 'tk201'].map(demoUnit), ...BREWHOUSE, SKID];
/** Across a symbol that is touched. */
const TOUCH = 44;

t.test('everything of a unit stands on its picture, once, apart and within it', async (t) => {
  for (const unit of ALL) {
    const picture = pictureOf(unit, unit.modules);
    t.strictSame(picture.modules.map(({ name }) => name).sort(), unit.modules.map(({ name }) => name).sort(), `${unit.name}: each module once`);
    t.equal(picture.ends.length, unit.connections.flatMap(({ from, to }) => [from, to]).filter((end) => 'unit' in end || 'utility' in end).length, `${unit.name}: each end`);
    t.equal(picture.pipes.length, unit.connections.length);
    const places = [...picture.modules.map((each) => ({ ...each, own: each.name })), ...picture.ends.map((each) => ({ ...each, own: each.item }))];
    for (const [index, one] of places.entries()) {
      t.ok(one.x > 0 && one.x < picture.width && one.y > 0 && one.y < picture.height, `${unit.name}: ${one.own} lies within`);
      for (const other of places.slice(index + 1)) {
        t.ok(Math.abs(one.x - other.x) >= TOUCH || Math.abs(one.y - other.y) >= TOUCH, `${unit.name}: ${one.own} and ${other.own} are ${TOUCH} apart`);
      }
    }
    t.strictSame(pictureOf(unit, [...unit.modules]), picture, 'the same model gives the same picture');
  }
});

t.test('sources stand left of the vessel, what leaves it right; every pipe is level or upright', async (t) => {
  for (const unit of ALL) {
    const { vessel, ends, pipes, width } = pictureOf(unit, unit.modules);
    t.equal(vessel === undefined, unit.symbolId === 'skid', 'a skid has no vessel');
    const middle = vessel ? vessel.x + vessel.width / 2 : width / 2;
    for (const { x, isSource, item } of ends) t.equal(x < middle, isSource, `${unit.name}: ${item}`);
    for (const { points } of pipes) {
      t.ok(points.length >= 2);
      for (const [index, to] of points.slice(1).entries()) t.ok(points[index]?.x === to.x || points[index]?.y === to.y);
    }
  }
  t.strictSame(
    squared([
      { x: 0, y: 0 },
      { x: 10, y: 6 },
    ]).length,
    4,
    'a pipe aslant gets its corners',
  );
});

t.test('a layout by hand comes before the places that are reckoned, and the pipes follow', async (t) => {
  const unit = demoUnit('rx101');
  const places = [
    { item: 'xv101', column: 20, row: 3 },
    { item: 'from Monomer', column: 10, row: 2 },
    { item: 'junction charge', column: 26, row: 5 },
    { item: 'vessel', column: 30, row: 12 },
  ];
  const { modules, ends, vessel, pipes } = pictureOf({ ...unit, layout: places }, unit.modules);
  t.match(
    modules.find(({ name }) => name === 'xv101'),
    { x: 400, y: 60 },
  );
  t.match(
    ends.find(({ item }) => item === 'from Monomer'),
    { x: 200, y: 40 },
  );
  t.match(vessel, { x: 600, y: 240 });
  const { points } = at(pipes, 0);
  t.ok(
    points.some(({ x, y }) => x === 400 && y === 60),
    'through the valve',
  );
  t.strictSame(points.at(-1), { x: 520, y: 100 }, 'to the junction');
});

t.test('ends and modules that are called alike have places of their own, and are called as the gateway calls them', async (t) => {
  const into = (from: Connection['from'], via: string): Connection => ({ from, to: { part: 'body' }, via: [via], medium: '' });
  const connections = [into({ utility: 'Water' }, 'xv1'), into({ utility: 'Water' }, 'xv2'), into({ utility: 'Water 2' }, 'xv3'), into({ unit: 'water' }, 'vessel')];
  const modules = ['xv1', 'xv2', 'xv3', 'vessel'].map((name) => ({ name, symbolId: 'valve', deviceClass: 'valve', measuredVariable: '' }));
  const layout = [
    { item: 'vessel', column: 30, row: 12 },
    { item: 'from Water 2', column: 3, row: 1 },
    { item: 'module vessel', column: 9, row: 2 },
  ];
  const picture = pictureOf({ symbolId: 'vessel', connections, layout }, modules);
  t.strictSame(
    picture.ends.map(({ item }) => item),
    placedEnds(connections),
  );
  t.equal(picture.ends.filter(({ x, y }) => x === 60 && y === 20).length, 1, 'one end is moved, not two');
  t.match(
    picture.modules.find(({ name }) => name === 'vessel'),
    { x: 180, y: 40 },
  );
  t.match(picture.vessel, { x: 600, y: 240 });
});

t.test('a pipe flows when its devices let through, from where something comes to where it can go', async (t) => {
  const { connections } = demoUnit('rx101');
  const now = (open: readonly string[], none: readonly string[] = []) => {
    const flows = flowing(connections, (name) => (open.includes(name) ? 'open' : none.includes(name) ? 'none' : 'shut'));
    return connections.flatMap(({ via }, index) => (flows[index] === true ? [via.join('+') || 'pipe'] : []));
  };
  t.strictSame(now([]), [], 'all is shut');
  t.strictSame(now(['xv102', 'fi101']), ['xv102', 'fi101'], 'through the junction into the vessel, and in no pipe beside it');
  t.strictSame(now(['xv102']), [], 'a meter that measures nothing');
  t.strictSame(now(['xv102'], ['fi101']), ['xv102', 'fi101'], 'a meter that has no say, as one that is Bad');
  t.strictSame(now(['p101']), [], 'a pump before valves that are shut');
  t.strictSame(now(['p101', 'xv104']), ['p101', 'xv104']);
  t.strictSame(now(['tcv101']), ['tcv101'], 'of the return with nothing in it nobody knows');
  const round = [
    { from: { part: 'body' }, to: { junction: 'a' }, via: ['p'] },
    { from: { junction: 'a' }, to: { part: 'body' }, via: ['v'] },
    { from: { junction: 'a' }, to: { unit: 'x' }, via: ['w'] },
  ];
  t.strictSame(
    flowing(round, (name) => (name === 'w' ? 'shut' : 'open')),
    [true, true, false],
    'round and back',
  );
  const ring = [
    { from: { junction: 'a' }, to: { junction: 'b' }, via: ['v'] },
    { from: { junction: 'b' }, to: { junction: 'a' }, via: ['w'] },
  ];
  t.strictSame(
    flowing(ring, () => 'open'),
    [false, false],
    'out of a ring nothing comes by itself',
  );
});
