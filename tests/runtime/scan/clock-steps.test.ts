/** Ages are monotonic (D-C-07): somebody sets the clock an hour forth and back, and no input, phase or output notices. */
import t from 'tap';
import { PhaseSet } from '../../../runtime/chart/phase-set.js';
import type { UnitInbound, UnitOutbound, UnitPlan } from '../../../runtime/port.js';
import { ScanClock } from '../../../runtime/scan/clock.js';
import { UnitLoop } from '../../../runtime/scan/loop.js';
import { CONNECTION, IMAGE_HEADER, ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY, QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import type { Chart } from '../../../runtime/vocabulary/chart.js';
import { basicPlan, SETTINGS } from '../chart/plant.js';
import { image, network, tags, unitPlan } from '../network/plans.js';
import { at } from '../../support/at.js';

const SCAN_MS = 100;
const POLL_MS = 500;
const HOUR_MS = 3_600_000;

const WAITS: Chart = {
  steps: [{ name: 'A', initial: true }, { name: 'B' }],
  transitions: [{ from: 'A', to: 'B', conditionST: 'FALSE' }],
};

/** A unit with one module that is polled; wall time is set by the test, elapsed time is not. */
class PolledUnit {
  readonly sent: UnitOutbound[] = [];
  readonly loop: UnitLoop;
  readonly image: ProcessImage;
  readonly plan: UnitPlan;
  monoMs = 5000;
  wallMs = Date.UTC(2026, 0, 31);
  /** The device answers. */
  answers = true;
  #polledMonoMs: number;
  readonly #inbox: UnitInbound[] = [];
  #downloads = 0;

  constructor(pollPhaseMs: number) {
    this.#polledMonoMs = this.monoMs + pollPhaseMs - POLL_MS;
    const io = { ...image('io', 'level input', 'event input', 'valve output'), staleAfterMs: 3 * POLL_MS };
    this.image = new ProcessImage(3, io.buffer);
    this.plan = unitPlan({
      settings: SETTINGS,
      images: [io],
      tags: [
        ...tags('n.level ai.OUT REAL'),
        { address: 'n.event', network: 'n', name: 'event', type: 'REAL', writable: false, cyclic: false, binding: { kind: 'channel', image: 0, channel: 1 } },
      ],
      networks: [
        network({
          name: 'n',
          blocks: [
            { name: 'ai', type: 'AI', params: { addr: 'io:level', rawMin: 0, rawMax: 100, engMin: 0, engMax: 100 } },
            { name: 'ao', type: 'AO', params: { addr: 'io:valve', IN: 40 } },
          ],
          channels: [
            { block: 'ai', image: 0, channel: 0 },
            { block: 'ao', image: 0, channel: 2 },
          ],
        }),
      ],
    });
    this.loop = new UnitLoop({
      receive: () => this.#inbox.shift(),
      post: (message) => this.sent.push(message),
      clock: new ScanClock({ monoMs: () => this.monoMs }),
      monoMs: () => this.monoMs,
      wallMs: () => this.wallMs,
      phases: (host, settings) => new PhaseSet(host, settings),
    });
    this.#inbox.push(
      { type: 'plan', plan: this.plan },
      { type: 'phase', phase: basicPlan('p', WAITS, { ioModules: ['io'] }) },
      { type: 'command', id: 1, phase: 'p', command: 'Start' },
    );
    Atomics.store(this.image.header, IMAGE_HEADER.connection, CONNECTION.connected);
    this.#poll();
    this.loop.receive();
  }

  #poll(): void {
    if (!this.answers || this.monoMs - this.#polledMonoMs < POLL_MS) return;
    this.#polledMonoMs += POLL_MS;
    this.image.beginInputs();
    for (const channel of [0, 1]) {
      this.image.value[channel] = 50;
      this.image.quality[channel] = QUALITY.Good;
      this.image.stamp(channel, this.wallMs, this.monoMs);
    }
    this.image.endInputs();
  }

  scan(count = 1): void {
    for (let n = 0; n < count; n += 1) {
      this.monoMs += SCAN_MS;
      this.wallMs += SCAN_MS;
      this.#poll();
      this.loop.scan(1);
    }
  }

  quality(tag: string): string {
    const { networks } = this.loop;
    return networks ? at(QUALITY_WORDS, networks.quality(networks.slot(tag))) : '';
  }

  /** Somebody changes the unit: the same modules in a new plan. */
  download(): void {
    this.#inbox.push({ type: 'plan', plan: { ...this.plan, revision: this.plan.revision + (this.#downloads += 1) } });
    this.loop.receive();
  }

  get states(): string[] {
    return this.sent.flatMap((message) => (message.type === 'phase' && message.cause !== '' ? [message.state] : []));
  }
}

t.test('D-C-07: a clock that is set an hour forth and back holds no phase, makes no input Bad and delays no output', async (t) => {
  for (let phaseMs = 100; phaseMs <= POLL_MS; phaseMs += 50) {
    const unit = new PolledUnit(phaseMs);
    unit.scan(20);
    t.same([unit.quality('n.level'), unit.states], ['Good', ['Running']]);
    const seen = new Set<string>();
    for (const stepMs of [15_000, HOUR_MS, -2 * HOUR_MS, HOUR_MS]) {
      unit.wallMs += stepMs;
      const written = at(unit.image.outSeq.subarray(2), 0);
      for (let scan = 0; scan < 25; scan += 1) {
        unit.scan();
        seen.add(`${unit.quality('n.level')} ${unit.quality('n.event')} ${unit.loop.networks?.stale(0)}`);
      }
      t.ok(at(unit.image.outSeq, 2) - written >= 2, 'the output is written every second');
    }
    t.same([...seen], ['Good Good false'], `polled ${phaseMs} ms apart`);
    t.same(unit.states, ['Running']);
  }
});

t.test('D-C-07, decisions 7: a source that falls silent while the clock is set back is Bad within 3 s, and its phase held', async (t) => {
  const unit = new PolledUnit(300);
  unit.scan(20);
  unit.wallMs -= HOUR_MS;
  unit.answers = false;
  unit.scan(35);
  t.equal(unit.quality('n.level'), 'Bad');
  unit.scan(120);
  t.ok(unit.states.includes('Holding'), unit.states.join());
});

t.test('decisions 3.5: a module that is lost holds its phases after the delay, however often somebody changes the unit meanwhile', async (t) => {
  for (const lost of ['its device does not answer', 'its connection is gone']) {
    const unit = new PolledUnit(300);
    unit.scan(20);
    unit.answers = false;
    if (lost === 'its connection is gone') Atomics.store(unit.image.header, IMAGE_HEADER.connection, 0);
    for (let download = 0; download < 5; download += 1) {
      unit.scan(30);
      unit.download();
    }
    t.ok(unit.states.includes('Holding'), `${lost}: ${unit.states.join()}`);
  }
});

t.test('decisions 7: of a probe that does not come round nothing is Good, values that arrive on change included; what it goes on with is', async (t) => {
  const unit = new PolledUnit(300);
  unit.scan(20);
  t.equal(unit.quality('n.event'), 'Good');
  unit.image.setSilent(true);
  unit.scan();
  t.same([unit.quality('n.level'), unit.quality('n.event')], ['Bad', 'Bad']);
  unit.image.setSilent(false);
  unit.scan();
  t.same([unit.quality('n.level'), unit.quality('n.event')], ['Good', 'Good']);
});
