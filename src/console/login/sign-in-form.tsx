import { useState } from 'preact/hooks';
import { ApiError } from '../data/api.js';
import type { AuthConfig, Session } from '../data/types.js';
import { CodeField } from '../common/code-field.js';
import { Fault } from '../common/fault.js';
import { Field } from '../common/field.js';
import { codeGiven, passkeyWords as say, waysAsked, whyNoPasskeys, withPasskey } from '../common/passkey.js';
import { t } from '../common/strings.js';
import { takeFocus } from '../common/take-focus.js';
import { useSend } from '../common/use-send.js';
import { Ended } from './ended.js';
import { signIn as signInByCookie } from './sign-in.js';

export interface SignInFormProps {
  readonly config: AuthConfig;
  readonly ended: string;
  readonly onSignedIn: (session: Session, password: string) => void;
  /** Where the session is not kept by the browser. */
  readonly signIn?: typeof signInByCookie;
}

export function SignInForm({ config, ended, onSignedIn, signIn = signInByCookie }: SignInFormProps) {
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  /** What the account can answer with; null while nobody has asked. */
  const [ways, setWays] = useState<readonly unknown[] | null>(null);
  const sending = useSend();
  const enter = async (): Promise<void> => {
    try {
      onSignedIn(await signIn(username.trim(), password, codeGiven(code)), password);
    } catch (refused) {
      const asked = waysAsked(refused);
      if (asked) return setWays(asked);
      if (!(refused instanceof ApiError)) throw refused;
      if (ways) setCode(''); // each is good once
      throw ways && refused.code === 'invalid_credentials' ? new Error(t.wrongWithCode) : refused;
    }
  };
  const enterByPasskey = async (): Promise<void> => onSignedIn(await withPasskey((second) => signIn(username.trim(), password, second)), password);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (username.trim() === '' || password === '' || (ways && code.trim() === '')) return sending.refuse(t.fillIn);
    void sending.run(enter);
  };
  const back = (): void => {
    setWays(null);
    setCode('');
    setPassword('');
  };
  const hasPasskey = ways?.includes('passkey') === true;
  const whyNot = hasPasskey ? whyNoPasskeys(config) : '';
  return (
    <form onSubmit={submit} noValidate>
      {sending.fault === '' && <Ended text={ended} />}
      <Fault text={sending.fault} testid="login-error" />
      {hasPasskey && whyNot === '' && (
        <button type="button" class="button primary" disabled={sending.busy} onClick={() => void sending.run(enterByPasskey)} data-testid="use-passkey" autofocus ref={takeFocus}>
          {say.use}
        </button>
      )}
      {whyNot !== '' && (
        <p class="hint" data-testid="no-passkeys">
          {whyNot}
        </p>
      )}
      {ways ? (
        <CodeField key="code" id="second-code" hasApp={ways.includes('app')} value={code} onInput={setCode} autoFocus={!hasPasskey} />
      ) : (
        <>
          <Field id="username" label={t.username} value={username} onInput={setUsername} autoComplete="username" autoFocus />
          <Field id="password" label={t.password} type="password" value={password} onInput={setPassword} autoComplete="current-password" />
        </>
      )}
      <button type="submit" class={hasPasskey ? 'button' : 'button primary'} disabled={sending.busy} data-testid="login-submit">
        {sending.busy ? t.signingIn : t.signIn}
      </button>
      {ways && (
        <button type="button" class="button" onClick={back} data-testid="login-back">
          {t.back}
        </button>
      )}
    </form>
  );
}
