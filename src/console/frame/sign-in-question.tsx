/** What a panel says when somebody touches a button that changes something (D-C-18). */
import { toLogin } from '../data/login-address.js';
import { signInAsked, watching } from '../data/watching.js';
import { Dialog } from '../common/dialog.js';
import { t, words } from '../common/strings.js';

export function SignInQuestion() {
  if (!watching.value || !signInAsked.value) return null;
  const close = (): void => {
    signInAsked.value = false;
  };
  return (
    <Dialog title={words({ en: 'Sign in first', de: 'Bitte zuerst anmelden' })} testid="sign-in-question" reads onClose={close}>
      <p>{words({ en: 'This panel only watches. Sign in to operate.', de: 'Dieses Panel sieht nur zu. Zum Bedienen bitte anmelden.' })}</p>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={close}>
          {t.cancel}
        </button>
        <button type="button" class="button primary" onClick={() => toLogin('')} data-testid="sign-in-now">
          {t.signIn}
        </button>
      </div>
    </Dialog>
  );
}

/** In the header, in place of a person. */
export function PanelSignIn() {
  if (!watching.value) return null;
  return (
    <button type="button" class="button primary" onClick={() => toLogin('')} data-testid="panel-sign-in">
      {t.signIn}
    </button>
  );
}
