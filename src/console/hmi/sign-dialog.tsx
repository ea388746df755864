/** A signature: what is signed, what it means, why, and the password of the signatory once more. */
import { useState } from 'preact/hooks';
import { needsPassword, sign } from '../data/signatures.js';
import { config, me } from '../data/session.js';
import { Dialog } from '../common/dialog.js';
import { Field } from '../common/field.js';
import { ReasonField, reasonLength } from '../common/reason-field.js';
import { t } from '../common/strings.js';
import { useSend } from '../common/use-send.js';

const MEANINGS = ['Reviewed', 'Witnessed', 'Approved'] as const;

export interface SignDialogProps {
  readonly kind: string;
  readonly name: string;
  /** As a person calls it. */
  readonly title: string;
  readonly onClose: () => void;
}

export function SignDialog({ kind, name, title, onClose }: SignDialogProps) {
  const [meaning, setMeaning] = useState('');
  const [reason, setReason] = useState('');
  const [password, setPassword] = useState('');
  const [done, setDone] = useState(false);
  const sending = useSend();
  const submit = (event: Event): void => {
    event.preventDefault();
    if (meaning === '') return sending.refuse(`${t.meaning}: ${t.choose}`);
    if (reasonLength(reason) < 1) return sending.refuse(`${t.reason}: ${t.reasonNeeded(1)}`);
    if (needsPassword() && password === '') return sending.refuse(t.fillIn);
    void sending.run(async () => {
      try {
        await sign({ kind, name, meaning, reason: reason.trim() }, password);
        setDone(true);
      } finally {
        setPassword(''); // a wrong one is typed again; a right one is not kept
      }
    });
  };
  return (
    <Dialog title={`${t.signature}: ${title}`} testid="sign-dialog" wide onClose={onClose}>
      {done ? (
        <div class="stack">
          <p class="note" role="status" data-testid="signed">
            {t.signed(me.value?.displayName ?? '', t.meanings[meaning] ?? meaning)}
          </p>
          <div class="dialog-actions">
            <button type="button" class="button primary" onClick={onClose} data-testid="sign-close">
              {t.close}
            </button>
          </div>
        </div>
      ) : (
        <form onSubmit={submit} noValidate>
          <p class="hint">{t.signatureText(me.value?.displayName ?? '')}</p>
          {sending.fault !== '' && (
            <p class="fault" role="alert" data-testid="sign-error">
              {sending.fault}
            </p>
          )}
          <div class="field">
            <span class="field-label">{t.meaning}</span>
            <div class="chips" role="radiogroup" aria-label={t.meaning}>
              {MEANINGS.map((each) => (
                <button
                  type="button"
                  role="radio"
                  class="chip"
                  key={each}
                  aria-checked={meaning === each}
                  aria-pressed={undefined}
                  onClick={() => setMeaning(each)}
                  data-testid={`meaning-${each}`}
                >
                  {t.meanings[each]}
                </button>
              ))}
            </div>
          </div>
          <ReasonField value={reason} onInput={setReason} lengthMin={1} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={t.signatureReasons} />
          {needsPassword() && <Field id="sign-password" label={t.password} type="password" autoComplete="current-password" value={password} onInput={setPassword} />}
          <div class="dialog-actions">
            <button type="button" class="button" onClick={onClose}>
              {t.cancel}
            </button>
            <button type="submit" class="button primary" disabled={sending.busy} data-testid="sign-send">
              {sending.busy ? t.sending : t.signNow}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
