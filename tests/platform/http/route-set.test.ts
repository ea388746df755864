import t from 'tap';
import * as v from 'valibot';
import { crudRoutes } from '../../../src/platform/http/crud.js';
import { listReply } from '../../../src/platform/http/paged-list.js';
import { LIST, parameters } from '../../../src/platform/http/parameters.js';
import { done, ok, rendered, type Route, type RouteSet, routeSet, routesFor, withRevision } from '../../../src/platform/http/route.js';
import { RouteTable } from '../../../src/platform/http/route-table.js';
import { type Kind, ruled } from '../../../src/platform/store/kind.js';
import type { Store } from '../../../src/platform/store/store.js';

interface Tanks {
  readonly tanks: readonly string[];
}

interface Pumps {
  readonly pumps: readonly string[];
}

const tanks = routesFor<Tanks>()({
  method: 'GET',
  path: '/tanks/{name}',
  action: 'tank:read',
  tier: 'read',
  query: v.strictObject({ colour: v.optional(v.string()) }),
  handle: ({ params, query }, deps) => {
    // @ts-expect-error a parameter that the row does not declare is not read either
    void query.get('size');
    return `${deps.tanks.join()} ${params.name} ${query.get('colour') ?? ''}`;
  },
});
const pumps = routesFor<Pumps>()({ method: 'GET', path: '/pumps', action: 'pump:list', tier: 'read', handle: (_, deps) => deps.pumps.join() });
const page = routesFor<object>()({ method: 'GET', path: '/page', action: '-', tier: 'none', handle: () => 'a page' });

const request = { query: { get: (name: string) => (name === 'colour' ? 'red' : undefined), all: () => [] } };

function answers(set: RouteSet): unknown[] {
  return set.routes.map(({ handle }) => handle({ ...request, params: { name: 't-1' } } as unknown as Parameters<typeof handle>[0]));
}

function tankKind<Spec>(spec: v.GenericSchema<unknown, Spec>): Kind<Spec, object> {
  return {
    kind: 'Tank',
    group: 'physical',
    scope: 'site',
    action: 'tank',
    path: 'tanks',
    spec,
    body: 'flat',
    apply: { how: 'yes' },
    initialStatus: () => ({}),
  };
}

t.test('a handler that returns what its reply does not say does not compile', async (t) => {
  const Tank = v.strictObject({ name: v.string(), level: v.number(), state: v.picklist(['Empty', 'Full']) });
  const row = { method: 'GET', path: '/tanks/{name}', action: 'tank:read', tier: 'read', reply: Tank } as const;
  const route = routesFor<Tanks>();
  const full = { name: 't-1', level: 7, state: 'Full' as const };
  t.ok(route({ ...row, handle: () => full }));
  t.ok(route({ ...row, handle: async () => withRevision(full, 1) }));
  t.ok(route({ ...row, handle: () => rendered('{}') }), 'text that is made elsewhere is held by the check of the answers alone');
  t.ok(
    route({
      ...row,
      reply: v.array(Tank),
      handle: (context) => listReply({ ...context, query: context.query }, { list: 'tanks', items: [full], keyOf: ({ name }) => [name], render: (tank) => tank }),
      query: parameters(LIST),
    }),
  );
  t.ok(route({ ...row, reply: { 200: Tank, 204: 'There is none' }, handle: () => (Math.random() > 2 ? full : done()) }));
  // @ts-expect-error the level is missing
  t.ok(route({ ...row, handle: () => ({ name: 't-1', state: 'Full' }) }));
  // @ts-expect-error a state that is not told of
  t.ok(route({ ...row, handle: async () => ok({ ...full, state: 'Half' }) }));
  // @ts-expect-error nothing, where there is always a body
  t.ok(route({ ...row, handle: () => done() }));
  // @ts-expect-error one, where there are several
  t.ok(route({ ...row, reply: v.array(Tank), handle: () => full }));
  const TankKind = tankKind(v.strictObject({ level: v.number() }));
  const body = v.strictObject({ level: v.number() });
  t.ok(crudRoutes(ruled(TankKind, {}), { read: 'read', write: 'engineer', reply: body, dto: (tank) => tank.spec }));
  // @ts-expect-error of another type
  t.ok(crudRoutes(ruled(TankKind, {}), { read: 'read', write: 'engineer', reply: body, dto: (tank) => ({ level: `${tank.spec.level}` }) }));
});

t.test('rows of several parts are served with what all of them work on', async (t) => {
  t.same(answers(routeSet([tanks, pumps], { tanks: ['t-1', 't-2'], pumps: ['p-1'] })), ['t-1,t-2 t-1 red', 'p-1']);
});

t.test('deps that a row needs and that are not there do not compile', async (t) => {
  // @ts-expect-error the pumps are missing
  t.equal(routeSet([tanks, pumps], { tanks: [] }).routes.length, 2);
  // @ts-expect-error of another type
  t.equal(routeSet([tanks], { tanks: 7 }).routes.length, 1);
  const forgotten: readonly Route[] = [tanks];
  // @ts-expect-error rows whose type forgets what they work on are looked at, not served
  t.equal(routeSet(forgotten, { tanks: [] }).routes.length, 1);
});

t.test('the rows of a kind work on what the callbacks of their options take', async (t) => {
  interface Scales {
    readonly store: Store;
    readonly scale: number;
  }
  const Tank = tankKind(v.strictObject({ area: v.string() }));
  const rows = crudRoutes(ruled(Tank, {}), { read: 'read', write: 'engineer', dto: ({ spec }, _, { scale }: Scales) => ({ ...spec, scale }) });
  const store = {} as Store;
  t.equal(routeSet(rows, { store, scale: 1 }).routes.length, 5);
  // @ts-expect-error the scale is missing
  t.equal(routeSet(rows, { store }).routes.length, 5);
});

t.test('who makes something of all rows has all', async (t) => {
  const table = new RouteTable([routeSet([tanks], { tanks: [] })]);
  table.add(routeSet([pumps], { pumps: [] }));
  t.same(
    table.rows.map(({ action }) => action),
    ['tank:read', 'pump:list'],
  );
  t.throws(() => table.add(routeSet([{ ...pumps, path: '/more' }], { pumps: [] })), /GET \/more comes after/, 'an action more would be in no role');
  table.add(routeSet([page], {}));
  t.equal(table.rows.length, 3, 'pages have no action');
  t.match(table.match('/tanks/t-1'), { found: 'target', params: { name: 't-1' } });
});
