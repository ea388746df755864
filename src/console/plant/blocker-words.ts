/** Why work does not go on (decisions 3.9), worded here from the parts that the box tells, with the names that people know. */
import type { BatchDetail } from '../data/types.js';
import { word, words } from '../common/strings.js';
import { batchNumber } from './batch-number.js';
import { conditionWords } from './condition-words.js';
import { failureText } from './told-words.js';

type Blocker = BatchDetail['blockedBy'][number];

const said = words({
  en: {
    start: 'Waits for an operator to start it',
    startRejected: (why: string) => `Start was rejected. ${why}`,
    held: 'held; Restart goes on',
    heldStopped: 'held; Restart goes on once what stands against it is put right',
    paused: 'paused; Resume goes on',
    pausedStopped: 'paused; Resume goes on once what stands against it is put right',
    semiAutomatic: (transition: string) => `Semi-Automatic: waits before ${transition}; Resume fires it`,
    manual: (transition: string) => `stands in Manual before ${transition}; a lead operator fires it in the chart, or takes it back to Automatic`,
    prompt: (text: string) => `waits for an answer: “${text}”`,
    result: (key: string) => `waits for the result ${key} of the laboratory, or for a lead operator who enters it`,
    noUnit: (unit: string) => `unit ${unit} does not exist`,
    allocated: (unit: string, holder: string) => `waits for ${unit}, which ${holder} has`,
    free: (unit: string) => `is about to take ${unit}`,
    resetting: (unit: string, holder: string) => `waits for ${unit}, which is being reset after ${holder}`,
    ofClass: (capability: string, taken: string) => `waits for a unit that can ${capability}${taken === '' ? '' : `: ${taken}`}`,
    taken: (unit: string, holder: string) => `${unit} has ${holder}`,
    place: (position: number) => `, number ${position} in the queue`,
    signal: (name: string) => `waits for the signal “${name}” of another unit`,
    barrier: (name: string) => `waits at “${name}” for the other units`,
    deadlock: (others: string) => `It waits in vain: ${others} and this batch each have what another of them waits for. End one of them.`,
    fault: (module: string) => `${module} is in fault; reset it`,
    action: 'an action has not finished',
    nobody: 'nobody yet',
    and: ' and ',
  },
  de: {
    start: 'Wartet darauf, dass jemand startet',
    startRejected: (why: string) => `Der Start wurde abgelehnt. ${why}`,
    held: 'ist angehalten; Wiederanfahren führt weiter',
    heldStopped: 'ist angehalten; Wiederanfahren führt weiter, sobald behoben ist, was dagegen spricht',
    paused: 'pausiert; Fortsetzen führt weiter',
    pausedStopped: 'pausiert; Fortsetzen führt weiter, sobald behoben ist, was dagegen spricht',
    semiAutomatic: (transition: string) => `Halbautomatik: wartet vor ${transition}; Fortsetzen schaltet weiter`,
    manual: (transition: string) => `steht in Hand vor ${transition}; ein leitender Bediener schaltet im Ablauf weiter oder nimmt es in Automatik zurück`,
    prompt: (text: string) => `wartet auf eine Antwort: „${text}“`,
    result: (key: string) => `wartet auf das Ergebnis ${key} des Labors oder auf einen leitenden Bediener, der es einträgt`,
    noUnit: (unit: string) => `die Teilanlage ${unit} gibt es nicht`,
    allocated: (unit: string, holder: string) => `wartet auf ${unit}, belegt von ${holder}`,
    free: (unit: string) => `belegt gleich ${unit}`,
    resetting: (unit: string, holder: string) => `wartet auf ${unit}, die nach ${holder} zurückgesetzt wird`,
    ofClass: (capability: string, taken: string) => `wartet auf eine Teilanlage, die ${capability} kann${taken === '' ? '' : `: ${taken}`}`,
    taken: (unit: string, holder: string) => `${unit} hat ${holder}`,
    place: (position: number) => `, Platz ${position} in der Reihe`,
    signal: (name: string) => `wartet auf das Signal „${name}“ einer anderen Teilanlage`,
    barrier: (name: string) => `wartet bei „${name}“ auf die anderen Teilanlagen`,
    deadlock: (others: string) => `Es wartet vergeblich: ${others} und diese Charge haben jeweils, worauf ein anderer wartet. Beenden Sie eine davon.`,
    fault: (module: string) => `${module} meldet eine Störung; bitte zurücksetzen`,
    action: 'eine Aktion ist noch nicht fertig',
    nobody: 'noch niemand',
    and: ' und ',
  },
});

/** Without the element and the step, where these stand before it already. */
export function reasonText(blocker: Blocker): string {
  const { reason, failure, conditions = [], text } = blocker;
  if (failure) return failureText(failure);
  if (reason === 'action') return said.action;
  if (reason !== 'condition' || blocker.by) return ofReason(blocker) ?? text;
  const open = conditions.find(({ met }) => !met);
  return open ? (conditionWords(open) ?? open.expression) : text;
}

/** @param isStopped something stands against the command that leads on. */
export function blockerText(blocker: Blocker, isStopped = false): string {
  const { element, deadlock = [] } = blocker;
  const own = ofReason(blocker, isStopped);
  if (own === undefined) return blocker.text; // what only the box can say: a condition, an action that is not done
  const sentence = element.path === '' ? capitalized(own) : `${element.path}${blocker.reason === 'condition' || blocker.reason === 'action' ? ',' : ''} ${own}`;
  return deadlock.length === 0 ? sentence : `${sentence}. ${said.deadlock(deadlock.map(batchNumber).join(said.and))}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function ofReason(blocker: Blocker, isStopped = false): string | undefined {
  const { reason, transition = '', prompt, failure, permissive } = blocker;
  switch (reason) {
    case 'start':
      return said.start;
    case 'command-rejected':
      return failure && said.startRejected(failureText(failure));
    case 'failure':
    case 'child-failure':
      return failure && (blocker.element.path === '' ? failureText(failure) : `– ${failureText(failure)}`);
    case 'held':
      return isStopped ? said.heldStopped : said.held;
    case 'paused':
      return isStopped ? said.pausedStopped : said.paused;
    case 'semi-automatic':
      return said.semiAutomatic(transition);
    case 'manual':
      return said.manual(transition);
    case 'prompt':
      return prompt && said.prompt(prompt.text);
    case 'external-result':
      return prompt && said.result(prompt.resultKey);
    case 'device-fault':
      return blocker.controlModule === undefined ? undefined : said.fault(blocker.controlModule.toUpperCase());
    case 'permissive':
      return permissive && `– ${permissive.message}`;
    case 'condition':
      return conditionText(blocker);
    case 'action':
      return `${blocker.step ?? ''}: ${said.action}`;
    case 'no-unit':
    case 'allocation':
      return unitText(blocker);
    case 'signal':
      return blocker.signal === undefined ? undefined : said.signal(blocker.signal);
    case 'barrier':
      return blocker.barrier === undefined ? undefined : said.barrier(blocker.barrier);
    default:
      return undefined;
  }
}

/** Of the first part that is not met; undefined for what is no comparison. */
function conditionText({ step = '', conditions = [], by }: Blocker): string | undefined {
  const open = conditions.find(({ met }) => !met);
  const worded = open && by === undefined ? conditionWords(open) : undefined; // `by`: the box says what people can do, as after an answer that leads nowhere
  return worded === undefined ? undefined : `${step}: ${worded}`;
}

function unitText({ reason, unit, unitClass, queuePosition }: Blocker): string | undefined {
  const place = queuePosition === undefined || queuePosition < 2 ? '' : said.place(queuePosition);
  if (unitClass) {
    const taken = unitClass.candidates.flatMap(({ unit: name, holder }) => (holder === '' ? [] : [said.taken(name.toUpperCase(), batchNumber(holder))]));
    return said.ofClass(word(unitClass.capability), taken.join(', ')) + place;
  }
  if (!unit) return undefined;
  const name = unit.name.toUpperCase();
  if (reason === 'no-unit') return said.noUnit(name);
  if (unit.holder === '') return said.free(name);
  return (unit.resetting === true ? said.resetting : said.allocated)(name, batchNumber(unit.holder)) + place;
}
