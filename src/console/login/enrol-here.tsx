/**
 * An administrator makes the screen in front of him a panel (D-C-18): he signs in on it once, names it, and is signed out again. The session lives in this
 * form alone, without a cookie, so that nothing of him stays on the screen.
 */
import { useEffect, useState } from 'preact/hooks';
import { Administrator } from '../data/panel.js';
import type { AuthConfig, Session } from '../data/types.js';
import { Fault } from '../common/fault.js';
import { Field } from '../common/field.js';
import { t, words } from '../common/strings.js';
import { useSend } from '../common/use-send.js';
import { SignInForm } from './sign-in-form.js';

const text = words({
  en: {
    here: 'Enrol it here, as an administrator',
    once: 'Sign in once: you are signed out as soon as the screen is a panel.',
    name: 'Name of the panel',
    nameRule: 'Lower-case letters, digits and hyphens.',
    enrol: 'Make this screen a panel',
    noSite: 'There is no site yet that it could show.',
  },
  de: {
    here: 'Hier als Administrator einrichten',
    once: 'Melden Sie sich einmal an: Sie werden abgemeldet, sobald der Bildschirm ein Panel ist.',
    name: 'Name des Panels',
    nameRule: 'Kleinbuchstaben, Ziffern und Bindestriche.',
    enrol: 'Diesen Bildschirm zum Panel machen',
    noSite: 'Es gibt noch keinen Standort, den es zeigen könnte.',
  },
});

export interface EnrolHereProps {
  readonly config: AuthConfig;
  /** The one that the screen shows. */
  readonly code: string;
}

/** Whoever waits for the code to be taken goes on by itself when it was. */
export function EnrolHere({ config, code }: EnrolHereProps) {
  const [open, setOpen] = useState(false);
  const [administrator, setAdministrator] = useState<Administrator | null>(null);
  useEffect(() => () => void administrator?.leave(), [administrator]);
  if (!open)
    return (
      <button type="button" class="button" onClick={() => setOpen(true)} data-testid="enrol-here">
        {text.here}
      </button>
    );
  if (administrator) return <NameForm administrator={administrator} code={code} />;
  return (
    <>
      <p class="hint">{text.once}</p>
      <SignInForm config={config} ended="" signIn={Administrator.signIn} onSignedIn={(session: Session) => setAdministrator(new Administrator(session))} />
    </>
  );
}

function NameForm({ administrator, code }: { readonly administrator: Administrator; readonly code: string }) {
  const [sites, setSites] = useState<readonly string[] | null>(null);
  const [site, setSite] = useState('');
  const [name, setName] = useState('');
  const sending = useSend();
  useEffect(() => {
    void sending.run(async () => {
      const found = await administrator.sites();
      setSites(found);
      setSite(found[0] ?? '');
    });
  }, [administrator]);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (name.trim() === '' || site === '') return sending.refuse(t.fillIn);
    void sending.run(() => administrator.enrol({ code, name: name.trim(), site }));
  };
  return (
    <form onSubmit={submit} noValidate>
      <Fault text={sending.fault} code={sending.code} testid="enrol-error" />
      {sites?.length === 0 && <p class="warning">{text.noSite}</p>}
      <Field id="panel-name" label={text.name} value={name} onInput={setName} hint={text.nameRule} autoFocus />
      <div class="field">
        <label for="panel-site">{t.site}</label>
        <select id="panel-site" class="select" value={site} onChange={(event) => setSite(event.currentTarget.value)}>
          {sites?.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </div>
      <button type="submit" class="button primary" disabled={sending.busy} data-testid="panel-enrol">
        {sending.busy ? t.sending : text.enrol}
      </button>
    </form>
  );
}
