/**
 * What of a module may be tuned (D-C-13; ADR 0025): the present values for everybody, and a change for who may, in two steps as a
 * write. The gateway judges permission, limits and reason; it is taken in any mode, because it changes no owner.
 */
import { useState } from 'preact/hooks';
import type { ModuleTags } from '../../data/module-tags.js';
import { tuneParameter } from '../../data/modules.js';
import { stale, tagValue } from '../../data/plant.js';
import { can, config } from '../../data/session.js';
import { isNumeric, type ModuleInfo, type TagDescriptor } from '../../data/types.js';
import { Dialog } from '../../common/dialog.js';
import { type Entered, enteredValue } from '../../common/entered-value.js';
import { Fault } from '../../common/fault.js';
import { ReasonField, reasonLength } from '../../common/reason-field.js';
import { t, words } from '../../common/strings.js';
import { tagText } from '../../common/tag-text.js';
import { momentText, recordText, unitText } from '../../common/text.js';
import { useSend } from '../../common/use-send.js';
import { CommandButton } from '../../plant/command-button.js';

const PREFIX = 'par.';

export function Tuning({ tags: { module, parameters } }: { readonly tags: ModuleTags }) {
  const [name, setName] = useState('');
  const chosen = parameters.find((tag) => tag.name === name);
  const allowed = can('controlmodule:tune');
  return (
    <section class="stack" aria-labelledby="tuning-title" data-testid="tuning">
      <h3 id="tuning-title">{t.tuning}</h3>
      {!allowed && <p class="hint">{t.tuningNotAllowed}</p>}
      <ul class="lines">
        {parameters.map((tag) => {
          const held = tagValue(module.unit, tag.address).value;
          return (
            <li class="line" key={tag.address}>
              <span class="line-name">
                {tag.name.slice(PREFIX.length)} <TunedBy module={module} parameter={tag.name.slice(PREFIX.length)} />
              </span>
              <span class="line-value number live" data-testid={`line-${tag.name}`} data-quality={held.quality}>
                {tagText(tag, held)}
              </span>
              {allowed && <CommandButton name={t.tune} onClick={() => setName(tag.name)} testid={`tune-${tag.name}`} />}
            </li>
          );
        })}
      </ul>
      {chosen && <TuneDialog module={module} tag={chosen} onClose={() => setName('')} />}
    </section>
  );
}

/** Who gave it its value, and what it was before: the way back is a Tune with that. */
function TunedBy({ module, parameter }: { readonly module: ModuleInfo; readonly parameter: string }) {
  const found = module.parameters.find(({ name }) => name === parameter);
  if (!found) return null;
  const { description, engUnits, tuned, templateValue } = found;
  const text = (value: typeof templateValue): string => `${recordText(String(value), typeof value === 'number')} ${unitText(engUnits)}`.trim();
  return (
    <span class="hint tuned-by">
      {description === '' ? '' : `${description}.`}
      {tuned ? ` ${said.tuned(tuned.by, momentText(tuned.at), text(tuned.previous), tuned.reason)}` : ` ${said.asTemplate(text(templateValue))}`}
    </span>
  );
}

const said = words({
  en: {
    tuned: (by: string, at: string, before: string, reason: string) => `${by}, ${at}: was ${before} (${reason}).`,
    asTemplate: (value: string) => `The template has ${value}.`,
    putBack: (value: string) => `Put back ${value}`,
  },
  de: {
    tuned: (by: string, at: string, before: string, reason: string) => `${by}, ${at}: war ${before} (${reason}).`,
    asTemplate: (value: string) => `Die Vorlage hat ${value}.`,
    putBack: (value: string) => `Zurück auf ${value}`,
  },
});

interface TuneDialogProps {
  readonly module: ModuleInfo;
  readonly tag: TagDescriptor;
  readonly onClose: () => void;
}

function TuneDialog({ module, tag, onClose }: TuneDialogProps) {
  const [entered, setEntered] = useState('');
  const [reason, setReason] = useState('');
  const [confirmed, setConfirmed] = useState<Entered['value'] | null>(null);
  const sending = useSend();
  const now = tagValue(module.unit, tag.address).value;
  const lengthMin = config.value?.reasonMinLength ?? 1;
  const parameter = tag.name.slice(PREFIX.length);
  const previous = module.parameters.find(({ name }) => name === parameter)?.tuned?.previous;
  const before = previous === undefined ? undefined : recordText(String(previous), typeof previous === 'number');
  const submit = (event: Event): void => {
    event.preventDefault();
    if (confirmed === null) {
      const { value, fault } = enteredValue(tag, entered);
      const first = fault !== '' ? fault : reasonLength(reason) < lengthMin ? `${t.reason}: ${t.reasonNeeded(lengthMin)}` : '';
      sending.refuse(first);
      if (first === '') setConfirmed(value);
      return;
    }
    void sending.run(async () => {
      await tuneParameter(module.name, parameter, confirmed, reason.trim());
      onClose();
    });
  };
  return (
    <Dialog title={t.tuneTitle(module.name.toUpperCase(), parameter)} testid="tune-dialog" wide onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Fault text={sending.fault} code={sending.code} testid="tune-error" />
        {confirmed === null ? (
          <>
            <p class="number">
              {t.presentValue} <strong>{tagText(tag, now)}</strong>
            </p>
            <div class="field">
              <label for="tune-value">
                {t.value} {tag.engUnits === '' ? '' : `(${unitText(tag.engUnits)})`}
              </label>
              <input
                id="tune-value"
                class="number answer-value"
                inputMode={isNumeric(tag.dataType) ? 'decimal' : 'text'}
                autocomplete="off"
                autofocus
                value={entered}
                aria-describedby="tune-hint"
                onInput={(event) => setEntered(event.currentTarget.value)}
                data-testid="tune-value"
              />
              <p id="tune-hint" class="hint">
                {tag.engMin !== '' || tag.engMax !== '' ? t.between(recordText(tag.engMin, true), recordText(tag.engMax, true), unitText(tag.engUnits)) : ''}
              </p>
            </div>
            {before !== undefined && (
              <button type="button" class="button" onClick={() => setEntered(before)} data-testid="tune-put-back">
                {said.putBack(`${before} ${unitText(tag.engUnits)}`.trim())}
              </button>
            )}
            <ReasonField value={reason} onInput={setReason} lengthMin={lengthMin} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={t.tuneReasons} />
          </>
        ) : (
          <>
            <p class="confirm number" data-testid="tune-confirm">
              {tagText(tag, now)} <span aria-hidden="true">→</span>{' '}
              <strong>{`${typeof confirmed === 'number' ? recordText(String(confirmed), true) : confirmed} ${unitText(tag.engUnits)}`.trim()}</strong>
            </p>
            <p class="hint">{t.tuneWords}</p>
          </>
        )}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={confirmed === null ? onClose : () => setConfirmed(null)} data-testid="tune-back">
            {confirmed === null ? t.cancel : t.back}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy || stale.value} data-testid="tune-send">
            {sending.busy ? t.sending : confirmed === null ? t.next : t.tuneNow}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
