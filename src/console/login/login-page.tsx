/** The login page (decisions Q-AUTH-01, Q-AUTH-02, D-AUTH-01): which form is shown is what `auth/config` says of the box. */
import { useEffect, useState } from 'preact/hooks';
import { get } from '../data/api.js';
import { HMI, localTarget } from '../data/login-address.js';
import type { AuthConfig, Session } from '../data/types.js';
import { Fault } from '../common/fault.js';
import { faultText } from '../common/fault-text.js';
import { InClear } from '../common/in-clear.js';
import { LanguageChoice } from '../common/language-choice.js';
import { t } from '../common/strings.js';
import { Ended } from './ended.js';
import { EnrolForm } from './enrol-form.js';
import { FirstAdminForm } from './first-admin-form.js';
import { NewPasswordForm } from './new-password-form.js';
import { BackToWatching } from './back-to-watching.js';
import { PanelForm, panelWords } from './panel-form.js';
import { SignInForm } from './sign-in-form.js';

const RETRY_MS = 3000;

const query = new URLSearchParams(location.search);
const target = localTarget(query.get('redirect'), location.origin);

function goOn(): void {
  location.replace(target);
}

/** Who is signed in, and has something to do before he may go on. */
interface Due {
  readonly session: Session;
  readonly password: string;
}

export function LoginPage() {
  const [config, setConfig] = useState<AuthConfig | null>(null);
  const [fault, setFault] = useState('');
  const [due, setDue] = useState<Due | null>(null);
  const [ended, setEnded] = useState(query.get('ended') ?? '');

  const load = async (): Promise<void> => {
    try {
      const found = await get<AuthConfig>('/api/v1/auth/config');
      setFault('');
      setConfig(found);
      if (found.authMode === 'none') goOn();
    } catch (refused) {
      setFault(faultText(refused));
      window.setTimeout(() => void load(), RETRY_MS);
    }
  };
  useEffect(() => void load(), []);

  const signedIn = (session: Session, password: string): void => {
    if (session.user.mustChangePassword || session.user.mustEnrolSecondFactor) setDue({ session, password });
    else goOn();
  };
  const endedHere = (why: string): void => {
    setDue(null);
    setEnded((before) => (due === null ? before : why)); // the first reason counts
  };

  return (
    <main class="login">
      <div class="login-card" data-testid="login-card">
        <header>
          <h1>{t.product}</h1>
          <p>{t.operatorConsole}</p>
        </header>
        <InClear />
        <Fault text={fault} testid="login-error" />
        {config && <Body config={config} due={due} ended={endedText(ended)} onEnded={endedHere} onSignedIn={signedIn} onCreated={() => void load()} />}
        {config && config.authMode !== 'none' && !config.firstAdminRequired && !query.has('panel') && (
          <>
            <BackToWatching onBack={goOn} />
            <a class="to-documents" href="/login?panel" data-testid="to-panel">
              {panelWords().title}
            </a>
          </>
        )}
        <a class="to-documents" href="/docs" data-testid="documents">
          {t.documents}
        </a>
        <LanguageChoice />
      </div>
    </main>
  );
}

interface BodyProps {
  readonly config: AuthConfig;
  readonly due: Due | null;
  readonly ended: string;
  readonly onEnded: (why: string) => void;
  readonly onSignedIn: (session: Session, password: string) => void;
  readonly onCreated: () => void;
}

function Body({ config, due, ended, onEnded, onSignedIn, onCreated }: BodyProps) {
  if (config.authMode === 'none') return <p class="warning">{t.authOff}</p>;
  if (due && !due.session.user.mustChangePassword) return <EnrolForm config={config} session={due.session} password={due.password} onDone={goOn} onEnded={onEnded} />;
  if (due)
    return (
      <NewPasswordForm
        session={due.session}
        current={due.password}
        lengthMin={config.passwordMinLength}
        onChanged={(password) => onSignedIn(passwordChanged(due.session), password)}
        onEnded={onEnded}
      />
    );
  if (config.firstAdminRequired) return <FirstAdminForm lengthMin={config.passwordMinLength} onSignedIn={onSignedIn} onCreated={onCreated} />;
  if (query.has('panel')) return <PanelForm config={config} onEnrolled={() => location.replace(HMI)} />;
  if (config.oidc) return <IssuerLink path={config.oidc.loginPath} ended={ended} again={query.get('ended') === 'logout'} />;
  return <SignInForm config={config} ended={ended} onSignedIn={onSignedIn} />;
}

function passwordChanged(session: Session): Session {
  return { ...session, user: { ...session.user, mustChangePassword: false } };
}

/** @param again who left the panel shall not be signed in by the next one who touches it: the provider is asked to ask. */
function IssuerLink({ path, ended, again }: { readonly path: string; readonly ended: string; readonly again: boolean }) {
  const address = `${path}?${new URLSearchParams({ redirect: target, ...(again ? { reauthenticate: 'true' } : {}) })}`;
  return (
    <>
      <Ended text={ended} />
      <a class="button primary" href={address} data-testid="login-oidc">
        {t.signInAtIssuer}
      </a>
    </>
  );
}

function endedText(ended: string): string {
  if (ended === '') return '';
  return (Object.hasOwn(t.endedReasons, ended) ? t.endedReasons[ended] : t.endedReasons.session) ?? '';
}
