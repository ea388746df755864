/**
 * What may still be changed of a batch: of one that waits for its start what it is made of, by and on; of one that is held the units of what has not
 * begun, with a reason (D-C-12). The gateway judges all of it again.
 */
import { useEffect, useState } from 'preact/hooks';
import { type BatchChange, changeBatch, readRecipe } from '../data/new-batch.js';
import { can, config } from '../data/session.js';
import type { BatchDetail, MasterRecipe } from '../data/types.js';
import { Dialog } from '../common/dialog.js';
import { Fault } from '../common/fault.js';
import { faultText } from '../common/fault-text.js';
import { Field } from '../common/field.js';
import { ReasonField, reasonLength } from '../common/reason-field.js';
import { t, words } from '../common/strings.js';
import { typedNumber, unitText } from '../common/text.js';
import { useSend } from '../common/use-send.js';
import { UnitChoice } from './unit-choice.js';

const said = words({
  en: {
    change: 'Change …',
    title: (batch: string) => `Change ${batch}`,
    lot: 'Lot',
    values: 'Values of the formula',
    held: 'Of a batch that is held only units are changed whose part has not begun. Everything else stays as it was started.',
    nothing: 'Nothing is changed yet.',
  },
  de: {
    change: 'Ändern …',
    title: (batch: string) => `${batch} ändern`,
    lot: 'Los',
    values: 'Werte der Formel',
    held: 'An einer angehaltenen Charge ändern sich nur Teilanlagen, deren Teil noch nicht begonnen hat. Alles andere bleibt, wie es gestartet wurde.',
    nothing: 'Noch ist nichts geändert.',
  },
});

type Texts = Readonly<Record<string, string>>;

/** For one that waits or is held, and whoever may. */
export function ChangeBatch({ batch }: { readonly batch: BatchDetail }) {
  const [isOpen, setOpen] = useState(false);
  if (!can('batch:update') || (batch.phase !== 'Pending' && batch.phase !== 'Held')) return null;
  return (
    <>
      <button type="button" class="button" onClick={() => setOpen(true)} data-testid="change-batch">
        {said.change}
      </button>
      {isOpen && <ChangeDialog batch={batch} onClose={() => setOpen(false)} />}
    </>
  );
}

interface ChangeDialogProps {
  readonly batch: BatchDetail;
  readonly onClose: () => void;
}

function ChangeDialog({ batch, onClose }: ChangeDialogProps) {
  const [recipe, setRecipe] = useState<MasterRecipe | null>(null);
  const [fault, setFault] = useState('');
  useEffect(() => {
    readRecipe(batch.spec.masterRecipeRef).then(setRecipe, (refused: unknown) => setFault(faultText(refused)));
  }, []);
  return (
    <Dialog title={said.title(batch.batchID)} testid="change-dialog" wide onClose={onClose}>
      <Fault text={fault} testid="change-read" />
      {recipe ? <ChangeForm batch={batch} recipe={recipe} onClose={onClose} /> : fault === '' && <p class="hint">{t.loading}</p>}
    </Dialog>
  );
}

function ChangeForm({ batch, recipe, onClose }: ChangeDialogProps & { readonly recipe: MasterRecipe }) {
  const { spec, phase } = batch;
  const isPending = phase === 'Pending';
  const [quantity, setQuantity] = useState(spec.quantity);
  const [lotID, setLot] = useState(spec.lotID);
  const [values, setValues] = useState<Texts>({});
  const [equipment, setEquipment] = useState<Texts>(spec.equipment);
  const [reason, setReason] = useState('');
  const sending = useSend();
  const { min = '', max = '' } = recipe.spec.batchSize ?? {};
  const formulas = recipe.spec.formulas ?? [];
  const formula = formulas.find(({ name, default: isDefault }) => (spec.formulaName === '' ? isDefault : name === spec.formulaName)) ?? formulas[0];
  const parameters = formula?.parameters ?? [];
  const given = (name: string): string | undefined => spec.parameters.find((each) => each.name === name)?.value;
  const lengthMin = isPending ? 0 : (config.value?.reasonMinLength ?? 1);
  const change = (): BatchChange => {
    const typed = Object.entries(values).map(([name, value]) => ({ name, value: typedNumber(value) ?? value.trim() }));
    const changed = typed.filter(({ name, value }) => value !== given(name));
    const units = Object.entries(equipment).filter(([capability, unit]) => unit !== (spec.equipment[capability] ?? ''));
    const size = typedNumber(quantity) ?? quantity.trim();
    return {
      ...(size === spec.quantity ? {} : { quantity: size }),
      ...(lotID.trim() === spec.lotID ? {} : { lotID: lotID.trim() }),
      ...(changed.length === 0 ? {} : { parameters: [...spec.parameters.filter(({ name }) => !(name in values)), ...typed] }),
      ...(units.length === 0 ? {} : { equipment: isPending ? withoutEmpty(equipment) : equipment }),
    };
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const wanted = change();
    if (Object.keys(wanted).length === 0) return sending.refuse(said.nothing);
    if (reasonLength(reason) < lengthMin) return sending.refuse(`${t.reason}: ${t.reasonNeeded(lengthMin)}`);
    void sending.run(async () => {
      await changeBatch(batch.name, isPending ? wanted : { ...wanted, reason: reason.trim() });
      onClose();
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Fault text={sending.fault} code={sending.code} testid="change-error" />
      {!isPending && <p class="hint">{said.held}</p>}
      <div class="new-batch">
        {isPending && (
          <>
            <Field
              id="change-quantity"
              label={`${t.quantity}${spec.engineeringUnit === '' ? '' : ` (${unitText(spec.engineeringUnit)})`}`}
              value={quantity}
              onInput={setQuantity}
              hint={limitsText(min, max)}
            />
            <Field id="change-lot" label={said.lot} value={lotID} onInput={setLot} />
          </>
        )}
        {(recipe.spec.equipmentRequirements ?? []).map(({ capability, candidates }) => (
          <UnitChoice
            key={capability}
            capability={capability}
            candidates={candidates}
            value={equipment[capability] ?? ''}
            onChoose={(unit) => setEquipment({ ...equipment, [capability]: unit })}
          />
        ))}
      </div>
      {isPending && parameters.length > 0 && <h3>{said.values}</h3>}
      {isPending && (
        <div class="new-batch">
          {parameters.map(({ name, value, engineeringUnit, description, lowValueLimit, highValueLimit }) => (
            <Field
              key={name}
              id={`change-value-${name}`}
              label={`${name}${engineeringUnit === '' ? '' : ` (${unitText(engineeringUnit)})`}`}
              value={values[name] ?? given(name) ?? value}
              onInput={(text) => setValues({ ...values, [name]: text })}
              hint={[limitsText(lowValueLimit ?? '', highValueLimit ?? ''), description].filter((part) => part !== '').join('; ')}
            />
          ))}
        </div>
      )}
      {!isPending && <ReasonField value={reason} onInput={setReason} lengthMin={lengthMin} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={t.commonReasons} />}
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose} data-testid="change-cancel">
          {t.cancel}
        </button>
        <button type="submit" class="button primary" disabled={sending.busy} data-testid="change-send">
          {sending.busy ? t.sending : said.title(batch.batchID)}
        </button>
      </div>
    </form>
  );
}

function withoutEmpty(equipment: Texts): Texts {
  return Object.fromEntries(Object.entries(equipment).filter(([, unit]) => unit !== ''));
}

function limitsText(low: string, high: string): string {
  return low === '' && high === '' ? '' : `${low} … ${high}`.trim();
}
