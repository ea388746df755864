/** Outputs in the hand of a holder, without the gateway that he asks from. */
import t, { type Test } from 'tap';
import { type HoldHost, OutputHold } from '../../../runtime/io/output-hold.js';
import type { HeldOutput, ProbeChannel } from '../../../runtime/port.js';
import { TestClock } from '../../support/test-clock.js';

const LEASE_MS = 5000;
const DEVICE = 'modbus 127.0.0.1:502 1';
const RETURN = { kind: 'return', device: DEVICE, before: [] } as const;
const left = (name: string, value: number) => ({ channel: name, value, source: 'read', address: name, dataType: 'int' }) as const;
const channel = (name: string): ProbeChannel => ({ name, address: name, direction: 'output', dataType: 'int', readbackAddress: '', pollIntervalMs: 100 });

function bench() {
  const clock = new TestClock();
  const device = new Map<string, number | string>([
    ['a', 7],
    ['b', 8],
  ]);
  const state = { isConnected: true, commanded: new Set<string>(), failSafe: new Map<string, number>(), withheld: '', isOthers: false, writes: 0, device: DEVICE, refusals: 0 };
  const outputs = [channel('a'), channel('b')];
  const ended: { readonly holder: string; readonly rows: readonly HeldOutput[] }[] = [];
  /** Writes that the device has not answered yet; undefined: it answers at once. */
  let waiting: (() => void)[] | undefined;
  const host: HoldHost = {
    clock,
    device: () => state.device,
    outputs: () => outputs,
    write: async ({ address }, value) => {
      state.writes += 1;
      if (waiting) await new Promise<void>((resolve) => void waiting?.push(resolve));
      if (state.refusals > 0) {
        state.refusals -= 1;
        return { ok: false, reason: 'refused', message: 'busy' };
      }
      if (!state.isConnected) return { ok: false, reason: 'unreachable', message: 'gone' };
      device.set(address, value);
      return { ok: true };
    },
    read: async (names) => names.map((name) => ({ channel: name, address: name, value: device.get(name) ?? null, quality: 'Good', atMs: 0, message: '' })),
    known: ({ address }) => {
      const failSafe = state.failSafe.get(address) ?? null;
      const isCommanded = state.commanded.has(address);
      return {
        isCommanded: isCommanded || failSafe !== null,
        isFailSafe: failSafe !== null,
        commanded: failSafe ?? (isCommanded ? 33 : null),
        written: isCommanded ? 33 : null,
        failSafe,
      };
    },
    withheld: () => state.withheld,
    isOthers: () => state.isOthers,
    failSafe: () => (state.failSafe.size > 0 ? 'fail-safe values written' : ''),
    failSafeTimeoutMs: () => 0,
    changed: () => undefined,
    ended: (holder, rows) => void ended.push({ holder, rows }),
    fault: (fault) => {
      throw fault;
    },
  };
  const slow = (): (() => void)[] => (waiting = []);
  return { clock, device, state, outputs, ended, slow, hold: new OutputHold(host) };
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
  t.match(await hold.ask('h', RETURN), { ok: true, outputs: [{ channel: 'a', value: 7, isReturned: true }] }, 'who asks late is told');
});

t.test('IO: nobody takes what another one holds, and one that logic commands by then is not put back', async (t) => {
  const { device, state, hold } = await taken(t);
  t.match(await hold.ask('other', { kind: 'take', leaseMs: LEASE_MS }), { ok: false, code: 'not_held' });
  state.commanded.add('a');
  t.match(await hold.ask('h', RETURN), { ok: true, outputs: [{ channel: 'a', isReturned: true }] });
  t.equal(device.get('a'), 50, 'logic writes what it commands');
});

t.test('IO: behind a lost connection the way back waits for the next one', async (t) => {
  const { device, state, hold } = await taken(t);
  state.isConnected = false;
  t.match(await hold.ask('h', RETURN), { ok: false, code: 'device_unreachable', outputs: [{ isReturned: false, message: 'gone' }] });
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
  const before = [left('a', 7)];
  state.withheld = 'another box drives it';
  t.match(await hold.ask('h', { kind: 'return', device: DEVICE, before }), { ok: false }, 'it is not known yet who drives it');
  t.equal(device.get('a'), 50);
  state.withheld = '';
  t.match(await hold.ask('h', { kind: 'return', device: DEVICE, before }), { ok: true, outputs: [{ isReturned: true }] });
  t.equal(device.get('a'), 7);
  Object.assign(state, { withheld: 'another box drives it', isOthers: true });
  device.set('a', 50);
  t.match(await hold.ask('i', { kind: 'return', device: DEVICE, before }), { ok: true, outputs: [{ isReturned: false, message: 'another box drives it' }] });
  t.equal(device.get('a'), 50);
});

t.test(
  'ADR 0086: the way back goes to the very output that was held; one that the module has no more, or of another device, is not written and not told as returned',
  async (t) => {
    const { device, state, outputs, hold } = bench();
    device.set('a', 50);
    state.device = 'modbus 127.0.0.1:503 1';
    const before = [left('a', 7)];
    t.match(await hold.ask('h', { kind: 'return', device: DEVICE, before }), { ok: true, outputs: [{ channel: 'a', isReturned: false, message: /another device/ }] });
    t.equal(state.writes, 0);
    t.equal(hold.reason, '', 'and nothing is held for it');
    state.device = DEVICE;
    outputs.splice(0, 1, { ...channel('b'), name: 'a' }, { ...channel('a'), dataType: 'float' });
    t.match(await hold.ask('h', { kind: 'return', device: DEVICE, before }), { ok: true, outputs: [{ channel: 'a', isReturned: false, message: /no such output/ }] });
    t.same([state.writes, device.get('a'), device.get('b')], [0, 50, 8], 'nor where another output has its name, or its address another type');
    outputs.push({ ...channel('a'), name: 'new' });
    t.match(
      await hold.ask('i', { kind: 'return', device: DEVICE, before }),
      { ok: true, outputs: [{ channel: 'a', isReturned: true }] },
      'an output that was renamed is the same one',
    );
    t.equal(device.get('a'), 7);
  },
);

t.test('ADR 0086: who asks for all of them is told of each: set and back, or not set', async (t) => {
  const { hold } = await taken(t);
  const { outputs } = await hold.ask('h', { kind: 'return', device: DEVICE, before: [left('a', 7), left('b', 8), left('c', 9)] });
  const rows = [
    ['a', true, ''],
    ['b', true, 'it was not set'],
    ['c', false, 'the module has no such output any more'],
  ];
  t.same(
    outputs.map(({ channel, isReturned, message }) => [channel, isReturned, message]),
    rows,
  );
  const again = await hold.ask('h', { kind: 'return', device: DEVICE, before: [left('a', 7), left('b', 8), left('c', 9)] });
  t.same(
    again.outputs.map(({ channel, isReturned, message }) => [channel, isReturned, message]),
    rows,
    'and once more',
  );
});

t.test('ADR 0086: fail-safe values go before a holder: they are not taken from, and are told as what stands there', async (t) => {
  const { device, state, hold } = await taken(t);
  state.failSafe.set('a', 555);
  hold.yieldToFailSafe();
  t.match(await hold.ask('h', { kind: 'set', channel: 'a', value: 60, leaseMs: LEASE_MS }), { ok: false, code: 'fail_safe_taken' });
  t.match(await hold.ask('h', RETURN), { ok: true, outputs: [{ channel: 'a', value: 555, source: 'fail-safe', isReturned: false, message: /^fail-safe values are taken/ }] });
  t.equal(device.get('a'), 50, 'whoever writes them is not the hold');
  t.match(await hold.ask('i', { kind: 'take', leaseMs: LEASE_MS }), { ok: false, code: 'fail_safe_taken' });
  t.equal(hold.reason, '');
});

t.test('ADR 0086: what is held is written again one at a time, never beside a write that lasts, and not where another box drives the device', async (t) => {
  const { clock, state, hold, slow, device } = bench();
  state.commanded.add('a').add('b');
  await hold.ask('h', { kind: 'take', leaseMs: 60_000 });
  const open = slow();
  for (let round = 0; round < 5; round += 1) {
    clock.advance(900);
    await turns();
  }
  t.equal(state.writes, 1, 'one is on its way, and no second behind it');
  open.shift()?.();
  await turns();
  t.equal(state.writes, 2);
  open.shift()?.();
  await turns();
  clock.advance(900);
  await turns();
  t.equal(state.writes, 3, 'the next round');
  state.withheld = 'another box drives it';
  open.shift()?.();
  for (let round = 0; round < 3; round += 1) {
    clock.advance(900);
    await turns();
  }
  t.equal(state.writes, 3, 'nothing more, whoever holds them');
  t.equal(device.get('a'), 33);
});

t.test('ADR 0086: a device that is busy when its outputs go back is asked again, while time lasts', async (t) => {
  const { clock, device, state, hold } = await taken(t);
  state.refusals = 2;
  t.match(await hold.ask('h', RETURN), { ok: false, outputs: [{ isReturned: false, message: 'busy' }] });
  for (let round = 0; round < 2; round += 1) {
    clock.advance(500);
    await turns();
  }
  t.match(await hold.ask('h', RETURN), { ok: true, outputs: [{ channel: 'a', value: 7, isReturned: true }] });
  t.equal(device.get('a'), 7);
  await hold.ask('i', { kind: 'take', leaseMs: LEASE_MS });
  await hold.ask('i', { kind: 'set', channel: 'a', value: 60, leaseMs: LEASE_MS });
  state.refusals = 1000;
  await hold.ask('i', RETURN);
  for (let round = 0; round < 30; round += 1) {
    clock.advance(500);
    await turns();
  }
  t.match(await hold.ask('i', RETURN), { ok: true, outputs: [{ isReturned: false, message: 'busy' }] }, 'one that goes on refusing is told so');
  t.equal(hold.reason, '');
});

t.test('ADR 0086: a module that is no longer served tells what became of what was held: with its last attempt, and where that failed as well', async (t) => {
  const back = await taken(t);
  await back.hold.close();
  t.match(back.ended, [{ holder: 'h', rows: [{ channel: 'a', value: 7, isReturned: true }] }]);
  t.equal(back.device.get('a'), 7);

  const away = await taken(t);
  away.state.isConnected = false;
  t.match(await away.hold.ask('h', RETURN), { ok: false });
  await away.hold.close();
  t.match(away.ended, [{ holder: 'h', rows: [{ channel: 'a', isReturned: false, message: 'gone' }] }]);

  const untold = await taken(t);
  untold.clock.advance(LEASE_MS);
  await turns();
  await untold.hold.close();
  t.match(untold.ended, [{ holder: 'h', rows: [{ channel: 'a', value: 7, isReturned: true }] }], 'also of a holder who has not asked yet');
});
