/** A role that requires a second factor opens nothing but this form to who has none. */
import { useEffect, useState } from 'preact/hooks';
import { type BegunFactor, EnrolFactor, FACTOR } from '../common/enrol-factor.js';
import { MakePasskey } from '../common/make-passkey.js';
import { passkeyWords as say, whyNoPasskeys } from '../common/passkey.js';
import { t } from '../common/strings.js';
import { post } from '../data/api.js';
import type { AuthConfig, PasskeyCreation, Session } from '../data/types.js';
import { keepSignedIn } from './sign-in.js';

export interface EnrolFormProps {
  readonly config: AuthConfig;
  readonly session: Session;
  readonly password: string;
  readonly onDone: () => void;
  readonly onEnded: (why: string) => void;
}

export function EnrolForm({ config, session, password, onDone, onEnded }: EnrolFormProps) {
  const whyNot = whyNoPasskeys(config);
  const [way, setWay] = useState(whyNot === '' ? '' : 'app');
  useEffect(() => keepSignedIn(session, onEnded), [session]);
  return (
    <>
      <h2>{t.secondFactor}</h2>
      <p class="note">{t.factorRequired}</p>
      {way === '' && (
        <div class="stack">
          <p class="hint">{say.choose}</p>
          <button type="button" class="button primary" onClick={() => setWay('app')} data-testid="choose-app">
            {say.app}
          </button>
          <button type="button" class="button primary" onClick={() => setWay('passkey')} data-testid="choose-passkey">
            {say.passkey}
          </button>
        </div>
      )}
      {way === 'app' && <EnrolFactor begin={() => post<BegunFactor>(FACTOR, { password })} onDone={onDone} />}
      {way === 'passkey' && <MakePasskey begin={() => post<PasskeyCreation>(`${FACTOR}/passkeys/begin`, { password })} onDone={onDone} />}
      {whyNot !== '' && (
        <p class="hint" data-testid="no-passkeys">
          {whyNot}
        </p>
      )}
    </>
  );
}
