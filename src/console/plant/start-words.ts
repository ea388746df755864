/** What stands against the Start of a batch or a run (preflight, and why the Start was rejected). */
import { words } from '../common/strings.js';
import type { WordsOf } from './words-of.js';

type Codes =
  | 'no-cell'
  | 'permissive-missing'
  | 'unit-in-manual'
  | 'batch-in-manual'
  | 'element-in-manual'
  | 'unit-not-held'
  | 'under-loop-check'
  | 'storage-low'
  | 'no-recipe'
  | 'recipe-changed'
  | 'recipe-phase'
  | 'batch-id-taken'
  | 'batch-id-recorded'
  | 'no-formula'
  | 'parameter-unknown'
  | 'parameter-twice'
  | 'value-missing'
  | 'value-no-number'
  | 'value-type'
  | 'value-range'
  | 'value-choices'
  | 'quantity-no-number'
  | 'quantity-range'
  | 'quantity-unit'
  | 'no-unit'
  | 'unit-taken'
  | 'unit-not-at-rest'
  | 'no-unit-for'
  | 'none-fits'
  | 'none-free'
  | 'default-unit-absent'
  | 'not-bound'
  | 'leads-nowhere'
  | 'fault-unheard'
  | 'chart-note'
  | 'names-shared'
  | 'name-unreadable'
  | 'name-exists'
  | 'name-of-other'
  | 'template-changed'
  | 'coordination-missing'
  | 'coordination-strays';

const said = words({
  en: {
    from: (min: string, max: string, engUnits: string) => `${min === '' ? '' : `from ${min} `}${max === '' ? 'upwards' : `to ${max}`} ${engUnits}`.trim(),
    issues: { Unmapped: 'has no device', CMNotFound: 'is to be a device that does not exist', TypeMismatch: 'is to be a device of another type' } as Readonly<
      Record<string, string>
    >,
  },
  de: {
    from: (min: string, max: string, engUnits: string) => `${min === '' ? '' : `von ${min} `}${max === '' ? 'aufwärts' : `bis ${max}`} ${engUnits}`.trim(),
    issues: { Unmapped: 'hat kein Gerät', CMNotFound: 'soll ein Gerät sein, das es nicht gibt', TypeMismatch: 'soll ein Gerät anderer Art sein' } as Readonly<
      Record<string, string>
    >,
  },
});

export const STARTS = words<WordsOf<Codes>>({
  en: {
    'no-cell': ({ unit }) => `${unit} belongs to no process cell, so nothing controls it`,
    'permissive-missing': ({ unit, message }) => `${unit} is not released: ${message}`,
    'unit-in-manual': ({ unit }) => `${unit} is in Manual; set it to Automatic`,
    'batch-in-manual': () => 'The batch is in Manual; give it another mode',
    'element-in-manual': ({ name }) => `${name} is in Manual; set it to Automatic`,
    'unit-not-held': ({ unit }) => `${unit} is not its own any more; launch it anew`,
    'under-loop-check': ({ unit, loopCheck, operator }) => `Somebody may stand at a device of ${unit}: loop check ${loopCheck}, by ${operator}; abort it first`,
    'storage-low': () => 'The storage of the box is nearly full',
    'no-recipe': ({ recipe }) => `Recipe ${recipe} does not exist`,
    'recipe-changed': ({ recipe }) => `Recipe ${recipe} is not what was signed; a supervisor has to put it right`,
    'recipe-phase': ({ recipe, phase }) => `Recipe ${recipe} is not effective (${phase})`,
    'batch-id-taken': ({ batchID }) => `Batch number ${batchID} is used already`,
    'batch-id-recorded': ({ batchID }) => `Of batch number ${batchID} there is a record already`,
    'no-formula': ({ formula }) => `The recipe has no formula ${formula}`,
    'parameter-unknown': ({ name, known }) => `The formula has no value ${name}${known === '' ? '' : `; it has ${known}`}`,
    'parameter-twice': ({ name }) => `${name} is given twice`,
    'value-missing': ({ name }) => `${name} needs a value`,
    'value-no-number': ({ name }) => `${name} needs a number`,
    'value-type': ({ name, value }) => `${value} is no value for ${name}`,
    'value-range': ({ name, value, min, max, engUnits }) => `${name}: ${value} is not allowed; allowed is ${said.from(min, max, engUnits)}`,
    'value-choices': ({ name, choices }) => `${name} has to be one of ${choices}`,
    'quantity-no-number': () => 'The quantity has to be a number above 0',
    'quantity-range': ({ quantity, min, max, engUnits }) => `A quantity of ${quantity} is not allowed; allowed is ${said.from(min, max, engUnits)}`,
    'quantity-unit': ({ engUnits, expected }) => `The quantity is counted in ${expected} by the recipe, not in ${engUnits}`,
    'no-unit': ({ unit }) => `Unit ${unit} does not exist`,
    'unit-taken': ({ unit, holder }) => `${unit} is taken by ${holder}`,
    'unit-not-at-rest': ({ unit, state }) => `${unit} is not at rest: ${state}`,
    'no-unit-for': ({ capability }) => `No unit is known for ${capability}; name one`,
    'none-fits': ({ capability, units }) => `No unit fits for ${capability}: ${units}`,
    'none-free': ({ capability, units }) => `No unit is free for ${capability}: ${units}`,
    'default-unit-absent': ({ unit, capability, taken }) => `Unit ${unit}, the usual one for ${capability}, does not exist${taken === '' ? '' : `; ${taken} would be taken`}`,
    'not-bound': ({ step, role, unit, issue }) => `Step ${step}${unit === '' ? '' : ` on ${unit}`}: role ${role} ${said.issues[issue] ?? issue}`,
    'leads-nowhere': ({ module, fault }) => `${module} leads nowhere: ${fault}`,
    'fault-unheard': ({ module }) => `A fault of ${module} raises no alarm`,
    'chart-note': ({ message }) => `The procedure of the recipe is not whole: ${message}`,
    'names-shared': ({ step, other, name }) => `Steps ${other} and ${step} would both be called ${name}`,
    'name-unreadable': ({ kind, name }) => `${kind} ${name}, which the batch would make, is stored already and cannot be read`,
    'name-exists': ({ kind, name }) => `${kind} ${name}, which the batch would make, exists already`,
    'name-of-other': ({ kind, name, ownerKind, owner }) => `${kind} ${name}, which the batch would make, belongs to ${ownerKind} ${owner}`,
    'template-changed': ({ name, by, at }) =>
      `${name} was changed${by === '' ? '' : ` by ${by}`}${at === '' ? '' : ` at ${at}`} after the recipe was released; the batch runs what was released`,
    'coordination-missing': ({ name }) => `The agreement ${name} between units does not exist`,
    'coordination-strays': ({ name, step }) => `The agreement ${name} names step ${step}, which the recipe does not have`,
  },
  de: {
    'no-cell': ({ unit }) => `${unit} gehört zu keiner Anlage und wird darum nicht gesteuert`,
    'permissive-missing': ({ unit, message }) => `${unit} ist nicht freigegeben: ${message}`,
    'unit-in-manual': ({ unit }) => `${unit} steht in Hand; auf Automatik stellen`,
    'batch-in-manual': () => 'Die Charge steht in Hand; eine andere Betriebsart geben',
    'element-in-manual': ({ name }) => `${name} steht in Hand; auf Automatik stellen`,
    'unit-not-held': ({ unit }) => `${unit} gehört nicht mehr dazu; neu beginnen`,
    'under-loop-check': ({ unit, loopCheck, operator }) => `An einem Gerät von ${unit} kann jemand stehen: Loop-Check ${loopCheck} von ${operator}; zuerst abbrechen`,
    'storage-low': () => 'Der Speicher der Box ist fast voll',
    'no-recipe': ({ recipe }) => `Das Rezept ${recipe} gibt es nicht`,
    'recipe-changed': ({ recipe }) => `Das Rezept ${recipe} ist nicht das unterschriebene; ein Schichtleiter muss das richten`,
    'recipe-phase': ({ recipe, phase }) => `Das Rezept ${recipe} ist nicht gültig (${phase})`,
    'batch-id-taken': ({ batchID }) => `Die Chargennummer ${batchID} ist schon vergeben`,
    'batch-id-recorded': ({ batchID }) => `Zur Chargennummer ${batchID} gibt es schon ein Protokoll`,
    'no-formula': ({ formula }) => `Das Rezept hat keine Formel ${formula}`,
    'parameter-unknown': ({ name, known }) => `Die Formel hat keinen Wert ${name}${known === '' ? '' : `; sie hat ${known}`}`,
    'parameter-twice': ({ name }) => `${name} ist zweimal angegeben`,
    'value-missing': ({ name }) => `${name} braucht einen Wert`,
    'value-no-number': ({ name }) => `${name} braucht eine Zahl`,
    'value-type': ({ name, value }) => `${value} ist kein Wert für ${name}`,
    'value-range': ({ name, value, min, max, engUnits }) => `${name}: ${value} ist nicht erlaubt; erlaubt ist ${said.from(min, max, engUnits)}`,
    'value-choices': ({ name, choices }) => `${name} muss eines sein von ${choices}`,
    'quantity-no-number': () => 'Die Menge muss eine Zahl über 0 sein',
    'quantity-range': ({ quantity, min, max, engUnits }) => `Eine Menge von ${quantity} ist nicht erlaubt; erlaubt ist ${said.from(min, max, engUnits)}`,
    'quantity-unit': ({ engUnits, expected }) => `Die Menge zählt nach dem Rezept in ${expected}, nicht in ${engUnits}`,
    'no-unit': ({ unit }) => `Die Teilanlage ${unit} gibt es nicht`,
    'unit-taken': ({ unit, holder }) => `${unit} ist belegt von ${holder}`,
    'unit-not-at-rest': ({ unit, state }) => `${unit} ist nicht in Ruhe: ${state}`,
    'no-unit-for': ({ capability }) => `Für ${capability} ist keine Teilanlage bekannt; bitte eine nennen`,
    'none-fits': ({ capability, units }) => `Für ${capability} passt keine Teilanlage: ${units}`,
    'none-free': ({ capability, units }) => `Für ${capability} ist keine Teilanlage frei: ${units}`,
    'default-unit-absent': ({ unit, capability, taken }) => `Die Teilanlage ${unit}, die übliche für ${capability}, gibt es nicht${taken === '' ? '' : `; belegt würde ${taken}`}`,
    'not-bound': ({ step, role, unit, issue }) => `Schritt ${step}${unit === '' ? '' : ` auf ${unit}`}: Rolle ${role} ${said.issues[issue] ?? issue}`,
    'leads-nowhere': ({ module, fault }) => `${module} führt ins Leere: ${fault}`,
    'fault-unheard': ({ module }) => `Eine Störung von ${module} löst keinen Alarm aus`,
    'chart-note': ({ message }) => `Der Ablauf des Rezepts ist nicht vollständig: ${message}`,
    'names-shared': ({ step, other, name }) => `Die Schritte ${other} und ${step} hießen beide ${name}`,
    'name-unreadable': ({ kind, name }) => `${kind} ${name}, von der Charge anzulegen, ist schon gespeichert und nicht lesbar`,
    'name-exists': ({ kind, name }) => `${kind} ${name}, von der Charge anzulegen, gibt es schon`,
    'name-of-other': ({ kind, name, ownerKind, owner }) => `${kind} ${name}, von der Charge anzulegen, gehört zu ${ownerKind} ${owner}`,
    'template-changed': ({ name, by, at }) =>
      `${name} wurde nach der Freigabe des Rezepts geändert${by === '' ? '' : ` von ${by}`}${at === '' ? '' : ` um ${at}`}; die Charge fährt, was freigegeben wurde`,
    'coordination-missing': ({ name }) => `Die Abstimmung ${name} zwischen Teilanlagen gibt es nicht`,
    'coordination-strays': ({ name, step }) => `Die Abstimmung ${name} nennt Schritt ${step}, den das Rezept nicht hat`,
  },
});
