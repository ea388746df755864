/** Makes a passkey: its name, what the browser asks, and with the first second factor the recovery codes. */
import { useState } from 'preact/hooks';
import { ApiError, post } from '../data/api.js';
import type { NewPasskey, PasskeyCreation } from '../data/types.js';
import { Fault } from './fault.js';
import { Field } from './field.js';
import { makePasskey, passkeyWords as say } from './passkey.js';
import { RecoveryCodes } from './recovery-codes.js';
import { t } from './strings.js';
import { useSend } from './use-send.js';

export interface MakePasskeyProps {
  /** Proves who makes it. */
  readonly begin: () => Promise<PasskeyCreation>;
  /** The recovery codes are shown. */
  readonly onCodes?: () => void;
  readonly onDone: () => void;
}

export function MakePasskey({ begin, onCodes, onDone }: MakePasskeyProps) {
  const [name, setName] = useState('');
  const [begun, setBegun] = useState<PasskeyCreation | null>(null);
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[]>([]);
  const sending = useSend();
  const make = async (): Promise<void> => {
    const options = begun ?? (await begin());
    setBegun(options); // a proof is good once, and whoever cancels has not used it
    const credential = await makePasskey(options);
    try {
      const made = await post<NewPasskey>('/api/v1/auth/second-factor/passkeys', { name: name.trim(), credential });
      if (made.recoveryCodes === null) return onDone();
      setRecoveryCodes(made.recoveryCodes);
      onCodes?.();
    } catch (refused) {
      if (!(refused instanceof ApiError) || refused.code !== 'already_exists') setBegun(null);
      throw refused;
    }
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (name.trim() === '') return sending.refuse(t.fillIn);
    void sending.run(make);
  };
  if (recoveryCodes.length > 0) return <RecoveryCodes codes={recoveryCodes} onDone={onDone} />;
  return (
    <form onSubmit={submit} noValidate data-testid="make-passkey">
      <p class="hint">{say.makeText}</p>
      <Fault text={sending.fault} testid="login-error" />
      <Field id="passkey-name" label={say.name} value={name} onInput={setName} autoFocus />
      <button type="submit" class="button primary" disabled={sending.busy} data-testid="passkey-make">
        {sending.busy ? t.sending : say.make}
      </button>
    </form>
  );
}
