/** A signature: what is signed, what it means, why, and the password of the signatory once more. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { needsPassword, needsSignIn, signed, signInAddress } from '../data/signatures.js';
import { config, me } from '../data/session.js';
import type { Second } from '../data/types.js';
import { CodeField } from '../common/code-field.js';
import { Dialog } from '../common/dialog.js';
import { Fault } from '../common/fault.js';
import { Field } from '../common/field.js';
import { codeGiven, ownProof, passkeyWords as say, waysAsked, whyNoPasskeys, withPasskey } from '../common/passkey.js';
import { ReasonField, reasonLength } from '../common/reason-field.js';
import { meaningText, t } from '../common/strings.js';
import { useSend } from '../common/use-send.js';

/** What the dialog says of itself. */
export interface SignWords {
  readonly head: string;
  /** Who does it, and what becomes of it. */
  readonly who: (name: string) => string;
  readonly meaning: string;
  readonly send: string;
  readonly done: (name: string, meaning: string) => string;
}

const SIGNATURE: SignWords = { head: t.signature, who: t.signatureText, meaning: t.meaning, send: t.signNow, done: t.signed };

export interface SignDialogProps {
  /** As a person calls what is signed. */
  readonly title: string;
  /** Of what asks for the password as a signature does, and is another thing. */
  readonly words?: Partial<SignWords>;
  /** One of them is chosen; a single one is only shown. */
  readonly meanings: readonly string[];
  /** Characters the reason needs at least. */
  readonly lengthMin: number;
  /** Reasons to tap; those of a review where it is left out. */
  readonly suggestions?: readonly string[];
  readonly onSign: (meaning: string, reason: string) => Promise<void>;
  readonly onClose: () => void;
  /** What the signature brings about, in plain words. */
  readonly children?: ComponentChildren;
}

export function SignDialog({ title, words = {}, meanings, lengthMin, suggestions = t.signatureReasons, onSign, onClose, children }: SignDialogProps) {
  const own = { ...SIGNATURE, ...words };
  const [meaning, setMeaning] = useState(meanings.length === 1 ? (meanings[0] as string) : '');
  const [reason, setReason] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  /** What he can answer with; null while nobody has asked. */
  const [ways, setWays] = useState<readonly unknown[] | null>(null);
  const [done, setDone] = useState(false);
  const sending = useSend();
  const hasPasskey = ways?.includes('passkey') === true && whyNoPasskeys(config.value) === '';
  const sign = async (second: Second): Promise<'signed' | 'asked'> => {
    try {
      await ownProof(ways !== null, () => signed(password, second, () => onSign(meaning, reason.trim())));
      setDone(true);
      return 'signed';
    } catch (refused) {
      const asked = waysAsked(refused);
      if (!asked || ways) throw refused;
      setWays(asked);
      return 'asked';
    }
  };
  const send = (way: (second: Second) => Promise<'signed' | 'asked'>): void => {
    void sending.run(async () => {
      let keepsPassword = false;
      try {
        keepsPassword = (await way(codeGiven(code))) === 'asked';
      } finally {
        if (!keepsPassword) setPassword(''); // a wrong one is typed again; a right one waits for its second factor and no longer
        setCode('');
      }
    });
  };
  const judge = (needsCode: boolean): string => {
    if (meaning === '') return `${own.meaning}: ${t.choose}`;
    if (reasonLength(reason) < lengthMin) return `${t.reason}: ${t.reasonNeeded(lengthMin)}`;
    return (needsPassword() && password === '') || (needsCode && code.trim() === '') ? t.fillIn : '';
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const missing = judge(ways !== null);
    if (missing !== '') return sending.refuse(missing);
    send(sign);
  };
  const usePasskey = (): void => {
    const missing = judge(false);
    if (missing !== '') return sending.refuse(missing);
    send(() => withPasskey(sign));
  };
  return (
    <Dialog title={`${own.head}: ${title}`} testid="sign-dialog" wide onClose={onClose}>
      {done ? (
        <div class="stack">
          <p class="note" role="status" data-testid="signed">
            {own.done(me.value?.displayName ?? '', meaningText(meaning))}
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
            {own.who(me.value?.displayName ?? '')}
            {meanings.length === 1 && ` ${own.meaning}: ${meaningText(meaning)}.`}
          </p>
          {meanings.length > 1 && <Meanings label={own.meaning} meanings={meanings} meaning={meaning} onChoose={setMeaning} />}
          <ReasonField value={reason} onInput={setReason} lengthMin={lengthMin} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={suggestions} />
          {needsSignIn() && (
            <p class="note" data-testid="sign-in-again">
              {signInAddress() === '' ? t.signInAgain : <a href={signInAddress()}>{t.signInAgain}</a>}
            </p>
          )}
          {needsPassword() && <Field id="sign-password" label={t.password} type="password" autoComplete="current-password" value={password} onInput={setPassword} />}
          {ways && sending.fault === '' && (
            <p class="note" role="status" data-testid="second-needed">
              {hasPasskey ? say.proofNeeded : t.secondCodeNeeded}
            </p>
          )}
          {ways && <CodeField id="sign-code" hasApp={ways.includes('app')} value={code} onInput={setCode} autoFocus={!hasPasskey} />}
          <div class="dialog-actions">
            <button type="button" class="button" onClick={onClose}>
              {t.cancel}
            </button>
            {hasPasskey && (
              <button type="button" class="button primary" disabled={sending.busy} onClick={usePasskey} data-testid="sign-passkey">
                {say.use}
              </button>
            )}
            <button type="submit" class={hasPasskey ? 'button' : 'button primary'} disabled={sending.busy} data-testid="sign-send">
              {sending.busy ? t.sending : own.send}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

interface MeaningsProps {
  readonly label: string;
  readonly meanings: readonly string[];
  readonly meaning: string;
  readonly onChoose: (meaning: string) => void;
}

function Meanings({ label, meanings, meaning, onChoose }: MeaningsProps) {
  return (
    <div class="field">
      <span class="field-label">{label}</span>
      <div class="chips" role="radiogroup" aria-label={label}>
        {meanings.map((each) => (
          <button type="button" role="radio" class="chip" key={each} aria-checked={meaning === each} onClick={() => onChoose(each)} data-testid={`meaning-${each}`}>
            {meaningText(each)}
          </button>
        ))}
      </div>
    </div>
  );
}
