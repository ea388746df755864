/** A batch made at the panel: what it is made by, of and on, judged by the gateway in words before it is made. */
import { useEffect, useState } from 'preact/hooks';
import { createBatch, type NewBatch, preflightOfNew, readRecipes } from '../../data/new-batch.js';
import type { MasterRecipe, PreflightAnswer } from '../../data/types.js';
import { Dialog } from '../../common/dialog.js';
import { Fault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { Field } from '../../common/field.js';
import { t, words } from '../../common/strings.js';
import { typedNumber, unitText } from '../../common/text.js';
import { useAsked } from '../../common/use-asked.js';
import { useSend } from '../../common/use-send.js';
import { UnitChoice } from '../../plant/unit-choice.js';
import { checkTexts } from '../../plant/check-text.js';

const said = words({
  en: {
    title: 'New batch',
    recipe: 'Recipe',
    noRecipes: 'No recipe is effective: there is nothing to make a batch by.',
    batchID: 'Batch number',
    formula: 'Formula',
    quantity: (unit: string) => `Quantity${unit === '' ? '' : ` (${unit})`}`,
    between: (low: string, high: string) => `${low === '' ? '' : `from ${low} `}${high === '' ? '' : `to ${high}`}`.trim(),
    lot: 'Lot',
    priority: 'Priority',
    priorityHint: '0 to 1000; the larger goes first',
    values: 'Values of the formula',
    create: (batch: string) => `Create ${batch}`.trim(),
    judged: 'What stands against a start now',
    free: 'Nothing stands against a start now.',
    numberNeeded: (name: string) => `${name}: a number is needed`,
    idNeeded: 'A batch needs a number.',
  },
  de: {
    title: 'Neue Charge',
    recipe: 'Rezept',
    noRecipes: 'Kein Rezept ist gültig: es gibt nichts, wonach eine Charge zu fahren wäre.',
    batchID: 'Chargennummer',
    formula: 'Formel',
    quantity: (unit: string) => `Menge${unit === '' ? '' : ` (${unit})`}`,
    between: (low: string, high: string) => `${low === '' ? '' : `von ${low} `}${high === '' ? '' : `bis ${high}`}`.trim(),
    lot: 'Los',
    priority: 'Priorität',
    priorityHint: '0 bis 1000; die größere geht vor',
    values: 'Werte der Formel',
    create: (batch: string) => `${batch} anlegen`.trim(),
    judged: 'Was einem Start jetzt entgegensteht',
    free: 'Einem Start steht jetzt nichts entgegen.',
    numberNeeded: (name: string) => `${name}: eine Zahl wird gebraucht`,
    idNeeded: 'Eine Charge braucht eine Nummer.',
  },
});

const ASKED_MS = 400;
type Texts = Readonly<Record<string, string>>;

export function NewBatchDialog({ onClose }: { readonly onClose: () => void }) {
  const [recipes, setRecipes] = useState<readonly MasterRecipe[] | null>(null);
  const [chosen, setChosen] = useState('');
  const sending = useSend();
  useEffect(() => {
    readRecipes().then(setRecipes, (fault: unknown) => sending.refuse(faultText(fault)));
  }, []);
  const recipe = recipes?.find(({ name }) => name === chosen) ?? recipes?.[0];
  return (
    <Dialog title={said.title} testid="new-batch" wide onClose={onClose}>
      <Fault text={sending.fault} testid="new-batch-read" />
      {recipes === null && sending.fault === '' && <p class="hint">{t.loading}</p>}
      {recipes?.length === 0 && <p class="empty">{said.noRecipes}</p>}
      {recipe && recipes && (
        <>
          <div class="field">
            <label for="new-recipe">{said.recipe}</label>
            <select id="new-recipe" class="select" value={recipe.name} onChange={(event) => setChosen(event.currentTarget.value)} data-testid="new-recipe">
              {recipes.map(({ name, spec }) => (
                <option key={name} value={name}>
                  {name} {spec.version} {spec.productName}
                </option>
              ))}
            </select>
          </div>
          <BatchForm key={recipe.name} recipe={recipe} onClose={onClose} />
        </>
      )}
    </Dialog>
  );
}

function BatchForm({ recipe, onClose }: { readonly recipe: MasterRecipe; readonly onClose: () => void }) {
  const { spec } = recipe;
  const { nominal = '', min = '', max = '', engineeringUnit = '' } = spec.batchSize ?? {};
  const [batchID, setBatchID] = useState('');
  const [formulaName, setFormula] = useState((spec.formulas ?? []).find((each) => each.default)?.name ?? spec.formulas?.[0]?.name ?? '');
  const [quantity, setQuantity] = useState(nominal);
  const [lotID, setLot] = useState('');
  const [priority, setPriority] = useState('100');
  const [values, setValues] = useState<Texts>({});
  const [equipment, setEquipment] = useState<Texts>({});
  const sending = useSend();
  const parameters = spec.formulas?.find(({ name }) => name === formulaName)?.parameters ?? [];
  const batch: NewBatch = {
    batchID: batchID.trim(),
    masterRecipeRef: recipe.name,
    formulaName,
    quantity: typedNumber(quantity) ?? quantity.trim(),
    engineeringUnit,
    priority: Number(priority),
    lotID: lotID.trim(),
    parameters: Object.entries(values).map(([name, value]) => ({ name, value: typedNumber(value) ?? value.trim() })),
    equipment: Object.fromEntries(Object.entries(equipment).filter(([, unit]) => unit !== '')),
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (batch.batchID === '') return sending.refuse(said.idNeeded);
    if (!/^\d+$/.test(priority.trim())) return sending.refuse(said.numberNeeded(said.priority));
    void sending.run(async () => {
      await createBatch(batch);
      onClose();
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Fault text={sending.fault} code={sending.code} testid="new-batch-error" />
      <div class="new-batch">
        <Field id="new-id" label={said.batchID} value={batchID} onInput={setBatchID} autoFocus />
        <Field id="new-quantity" label={said.quantity(unitText(engineeringUnit))} value={quantity} onInput={setQuantity} hint={said.between(min, max)} />
        <Field id="new-lot" label={said.lot} value={lotID} onInput={setLot} />
        <Field id="new-priority" label={said.priority} value={priority} onInput={setPriority} hint={said.priorityHint} />
        {(spec.formulas ?? []).length > 1 && (
          <div class="field">
            <label for="new-formula">{said.formula}</label>
            <select
              id="new-formula"
              class="select"
              value={formulaName}
              onChange={(event) => {
                setFormula(event.currentTarget.value);
                setValues({});
              }}
            >
              {(spec.formulas ?? []).map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </div>
        )}
        {(spec.equipmentRequirements ?? []).map((requirement) => (
          <UnitChoice
            key={requirement.capability}
            capability={requirement.capability}
            candidates={requirement.candidates}
            value={equipment[requirement.capability] ?? ''}
            onChoose={(unit) => setEquipment({ ...equipment, [requirement.capability]: unit })}
          />
        ))}
      </div>
      {parameters.length > 0 && <h3>{said.values}</h3>}
      <div class="new-batch">
        {parameters.map(({ name, value, engineeringUnit: unit, description, lowValueLimit, highValueLimit }) => (
          <Field
            key={name}
            id={`new-value-${name}`}
            label={`${name}${unit === '' ? '' : ` (${unitText(unit)})`}`}
            value={values[name] ?? value}
            onInput={(text) => setValues({ ...values, [name]: text })}
            hint={[said.between(lowValueLimit ?? '', highValueLimit ?? ''), description].filter((part) => part !== '').join('; ')}
          />
        ))}
      </div>
      <Judged batch={batch} />
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose} data-testid="new-cancel">
          {t.cancel}
        </button>
        <button type="submit" class="button primary" disabled={sending.busy} data-testid="new-send">
          {said.create(batch.batchID)}
        </button>
      </div>
    </form>
  );
}

/** What the gateway says of it, a moment after the last letter; what it said of other letters says nothing of these. */
function Judged({ batch }: { readonly batch: NewBatch }) {
  return batch.batchID === '' ? null : <JudgedNow batch={batch} />;
}

function JudgedNow({ batch }: { readonly batch: NewBatch }) {
  const found = useAsked<PreflightAnswer>(() => preflightOfNew(batch), JSON.stringify(batch), '', ASKED_MS);
  if (found === null) return <p class="hint">{t.startChecking}</p>;
  const stops = typeof found === 'string' ? [found] : checkTexts(found.checks.filter(({ ok }) => !ok));
  return (
    <div class={stops.length === 0 ? 'note' : 'warning'} role="status" data-testid="new-judged">
      {stops.length === 0 ? (
        <p>{said.free}</p>
      ) : (
        <>
          <p>
            <strong>{said.judged}</strong>
          </p>
          <ul>
            {stops.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
