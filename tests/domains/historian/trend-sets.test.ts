/** Sets of curves that are kept on the box (ADR 0140), over the real pipeline. */
import t from 'tap';
import { TrendSet } from '../../../src/domains/historian/trend-set-kind.js';
import { trendSetRoutes } from '../../../src/domains/historian/trend-set-routes.js';
import { routeSet } from '../../../src/platform/http/route.js';
import { startGatewayTest } from '../../support/gateway.js';

const gateway = await startGatewayTest({ routes: ({ store }) => [routeSet(trendSetRoutes, { store })] });
t.teardown(() => gateway.stop());
const operator = await gateway.as('operator');
const SETS = '/api/v1/sites/north/trendsets';
const set = (name: string, title = name) => ({ name, title, tags: [{ unit: 'r1', address: 'ti.pv' }] });

t.test('a set has a title that somebody can read', async (t) => {
  for (const title of ['', '   ', '\u00a0\t', `a${'b'.repeat(100)}`, 'one\u0007two'])
    t.match(await operator.post(SETS, set('odd', title)), { status: 400, body: { field: 'title' } }, JSON.stringify(title));
  t.match(await operator.post(SETS, set('good', 'Aufheizen 🔥 مفاعل')), { status: 201, body: { title: 'Aufheizen 🔥 مفاعل' } });
  t.match(await operator.delete(`${SETS}/good`), { status: 204 });
});

t.test('a site keeps so many sets and no more; the refusal says how many, and what is there is changed all the same', async (t) => {
  const puts = Array.from({ length: 200 }, (_, at) => {
    const { name, ...spec } = set(`s-${at}`);
    return { kind: TrendSet, site: 'north', name, spec: { ...spec, description: '', window: '' }, status: {} } as never;
  });
  await gateway.store.write({ puts });
  const refused = { status: 409, body: { code: 'too_many_sets', limit: 200, error: /site north keeps 200 saved sets of curves.*delete one/ } };
  t.match(await operator.post(SETS, set('one-more')), refused);
  t.match(await operator.put(`${SETS}/s-1`, { ...set('s-1', 'another title') }), { status: 200, body: { title: 'another title' } });
  t.match(await operator.post('/api/v1/sites/south/trendsets', set('s-1')), { status: 201 }, 'another site has its own');
  t.match(await operator.delete(`${SETS}/s-7`), { status: 204 });
  t.match(await operator.post(SETS, set('one-more')), { status: 201 });
});
