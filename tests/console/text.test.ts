/** Texts and numbers as the pages show them, without a browser: what is recorded is shown with every letter of it. */
import t from 'tap';
import { DATA_TYPES, TAG_TYPES } from '../../runtime/vocabulary/data-types.js';
import { TOLD, type Told, told, toldAt, toldFailure, withTold } from '../../runtime/vocabulary/told.js';
import { pageModule } from './page-module.js';

interface Texts {
  recordText(text: string, isNumber: boolean): string;
  readingText(value: number): string;
  numberText(value: number, span: number | undefined): string;
  measuredText(value: number, limit?: number): string;
}

const load = (language: string): Promise<Texts> => pageModule<Texts>('common/text.ts', language);

t.test('RECORD-03: what is recorded is what is shown', async (t) => {
  const english = await load('en-GB');
  const german = await load('de-DE');
  const TEXTS = ['20261122007', '2026112200017', '000123', '0x1F', '1e5', ' 12 ', '1000.49', '-0', '+5', '', 'Infinity'];
  for (const text of TEXTS) for (const page of [english, german]) t.equal(page.recordText(text, false), text, `the text '${text}' stays as it is`);

  const NUMBERS = ['12345.6', '1000.49', '81.58405303955078', '0.00094', '9007199254740993', '1e-7', '-40', '1500'];
  for (const text of NUMBERS) {
    t.equal(english.recordText(text, true), text);
    t.equal(german.recordText(text, true), text.includes('e') ? text : text.replace('.', ','), 'the decimal sign of its reader, and all digits');
  }
});

t.test('a reading decides something: it is as exact as the instrument', async (t) => {
  const { readingText } = await load('en-GB');
  const ROWS: readonly (readonly [number, string])[] = [
    [12345.6, '12345.6'],
    [2026112200017, '2026112200017'],
    [0.0009406, '0.0009406'],
    [80.03417205810547, '80.03417'],
    [123456789.126, '123456789.13'],
    [0, '0'],
    [-17, '-17'],
  ];
  for (const [value, text] of ROWS) t.equal(readingText(value), text);
});

t.test('a live value has a steady number of digits, which its declared range asks for', async (t) => {
  const { numberText } = await load('en-GB');
  t.equal(numberText(80.034, 150), '80.0');
  t.equal(numberText(0.0345, 0.05), '0.03450');
  t.equal(numberText(-0.0001, 100), '0.0');
});

t.test('a measured value in a sentence has the digits of the screen, and more where they would hide on which side of its limit it is', async (t) => {
  const { measuredText } = await load('en-GB');
  const ROWS: readonly (readonly [value: number, limit: number | undefined, text: string])[] = [
    [81.58405303955078, undefined, '81.58'],
    [20.675302463846492, 20, '20.68'],
    [0.0009406, 5, '0.00'],
    [80.0034, 80, '80.0034'],
    [80, 80, '80'],
    [12345.6, undefined, '12346'],
  ];
  for (const [value, limit, text] of ROWS) t.equal(measuredText(value, limit), text);
  t.equal((await load('de-DE')).measuredText(81.58405303955078), '81,58');
});

t.test('a line of the journal has a quantity with what it is counted in, and nothing twice', async (t) => {
  const { partsOf } = await pageModule<{ partsOf(event: object): string[] }>('plant/event-words.ts', 'en-GB');
  const event = (eventType: string, message: string, value: string, previousValue = '', eventSubType = '', as?: Told) =>
    partsOf({ eventType, eventSubType, message, value, previousValue, ...withTold(as) });
  const material = (name: string, engUnits: string): Told => told('material', { material: name, engUnits });
  t.same(
    event('Material', 'monomer (kg)', '20.675302463846492', '20261122007', 'Consume', material('monomer', 'kg')),
    ['monomer', '20.6753 kg', '20261122007'],
    'as a reading is told; every digit is in the record',
  );
  t.same(
    event('Material', 'resin (clear) (mPa.s)', '3.0000', '', 'Produce', material('resin (clear)', 'mPa.s')),
    ['resin (clear)', '3.0000 mPa·s'],
    'what was given stands as it was given',
  );
  t.same(event('Operator', 'viscosity', 'viscosity'), ['viscosity']);
  const alarm = told('alarm-event', { event: 'Activated', alarm: 'hot-1', message: 'Reactor (kg) too hot', since: '' });
  t.same(event('Alarm', 'Activated: alarm hot-1, Reactor (kg) too hot', 'ActiveUnacknowledged', '', 'Process', alarm), ['Alarm: Reactor (kg) too hot']);
  t.same(event('Equipment', 'mode of ControlModule tic101', 'Manual', 'Automatic', 'Modification', told('mode-set', { kind: 'ControlModule', name: 'tic101' })), [
    'TIC101: Automatic → Manual',
  ]);
  t.same(event('Equipment', 'tag tic101.sp', '80.123456789', '70', 'Modification', told('tag-written', { address: 'tic101.sp' })), ['TIC101.SP: 70 → 80.12346']);
  t.same(event('Procedural Execution', '', 'Manual', 'Automatic', 'Mode Change'), ['Automatic → Manual'], 'a change goes from what it was to what it is');
  const cancelled = told('prompt-cancelled', { step: '', state: 'Held' });
  t.same(event('Operator', 'cancelled without an answer: the phase is Held', 'Weigh it', 'PromptCancelled', 'Prompt', cancelled), ['Weigh it', 'Not answered any more: Held']);
});

t.test('what a release before this one has kept has no code and stands as it was written', async (t) => {
  const { partsOf, toldText } = await pageModule<{ partsOf(event: object): string[]; toldText(said: object): string }>('plant/event-words.ts plant/told-words.ts', 'de-DE');
  const event = (eventType: string, message: string, value: string, previousValue = '', eventSubType = '') => partsOf({ eventType, eventSubType, message, value, previousValue });
  t.same(event('Alarm', 'Activated: alarm hot-1, Reactor too hot', '', '', 'Process'), ['Activated: alarm hot-1, Reactor too hot']);
  t.same(event('Equipment', 'tag tic101.sp', '80', '70', 'Modification'), ['tag tic101.sp: 70 → 80']);
  t.same(event('Material', 'water (kg)', '3', '', 'Consume'), ['water (kg)', '3']);
  t.equal(toldText({ message: 'Hold is not possible in Holding' }), 'Hold is not possible in Holding');
  t.equal(toldText({ message: 'written by a later release', told: { code: 'of-a-later-release', parts: {} } }), 'written by a later release');
});

t.test('a record of the trail says for whom a component did it: the first person of the same request', async (t) => {
  const { askersOf, askedBy } = await pageModule<{ askersOf(records: readonly object[]): object; askedBy(record: object, askers: object): string }>(
    'views/audit/audit-askers.ts',
    'en-GB',
  );
  const record = (correlationID: string, actorType: string, displayName: string) => ({ correlationID, actorType, displayName });
  const records = [record('c1', 'component', 'batch-controller'), record('c1', 'person', 'Anna'), record('c1', 'person', 'Otto'), record('c2', 'component', 'alarm-controller')];
  const askers = askersOf(records);
  t.same(
    records.map((each) => askedBy(each, askers)),
    ['Anna', '', '', ''],
  );
});

t.test('what the box keeps in its records is told in German, without codes and names of the box', async (t) => {
  interface Words {
    causeText(said: object): string;
    checkTexts(rows: readonly object[]): string[];
    failureText(failure: object): string;
    holdText(batch: object): string;
    rejectionText(rejection: object): string;
    toldText(said: object): string;
    uncontrolledText(unit: string, from: string, to: string): string;
  }
  const { causeText, checkTexts, failureText, holdText, rejectionText, toldText, uncontrolledText } = await pageModule<Words>(
    'plant/told-words.ts plant/check-text.ts plant/hold-text.ts',
    'de-DE',
  );
  const hyphenless = (text: string): string => text.replaceAll('\u00ad', '');
  const said = (as: Told): string => hyphenless(toldText({ message: 'in English', told: as }));
  const alarm = { alarm: 'hot-1', message: 'Reaktor zu warm', since: '' };
  t.equal(said(told('alarm-event', { event: 'Activated', ...alarm })), 'Alarm: Reaktor zu warm');
  t.equal(said(told('alarm-event', { event: 'Acknowledged', ...alarm })), 'Alarm quittiert: Reaktor zu warm');
  const byAlarm = told('alarms-hold', { alarms: 'hot-1', texts: 'Reaktor zu warm' });
  t.equal(failureText({ rule: 'alarm-exception', message: 'alarm hot-1: Reaktor zu warm', told: byAlarm }), 'Ein Alarm hat es verlangt: Reaktor zu warm');
  const inManual = told('module-in-manual', { address: 'temp.sp', module: 'tic101' });
  const failure = { rule: 'write-mode-manual', message: 'temp.sp (tic101) is in Manual: set it to Automatic or Semi-Automatic', told: inManual };
  const wanted = 'Das Rezept schrieb auf ein Modul in Hand: TIC101 steht in Hand; auf Automatik oder Halbautomatik stellen';
  t.equal(said(toldFailure(failure)), wanted);
  t.equal(
    said(told('failure-active', { command: 'Restart', rule: failure.rule, message: failure.message }, inManual)),
    `Wiederanfahren ist nicht möglich, solange dies ansteht: ${wanted}`,
  );
  t.equal(holdText({ name: 'wo-1', batchID: 'WO-1', heldBy: { ...failure, reason: '' } }), 'TIC101 steht in Hand; auf Automatik oder Halbautomatik stellen');
  t.equal(
    holdText({ name: 'wo-1', batchID: 'WO-1', heldBy: { ...failure, told: toldAt('react/heat', inManual), reason: '' } }),
    'react/heat: TIC101 steht in Hand; auf Automatik oder Halbautomatik stellen',
  );
  t.equal(
    failureText({ rule: 'runtime-restart', message: 'in English', told: told('restarted', {}) }),
    'Die Steuerung der Teilanlage oder die Box wurde neu gestartet',
    'what says it all stands alone',
  );
  t.equal(hyphenless(causeText({ message: 'Hold' })), 'Anhalten');
  t.equal(causeText({ message: 'step-timeout' }), 'Ein Schritt dauerte zu lange');
  const held = told('not-possible', { command: 'Hold', state: 'Holding' });
  t.equal(hyphenless(rejectionText({ rule: 'already-holding', message: 'Hold is not possible in Holding', told: held })), 'Anhalten ist nicht möglich im Zustand Hält an');
  const gap = { from: '2026-11-22T12:00:00.000Z', to: '2026-11-22T12:00:04.000Z', gapMs: '4000' };
  t.equal(said(told('box-restarted', gap)), uncontrolledText('', gap.from, gap.to), 'journal and head tell one length');
  t.match(said(told('box-restarted', gap)), /niemand steuerte.*\(4 s\)/);
  t.match(said(told('unit-restarted', { unit: 'rx101', ...gap })), /^RX101 wird wieder gesteuert; zuletzt aufgezeichnet /);
  t.equal(said(told('value-range', { name: 'monomer', value: '12.5', min: '', max: '10', engUnits: 'kg' })), 'monomer: 12,5 ist nicht erlaubt; erlaubt ist bis 10 kg');
  t.equal(said(told('unit-taken', { unit: 'rx101', holder: 'WO-2' })), 'RX101 ist belegt von WO-2');
  const row = (as: Told): object => ({ message: 'in English', told: as });
  t.strictSame(
    checkTexts([
      row(told('manual-in-phase', { module: 'tic101', phase: 'makeResin/react/cool', address: 'temp.mode', step: 'cool' })),
      row(told('commanded', { module: 'ag101', value: 'Run' })),
      row(told('off-setpoint', { module: 'tic101', value: '20.676952760336135', setpoint: '80', engUnits: 'degC' })),
      row(told('commanded', { module: 'xv105', value: 'TRUE' })),
    ]),
    [
      'TIC101 steht in Hand: Die Charge wird wieder angehalten, sobald sie zu Phase makeResin/react/cool kommt',
      'Bleiben eingeschaltet, jetzt und beim Weiterfahren: AG101 Läuft, XV105',
      'TIC101 steht bei 20,68 °C, der Sollwert ist 80,00 °C',
    ],
  );
});

t.test('every code of the box is worded in both languages, by its parts alone', async (t) => {
  const english = await pageModule<{ toldText(said: object): string }>('plant/told-words.ts', 'en-GB');
  const german = await pageModule<{ toldText(said: object): string }>('plant/told-words.ts', 'de-DE');
  const INSTANTS: readonly string[] = ['since', 'until', 'at', 'from', 'to'];
  /** Codes of which both languages show names alone. */
  const NAMES: readonly string[] = ['alarm', 'alarm-event', 'alarms-hold', 'alarm-commands', 'mode-set', 'tag-written', 'channel-set', 'parameter-set', 'material', 'failure'];
  for (const [code, names] of Object.entries(TOLD)) {
    const parts = Object.fromEntries(names.map((name: string) => [name, INSTANTS.includes(name) ? '2026-11-22T12:00:00.000Z' : `<${name}>`]));
    const as = { message: 'in English', told: { code, parts } };
    const [en, de] = [english.toldText(as), german.toldText(as)];
    for (const text of [en, de]) {
      t.not(text, '', code);
      t.notMatch(text, /undefined|NaN|\[object|in English/, code);
    }
    t.equal(en === de, NAMES.includes(code), `${code}: ${de}`);
  }
});

t.test('a cell of a file is a formula to no spreadsheet, however it begins, and a number is what was recorded', async (t) => {
  const { csvCell } = await pageModule<{ csvCell(text: string): string }>('common/save-file.ts');
  for (const text of ['=1+1', '+cmd', '-2+3', '@SUM(A1)', '\t=1+1', '\r=1+1', '  =1', '\uff1d1', '|cmd']) t.equal(csvCell(text), `"'${text}"`, JSON.stringify(text));
  for (const text of ['-5', '+5.25', '-1e-7', 'a=b', '', 'x', '5 - 3']) t.equal(csvCell(text), `"${text}"`, 'as it was recorded');
  t.equal(csvCell('he said "no"'), '"he said ""no"""');
});

t.test('what somebody types for a tag is judged by its type, whether it is written or tuned', async (t) => {
  interface Entry {
    enteredValue(tag: object, text: string): { readonly value: unknown; readonly fault: string };
  }
  const { enteredValue } = await pageModule<Entry>('common/entered-value.ts');
  const tag = (dataType: string) => ({ dataType, engMin: '0', engMax: '100' });
  const ROWS: readonly (readonly [type: string, text: string, value: unknown, fault: RegExp])[] = [
    ['Float', '12,5', 12.5, /^$/],
    ['Float', 'a', Number.NaN, /./],
    ['Float', '100.5', 100.5, /0.*100/],
    ['Integer', '7', 7, /^$/],
    ['Integer', '7.5', 7.5, /./],
    ['Boolean', 'false', false, /^$/],
    ['Boolean', '', false, /./],
    ['String', ' ', ' ', /^$/],
    ['Time', ' T#5s ', 'T#5s', /^$/],
    ['Time', ' ', '', /./],
  ];
  for (const [type, text, value, fault] of ROWS) {
    const found = enteredValue(tag(type), text);
    t.strictSame(found.value, value, `${type} ${text}`);
    t.match(found.fault, fault, `${type} ${text}`);
  }
});

t.test('a number is one by the name that its tag, its parameter or its output has for the type', async (t) => {
  const { isNumeric } = await pageModule<{ isNumeric(type: string): boolean }>('data/types.ts');
  for (const type of [...TAG_TYPES, ...DATA_TYPES]) t.equal(isNumeric(type), ['Float', 'Integer', 'REAL', 'INT'].includes(type), type);
});
