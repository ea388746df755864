/** A person sets up a second factor of his own, or one for a new phone: he proves who he is, then the app and the box share a secret. */
import { useState } from 'preact/hooks';
import { Dialog } from '../common/dialog.js';
import { EnrolFactor } from '../common/enrol-factor.js';
import { Fault } from '../common/fault.js';
import { Field } from '../common/field.js';
import { t } from '../common/strings.js';
import { useSend } from '../common/use-send.js';
import { me, renew } from '../data/session.js';

export function SecondFactorDialog({ onClose }: { readonly onClose: () => void }) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [proof, setProof] = useState<{ readonly password: string; readonly code: string } | null>(null);
  const sending = useSend();
  const replaces = me.value?.secondFactor === true;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (password === '' || (replaces && code.trim() === '')) return sending.refuse(t.fillIn);
    setProof({ password, code: code.trim() });
  };
  const done = (): void => {
    void renew().finally(onClose); // the page knows of it from then on
  };
  return (
    <Dialog title={t.secondFactor} testid="factor-dialog" onClose={onClose}>
      {proof ? (
        <EnrolFactor {...proof} onDone={done} />
      ) : (
        <form onSubmit={submit} noValidate>
          <p class="hint">{replaces ? t.factorReplaced : t.factorText}</p>
          <Fault text={sending.fault} testid="factor-error" />
          <Field id="factor-password" label={t.password} type="password" autoComplete="current-password" value={password} onInput={setPassword} autoFocus />
          {replaces && <Field id="factor-code" label={t.secondCode} autoComplete="one-time-code" hint={t.secondCodeRule} mono value={code} onInput={setCode} />}
          <div class="dialog-actions">
            <button type="button" class="button" onClick={onClose}>
              {t.cancel}
            </button>
            <button type="submit" class="button primary" data-testid="factor-begin">
              {t.next}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
