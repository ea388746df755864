/** What a unit may tell (ADR 0016): a chart that floods is cut where it begins, and says how much was cut. */
import t from 'tap';
import { PhaseSet } from '../../../runtime/chart/phase-set.js';
import type { UnitInbound, UnitOutbound } from '../../../runtime/port.js';
import { ScanClock } from '../../../runtime/scan/clock.js';
import { UnitLoop } from '../../../runtime/scan/loop.js';
import { Outlet } from '../../../runtime/scan/outlet.js';
import type { Chart } from '../../../runtime/vocabulary/chart.js';
import { basicPlan, SETTINGS } from '../chart/plant.js';
import { network, tags, unitPlan } from '../network/plans.js';
import { at } from '../../support/at.js';

const SCAN_MS = 100;

/** Two steps that lead to one another, a flood of messages in each. */
function flooding(messages: number): Chart {
  const actionST = `FOR i := 1 TO ${messages} DO MESSAGE('again'); END_FOR;`;
  return {
    steps: [
      { name: 'A', initial: true, actionST },
      { name: 'B', actionST },
    ],
    transitions: [
      { from: 'A', to: 'B', conditionST: 'TRUE' },
      { from: 'B', to: 'A', conditionST: 'TRUE' },
    ],
  };
}

class Unit {
  readonly sent: UnitOutbound[] = [];
  readonly loop: UnitLoop;
  nowMs = 0;
  readonly #inbox: UnitInbound[] = [];

  constructor() {
    this.loop = new UnitLoop({
      receive: () => this.#inbox.shift(),
      post: (message) => this.sent.push(message),
      clock: new ScanClock({ monoMs: () => this.nowMs }),
      monoMs: () => this.nowMs,
      wallMs: () => this.nowMs,
      phases: (host, settings) => new PhaseSet(host, settings),
    });
    const plan = unitPlan({ settings: SETTINGS, tags: tags('n.out b.OUT REAL'), networks: [network({ name: 'n', blocks: [{ name: 'b', type: 'ADD' }] })] });
    this.send({ type: 'plan', plan });
  }

  send(...messages: readonly UnitInbound[]): void {
    this.#inbox.push(...messages);
    this.loop.receive();
  }

  scan(count: number): UnitOutbound[] {
    const before = this.sent.length;
    for (let n = 0; n < count; n += 1) {
      this.loop.receiveReady();
      this.loop.scan(1);
      this.nowMs += SCAN_MS;
    }
    return this.sent.slice(before);
  }
}

const texts = (sent: readonly UnitOutbound[]): string[] => sent.flatMap((message) => (message.type === 'message' ? [message.text] : []));

t.test('design 1, ADR 0016: a flood of 9,000 messages a scan leaves the unit as 50 in a second, counted and announced; the chart goes on and obeys', async (t) => {
  const unit = new Unit();
  unit.send({ type: 'phase', phase: basicPlan('flood', flooding(9000), { variables: [{ name: 'i', type: 'INT' }] }) });
  unit.send({ type: 'command', id: 1, phase: 'flood', command: 'Start' });
  const burst = texts(unit.scan(2));
  t.equal(burst.filter((text) => text === 'again').length, 105, 'what one scan may tell, and five more in the tenth of a second that follows');
  t.match(burst.at(100), /^8900 more messages and events were not kept/, 'said in the scan in which it begins');
  const second = texts(unit.scan(10));
  t.equal(second.length, 50);
  const minute = texts(unit.scan(600));
  const told = minute.filter((text) => text === 'again').length;
  t.equal(told, 3000);
  t.equal(minute.length - told, 6, 'said again every 10 s');
  unit.send({ type: 'inspect', id: 1, what: 'diagnostics', name: '' }, { type: 'command', id: 2, phase: 'flood', command: 'Abort' });
  const end = unit.scan(1);
  const diagnostics = end.flatMap((message) => (message.type === 'inspect-result' ? [message.result as { readonly messagesShed: number }] : []));
  t.ok(at(diagnostics, 0).messagesShed > 5_000_000);
  t.ok(
    end.some((message) => message.type === 'phase' && message.state === 'Aborting'),
    'a state is told whatever else is',
  );
});

t.test('ADR 0016: of reports that only the last matters of, the last arrives; states pass always', async (t) => {
  const sent: UnitOutbound[] = [];
  const outlet = new Outlet((message) => sent.push(message));
  const report = (phase: string, cause: string, n: number): UnitOutbound => ({ type: 'phase', phase, cause, atMs: n }) as unknown as UnitOutbound;
  outlet.begin(0);
  for (let n = 0; n < 1000; n += 1) outlet.tell(report('p', '', n));
  outlet.tell(report('q', '', 1));
  t.equal(sent.length, 100);
  outlet.tell(report('p', 'Hold', 1000));
  t.match(sent.at(-1), { phase: 'p', cause: 'Hold' });
  outlet.end(0, 0);
  t.equal(sent.length, 101, 'the one that waited is overtaken by the state');
  outlet.begin(100);
  outlet.end(100, 100);
  t.match(sent.at(-1), { phase: 'q', atMs: 1 });
  t.equal(sent.length, 102);
});
