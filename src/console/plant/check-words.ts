/** What stands against going on with a batch, and what it goes on with, before the command is given (preflight). */
import { words } from '../common/strings.js';
import type { WordsOf } from './words-of.js';

type Codes =
  | 'not-in-state'
  | 'stored-data'
  | 'manual-at-once'
  | 'manual-in-step'
  | 'manual-in-phase'
  | 'manual-at-start'
  | 'not-automatic'
  | 'bypassed'
  | 'off-setpoint'
  | 'commanded'
  | 'written-by-hand'
  | 'device-fault'
  | 'runtime-not-ready';

export const CHECKS = words<WordsOf<Codes>>({
  en: {
    'not-in-state': ({ phase, command, wanted }) => `The batch is ${phase}; ${command} is for a batch that is ${wanted}`,
    'stored-data': ({ name }) => `${name} is not stored as it was written: it can be stopped or aborted`,
    'manual-at-once': ({ module, phase }) => `${module} is in Manual, and phase ${phase} writes to it: the batch is held again at once`,
    'manual-in-step': ({ module, phase, step }) => `${module} is in Manual: the batch is held again when phase ${phase} comes to step ${step}`,
    'manual-in-phase': ({ module, phase }) => `${module} is in Manual: the batch is held again when it comes to phase ${phase}`,
    'manual-at-start': ({ module, phase, step }) => `${module} is in Manual: the batch is held when phase ${phase} comes to step ${step}`,
    'not-automatic': ({ module, mode }) => `${module} is in ${mode}`,
    bypassed: ({ module }) => `The interlocks of ${module} are bypassed`,
    'off-setpoint': ({ module, value, setpoint, engUnits }) => `${module} is at ${`${value} ${engUnits}`.trim()}, its setpoint is ${`${setpoint} ${engUnits}`.trim()}`,
    commanded: ({ module }) => `Stay switched on, now and when it goes on: ${module}`,
    'written-by-hand': ({ module, tag, value, initial, engUnits, who, at }) =>
      `${module}: ${tag} stays at ${`${value} ${engUnits}`.trim()}, written by hand by ${who} ${at} (initially ${`${initial} ${engUnits}`.trim()})`,
    'device-fault': ({ module }) => `${module} is in fault; reset it`,
    'runtime-not-ready': ({ unit }) => `Control of ${unit} is not ready`,
  },
  de: {
    'not-in-state': ({ phase, command, wanted }) => `Die Charge ist im Zustand „${phase}“; ${command} gilt einer Charge im Zustand „${wanted}“`,
    'stored-data': ({ name }) => `${name} ist nicht so gespeichert, wie es geschrieben wurde: Es lässt sich stoppen oder abbrechen`,
    'manual-at-once': ({ module, phase }) => `${module} steht in Hand, und Phase ${phase} schreibt darauf: Die Charge wird sofort wieder angehalten`,
    'manual-in-step': ({ module, phase, step }) => `${module} steht in Hand: Die Charge wird wieder angehalten, sobald Phase ${phase} zu Schritt ${step} kommt`,
    'manual-in-phase': ({ module, phase }) => `${module} steht in Hand: Die Charge wird wieder angehalten, sobald sie zu Phase ${phase} kommt`,
    'manual-at-start': ({ module, phase, step }) => `${module} steht in Hand: Die Charge wird angehalten, sobald Phase ${phase} zu Schritt ${step} kommt`,
    'not-automatic': ({ module, mode }) => `${module} steht in ${mode}`,
    bypassed: ({ module }) => `Die Verriegelungen von ${module} sind überbrückt`,
    'off-setpoint': ({ module, value, setpoint, engUnits }) => `${module} steht bei ${`${value} ${engUnits}`.trim()}, der Sollwert ist ${`${setpoint} ${engUnits}`.trim()}`,
    commanded: ({ module }) => `Bleiben eingeschaltet, jetzt und beim Weiterfahren: ${module}`,
    'written-by-hand': ({ module, tag, value, initial, engUnits, who, at }) =>
      `${module}: ${tag} bleibt auf ${`${value} ${engUnits}`.trim()}, von Hand geschrieben von ${who} ${at} (anfangs ${`${initial} ${engUnits}`.trim()})`,
    'device-fault': ({ module }) => `${module} meldet eine Störung; bitte zurücksetzen`,
    'runtime-not-ready': ({ unit }) => `Die Steuerung von ${unit} ist nicht bereit`,
  },
});
