/** Why a command was not obeyed, and why something failed or is held. */
import { words } from '../common/strings.js';
import type { WordsOf } from './words-of.js';

type Codes =
  | 'not-possible'
  | 'failure-active'
  | 'refused-by'
  | 'superseded'
  | 'order-unreadable'
  | 'unit-worked-since'
  | 'no-phase'
  | 'module-in-manual'
  | 'value-bad'
  | 'value-old'
  | 'value-none'
  | 'write-read-only'
  | 'write-type'
  | 'write-range'
  | 'write-text-long'
  | 'write-withheld'
  | 'write-unreachable'
  | 'write-not-loaded'
  | 'write-not-manual'
  | 'write-no-tag'
  | 'device-silent'
  | 'device-refused'
  | 'channels-changed'
  | 'readback-differs'
  | 'step-late'
  | 'phase-late'
  | 'element-late'
  | 'chart-late'
  | 'chart-failed'
  | 'chart-edited'
  | 'io-lost'
  | 'controller-lost'
  | 'restarted-in'
  | 'restarted'
  | 'call-unanswered'
  | 'text-error'
  | 'alarms-hold'
  | 'loop-limit'
  | 'signal-late'
  | 'signal-lost'
  | 'barrier-late'
  | 'barrier-lost'
  | 'held-by';

/** Errors of the texts of a recipe, by their codes (decisions 4.2, 4.4). */
type Errors = Readonly<Record<string, (about: string) => string>>;

const said = words<{ readonly errors: Errors; readonly charts: Readonly<Record<string, string>> }>({
  en: {
    errors: {
      'unknown-tag': (about) => `${about} names no tag`,
      'unbound-role': (about) => `${about} is no role that is bound, and no device of the unit`,
      'unknown-signal': (about) => `${about} is not known in this batch`,
      'type-mismatch': (about) => (about === '' ? 'values of different types' : `${about} has a value of another type`),
      argument: (about) => `${about} is called with what it does not take`,
      'unset-variable': (about) => `${about} has no value yet`,
      bounds: (about) => `${about} has a lower limit above its upper one`,
      'loop-limit': (about) => `a loop has run ${about} times`,
      'statement-budget': () => 'an action does too much at once',
      'for-step': () => 'a FOR loop goes by steps of 0',
      'exit-outside-loop': () => 'EXIT stands outside a loop',
      overflow: () => 'a result is too large',
      'division-by-zero': () => 'division by zero',
    },
    charts: { running: 'running', holding: 'holding', restarting: 'restarting', stopping: 'stopping', aborting: 'aborting', resetting: 'resetting' },
  },
  de: {
    errors: {
      'unknown-tag': (about) => `${about} nennt keinen Wert`,
      'unbound-role': (about) => `${about} ist keine gebundene Rolle und kein Gerät der Teilanlage`,
      'unknown-signal': (about) => `${about} ist in dieser Charge nicht bekannt`,
      'type-mismatch': (about) => (about === '' ? 'Werte verschiedener Art' : `${about} hat einen Wert anderer Art`),
      argument: (about) => `${about} ist mit etwas aufgerufen, was es nicht nimmt`,
      'unset-variable': (about) => `${about} hat noch keinen Wert`,
      bounds: (about) => `bei ${about} liegt die untere Grenze über der oberen`,
      'loop-limit': (about) => `eine Schleife lief ${about}-mal`,
      'statement-budget': () => 'eine Aktion tut zu viel auf einmal',
      'for-step': () => 'eine FOR-Schleife hat die Schrittweite 0',
      'exit-outside-loop': () => 'EXIT steht außerhalb einer Schleife',
      overflow: () => 'ein Ergebnis ist zu groß',
      'division-by-zero': () => 'Division durch null',
    },
    charts: { running: 'Betrieb', holding: 'Anhalten', restarting: 'Wiederanfahren', stopping: 'Stoppen', aborting: 'Abbrechen', resetting: 'Rücksetzen' },
  },
});

export const CAUSES = words<WordsOf<Codes>>({
  en: {
    'not-possible': ({ command, state }) => `${command} is not possible while it is ${state}`,
    'failure-active': ({ command }, why) => `${command} is not possible while this lasts: ${why}`,
    'refused-by': ({ command, name, state }) => `${command} was refused by ${name}, which is ${state}`,
    superseded: ({ by }, why) => `Something else came first: ${by || why}`,
    'order-unreadable': () => 'The command that waited could not be read back; give it again',
    'unit-worked-since': ({ unit, work }) => `${unit} has worked for ${work} since and is not reset for this batch any more`,
    'no-phase': ({ phase }) => `The unit has no phase ${phase}`,
    'module-in-manual': ({ module }) => `${module} is in Manual; set it to Automatic or Semi-Automatic`,
    'value-bad': ({ address, quality }) => `The value of ${address} is ${quality}`,
    'value-old': ({ address, maxAge }) => `The value of ${address} is ${maxAge === '' ? 'too old' : `older than ${maxAge}`}`,
    'value-none': ({ address }) => `${address} has no value`,
    'write-read-only': ({ address }) => `${address} cannot be written`,
    'write-type': ({ address, value }) => `${value} is no value for ${address}`,
    'write-range': ({ address, value, min, max }) => `${address}: ${value} is outside ${min} to ${max}`,
    'write-text-long': ({ address, bytes, max }) => `The text for ${address} is too long: ${bytes} bytes, ${max} fit`,
    'write-withheld': ({ ioModule }) => `The outputs of ${ioModule} are withheld`,
    'write-unreachable': ({ ioModule }) => `${ioModule} is not connected; nothing was written`,
    'write-not-loaded': ({ address }) => `The control of ${address} is not loaded`,
    'write-not-manual': ({ address }) => `${address} is commanded by its own control; that has to be in another mode than Automatic`,
    'write-no-tag': ({ address }) => `There is no ${address}`,
    'device-silent': ({ address }) => `${address}: the device has not answered in time`,
    'device-refused': ({ address }) => `${address}: the device refused the write`,
    'channels-changed': ({ address }) => `${address}: the channels were changed while the write was on its way`,
    'readback-differs': ({ address, readback, written }) => `${address} reads back ${readback} after ${written} was written`,
    'step-late': ({ step, waits }) => `Step ${step} has taken too long${waits === '' ? '' : `; it waited for ${waits}`}`,
    'phase-late': ({ seconds }) => `It has run longer than ${seconds} s`,
    'element-late': ({ seconds }) => `Not done within ${seconds} s`,
    'chart-late': ({ chart }) => `The chart for ${said.charts[chart] ?? chart} has not ended in time`,
    'chart-failed': ({ chart }) => `An action of the chart for ${said.charts[chart] ?? chart} failed`,
    'chart-edited': () => 'The chart was edited while the phase was active',
    'io-lost': ({ ioModule }) => `I/O module ${ioModule} is lost`,
    'controller-lost': () => 'The batch controller was not heard',
    'restarted-in': ({ steps }) => `Control of the unit or the box was restarted${steps === '' ? '' : `; what came of step ${steps} is not known`}`,
    restarted: () => 'Control of the unit or the box was restarted',
    'call-unanswered': ({ call }) => `${call} had no answer`,
    'text-error': ({ error, about, line }) => `${said.errors[error]?.(about) ?? error}${line === '' ? '' : ` (line ${line})`}`,
    'alarms-hold': ({ texts }) => texts,
    'loop-limit': ({ step, count }) => `Step ${step} was activated more than ${count} times`,
    'signal-late': ({ signal, raised, seconds }) => `Signal “${signal}” was not ${raised === 'true' ? 'taken' : 'given'} within ${seconds} s`,
    'signal-lost': ({ signal, producer, state }) => `Signal “${signal}” will not come: ${producer} is ${state}`,
    'barrier-late': ({ barrier, arrived, needed, seconds }) => `${arrived} of ${needed} came to “${barrier}” within ${seconds} s`,
    'barrier-lost': ({ barrier, gone }) => `“${barrier}” cannot be reached any more: ${gone} ended before`,
    'held-by': ({ who, reason }) => `Hold by ${who}${reason === '' ? '' : `: ${reason}`}`,
  },
  de: {
    'not-possible': ({ command, state }) => `${command} ist nicht möglich im Zustand ${state}`,
    'failure-active': ({ command }, why) => `${command} ist nicht möglich, solange dies ansteht: ${why}`,
    'refused-by': ({ command, name, state }) => `${command} lehnte ${name} ab, im Zustand ${state}`,
    superseded: ({ by }, why) => `Etwas anderes ging vor: ${by || why}`,
    'order-unreadable': () => 'Der wartende Befehl war nicht mehr zu lesen; bitte noch einmal geben',
    'unit-worked-since': ({ unit, work }) => `${unit} hat seither für ${work} gearbeitet und wird für diese Charge nicht mehr zurückgesetzt`,
    'no-phase': ({ phase }) => `Die Teilanlage hat keine Phase ${phase}`,
    'module-in-manual': ({ module }) => `${module} steht in Hand; auf Automatik oder Halbautomatik stellen`,
    'value-bad': ({ address, quality }) => `Der Wert von ${address} ist: ${quality}`,
    'value-old': ({ address, maxAge }) => `Der Wert von ${address} ist ${maxAge === '' ? 'zu alt' : `älter als ${maxAge}`}`,
    'value-none': ({ address }) => `${address} hat keinen Wert`,
    'write-read-only': ({ address }) => `${address} lässt sich nicht schreiben`,
    'write-type': ({ address, value }) => `${value} ist kein Wert für ${address}`,
    'write-range': ({ address, value, min, max }) => `${address}: ${value} liegt außerhalb von ${min} bis ${max}`,
    'write-text-long': ({ address, bytes, max }) => `Der Text für ${address} ist zu lang: ${bytes} Bytes, ${max} passen`,
    'write-withheld': ({ ioModule }) => `Die Ausgänge von ${ioModule} werden zurückgehalten`,
    'write-unreachable': ({ ioModule }) => `${ioModule} ist nicht verbunden; nichts wurde geschrieben`,
    'write-not-loaded': ({ address }) => `Die Steuerung von ${address} ist nicht geladen`,
    'write-not-manual': ({ address }) => `${address} befiehlt die eigene Steuerung; die muss in einer anderen Betriebsart als Automatik stehen`,
    'write-no-tag': ({ address }) => `${address} gibt es nicht`,
    'device-silent': ({ address }) => `${address}: Das Gerät hat nicht rechtzeitig geantwortet`,
    'device-refused': ({ address }) => `${address}: Das Gerät hat das Schreiben abgelehnt`,
    'channels-changed': ({ address }) => `${address}: Die Kanäle wurden geändert, während geschrieben wurde`,
    'readback-differs': ({ address, readback, written }) => `${address} meldet ${readback} zurück, nachdem ${written} geschrieben wurde`,
    'step-late': ({ step, waits }) => `Schritt ${step} dauerte zu lange${waits === '' ? '' : `; er wartete auf ${waits}`}`,
    'phase-late': ({ seconds }) => `Läuft länger als ${seconds} s`,
    'element-late': ({ seconds }) => `Nicht fertig binnen ${seconds} s`,
    'chart-late': ({ chart }) => `Der Ablauf „${said.charts[chart] ?? chart}“ endete nicht rechtzeitig`,
    'chart-failed': ({ chart }) => `Eine Aktion des Ablaufs „${said.charts[chart] ?? chart}“ ist fehlgeschlagen`,
    'chart-edited': () => 'Der Ablauf wurde geändert, während die Phase aktiv war',
    'io-lost': ({ ioModule }) => `Das E/A-Modul ${ioModule} ist ausgefallen`,
    'controller-lost': () => 'Die Chargensteuerung war nicht zu hören',
    'restarted-in': ({ steps }) => `Die Steuerung der Teilanlage oder die Box wurde neu gestartet${steps === '' ? '' : `; was aus Schritt ${steps} wurde, ist nicht bekannt`}`,
    restarted: () => 'Die Steuerung der Teilanlage oder die Box wurde neu gestartet',
    'call-unanswered': ({ call }) => `${call} bekam keine Antwort`,
    'text-error': ({ error, about, line }) => `${said.errors[error]?.(about) ?? error}${line === '' ? '' : ` (Zeile ${line})`}`,
    'alarms-hold': ({ texts }) => texts,
    'loop-limit': ({ step, count }) => `Schritt ${step} wurde öfter als ${count}-mal aktiv`,
    'signal-late': ({ signal, raised, seconds }) => `Das Signal „${signal}“ wurde nicht binnen ${seconds} s ${raised === 'true' ? 'abgeholt' : 'gegeben'}`,
    'signal-lost': ({ signal, producer, state }) => `Das Signal „${signal}“ kommt nicht mehr: ${producer} ist im Zustand ${state}`,
    'barrier-late': ({ barrier, arrived, needed, seconds }) => `Binnen ${seconds} s kamen ${arrived} von ${needed} zu „${barrier}“`,
    'barrier-lost': ({ barrier, gone }) => `„${barrier}“ ist nicht mehr zu erreichen: ${gone} endete vorher`,
    'held-by': ({ who, reason }) => `Anhalten von ${who}${reason === '' ? '' : `: ${reason}`}`,
  },
});
