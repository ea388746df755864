/** On a panel the login page is no place to stay: nobody sees an alarm there. Who goes away leaves it to the panel. */
import { useEffect, useState } from 'preact/hooks';
import { useCredential } from '../data/api.js';
import { isPanel, panelSession } from '../data/panel.js';
import { words } from '../common/strings.js';

const LEFT_ALONE_MS = 60_000;

export function BackToWatching({ onBack }: { readonly onBack: () => void }) {
  const [panel, setPanel] = useState(false);
  useEffect(() => {
    void isPanel().then((found) => {
      setPanel(found);
      if (found) void signInAtPanel();
    });
  }, []);
  useEffect(() => (panel ? whenLeftAlone(onBack) : undefined), [panel]);
  if (!panel) return null;
  return (
    <button type="button" class="button" onClick={onBack} data-testid="back-to-watching">
      {words({ en: 'Back to watching', de: 'Zurück zum Zusehen' })}
    </button>
  );
}

/** A sign-in here counts among those of the panel, not of everybody behind its address (D-C-21). */
async function signInAtPanel(): Promise<void> {
  const session = await panelSession().catch(() => undefined);
  if (session) useCredential({ token: () => session.accessToken, renew: () => Promise.resolve(false) });
}

function whenLeftAlone(call: () => void): () => void {
  let timer = window.setTimeout(call, LEFT_ALONE_MS);
  const touched = (): void => {
    clearTimeout(timer);
    timer = window.setTimeout(call, LEFT_ALONE_MS);
  };
  const SIGNS = ['keydown', 'pointerdown'] as const;
  for (const sign of SIGNS) document.addEventListener(sign, touched);
  return () => {
    clearTimeout(timer);
    for (const sign of SIGNS) document.removeEventListener(sign, touched);
  };
}
