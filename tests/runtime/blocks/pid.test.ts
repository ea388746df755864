/**
 * PID in closed loop against what a control engineer computes by hand (decisions 5.4): closed forms of the discrete loop
 * where there are any, else the recurrence written out beside the test. Nothing of the product computes an expectation.
 */
import t from 'tap';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import type { RetainedNetwork, UnitPlan } from '../../../runtime/port.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import type { ParamValue } from '../../../runtime/vocabulary/network.js';
import { CONNECTION, IMAGE_HEADER, ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY, QUALITY_WORDS, type Quality } from '../../../runtime/vocabulary/quality.js';
import { network, tags, unitPlan } from '../network/plans.js';
import { at, leading } from '../../support/at.js';

const WRITTEN = ['SP', 'RSP', 'MAN', 'FF', 'TRKV'].map((port) => `p.${port} pid.${port} REAL w`);
const SWITCHED = ['AUTO', 'CAS', 'TRK'].map((port) => `p.${port} pid.${port} BOOL w`);
const SHOWN = ['OUT REAL', 'SPW REAL', 'ERR REAL', 'SAT BOOL', 'MODE STRING'].map((port) => `p.${port.split(' ')[0]} pid.${port}`);

type Params = Readonly<Record<string, ParamValue>>;

/** One PID block: PV comes from a channel with its quality, everything else from operators' tags. */
class Controller {
  #set: NetworkSet;
  readonly #texts = new TextTable();
  readonly #io = new ProcessImage(1);
  readonly #retained: Readonly<Record<string, RetainedNetwork>>;
  #nowMs = 1000;

  constructor(params: Params, scanMs = 100, retained: Readonly<Record<string, RetainedNetwork>> = {}) {
    Atomics.store(this.#io.header, IMAGE_HEADER.connection, CONNECTION.connected);
    this.#retained = retained;
    this.#set = this.#load(params, scanMs);
  }

  #load(params: Params, scanMs: number, previous?: NetworkSet): NetworkSet {
    const channels = [{ name: 'pv', address: 'pv', direction: 'input' as const, dataType: 'float' as const, hasReadback: false }];
    const plan: UnitPlan = unitPlan({
      scanIntervalMs: scanMs,
      retained: this.#retained,
      images: [{ module: 'io', buffer: this.#io.buffer, staleAfterMs: 0, channels }],
      tags: [
        { address: 't.pv', network: 't', name: 'pv', type: 'REAL', writable: false, cyclic: true, binding: { kind: 'channel', image: 0, channel: 0 } },
        ...tags(...WRITTEN, ...SWITCHED, ...SHOWN),
      ],
      networks: [
        network({
          name: 'p',
          scanIntervalMs: scanMs,
          blocks: [{ name: 'pid', type: 'PID', params }],
          variables: [{ name: 'pv', dataType: 'REAL', direction: 'input' }],
          variableBindings: [{ variable: 'pv', blockRef: 'pid', portRef: 'PV' }],
          inputs: [{ variable: 'pv', tag: 0 }],
        }),
      ],
    });
    const set = new NetworkSet(plan, { texts: this.#texts, clockMs: () => 0, ...(previous && { previous }) });
    const report = at(set.reports(), 0);
    if (report.state === 'Error') throw new Error(report.message);
    return set;
  }

  /** Another plan for the running block: parameters or scan interval. */
  swap(params: Params, scanMs: number): void {
    this.#set = this.#load(params, scanMs, this.#set);
  }

  /** One scan with this measurement; `periods` scan intervals after the one before. */
  scan(pv: number, quality: Quality = 'Good', periods = 1): number {
    this.#nowMs += 100;
    this.#io.beginInputs();
    this.#io.value[0] = pv;
    this.#io.quality[0] = QUALITY[quality];
    this.#io.stamp(0, this.#nowMs, this.#nowMs);
    this.#io.endInputs();
    this.#set.latch(this.#nowMs);
    this.#set.scan(periods);
    return this.out;
  }

  get(port: string): Value {
    return this.#set.read(this.#set.slot(`p.${port}`));
  }

  get out(): number {
    return Number(this.get('OUT'));
  }

  get quality(): string {
    return at(QUALITY_WORDS, this.#set.quality(this.#set.slot('p.OUT')));
  }

  write(port: string, value: Value): this {
    const refused = this.#set.write(this.#set.slot(`p.${port}`), value);
    if (refused) throw new Error(refused.message);
    return this;
  }

  module(mode: 'Automatic' | 'Manual'): void {
    this.#set.setModuleMode('p', mode);
  }

  saved(): Record<string, RetainedNetwork> {
    return this.#set.saveRetained() ?? {};
  }
}

/** First-order process of gain K: y' = a*y + b*u once per scan, exact for a held output. */
interface Process {
  readonly a: number;
  readonly b: number;
}

function firstOrder(gain: number, tauS: number, dtS = 0.1): Process {
  const a = Math.exp(-dtS / tauS);
  return { a, b: gain * (1 - a) };
}

/** Trajectory of the process under the controller, `y[0]` = 0. */
function closedLoop(controller: Controller, { a, b }: Process, scans: number): number[] {
  const y = [0];
  for (let k = 0; k < scans; k += 1) y.push(a * at(y, k) + b * controller.scan(at(y, k)));
  return y;
}

/** The farthest that two trajectories are apart. */
function apart(one: readonly number[], other: readonly number[]): number {
  return Math.max(...one.map((value, k) => Math.abs(value - at(other, k))));
}

const ROUNDING = 1e-9;

t.test('Decisions 5.4: a P controller leaves the offset r/(1 + K*kp) and gets there with the pole a - b*kp', async (t) => {
  const [gain, kp, r] = [2, 1.5, 20];
  const process = firstOrder(gain, 3);
  const pole = process.a - process.b * kp;
  const end = (process.b * kp * r) / (1 - pole);
  const seen = closedLoop(new Controller({ kp, SP: r }), process, 400);
  const hand = seen.map((_, k) => end * (1 - pole ** k));
  t.ok(apart(seen, hand) < ROUNDING, `${apart(seen, hand)}`);
  t.ok(Math.abs(r - (seen.at(-1) ?? 0) - r / (1 + gain * kp)) < ROUNDING, 'the offset of the text books');
});

t.test('Decisions 5.4: a PI controller that cancels the pole of the process makes y[k] = r * (1 - (1 - kp*b/a)^k)', async (t) => {
  // with ti = 1 s and dt = 0.1 s the zero of the controller lies at 1/(1 + dt/ti) = 1/1.1, where the process has its pole
  const [kp, r] = [1, 50];
  const a = 1 / 1.1;
  const process = { a, b: 1 - a };
  const seen = closedLoop(new Controller({ kp, ti: 'T#1s', SP: r }), process, 200);
  const hand = seen.map((_, k) => r * (1 - (1 - (kp * process.b) / a) ** k));
  t.ok(apart(seen, hand) < ROUNDING, `${apart(seen, hand)}`);
  t.ok(Math.abs((seen.at(-1) ?? 0) - r) < 1e-6, 'no offset');
});

t.test('Decisions 5.4: the derivative acts on the measurement, reaches kp*td*slope on a ramp and decays by td/(td + n*dt)', async (t) => {
  const [kp, tdS, n, dt] = [2, 0.8, 4, 0.1];
  const wide = { kp, td: 'T#800ms', n, outMin: -1000, outMax: 1000 };
  const decay = tdS / (tdS + n * dt);
  const ramp = new Controller(wide);
  for (let k = 0; k <= 300; k += 1) ramp.scan(0.5 * k);
  t.ok(Math.abs(ramp.out - (kp * (0 - 150) - kp * tdS * (0.5 / dt))) < ROUNDING, 'on a ramp of 5 per second');
  const step = new Controller(wide);
  step.scan(0);
  const seen = Array.from({ length: 20 }, () => step.scan(3));
  const hand = seen.map((_, k) => kp * -3 - kp * n * 3 * decay ** (k + 1));
  t.ok(apart(seen, hand) < ROUNDING, 'a step of the measurement');
  const target = new Controller(wide);
  target.scan(10);
  target.write('SP', 30);
  t.equal(target.scan(10), kp * 20, 'a step of the set-point gives no kick');
  const direct = new Controller({ ...wide, action: 'direct' });
  direct.scan(0);
  const mirrored = Array.from({ length: 20 }, () => direct.scan(3));
  t.ok(
    apart(
      mirrored,
      hand.map((value) => -value),
    ) < ROUNDING,
    'direct action mirrors it',
  );
});

/** Decisions 5.4 steps 1, 2 and 5 for a loop that stays in AUTO, written out. */
class ByHand {
  integral = 0;
  #derivative = 0;
  #before: number | undefined;
  readonly p: {
    readonly kp: number;
    readonly ti: number;
    readonly td: number;
    readonly n: number;
    readonly sigma: number;
    readonly low: number;
    readonly high: number;
    readonly band: number;
  };

  constructor(p: ByHand['p']) {
    this.p = p;
  }

  scan(sp: number, pv: number, dt: number, ff = 0): number {
    const { kp, ti, td, n, sigma, low, high, band } = this.p;
    const e = Math.abs(sp - pv) <= band ? 0 : sigma * (sp - pv);
    const moved = pv - (this.#before ?? pv);
    this.#before = pv;
    this.#derivative = td > 0 ? (td / (td + n * dt)) * (this.#derivative - kp * n * sigma * moved) : 0;
    const next = ti > 0 ? this.integral + ((kp * dt) / ti) * e : this.integral;
    let u = kp * e + next + this.#derivative + ff;
    if ((u > high && kp * e > 0) || (u < low && kp * e < 0)) u = kp * e + this.integral + this.#derivative + ff;
    else this.integral = next;
    return Math.min(Math.max(u, low), high);
  }
}

t.test('Decisions 5.4: PID on a process of second order follows the recurrence written out, saturated, with dead band and in both senses', async (t) => {
  const forms = [
    { kp: 2, ti: 5, td: 1, n: 8, sigma: 1, low: 0, high: 100, band: 0 },
    { kp: 6, ti: 2, td: 0.5, n: 10, sigma: 1, low: 10, high: 60, band: 0 },
    { kp: 3, ti: 4, td: 0, n: 8, sigma: 1, low: 0, high: 100, band: 0.7 },
    { kp: 2, ti: 3, td: 0.4, n: 5, sigma: -1, low: -100, high: 100, band: 0 },
  ];
  for (const form of forms) {
    const { kp, ti, td, n, sigma, low, high, band } = form;
    const params = { kp, ti: `T#${ti * 1000}ms`, td: `T#${td * 1000}ms`, n, action: sigma > 0 ? 'reverse' : 'direct', outMin: low, outMax: high, deadband: band };
    const controller = new Controller(params);
    const hand = new ByHand(form);
    let [x, y, worst] = [20, 20, 0];
    for (let k = 0; k < 1500; k += 1) {
      const sp = 20 + 30 * (Math.floor(k / 300) % 2);
      const load = k > 900 ? 8 : 0;
      controller.write('SP', sp).write('FF', load / 4);
      const [seen, wanted] = [controller.scan(y), hand.scan(sp, y, 0.1, load / 4)];
      worst = Math.max(worst, Math.abs(seen - wanted));
      x += 0.02 * (sigma * wanted - x);
      y += 0.05 * (x + load - y);
    }
    t.ok(worst < 1e-7, `${JSON.stringify(form)}: ${worst}`);
  }
});

t.test('Decisions 5.4 step 5: a saturated controller does not wind up and leaves the limit in the scan in which its error turns', async (t) => {
  const [kp, tiS, dt] = [2, 10, 0.1];
  const controller = new Controller({ kp, ti: 'T#10s', SP: 90 });
  let wound = 0;
  for (let k = 0; k < 600; k += 1) {
    wound += ((kp * dt) / tiS) * 70;
    t.equal(controller.scan(20), 100);
  }
  t.equal(controller.get('SAT'), true);
  controller.write('SP', 15);
  // P = -10; the integral, frozen when 2*70 alone was beyond the limit, is still 0
  t.equal(controller.scan(20), 0);
  controller.write('SP', 25);
  const seen = controller.scan(20);
  t.ok(Math.abs(seen - (kp * 5 + ((kp * dt) / tiS) * 5)) < ROUNDING, `back at once: ${seen}`);
  t.ok(wound - kp * 5 > 800, 'an integrator without limit would have had this much to unwind');
  const partly = new Controller({ kp, ti: 'T#10s', SP: 60 });
  for (let k = 0; k < 2000; k += 1) partly.scan(20);
  // P = 80; the integral grows by 0.8 a scan and stops at the last step that fits below 100
  t.ok(partly.out > 99 && partly.out <= 100);
  partly.write('SP', 20);
  const integral = partly.scan(20);
  t.ok(integral > 19 && integral <= 20 + ROUNDING, `the integral stopped at the limit: ${integral}`);
});

t.test('Decisions 5.4 steps 4 and 6: manual and automatic change without a bump', async (t) => {
  const [kp, tiS, dt] = [1.5, 20, 0.1];
  const rise = (error: number): number => ((kp * dt) / tiS) * error;
  const controller = new Controller({ kp, ti: 'T#20s', SP: 50 });
  for (let k = 0; k < 50; k += 1) controller.scan(40);
  const before = controller.out;
  controller.write('AUTO', false);
  t.equal(controller.scan(40), before, 'into manual: the output stays');
  t.equal(controller.get('MAN'), before, 'and stands in MAN');
  t.equal(controller.get('MODE'), 'MAN');
  controller.write('MAN', 70);
  t.equal(controller.scan(43), 70);
  controller.write('MAN', 130);
  t.equal(controller.scan(43), 100, 'within the limits');
  controller.write('MAN', 35);
  controller.scan(43);
  controller.write('AUTO', true);
  t.ok(Math.abs(controller.scan(43) - (35 + rise(7))) < ROUNDING, 'back into automatic: only the step of the integral');
  t.equal(controller.get('MODE'), 'AUTO');
  controller.module('Manual');
  const held = controller.out;
  t.equal(controller.scan(43), held, 'the mode Manual of the module is manual too');
  controller.module('Automatic');
  t.ok(Math.abs(controller.scan(43) - (held + rise(7))) < ROUNDING);
  const proportional = new Controller({ kp, SP: 50 });
  proportional.scan(40);
  proportional.write('AUTO', false);
  proportional.scan(40);
  proportional.write('MAN', 60);
  proportional.scan(40);
  proportional.write('AUTO', true);
  t.equal(proportional.scan(40), 60, 'a P controller keeps the difference as its bias');
  t.ok(Math.abs(proportional.scan(42) - (60 - kp * 2)) < ROUNDING);
});

t.test('Decisions 5.4 steps 3 and 6: tracking, cascade and their order', async (t) => {
  const controller = new Controller({ kp: 1, ti: 'T#10s', SP: 50, spMax: 80 });
  controller.scan(40);
  controller.write('TRK', true).write('TRKV', 33).write('AUTO', false);
  t.strictSame([controller.scan(40), controller.get('MODE')], [33, 'TRK'], 'tracking goes before manual');
  t.strictSame([controller.scan(40, 'Bad'), controller.get('MODE'), controller.quality], [33, 'TRK', 'Good'], 'and before a bad measurement');
  controller.write('TRK', false).write('AUTO', true).write('CAS', true).write('RSP', 60);
  t.ok(Math.abs(controller.scan(40) - (33 + 0.01 * 20)) < ROUNDING, 'bumpless into cascade: the integral is made for the set-point of the return');
  t.strictSame([controller.get('MODE'), controller.get('SPW')], ['CAS', 60]);
  controller.write('RSP', 95);
  controller.scan(40);
  t.equal(controller.get('SPW'), 80, 'within the limits of the set-point');
  const before = controller.out;
  controller.write('CAS', false);
  t.ok(Math.abs(controller.scan(40) - (before + 0.01 * 40)) < ROUNDING, 'out of cascade: the set-point stays where it was');
  t.strictSame([controller.get('SP'), controller.get('MODE')], [80, 'AUTO']);
});

t.test('ADR 0028: a set-point written together with the return out of tracking or manual acts as one written a scan before', async (t) => {
  const [kp, tiS, dt] = [4, 40, 0.1];
  /** A mash heated with steam: 0.02 K/s per percent against the loss to a room of 20 degrees; rests at 62 after tracking at zero with 72. */
  const mash = (params: Params, release: (controller: Controller) => void, order: 'before' | 'with'): { readonly out: number[]; readonly pv: number[] } => {
    const controller = new Controller({ kp, ti: 'T#40s', SP: 72, ...params });
    let pv = 50;
    controller.write('TRK', true);
    for (let k = 0; k < 5; k += 1) controller.scan(pv);
    controller.write('SP', 62);
    if (order === 'before') controller.scan(pv);
    release(controller);
    const seen = { out: [] as number[], pv: [] as number[] };
    for (let k = 0; k < 1200; k += 1) {
      const out = controller.scan(pv);
      pv += dt * (0.02 * out - 0.002 * (pv - 20));
      seen.out.push(out);
      seen.pv.push(pv);
    }
    return seen;
  };
  const automatic = (controller: Controller): void => void controller.write('TRK', false);
  for (const params of [{}, { deadband: 0.4 }, { td: 'T#2s' }, { action: 'direct', kp: -kp }] as Params[]) {
    const [together, before] = [mash(params, automatic, 'with'), mash(params, automatic, 'before')];
    t.ok(apart(together.out, before.out) < ROUNDING, JSON.stringify(params));
  }
  const { out, pv } = mash({}, automatic, 'with');
  t.ok(Math.abs(at(out, 0) - ((kp * dt) / tiS) * 12) < ROUNDING, 'from the tracked 0 only the step of the integral, not 4 * 10 below it');
  // recorded: every 10 s
  const every = (list: readonly number[]): number[] => list.filter((_, k) => k % 100 === 0).map((value) => Number(value.toFixed(3)));
  t.strictSame(every(out), [0.12, 9.899, 13.425, 13.731, 12.582, 10.95, 9.325, 7.922, 6.805, 5.964, 5.358, 4.936]);
  t.strictSame(every(pv), [49.994, 50.542, 52.325, 54.41, 56.346, 57.957, 59.209, 60.134, 60.791, 61.242, 61.542, 61.735]);
  const hand = new ByHand({ kp, ti: tiS, td: 0, n: 8, sigma: 1, low: 0, high: 100, band: 0 });
  hand.integral = -kp * 12; // what keeps the tracked 0 at an error of 12 degrees
  const wanted = out.map((_, k) => hand.scan(62, k === 0 ? 50 : at(pv, k - 1), dt));
  t.ok(apart(out, wanted) < ROUNDING, 'and so by the recurrence written out');
  const manual = new Controller({ kp, ti: 'T#40s', SP: 72, AUTO: false, MAN: 30 });
  manual.scan(60);
  manual.write('SP', 62).write('AUTO', true);
  t.ok(Math.abs(manual.scan(60) - (30 + ((kp * dt) / tiS) * 2)) < ROUNDING, 'out of manual alike');
  const running = new Controller({ kp, ti: 'T#40s', SP: 60 });
  running.scan(60);
  running.write('SP', 62);
  t.ok(Math.abs(running.scan(60) - (kp * 2 + ((kp * dt) / tiS) * 2)) < ROUNDING, 'a set-point that comes in AUTO acts at once');
});

t.test('Decisions 5.1 rule 4: after missed scans and after a change of the scan interval the controller counts the time that went by', async (t) => {
  const form = { kp: 2, ti: 4, td: 0.6, n: 8, sigma: 1, low: 0, high: 100, band: 0 };
  const params = { kp: 2, ti: 'T#4s', td: 'T#600ms', SP: 50 };
  const controller = new Controller(params);
  const hand = new ByHand(form);
  const same = (pv: number, dt: number, periods = 1): void => {
    const [seen, wanted] = [controller.scan(pv, 'Good', periods), hand.scan(50, pv, dt)];
    t.ok(Math.abs(seen - wanted) < ROUNDING, `${seen} and ${wanted} at dt ${dt}`);
  };
  for (let k = 0; k < 20; k += 1) same(40 + 0.1 * k, 0.1);
  same(43, 0.3, 3);
  same(43.1, 0.1);
  same(44, 1, 25);
  same(44, 0.1);
  controller.swap(params, 200);
  for (let k = 0; k < 20; k += 1) same(44 + 0.1 * k, 0.2);
  controller.swap({ ...params, kp: 2 }, 50);
  for (let k = 0; k < 20; k += 1) same(46 - 0.1 * k, 0.05);
});

t.test('D-C-13: a controller whose gains change goes on from its output, and counts with the new gains from the next scan on', async (t) => {
  const base = { kp: 2, ti: 'T#4s', SP: 50 };
  const running = (params: Params, pv = 40): Controller => {
    const controller = new Controller(params);
    for (let k = 0; k < 20; k += 1) controller.scan(pv);
    return controller;
  };
  for (const kp of [4, 0.5, 0]) {
    const controller = running(base);
    const before = controller.out;
    controller.swap({ ...base, kp }, 100);
    t.ok(Math.abs(controller.scan(40) - (before + ((kp * 0.1) / 4) * 10)) < ROUNDING, `kp ${kp}: only the integral moves`);
    const next = controller.out;
    t.ok(Math.abs(controller.scan(41) - (next - kp + ((kp * 0.1) / 4) * 9)) < ROUNDING, `kp ${kp}: a change of the measurement acts with the new gain`);
  }
  const moving = running(base);
  const before = moving.out;
  moving.swap({ ...base, kp: 4 }, 100);
  t.ok(Math.abs(moving.scan(41) - (before - 4 + ((4 * 0.1) / 4) * 9)) < ROUNDING, 'what the measurement does in that very scan is not taken for a bump');

  const reversed = running({ ...base, action: 'direct', SP: 30 });
  const direct = reversed.out;
  reversed.swap({ ...base, SP: 30 }, 100);
  t.ok(Math.abs(reversed.scan(40) - (direct - ((2 * 0.1) / 4) * 10)) < ROUNDING, 'another direction of action');

  const proportional = running({ kp: 2, SP: 50 });
  t.equal(proportional.out, 20);
  proportional.swap({ kp: 3, SP: 50 }, 100);
  t.equal(proportional.scan(40), 20, 'without an integral time too');
  t.equal(proportional.scan(42), 14);

  const banded = running({ ...base, deadband: 0 });
  const outside = banded.out;
  banded.swap({ ...base, deadband: 15 }, 100);
  t.equal(banded.scan(40), outside, 'a dead band that swallows the error');
});

t.test('D-C-13: gains that change in the very scan of the return to automatic give no jump either', async (t) => {
  const base = { kp: 1, ti: 'T#100s', td: 'T#2s', SP: 50 };
  const byHand = { ...base, AUTO: false, MAN: 50 };
  const tracking = { ...base, TRK: true, TRKV: 50 };
  for (const more of [{ kp: 5 }, { kp: 0.1 }, { deadband: 15 }, { action: 'direct' }, { kp: 5, td: 'T#0s' }] as Params[]) {
    for (const params of [byHand, tracking] as Params[]) {
      const controller = new Controller(params);
      for (let k = 0; k < 3; k += 1) controller.scan(40);
      t.equal(controller.out, 50);
      controller.swap({ ...params, ...more }, 100);
      controller.write('AUTO', true).write('TRK', false);
      t.ok(
        Math.abs(controller.scan(40) - 50) <= 5 * (0.1 / 100) * 10 + ROUNDING,
        `${JSON.stringify(more)} ${'TRK' in params ? 'out of tracking' : 'out of manual'}: ${controller.out}`,
      );
    }
  }
  const stays = new Controller(byHand);
  stays.scan(40);
  stays.swap({ ...byHand, kp: 5, outMax: 40 }, 100);
  t.equal(stays.scan(40), 40, 'in manual only the limits count');
});

t.test('D-C-13: the derivative goes with its gains: on a ramp the next step is the one that the other gains make on such a ramp', async (t) => {
  const base = { kp: 2, ti: 'T#100s', td: 'T#1s', SP: 50 };
  const onRamp = (params: Params): Controller => {
    const controller = new Controller(params);
    for (let k = 0; k < 200; k += 1) controller.scan(20 + 0.1 * k);
    return controller;
  };
  const step = (controller: Controller): number => controller.out - controller.scan(20 + 0.1 * 200);
  const others: readonly Params[] = [{ kp: 3 }, { td: 'T#2s' }, { td: 'T#0s' }, { kp: 3, td: 'T#500ms', n: 5 }];
  for (const more of others) {
    const tuned = onRamp(base);
    tuned.swap({ ...base, ...more }, 100);
    const [seen, wanted] = leading([tuned, onRamp({ ...base, ...more })].map(step), 2);
    t.ok(Math.abs(seen - wanted) < 1e-6, `${JSON.stringify(more)}: ${seen}, ${wanted}`);
  }
});

t.test('D-C-13: a controller at its limit stays there when its gains change, and a wider limit does not let it jump', async (t) => {
  const base = { kp: 2, ti: 'T#4s', SP: 50, outMax: 30 };
  const saturated = (): Controller => {
    const controller = new Controller(base);
    for (let k = 0; k < 50; k += 1) controller.scan(20);
    return controller;
  };
  for (const kp of [4, 1, 0.1]) {
    const controller = saturated();
    controller.swap({ ...base, kp }, 100);
    t.equal(controller.scan(20), 30, `kp ${kp}`);
  }
  const reduced = saturated();
  reduced.swap({ ...base, kp: 0.1 }, 100);
  for (let k = 0; k < 10; k += 1) reduced.scan(20);
  t.ok(reduced.scan(60) < 30, 'and is not wound up');
  const wider = saturated();
  wider.swap({ ...base, outMax: 100 }, 100);
  t.ok(Math.abs(wider.scan(20) - (30 + ((2 * 0.1) / 4) * 30)) < ROUNDING, 'from the former limit on');
  const narrower = saturated();
  narrower.swap({ ...base, outMax: 10 }, 100);
  t.equal(narrower.scan(20), 10, 'a narrower limit holds at once');
});

t.test('D-C-13: in manual and while tracking nothing moves, and the return is as bumpless as ever', async (t) => {
  const base = { kp: 2, ti: 'T#4s', SP: 50 };
  const controller = new Controller(base);
  for (let k = 0; k < 20; k += 1) controller.scan(40);
  controller.write('AUTO', false);
  controller.scan(40);
  controller.write('MAN', 42);
  controller.scan(40);
  controller.swap({ ...base, kp: 5 }, 100);
  t.equal(controller.scan(40), 42);
  controller.write('AUTO', true);
  t.ok(Math.abs(controller.scan(40) - (42 + ((5 * 0.1) / 4) * 10)) < ROUNDING);
});

t.test('Decisions 5.4 steps 3 and 4: a measurement of quality Bad or Raw holds, substitutes or goes to manual, and comes back without a bump', async (t) => {
  const base = { kp: 3, ti: 'T#10s', td: 'T#1s', SP: 50 };
  const rise = (error: number): number => ((3 * 0.1) / 10) * error;
  const regulated = (more: Params): Controller => {
    const controller = new Controller({ ...base, ...more });
    for (let k = 0; k < 60; k += 1) controller.scan(45);
    return controller;
  };
  for (const quality of ['Bad', 'Raw'] as const) {
    const held = regulated({});
    const before = held.out;
    for (const lost of [0, 0, -200, 1e6]) t.equal(held.scan(lost, quality), before, `${quality}: the output is held`);
    t.strictSame([held.get('MODE'), held.quality], ['BAD', quality]);
    t.ok(Math.abs(held.scan(46) - (before + rise(4))) < ROUNDING, 'it goes on from there, wherever the measurement was while it was bad');
    t.ok(Math.abs(held.scan(46) - (before + 2 * rise(4))) < ROUNDING, 'and the derivative has seen no jump');
    t.strictSame([held.get('MODE'), held.quality], ['AUTO', 'Good']);
  }
  const substituted = regulated({ onBadPV: 'value', badValue: 12 });
  t.strictSame([substituted.scan(0, 'Bad'), substituted.quality], [12, 'Good']);
  t.ok(Math.abs(substituted.scan(45) - (12 + rise(5))) < ROUNDING);
  const manual = regulated({ onBadPV: 'manual' });
  const last = manual.out;
  t.strictSame([manual.scan(0, 'Bad'), manual.get('MAN')], [last, last]);
  manual.write('MAN', 20);
  t.equal(manual.scan(0, 'Bad'), 20, 'the operator drives');
  t.ok(Math.abs(manual.scan(45) - (20 + rise(5))) < ROUNDING);
  const uncertain = regulated({});
  const running = uncertain.out;
  t.ok(Math.abs(uncertain.scan(45, 'Uncertain') - (running + rise(5))) < ROUNDING, 'Uncertain is regulated and shown');
  t.equal(uncertain.quality, 'Uncertain');
});

t.test('Decisions 5.4 step 7: the restored integral outlives the scans in which the driver has no measurement yet', async (t) => {
  const params = { kp: 2, ti: 'T#10s', SP: 50 };
  const first = new Controller(params);
  for (let k = 0; k < 300; k += 1) first.scan(47);
  const before = first.out;
  const again = new Controller(params, 100, first.saved());
  again.scan(0, 'Bad');
  again.scan(0, 'Bad');
  t.equal(again.get('MODE'), 'BAD');
  t.ok(Math.abs(again.scan(47) - (before + ((2 * 0.1) / 10) * 3)) < ROUNDING, `${again.out} after ${before}`);
  const cold = new Controller(params);
  cold.scan(0, 'Bad');
  t.ok(Math.abs(cold.scan(48) - (2 * 2 + ((2 * 0.1) / 10) * 2)) < ROUNDING, 'without one it begins as in its first scan');
});
