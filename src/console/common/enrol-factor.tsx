/**
 * Sets up a second factor: a secret for an authenticator app, its first code, and the recovery codes, which are shown this once. The secret stands
 * in this page only, for as long as it is open.
 */
import { useEffect, useState } from 'preact/hooks';
import { post } from '../data/api.js';
import { Fault } from './fault.js';
import { Field } from './field.js';
import { Qr } from './qr.js';
import { RecoveryCodes } from './recovery-codes.js';
import { t } from './strings.js';
import { useSend } from './use-send.js';

export interface EnrolFactorProps {
  /** Proves who sets it up. */
  readonly begin: () => Promise<BegunFactor>;
  /** The recovery codes are shown. */
  readonly onCodes?: () => void;
  readonly onDone: () => void;
}

export interface BegunFactor {
  readonly secret: string;
  readonly uri: string;
}

export const FACTOR = '/api/v1/auth/second-factor';

export function EnrolFactor({ begin: prove, onCodes, onDone }: EnrolFactorProps) {
  const [begun, setBegun] = useState<BegunFactor | null>(null);
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[]>([]);
  const [first, setFirst] = useState('');
  const sending = useSend();
  const begin = (): void => void sending.run(async () => setBegun(await prove()));
  useEffect(begin, []);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (begun === null) return begin();
    if (first.trim() === '') return sending.refuse(t.fillIn);
    void sending.run(async () => {
      setRecoveryCodes((await post<{ readonly recoveryCodes: readonly string[] }>(`${FACTOR}/confirm`, { code: first })).recoveryCodes);
      onCodes?.();
    });
  };
  if (recoveryCodes.length > 0) return <RecoveryCodes codes={recoveryCodes} onDone={onDone} />;
  return (
    <form onSubmit={submit} noValidate data-testid="enrol-factor">
      <p class="hint">{t.enrolText}</p>
      <Fault text={sending.fault} testid="login-error" />
      {begun && (
        <>
          <Qr text={begun.uri} label={t.secondFactor} />
          <p class="mono" data-testid="factor-secret">
            {grouped(begun.secret)}
          </p>
          <a href={begun.uri} data-testid="factor-uri">
            {t.openInApp}
          </a>
          <Field id="first-code" label={t.firstCode} value={first} onInput={setFirst} autoComplete="one-time-code" mono autoFocus />
        </>
      )}
      <button type="submit" class="button primary" disabled={sending.busy} data-testid="enrol-submit">
        {sending.busy ? t.sending : begun === null ? t.tryAgain : t.confirmFactor}
      </button>
    </form>
  );
}

function grouped(secret: string): string {
  return (secret.match(/.{1,4}/g) ?? []).join(' ');
}
