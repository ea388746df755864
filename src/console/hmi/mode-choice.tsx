/** A mode is changed after a question: it decides who drives the equipment. */
import { useState } from 'preact/hooks';
import { MODES } from '../data/modules.js';
import { can } from '../data/session.js';
import type { Mode } from '../data/types.js';
import { Dialog } from '../common/dialog.js';
import { Fault } from '../common/fault.js';
import { t, word } from '../common/strings.js';
import { useSend } from '../common/use-send.js';

export interface ModeChoiceProps {
  readonly title: string;
  readonly mode: Mode;
  readonly meanings: Readonly<Record<Mode, string>>;
  readonly onSet: (mode: Mode) => Promise<void>;
}

export function ModeChoice({ title, mode, meanings, onSet }: ModeChoiceProps) {
  const [asked, setAsked] = useState<Mode | null>(null);
  const sending = useSend();
  const confirm = (event: Event): void => {
    event.preventDefault();
    if (asked === null) return;
    void sending.run(async () => {
      await onSet(asked);
      setAsked(null);
    });
  };
  return (
    <div class="chips mode-choice" role="group" aria-label={t.mode}>
      {MODES.map((each) => (
        <button
          type="button"
          class="chip"
          key={each}
          aria-pressed={each === mode}
          disabled={!can('mode:set') || each === mode}
          onClick={() => setAsked(each)}
          data-testid={`mode-${each}`}
        >
          {word(each)}
        </button>
      ))}
      {asked && (
        <Dialog title={t.modeQuestion(title, word(asked))} testid="mode-dialog" onClose={() => setAsked(null)}>
          <form onSubmit={confirm} noValidate>
            <p>{meanings[asked]}</p>
            <Fault text={sending.fault} code={sending.code} />
            <div class="dialog-actions">
              <button type="button" class="button" onClick={() => setAsked(null)}>
                {t.cancel}
              </button>
              <button type="submit" class="button primary" disabled={sending.busy} data-testid="mode-send">
                {word(asked)}
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </div>
  );
}
