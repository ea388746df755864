/** What the gateway says of a command before it is sent (preflight), worded here from its code and parts; a row without them is told in the box's own sentence. */
import type { PreflightCheck } from '../data/to-do.js';
import { word, words } from '../common/strings.js';
import { numberText, unitText } from '../common/text.js';
import { failureText } from './rule-words.js';

export type CheckRow = Pick<PreflightCheck, 'message' | 'told'>;
type Parts = Readonly<Record<string, string>>;

const said = words({
  en: {
    notInState: (phase: string, command: string, wanted: string) => `The batch is ${phase}; ${command} is for a batch that is ${wanted}`,
    stored: (name: string) => `${name} is not stored as it was written: the batch can be stopped or aborted`,
    atOnce: (module: string, phase: string) => `${module} is in Manual, and phase ${phase} writes to it: the batch is held again at once`,
    inStep: (module: string, phase: string, step: string) => `${module} is in Manual: the batch is held again when phase ${phase} comes to step ${step}`,
    inPhase: (module: string, phase: string) => `${module} is in Manual: the batch is held again when it comes to phase ${phase}`,
    atStart: (module: string, phase: string, step: string) => `${module} is in Manual: the batch is held when phase ${phase} comes to step ${step}`,
    mode: (module: string, mode: string) => `${module} is in ${mode}`,
    bypassed: (module: string) => `The interlocks of ${module} are bypassed`,
    off: (module: string, value: string, setpoint: string) => `${module} is at ${value}, its setpoint is ${setpoint}`,
    commanded: (devices: string) => `Stand commanded and stay so: ${devices}`,
    device: (module: string) => `${module} is in fault; reset it`,
    runtime: (unit: string) => `Control of ${unit} is not ready`,
    and: ', ',
  },
  de: {
    notInState: (phase: string, command: string, wanted: string) => `Die Charge ist im Zustand „${phase}“; ${command} gilt einer Charge im Zustand „${wanted}“`,
    stored: (name: string) => `${name} ist nicht so gespeichert, wie es geschrieben wurde: Die Charge lässt sich stoppen oder abbrechen`,
    atOnce: (module: string, phase: string) => `${module} steht in Hand, und Phase ${phase} schreibt darauf: Die Charge wird sofort wieder angehalten`,
    inStep: (module: string, phase: string, step: string) => `${module} steht in Hand: Die Charge wird wieder angehalten, sobald Phase ${phase} zu Schritt ${step} kommt`,
    inPhase: (module: string, phase: string) => `${module} steht in Hand: Die Charge wird wieder angehalten, sobald sie zu Phase ${phase} kommt`,
    atStart: (module: string, phase: string, step: string) => `${module} steht in Hand: Die Charge wird angehalten, sobald Phase ${phase} zu Schritt ${step} kommt`,
    mode: (module: string, mode: string) => `${module} steht in ${mode}`,
    bypassed: (module: string) => `Die Verriegelungen von ${module} sind überbrückt`,
    off: (module: string, value: string, setpoint: string) => `${module} steht bei ${value}, der Sollwert ist ${setpoint}`,
    commanded: (devices: string) => `Stehen auf Befehl und bleiben so: ${devices}`,
    device: (module: string) => `${module} meldet eine Störung; bitte zurücksetzen`,
    runtime: (unit: string) => `Die Steuerung von ${unit} ist nicht bereit`,
    and: ', ',
  },
});

type Code = NonNullable<CheckRow['told']>['code'];

const WORDED: Readonly<Record<Code, (parts: Parts) => string>> = {
  'not-in-state': ({ phase = '', command = '' }) => said.notInState(word(phase), word(command), word(command === 'Resume' ? 'Paused' : 'Held')),
  failure: ({ rule = '', message = '' }) => failureText({ rule, message }),
  'stored-data': ({ name = '' }) => said.stored(name),
  alarm: ({ alarm = '', message = '' }) => message || alarm,
  'manual-at-once': ({ module = '', phase = '' }) => said.atOnce(named(module), phase),
  'manual-in-step': ({ module = '', phase = '', step = '' }) => said.inStep(named(module), phase, step),
  'manual-in-phase': ({ module = '', phase = '' }) => said.inPhase(named(module), phase),
  'manual-at-start': ({ module = '', phase = '', step = '' }) => said.atStart(named(module), phase, step),
  'not-automatic': ({ module = '', mode = '' }) => said.mode(named(module), word(mode)),
  bypassed: ({ module = '' }) => said.bypassed(named(module)),
  'off-setpoint': ({ module = '', value = '', setpoint = '', engUnits = '' }) => said.off(named(module), measured(value, engUnits), measured(setpoint, engUnits)),
  commanded: (parts) => said.commanded(commandedText(parts)),
  'device-fault': ({ module = '' }) => said.device(named(module)),
  'runtime-not-ready': ({ unit = '' }) => said.runtime(named(unit)),
};

export function checkText({ message, told }: CheckRow): string {
  return told ? WORDED[told.code](told.parts) : message;
}

/** One sentence each; the devices that stand commanded are told in one, in the place of the first. */
export function checkTexts(rows: readonly CheckRow[]): string[] {
  const commanded = rows.flatMap(({ told }) => (told?.code === 'commanded' ? [commandedText(told.parts)] : []));
  const first = rows.findIndex(({ told }) => told?.code === 'commanded');
  const texts = rows.flatMap((row, at) => (row.told?.code !== 'commanded' ? [checkText(row)] : at === first ? [said.commanded(commanded.join(said.and))] : []));
  return [...new Set(texts)];
}

function commandedText({ module = '', value = '' }: Parts): string {
  return value === 'TRUE' ? named(module) : `${named(module)} ${word(value)}`;
}

function named(name: string): string {
  return name.toUpperCase();
}

function measured(value: string, engUnits: string): string {
  return `${numberText(Number(value), undefined)} ${unitText(engUnits)}`.trim();
}
