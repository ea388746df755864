/** Sentences that the box keeps in its records (events, holds, refusals), worded in the language of the page from the names in them; any other stands as it was written. */
import { t, word, words } from '../common/strings.js';
import { ageText, momentText } from '../common/text.js';

const said = words({
  en: {
    notPossible: (command: string, state: string) => `${command} is not possible while it is ${state}`,
    inManual: (what: string) => `${what} is in Manual; set it to Automatic or Semi-Automatic`,
    restarted: 'Control of the unit or the box was restarted',
    notHeard: 'the batch controller is not heard',
    stood: (alarm: string, since: string) => `${alarm}, stood since ${since}`,
    alarm: (alarm: string, happened: string) => (happened === 'Activated' ? `Alarm: ${alarm}` : `Alarm ${word(happened).toLowerCase()}: ${alarm}`),
    scanned: (unit: string, at: string) => `${unit} is controlled again${at === '' ? '' : `; last on record at ${at}`}`,
    heldBy: (who: string) => `Hold by ${who}`,
    answer: (text: string) => `waits for an answer: “${text}”`,
    madeFrom: (recipe: string) => `Control recipe made from ${recipe}`,
  },
  de: {
    notPossible: (command: string, state: string) => `${command} ist nicht möglich im Zustand ${state}`,
    inManual: (what: string) => `${what} steht in Hand; auf Automatik oder Halbautomatik stellen`,
    restarted: 'Die Steuerung der Teilanlage oder die Box wurde neu gestartet',
    notHeard: 'die Chargensteuerung war nicht zu hören',
    stood: (alarm: string, since: string) => `${alarm}, stand seit ${since}`,
    alarm: (alarm: string, happened: string) => (happened === 'Activated' ? `Alarm: ${alarm}` : `Alarm ${word(happened)}: ${alarm}`),
    scanned: (unit: string, at: string) => `${unit} wird wieder gesteuert${at === '' ? '' : `; zuletzt aufgezeichnet ${at}`}`,
    heldBy: (who: string) => `Anhalten von ${who}`,
    answer: (text: string) => `wartet auf eine Antwort: „${text}“`,
    madeFrom: (recipe: string) => `Steuerrezept gemacht aus ${recipe}`,
  },
});

type Worder = (...parts: readonly string[]) => string;

const SENTENCES: readonly (readonly [pattern: RegExp, worded: Worder])[] = [
  [/^(\w+) is not possible (?:in|while .* is) ([\w-]+)$/, (command = '', state = '') => said.notPossible(word(command), word(state))],
  [/^(\S+)(?: \(([^)]*)\))? is in Manual: set it to Automatic or Semi-Automatic$/, (address = '', module = '') => said.inManual((module || address).toUpperCase())],
  [/^the runtime or the appliance was restarted$/, () => said.restarted],
  [/^the batch controller is not heard$/, () => said.notHeard],
  [/^Hold by (.+)$/, (who = '') => said.heldBy(who)],
  [/^Standing since (\S+): alarm ([^\s,]+)(?:, (.*))?$/s, (since = '', name = '', text = '') => said.stood(said.alarm(text || name, 'Activated'), momentText(since))],
  [/^([A-Z]\w+): alarm ([^\s,]+)(?:, (.*))?$/s, (happened = '', name = '', text = '') => said.alarm(text || name, happened)],
  [/^unit (\S+) is scanned again; control gap from (\S+) to /, (unit = '', from = '') => said.scanned(unit.toUpperCase(), momentOf(from))],
  [/^the appliance was restarted; control gap from (\S+) to (\S+?)(?:;.*)?$/, (from = '', to = '') => uncontrolledText('', momentOf(from) === '' ? '' : from, to)],
  [/^waits for an answer: (.+)$/s, (text = '') => said.answer(text)],
  [/^control recipe made from (\S+)$/, (recipe = '') => said.madeFrom(recipe)],
  [/^mode of ControlModule (\S+)$/, (module = '') => module.toUpperCase()],
  [/^alarm ([\w.-]+)$/, (name = '') => `${word('Alarm')} ${name}`],
  [/^tag (\S+)$/, (address = '') => address.toUpperCase()],
];

/** `2026-…Z`, or that nobody knows it. */
function momentOf(text: string): string {
  return text === 'unknown' ? '' : momentText(text);
}

/** Who knows an alarm by its text needs no name of it: `alarm tic101-high-1: Reactor temperature high`. */
const NAMED_ALARM = /\balarm [\w.-]+: /g;
/** As what commanded by it, behind its text. */
const ALARM_AGAIN = /: alarm [\w.-]+$/;

/** Of what an alarm has commanded: its name is all that the command tells. */
export function commandingAlarm(message: string): string {
  return /^alarm ([\w.-]+)$/.exec(message)?.[1] ?? '';
}

export function boxText(message: string): string {
  for (const [pattern, worded] of SENTENCES) {
    const found = pattern.exec(message);
    if (found) return worded(...found.slice(1).map((part) => part ?? ''));
  }
  const bare = message.replace(NAMED_ALARM, '');
  return bare === message ? message : bare.replace(ALARM_AGAIN, '');
}

/** Of the box, or of one unit; the same wherever it is told. @param from '' when nobody knows */
export function uncontrolledText(unit: string, from: string, to: string): string {
  return t.uncontrolled(unit.toUpperCase(), momentText(from), momentText(to), from !== '' && from < to ? ageText(Date.parse(from), Date.parse(to)) : '');
}
