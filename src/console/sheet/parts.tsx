/** The parts, each with the states that it can have. A further part, or a state of one, is a line here. */
import { computed, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from '../common/dialog.js';
import { later } from '../common/later.js';
import type { Log } from '../common/use-log.js';
import { Badge, type BadgeLook, SeverityBadge } from '../parts/badge.js';
import { Bar, type BarProps } from '../parts/bar.js';
import { GreyButton } from '../parts/grey-button.js';
import { Mark, MARK_KINDS, markName } from '../parts/mark.js';
import { Progress } from '../parts/progress.js';
import QrCode from '../parts/qr-code.js';
import { Segments } from '../parts/segments.js';
import { Spark } from '../parts/spark.js';
import { FromTo, type Look, Pipe, Symbol, SYMBOL_IDS } from '../parts/symbols.js';
import { Vessel, VESSEL_SHAPES } from '../parts/vessel.js';
import { type Column, type Sorting, Table } from '../parts/table.js';
import { TimeBar, type TimeRow } from '../parts/time-bar.js';
import { TimeWindow } from '../parts/time-window.js';
import { ValueTile, type ValueTileProps } from '../parts/value-tile.js';

const TrendPlot = later(() => import('../plant/trend-plot.js').then((module) => module.TrendPlot));

interface Part {
  readonly name: string;
  readonly words: string;
  readonly Shown: () => ComponentChildren;
}

export const PARTS: readonly Part[] = [
  { name: 'tokens', words: 'colour, with shape and word, is abnormal; blue is selection and action', Shown: Tokens },
  { name: 'badge', words: 'outline normal, soft abnormal without an alarm, filled an alarm or an abnormal state', Shown: Badges },
  { name: 'mark', words: 'a letter for what is to be known of a value or a device', Shown: Marks },
  { name: 'bar', words: 'the scale is the working range, not that of the transmitter', Shown: Bars },
  { name: 'value-tile', words: 'a value says what it is worth', Shown: Tiles },
  { name: 'live', words: 'what changes redraws its own number and pointer', Shown: LiveTile },
  { name: 'spark', words: 'the last minutes, as one path', Shown: Sparks },
  { name: 'progress', words: 'of a step or a batch', Shown: () => Case('64 %', <Progress share={0.64} label="Step 3 of 5" />, true) },
  { name: 'button', words: 'a grey one says what is missing', Shown: Buttons },
  {
    name: 'qr-code',
    words: 'a way for the camera of a phone',
    Shown: () => Case('an address', <QrCode text="https://lineside.example/hmi#/prompts?unit=rx101" label="Prompts of RX101" />),
  },
  { name: 'segments', words: 'choice of one', Shown: Choice },
  { name: 'table', words: 'only the rows in sight are drawn', Shown: Tables },
  { name: 'time-bar', words: 'rows, spans, marks and curves on one axis; a window on the whole', Shown: TimeBars },
  { name: 'chart', words: 'curves, told apart by dash as well', Shown: Chart },
  { name: 'dialog', words: 'a question', Shown: Dialogs },
  { name: 'symbols', words: 'after ISA-5.1: filled is open or running', Shown: Symbols },
];

function Case(words: string, children: ComponentChildren, isWide = false) {
  return (
    <div key={words} class={isWide ? 'sheet-case sheet-wide' : 'sheet-case'}>
      {children}
      <span class="sheet-words">{words}</span>
    </div>
  );
}

const TOKENS = [
  ...['ground', 'panel', 'raised', 'inset', 'line', 'line-strong', 'text', 'muted', 'faint', 'accent', 'accent-soft', 'track', 'band', 'ink', 'device', 'liquid'],
  ...['attention', 'attention-soft', 'attention-line', 'critical', 'critical-ink', 'high', 'low', 'focus', 'pen-1', 'pen-2', 'pen-3', 'pen-4', 'pen-5', 'pen-6'],
];

function Tokens() {
  return (
    <ul class="sheet-tokens">
      {TOKENS.map((name) => (
        <li key={name} class="sheet-token">
          <span class="sheet-swatch" style={{ background: `var(--${name})` }} />
          {name}
        </li>
      ))}
    </ul>
  );
}

const BADGES: readonly (readonly [BadgeLook, string, string])[] = [
  ['outline', 'Running', 'normal'],
  ['rest', 'Idle', 'at rest'],
  ['filled', 'Held 1 min 36 s', 'abnormal state'],
  ['critical', 'Aborted', 'failed'],
  ['soft', '27 min', 'abnormal, no alarm'],
  ['chosen', '1.2.0 draft', 'selection, draft'],
];
const SEVERITIES = ['Critical', 'High', 'Medium', 'Low'] as const;

function Badges() {
  return (
    <div class="sheet-row">
      {BADGES.map(([look, text, words]) => Case(words, <Badge look={look}>{text}</Badge>))}
      {SEVERITIES.map((severity) => Case(severity, <SeverityBadge severity={severity} hasWord={false} />))}
      {SEVERITIES.map((severity) => Case(`${severity}, past`, <SeverityBadge severity={severity} past />))}
    </div>
  );
}

function Marks() {
  return (
    <div class="sheet-row">
      {MARK_KINDS.map((kind) => Case(markName(kind), <Mark kind={kind} />))}
      {Case('a choice', <Mark kind="manual" quiet />)}
    </div>
  );
}

const RANGE = { min: 52, max: 113 };
const LIMITS = [
  { at: 60, isTrip: false },
  { at: 95, isTrip: false },
  { at: 105, isTrip: true },
];
const OF_TEMPERATURE = { range: RANGE, limits: LIMITS, setpoint: 80, band: { min: 77, max: 83 } };

const BARS: readonly (readonly [string, BarProps])[] = [
  ['range and pointer', { range: RANGE, value: 80.1 }],
  ['normal band', { range: RANGE, value: 80.1, band: { min: 70, max: 90 } }],
  ['limits', { range: RANGE, value: 80.1, limits: LIMITS }],
  ['setpoint from below', { ...OF_TEMPERATURE, value: 80.1 }],
  ['off setpoint', { ...OF_TEMPERATURE, value: 71.4, look: 'off' }],
  ['Low', { ...OF_TEMPERATURE, value: 59, look: 'Low' }],
  ['Medium', { ...OF_TEMPERATURE, value: 59, look: 'Medium' }],
  ['High', { ...OF_TEMPERATURE, value: 97.8, look: 'High' }],
  ['Critical', { ...OF_TEMPERATURE, value: 105.4, look: 'Critical' }],
  ['not to be trusted', { ...OF_TEMPERATURE, value: undefined }],
  ['beyond its range', { ...OF_TEMPERATURE, value: 140, look: 'Critical' }],
];

function Bars() {
  return <div class="sheet-row">{BARS.map(([words, bar]) => Case(words, <Bar {...bar} label={words} />, true))}</div>;
}

const TEMPERATURE = { name: 'Temperature', tag: 'TIC101', unit: '°C' };
const TILES: readonly ValueTileProps[] = [
  { ...TEMPERATURE, text: '80.1', bar: { ...OF_TEMPERATURE, value: 80.1 }, note: 'normal', testid: 'value-normal' },
  {
    ...TEMPERATURE,
    text: '73.4',
    bar: { ...OF_TEMPERATURE, value: 73.4 },
    isOff: true,
    note: (
      <>
        <strong>6.6 below</strong> setpoint
      </>
    ),
    testid: 'value-off',
  },
  { ...TEMPERATURE, text: '97.8', bar: { ...OF_TEMPERATURE, value: 97.8 }, severity: 'High', note: 'High, over 95', testid: 'value-high' },
  { ...TEMPERATURE, text: '105.4', bar: { ...OF_TEMPERATURE, value: 105.4 }, severity: 'Critical', note: 'Critical, over 105', testid: 'value-critical' },
  { ...TEMPERATURE, text: '71.4', bar: { ...OF_TEMPERATURE, value: 71.4 }, isOff: true, marks: ['manual'], note: 'Manual since 02:51', testid: 'value-manual' },
  { ...TEMPERATURE, text: '80.1', bar: { ...OF_TEMPERATURE, value: 80.1 }, trust: 'stale', marks: ['stale'], note: 'stale since 13:36:54', testid: 'value-stale' },
  {
    name: 'pH',
    tag: 'AI102',
    text: '3.1',
    unit: 'pH',
    bar: { range: { min: 0, max: 14 }, value: 3.1, band: { min: 6.5, max: 8 } },
    trust: 'bad',
    marks: ['bad'],
    note: 'Bad: 2.91 mA, wire',
    testid: 'value-bad',
  },
  {
    name: 'Flow',
    tag: 'FI102',
    text: '0.42',
    unit: 'kg/min',
    bar: { range: { min: 0, max: 2 }, value: 0.42, band: { min: 0.3, max: 0.6 } },
    marks: ['forced'],
    note: 'forced, Anna, to 10:46',
    testid: 'value-forced',
  },
  {
    name: 'Level',
    tag: 'LI102',
    text: '41.7',
    unit: '%',
    bar: { range: { min: 0, max: 100 }, value: 41.7, band: { min: 15, max: 82 } },
    isSimulated: true,
    marks: ['simulated'],
    note: 'simulated, preset vessel',
    testid: 'value-simulated',
  },
  {
    name: 'Heater',
    tag: 'HX101',
    text: '22.0',
    unit: '%',
    bar: { range: { min: 0, max: 60 }, value: 22 },
    marks: ['bypassed'],
    note: 'bypassed, 48 min left',
    testid: 'value-bypassed',
  },
];

function Tiles() {
  return (
    <>
      <div class="sheet-tiles">
        {TILES.map((tile) => (
          <ValueTile key={tile.testid} {...tile} />
        ))}
      </div>
      <div class="sheet-lines">
        {TILES.slice(0, 6).map((tile) => (
          <ValueTile key={tile.testid} {...tile} testid={tile.testid?.replace('value-', 'value-line-')} shape="line" />
        ))}
      </div>
    </>
  );
}

const moved = signal(80.1);
const movedText = computed(() => moved.value.toFixed(1));

function LiveTile() {
  return (
    <div class="sheet-row">
      {Case('live', <ValueTile {...TEMPERATURE} text={movedText} bar={{ ...OF_TEMPERATURE, value: moved }} note="normal" testid="value-live" />, true)}
      <button type="button" class="button" onClick={() => (moved.value += 0.1)} data-testid="move">
        Next value
      </button>
    </div>
  );
}

const MINUTES = Array.from({ length: 40 }, (_, minute) => minute);

function Sparks() {
  const steady = MINUTES.map((minute) => 80 + (minute % 3));
  const leaves = MINUTES.map((minute) => (minute < 20 ? 80 : 60 + minute));
  const range = { min: 60, max: 110 };
  return (
    <div class="sheet-row">
      {Case('steady', <Spark times={MINUTES} values={steady} range={range} band={{ min: 75, max: 87 }} label="steady" />, true)}
      {Case('leaves the band', <Spark times={MINUTES} values={leaves} range={range} band={{ min: 75, max: 87 }} label="leaves the band" />, true)}
      {Case('in alarm', <Spark times={MINUTES} values={leaves} range={range} limits={LIMITS} look="Critical" label="in alarm" />, true)}
      {Case('unknown between', <Spark times={MINUTES} values={steady.map((value, at) => (at > 10 && at < 20 ? null : value))} range={range} label="unknown between" />, true)}
    </div>
  );
}

function Buttons() {
  const missing = [{ text: 'AG101 cannot run: motor protection, MCC-2 field 4', href: '#symbols', way: 'Open AG101' }, { text: 'TIC101 97.8 °C, must be below 95' }];
  return (
    <div class="sheet-row">
      {Case(
        'rest',
        <button type="button" class="button">
          Hold
        </button>,
      )}
      {Case(
        'the one thing asked',
        <button type="button" class="button primary">
          Answer
        </button>,
      )}
      {Case(
        'irreversible',
        <button type="button" class="button danger">
          Abort …
        </button>,
      )}
      {Case(
        'not possible now: 2 missing',
        <GreyButton name="Restart" missing={missing} testid="grey">
          <button type="button" class="button">
            Tell me when possible
          </button>
        </GreyButton>,
      )}
    </div>
  );
}

function Choice() {
  const [mode, setMode] = useState<'Automatic' | 'Semi' | 'Manual'>('Manual');
  return (
    <Segments
      label="Mode"
      value={mode}
      options={[
        ['Automatic', 'Automatic'],
        ['Semi', 'Semi'],
        ['Manual', 'Manual'],
      ]}
      onChoose={setMode}
      testid="mode"
    />
  );
}

interface Row {
  readonly number: number;
  readonly what: string;
}

const ROWS: readonly Row[] = Array.from({ length: 10_000 }, (_, number) => ({ number, what: number % 3 === 0 ? 'TIC101 high' : 'TIC102 to Manual' }));
const COLUMNS: readonly Column<Row>[] = [
  { key: 'number', title: 'Number', cell: ({ number }) => `Row ${number}`, sort: 'number' },
  { key: 'what', title: 'What', cell: ({ what }) => what },
  { key: 'value', title: 'Value', cell: ({ number }) => (number / 10).toFixed(1), isNumber: true },
];

function logOf(items: readonly Row[]): Log<Row> {
  return { items, total: items.length, unreadable: [], damaged: [], fault: '', busy: false, hasMore: false, more: () => undefined, again: () => undefined };
}

function Tables() {
  const [sorting, setSorting] = useState<Sorting>({ by: 'number', order: 'asc' });
  const common = { columns: COLUMNS, keyOf: ({ number }: Row) => String(number), empty: 'Nothing was found' };
  const sorted = sorting.order === 'asc' ? ROWS : ROWS.toReversed();
  return (
    <>
      <div class="sheet-table">
        <Table {...common} label="Rows that open something" rows={logOf(sorted)} hrefOf={() => '#table'} sorting={sorting} onSort={setSorting} testid="rows" />
      </div>
      <div class="sheet-table">
        <Table {...common} label="Rows that are only read" rows={logOf(ROWS.slice(0, 200))} testid="read-rows" />
      </div>
      <div class="sheet-table">
        <Table {...common} label="No rows" rows={logOf([])} testid="no-rows" />
      </div>
    </>
  );
}

const HOUR_MS = 3_600_000;
const FROM_MS = Date.UTC(2026, 0, 15, 3);
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' });
const hour = (hours: number): number => FROM_MS + hours * HOUR_MS;

const STEPS: TimeRow = {
  name: 'Batch',
  spans: [
    { fromMs: FROM_MS, toMs: hour(0.5), text: 'charge', look: 'step' },
    { fromMs: hour(0.5), toMs: hour(0.8), text: 'sample', look: 'waits' },
    { fromMs: hour(0.8), toMs: hour(1.2), text: 'react', look: 'step' },
    { fromMs: hour(1.2), toMs: hour(1.5), text: 'Held', look: 'held' },
  ],
};

function Window() {
  const [window, setWindow] = useState({ fromMs: hour(1), toMs: hour(1.4) });
  const points = Array.from({ length: 60 }, (_, at) => [hour(1 + at / 100), 76 + (at < 20 ? 0 : Math.min(30, at - 20))] as const);
  const other = points.map(([atMs]) => [atMs, 76] as const);
  return (
    <>
      <TimeWindow
        label="Whole batch"
        row={STEPS}
        whole={{ fromMs: FROM_MS, toMs: hour(1.5) }}
        window={window}
        timeText={(atMs) => clock.format(atMs)}
        onMove={setWindow}
        testid="whole"
      />
      <TimeBar
        label="Window"
        fromMs={window.fromMs}
        toMs={window.toMs}
        timeText={(atMs) => clock.format(atMs)}
        rows={[
          STEPS,
          {
            name: 'TIC101',
            spans: [],
            curve: {
              lines: [
                { name: 'WO-29', points: other },
                { name: '', points },
              ],
              min: 70,
              max: 108,
              limits: [{ at: 95, text: 'high 95' }],
              valueText: (value) => `${value} °C`,
            },
          },
        ]}
        testid="window"
      />
    </>
  );
}

function TimeBars() {
  return (
    <>
      <TimeBar
        label="Next hours"
        fromMs={FROM_MS}
        toMs={hour(4)}
        nowMs={hour(0.25)}
        timeText={(atMs) => clock.format(atMs)}
        rows={[
          { name: 'MX101', spans: [{ fromMs: hour(1.2), toMs: hour(1.9), text: 'WO-43', look: 'planned' }] },
          {
            name: 'RX101',
            spans: [
              { fromMs: hour(-1), toMs: hour(0.2), text: 'WO-41', look: 'ran' },
              { fromMs: hour(0.2), toMs: hour(0.45), text: 'Held', look: 'held' },
              { fromMs: hour(0.45), toMs: hour(2), text: 'WO-41 if restarted at 03:25', look: 'open' },
              { fromMs: hour(2.1), toMs: hour(3.9), text: 'WO-43', look: 'planned' },
            ],
          },
          { name: 'RX102', spans: [{ fromMs: hour(-1), toMs: hour(1.6), text: 'WO-42', look: 'ran' }] },
        ]}
        testid="plan"
      />
      <TimeBar
        label="Batch WO-41"
        fromMs={FROM_MS}
        toMs={hour(1.5)}
        timeText={(atMs) => clock.format(atMs)}
        rows={[
          {
            name: 'Steps',
            spans: [
              { fromMs: FROM_MS, toMs: hour(0.5), text: 'Charge', look: 'ran' },
              { fromMs: hour(0.5), toMs: hour(1.2), text: 'React', look: 'ran' },
              { fromMs: hour(1.2), toMs: hour(1.5), text: 'Held', look: 'held' },
            ],
          },
          {
            name: 'Events',
            spans: [],
            marks: [
              { atMs: hour(1.1), text: 'AG101 stopped', severity: 'High' },
              { atMs: hour(1.2), text: 'TIC101 high-high', severity: 'Critical' },
              { atMs: hour(0.5), text: 'sample taken' },
            ],
          },
        ]}
        lines={[hour(1.1), hour(1.2)]}
        testid="batch"
      />
      <Window />
    </>
  );
}

const PENS = [
  { unit: 'rx101', address: 'tic101.pv', label: 'Temperature', engUnits: 'degC' },
  { unit: 'rx101', address: 'tic101.sp', label: 'Setpoint', engUnits: 'degC' },
];
const SPAN = { fromMs: FROM_MS, toMs: FROM_MS + 40 * 60_000 };
const CURVES = [75, 80].map((base, pen) => ({
  times: MINUTES.map((minute) => FROM_MS / 1000 + minute * 60),
  values: MINUTES.map((minute) => base + (pen === 0 ? minute / 4 : 0)),
  band: undefined,
  bucketMs: 0,
}));

function Chart() {
  return (
    <div class="sheet-plot">
      <TrendPlot pens={PENS} curves={CURVES} windowMs={undefined} span={SPAN} legend />
    </div>
  );
}

function Dialogs() {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <div class="sheet-row">
      <button type="button" class="button" onClick={() => setOpen(true)} data-testid="ask">
        Write TIC102 …
      </button>
      {isOpen && (
        <Dialog title="Write TIC102 setpoint" testid="question" onClose={close}>
          <div class="stack">
            <Bar {...OF_TEMPERATURE} value={71.4} look="off" label="Now 80.0, new 78.5" />
            <p class="note">This will ramp down 1.5 °C in about 2 min.</p>
            <div class="dialog-actions">
              <button type="button" class="button" onClick={close}>
                Leave it
              </button>
              <button type="button" class="button primary" onClick={close}>
                Write 78.5
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </div>
  );
}

const LOOKS: readonly Look[] = ['rest', 'active', 'moving', 'fault', 'unknown'];
const BUBBLES: Readonly<Record<string, string>> = { 'instrument-field': 'li101', 'instrument-panel': 'pi101', controller: 'tic101' };

function Symbols() {
  const valve = { id: 'valve-on-off', deviceClass: 'valve', tag: 'xv101' };
  return (
    <div class="sheet-symbols">
      {LOOKS.map((look) => Case(`valve, ${look}`, <Symbol {...valve} look={look} />))}
      {Case('interlocked', <Symbol {...valve} look="rest" marks={['interlocked']} />)}
      {Case('bypassed', <Symbol {...valve} look="active" marks={['bypassed']} />)}
      {Case('Manual', <Symbol {...valve} look="active" marks={['manual']} />)}
      {SYMBOL_IDS.map((id) => Case(id, <Symbol id={id} deviceClass="other" look="rest" tag={BUBBLES[id] ?? ''} />))}
      {['valve-control', 'pump', 'motor', 'agitator', 'heater', 'exchanger'].map((id) => Case(`${id} on`, <Symbol id={id} deviceClass="other" look="active" tag="" />))}
      {Case('stands', <Pipe flows={false} label="stands" />)}
      {Case('flows', <Pipe flows label="flows" />)}
      {Case('to', <FromTo name="TK201" />)}
      {Case('from', <FromTo name="MX101" isFrom />)}
      {Case('level', <Vessel id="vessel-jacketed" level={0.48} />)}
      {['__proto__', 'hasOwnProperty'].map((id) => Case(`named ${id}`, <Symbol id={id} deviceClass={id} look="rest" tag="" />))}
      {VESSEL_SHAPES.map((id) => Case(`${id} with level`, <Vessel id={id} level={0.48} />))}
    </div>
  );
}
