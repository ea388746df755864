/** What a chart waits for, in words, against what is compared: which side changes, what is wanted, and every letter of a text. */
import t from 'tap';
import { pageBox } from './page-box.js';
import { pageModule } from './page-module.js';

interface Words {
  conditionWords(part: object): string | undefined;
}
const value = (text: string, type: string, held = text): object => ({ what: 'value', text, type, value: held });
const FALSE = value('FALSE', 'BOOL');
const TRUE = value('TRUE', 'BOOL');
const signal = (held: string): object => ({ what: 'signal', name: 'done', text: '…', type: 'BOOL', value: held, from: [{ path: 'make/fill', unit: 'rx101' }] });
const step = (held: string): object => ({ what: 'step', name: 'fill', text: 'fill.X', type: 'BOOL', value: held });
const TIME = { what: 'time', name: 'fill', text: 'fill.T', type: 'TIME', value: '2000' };
const FIVE = value('T#5s', 'TIME', '5000');
const BOUND = { what: 'name', name: 'holdTime', text: 'holdTime', type: 'TIME', value: '5000' };
const level = { what: 'name', name: 'level', text: 'level', type: 'REAL', value: '12.5', engUnits: '%' };
const lot = (held: string): object => ({ what: 'name', name: 'lot', text: 'lot', type: 'STRING', value: held });

const ROWS: readonly (readonly [title: string, sides: object, words: string])[] = [
  ['a signal', { left: signal('FALSE'), operator: '=', right: TRUE }, 'Signal “done” from RX101 (make/fill) has not come yet'],
  ['a signal that has to be gone', { left: signal('TRUE'), operator: '=', right: FALSE }, 'Signal “done” from RX101 (make/fill) has come, goes on when it is gone'],
  ['the same, written otherwise', { left: signal('TRUE'), operator: '<>', right: TRUE }, 'Signal “done” from RX101 (make/fill) has come, goes on when it is gone'],
  ['a step', { left: step('FALSE'), operator: '=', right: TRUE }, 'Step fill is not active, goes on when it is'],
  ['a step that has to end', { left: step('TRUE'), operator: '=', right: FALSE }, 'Step fill is active, goes on when it is not'],
  ['a time', { left: TIME, operator: '>=', right: FIVE }, 'Time in fill: 0:02 of 0:05'],
  ['a time, with where it is set', { left: TIME, operator: '>=', right: BOUND }, 'Time in fill: 0:02 of 0:05 (holdTime)'],
  ['a time, the bound first', { left: FIVE, operator: '<=', right: TIME }, 'Time in fill: 0:02 of 0:05'],
  ['a time, a bound with a name first', { left: BOUND, operator: '<', right: TIME }, 'Time in fill: 0:02 of 0:05 (holdTime)'],
  ['a time at most', { left: TIME, operator: '<', right: FIVE }, 'Time in fill 0:02, goes on when it is below 0:05'],
  ['a value', { left: level, operator: '>=', right: value('20', 'REAL') }, 'level 12.5 %, goes on when it is at least 20 %'],
  ['a value, the limit first', { left: value('20', 'REAL'), operator: '<', right: level }, 'level 12.5 %, goes on when it is above 20 %'],
  ['a text that is called as a state is', { left: lot('Held'), operator: '=', right: value("'Running'", 'STRING', 'Running') }, 'lot “Held”, goes on when it is “Running”'],
];

t.test('a condition is worded by what is wanted, by the side that changes, and letter by letter', async (t) => {
  pageBox(() => ({}));
  const { conditionWords } = await pageModule<Words>('plant/condition-words.tsx');
  for (const [title, sides, words] of ROWS) t.equal(conditionWords({ sides }), words, title);
  t.equal(conditionWords({}), undefined);
  const german = await pageModule<Words>('plant/condition-words.tsx', 'de-DE');
  t.equal(german.conditionWords({ sides: { left: lot('Held'), operator: '=', right: value("'b'", 'STRING', 'b') } }), 'lot „Held“, weiter bei „b“');
});

t.test('a limit is told in the unit of measure of the tag that it is of, and without one where that is not known', async (t) => {
  interface Alarms {
    readonly definitions: { value: readonly object[] };
    readonly tagList: { value: readonly object[] };
    eventValueText(event: object): string;
    limitText(alarm: object): string;
  }
  pageBox(() => []);
  const page = await pageModule<Alarms>('plant/alarm.tsx views/alarms/alarm-text.ts data/plant.ts', 'en-IE');
  page.tagList.value = [
    { controlModule: 'tic1', name: 'pv', engUnits: 'degC' },
    { controlModule: 'tic1', name: 'out', engUnits: '%' },
  ];
  page.definitions.value = [
    { name: 'hot', tagName: 'pv' },
    { name: 'open', tagName: 'out' },
  ];
  const raised = (definitionRef: string): object => ({ source: 'ControlModule/tic1', definitionRef, value: '90', conditionType: 'TagHigh', setpoint: '85' });
  t.equal(page.eventValueText(raised('hot')), '90 °C');
  t.equal(page.eventValueText(raised('open')), '90 %');
  t.equal(page.eventValueText(raised('gone')), '90');
  t.match(page.limitText(raised('open')), /85 %$/);
});
