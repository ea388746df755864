/** Which elements belong to whom, kept beside the store by its events. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { phasePlan } from '../../../src/domains/batches/phases/phase-plan.js';
import { ElementIndex } from '../../../src/domains/batches/tree/element-index.js';
import { CoordinationBlock } from '../../../src/domains/coordination/kind.js';
import { Operation, Phase, UnitProcedure } from '../../../src/domains/procedures/kind.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { type Put, Store } from '../../../src/platform/store/store.js';
import { noteChange, takeAuditNumber } from '../../support/ledger-child.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { at } from '../../support/at.js';

t.test('the index follows what is made, moved and deleted, and reads what the store has now', async (t) => {
  const { store, stop } = await startPlantGateway();
  t.teardown(() => stop());
  const element = (kind: unknown, name: string, batchRef: string, parentRef: object | null = null) =>
    ({ kind, site: 'demo', name, spec: { batchRef, parentRef } }) as unknown as Put;
  const work = { kind: 'UnitProcedure', name: 'work' };
  const charge = { kind: 'Operation', name: 'charge' };
  store.apply({ puts: [element(UnitProcedure, 'work', 'b-1'), element(Operation, 'charge', 'b-1', work)] });
  const index = new ElementIndex(store);
  store.apply({ puts: [element(Phase, 'open', 'b-1', charge), element(Phase, 'fill', 'b-1', charge), element(Phase, 'other', 'b-2'), element(CoordinationBlock, 'go', 'b-1')] });
  const names = (found: readonly { readonly metadata: { readonly name: string } }[]) => found.map(({ metadata }) => metadata.name);

  t.same(names(index.elementsOf('demo', 'b-1')), ['work', 'charge', 'fill', 'open'], 'level by level, by name; also what was there before');
  t.same(names(index.phasesOf('demo', 'b-2')), ['other']);
  t.same(names(index.blocksOf('demo', 'b-1')), ['go']);
  t.same(names(index.phasesUnder('demo', charge)), ['fill', 'open']);
  const top = at(index.elementsOf('demo', 'b-1'), 0);
  t.same(names(index.below(top)), ['charge', 'fill', 'open']);
  t.same(index.elementsOf('elsewhere', 'b-1'), [], 'sites apart');

  const open = store.get(Phase, 'demo', 'open');
  store.apply({ puts: [{ kind: Phase, site: 'demo', name: 'open', status: { ...open?.status, state: 'Running' } } as Put] });
  t.equal(at(index.phasesOf('demo', 'b-1'), 1).status.state, 'Running');

  store.apply({ puts: [element(Phase, 'fill', 'b-2')], removes: [{ kind: 'Phase', site: 'demo', name: 'open' }] });
  t.same(names(index.elementsOf('demo', 'b-1')), ['work', 'charge']);
  t.same(names(index.phasesOf('demo', 'b-2')), ['fill', 'other']);
  t.same(index.phasesUnder('demo', charge), []);
});

t.test('a signal whose condition can never be tested, as data of before may hold it, is not given to its phase to raise', async (t) => {
  const { store, stop } = await startPlantGateway();
  t.teardown(() => stop());
  const block = (name: string, condition: string) =>
    ({
      kind: CoordinationBlock,
      site: 'demo',
      name,
      spec: { batchRef: 'b-1', signal: { signalName: name, producer: { kind: 'Phase', name: 'fill' }, consumers: [], condition } },
    }) as unknown as Put;
  const texts = { steps: [], transitions: [], divergences: [], charts: {}, parameters: [], parameterValues: [], outputs: [], variables: [], roleMap: {}, unitRef: 'rx101' };
  store.apply({
    puts: [
      { kind: Phase, site: 'demo', name: 'fill', spec: { batchRef: 'b-1', parentRef: null, ...texts } } as unknown as Put,
      block('asks', "MTP_STATE('opc/dose') = 'Completed'"),
      block('reads', "READ('tic1.pv') > 3"),
    ],
  });
  const phase = store.get(Phase, 'demo', 'fill');
  if (!phase) throw new Error('it was put');
  t.match(phasePlan(store, phase), { signals: [{ name: 'reads' }], knownSignals: ['asks', 'reads'] });
});

t.test('G4: after a refused commit the index is of what is on disk', async (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-element-index-'));
  const ledger = await openLedger(dir);
  t.teardown(async () => {
    await ledger.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const store = new Store(ledger, systemClock);
  await store.open(0);
  const index = new ElementIndex(store);
  await store.write({ puts: [{ kind: Phase, site: 'demo', name: 'fill', spec: { batchRef: 'b-1', parentRef: null } } as unknown as Put] });
  await takeAuditNumber(ledger, 1);
  const refused = store.write({ ...noteChange('a', ''), removes: [{ kind: 'Phase', site: 'demo', name: 'fill' }] });
  t.same(index.phasesOf('demo', 'b-1'), [], 'gone until the disk has refused it');
  await t.rejects(refused);
  t.equal(index.phasesOf('demo', 'b-1').length, 1);
});
