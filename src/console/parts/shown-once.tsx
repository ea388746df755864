/** A secret that is shown this once: to be copied, or written down, before the dialog is closed. */
import { useState } from 'preact/hooks';
import { Dialog } from '../common/dialog.js';
import { t, words } from '../common/strings.js';

const text = words({
  en: { copy: 'Copy', copied: 'Copied.', byHand: 'Mark it and copy it by hand: this page is not encrypted, and the browser copies nothing from it.' },
  de: { copy: 'Kopieren', copied: 'Kopiert.', byHand: 'Bitte markieren und von Hand kopieren: diese Seite ist nicht verschlüsselt, und der Browser kopiert nichts daraus.' },
});

export interface ShownOnceProps {
  readonly title: string;
  /** What it is good for, and that it is not shown again. */
  readonly hint: string;
  readonly secret: string;
  readonly testid: string;
  readonly onClose: () => void;
}

export function ShownOnce({ title, hint, secret, testid, onClose }: ShownOnceProps) {
  const [said, setSaid] = useState('');
  const copy = (): void => {
    if (!isSecureContext) return setSaid(text.byHand);
    navigator.clipboard.writeText(secret).then(
      () => setSaid(text.copied),
      () => setSaid(text.byHand),
    );
  };
  return (
    <Dialog title={title} testid={`${testid}-dialog`} stays onClose={onClose}>
      <div class="stack">
        <p>{hint}</p>
        <p class="note mono secret" data-testid={testid}>
          {secret}
        </p>
        <p class="hint" role="status">
          {said}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={copy} data-testid={`${testid}-copy`}>
            {text.copy}
          </button>
          <button type="button" class="button primary" onClick={onClose} data-testid={`${testid}-close`}>
            {t.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
