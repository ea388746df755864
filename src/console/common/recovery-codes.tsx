/** Recovery codes, which are shown this once. */
import { t } from './strings.js';

export function RecoveryCodes({ codes, onDone }: { readonly codes: readonly string[]; readonly onDone: () => void }) {
  return (
    <div class="stack">
      <h2>{t.recoveryCodes}</h2>
      <p class="hint">{t.recoveryCodesText}</p>
      <ul class="mono" data-testid="recovery-codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <button type="button" class="button primary" onClick={onDone} data-testid="recovery-codes-kept">
        {t.codesKept}
      </button>
    </div>
  );
}
