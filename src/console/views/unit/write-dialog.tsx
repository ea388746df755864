/** A value is written in two steps: entered, then confirmed with the old beside the new. The gateway checks it again. */
import { useState } from 'preact/hooks';
import { stale, tagValue } from '../../data/plant.js';
import { isNumeric, type TagData, type TagDescriptor } from '../../data/types.js';
import { Dialog } from '../../common/dialog.js';
import { type Entered, enteredValue } from '../../common/entered-value.js';
import { Fault } from '../../common/fault.js';
import { t } from '../../common/strings.js';
import { switchText, tagText } from '../../common/tag-text.js';
import { recordText, unitText } from '../../common/text.js';
import { useSend } from '../../common/use-send.js';
import { Keypad } from '../../plant/keypad.js';

export interface WriteDialogProps {
  readonly tag: TagDescriptor;
  readonly onWrite: (value: Exclude<TagData, null>) => Promise<void>;
  readonly onClose: () => void;
}

export function WriteDialog({ tag, onWrite, onClose }: WriteDialogProps) {
  const [entered, setEntered] = useState('');
  const [confirmed, setConfirmed] = useState<Entered['value'] | null>(null);
  const sending = useSend();
  const now = tagValue(tag.unit, tag.address).value;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (confirmed === null) {
      const { value, fault } = enteredValue(tag, entered);
      if (fault === '') setConfirmed(value);
      sending.refuse(fault);
      return;
    }
    void sending.run(async () => {
      await onWrite(confirmed);
      onClose();
    });
  };
  return (
    <Dialog title={`${t.write}: ${tag.address.toUpperCase()}`} testid="write-dialog" wide onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Fault text={sending.fault} code={sending.code} testid="write-error" />
        {confirmed === null ? (
          <>
            <p class="number" data-testid="write-now">
              {t.presentValue} <strong>{tagText(tag, now)}</strong>
            </p>
            <Entry tag={tag} value={entered} onInput={setEntered} />
          </>
        ) : (
          <p class="confirm number" data-testid="write-confirm">
            {tagText(tag, now)} <span aria-hidden="true">→</span> <strong>{confirmText(tag, confirmed)}</strong>
          </p>
        )}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={confirmed === null ? onClose : () => setConfirmed(null)} data-testid="write-back">
            {confirmed === null ? t.cancel : t.back}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy || stale.value} data-testid="write-send">
            {sending.busy ? t.sending : confirmed === null ? t.next : t.writeNow}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** What is about to be written, with every digit of it. */
function confirmText(tag: TagDescriptor, value: Entered['value']): string {
  return typeof value === 'number' ? `${recordText(String(value), true)} ${unitText(tag.engUnits)}`.trim() : tagText(tag, { value, quality: 'Good' });
}

function Entry({ tag, value, onInput }: { readonly tag: TagDescriptor; readonly value: string; readonly onInput: (value: string) => void }) {
  if (tag.dataType === 'Boolean') {
    return (
      <div class="choices" role="radiogroup" aria-label={tag.address}>
        {[true, false].map((each) => (
          <button
            type="button"
            role="radio"
            class="button choice"
            aria-checked={value === String(each)}
            key={String(each)}
            onClick={() => onInput(String(each))}
            data-testid={`write-${each}`}
          >
            {switchText(tag, each)}
          </button>
        ))}
      </div>
    );
  }
  const numeric = isNumeric(tag.dataType);
  return (
    <div class="answer">
      <div class="field">
        <label for="write-value">
          {t.value} {tag.engUnits === '' ? '' : `(${unitText(tag.engUnits)})`}
        </label>
        <input
          id="write-value"
          class="number answer-value"
          inputMode={numeric ? 'decimal' : 'text'}
          autocomplete="off"
          autofocus
          value={value}
          aria-describedby="write-hint"
          onInput={(event) => onInput(event.currentTarget.value)}
          data-testid="write-value"
        />
        <p id="write-hint" class="hint">
          {tag.engMin !== '' || tag.engMax !== '' ? t.between(recordText(tag.engMin, true), recordText(tag.engMax, true), unitText(tag.engUnits)) : ''}
        </p>
      </div>
      {numeric && <Keypad value={value} onInput={onInput} />}
    </div>
  );
}
