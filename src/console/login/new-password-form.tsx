/** A password that an administrator set opens nothing but this form (D-AUTH-02). */
import { useEffect, useState } from 'preact/hooks';
import { ApiError, post } from '../data/api.js';
import type { Session } from '../data/types.js';
import { Fault } from '../common/fault.js';
import { Field } from '../common/field.js';
import { t } from '../common/strings.js';
import { useSend } from '../common/use-send.js';
import { keepSignedIn } from './sign-in.js';

export interface NewPasswordFormProps {
  readonly session: Session;
  readonly current: string;
  readonly lengthMin: number;
  readonly onChanged: (password: string) => void;
  /** The session is over, or the password that was given is none any more: whoever is there signs in again. */
  readonly onEnded: (why: string) => void;
}

export function NewPasswordForm({ session, current, lengthMin, onChanged, onEnded }: NewPasswordFormProps) {
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const sending = useSend();
  useEffect(() => keepSignedIn(session, onEnded), [session]);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (password !== again) return sending.refuse(t.passwordsDiffer);
    if ([...password].length < lengthMin) return sending.refuse(t.passwordRule(lengthMin));
    if (password === current) return sending.refuse(t.passwordUnchanged);
    void sending.run(async () => {
      try {
        await post('/api/v1/auth/password', { currentPassword: current, newPassword: password });
      } catch (fault) {
        if (fault instanceof ApiError && fault.status === 401) onEnded('session');
        throw fault;
      }
      onChanged(password);
    });
  };
  return (
    <form onSubmit={submit} noValidate data-testid="new-password-form">
      <h2>{t.changePasswordTitle}</h2>
      <p class="hint">{t.changePasswordText}</p>
      <Fault text={sending.fault} testid="login-error" />
      <Field
        id="new-password"
        label={t.newPassword}
        type="password"
        value={password}
        onInput={setPassword}
        autoComplete="new-password"
        hint={t.passwordRule(lengthMin)}
        autoFocus
      />
      <Field id="new-password-again" label={t.repeatPassword} type="password" value={again} onInput={setAgain} autoComplete="new-password" />
      <button type="submit" class="button primary" disabled={sending.busy} data-testid="new-password-submit">
        {sending.busy ? t.sending : t.changePassword}
      </button>
    </form>
  );
}
