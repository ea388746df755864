/** A name is any identifier: those that every object of the language answers to are names like any other (decisions 4.1). */
import t from 'tap';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import type { UnitPlan } from '../../../runtime/port.js';
import { network, tags, unitPlan } from './plans.js';

const AWKWARD = ['constructor', 'toString', 'valueOf', '__proto__', 'hasOwnProperty'];

function started(plan: UnitPlan): NetworkSet {
  const set = new NetworkSet(plan, { texts: new TextTable(), clockMs: () => 0 });
  set.latch(1000);
  set.scan(1);
  return set;
}

for (const name of AWKWARD) {
  t.test(`Decisions 3.8: values of a module, a block and a tag that are called ${name} are saved and come back`, async (t) => {
    const bound = [
      ...tags(`${name}.sp ${name}.SP REAL w`),
      { address: `${name}.${name}`, network: name, name, type: 'STRING' as const, writable: true, cyclic: true, binding: { kind: 'stored' as const, initial: '' } },
    ];
    const plan = unitPlan({ tags: bound, networks: [network({ name, blocks: [{ name, type: 'PID', params: { SP: 40, ti: 'T#10s' } }] })] });
    const set = started(plan);
    t.equal(set.write(set.slot(`${name}.sp`), 45), null);
    t.equal(set.write(set.slot(`${name}.${name}`), 'batch 7'), null);
    const saved = set.saveRetained();
    t.strictSame(Object.keys(saved ?? {}), [name], 'under its own name');
    const again = started({ ...plan, retained: structuredClone(saved ?? {}) });
    t.equal(again.read(again.slot(`${name}.sp`)), 45);
    t.equal(again.read(again.slot(`${name}.${name}`)), 'batch 7');
  });

  t.test(`Decisions 3.8: a stored tag of a module ${name} without a network is loaded where nothing was saved`, async (t) => {
    const stored = {
      address: `${name}.note`,
      network: name,
      name: 'note',
      type: 'STRING' as const,
      writable: true,
      cyclic: true,
      binding: { kind: 'stored' as const, initial: 'first' },
    };
    const set = started(unitPlan({ tags: [stored], networks: [] }));
    t.equal(set.read(set.slot(`${name}.note`)), 'first');
  });
}
