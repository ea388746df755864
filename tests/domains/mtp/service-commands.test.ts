/** What becomes of a command to a service (decisions 3.10, 4.5; ADR 0074), against a device that a test plays, on a clock that a test moves. */
import t from 'tap';
import type { RequestAnswer } from '../../../src/domains/batches/phases/phase-reports.js';
import { bitOf, SERVICE_COMMANDS, type ServiceCommand } from '../../../src/domains/io-modules/service-words.js';
import { operationModeIn } from '../../../src/domains/mtp/live-service.js';
import { MtpServices, type ServiceParts } from '../../../src/domains/mtp/services.js';
import { TestClock } from '../../support/test-clock.js';

const VARIABLES = [
  ...['CommandOp', 'CommandExt', 'ProcedureOp', 'ProcedureExt', 'StateCur', 'CommandEn', 'ProcedureCur', 'ProcedureReq'],
  ...['StateOffAct', 'StateOpAct', 'StateAutAct', 'SrcIntAct', 'SrcExtAct'],
];
const SERVICE = {
  name: 'Dose',
  variables: Object.fromEntries(VARIABLES.map((name) => [name, name])),
  procedures: [
    { id: 1, name: 'Slow' },
    { id: 2, name: 'Fast' },
  ],
};
const STATE = { Idle: 16, Starting: 8, Execute: 64, Completing: 65_536, Completed: 131_072, Held: 2048, Holding: 1024, Paused: 32, Aborting: 256, Stopping: 128 } as const;
const EVERYTHING = SERVICE_COMMANDS.reduce((sum, command) => sum + (bitOf(command) ?? 0), 0);
const START = bitOf('Start') ?? 0;

type Values = Record<string, number | boolean>;

/** A service in Automatic and External that enables everything. */
const AUTOMATIC: Values = {
  ...{ StateCur: STATE.Idle, CommandEn: EVERYTHING, ProcedureCur: 0, ProcedureReq: 0, CommandExt: 0, CommandOp: 0, ProcedureExt: 0, ProcedureOp: 0 },
  ...{ StateOffAct: false, StateOpAct: false, StateAutAct: true, SrcIntAct: false, SrcExtAct: true },
};
const OPERATOR: Values = { ...AUTOMATIC, StateOpAct: true, StateAutAct: false, SrcExtAct: false };

interface Played {
  /** What is written takes effect, unless this says what does instead. */
  readonly onWrite?: (variable: string, value: number, device: Device) => void;
  readonly answersAfterMs?: number;
  /** Orders take so long, one behind the other, as behind another order of the module. */
  readonly writesAfterMs?: number;
}

class Device {
  readonly clock = new TestClock();
  readonly values: Values;
  readonly bad = new Set<string>();
  readonly writes: string[] = [];
  /** Who is told to have asked what it reads. */
  readonly askers = new Set<string | undefined>();
  readonly services: MtpServices;
  readonly #startedMs = this.clock.monoMs();
  readonly #giveUp = new AbortController();
  isGone = false;

  constructor(values: Values, { onWrite, answersAfterMs = 0, writesAfterMs = answersAfterMs }: Played = {}) {
    this.values = { ...values };
    let orders = Promise.resolve();
    const late = (ms = answersAfterMs): Promise<void> => (ms === 0 ? Promise.resolve() : new Promise((resolve) => this.clock.after(ms, resolve)));
    const probes = {
      read: async (_site: string, _module: string, channels: readonly string[], asker?: string) => {
        this.askers.add(asker);
        await late();
        if (this.isGone) return undefined;
        return channels.map((channel) => ({ channel, value: this.values[channel] ?? null, quality: this.bad.has(channel) ? ('Bad' as const) : ('Good' as const) }));
      },
      write: async (_site: string, _module: string, channel: string, value: number) => {
        orders = orders.then(() => late(writesAfterMs));
        await orders;
        this.writes.push(`${channel}=${value}`);
        if (this.isGone) return undefined;
        this.values[channel] = value;
        if (channel === 'ProcedureExt' || channel === 'ProcedureOp') this.values.ProcedureReq = value;
        if (value !== 0) onWrite?.(channel, value, this);
        return { ok: true };
      },
    } as unknown as ServiceParts['probes'];
    const store = { get: () => ({ spec: { enabled: true, protocol: 'opcua', services: [SERVICE] } }) } as unknown as ServiceParts['store'];
    this.services = new MtpServices({ store, clock: this.clock, probes, image: () => () => undefined });
  }

  set(values: Values): void {
    Object.assign(this.values, values);
  }

  /** In so much time of the device. */
  later(ms: number, values: Values): void {
    this.clock.after(ms, () => this.set(values));
  }

  giveUp(): void {
    this.#giveUp.abort();
  }

  get elapsedMs(): number {
    return this.clock.monoMs() - this.#startedMs;
  }

  give(command: ServiceCommand, procedure?: string | number, agoMs = 0): Promise<RequestAnswer> {
    const { signal: gaveUp } = this.#giveUp;
    return this.services.command({ site: 'north', service: 'm/Dose', command, procedure }, { atMonoMs: this.clock.monoMs() - agoMs, gaveUp, stillWaits: () => !gaveUp.aborted });
  }

  /** Time passes until it is answered. */
  async until<Answer>(answer: Promise<Answer>): Promise<Answer> {
    let isAnswered = false;
    const ended = answer.finally(() => (isAnswered = true));
    while (!isAnswered) {
      await new Promise((resolve) => setImmediate(resolve));
      if (!isAnswered) this.clock.advance(10);
    }
    return ended;
  }
}

const ACCEPTED = { ok: true, value: true };
const commandWords = ({ writes }: Device): readonly string[] => writes.filter((each) => each.startsWith('Command'));

t.test('MTP-02: nothing is written to a device once 9 s have passed since the chart asked, however long its answers take', async (t) => {
  const slow = new Device(OPERATOR, { answersAfterMs: 4000 });
  t.match(await slow.until(slow.give('Start', 1)), {
    ok: false,
    rule: 'mtp-command-timeout',
    message: /Start was not written, because 9 s had passed since the chart asked.*ProcedureOp keeps procedure 1/,
  });
  t.ok(slow.elapsedMs <= 9000, 'the chart hears it before it gives up by itself');
  slow.clock.advance(60_000);
  await new Promise((resolve) => setImmediate(resolve));
  t.same(slow.writes, ['ProcedureOp=1'], 'and no command later');
  const late = new Device(OPERATOR);
  t.match(await late.until(late.give('Start', undefined, 9500)), { ok: false, rule: 'mtp-command-timeout' });
  t.same(late.writes, [], 'a request that has waited elsewhere has its time from when it was made');
  const almost = new Device(OPERATOR, { answersAfterMs: 3500 });
  t.match(await almost.until(almost.give('Start')), { rule: 'mtp-command-timeout' }, 'what takes so long for an answer');
  const tooSlow = new Device(OPERATOR, { answersAfterMs: 4700 });
  t.match(await tooSlow.until(tooSlow.give('Start')), { ok: false, message: /its device takes 4.7 s for an answer/ });
  t.same(tooSlow.writes, [], 'a word that would reach the device when the chart has given up is not sent');
});

t.test('MTP-02: a command whose phase is held, stopped or aborted before the word goes out is not written', async (t) => {
  const device = new Device(AUTOMATIC, { answersAfterMs: 500 });
  const answer = device.give('Start', 1);
  device.clock.after(1200, () => device.giveUp());
  t.match(await device.until(answer), { ok: false, rule: 'mtp-command-withdrawn', message: /Start was not written, because its phase was held or waited no more/ });
  device.clock.advance(20_000);
  await new Promise((resolve) => setImmediate(resolve));
  t.same(commandWords(device), []);
});

t.test('MTP-02: a word that stands when the phase is aborted is taken back; what the aborting chart commands comes behind it', async (t) => {
  const device = new Device(AUTOMATIC, { onWrite: (_variable, value, { set }) => value === bitOf('Abort') && set.call(device, { StateCur: STATE.Aborting, CommandExt: 0 }) });
  const started = device.give('Start');
  t.match(await device.give('Hold'), { ok: false, message: /its command Start is not accepted yet/ }, 'a second one of others is refused');
  device.clock.after(300, () => device.giveUp());
  t.match(await device.until(started), { ok: false, rule: 'mtp-command-withdrawn', message: /CommandExt was set back to 0/ });
  const other = new Device(AUTOMATIC, { onWrite: (_variable, value, each) => value === bitOf('Abort') && each.set({ StateCur: STATE.Aborting, CommandExt: 0 }) });
  const first = other.give('Start');
  other.clock.after(300, () => other.giveUp());
  let aborted: Promise<RequestAnswer> | undefined;
  other.clock.after(301, () => {
    aborted = other.services.command(
      { site: 'north', service: 'm/Dose', command: 'Abort' },
      { atMonoMs: other.clock.monoMs(), gaveUp: new AbortController().signal, stillWaits: () => true },
    );
  });
  t.match(await other.until(first), { rule: 'mtp-command-withdrawn' });
  other.clock.advance(10);
  t.same(await other.until(aborted ?? Promise.reject(new Error('not asked'))), ACCEPTED);
  t.same(commandWords(other), [`CommandExt=${START}`, 'CommandExt=0', `CommandExt=${bitOf('Abort')}`]);
});

t.test('MTP-02: state, mode and command-enable word are looked at again directly before the command word is written', async (t) => {
  const changes: readonly (readonly [string, Values, RegExp])[] = [
    ['another mode', { StateOpAct: false, StateAutAct: true, SrcIntAct: true }, /source mode Internal/],
    ['another word', { StateOpAct: false, StateAutAct: true, SrcExtAct: true }, /become Idle with CommandExt, and was Idle with CommandOp/],
    ['off line', { StateOpAct: false, StateOffAct: true }, /Offline/],
    ['not enabled any more', { CommandEn: 8 }, /does not enable Start: it is Idle and enables Stop/],
    ['another state', { StateCur: STATE.Held }, /become Held/],
    ['no state', { StateCur: 3 }, /StateCur is 3/],
  ];
  for (const [what, values, why] of changes) {
    const device = new Device(OPERATOR, { onWrite: (variable, _value, each) => variable === 'ProcedureOp' && each.set(values) });
    const answer = await device.until(device.give('Start', 1));
    t.match(answer, { ok: false, rule: 'mtp-command-disabled', message: why }, what);
    t.match(answer.message, /ProcedureOp keeps procedure 1, and Start was not written/, `${what}: what stands is told`);
    t.same(device.writes, ['ProcedureOp=1'], what);
  }
});

t.test('MTP-01: a command is accepted by the states that it leads to, and by no others', async (t) => {
  const from = (command: ServiceCommand): number =>
    ({ Hold: STATE.Execute, Pause: STATE.Execute, Complete: STATE.Execute, Restart: STATE.Execute, Unhold: STATE.Held, Resume: STATE.Paused, Reset: STATE.Completed })[
      command as string
    ] ?? STATE.Idle;
  const leads: Readonly<Record<ServiceCommand, readonly number[]>> = {
    Reset: [32_768, 16],
    Start: [8, 64, 65_536, 131_072],
    Stop: [128, 4],
    Hold: [1024, 2048],
    Unhold: [4096, 64, 65_536, 131_072],
    Pause: [8192, 32],
    Resume: [16_384, 64, 65_536, 131_072],
    Abort: [256, 512],
    Restart: [8],
    Complete: [65_536, 131_072],
  };
  for (const command of SERVICE_COMMANDS)
    for (const state of [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072, 3, Number.NaN]) {
      const before = from(command);
      if (state === before) continue;
      const device = new Device({ ...AUTOMATIC, StateCur: before }, { onWrite: (variable, _value, each) => each.set({ [variable]: 0, StateCur: state }) });
      const answer = await device.until(device.give(command));
      if (leads[command].includes(state)) t.same(answer, ACCEPTED, `${command} to ${state}`);
      else t.match(answer, { ok: false }, `${command} to ${state}`);
    }
});

t.test('MTP-01 MTP-02: what a service does instead fails the command, and is named', async (t) => {
  const instead = async (what: string, values: Values, after: Values, failure: { rule: string; message: RegExp }, command: ServiceCommand = 'Start', procedure?: string) => {
    const device = new Device({ ...AUTOMATIC, ...values }, { onWrite: (variable, _value, each) => variable === 'CommandExt' && each.later(100, after) });
    t.match(await device.until(device.give(command, procedure)), { ok: false, ...failure }, what);
    t.equal(device.values.CommandExt, 0, `${what}: no word stands`);
  };
  const failed = (message: RegExp) => ({ rule: 'mtp-command-failed', message });
  await instead('it trips', {}, { StateCur: STATE.Aborting, CommandEn: 0 }, failed(/after Start it is Aborting, to which Start does not lead from Idle/));
  await instead('no state', {}, { StateCur: 3 }, failed(/after Start StateCur is 3, which is no state/));
  await instead('no number', {}, { StateCur: Number.NaN }, failed(/after Start StateCur is NaN/));
  await instead('off line', {}, { StateAutAct: false, StateOffAct: true, CommandEn: 0 }, failed(/operation mode Offline/));
  await instead('another mode', {}, { StateAutAct: false, StateOpAct: true }, failed(/mode has changed before it accepted Start/));
  await instead(
    'only what it enables',
    {},
    { CommandEn: 256 },
    { rule: 'mtp-command-timeout', message: /has not accepted Start within 9 s: it is Idle.*CommandExt was set back to 0/ },
  );
  await instead('another procedure', {}, { StateCur: STATE.Starting, ProcedureCur: 1 }, failed(/has accepted Start and shows procedure 1, not 2/), 'Start', 'Fast');
  await instead(
    'the procedure of before',
    { ProcedureCur: 1 },
    { StateCur: STATE.Starting },
    { rule: 'mtp-command-timeout', message: /shows procedure 1, not 2/ },
    'Start',
    'Fast',
  );
  const lying = new Device({ ...AUTOMATIC, StateCur: STATE.Execute });
  t.match(await lying.until(lying.give('Start')), { rule: 'mtp-command-disabled', message: /it is Execute already, and nothing would show that it has accepted Start/ });
  t.same(lying.writes, []);
});

t.test('MTP-01: a state that the service goes to by itself meanwhile is no failure', async (t) => {
  const device = new Device(
    { ...AUTOMATIC, StateCur: STATE.Starting },
    { onWrite: (_variable, _value, each) => (each.later(100, { StateCur: STATE.Execute }), each.later(400, { StateCur: STATE.Holding, CommandExt: 0 })) },
  );
  t.same(await device.until(device.give('Hold')), ACCEPTED);
});

t.test('MTP-01: Restart is accepted when Starting is seen, or the word was seen standing and is taken back; not by a service that does nothing', async (t) => {
  const executes = { ...AUTOMATIC, StateCur: STATE.Execute };
  const restarted = new Device(executes, { onWrite: (_variable, _value, each) => each.set({ StateCur: STATE.Starting, CommandExt: 0 }) });
  t.same(await restarted.until(restarted.give('Restart')), ACCEPTED);
  const quick = new Device(executes, { onWrite: (_variable, _value, each) => each.later(200, { CommandExt: 0 }) });
  t.same(await quick.until(quick.give('Restart')), ACCEPTED, 'what lies between was over before somebody looked');
  const deaf = new Device(executes, { onWrite: (_variable, _value, each) => each.set({ CommandExt: 0 }) });
  t.match(await deaf.until(deaf.give('Restart')), { rule: 'mtp-command-timeout', message: /it is Execute/ });
});

t.test('MTP-02: a command that was not accepted does not stay standing in the device, and it is told where it may', async (t) => {
  const silent = new Device(AUTOMATIC);
  t.match(await silent.until(silent.give('Start')), { rule: 'mtp-command-timeout', message: /within 9 s.*CommandExt was set back to 0$/ });
  t.same(commandWords(silent), [`CommandExt=${START}`, 'CommandExt=0']);
  t.equal(silent.values.CommandExt, 0);
  t.ok(silent.elapsedMs < 10_000, 'the chart hears it');
  const stubborn = new Device(AUTOMATIC);
  stubborn.clock.after(9000, () => Object.defineProperty(stubborn.values, 'CommandExt', { get: () => START, set: () => undefined }));
  t.match(await stubborn.until(stubborn.give('Start')), { rule: 'mtp-command-timeout', message: /CommandExt still reads 4, so Start may act later: set it back at the module/ });
  const gone = new Device(AUTOMATIC, { onWrite: (_variable, _value, each) => (each.isGone = true) });
  t.match(await gone.until(gone.give('Start')), { ok: false, message: /what CommandExt holds is not known, so Start may act later/ });
  const woken = new Device(AUTOMATIC, { onWrite: (_variable, _value, each) => each.later(8995, { StateCur: STATE.Starting, CommandExt: 0 }) });
  t.same(await woken.until(woken.give('Start')), ACCEPTED, 'what is accepted while the word is taken back counts');
});

t.test('MTP-02: an order that is still on its way when its phase is aborted does not stand in the device afterwards', async (t) => {
  const busy = new Device(OPERATOR, { answersAfterMs: 20, writesAfterMs: 2000 });
  const answer = busy.give('Start');
  busy.clock.after(500, () => busy.giveUp());
  t.match(await busy.until(answer), { ok: false, rule: 'mtp-command-withdrawn', message: /CommandOp was set back to 0/ });
  t.same(commandWords(busy), [`CommandOp=${START}`, 'CommandOp=0']);
  t.equal(busy.values.CommandOp, 0);

  const away = new Device(OPERATOR, { answersAfterMs: 20, writesAfterMs: 4000 });
  const late = away.give('Start');
  away.clock.after(500, () => away.giveUp());
  t.match(await away.until(late), { ok: false, message: /whether CommandOp = 4 is still on its way.*may act later/ });
  t.ok(away.elapsedMs <= 6000);
});

t.test('MTP-02: the mode is known only when each of its flags is Good and exactly one stands', async (t) => {
  for (const flag of ['StateOffAct', 'StateOpAct', 'StateAutAct', 'SrcIntAct', 'SrcExtAct']) {
    const device = new Device(AUTOMATIC);
    device.bad.add(flag);
    t.match(await device.until(device.give('Start')), { rule: 'mtp-command-disabled', message: /mode is not known/ }, flag);
    t.same(device.writes, []);
  }
  const odd = new Device({ ...AUTOMATIC, StateOffAct: 2 });
  t.match(await odd.until(odd.give('Start')), { message: /operation mode is not known/ }, 'a value that is no flag');
  const both = new Device({ ...AUTOMATIC, StateOpAct: true });
  t.match(await both.until(both.give('Start')), { message: /operation mode is not known/ });
  const good = { value: true, quality: 'Good' } as const;
  t.equal(operationModeIn(new Map([['StateAutAct', good]])), 'Automatic', 'a service that has no channel for the others does not show them');
});

t.test('ADR 0106: whatever a chart looks at is asked as a chart, which waits for nothing that people ask', async (t) => {
  const device = new Device(OPERATOR);
  t.match(await device.until(device.services.state('north', 'm/Dose')), { ok: true, value: 'Idle' });
  t.match(await device.until(device.services.commandEnabled('north', 'm/Dose', 'Start')), { ok: true, value: true });
  device.later(200, { StateCur: STATE.Execute });
  await device.until(device.give('Start'));
  t.same([...device.askers], ['chart']);
});
