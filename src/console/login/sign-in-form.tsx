import { useState } from 'preact/hooks';
import type { Session } from '../data/types.js';
import { Fault } from '../common/fault.js';
import { Field } from '../common/field.js';
import { t } from '../common/strings.js';
import { useSend } from '../common/use-send.js';
import { Ended } from './ended.js';
import { signIn } from './sign-in.js';

export function SignInForm({ ended, onSignedIn }: { readonly ended: string; readonly onSignedIn: (session: Session, password: string) => void }) {
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const sending = useSend();
  const submit = (event: Event): void => {
    event.preventDefault();
    if (username.trim() === '' || password === '') return sending.refuse(t.fillIn);
    void sending.run(async () => onSignedIn(await signIn(username.trim(), password), password));
  };
  return (
    <form onSubmit={submit} noValidate>
      {sending.fault === '' && <Ended text={ended} />}
      <Fault text={sending.fault} testid="login-error" />
      <Field id="username" label={t.username} value={username} onInput={setUsername} autoComplete="username" autoFocus />
      <Field id="password" label={t.password} type="password" value={password} onInput={setPassword} autoComplete="current-password" />
      <button type="submit" class="button primary" disabled={sending.busy} data-testid="login-submit">
        {sending.busy ? t.signingIn : t.signIn}
      </button>
    </form>
  );
}
