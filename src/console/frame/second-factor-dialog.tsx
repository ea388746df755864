/**
 * A person's own second factor: his passkeys, an authenticator app, or one for a new phone. He chooses what to do, proves who he is, and does it.
 * Where there is but one thing to do, nobody is asked.
 */
import { useEffect, useState } from 'preact/hooks';
import { CodeField } from '../common/code-field.js';
import { Dialog } from '../common/dialog.js';
import { type BegunFactor, EnrolFactor, FACTOR } from '../common/enrol-factor.js';
import { Fault } from '../common/fault.js';
import { Field } from '../common/field.js';
import { MakePasskey } from '../common/make-passkey.js';
import { codeGiven, ownProof, passkeyWords as say, whyNoPasskeys, withPasskey } from '../common/passkey.js';
import { t } from '../common/strings.js';
import { useSend } from '../common/use-send.js';
import { get, post } from '../data/api.js';
import { config, renew } from '../data/session.js';
import type { OwnSecondFactor, PasskeyCreation, Second } from '../data/types.js';

type Passkey = OwnSecondFactor['passkeys'][number];

type Wish = { readonly what: 'app' } | { readonly what: 'make' } | { readonly what: 'remove'; readonly passkey: Passkey };

/** What was begun with a proof. */
type Begun = { readonly app: BegunFactor } | { readonly creation: PasskeyCreation };

export function SecondFactorDialog({ onClose }: { readonly onClose: () => void }) {
  const [own, setOwn] = useState<OwnSecondFactor | null>(null);
  const [wish, setWish] = useState<Wish | null>(null);
  const [begun, setBegun] = useState<Begun | null>(null);
  const [showsCodes, setShowsCodes] = useState(false);
  const loading = useSend();
  const load = (): void => void loading.run(async () => setOwn(await get<OwnSecondFactor>(FACTOR)));
  useEffect(load, []);
  const whyNot = whyNoPasskeys(config.value);
  const hasChoice = own !== null && (whyNot === '' || own.passkeys.length > 0);
  const chosen: Wish | null = wish ?? (own && !hasChoice ? { what: 'app' } : null);
  const done = (): void => void renew().finally(onClose); // the page knows of it from then on
  const removed = (): void => {
    setWish(null);
    load();
  };
  return (
    <Dialog title={t.secondFactor} testid="factor-dialog" stays={showsCodes} onClose={onClose}>
      <Fault text={loading.fault} testid="factor-error" />
      {begun && 'app' in begun && <EnrolFactor begin={() => Promise.resolve(begun.app)} onCodes={() => setShowsCodes(true)} onDone={done} />}
      {begun && 'creation' in begun && <MakePasskey begin={() => Promise.resolve(begun.creation)} onCodes={() => setShowsCodes(true)} onDone={done} />}
      {begun && !showsCodes && (
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.cancel}
          </button>
        </div>
      )}
      {!begun && own && !chosen && <Choice own={own} whyNot={whyNot} onWish={setWish} onClose={onClose} />}
      {!begun && own && chosen && <Proof own={own} wish={chosen} whyNot={whyNot} onBegun={setBegun} onRemoved={removed} onClose={onClose} />}
    </Dialog>
  );
}

interface ChoiceProps {
  readonly own: OwnSecondFactor;
  readonly whyNot: string;
  readonly onWish: (wish: Wish) => void;
  readonly onClose: () => void;
}

function Choice({ own, whyNot, onWish, onClose }: ChoiceProps) {
  return (
    <div class="stack">
      <p class="hint">{say.choose}</p>
      {own.enrolled && (
        <p data-testid="factor-state">
          {own.app && `${say.hasApp} `}
          {say.codesLeft(own.recoveryCodesLeft)}
        </p>
      )}
      {own.passkeys.length > 0 && <Own passkeys={own.passkeys} onRemove={(passkey) => onWish({ what: 'remove', passkey })} />}
      {whyNot === '' ? (
        <button type="button" class="button primary" onClick={() => onWish({ what: 'make' })} data-testid="add-passkey">
          {say.make}
        </button>
      ) : (
        <p class="hint" data-testid="no-passkeys">
          {whyNot}
        </p>
      )}
      <button type="button" class="button" onClick={() => onWish({ what: 'app' })} data-testid="set-up-app">
        {own.app ? say.otherApp : say.newApp}
      </button>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          {t.close}
        </button>
      </div>
    </div>
  );
}

function Own({ passkeys, onRemove }: { readonly passkeys: readonly Passkey[]; readonly onRemove: (passkey: Passkey) => void }) {
  return (
    <ul class="passkeys" aria-label={say.passkeys} data-testid="passkeys">
      {passkeys.map((passkey) => (
        <li key={passkey.id} data-testid={`passkey-${passkey.name}`}>
          <span>
            <strong>{passkey.name}</strong>
            <br />
            <span class="hint">{usedText(passkey)}</span>
          </span>
          <button type="button" class="button" aria-label={`${say.remove}: ${passkey.name}`} onClick={() => onRemove(passkey)} data-testid="passkey-remove">
            {say.remove}
          </button>
        </li>
      ))}
    </ul>
  );
}

function usedText({ usable, rpID, lastUsedAt }: Passkey): string {
  if (!usable) return say.foreign(rpID);
  return lastUsedAt === null ? say.unused : say.usedLast(new Date(lastUsedAt).toLocaleString());
}

interface ProofProps {
  readonly own: OwnSecondFactor;
  readonly wish: Wish;
  readonly whyNot: string;
  readonly onBegun: (begun: Begun) => void;
  readonly onRemoved: () => void;
  readonly onClose: () => void;
}

/** The password, and the factor that is there already. */
function Proof({ own, wish, whyNot, onBegun, onRemoved, onClose }: ProofProps) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const sending = useSend();
  const isNew = !own.enrolled;
  const hasPasskey = whyNot === '' && own.passkeys.some(({ usable }) => usable);
  const send = async (second: Second): Promise<void> => {
    const proof = { password, ...second };
    if (wish.what === 'app') return onBegun({ app: await post<BegunFactor>(FACTOR, proof) });
    if (wish.what === 'make') return onBegun({ creation: await post<PasskeyCreation>(`${FACTOR}/passkeys/begin`, proof) });
    await post(`${FACTOR}/passkeys/${encodeURIComponent(wish.passkey.id)}/remove`, proof);
    onRemoved();
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (password === '' || (!isNew && code.trim() === '')) return sending.refuse(t.fillIn);
    void sending.run(() => ownProof(!isNew, () => send(codeGiven(code))));
  };
  const usePasskey = (): void => (password === '' ? sending.refuse(t.fillIn) : void sending.run(() => ownProof(true, () => withPasskey(send))));
  return (
    <form onSubmit={submit} noValidate>
      <p class="hint">{proofText(wish, own)}</p>
      <Fault text={sending.fault} testid="factor-error" />
      <Field id="factor-password" label={t.password} type="password" autoComplete="current-password" value={password} onInput={setPassword} autoFocus />
      {!isNew && <CodeField id="factor-code" hasApp={own.app} value={code} onInput={setCode} />}
      {wish.what === 'app' && own.passkeys.length === 0 && whyNot !== '' && (
        <p class="hint" data-testid="no-passkeys">
          {whyNot}
        </p>
      )}
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          {t.cancel}
        </button>
        {hasPasskey && (
          <button type="button" class="button primary" disabled={sending.busy} onClick={usePasskey} data-testid="factor-passkey">
            {say.use}
          </button>
        )}
        <button type="submit" class={hasPasskey ? 'button' : 'button primary'} disabled={sending.busy} data-testid="factor-begin">
          {t.next}
        </button>
      </div>
    </form>
  );
}

function proofText(wish: Wish, { app, enrolled }: OwnSecondFactor): string {
  if (wish.what === 'remove') return say.removeText(wish.passkey.name);
  if (wish.what === 'make') return say.proof;
  return app ? t.factorReplaced : enrolled ? say.proof : t.factorText;
}
