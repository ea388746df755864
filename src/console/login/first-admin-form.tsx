/** The first start: nobody can sign in yet, and only who stands at the box knows the code (D-AUTH-01). */
import { useState } from 'preact/hooks';
import { ApiError, post } from '../data/api.js';
import type { Session } from '../data/types.js';
import { Fault } from '../common/fault.js';
import { Field } from '../common/field.js';
import { t } from '../common/strings.js';
import { useSend } from '../common/use-send.js';
import { signIn } from './sign-in.js';

export interface FirstAdminFormProps {
  readonly lengthMin: number;
  readonly onSignedIn: (session: Session, password: string) => void;
  /** An administrator exists meanwhile; the ordinary form is due. */
  readonly onCreated: () => void;
}

export function FirstAdminForm({ lengthMin, onSignedIn, onCreated }: FirstAdminFormProps) {
  const [code, setCode] = useState('');
  const [username, setUsername] = useState('');
  const [displayName, setDisplayName] = useState('');
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const sending = useSend();
  const create = async (): Promise<void> => {
    const name = username.trim();
    try {
      await post('/api/v1/auth/first-admin', { code: code.trim(), username: name, password, ...(displayName.trim() === '' ? {} : { displayName: displayName.trim() }) });
    } catch (refused) {
      if (refused instanceof ApiError && refused.code === 'admin_exists') onCreated();
      throw refused;
    }
    onSignedIn(await signIn(name, password), password);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (code.trim() === '' || username.trim() === '' || password === '') return sending.refuse(t.fillIn);
    if ([...password].length < lengthMin) return sending.refuse(t.passwordRule(lengthMin));
    if (password !== again) return sending.refuse(t.passwordsDiffer);
    void sending.run(create);
  };
  return (
    <form onSubmit={submit} noValidate data-testid="first-admin">
      <h2>{t.firstAdminTitle}</h2>
      <p class="hint">{t.firstAdminText}</p>
      <Fault text={sending.fault} testid="login-error" />
      <Field id="code" label={t.commissioningCode} value={code} onInput={setCode} mono autoFocus />
      <div class="pair">
        <Field id="username" label={t.username} value={username} onInput={setUsername} autoComplete="username" />
        <Field id="display-name" label={t.displayName} value={displayName} onInput={setDisplayName} autoComplete="name" />
      </div>
      <div class="pair">
        <Field id="password" label={t.password} type="password" value={password} onInput={setPassword} autoComplete="new-password" hint={t.passwordRule(lengthMin)} />
        <Field id="password-again" label={t.repeatPassword} type="password" value={again} onInput={setAgain} autoComplete="new-password" />
      </div>
      <button type="submit" class="button primary" disabled={sending.busy} data-testid="first-admin-submit">
        {sending.busy ? t.sending : t.createAdmin}
      </button>
    </form>
  );
}
