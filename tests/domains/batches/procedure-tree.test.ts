/** The tree of elements above the phase: starts, sequences, holds, restarts, failures (decisions 2.2, 3.1, 3.4). */
import t from 'tap';
import type { ProceduralChart } from '../../../runtime/vocabulary/chart.js';
import type { Command, State } from '../../../runtime/vocabulary/states.js';
import type { ChartChange } from '../../../runtime/vocabulary/steering.js';
import { isActive, judge } from '../../../runtime/vocabulary/transitions.js';
import { type HoldPropagation, ProcedureTree, type TreeNode, type TreeWorld, walk } from '../../../src/domains/batches/tree/procedure-tree.js';
import { NO_PROGRESS, steered } from '../../../src/domains/batches/tree/chart-moves.js';
import type { ElementFailure } from '../../../src/domains/runs/failures.js';
import { at } from '../../support/at.js';

/** Phases that follow their commands at once, as a unit runtime would within a scan or two; or, while `late`, when asked to. */
class Bench {
  readonly tree: ProcedureTree;
  readonly commands: string[] = [];
  /** Orders on their way, as `PhaseOrders` keeps them: one a phase, the last one counts. */
  readonly onTheirWay = new Map<TreeNode, Command>();
  late = false;
  readonly #failsReset = new Set<string>();
  readonly resumeCancelsPause: boolean;
  readonly changes: string[] = [];
  readonly falseConditions = new Set<string>();
  nowMs = 1000;

  constructor(
    root: TreeNode,
    options: {
      readonly holdPropagation?: HoldPropagation;
      readonly onPhaseFailure?: 'Hold' | 'Fail';
      readonly resumeCancelsPause?: boolean;
      readonly blocked?: (node: TreeNode) => string;
      readonly unfit?: (node: TreeNode) => string;
    } = {},
  ) {
    this.resumeCancelsPause = options.resumeCancelsPause ?? false;
    const world: TreeWorld = {
      nowText: '2026-01-01T00:00:00.000Z',
      holdPropagation: options.holdPropagation ?? 'batch',
      onPhaseFailure: options.onPhaseFailure ?? 'Hold',
      resumeCancelsPause: options.resumeCancelsPause ?? false,
      isTrue: (_, transition) => !this.falseConditions.has(transition.to),
      startBlockedBy: options.blocked ?? (() => ''),
      takeParameters: (node) => {
        const message = options.unfit?.(node) ?? '';
        return message === '' ? undefined : { message };
      },
      commandPhase: (node, command) => (this.late ? this.onTheirWay.set(node, command) : this.#obey(node, command)),
      awaitsAnswer: (node) => this.onTheirWay.has(node),
      stateChanged: (node, from) => this.changes.push(`${node.name} ${from}>${node.state}`),
    };
    this.tree = new ProcedureTree(root, world);
  }

  /** As the clocks of a pass count. */
  pass(ms: number): void {
    for (const timed of walk(this.tree.root)) if (timed.spentMs !== null) timed.spentMs += ms;
  }

  #obey(node: TreeNode, command: Command): void {
    const verdict = judge(node.state, command, { failureActive: node.failure?.active ?? false, resumeCancelsPause: this.resumeCancelsPause });
    if (!verdict.accepted) return;
    this.commands.push(`${command} ${node.name}`);
    node.state = verdict.next;
    if (command === 'Start') node.runCount += 1;
    if (command === 'Restart') node.failure = undefined;
  }

  /** The orders arrive, and whatever follows from them arrives at once. */
  arrive(): void {
    this.late = false;
    for (const [node, command] of this.onTheirWay) this.#obey(node, command);
    this.onTheirWay.clear();
    this.settle();
  }

  /** The acting phases come to rest, then the tree settles; repeated until nothing moves. */
  settle(): void {
    const ends: Partial<Record<State, State>> = { Pausing: 'Paused', Holding: 'Held', Restarting: 'Running', Stopping: 'Stopped', Aborting: 'Aborted', Resetting: 'Idle' };
    for (let round = 0; round < 20; round += 1) {
      this.tree.settle();
      for (const node of walk(this.tree.root)) {
        if (node.kind !== 'Phase') continue;
        if (node.state === 'Resetting' && this.#failsReset.has(node.name)) node.resetFailed = 'it stood still';
        node.state = node.resetFailed === '' ? (ends[node.state] ?? node.state) : 'Complete';
      }
    }
  }

  /** Its resetting chart never ends. */
  failsReset(name: string): void {
    this.#failsReset.add(name);
  }

  node(name: string): TreeNode {
    return [...walk(this.tree.root)].find((candidate) => candidate.name === name) as TreeNode;
  }

  states(): Record<string, State> {
    return Object.fromEntries([...walk(this.tree.root)].map((node) => [node.name, node.state]));
  }

  complete(name: string): void {
    this.node(name).state = 'Complete';
    this.settle();
  }

  fail(name: string, failure: Partial<ElementFailure>, state: State): void {
    const node = this.node(name);
    node.state = state;
    node.failure = { class: 'hold', rule: 'step-timeout', message: 'too slow', step: 's', since: `t${this.nowMs++}`, active: false, auditRecordRef: '', ...failure };
    this.settle();
  }
}

function node(kind: TreeNode['kind'], name: string, children: TreeNode[] = [], chart: ProceduralChart | null = null): TreeNode {
  const made: TreeNode = {
    kind,
    name,
    step: name,
    path: name,
    unit: 'u1',
    chart: kind === 'Phase' ? null : (chart ?? { steps: children.map((child) => ({ name: child.name })) }),
    children,
    parent: null,
    state: 'Idle',
    mode: 'Automatic',
    timeoutMs: 0,
    progress: NO_PROGRESS,
    ranMs: 0,
    spentMs: null,
    runCount: 0,
    pausedAt: '',
    failure: undefined,
    escalated: '',
    startedAt: '',
    endedAt: '',
    returnTo: '',
    resetFailed: '',
  };
  for (const child of children) child.parent = made;
  return made;
}

const phase = (name: string): TreeNode => node('Phase', name);
const TOGETHER = (...branches: string[]): ProceduralChart => ({
  steps: branches.map((name) => ({ name })),
  divergences: [{ name: 'start', type: 'SimultaneousDiverge', branches }],
});

/** Two units at once: a (p1, p2 in sequence) and b (p3). */
function plant(): TreeNode {
  const a = node('UnitProcedure', 'a', [node('Operation', 'a-op', [phase('p1'), phase('p2')])]);
  const b = node('UnitProcedure', 'b', [node('Operation', 'b-op', [phase('p3')])]);
  return node('Procedure', 'root', [a, b], TOGETHER('a', 'b'));
}

function started(options?: ConstructorParameters<typeof Bench>[1]): Bench {
  const bench = new Bench(plant(), options);
  bench.tree.command('Start');
  bench.settle();
  return bench;
}

t.test('PROC-06: a chart with a SimultaneousDiverge starts children together, otherwise in order', async (t) => {
  const bench = started();
  t.same(bench.commands, ['Start p1', 'Start p3']);
  bench.complete('p1');
  t.same(bench.commands.slice(2), ['Start p2']);
  t.equal(bench.states().root, 'Running');
  bench.complete('p3');
  t.equal(bench.states().b, 'Complete');
  bench.complete('p2');
  t.same(bench.states(), { p1: 'Complete', p2: 'Complete', 'a-op': 'Complete', a: 'Complete', p3: 'Complete', 'b-op': 'Complete', b: 'Complete', root: 'Complete' });
});

t.test('decisions 3.4: settling twice changes nothing', async (t) => {
  const bench = started();
  const before = JSON.stringify([bench.states(), bench.commands]);
  bench.settle();
  t.equal(JSON.stringify([bench.states(), bench.commands]), before);
});

t.test('decisions 3.4: Hold reaches every active element, Restart brings all of them back', async (t) => {
  const bench = started();
  t.ok(bench.tree.command('Hold').accepted);
  bench.settle();
  t.same(bench.states(), { p1: 'Held', p2: 'Idle', 'a-op': 'Held', a: 'Held', p3: 'Held', 'b-op': 'Held', b: 'Held', root: 'Held' });
  t.same(bench.tree.command('Hold'), { accepted: false, rule: 'already-held' });
  bench.tree.command('Restart');
  bench.settle();
  t.equal(bench.states().root, 'Running');
  t.equal(bench.states().p1, 'Running');
  t.equal(bench.states().p2, 'Idle');
});

t.test('decisions 3.4: Pause waits for its phases, Resume starts them again', async (t) => {
  const bench = started();
  bench.tree.command('Pause');
  bench.settle();
  t.equal(bench.states().root, 'Paused');
  t.equal(bench.states().p3, 'Paused');
  bench.tree.command('Resume');
  bench.settle();
  t.equal(bench.states().root, 'Running');
  t.equal(bench.states().p1, 'Running');
});

t.test('decisions 3.1, 3.2: a second Resume while the phases are on their way is not-paused; one that stays paused takes it', async (t) => {
  const bench = started();
  bench.tree.command('Pause');
  bench.settle();
  bench.late = true;
  t.ok(bench.tree.command('Resume').accepted);
  bench.tree.settle();
  t.match(bench.states(), { root: 'Running', p1: 'Paused', p3: 'Paused' });
  t.same(bench.tree.command('Resume'), { accepted: false, rule: 'not-paused' });
  const [left] = at([...bench.onTheirWay], 0);
  bench.onTheirWay.delete(left); // its worker has refused
  t.ok(bench.tree.command('Resume').accepted, 'so that nothing stays paused for ever');
  t.equal(bench.onTheirWay.get(left), 'Resume');
});

t.test('decisions 3.2: with batch.resumeCancelsPause Resume takes what is Pausing back to Running', async (t) => {
  const bench = started({ resumeCancelsPause: true });
  bench.tree.command('Pause');
  bench.tree.settle(); // the phases have not reached their safe points
  t.match(bench.states(), { root: 'Pausing', 'a-op': 'Pausing', p1: 'Pausing' });
  t.ok(bench.tree.command('Resume').accepted);
  bench.settle();
  t.match(bench.states(), { root: 'Running', 'a-op': 'Running', p1: 'Running', p3: 'Running' });
  const strict = started();
  strict.tree.command('Pause');
  strict.tree.settle();
  t.same(strict.tree.command('Resume'), { accepted: false, rule: 'not-paused' });
});

t.test('decisions 3.5: an operation that is over its budget holds up to the propagation level, once; Restart gives it a new budget', async (t) => {
  const root = plant();
  const timed: TreeNode = { ...at(at(root.children, 0).children, 0), timeoutMs: 5000 };
  for (const child of timed.children) child.parent = timed;
  at(root.children, 0).children[0] = timed;
  const bench = new Bench(root, { holdPropagation: 'unitProcedure' });
  bench.tree.command('Start');
  bench.settle();
  bench.pass(4999);
  bench.settle();
  t.equal(bench.states()['a-op'], 'Running');
  bench.pass(1);
  bench.settle();
  t.match(bench.states(), { p1: 'Held', 'a-op': 'Held', a: 'Held', root: 'Running', p3: 'Running' });
  t.match(bench.node('a-op').failure, { rule: 'element-timeout', class: 'hold', message: 'a-op: not done within 5 s' });
  bench.pass(60_000);
  bench.settle();
  t.ok(bench.tree.command('Restart').accepted, 'what is held inside');
  bench.settle();
  t.match(bench.states(), { p1: 'Running', 'a-op': 'Running', a: 'Running' });
  t.notOk(bench.node('a-op').failure);
  bench.pass(5000);
  bench.settle();
  t.equal(bench.states()['a-op'], 'Held', 'the new budget is spent too');
});

for (const [command, end] of [
  ['Stop', 'Stopped'],
  ['Abort', 'Aborted'],
] as const) {
  t.test(`decisions 3.4: ${command} ends every element that is not final; Idle children stay Idle`, async (t) => {
    const bench = started();
    bench.complete('p3');
    bench.tree.command(command);
    bench.settle();
    t.equal(bench.states().root, end);
    t.equal(bench.states().p1, end);
    t.equal(bench.states().p2, 'Idle');
    t.equal(bench.states().p3, 'Complete');
    bench.tree.command('Reset');
    bench.settle();
    t.equal(bench.states().root, 'Idle');
  });
}

const BEFORE_THE_START_ARRIVES: readonly (readonly [Command, State])[] = [
  ['Hold', 'Held'],
  ['Pause', 'Paused'],
  ['Stop', 'Stopped'],
  ['Abort', 'Aborted'],
];
for (const [command, end] of BEFORE_THE_START_ARRIVES) {
  t.test(`decisions 3.4: ${command} given while the Start of a phase is on its way waits for it and reaches it`, async (t) => {
    const bench = new Bench(plant());
    bench.late = true;
    bench.tree.command('Start');
    bench.settle();
    t.ok(bench.tree.command(command).accepted);
    bench.settle();
    t.notMatch(bench.states(), { root: end }, 'nothing is at rest while a phase is about to start');
    bench.arrive();
    t.match(bench.states(), { p1: end, 'a-op': end, a: end, p3: end, root: end });
  });
}

t.test('decisions 3.4: Hold given while the Restart of a phase is on its way holds it again', async (t) => {
  const bench = started();
  bench.tree.command('Hold');
  bench.settle();
  bench.late = true;
  bench.tree.command('Restart');
  bench.settle();
  t.ok(bench.tree.command('Hold').accepted);
  bench.settle();
  t.equal(bench.states().root, 'Holding');
  bench.arrive();
  t.match(bench.states(), { p1: 'Held', p3: 'Held', root: 'Held' });
  bench.tree.command('Restart');
  bench.settle();
  t.match(bench.states(), { p1: 'Running', p3: 'Running', root: 'Running' });
});

t.test('decisions 3.4: a held phase holds its ancestors up to the propagation level, once', async (t) => {
  const held = (level: HoldPropagation): Record<string, State> => {
    const bench = started({ holdPropagation: level });
    bench.fail('p1', {}, 'Held');
    return bench.states();
  };
  t.match(held('phase'), { p1: 'Held', 'a-op': 'Running', a: 'Running', root: 'Running', p3: 'Running' });
  t.match(held('operation'), { 'a-op': 'Held', a: 'Running', root: 'Running', p3: 'Running' });
  t.match(held('unitProcedure'), { 'a-op': 'Held', a: 'Held', root: 'Running', p3: 'Running' });
  t.match(held('batch'), { 'a-op': 'Held', a: 'Held', root: 'Held', p3: 'Held' });
});

t.test('decisions 3.8: an interrupted phase holds the whole batch whatever the recipe says', async (t) => {
  const bench = started({ holdPropagation: 'phase' });
  bench.fail('p1', { rule: 'runtime-restart' }, 'Held');
  t.equal(bench.states().root, 'Held');
});

t.test('decisions 3.1: Restart of a Running root reaches what is held inside', async (t) => {
  const bench = started({ holdPropagation: 'phase' });
  bench.fail('p1', {}, 'Held');
  t.equal(bench.states().root, 'Running');
  t.ok(bench.tree.command('Restart').accepted);
  bench.settle();
  t.equal(bench.states().p1, 'Running');
});

t.test('decisions 3.4: a failed phase holds its parent, and Restart resets and starts it again', async (t) => {
  const bench = started();
  bench.fail('p1', { class: 'fail', rule: 'phase-timeout' }, 'Aborted');
  t.equal(bench.states().root, 'Held');
  t.equal(bench.node('a-op').failure?.rule, 'child-failed');
  bench.tree.command('Restart');
  bench.settle();
  t.match(bench.states(), { root: 'Running', p1: 'Running' });
  t.equal(bench.node('p1').runCount, 2);
});

t.test('decisions 3.3: with onPhaseFailure Fail everything aborts', async (t) => {
  const bench = started({ onPhaseFailure: 'Fail' });
  bench.fail('p1', { class: 'fail', rule: 'phase-timeout' }, 'Aborted');
  t.equal(bench.states().root, 'Aborted');
  t.equal(bench.states().p3, 'Aborted');
  t.match(bench.tree.root.failure, { class: 'fail', rule: 'phase-timeout' });
});

t.test('decisions 2.2: transitions choose the lowest index that is true, and a loop runs an element again', async (t) => {
  const chart: ProceduralChart = {
    steps: [{ name: 'p1', initial: true }, { name: 'p2' }, { name: 'p3' }],
    transitions: [
      { from: 'p1', to: 'p2', conditionST: 'x' },
      { from: 'p1', to: 'p3', conditionST: 'y' },
      { from: 'p3', to: 'p1', conditionST: 'z' },
    ],
  };
  const bench = new Bench(node('Operation', 'root', [phase('p1'), phase('p2'), phase('p3')], chart));
  bench.falseConditions.add('p2');
  bench.tree.command('Start');
  bench.settle();
  bench.complete('p1');
  t.same(bench.commands, ['Start p1', 'Start p3']);
  bench.complete('p3');
  t.equal(bench.node('p1').runCount, 2, 'reset and started again');
  bench.falseConditions.delete('p2');
  bench.complete('p1');
  bench.complete('p2');
  t.equal(bench.states().root, 'Complete');
});

t.test('decisions 3.7: Semi-Automatic stops before each transition, Resume fires exactly that one; Manual fires none', async (t) => {
  const chart: ProceduralChart = { steps: [{ name: 'p1' }, { name: 'p2' }] };
  const bench = new Bench(node('Operation', 'root', [phase('p1'), phase('p2')], chart));
  bench.tree.root.mode = 'Semi-Automatic';
  bench.tree.command('Start');
  bench.settle();
  bench.complete('p1');
  t.equal(bench.states().root, 'Paused');
  t.equal(bench.tree.root.pausedAt, 'p1->p2#0');
  t.equal(bench.states().p2, 'Idle');
  bench.tree.command('Resume');
  bench.settle();
  t.equal(bench.states().p2, 'Running');
  const manual = new Bench(node('Operation', 'root', [phase('p1'), phase('p2')], chart));
  manual.tree.root.mode = 'Manual';
  manual.tree.command('Start');
  manual.settle();
  manual.complete('p1');
  t.equal(manual.states().p2, 'Idle');
  t.equal(manual.states().root, 'Running');
});

t.test('decisions 3.3, 2.7: an element that is not allocated or waits for a signal stays Idle until it may start', async (t) => {
  let waiting = true;
  const bench = started({ blocked: (candidate) => (candidate.name === 'b' && waiting ? 'unit u2 is held' : '') });
  t.same(bench.commands, ['Start p1']);
  t.equal(bench.states().b, 'Idle');
  waiting = false;
  bench.settle();
  t.same(bench.commands, ['Start p1', 'Start p3']);
});

/** An operation of four phases in a row, in Manual, with its first phase running. */
function inManual(): Bench {
  const bench = new Bench(node('Operation', 'root', ['p1', 'p2', 'p3', 'p4'].map(phase)));
  bench.tree.command('Start');
  bench.settle();
  bench.tree.root.mode = 'Manual';
  return bench;
}

function steer(bench: Bench, change: ChartChange): string {
  const { root } = bench.tree;
  const outcome = steered(root.chart ?? {}, root.progress, change, (step) => ({ runCount: bench.node(step).runCount, isActive: isActive(bench.node(step).state) }), root.ranMs);
  if ('refusal' in outcome) return outcome.refusal.rule;
  root.progress = outcome.progress;
  bench.settle();
  return '';
}

t.test('ADR 0007: a step that is left by hand takes its element along; the next one begins when that is at rest', async (t) => {
  const bench = inManual();
  bench.late = true;
  t.equal(steer(bench, { change: 'force', transition: 'p1->p2#0' }), '');
  t.same(bench.states(), { p1: 'Running', p2: 'Idle', p3: 'Idle', p4: 'Idle', root: 'Running' }, 'its Stop is on its way');
  bench.arrive();
  t.same(bench.commands, ['Start p1', 'Stop p1', 'Start p2']);
  t.same(bench.states(), { p1: 'Stopped', p2: 'Running', p3: 'Idle', p4: 'Idle', root: 'Running' });
  t.same(bench.tree.root.progress.fired, ['p1->p2#0']);
  t.equal(steer(bench, { change: 'activate', step: 'p4', leave: ['p2'] }), '', 'a step is skipped');
  bench.complete('p4');
  t.equal(bench.states().root, 'Complete');
});

t.test('ADR 0007: going back resets the element and runs it once more, however it ended', async (t) => {
  const bench = inManual();
  steer(bench, { change: 'activate', step: 'p3', leave: ['p1'] });
  steer(bench, { change: 'activate', step: 'p1', leave: ['p3'] });
  t.same(bench.commands, ['Start p1', 'Stop p1', 'Start p3', 'Stop p3', 'Reset p1', 'Start p1']);
  t.equal(bench.node('p1').runCount, 2);
  bench.tree.root.mode = 'Automatic';
  for (const name of ['p1', 'p2', 'p3', 'p4']) bench.complete(name);
  t.equal(bench.states().root, 'Complete', 'Automatic goes on from there');
  t.equal(bench.node('p3').runCount, 2, 'the third one runs again too');
});

t.test('ADR 0007: a Held operation is moved while it stands; Restart goes on with the new step only', async (t) => {
  const bench = inManual();
  bench.tree.command('Hold');
  bench.settle();
  t.equal(steer(bench, { change: 'activate', step: 'p2', leave: ['p1'] }), '');
  t.match(bench.states(), { root: 'Held', p1: 'Stopped', p2: 'Idle' });
  bench.tree.command('Restart');
  bench.settle();
  t.match(bench.states(), { root: 'Running', p1: 'Stopped', p2: 'Running' });
});

t.test('ADR 0007: what does not fit is refused by name', async (t) => {
  const bench = inManual();
  t.equal(steer(bench, { change: 'activate', step: 'px', leave: [] }), 'unknown_step');
  t.equal(steer(bench, { change: 'activate', step: 'p1', leave: [] }), 'step_active');
  t.equal(steer(bench, { change: 'activate', step: 'p2', leave: ['p3'] }), 'step_not_active');
  t.equal(steer(bench, { change: 'deactivate', step: 'p1' }), 'last_active_step');
  t.equal(steer(bench, { change: 'force', transition: 'p1->p3#0' }), 'unknown_transition');
  t.equal(steer(bench, { change: 'force', transition: 'p2->p3#1' }), 'transition_not_enabled');
  bench.node('p3').state = 'Stopping';
  t.equal(steer(bench, { change: 'activate', step: 'p3', leave: ['p1'] }), 'element_active');
});

t.test('decisions 2.2, 3.2: parameters are taken once, before the Start; those that do not fit hold the element above', async (t) => {
  const asked: string[] = [];
  const faults = new Map([['p2', 'amount 9 is outside 0 to 5']]);
  const bench = new Bench(plant(), {
    unfit: ({ name }) => {
      asked.push(name);
      return faults.get(name) ?? '';
    },
  });
  bench.late = true;
  bench.tree.command('Start');
  bench.settle();
  bench.settle();
  t.same(asked.filter((name) => name === 'p1').length, 1, 'not again while its Start is on its way');
  bench.arrive();
  bench.complete('p1');
  t.match(bench.states(), { p2: 'Idle', p3: 'Held', 'a-op': 'Held', root: 'Held' });
  t.match(bench.node('a-op').failure, { rule: 'formula-out-of-range', class: 'hold', message: 'p2: amount 9 is outside 0 to 5', step: 'p2' });
  t.notOk(bench.commands.includes('Start p2'));
  faults.clear();
  bench.tree.command('Restart');
  bench.settle();
  t.match(bench.states(), { p2: 'Running', p3: 'Running', root: 'Running' });
});

t.test('ADR 0014: a step whose reset fails in a loop holds its parent, and Restart tries once more', async (t) => {
  const chart = {
    steps: [{ name: 'p1' }, { name: 'p2' }],
    transitions: [
      { from: 'p1', to: 'p2' },
      { from: 'p2', to: 'p1' },
    ],
  };
  const bench = new Bench(node('Operation', 'op', [phase('p1'), phase('p2')], chart), { holdPropagation: 'phase' });
  bench.tree.command('Start');
  bench.settle();
  bench.complete('p1');
  bench.failsReset('p1');
  bench.complete('p2');
  t.match(bench.node('op'), { state: 'Held', failure: { rule: 'exception-chart-timeout', message: 'p1: it stood still' } });
  bench.settle();
  t.equal(bench.commands.filter((order) => order === 'Reset p1').length, 1, 'nothing drives it again unasked');
  bench.tree.command('Restart');
  bench.settle();
  t.equal(bench.states().op, 'Held');
  t.equal(bench.commands.filter((order) => order === 'Reset p1').length, 2, 'once for each Restart');
});
