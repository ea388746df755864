/** Rules by which a box holds, refuses or warns (decisions 1.5, 3.5, 3.9), as a person calls them. What stands behind them is the box's own sentence. */
import { words } from '../common/strings.js';
import { boxText } from './box-words.js';

const RULES: Readonly<Record<string, string>> = words<Readonly<Record<string, string>>>({
  en: {
    'alarm-exception': 'An alarm asked for it',
    'allocation-unavailable': 'A unit is taken',
    'already-held': 'It is held already',
    'already-holding': 'It is being held already',
    'binding-violation': 'The recipe is not bound to this unit',
    'chart-invalid': 'The chart cannot be run',
    'child-failed': 'An element below has failed',
    'control-recipe-integrity': 'The control recipe is not what was started',
    'controller-lost': 'The batch controller was not heard',
    'coordination-failed': 'Units could not agree',
    'coordination-timeout': 'Units did not agree in time',
    'evidence-mismatch': 'The evidence does not agree',
    'exception-chart-timeout': 'The chart for exceptions did not end in time',
    expired: 'Its time has run out',
    'formula-out-of-range': 'A value of the formula is outside its limits',
    'mode-manual': 'Something stands in Manual',
    'mtp-command-disabled': 'The module refuses the command',
    'name-in-use': 'The name is taken',
    'not-supported': 'The equipment cannot do that',
    permissive: 'A permissive is missing',
    'readback-mismatch': 'The device is not where it was commanded to be',
    'recipe-withdrawn': 'The recipe was withdrawn',
    'runtime-not-ready': 'Control of the unit is not ready',
    'runtime-restart': 'Control of the unit or the box was restarted',
    'service-failed': 'A service of a module has failed',
    'st-command': 'The recipe asked for it',
    'step-timeout': 'A step took too long',
    'storage-low': 'Storage runs low',
    'stored-data': 'Stored data is damaged',
    superseded: 'A later one took its place',
    'under-loop-check': 'A loop check is under way',
    'unit-not-allocated': 'The unit is not allocated',
    'unit-not-idle': 'The unit is not idle',
    'write-failed': 'A write to a device failed',
    'write-mode-manual': 'The recipe wrote to a module in Manual',
  },
  de: {
    'alarm-exception': 'Ein Alarm hat es verlangt',
    'allocation-unavailable': 'Eine Teilanlage ist belegt',
    'already-held': 'Es ist schon angehalten',
    'already-holding': 'Es wird schon angehalten',
    'binding-violation': 'Das Rezept ist nicht an diese Teilanlage gebunden',
    'chart-invalid': 'Der Ablauf kann nicht ausgeführt werden',
    'child-failed': 'Ein Element darunter ist fehlgeschlagen',
    'control-recipe-integrity': 'Das Steuerrezept ist nicht mehr das gestartete',
    'controller-lost': 'Die Chargensteuerung war nicht zu hören',
    'coordination-failed': 'Teilanlagen konnten sich nicht abstimmen',
    'coordination-timeout': 'Teilanlagen haben sich nicht rechtzeitig abgestimmt',
    'evidence-mismatch': 'Die Nachweise stimmen nicht überein',
    'exception-chart-timeout': 'Der Ablauf für Ausnahmen endete nicht rechtzeitig',
    expired: 'Die Zeit dafür ist abgelaufen',
    'formula-out-of-range': 'Ein Wert der Formel liegt außerhalb seiner Grenzen',
    'mode-manual': 'Etwas steht in Hand',
    'mtp-command-disabled': 'Das Modul lehnt den Befehl ab',
    'name-in-use': 'Der Name ist vergeben',
    'not-supported': 'Die Anlage kann das nicht',
    permissive: 'Eine Freigabe fehlt',
    'readback-mismatch': 'Das Gerät steht nicht, wohin es befohlen wurde',
    'recipe-withdrawn': 'Das Rezept wurde zurückgezogen',
    'runtime-not-ready': 'Die Steuerung der Teilanlage ist nicht bereit',
    'runtime-restart': 'Die Steuerung der Teilanlage oder die Box wurde neu gestartet',
    'service-failed': 'Ein Dienst eines Moduls ist fehlgeschlagen',
    'st-command': 'Das Rezept hat es verlangt',
    'step-timeout': 'Ein Schritt dauerte zu lange',
    'storage-low': 'Der Speicherplatz wird knapp',
    'stored-data': 'Gespeicherte Daten sind beschädigt',
    superseded: 'Ein späteres ist an seine Stelle getreten',
    'under-loop-check': 'Ein Loop-Check läuft',
    'unit-not-allocated': 'Die Teilanlage ist nicht belegt',
    'unit-not-idle': 'Die Teilanlage ist nicht in Ruhe',
    'write-failed': 'Ein Schreiben auf ein Gerät ist fehlgeschlagen',
    'write-mode-manual': 'Das Rezept schrieb auf ein Modul in Hand',
  },
});

/** What the rule is called; empty for one that only the box knows. */
export function ruleText(rule: string): string {
  return RULES[rule] ?? '';
}

/** A failure as a sentence: what it is, and what exactly; a sentence that says it all stands alone. */
export function failureText({ rule, message }: { readonly rule: string; readonly message: string }): string {
  const title = ruleText(rule) || rule;
  const detail = boxText(message);
  return detail === '' || detail === title ? title : `${title}: ${detail}`;
}

/** As `<rule>: <what exactly>`, or the rule alone, as the events of a batch keep it. */
const RULE = /^([a-z][a-z-]+)(?:: (.*))?$/s;

/** What an event says of why: a rule with its sentence, or a sentence alone. */
export function causeText(text: string): string {
  const [, rule = '', message = ''] = RULE.exec(text) ?? [];
  return ruleText(rule) === '' ? boxText(text) : failureText({ rule, message });
}

/** Why a command was not obeyed: what was asked in which state says more than the rule. */
export function rejectionText({ rule, message }: { readonly rule: string; readonly message: string }): string {
  const detail = boxText(message);
  return detail === message ? failureText({ rule, message }) : detail;
}
