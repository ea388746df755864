/** What happened to a batch and its equipment, as its events tell it beside the values. */
import { word, words } from '../common/strings.js';
import type { WordsOf } from './words-of.js';

type Codes =
  | 'alarm-event'
  | 'alarm-commands'
  | 'unit-restarted'
  | 'mode-set'
  | 'tag-written'
  | 'channel-set'
  | 'channels-released'
  | 'bypass-set'
  | 'bypass-ended'
  | 'fault-reset'
  | 'parameter-set'
  | 'logic-edited'
  | 'edit-override'
  | 'recipe-made'
  | 'unit-chosen'
  | 'material'
  | 'prompt-cancelled'
  | 'result-delivered'
  | 'last-good-used'
  | 'outcome-unknown'
  | 'fault-meanwhile';

export const DEEDS = words<WordsOf<Codes>>({
  en: {
    'alarm-event': ({ event, alarm, message, since }) =>
      event === 'Standing' ? `Alarm: ${message || alarm}, stood since ${since}` : `Alarm${event === 'Activated' ? '' : ` ${word(event).toLowerCase()}`}: ${message || alarm}`,
    'alarm-commands': ({ alarm }) => `Alarm ${alarm}`,
    'unit-restarted': ({ unit, from }) => `${unit} is controlled again${from === '' ? '' : `; last on record at ${from}`}`,
    'mode-set': ({ name }) => name,
    'tag-written': ({ address }) => address,
    'channel-set': ({ channel }) => channel,
    'channels-released': ({ ioModule, channels }) => `${ioModule}: released ${channels}`,
    'bypass-set': ({ module, blocks, until }) => `Interlocks of ${module} bypassed until ${until}${blocks === '' ? '' : `: ${blocks}`}`,
    'bypass-ended': ({ module }) => `Bypass of ${module} ended`,
    'fault-reset': ({ module }) => `Fault of ${module} reset`,
    'parameter-set': ({ address }) => address,
    'logic-edited': ({ subject, users, place, more }) =>
      `Edit of ${subject}${users === '' ? '' : ` of ${users}`}: ${more === '' ? place : `${more} more places, see the audit record`}`,
    'edit-override': ({ name }) => `${name} may be edited while it works`,
    'recipe-made': ({ recipe }) => `Control recipe made from ${recipe}`,
    'unit-chosen': ({ capability, units }) => `For ${capability}, one of ${units}`,
    material: ({ material }) => material,
    'prompt-cancelled': ({ step, state }) => (step === '' ? `Not answered any more: ${state}` : `Not answered any more: step ${step} was left or begun anew`),
    'result-delivered': ({ key, system, sample }) => `${key} from ${system}${sample === '' ? '' : `, sample ${sample}`}`,
    'last-good-used': ({ address }, why) => `${why}; the last good value of ${address} is used`,
    'outcome-unknown': ({ step }) => `What came of step ${step} is not known; it runs again after Restart`,
    'fault-meanwhile': ({ state, step }, why) => `${state}${step === '' ? '' : `, step ${step}`}: ${why}`,
  },
  de: {
    'alarm-event': ({ event, alarm, message, since }) =>
      event === 'Standing' ? `Alarm: ${message || alarm}, stand seit ${since}` : `Alarm${event === 'Activated' ? '' : ` ${word(event)}`}: ${message || alarm}`,
    'alarm-commands': ({ alarm }) => `Alarm ${alarm}`,
    'unit-restarted': ({ unit, from }) => `${unit} wird wieder gesteuert${from === '' ? '' : `; zuletzt aufgezeichnet ${from}`}`,
    'mode-set': ({ name }) => name,
    'tag-written': ({ address }) => address,
    'channel-set': ({ channel }) => channel,
    'channels-released': ({ ioModule, channels }) => `${ioModule}: freigegeben ${channels}`,
    'bypass-set': ({ module, blocks, until }) => `Verriegelungen von ${module} überbrückt bis ${until}${blocks === '' ? '' : `: ${blocks}`}`,
    'bypass-ended': ({ module }) => `Überbrückung von ${module} beendet`,
    'fault-reset': ({ module }) => `Störung von ${module} zurückgesetzt`,
    'parameter-set': ({ address }) => address,
    'logic-edited': ({ subject, users, place, more }) =>
      `Änderung von ${subject}${users === '' ? '' : ` von ${users}`}: ${more === '' ? place : `${more} weitere Stellen, siehe den Audit-Eintrag`}`,
    'edit-override': ({ name }) => `${name} darf geändert werden, während es arbeitet`,
    'recipe-made': ({ recipe }) => `Steuerrezept gemacht aus ${recipe}`,
    'unit-chosen': ({ capability, units }) => `Für ${capability}, eine von ${units}`,
    material: ({ material }) => material,
    'prompt-cancelled': ({ step, state }) => (step === '' ? `Keine Antwort mehr nötig: ${state}` : `Keine Antwort mehr nötig: Schritt ${step} wurde verlassen oder neu begonnen`),
    'result-delivered': ({ key, system, sample }) => `${key} von ${system}${sample === '' ? '' : `, Probe ${sample}`}`,
    'last-good-used': ({ address }, why) => `${why}; es gilt der letzte gute Wert von ${address}`,
    'outcome-unknown': ({ step }) => `Was aus Schritt ${step} wurde, ist nicht bekannt; er läuft nach dem Wiederanfahren noch einmal`,
    'fault-meanwhile': ({ state, step }, why) => `${state}${step === '' ? '' : `, Schritt ${step}`}: ${why}`,
  },
});
