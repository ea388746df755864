/** What a unit says of its overrides while nothing can be written: its modules show it as soon as something can be written again. */
import t from 'tap';
import { parse } from 'valibot';
import { ControlModule, ControlModuleSpec } from '../../../src/domains/control-modules/kind.js';
import { Unit, UnitSpec } from '../../../src/domains/plant/kind.js';
import type { UnitLink, UnitRuntimes } from '../../../src/domains/placement/runtimes.js';
import { keepOverrides } from '../../../src/domains/units/overrides.js';
import type { Put } from '../../../src/platform/store/store.js';
import { freshStore } from '../../support/fresh-store.js';

const { ledger, clock, store } = await freshStore(t);
const link = { site: 'north', unit: 'u1' } as UnitLink;
type Listeners = { readonly [On in 'onMessage' | 'onChange']: Parameters<UnitRuntimes[On]>[0] };
const heard: { -readonly [On in keyof Listeners]?: Listeners[On] } = {};
const runtimes: Pick<UnitRuntimes, keyof Listeners> = {
  onMessage(listener) {
    heard.onMessage = listener;
  },
  onChange(listener) {
    heard.onChange = listener;
  },
};
keepOverrides({ store, runtimes: runtimes as UnitRuntimes, clock });
const says = (...inForce: { address: string; value: number }[]): void => heard.onMessage?.(link, { type: 'overrides', overrides: inForce });
const shown = () => store.get(ControlModule, 'north', 'xv1')?.status.overrides.map(({ tag, value }) => `${tag} ${value}`);
const reloaded = (): Promise<void> => new Promise((resolve) => store.watchReload(resolve));

t.test('decisions 5.1: an override that begins or ends while nothing can be written is shown, or shown no more, when something can be', async (t) => {
  const spec = parse(ControlModuleSpec, { templateRef: 'valve', parentName: 'u1' });
  await store.write({ puts: [{ kind: ControlModule, site: 'north', name: 'xv1', spec } as Put] });
  says({ address: 'xv1.OUT', value: 1 });
  await store.recorded;
  t.same(shown(), ['OUT 1']);

  // somebody else used the next number: the ledger refuses what does not follow, as it refuses everything on a full disk
  await ledger.commit({ puts: [], removes: [], audits: [], facts: [{ stream: 'notes/north', sequence: 1, body: {} }], nonces: [] });
  const refusing = reloaded();
  const refused = store.apply({ facts: [{ stream: 'notes/north', body: () => ({}) }] }).durable;
  says({ address: 'xv1.OUT', value: 2 }); // in the store, and taken back with what failed
  await t.rejects(refused);
  await refusing;
  t.same(shown(), ['OUT 1']);
  says({ address: 'xv1.SP', value: 3 });
  const at = new Date(clock.wallMs()).toISOString();

  const accepting = reloaded();
  clock.advance(60_000);
  await accepting;
  await store.recorded;
  t.same(shown(), ['SP 3'], 'what is so now');
  t.equal(store.get(ControlModule, 'north', 'xv1')?.status.overrides[0]?.at, at, 'with the time at which it was said');
});

t.test("what a unit that was deleted has said last is nobody's word any more", async (t) => {
  await store.write({ puts: [{ kind: Unit, site: 'north', name: 'u1', spec: parse(UnitSpec, { processCellName: 'c1' }) } as Put] });
  says({ address: 'xv1.OUT', value: 1 });
  await store.write({ removes: [{ kind: Unit.kind, site: 'north', name: 'u1' }] });
  await store.write({ removes: [{ kind: ControlModule.kind, site: 'north', name: 'xv1' }] });
  await store.write({ puts: [{ kind: ControlModule, site: 'north', name: 'xv1', spec: parse(ControlModuleSpec, { templateRef: 'valve', parentName: 'u1' }) } as Put] });
  await ledger.commit({ puts: [], removes: [], audits: [], facts: [{ stream: 'notes/north', sequence: 2, body: {} }], nonces: [] });
  const refusing = reloaded();
  await t.rejects(store.apply({ facts: [{ stream: 'notes/north', body: () => ({}) }] }).durable);
  await refusing;
  const accepting = reloaded();
  clock.advance(60_000);
  await accepting;
  await store.recorded;
  t.same(shown(), []);
});
