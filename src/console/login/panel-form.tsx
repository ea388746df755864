/** Makes this screen a panel (D-C-18): it shows a code until an administrator has entered it, and watches from then on. */
import { useEffect, useState } from 'preact/hooks';
import { isPanel, panelSession, showCode } from '../data/panel.js';
import type { AuthConfig } from '../data/types.js';
import { Fault } from '../common/fault.js';
import { faultText } from '../common/fault-text.js';
import { words } from '../common/strings.js';
import { EnrolHere } from './enrol-here.js';

const LOOK_MS = 3000;

export const panelWords = () => ({
  title: words({ en: 'Use this screen as a panel', de: 'Diesen Bildschirm als Panel verwenden' }),
  text: words({
    en: 'A panel shows its site while nobody is signed in. An administrator enters this code on another screen, in the menu under Panels.',
    de: 'Ein Panel zeigt seinen Standort, während niemand angemeldet ist. Ein Administrator gibt diesen Code an einem anderen Bildschirm ein, im Menü unter Panels.',
  }),
  insecure: words({
    en: 'A panel is enrolled over TLS, or at the box itself (http://localhost): over plain HTTP from another host a browser keeps no device key.',
    de: 'Ein Panel wird über TLS eingerichtet, oder an der Box selbst (http://localhost): über einfaches HTTP von einem anderen Rechner behält ein Browser keinen Geräteschlüssel.',
  }),
  waiting: words({ en: 'Waiting for the administrator …', de: 'Warten auf den Administrator …' }),
  cancel: words({ en: 'Back to sign-in', de: 'Zurück zur Anmeldung' }),
});

export interface PanelFormProps {
  readonly config: AuthConfig;
  readonly onEnrolled: () => void;
}

export function PanelForm({ config, onEnrolled }: PanelFormProps) {
  const say = panelWords();
  const [code, setCode] = useState('');
  const [fault, setFault] = useState('');
  useEffect(() => {
    if (!isSecureContext) return;
    return waitForEnrolment(setCode, setFault, onEnrolled);
  }, []);
  return (
    <section data-testid="panel-form">
      <h2>{say.title}</h2>
      {!isSecureContext ? (
        <p class="warning" role="alert" data-testid="panel-insecure">
          {say.insecure}
        </p>
      ) : (
        <>
          <p class="hint">{say.text}</p>
          <Fault text={fault} testid="panel-error" />
          <p class="panel-code mono" role="status" data-testid="panel-code">
            {code === '' ? '…' : code}
          </p>
          <p class="hint">{say.waiting}</p>
          {config.authMode === 'local' && code !== '' && <EnrolHere config={config} code={code} />}
        </>
      )}
      <a class="button" href="/login" data-testid="panel-cancel">
        {say.cancel}
      </a>
    </section>
  );
}

/** A screen that is enrolled goes on at once, so that a panel may always start here. Else it shows one code after the other, and looks every few seconds whether somebody has taken it. @returns what ends it. */
function waitForEnrolment(onCode: (code: string) => void, onFault: (text: string) => void, onEnrolled: () => void): () => void {
  let timer = 0;
  let endsMonoMs = 0;
  let over = false;
  const look = async (): Promise<void> => {
    try {
      if ((endsMonoMs > 0 || (await isPanel())) && (await panelSession())) return over ? undefined : onEnrolled();
      if (performance.now() >= endsMonoMs) {
        const { code, validForSeconds } = await showCode();
        endsMonoMs = performance.now() + validForSeconds * 1000;
        onCode(code);
      }
      onFault('');
    } catch (refused) {
      onFault(faultText(refused));
    }
    if (!over) timer = window.setTimeout(() => void look(), LOOK_MS);
  };
  void look();
  return () => {
    over = true;
    clearTimeout(timer);
  };
}
