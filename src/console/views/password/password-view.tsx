/** The person's own password, with that of before; his other sessions end with it. For everybody, in both consoles, from the menu. */
import { useState } from 'preact/hooks';
import { hasAccounts } from '../../data/access.js';
import { post } from '../../data/api.js';
import { config } from '../../data/session.js';
import { Fault } from '../../common/fault.js';
import { Field } from '../../common/field.js';
import { t, words } from '../../common/strings.js';
import { useSend } from '../../common/use-send.js';
import type { ViewDefinition } from '../../frame/view-definition.js';

const text = words({
  en: {
    title: 'My password',
    does: 'Changes the password with which you sign in and sign. Wherever else you are signed in, you are signed out at once; here you go on.',
    elsewhere: 'Your account is that of your organisation: the password is changed there.',
    current: 'Present password',
    wrong: 'The present password is wrong.',
    changed: 'Changed. Your other sessions have ended.',
  },
  de: {
    title: 'Mein Kennwort',
    does: 'Ändert das Kennwort, mit dem Sie sich anmelden und unterschreiben. Wo Sie sonst angemeldet sind, werden Sie sofort abgemeldet; hier geht es weiter.',
    elsewhere: 'Ihr Konto ist das Ihrer Organisation: das Kennwort wird dort geändert.',
    current: 'Bisheriges Kennwort',
    wrong: 'Das bisherige Kennwort ist falsch.',
    changed: 'Geändert. Ihre anderen Sitzungen sind beendet.',
  },
});

export const passwordView: ViewDefinition = { name: 'password', title: () => text.title, component: PasswordView };

function PasswordView() {
  return (
    <section class="panel page" aria-labelledby="password-title" data-testid="password-view">
      <header class="page-head">
        <h2 id="password-title">{text.title}</h2>
      </header>
      {hasAccounts() ? <PasswordForm /> : <p class="note">{text.elsewhere}</p>}
    </section>
  );
}

function PasswordForm() {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const [isChanged, setChanged] = useState(false);
  const sending = useSend();
  const submit = (event: Event): void => {
    event.preventDefault();
    setChanged(false);
    if (current === '' || password === '') return sending.refuse(t.fillIn);
    if (password !== again) return sending.refuse(t.passwordsDiffer);
    void sending.run(async () => {
      await post('/api/v1/auth/password', { currentPassword: current, newPassword: password });
      setCurrent('');
      setPassword('');
      setAgain('');
      setChanged(true);
    });
  };
  const fault = sending.code === 'invalid_credentials' ? text.wrong : sending.fault;
  return (
    <form onSubmit={submit} noValidate class="page-form">
      <p>{text.does}</p>
      <Fault text={fault} code={sending.code} testid="password-fault" />
      {isChanged && (
        <p class="note" role="status" data-testid="password-changed">
          {text.changed}
        </p>
      )}
      <Field id="password-current" label={text.current} type="password" autoComplete="current-password" value={current} onInput={setCurrent} />
      <Field
        id="password-new"
        label={t.newPassword}
        type="password"
        autoComplete="new-password"
        hint={t.passwordRule(config.value?.passwordMinLength ?? 0)}
        value={password}
        onInput={setPassword}
      />
      <Field id="password-again" label={t.repeatPassword} type="password" autoComplete="new-password" value={again} onInput={setAgain} />
      <button type="submit" class="button primary" disabled={sending.busy} data-testid="password-send">
        {sending.busy ? t.sending : t.changePassword}
      </button>
    </form>
  );
}
