/** Outputs in the hand of a holder, without the gateway that he asks from. */
import t, { type Test } from 'tap';
import { type HoldHost, OutputHold } from '../../../runtime/io/output-hold.js';
import type { ProbeChannel } from '../../../runtime/port.js';
import { TestClock } from '../../support/test-clock.js';

const LEASE_MS = 5000;
const channel = (name: string): ProbeChannel => ({ name, address: name, direction: 'output', dataType: 'int', readbackAddress: '', pollIntervalMs: 100 });

function bench() {
  const clock = new TestClock();
  const device = new Map<string, number | string>([
    ['a', 7],
    ['b', 8],
  ]);
  const state = { isConnected: true, commanded: new Set<string>(), withheld: '', isOthers: false, writes: 0 };
  const host: HoldHost = {
    clock,
    outputs: () => [channel('a'), channel('b')],
    write: async ({ address }, value) => {
      state.writes += 1;
      if (!state.isConnected) return { ok: false, reason: 'unreachable', message: 'gone' };
      device.set(address, value);
      return { ok: true };
    },
    read: async (names) => names.map((name) => ({ channel: name, address: name, value: device.get(name) ?? null, quality: 'Good', atMs: 0, message: '' })),
    known: ({ address }) => ({ isCommanded: state.commanded.has(address), written: null, failSafe: null }),
    withheld: () => state.withheld,
    isOthers: () => state.isOthers,
    failSafeTimeoutMs: () => 0,
    changed: () => undefined,
    fault: (fault) => {
      throw fault;
    },
  };
  return { clock, device, state, hold: new OutputHold(host) };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

async function taken(t: Test) {
  const made = bench();
  t.match(await made.hold.ask('h', { kind: 'take', leaseMs: LEASE_MS }), { ok: true, outputs: [{ channel: 'a', value: 7, source: 'read' }, { channel: 'b' }] });
  t.match(await made.hold.ask('h', { kind: 'set', channel: 'a', value: 50, leaseMs: LEASE_MS }), { ok: true });
  t.equal(made.device.get('a'), 50);
  return made;
}

t.test('IO: a holder that gives no sign has let go: the probe puts back what he has set', async (t) => {
  const { clock, device, hold } = await taken(t);
  for (let second = 0; second < 10; second += 1) {
    clock.advance(1000);
    await turns();
    if (second < 8) t.match(await hold.ask('h', { kind: 'renew', leaseMs: LEASE_MS }), { ok: true });
  }
  t.equal(device.get('a'), 50, 'held for as long as he gives signs');
  clock.advance(LEASE_MS);
  await turns();
  t.equal(device.get('a'), 7);
  t.equal(hold.reason, '');
  t.match(await hold.ask('h', { kind: 'renew', leaseMs: LEASE_MS }), { ok: false, code: 'not_held' });
  t.match(await hold.ask('h', { kind: 'set', channel: 'a', value: 50, leaseMs: LEASE_MS }), { ok: false, code: 'not_held' });
  t.match(await hold.ask('h', { kind: 'return', before: [] }), { ok: true, outputs: [{ channel: 'a', value: 7, isReturned: true }] }, 'who asks late is told');
});

t.test('IO: nobody takes what another one holds, and one that logic commands by then is not put back', async (t) => {
  const { device, state, hold } = await taken(t);
  t.match(await hold.ask('other', { kind: 'take', leaseMs: LEASE_MS }), { ok: false, code: 'not_held' });
  state.commanded.add('a');
  t.match(await hold.ask('h', { kind: 'return', before: [] }), { ok: true, outputs: [{ channel: 'a', isReturned: true }] });
  t.equal(device.get('a'), 50, 'logic writes what it commands');
});

t.test('IO: behind a lost connection the way back waits for the next one', async (t) => {
  const { device, state, hold } = await taken(t);
  state.isConnected = false;
  t.match(await hold.ask('h', { kind: 'return', before: [] }), { ok: false, code: 'device_unreachable', outputs: [{ isReturned: false, message: 'gone' }] });
  t.not(hold.reason, '', 'and nobody else writes before it');
  state.isConnected = true;
  hold.connected();
  await turns();
  t.equal(device.get('a'), 7);
  t.equal(hold.reason, '');
});

t.test('IO: a probe that was started since knows from the holder what the outputs had; another box that drives the device is left alone', async (t) => {
  const { device, state, hold } = bench();
  device.set('a', 50);
  const before = [{ channel: 'a', value: 7, source: 'read' as const }];
  state.withheld = 'another box drives it';
  t.match(await hold.ask('h', { kind: 'return', before }), { ok: false }, 'it is not known yet who drives it');
  t.equal(device.get('a'), 50);
  state.withheld = '';
  t.match(await hold.ask('h', { kind: 'return', before }), { ok: true, outputs: [{ isReturned: true }] });
  t.equal(device.get('a'), 7);
  Object.assign(state, { withheld: 'another box drives it', isOthers: true });
  device.set('a', 50);
  t.match(await hold.ask('i', { kind: 'return', before }), { ok: true, outputs: [{ isReturned: false, message: 'another box drives it' }] });
  t.equal(device.get('a'), 50);
});
