/** Parts of one thing, one at a time (ARIA tabs): the arrow keys go from one to the next and show it. */
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import './tabs.css';

interface TabsProps<Name extends string> {
  readonly label: string;
  readonly chosen: Name;
  readonly tabs: readonly (readonly [Name, string])[];
  readonly onChoose: (name: Name) => void;
  readonly testid: string;
  readonly children: ComponentChildren;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

export function Tabs<Name extends string>({ label, chosen, tabs, onChoose, testid, children }: TabsProps<Name>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const go = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    const at = (tabs.findIndex(([name]) => name === chosen) + step + tabs.length) % tabs.length;
    const next = tabs[at];
    if (next) onChoose(next[0]);
    (list.current?.children[at] as HTMLElement | undefined)?.focus();
    event.preventDefault();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={go}>
        {tabs.map(([name, text]) => (
          <button
            type="button"
            key={name}
            class="tab"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => onChoose(name)}
            data-testid={`${testid}-${name}`}
          >
            {text}
          </button>
        ))}
      </div>
      <div class="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  );
}
