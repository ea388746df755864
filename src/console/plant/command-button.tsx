/** A button that sends something to the plant. While no live data comes it is grey and says why: nobody commands what he cannot see. */
import type { ComponentChildren } from 'preact';
import { stale } from '../data/plant.js';
import { words } from '../common/strings.js';
import { GreyButton, type Missing } from '../parts/grey-button.js';

export const linkWords = words({
  en: { noLink: 'No live data: commands wait for the link' },
  de: { noLink: 'Keine aktuellen Daten: Befehle warten auf die Verbindung' },
});

interface CommandButtonProps {
  /** What it does, in a word. */
  readonly name: string;
  /** What else is missing; the link is seen to here. */
  readonly missing?: readonly Missing[];
  /** It may not be touched, and a text beside it says why. */
  readonly disabled?: boolean;
  readonly look?: 'button' | 'button primary';
  readonly describedBy?: string;
  readonly testid: string;
  readonly onClick: () => void;
  readonly children?: ComponentChildren;
}

const NONE: readonly Missing[] = [];

export function CommandButton({ name, missing = NONE, disabled = false, look = 'button', describedBy, testid, onClick, children }: CommandButtonProps) {
  const all = stale.value ? [{ text: linkWords.noLink }, ...missing] : missing;
  if (all.length > 0 && !disabled) return <GreyButton name={name} missing={all} testid={testid} />;
  return (
    <button type="button" class={look} disabled={disabled} aria-describedby={describedBy} onClick={onClick} data-testid={testid}>
      {children ?? name}
    </button>
  );
}
