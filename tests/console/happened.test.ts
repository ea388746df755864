/** Why a batch stood, told from its execution events: the first cause stays the first. */
import t from 'tap';
import { type Told, told, toldFailure, withTold } from '../../runtime/vocabulary/told.js';
import { pageModule } from './page-module.js';

interface Cause {
  readonly who: string;
  readonly command: string;
  readonly refused: string;
  readonly text: string;
  readonly paths: readonly string[];
  readonly gap: { readonly from: string; readonly unit: string } | null;
}

interface Spell {
  readonly from: string;
  readonly since: string;
  readonly to: string;
  readonly state: string;
  readonly inside: boolean;
  readonly causes: readonly Cause[];
}

interface Happened {
  spellsOf(events: readonly object[]): Spell[];
  refusedBy(events: readonly object[], command: string): string;
  lastDeed(events: readonly object[]): { readonly ts: string } | undefined;
  withNews(known: readonly object[], news: readonly object[]): readonly { readonly id: number }[];
}

type Row = readonly [second: number, kind: string, path: string, value: string, previous: string, message: string, who?: string | undefined, as?: Told];

/** `Command`, `Alarm`, `System` and `Deed` are of the batch, with a unit for a path; the others are state changes of that kind of element. */
function eventsOf(rows: readonly Row[]): object[] {
  return rows.map(([second, kind, path, value, previousValue, message, who, as], at) => ({
    id: at + 1,
    ts: `2026-11-22T12:00:${String(second).padStart(2, '0')}.000Z`,
    ...(TYPES[kind] ?? { eventType: 'Procedural Execution', eventSubType: 'State Change' }),
    element: kind in TYPES ? { kind: 'Batch', name: 'b', path: '' } : { kind, name: path || 'b', path },
    unit: kind in TYPES ? path : '',
    value,
    previousValue,
    message,
    ...withTold(as),
    person: who === undefined ? null : { displayName: who },
  }));
}

const alarm = (event: string, name: string, message: string): Told => told('alarm-event', { event, alarm: name, message, since: '' });

const TYPES: Readonly<Record<string, object>> = {
  Command: { eventType: 'Procedural Execution', eventSubType: 'State Command' },
  Alarm: { eventType: 'Alarm', eventSubType: 'Process' },
  System: { eventType: 'General', eventSubType: 'System' },
  Deed: { eventType: 'Equipment', eventSubType: 'Modification' },
};

const at = (second: number): string => `2026-11-22T12:00:${String(second).padStart(2, '0')}.000Z`;

t.test('a Hold by a person has his name and his reason, and stays when it is over', async (t) => {
  const { spellsOf } = await pageModule<Happened>('data/happened.ts');
  const held: readonly Row[] = [
    [1, 'Batch', '', 'Running', 'Pending', 'Start'],
    [5, 'Procedure', 'p', 'Holding', 'Running', 'Hold'],
    [5, 'Command', '', 'Hold', '', 'Process observation', 'Lea Lead'],
    [5, 'Batch', '', 'Holding', 'Running', 'procedure'],
    [6, 'Procedure', 'p', 'Held', 'Holding', 'complete'],
    [6, 'Batch', '', 'Held', 'Holding', 'procedure'],
  ];
  const [now] = spellsOf(eventsOf(held));
  t.match(now, { from: at(5), to: '', state: 'Held', inside: false, causes: [{ who: 'Lea Lead', command: 'Hold', refused: '', text: 'Process observation' }] });
  const [over] = spellsOf(
    eventsOf([
      ...held,
      [9, 'Procedure', 'p', 'Restarting', 'Held', 'Restart'],
      [9, 'Command', '', 'Restart', '', 'all is well', 'Lea Lead'],
      [9, 'Batch', '', 'Restarting', 'Held', 'procedure'],
      [10, 'Procedure', 'p', 'Running', 'Restarting', 'complete'],
      [10, 'Batch', '', 'Running', 'Restarting', 'procedure'],
    ]),
  );
  t.match(over, { from: at(5), to: at(10), state: 'Held' });
  t.equal(over?.causes.length, 1, 'what ended it is no cause of it');
});

t.test('the failure that came first is the cause; an alarm and a refused Hold afterwards do not hide it', async (t) => {
  const { spellsOf, refusedBy } = await pageModule<Happened>('data/happened.ts');
  const events = eventsOf([
    [1, 'Batch', '', 'Running', 'Pending', 'Start'],
    [12, 'Phase', 'react/heat', 'Holding', 'Running', 'controller-lost: the batch controller is not heard'],
    [12, 'Phase', 'react/stir', 'Holding', 'Running', 'controller-lost: the batch controller is not heard'],
    [13, 'Procedure', 'p', 'Holding', 'Running', 'Hold'],
    [13, 'Batch', '', 'Holding', 'Running', 'procedure'],
    [14, 'Batch', '', 'Held', 'Holding', 'procedure'],
    [40, 'Alarm', '', 'ActiveUnacknowledged', '', 'Activated: alarm tic101-hot-1, hotter than recipe allows'],
    [41, 'Command', '', 'Hold', 'already-held', 'Hold is not possible while the batch is Held', 'alarm-controller'],
  ]);
  const [spell] = spellsOf(events);
  t.match(spell?.causes, [
    { who: '', command: '', text: 'controller-lost: the batch controller is not heard', paths: ['react/heat', 'react/stir'] },
    { text: 'Activated: alarm tic101-hot-1, hotter than recipe allows' },
    { who: 'alarm-controller', command: 'Hold', refused: 'Hold is not possible while the batch is Held' },
  ]);
  t.equal(refusedBy(events, 'Hold'), 'alarm-controller');
});

t.test('what a person did to the equipment while the batch stood is told after its causes, and who did what last', async (t) => {
  const { spellsOf, lastDeed } = await pageModule<Happened>('data/happened.ts');
  const mode = (second: number, who?: string): object => ({
    ...eventsOf([[second, 'Batch', '', 'Manual', 'Automatic', 'mode of ControlModule tic101', who]])[0],
    eventType: 'Equipment',
    eventSubType: 'Modification',
  });
  const held = eventsOf([
    [1, 'Batch', '', 'Running', 'Pending', 'Start'],
    [5, 'Command', '', 'Hold', '', 'Foam in the sight glass', 'Lea Lead'],
    [5, 'Batch', '', 'Holding', 'Running', 'procedure'],
    [6, 'Batch', '', 'Held', 'Holding', 'procedure'],
  ]);
  t.equal(lastDeed(held)?.ts, at(5));
  const events = [mode(3, 'Otto'), ...held, mode(8), mode(9, 'Olga'), mode(9, 'Olga')];
  const [spell] = spellsOf(events);
  t.match(spell?.causes, [{ who: 'Lea Lead', command: 'Hold', deed: null }, { who: 'Olga', deed: { value: 'Manual' } }, { who: 'Olga' }]);
  t.equal(spell?.causes.length, 3, 'not what was done before, and not what the recipe did');
  t.equal(lastDeed(events)?.ts, at(9));
});

t.test('a phase that is held alone is told as one inside, until the batch is held too', async (t) => {
  const { spellsOf } = await pageModule<Happened>('data/happened.ts');
  const inside: readonly Row[] = [
    [1, 'Batch', '', 'Running', 'Pending', 'Start'],
    [3, 'Phase', 'react/heat', 'Holding', 'Running', 'timeout: heat takes too long'],
    [3, 'Phase', 'react/heat', 'Held', 'Holding', 'complete'],
  ];
  t.match(spellsOf(eventsOf(inside)), [{ from: at(3), to: '', inside: true, state: 'Held', causes: [{ text: 'timeout: heat takes too long', paths: ['react/heat'] }] }]);
  const [spell] = spellsOf(eventsOf([...inside, [7, 'Command', '', 'Hold', '', 'let us look', 'Lea Lead'], [7, 'Batch', '', 'Holding', 'Running', 'procedure']]));
  t.match(spell, { from: at(3), inside: false, causes: [{ text: 'timeout: heat takes too long' }, { who: 'Lea Lead' }] });
});

t.test('what was held and then aborted is aborted since the abort', async (t) => {
  const { spellsOf } = await pageModule<Happened>('data/happened.ts');
  const spells = spellsOf(
    eventsOf([
      [1, 'Batch', '', 'Running', 'Pending', 'Start'],
      [2, 'Batch', '', 'Holding', 'Running', 'procedure'],
      [3, 'Batch', '', 'Held', 'Holding', 'procedure'],
      [8, 'Command', '', 'Abort', '', 'leak at the flange', 'Olga'],
      [8, 'Batch', '', 'Aborting', 'Held', 'procedure'],
      [9, 'Batch', '', 'Aborted', 'Aborting', 'procedure'],
    ]),
  );
  t.match(spells, [{ state: 'Aborted', from: at(2), since: at(8) }]);
});

t.test('two spells are two; a batch that was aborted stays so', async (t) => {
  const { spellsOf } = await pageModule<Happened>('data/happened.ts');
  const spells = spellsOf(
    eventsOf([
      [1, 'Batch', '', 'Running', 'Pending', 'Start'],
      [2, 'Command', '', 'Pause', '', '', 'Olga'],
      [2, 'Batch', '', 'Pausing', 'Running', 'procedure'],
      [3, 'Batch', '', 'Paused', 'Pausing', 'procedure'],
      [4, 'Batch', '', 'Running', 'Paused', 'procedure'],
      [8, 'Command', '', 'Abort', '', 'leak at the flange', 'Olga'],
      [8, 'Batch', '', 'Aborting', 'Running', 'procedure'],
      [9, 'Batch', '', 'Aborted', 'Aborting', 'procedure'],
    ]),
  );
  t.match(spells, [
    { state: 'Paused', from: at(2), to: at(4), causes: [{ command: 'Pause' }] },
    { state: 'Aborted', from: at(8), to: '', causes: [{ command: 'Abort', text: 'leak at the flange' }] },
  ]);
  t.equal(spells.length, 2);
});

t.test('a clock that is put back changes no order: the first cause stays the first, and news are known by their number', async (t) => {
  const { spellsOf, withNews } = await pageModule<Happened>('data/happened.ts');
  const events = eventsOf([
    [20, 'Batch', '', 'Running', 'Pending', 'Start'],
    [30, 'Phase', 'react/heat', 'Held', 'Running', 'timeout: heat takes too long'],
    [3, 'Command', '', 'Hold', '', 'let us look', 'Lea Lead'],
    [3, 'Batch', '', 'Holding', 'Running', 'procedure'],
  ]);
  t.match(spellsOf(events)[0]?.causes, [{ text: 'timeout: heat takes too long' }, { who: 'Lea Lead' }]);
  const ids = (found: readonly { readonly id: number }[]): number[] => found.map(({ id }) => id);
  t.strictSame(ids(withNews(events.slice(1, 3), events)), [2, 3, 4], 'the last of them again, and what came since');
  t.strictSame(ids(withNews([], events)), [1, 2, 3, 4]);
});

t.test('held again on the way out of a hold: another hold, with a cause of its own that is told once', async (t) => {
  const { spellsOf } = await pageModule<Happened>('data/happened.ts');
  const spells = spellsOf(
    eventsOf([
      [1, 'Batch', '', 'Running', 'Pending', 'Start'],
      [2, 'Phase', 'react/heat', 'Holding', 'Running', 'Hold'],
      [2, 'Phase', 'store/fill', 'Holding', 'Running', 'Hold'],
      [2, 'Command', '', 'Hold', '', 'let us look', 'Lea'],
      [2, 'Batch', '', 'Holding', 'Running', 'procedure'],
      [3, 'Phase', 'react/heat', 'Held', 'Holding', 'complete'],
      [3, 'Phase', 'store/fill', 'Held', 'Holding', 'complete'],
      [3, 'Batch', '', 'Held', 'Holding', 'procedure'],
      [9, 'Procedure', 'p', 'Restarting', 'Held', 'Restart'],
      [9, 'Command', '', 'Restart', '', '', 'Lea'],
      [9, 'Batch', '', 'Restarting', 'Held', 'procedure'],
      [10, 'Phase', 'store/fill', 'Restarting', 'Held', 'Restart'],
      [10, 'Phase', 'react/heat', 'Restarting', 'Held', 'Restart'],
      [10, 'Phase', 'react/heat', 'Holding', 'Restarting', 'write-mode-manual: the module of temp is in Manual'],
      [11, 'Procedure', 'p', 'Holding', 'Restarting', 'write-mode-manual'],
      [11, 'Batch', '', 'Holding', 'Restarting', 'procedure'],
      [12, 'Phase', 'store/fill', 'Holding', 'Restarting', 'Hold'],
      [13, 'Phase', 'store/fill', 'Held', 'Holding', 'complete'],
      [13, 'Batch', '', 'Held', 'Holding', 'procedure'],
    ]),
  );
  t.equal(spells.length, 2);
  t.match(spells, [
    { from: at(2), to: at(10), causes: [{ who: 'Lea', command: 'Hold', text: 'let us look' }] },
    { from: at(10), to: '', state: 'Held', inside: false, causes: [{ text: 'write-mode-manual: the module of temp is in Manual', paths: ['react/heat'] }] },
  ]);
  t.same(
    spells.map(({ causes }) => causes.length),
    [1, 1],
  );
});

t.test('an end of the appliance or of a runtime is told with its length: as what held the batch, or as what came while it was held', async (t) => {
  const { spellsOf } = await pageModule<Happened>('data/happened.ts');
  const away = (second: number, unit = '', value = 'RuntimeRestart'): Row => [second, 'System', unit, value, at(6), 'control gap'];
  const running: Row = [1, 'Batch', '', 'Running', 'Pending', 'Start'];
  const heldBy = (message: string): readonly Row[] => [
    [12, 'Phase', 'react/heat', 'Holding', 'Running', message],
    [12, 'Batch', '', 'Holding', 'Running', 'procedure'],
    [13, 'Batch', '', 'Held', 'Holding', 'procedure'],
  ];
  const gap = { from: at(6), unit: '' };
  const before = spellsOf(eventsOf([running, away(12), ...heldBy('runtime-restart'), away(14, 'rx101', 'ApplianceRestart')]));
  t.match(before, [{ from: at(12), causes: [{ ts: at(12), gap }] }]);
  t.equal(before[0]?.causes.length, 1, 'its word of the procedure and the units that are scanned again say no more');
  const after = spellsOf(eventsOf([running, ...heldBy('runtime-restart'), away(12)]));
  t.match(after, [{ causes: [{ gap }] }]);
  t.equal(after[0]?.causes.length, 1);
  const while_ = spellsOf(eventsOf([running, ...heldBy('timeout: heat takes too long'), away(20)]));
  t.match(while_[0]?.causes, [
    { text: 'timeout: heat takes too long', gap: null },
    { ts: at(20), gap },
  ]);
  const unit = spellsOf(eventsOf([running, ...heldBy('runtime-restart: the runtime of the unit was started again'), away(20, 'rx101')]));
  t.match(unit[0]?.causes[1]?.gap, { from: at(6), unit: 'rx101' });
});

t.test('a failure that ended its phase is told with the words that the batch keeps, not by its rule alone', async (t) => {
  const { spellsOf } = await pageModule<Happened>('data/happened.ts');
  const [spell] = spellsOf(
    eventsOf([
      [1, 'Batch', '', 'Running', 'Pending', 'Start'],
      [2, 'Phase', 'store/receive/receive', 'Aborting', 'Running', 'phase-timeout: receive has run longer than 600 s'],
      [2, 'Procedure', 'p', 'Holding', 'Running', 'child-failed'],
      [2, 'Batch', '', 'Holding', 'Running', 'procedure'],
      [2, 'System', '', 'HoldCause', 'child-failed', 'store/receive/receive: receive has run longer than 600 s'],
      [3, 'Batch', '', 'Held', 'Holding', 'procedure'],
    ]),
  );
  t.match(spell?.causes, [{ text: 'child-failed: store/receive/receive: receive has run longer than 600 s' }]);
  t.equal(spell?.causes.length, 1);
});

t.test('an alarm that stood when it was held comes before the command that it gave, and is told once', async (t) => {
  const { spellsOf, chainOf } = await pageModule<Happened & { chainOf(spell: Spell): readonly (Cause & { readonly alarm: string })[] }>('data/happened.ts');
  const HOT = 'hotter than recipe allows';
  const failure = { rule: 'alarm-exception', message: `alarm-exception: alarm hot-1: ${HOT}` };
  const [spell] = spellsOf(
    eventsOf([
      [1, 'Batch', '', 'Running', 'Pending', 'Start'],
      [2, 'Alarm', '', 'ActiveUnacknowledged', '', 'Activated: alarm li101-low-1, empty', undefined, alarm('Activated', 'li101-low-1', 'empty')],
      [3, 'Alarm', '', 'ClearedUnacknowledged', '', 'Cleared: alarm li101-low-1, empty', undefined, alarm('Cleared', 'li101-low-1', 'empty')],
      [5, 'Alarm', '', 'ActiveUnacknowledged', '', 'Activated: alarm hot-1, hotter than recipe allows', undefined, alarm('Activated', 'hot-1', HOT)],
      [6, 'Batch', '', 'Holding', 'Running', 'procedure'],
      [6, 'Procedure', 'p', 'Holding', 'Running', failure.message, undefined, toldFailure({ ...failure, told: told('alarms-hold', { alarms: 'hot-1', texts: HOT }) })],
      [6, 'Command', '', 'Hold', '', 'alarm hot-1', 'alarm-controller'],
      [6, 'Batch', '', 'Held', 'Holding', 'procedure'],
    ]),
  );
  t.match(spell && chainOf(spell), [{ alarm: 'hot-1' }, { command: 'Hold', who: 'alarm-controller' }]);
  t.equal(spell && chainOf(spell).length, 2, 'what had cleared before is no cause');
});

t.test('what people had done to the unit of an alarm in the minutes before it comes before the alarm that held the batch', async (t) => {
  const { spellsOf, chainOf } = await pageModule<Happened & { chainOf(spell: Spell): readonly (Cause & { readonly alarm: string; readonly deed: object | null })[] }>(
    'data/happened.ts',
  );
  const HOT = 'hotter than recipe allows';
  const running: Row = [1, 'Batch', '', 'Running', 'Pending', 'Start'];
  const came: readonly Row[] = [
    [5, 'Alarm', 'rx101', 'ActiveUnacknowledged', '', `Activated: alarm hot-1, ${HOT}`, undefined, alarm('Activated', 'hot-1', HOT)],
    [6, 'Batch', '', 'Holding', 'Running', 'procedure'],
    [
      6,
      'Procedure',
      'p',
      'Holding',
      'Running',
      'alarm-exception',
      undefined,
      toldFailure({ rule: 'alarm-exception', message: HOT, told: told('alarms-hold', { alarms: 'hot-1', texts: HOT }) }),
    ],
  ];
  const byHand: readonly Row[] = [
    [2, 'Deed', 'rx101', 'Manual', 'Automatic', 'mode', 'Olga'],
    [3, 'Deed', 'tk201', 'true', 'false', 'XV201', 'Olga'],
    [4, 'Deed', 'rx101', '100', '0', 'MAN', 'Olga'],
    [4, 'Deed', 'rx101', '90', '0', 'a chart wrote it'],
  ];
  const [spell] = spellsOf(eventsOf([running, ...byHand, ...came, [8, 'Deed', 'rx101', '0', '100', 'MAN', 'Lea']]));
  t.match(spell && chainOf(spell), [{ ts: at(2), who: 'Olga', deed: { value: 'Manual' } }, { ts: at(4), deed: { value: '100' } }, { alarm: 'hot-1' }, { who: 'Lea', deed: {} }]);
  t.equal(spell && chainOf(spell).length, 4, 'not what was done to another unit, or by a chart');
  const long = eventsOf([running, ...byHand, ...came]).map((event) => ('ts' in event && event.ts === at(2) ? { ...event, ts: '2026-11-22T11:54:00.000Z' } : event));
  const [late] = spellsOf(long);
  t.match(late && chainOf(late), [{ ts: at(4) }, { alarm: 'hot-1' }], 'nor what is longer ago');
  const [byPerson] = spellsOf(eventsOf([running, ...byHand, [6, 'Command', '', 'Hold', '', 'let us look', 'Lea'], [6, 'Batch', '', 'Holding', 'Running', 'procedure']]));
  t.match(byPerson && chainOf(byPerson), [{ who: 'Lea', command: 'Hold' }], 'a Hold by a person tells its own reason');
  t.equal(byPerson && chainOf(byPerson).length, 1);
});

const lane = (kind: string, path: string, unit: string, spans: readonly (readonly [second: number, state: string])[]): object => ({
  kind,
  name: path || 'b',
  path,
  unit,
  spans: spans.map(([second, state], index) => ({ state, from: at(second), to: spans[index + 1] ? at(spans[index + 1]?.[0] ?? 0) : '' })),
});

t.test('a batch as it ran: phases in rows of their unit, waits and holds as spans of their own, and what each took', async (t) => {
  interface Rows {
    unitRows(
      timeline: object,
      events: readonly object[],
      nowMs: number,
      stateText: (state: string) => string,
    ): readonly { readonly unit: string; readonly spans: readonly object[] }[];
    runsOf(timeline: object, nowMs: number): ReadonlyMap<string, { readonly stoodMs: number }>;
    tookMs(run: object | undefined, nowMs: number): number | undefined;
  }
  const { unitRows, runsOf, tookMs } = await pageModule<Rows>('data/run-rows.ts');
  const lanes = [
    lane('Operation', 'react', 'rx1', [[1, 'Running']]),
    lane('Phase', 'react/heat', 'rx1', [
      [1, 'Running'],
      [9, 'Holding'],
      [10, 'Held'],
      [20, 'Restarting'],
      [21, 'Running'],
      [30, 'Complete'],
    ]),
    lane('Phase', 'react/stir', 'rx1', [[2, 'Running']]),
    lane('Phase', 'react/check', 'rx1', [
      [30, 'Running'],
      [50, 'Complete'],
    ]),
  ];
  const asked = eventsOf([
    [35, 'Prompt', 'react/check', 'Choice', '', 'Is it good?'],
    [45, 'Response', 'react/check', 'yes', '', 'Is it good?', 'Olga'],
  ]).map((event, index) => ({ ...event, eventType: 'Operator', eventSubType: index === 0 ? 'Prompt' : 'Prompt Response' }));
  const nowMs = Date.parse(at(55));
  const rows = unitRows({ lanes }, asked, nowMs, (state) => state);
  const told = (row: number): unknown => rows[row]?.spans.map((span) => [(span as { text: string }).text, (span as { look: string }).look]);
  t.equal(rows.length, 2, 'two at once stand below each other');
  t.strictSame(told(0), [
    ['heat', 'step'],
    ['Held', 'held'],
    ['heat', 'step'],
    ['check', 'step'],
    ['check ?', 'waits'],
    ['check', 'step'],
  ]);
  t.strictSame(told(1), [['stir', 'step']]);
  const runs = runsOf({ lanes }, nowMs);
  t.equal(tookMs(runs.get('react/heat'), nowMs), 29_000);
  t.equal(runs.get('react/heat')?.stoodMs, 11_000);
  t.equal(tookMs(runs.get('react'), nowMs), 54_000, 'so far');
});

t.test('what was open and is so no more stays in the list, ticked; the order in which it was found stays too', async (t) => {
  interface Item {
    readonly key: string;
    readonly check: { readonly element: string };
    readonly isDone: boolean;
  }
  const { listOf } = await pageModule<{ listOf(before: readonly Item[], problems: readonly object[], lifted: readonly object[]): readonly Item[] }>('data/to-do.ts');
  const check = (element: string, severity = 'error'): object => ({ check: 'modes', element, severity, message: element, ok: false });
  const first = listOf([], [check('tic101'), check('xv101', 'warning')], []);
  const then = listOf(first, [check('p101'), check('xv101', 'warning')], []);
  t.match(then, [
    { check: { element: 'tic101' }, isDone: true },
    { check: { element: 'xv101' }, isDone: false, isNeeded: false },
    { check: { element: 'p101' }, isDone: false, isNeeded: true },
  ]);
  t.match(listOf(then, [check('tic101')], []), [{ check: { element: 'tic101' }, isDone: false }, {}, {}], 'and opens again');
  const twice = [check('tic101', 'warning'), check('tic101')];
  t.match(
    listOf(listOf([], twice, []), twice, []),
    [
      { isNeeded: true, isDone: false },
      { isNeeded: false, isDone: false },
    ],
    'of one module in two phases the error stays what it is',
  );
  const passing = { check: 'devices', element: 'ag101', severity: 'warning', message: 'ag101', ok: false, told: { code: 'commanded', parts: {} } };
  const onItsWay = { check: 'command', element: 'b', severity: 'error', message: 'b is Holding', ok: false, told: { code: 'not-in-state', parts: {} } };
  t.same(listOf(listOf([], [passing, onItsWay], []), [], []), [], 'what nobody has put right gets no tick');
});

t.test('a procedure as one picture: what is below an element lies in it, branches at once lie beside each other, steps without transitions follow each other', async (t) => {
  interface Box {
    readonly path: string;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  }
  interface Picture {
    readonly width: number;
    readonly height: number;
    readonly boxes: readonly Box[];
    readonly links: readonly object[];
    readonly bars: readonly object[];
  }
  const { pictureOf } = await pageModule<{ pictureOf(chart: object, inside: (path: string) => object | undefined, isOpen: (path: string) => boolean): Picture }>(
    'data/procedure-layout.ts',
  );
  const chart = { steps: [{ name: 'a' }, { name: 'b' }], divergences: [{ name: 's', type: 'SimultaneousDiverge', branches: ['a', 'b'] }] };
  const below = { steps: [{ name: 'x' }, { name: 'y' }] };
  const inside = (path: string): object => ({ chart: path === 'a' ? below : {}, isPhase: path.includes('/') });
  const { boxes, links, bars, width, height } = pictureOf(chart, inside, () => true);
  const box = (path: string): Box => boxes.find((each) => each.path === path) ?? { path, x: NaN, y: NaN, width: NaN, height: NaN };
  const [a, b, x, y] = [box('a'), box('b'), box('a/x'), box('a/y')];
  t.ok(a.x + a.width < b.x && a.y === b.y, 'beside each other');
  t.ok(x.x > a.x && x.y > a.y && y.y + y.height < a.y + a.height && y.x + y.width < a.x + a.width, 'in it');
  t.ok(y.y > x.y + x.height, 'below what it follows');
  t.equal(links.length, 1);
  t.equal(bars.length, 2, 'a double line above and below');
  t.ok(
    boxes.every((each) => each.x >= 0 && each.x + each.width <= width && each.y + each.height <= height),
    'nothing sticks out',
  );
  t.equal(pictureOf(chart, inside, () => false).boxes.length, 2, 'closed');
});
