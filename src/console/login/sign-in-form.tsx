import { useState } from 'preact/hooks';
import { ApiError } from '../data/api.js';
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
  const [code, setCode] = useState('');
  const [asksCode, setAsksCode] = useState(false);
  const sending = useSend();
  const enter = async (): Promise<void> => {
    try {
      onSignedIn(await signIn(username.trim(), password, code.trim()), password);
    } catch (refused) {
      if (!(refused instanceof ApiError)) throw refused;
      if (refused.code === 'second_factor_required') return setAsksCode(true);
      if (asksCode) setCode(''); // each is good once
      throw asksCode && refused.code === 'invalid_credentials' ? new Error(t.wrongWithCode) : refused;
    }
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (username.trim() === '' || password === '' || (asksCode && code.trim() === '')) return sending.refuse(t.fillIn);
    void sending.run(enter);
  };
  const back = (): void => {
    setAsksCode(false);
    setCode('');
    setPassword('');
  };
  return (
    <form onSubmit={submit} noValidate>
      {sending.fault === '' && <Ended text={ended} />}
      <Fault text={sending.fault} testid="login-error" />
      {asksCode ? (
        <Field key="code" id="second-code" label={t.secondCode} value={code} onInput={setCode} autoComplete="one-time-code" hint={t.secondCodeRule} mono autoFocus />
      ) : (
        <>
          <Field id="username" label={t.username} value={username} onInput={setUsername} autoComplete="username" autoFocus />
          <Field id="password" label={t.password} type="password" value={password} onInput={setPassword} autoComplete="current-password" />
        </>
      )}
      <button type="submit" class="button primary" disabled={sending.busy} data-testid="login-submit">
        {sending.busy ? t.signingIn : t.signIn}
      </button>
      {asksCode && (
        <button type="button" class="button" onClick={back} data-testid="login-back">
          {t.back}
        </button>
      )}
    </form>
  );
}
