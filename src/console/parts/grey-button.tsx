/**
 * A button that is not possible now. It stays in the focus order and wears the number of what is missing; a touch says what that is, with the way to
 * each. The browser's own popover lies above everything, closes on Escape and comes next in the order of the keys.
 */
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { words } from '../common/strings.js';
import './grey-button.css';

export interface Missing {
  readonly text: string;
  /** The way to it, and what that is called. */
  readonly href?: string;
  readonly way?: string;
}

interface GreyButtonProps {
  /** What it would do, in a word: `Restart`. */
  readonly name: string;
  readonly missing: readonly Missing[];
  /** Further offers, as to tell when it becomes possible. */
  readonly children?: ComponentChildren;
  readonly testid?: string;
}

const said = words({
  en: { missing: (count: number) => `${count} missing`, title: (name: string) => `${name} is not possible now` },
  de: { missing: (count: number) => `${count} offen`, title: (name: string) => `${name} ist jetzt nicht möglich` },
});

const GAP_PX = 8;

export function GreyButton({ name, missing, children, testid }: GreyButtonProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const place = (event: Pick<ToggleEvent, 'currentTarget' | 'newState'>): void => {
    const popover = event.currentTarget as HTMLElement;
    const from = button.current?.getBoundingClientRect();
    if (event.newState !== 'open' || !from) return;
    const { width, height } = popover.getBoundingClientRect();
    const above = from.top - height - GAP_PX;
    popover.style.left = `${Math.max(GAP_PX, Math.min(from.left, innerWidth - width - GAP_PX))}px`;
    popover.style.top = `${above >= 0 ? above : from.bottom + GAP_PX}px`;
  };
  return (
    <>
      <button
        type="button"
        class="button button-grey"
        aria-disabled="true"
        aria-label={`${name}, ${said.missing(missing.length)}`}
        popoverTarget={id}
        ref={button}
        data-testid={testid}
      >
        {name}
        <span class="grey-count">{missing.length}</span>
      </button>
      <div class="grey-why" id={id} popover="auto" role="group" aria-label={said.title(name)} onToggle={place} data-testid={testid === undefined ? undefined : `${testid}-why`}>
        <strong>{said.title(name)}</strong>
        <ul>
          {missing.map(({ text, href, way }) => (
            <li key={text}>
              <span>{text}</span>
              {href !== undefined && (
                <a class="grey-way" href={href}>
                  {way ?? text}
                </a>
              )}
            </li>
          ))}
        </ul>
        {children}
      </div>
    </>
  );
}
