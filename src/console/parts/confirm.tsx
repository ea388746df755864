/** A question before something is changed: what it does, what it needs to know, and the refusal in words where it is refused. */
import type { ComponentChildren } from 'preact';
import { Dialog } from '../common/dialog.js';
import { Fault } from '../common/fault.js';
import { t } from '../common/strings.js';
import { useSend } from '../common/use-send.js';

export interface ConfirmProps {
  readonly title: string;
  /** What it does, in plain words. */
  readonly text?: ComponentChildren;
  /** On the button that does it. */
  readonly verb: string;
  readonly testid: string;
  readonly wide?: boolean;
  /** What is missing before it can be sent; '' when nothing is. */
  readonly judge?: () => string;
  readonly onSend: () => Promise<unknown>;
  /** Once it is done, in place of `onClose`. */
  readonly onSent?: () => void;
  readonly onClose: () => void;
  /** Fields that it asks for. */
  readonly children?: ComponentChildren;
}

export function Confirm({ title, text, verb, testid, wide = false, judge, onSend, onClose, onSent = onClose, children }: ConfirmProps) {
  const sending = useSend();
  const submit = (event: Event): void => {
    event.preventDefault();
    const missing = judge?.() ?? '';
    if (missing !== '') return sending.refuse(missing);
    void sending.run(async () => {
      await onSend();
      onSent();
    });
  };
  return (
    <Dialog title={title} testid={`${testid}-dialog`} wide={wide} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        {text !== undefined && <p>{text}</p>}
        <Fault text={sending.fault} code={sending.code} testid={`${testid}-fault`} />
        {children}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy} data-testid={`${testid}-send`}>
            {sending.busy ? t.sending : verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
