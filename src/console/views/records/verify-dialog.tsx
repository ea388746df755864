/** What verifying a signature comes to: each check in the words of the gateway. */
import { useEffect, useState } from 'preact/hooks';
import { verifySignature } from '../../data/records.js';
import type { SignatureVerification } from '../../data/types.js';
import { Dialog } from '../../common/dialog.js';
import { FactList } from '../../common/fact-list.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { meaningText, t, words } from '../../common/strings.js';
import { fullMomentText } from '../../common/text.js';

const text = words({
  en: {
    title: 'Verification of a signature',
    genuine: 'The signature is genuine.',
    stands: { Valid: 'It stands.', Withdrawn: 'It was withdrawn.', Superseded: 'It was superseded.', Broken: '' },
    broken: 'The signature is not genuine.',
    holds: { true: 'holds', false: 'does not hold', null: 'cannot be judged' },
    at: 'Verified',
  },
  de: {
    title: 'Prüfung einer Unterschrift',
    genuine: 'Die Unterschrift ist echt.',
    stands: { Valid: 'Sie gilt.', Withdrawn: 'Sie wurde zurückgezogen.', Superseded: 'Sie ist überholt.', Broken: '' },
    broken: 'Die Unterschrift ist nicht echt.',
    holds: { true: 'trifft zu', false: 'trifft nicht zu', null: 'nicht zu beurteilen' },
    at: 'Geprüft',
  },
});

export function VerifyDialog({ signature, onClose }: { readonly signature: string; readonly onClose: () => void }) {
  const [found, setFound] = useState<SignatureVerification | null>(null);
  const [fault, setFault] = useState('');
  useEffect(() => {
    verifySignature(signature).then(setFound, (refused: unknown) => setFault(faultText(refused)));
  }, [signature]);
  return (
    <Dialog title={text.title} testid="verify-dialog" wide reads onClose={onClose}>
      <div class="stack">
        <ReadFault text={fault} />
        {!found && fault === '' && <p role="status">{t.reading}</p>}
        {found && <Verdict found={found} />}
        <div class="dialog-actions">
          <button type="button" class="button primary" onClick={onClose} data-testid="verify-close">
            {t.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function Verdict({ found: { valid, state, why, meaning, reason, signedBy, signedAt, checkedAt, checks } }: { readonly found: SignatureVerification }) {
  return (
    <>
      <p class={valid ? 'note' : 'fault'} role="status" data-testid="verify-verdict" data-valid={String(valid)}>
        {valid ? `${text.genuine} ${text.stands[state]}` : text.broken} {why}
      </p>
      <FactList
        facts={[
          [t.meaning, meaningText(meaning)],
          [t.who, `${signedBy.displayName} (${signedBy.accountId})`],
          [t.time, fullMomentText(signedAt)],
          [t.reason, reason],
          [text.at, fullMomentText(checkedAt)],
        ]}
      />
      <ul class="checks" data-testid="verify-checks">
        {checks.map(({ check, ok, message }) => (
          <li key={check} data-ok={String(ok)}>
            <strong>
              <span aria-hidden="true">{ok === null ? '–' : ok ? '✓' : '✕'}</span> {text.holds[`${ok}`]}
            </strong>{' '}
            {message}
          </li>
        ))}
      </ul>
    </>
  );
}
