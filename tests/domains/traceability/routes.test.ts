/** Traces behind the real gateway, over entries in a real ledger: two sites, odd names, pages, balance, people. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { parse } from 'valibot';
import { Batch, BatchSpec } from '../../../src/domains/batches/kind.js';
import { materialText } from '../../../src/domains/batches/phases/materials.js';
import { Site } from '../../../src/domains/plant/kind.js';
import { executionEvent } from '../../../src/domains/runs/execution-log.js';
import { traceRoutes } from '../../../src/domains/traceability/routes.js';
import { Turnstile } from '../../../src/platform/base/turnstile.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { routeSet } from '../../../src/platform/http/route.js';
import type { Put } from '../../../src/platform/store/store.js';
import { startGatewayTest } from '../../support/gateway.js';

const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-traces-'));
const { store, queries, gateway } = await started();
t.teardown(async () => {
  await queries.close();
  await gateway.stop();
});
const viewer = await gateway.as('viewer');

async function started() {
  const queries = openQueries(dataDir, () => gateway.store.recorded);
  const gateway = await startGatewayTest({
    dataDir,
    routes: ({ store, clock }) => [routeSet(traceRoutes, { store, clock, facts: queries, turns: new Turnstile({ what: 'traces', atOnce: 2, waitingMax: 20, waitMaxMs: 10_000 }) })],
  });
  return { store: gateway.store, queries, gateway };
}

for (const name of ['north', 'south']) await store.write({ puts: [{ kind: Site, site: '', name, spec: { enterpriseName: '', description: '' } } as unknown as Put] });

interface Entry {
  readonly took?: readonly (readonly [lot: string, quantity: string, material?: string, unit?: string])[];
  readonly made?: readonly (readonly [lot: string, quantity: string, material?: string, unit?: string])[];
}

/** A batch with its entries, as its phases leave them; `isKnown`: whether the batch itself is still there. */
async function ran(site: string, name: string, { took = [], made = [] }: Entry, isKnown = true): Promise<void> {
  const event = (way: 'Consume' | 'Produce', [lot, quantity, material = 'resin', unit = 'kg']: NonNullable<Entry['took']>[number]) =>
    executionEvent(site, name, '2026-01-31T09:00:00.000Z', {
      ...{ eventType: 'Material', eventSubType: way, value: quantity, previousValue: lot, message: materialText(material, unit), unit: 'rx101' },
      element: { kind: 'Phase', name: `${name}-charge`, path: 'make/charge' },
    });
  const spec = parse(BatchSpec, { batchID: name.toUpperCase(), masterRecipeRef: 'resin-a' });
  await store.write({
    ...(isKnown ? { puts: [{ kind: Batch, site, name, spec } as Put] } : {}),
    facts: [
      executionEvent(site, name, '', { eventType: 'Procedural Execution', eventSubType: 'State Change', value: 'Running', previousValue: 'MONO-1' }),
      ...took.map((use) => event('Consume', use)),
      ...made.map((use) => event('Produce', use)),
    ],
  });
}

const lotAt = (lot: string, site = 'north'): string => `/api/v1/sites/${site}/trace/lot/${encodeURIComponent(lot)}`;
const ids = (body: { readonly nodes: readonly { readonly type: string; readonly id: string }[] }): string[] => body.nodes.map(({ type, id }) => `${type} ${id}`);

t.test('ROUTE-03, 8.5: forward, backward, genealogy and the materials of a batch, with quantities as they were recorded', async (t) => {
  await ran('north', 'b-1', {
    took: [
      ['MONO-1', '9.50', 'monomer'],
      ['WATER', '3', 'water', 'l'],
    ],
    made: [['R-1', '12.25']],
  });
  await ran('north', 'b-2', {
    took: [
      ['R-1', '6.25'],
      ['R-1', '6'],
    ],
    made: [
      ['P-1', '12'],
      ['P-2', '0.2', 'rest'],
    ],
  });
  const forward = await viewer.get(`${lotAt('MONO-1')}/forward`);
  t.equal(forward.status, 200);
  t.same(forward.body, {
    ...{ lotID: 'MONO-1', material: 'monomer', direction: 'forward', depth: 20, exceptions: [], truncated: false, nextCursor: null },
    nodes: [
      { id: 'MONO-1', type: 'lot', name: 'MONO-1', material: 'monomer', quantity: '', unit: '' },
      { id: 'b-1', type: 'batch', name: 'B-1', material: 'resin', quantity: '12.25', unit: 'kg' },
      { id: 'R-1', type: 'lot', name: 'R-1', material: 'resin', quantity: '12.25', unit: 'kg' },
      { id: 'b-2', type: 'batch', name: 'B-2', material: 'resin, rest', quantity: '', unit: '' },
      { id: 'P-1', type: 'lot', name: 'P-1', material: 'resin', quantity: '12', unit: 'kg' },
      { id: 'P-2', type: 'lot', name: 'P-2', material: 'rest', quantity: '0.2', unit: 'kg' },
    ],
    edges: [
      { from: 'MONO-1', to: 'b-1', relation: 'consumed', quantity: '9.50' },
      { from: 'b-1', to: 'R-1', relation: 'produced', quantity: '12.25' },
      { from: 'R-1', to: 'b-2', relation: 'consumed', quantity: '6.25' },
      { from: 'R-1', to: 'b-2', relation: 'consumed', quantity: '6' },
      { from: 'b-2', to: 'P-1', relation: 'produced', quantity: '12' },
      { from: 'b-2', to: 'P-2', relation: 'produced', quantity: '0.2' },
    ].map((edge) => ({ ...edge, unit: 'kg', element: 'make/charge', at: '2026-01-31T09:00:00.000Z' })),
  });
  const backward = (await viewer.get(`${lotAt('P-1')}/backward`)).body;
  t.same(ids(backward), ['lot P-1', 'batch b-2', 'lot R-1', 'batch b-1', 'lot MONO-1', 'lot WATER']);
  t.match(backward, {
    direction: 'backward',
    material: 'resin',
    nodes: [{}, { quantity: '' }, { quantity: '12.25' }, {}, { material: 'monomer' }, { material: 'water', quantity: '', unit: '' }],
  });
  const genealogy = (await viewer.get('/api/v1/sites/north/trace/genealogy/R-1')).body;
  t.same(ids(genealogy), ['lot R-1', 'batch b-1', 'lot MONO-1', 'lot WATER', 'batch b-2', 'lot P-1', 'lot P-2']);
  t.equal(genealogy.edges.length, 7);
  t.notOk('direction' in genealogy);
  const materials = (await viewer.get('/api/v1/sites/north/trace/batch/b-1/materials')).body;
  const use = { element: 'make/charge', unitName: 'rx101', at: '2026-01-31T09:00:00.000Z', auditRecordRef: '' };
  t.same(materials, {
    ...{ batch: 'b-1', batchID: 'B-1' },
    inputs: [
      { material: 'monomer', lotID: 'MONO-1', quantity: '9.50', unit: 'kg', ...use },
      { material: 'water', lotID: 'WATER', quantity: '3', unit: 'l', ...use },
    ],
    outputs: [{ material: 'resin', lotID: 'R-1', quantity: '12.25', unit: 'kg', ...use }],
  });
});

t.test('ROUTE-03, 8.5: a lot is of its site, a batch that was removed still links what it made, and what nobody named is 404', async (t) => {
  await ran('south', 'b-1', { took: [['MONO-1', '1']], made: [['SOUTH', '1']] });
  await ran('north', 'gone', { took: [['TAKEN', '2']], made: [['LEFT', '2']] }, false);
  t.same(ids((await viewer.get(`${lotAt('MONO-1', 'south')}/forward`)).body), ['lot MONO-1', 'batch b-1', 'lot SOUTH']);
  t.match((await viewer.get(`${lotAt('TAKEN')}/forward`)).body, { nodes: [{}, { id: 'gone', name: 'gone' }, { id: 'LEFT' }] });
  t.match((await viewer.get('/api/v1/sites/north/trace/batch/gone/materials')).body, { batchID: 'gone', inputs: [{ lotID: 'TAKEN' }] });
  for (const way of ['forward', 'backward'])
    t.match(await viewer.get(`${lotAt('SOUTH')}/${way}`), { status: 404, body: { code: 'unknown_lot', error: /site north .* lot SOUTH/ } });
  t.match(await viewer.get('/api/v1/sites/north/trace/genealogy/mono-1'), { status: 404, body: { code: 'unknown_lot' } }, 'letters count');
  t.match(await viewer.get('/api/v1/sites/north/trace/batch/b-9/materials'), { status: 404, body: { code: 'not_found' } });
  t.match(await viewer.get('/api/v1/sites/east/trace/genealogy/MONO-1'), { status: 404 });
  await store.write({ puts: [{ kind: Batch, site: 'north', name: 'waits', spec: parse(BatchSpec, { batchID: 'WAITS', masterRecipeRef: 'resin-a' }) } as Put] });
  t.same((await viewer.get('/api/v1/sites/north/trace/batch/waits/materials')).body, { batch: 'waits', batchID: 'WAITS', inputs: [], outputs: [] });
});

t.test('ROUTE-03: lots are named in any letters', async (t) => {
  const odd = ['2026/07 A', 'Größe Ü-1', '100 % pure?#&', 'a\\b"c', "O'Neill", 'ñ漢字', '..', '%2F', ' x'];
  await ran('north', 'odd', { took: odd.map((lot) => [lot, '1', 'salt'] as const), made: [['2026/07 B', '9', 'salt']] });
  for (const lot of odd.filter((each) => each !== '..')) {
    t.match((await viewer.get(`${lotAt(lot)}/forward`)).body, { lotID: lot, nodes: [{ id: lot }, { id: 'odd' }, { id: '2026/07 B' }] }, lot);
  }
  t.same(
    ids((await viewer.get(`${lotAt('2026/07 B')}/backward`)).body)
      .slice(2)
      .sort(),
    odd.map((lot) => `lot ${lot}`).sort(),
  );
});

t.test('ROUTE-03: pages are of the moment of the first one, and every node and entry is on one of them', async (t) => {
  for (let n = 0; n < 12; n += 1)
    await ran('north', `w-${n}`, {
      took: [['WIDE', '1']],
      made: [
        [`W-${n}`, '1'],
        ['W-ALL', '0.1'],
      ],
    });
  const whole = (await viewer.get(`${lotAt('WIDE')}/forward`)).body;
  t.same([whole.nodes.length, whole.edges.length], [26, 36]);
  const nodes: object[] = [];
  const edges: object[] = [];
  let cursor: string | null = '';
  let pages = 0;
  do {
    const { body } = await viewer.get(`${lotAt('WIDE')}/forward?limit=5${cursor === '' ? '' : `&cursor=${cursor}`}`);
    nodes.push(...body.nodes);
    edges.push(...body.edges);
    t.equal(body.truncated, body.nextCursor !== null);
    cursor = body.nextCursor;
    pages += 1;
    if (pages === 2) await ran('north', 'w-00', { took: [['WIDE', '1']], made: [['W-00', '1']] }); // would come before those that are told already
  } while (cursor !== null);
  t.equal(pages, 6);
  t.same(nodes, whole.nodes);
  t.same(new Set(edges.map((edge) => JSON.stringify(edge))).size, new Set(whole.edges.map((edge: object) => JSON.stringify(edge))).size);
  t.equal(edges.length, whole.edges.length);
  t.equal((await viewer.get(`${lotAt('WIDE')}/forward`)).body.nodes.length, 28, 'a new trace has what came since');
  t.match((await viewer.get(`${lotAt('WIDE')}/forward?depth=1`)).body, { depth: 1, truncated: true, nextCursor: null });
  for (const [query, field] of [
    ['depth=0', 'depth'],
    ['depth=51', 'depth'],
    ['depth=two', 'depth'],
    ['limit=5001', 'limit'],
    ['cursor=xx', 'cursor'],
  ] as const) {
    t.match(await viewer.get(`${lotAt('WIDE')}/forward?${query}`), { status: 400, body: { code: 'invalid_query', field } }, query);
  }
});

t.test('ROUTE-03, 8.5: a lot that gave more than was received of it is told, from either side and in the genealogy', async (t) => {
  await ran('north', 'm-1', { took: [['OUT', '500']], made: [['SHORT', '10']] });
  await ran('north', 'm-2', {
    took: [
      ['SHORT', '7'],
      ['OUT', '900'],
    ],
    made: [['S-1', '7']],
  });
  await ran('north', 'm-3', { took: [['SHORT', '4']], made: [['S-2', '4']] });
  const exceptions = [{ code: 'lot_gives_more_than_received', lot: 'SHORT', received: '10', given: '11', unit: 'kg' }];
  for (const way of [
    `${lotAt('OUT')}/forward`,
    `${lotAt('SHORT')}/forward`,
    `${lotAt('SHORT')}/backward`,
    `${lotAt('S-1')}/backward`,
    '/api/v1/sites/north/trace/genealogy/S-2',
    '/api/v1/sites/north/trace/genealogy/SHORT',
  ])
    t.same((await viewer.get(way)).body.exceptions, exceptions, way);
  await ran('north', 'r-1', {
    took: [
      ['R-IN', '10'],
      ['BACK', '2'],
    ],
    made: [['BACK', '12']],
  });
  t.match((await viewer.get(`${lotAt('BACK')}/forward`)).body, {
    exceptions: [],
    nodes: [{ id: 'BACK', quantity: '12' }, { id: 'r-1' }],
    edges: [{ relation: 'consumed' }, { relation: 'produced' }],
  });
});

t.test('ROUTE-03: who may not see a site is told of none of its lots', async (t) => {
  const southern = await gateway.as('viewer', 'site-south');
  for (const at of [`${lotAt('MONO-1')}/forward`, `${lotAt('NOBODY')}/backward`, '/api/v1/sites/north/trace/genealogy/MONO-1', '/api/v1/sites/north/trace/batch/b-1/materials'])
    t.match(await southern.get(at), { status: 403, body: { code: 'site_scope' } }, at);
  t.equal((await southern.get(`${lotAt('MONO-1', 'south')}/forward`)).status, 200);
  t.equal((await gateway.request('GET', `${lotAt('MONO-1')}/forward`)).status, 401);
});

t.test('ROUTE-03: a lot that went into more batches than one page of the ledger holds is traced whole', async (t) => {
  const facts = Array.from({ length: 5300 }, (_, n) =>
    executionEvent('south', `c-${String(n % 4900).padStart(4, '0')}`, '', {
      eventType: 'Material',
      eventSubType: 'Consume',
      value: '1',
      previousValue: 'MANY',
      message: 'salt (kg)',
    }),
  );
  await store.write({ facts });
  const { body } = await viewer.get(`${lotAt('MANY', 'south')}/forward`);
  t.same([body.nodes.length, new Set(ids(body)).size, body.edges.length, body.truncated], [4901, 4901, 5300, false]);
});
