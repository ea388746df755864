/** A signature: what is signed, what it means, why, and the password of the signatory once more. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { needsPassword, needsSignIn, signed, signInAddress } from '../data/signatures.js';
import { config, me } from '../data/session.js';
import { ApiError } from '../data/api.js';
import { Dialog } from '../common/dialog.js';
import { Fault } from '../common/fault.js';
import { Field } from '../common/field.js';
import { ReasonField, reasonLength } from '../common/reason-field.js';
import { t } from '../common/strings.js';
import { useSend } from '../common/use-send.js';

export interface SignDialogProps {
  /** As a person calls what is signed. */
  readonly title: string;
  /** One of them is chosen; a single one is only shown. */
  readonly meanings: readonly string[];
  /** Characters the reason needs at least. */
  readonly lengthMin: number;
  readonly onSign: (meaning: string, reason: string) => Promise<void>;
  readonly onClose: () => void;
  /** What the signature brings about, in plain words. */
  readonly children?: ComponentChildren;
}

export function SignDialog({ title, meanings, lengthMin, onSign, onClose, children }: SignDialogProps) {
  const [meaning, setMeaning] = useState(meanings.length === 1 ? (meanings[0] as string) : '');
  const [reason, setReason] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [asksCode, setAsksCode] = useState(false);
  const [done, setDone] = useState(false);
  const sending = useSend();
  const submit = (event: Event): void => {
    event.preventDefault();
    if (meaning === '') return sending.refuse(`${t.meaning}: ${t.choose}`);
    if (reasonLength(reason) < lengthMin) return sending.refuse(`${t.reason}: ${t.reasonNeeded(lengthMin)}`);
    if ((needsPassword() && password === '') || (asksCode && code.trim() === '')) return sending.refuse(t.fillIn);
    void sending.run(async () => {
      try {
        await signed(password, code.trim(), () => onSign(meaning, reason.trim()));
        setDone(true);
      } catch (refused) {
        if (!(refused instanceof ApiError) || refused.code !== 'second_factor_required') throw refused;
        setAsksCode(true);
        throw new Error(t.secondCodeNeeded);
      } finally {
        setPassword(''); // a wrong one is typed again; a right one is not kept
        setCode('');
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
          {children}
          <Fault text={sending.fault} code={sending.code} testid="sign-error" />
          <p class="hint">
            {t.signatureText(me.value?.displayName ?? '')}
            {meanings.length === 1 && ` ${t.meaning}: ${t.meanings[meaning] ?? meaning}.`}
          </p>
          {meanings.length > 1 && <Meanings meanings={meanings} meaning={meaning} onChoose={setMeaning} />}
          <ReasonField value={reason} onInput={setReason} lengthMin={lengthMin} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={t.signatureReasons} />
          {needsSignIn() && (
            <p class="note" data-testid="sign-in-again">
              {signInAddress() === '' ? t.signInAgain : <a href={signInAddress()}>{t.signInAgain}</a>}
            </p>
          )}
          {needsPassword() && <Field id="sign-password" label={t.password} type="password" autoComplete="current-password" value={password} onInput={setPassword} />}
          {asksCode && <Field id="sign-code" label={t.secondCode} autoComplete="one-time-code" hint={t.secondCodeRule} mono value={code} onInput={setCode} />}
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

interface MeaningsProps {
  readonly meanings: readonly string[];
  readonly meaning: string;
  readonly onChoose: (meaning: string) => void;
}

function Meanings({ meanings, meaning, onChoose }: MeaningsProps) {
  return (
    <div class="field">
      <span class="field-label">{t.meaning}</span>
      <div class="chips" role="radiogroup" aria-label={t.meaning}>
        {meanings.map((each) => (
          <button type="button" role="radio" class="chip" key={each} aria-checked={meaning === each} onClick={() => onChoose(each)} data-testid={`meaning-${each}`}>
            {t.meanings[each] ?? each}
          </button>
        ))}
      </div>
    </div>
  );
}
