/** A mode is changed after a question: it decides who drives the equipment. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { MODES } from '../data/modules.js';
import { stale } from '../data/plant.js';
import { can } from '../data/session.js';
import type { Level, Mode } from '../data/types.js';
import { Dialog } from '../common/dialog.js';
import { Fault } from '../common/fault.js';
import { t, word } from '../common/strings.js';
import { useSend } from '../common/use-send.js';
import { linkWords } from './command-button.js';
import { levelsText } from './manual-levels.js';

export interface ModeChoiceProps {
  readonly title: string;
  readonly mode: Mode;
  readonly meanings: Readonly<Record<Mode, string>>;
  /** Of an element: the levels above it, which go to Manual with it and do not come back with it (decisions 3.7). */
  readonly above?: readonly Level[];
  /** A batch wants Automatic: another choice is abnormal. */
  readonly isDeparture?: boolean;
  /** What else is to be known before it is set. */
  readonly noteOf?: (mode: Mode) => ComponentChildren;
  /** @param also levels above that get the mode too. */
  readonly onSet: (mode: Mode, also: readonly Level[]) => Promise<void>;
}

const NONE: readonly Level[] = [];

export function ModeChoice({ title, mode, meanings, above = NONE, isDeparture = false, noteOf, onSet }: ModeChoiceProps) {
  const [asked, setAsked] = useState<Mode | null>(null);
  const sending = useSend();
  const manualAbove = above.filter((level) => level.mode === 'Manual');
  const follow = asked === 'Manual' ? above.filter((level) => level.mode !== 'Manual') : NONE;
  const back = asked === 'Automatic' ? manualAbove : NONE;
  const send = (also: readonly Level[]): void => {
    if (asked === null) return;
    void sending.run(async () => {
      await onSet(asked, also);
      setAsked(null);
    });
  };
  const confirm = (event: Event): void => {
    event.preventDefault();
    send(back);
  };
  return (
    <div class="chips mode-choice" role="group" aria-label={t.mode}>
      {MODES.map((each) => (
        <button
          type="button"
          class={isDeparture && each === 'Manual' && mode === each ? 'chip chip-departs' : 'chip'}
          key={each}
          aria-pressed={each === mode}
          // one that is in Automatic below levels in Manual is not done with them
          disabled={stale.value || !can('mode:set') || (each === mode && !(each === 'Automatic' && manualAbove.length > 0))}
          onClick={() => setAsked(each)}
          data-testid={`mode-${each}`}
        >
          {word(each)}
        </button>
      ))}
      {stale.value && (
        <p class="hint" data-testid="mode-no-link">
          {linkWords.noLink}
        </p>
      )}
      {asked && (
        <Dialog title={t.modeQuestion(title, word(asked))} testid="mode-dialog" onClose={() => setAsked(null)}>
          <form onSubmit={confirm} noValidate>
            <p>{meanings[asked]}</p>
            {noteOf?.(asked)}
            {follow.length > 0 && (
              <p class="note" data-testid="levels-follow">
                {t.levelsFollow(levelsText(follow))}
              </p>
            )}
            {asked !== 'Manual' && manualAbove.length > 0 && (
              <p class="warning" data-testid="levels-stand">
                {t.levelsStand(levelsText(manualAbove))}
              </p>
            )}
            <Fault text={sending.fault} code={sending.code} />
            <div class="dialog-actions">
              <button type="button" class="button" onClick={() => setAsked(null)}>
                {t.cancel}
              </button>
              {back.length > 0 && asked !== mode && (
                <button type="button" class="button" disabled={sending.busy || stale.value} onClick={() => send(NONE)} data-testid="mode-only">
                  {t.onlyThis}
                </button>
              )}
              <button type="submit" class="button primary" disabled={sending.busy || stale.value} data-testid="mode-send">
                {back.length > 0 ? t.withLevelsAbove : word(asked)}
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </div>
  );
}
