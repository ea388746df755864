/** A download beside the scans (ADR 0008): prepared in steps, swapped at the top of a scan, in the order of the messages. */
import t from 'tap';
import { PhaseSet } from '../../../runtime/chart/phase-set.js';
import type { ScanThreadInbound, ScanThreadOutbound, UnitInbound, UnitOutbound, UnitPlan } from '../../../runtime/port.js';
import { ScanClock } from '../../../runtime/scan/clock.js';
import { ScanHost } from '../../../runtime/scan/host.js';
import { UnitLoop } from '../../../runtime/scan/loop.js';
import { STAT, TagTable } from '../../../runtime/vocabulary/tag-table.js';
import { network, tags, unitPlan, wires } from '../network/plans.js';
import { at } from '../../support/at.js';

const SCAN_MS = 100;
/** What a look at the clock takes on this one: so long is a step at least. */
const LOOK_MS = 1;

/** Counts its scans; beside it many blocks to be prepared, of a shape of their own. */
function planOf(revision: number, blocks = 500): UnitPlan {
  return unitPlan({
    revision,
    tags: tags('count.sum add.OUT REAL', 'count.step add.IN2 REAL w', `many.r${revision} b0.OUT REAL`),
    networks: [
      network({
        name: 'count',
        blocks: [
          { name: 'add', type: 'ADD', params: { IN2: 1 } },
          { name: 'same', type: 'MOVE' },
        ],
        connections: wires('add.OUT > same.IN', 'same.OUT > add.IN1'),
      }),
      network({ name: 'many', hash: String(revision), blocks: Array.from({ length: blocks + revision }, (_, n) => ({ name: `b${n}`, type: 'ADD', params: { IN1: n } })) }),
    ],
  });
}

/** A unit whose first plan is loaded. */
class TestUnit {
  readonly sent: UnitOutbound[] = [];
  readonly loop: UnitLoop;
  scans = 0;
  #nowMs = 0;
  #looks = 0;
  readonly #inbox: UnitInbound[] = [];

  constructor() {
    const monoMs = (): number => {
      this.#looks += 1;
      return this.#nowMs + this.#looks * LOOK_MS;
    };
    this.loop = new UnitLoop({
      receive: () => this.#inbox.shift(),
      post: (message) => this.sent.push(message),
      clock: new ScanClock({ monoMs }),
      monoMs,
      wallMs: () => this.#nowMs,
      phases: (host, settings) => new PhaseSet(host, settings),
    });
    this.send({ type: 'plan', plan: planOf(1) });
    this.loop.receiveReady();
  }

  send(...messages: readonly UnitInbound[]): void {
    this.#inbox.push(...messages);
  }

  command(id: number): void {
    this.send({ type: 'command', id, phase: 'none', command: 'Hold' });
  }

  write(id: number, address: string): void {
    this.send({ type: 'write', id, address, value: 1 });
  }

  /** One scan, with the given time for a download behind it; what was sent in it. */
  scan(forMs = 0): string[] {
    const before = this.sent.length;
    this.loop.receiveReady();
    this.loop.scan(1);
    this.loop.prepare(forMs);
    this.scans += 1;
    this.#nowMs += SCAN_MS;
    return this.sent.slice(before).flatMap((message) => {
      if (message.type === 'plan-loaded') return [`plan ${message.revision}`];
      if (message.type === 'command-result' || message.type === 'write-result') return [`${message.type} ${message.id}`];
      return [];
    });
  }

  /** Scans until the plan of this revision is loaded; what was sent in them, and how many they were. */
  scanUntil(revision: number): { readonly told: string[]; readonly scans: number } {
    const told: string[] = [];
    for (let scans = 1; scans <= 5000; scans += 1) {
      told.push(...this.scan());
      if (told.includes(`plan ${revision}`)) return { told, scans };
    }
    throw new Error(`plan ${revision} was not loaded`);
  }

  get sum(): unknown {
    const { networks } = this.loop;
    return networks?.read(networks.slot('count.sum'));
  }
}

t.test('Q-PROG-03, ADR 0008: the old networks go on while the new ones are prepared, and none of their scans is lost', async (t) => {
  const unit = new TestUnit();
  t.strictSame(unit.sent.find((message) => message.type === 'plan-loaded')?.revision, 1, 'nothing waits for the first plan');
  unit.scan();
  unit.send({ type: 'plan', plan: planOf(2) });
  t.strictSame(unit.scan(), []);
  t.equal(unit.loop.networks?.plan.revision, 1);
  t.equal(unit.loop.networks?.slot('many.r2'), -1);
  const { scans } = unit.scanUntil(2);
  t.ok(scans > 5, `a step in each scan: ${scans} scans`);
  t.equal(unit.loop.networks?.plan.revision, 2);
  t.ok((unit.loop.networks?.slot('many.r2') ?? -1) >= 0);
  t.equal(unit.sum, unit.scans, 'the count has every scan, those of the preparation included');

  unit.send({ type: 'plan', plan: planOf(3) });
  unit.scan(10_000);
  t.strictSame(unit.scan(), ['plan 3'], 'with time enough it is prepared in one go, and swapped with the next scan');
  t.equal(unit.sum, unit.scans);
});

t.test('ADR 0008: what may speak of the new plan waits behind it; commands of the charts that run do not', async (t) => {
  const unit = new TestUnit();
  unit.send({ type: 'plan', plan: planOf(2) });
  unit.command(1);
  t.strictSame(unit.scan(), ['command-result 1'], 'a command goes to the charts that run');
  unit.write(2, 'many.r2');
  unit.command(3);
  unit.send({ type: 'alive' });
  t.strictSame(unit.scan(), [], 'the write waits, and from then on the order stands');
  t.strictSame(unit.scanUntil(2).told, ['plan 2', 'write-result 2', 'command-result 3']);
  unit.write(4, 'count.step');
  t.strictSame(unit.scan(), ['write-result 4'], 'nothing waits any longer');
});

t.test('ADR 0008: of plans that wait one behind the other the last counts; one behind a write comes after it', async (t) => {
  const unit = new TestUnit();
  unit.send({ type: 'plan', plan: planOf(2) });
  for (let n = 0; n < 4; n += 1) unit.scan();
  unit.send({ type: 'plan', plan: planOf(3) }, { type: 'plan', plan: planOf(4) });
  unit.command(1);
  t.strictSame(unit.scan(), ['command-result 1'], 'the charts that run do not wait for plans');
  t.strictSame(unit.scanUntil(4).told, ['plan 2', 'plan 4'], 'what was begun is finished');
  t.equal(unit.sum, unit.scans);

  unit.send({ type: 'plan', plan: planOf(5) });
  unit.write(1, 'many.r5');
  unit.send({ type: 'plan', plan: planOf(6) });
  unit.write(2, 'many.r6');
  t.strictSame(unit.scanUntil(6).told, ['plan 5', 'write-result 1', 'plan 6', 'write-result 2']);
  t.equal(unit.sum, unit.scans);
});

t.test('ADR 0008: one plan waits at most, whatever stands between; writes to what is scanned and modes wait for none', async (t) => {
  const unit = new TestUnit();
  unit.send({ type: 'plan', plan: planOf(2) });
  unit.scan();
  for (let n = 1; n <= 100; n += 1) {
    unit.send({ type: 'plan', plan: planOf(2 + n) }, { type: 'module-mode', module: 'count', mode: n % 2 === 0 ? 'Automatic' : 'Manual' });
    unit.command(n);
  }
  unit.send({ type: 'module-mode', module: 'count', mode: 'Manual' });
  unit.write(500, 'count.step');
  t.ok(unit.scan().includes('write-result 500'), 'the write is taken with the next scan');
  t.equal(unit.loop.networks?.mode('count'), 'Manual');
  const { told } = unit.scanUntil(102);
  t.strictSame(
    told.filter((word) => word.startsWith('plan')),
    ['plan 2', 'plan 102'],
    'of all that waited the last',
  );
  t.equal(unit.loop.networks?.mode('count'), 'Manual', 'a mode that was set while plans waited holds in each of them');
  t.equal(unit.sum, unit.scans);
});

t.test('ADR 0008: an override of a module that went to Manual while a plan waited is kept by it', async (t) => {
  const unit = new TestUnit();
  const plan = (revision: number): UnitPlan => {
    const made = planOf(revision);
    return { ...made, tags: made.tags.map((tag) => (tag.address === 'count.sum' ? { ...tag, writable: true } : tag)) };
  };
  unit.send({ type: 'plan', plan: plan(2) });
  unit.scanUntil(2);
  unit.send({ type: 'plan', plan: plan(3) }, { type: 'module-mode', module: 'count', mode: 'Manual' }, { type: 'write', id: 1, address: 'count.sum', value: 5 });
  t.strictSame(unit.scan(), ['write-result 1']);
  t.ok(unit.sent.some((message) => message.type === 'write-result' && message.ok));
  unit.scanUntil(3);
  t.strictSame(unit.loop.networks?.overrides(), [{ address: 'count.sum', value: 5 }]);
});

t.test('ADR 0008: what waits behind a plan has a bound: beyond it writes and questions are answered, not kept', async (t) => {
  const unit = new TestUnit();
  unit.send({ type: 'plan', plan: planOf(2) });
  unit.scan();
  for (let id = 1; id <= 1500; id += 1) unit.write(id, 'many.r2');
  t.equal(unit.scan().length, 500, 'refused at once');
  t.match(unit.sent.at(-1), { type: 'write-result', id: 1500, ok: false, code: 'busy' });
  const { told } = unit.scanUntil(2);
  t.equal(told.filter((word) => word.startsWith('write-result')).length, 1000);
});

t.test('ADR 0008: however fast plans follow each other, each preparation ends with a swap', async (t) => {
  const unit = new TestUnit();
  const told: string[] = [];
  let revision = 1;
  while (told.length < 3 && revision < 2000) {
    revision += 1;
    unit.send({ type: 'plan', plan: planOf(revision, 4) });
    told.push(...unit.scan());
  }
  t.equal(told.length, 3, `${told.join(', ')} of ${revision}, one with every scan`);
  t.equal(unit.sum, unit.scans);
});

t.test('ADR 0008: stop waits for no download', async (t) => {
  const unit = new TestUnit();
  unit.send({ type: 'plan', plan: planOf(2) }, { type: 'write', id: 1, address: 'many.r2', value: 1 }, { type: 'stop' });
  unit.loop.receiveReady();
  t.ok(unit.loop.stopped);
  t.equal(unit.sent.at(-1)?.type, 'stopped');
});

/** A thread with one unit that runs on its own: the second plan arrives after 20 scans, and `stop` after 80. */
class RunningUnit {
  readonly loaded: number[] = [];
  readonly host: ScanHost;
  /** From sending the second plan to its swap. */
  downloadScans = 0;
  lateMs = 0;
  missed = 0;
  scans = 0;
  #sent = 0;
  #isDone = false;
  readonly #plans = [planOf(1), planOf(2)];
  #table = new TagTable(0);
  #nowMs = 0;

  constructor({ lookMs, busyMs }: { readonly lookMs: number; readonly busyMs: number }) {
    const scanned = (): void => {
      this.scans += 1;
      if (this.loaded.length === 1 && this.scans > 20) this.downloadScans += 1;
      this.#nowMs += busyMs;
    };
    class Charts extends PhaseSet {
      override scan(dtMs: number): void {
        scanned();
        super.scan(dtMs);
      }
    }
    this.host = new ScanHost({
      receive: () => this.#message(),
      post: (told) => this.#take(told),
      monoMs: () => (this.#nowMs += lookMs),
      wallMs: () => this.#nowMs,
      round: () => this.#look(),
      sleep: (ms) => {
        this.#nowMs += ms;
      },
      turnOf: () => {},
      phases: (host, settings) => new Charts(host, settings),
    });
  }

  /** At the figures of the last scan. */
  #look(): void {
    if (this.scans <= 20) return;
    this.lateMs = Math.max(this.lateMs, at(this.#table.stats, STAT.latenessUs) / 1000);
    this.missed = at(this.#table.stats, STAT.missed);
  }

  #message(): ScanThreadInbound | undefined {
    if (this.#isDone) {
      this.#isDone = false;
      return { type: 'close' };
    }
    const due = [0, 0, 20, 80][this.#sent] ?? Number.POSITIVE_INFINITY;
    if (this.scans < due) return undefined;
    this.#sent += 1;
    if (this.#sent === 1) return { type: 'host', runtime: 1 };
    const message: UnitInbound = this.#sent < 4 ? { type: 'plan', plan: at(this.#plans, this.#sent - 2) } : { type: 'stop' };
    return { type: 'unit', runtime: 1, message };
  }

  #take(told: ScanThreadOutbound): void {
    if (told.type === 'ended') this.#isDone = true;
    if (told.type !== 'unit' || told.message.type !== 'plan-loaded') return;
    this.loaded.push(told.message.revision);
    this.#table = new TagTable(at(this.#plans, this.loaded.length - 1).tags.length, at(this.#plans, this.loaded.length - 1).table);
  }
}

t.test('Performance E, ADR 0008: a running loop prepares in half of the time that a scan leaves, and misses no period', async (t) => {
  const unit = new RunningUnit({ lookMs: LOOK_MS, busyMs: 10 });
  unit.host.run();
  t.strictSame(unit.loaded, [1, 2]);
  t.ok(unit.downloadScans > 1, `${unit.downloadScans} scans`);
  t.ok(unit.lateMs <= 2 * LOOK_MS, `${unit.lateMs} ms late at most`);
  t.equal(unit.missed, 0);
});

t.test('ADR 0008: a unit whose scans leave no time gives a download a twentieth of its period', async (t) => {
  const unit = new RunningUnit({ lookMs: LOOK_MS / 10, busyMs: 1.5 * SCAN_MS });
  unit.host.run();
  t.strictSame(unit.loaded, [1, 2]);
  t.ok(unit.downloadScans < 30, `${unit.downloadScans} scans`);
});
