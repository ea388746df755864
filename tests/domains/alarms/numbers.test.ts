/** Names of alarms count on and are never used again (Q-ALARM-02), also where rows of the store were damaged (D-C-02). */
import t from 'tap';
import { AlarmRegister } from '../../../src/domains/alarms/alarm-register.js';
import { Alarm, AlarmCounter, AlarmDefinition, type DefinitionResource } from '../../../src/domains/alarms/kind.js';
import { inside } from '../../../src/platform/base/assert.js';
import type { Put } from '../../../src/platform/store/kind.js';
import { Store } from '../../../src/platform/store/store.js';
import { freshStore } from '../../support/fresh-store.js';

const KINDS = [Alarm, AlarmCounter, AlarmDefinition];
const condition = { source: 'IOModule/plc', type: 'Equipment', severity: 'High', message: 'no answer', conditionType: 'DeviceHealth', value: 'Failure', units: [] } as const;

t.test('a counter that was lost goes on above the alarms there are, those that could not be read included', async (t) => {
  const { ledger, clock, store } = await freshStore(t);
  const alarm = (name: string, spec: object): Put => ({ kind: Alarm, site: 'north', name, spec, status: Alarm.initialStatus(spec as never) }) as Put;
  const damaged = { source: 5 };
  const register = new AlarmRegister({ store, clock });
  const first = register.raiseSystem('north', 'device', condition, clock.wallMs());
  t.equal(first, 'system-device-1');
  const { spec } = inside(store.list(Alarm), 0, 'the alarm that was raised');
  await store.write({
    puts: [alarm('system-device-7', spec), alarm('system-device-9', damaged), alarm('hot-4', damaged), alarm('system-device-x-30', spec)],
    removes: store.list(AlarmCounter).map(({ kind, metadata: { site, name } }) => ({ kind, site, name })),
  });

  const again = new Store(ledger, clock, undefined, KINDS);
  await again.open(0);
  t.match(again.faults, [
    { name: 'hot-4', kept: false },
    { name: 'system-device-9', kept: false },
  ]);
  const after = new AlarmRegister({ store: again, clock });
  t.equal(after.raiseSystem('north', 'device', condition, clock.wallMs()), 'system-device-10');
  t.equal(after.raiseSystem('north', 'device', condition, clock.wallMs()), 'system-device-11');
  const definition = {
    kind: 'AlarmDefinition',
    metadata: { site: 'north', name: 'hot' },
    spec: { severity: 'High', message: '', tagName: 'ti1.OUT', priority: 1 },
    status: {},
  } as unknown as DefinitionResource;
  t.equal(after.raise(definition, true, clock.wallMs()), 'hot-5');
  t.match(again.faults, [{ name: 'hot-4' }, { name: 'system-device-9' }], 'what lies there stays');
});
