/** Choice of one of a few. The arrow keys go from one to the next, and Space or Enter chooses: nothing is chosen by going past it. */
import { useRef } from 'preact/hooks';
import './segments.css';

interface SegmentsProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  readonly onChoose: (value: Value) => void;
  readonly testid: string;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export function Segments<Value extends string>({ label, value, options, onChoose, testid }: SegmentsProps<Value>) {
  const group = useRef<HTMLDivElement>(null);
  const go = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    const buttons = [...(group.current?.children ?? [])] as HTMLElement[];
    const here = buttons.indexOf(document.activeElement as HTMLElement);
    buttons[(here + step + buttons.length) % buttons.length]?.focus();
    event.preventDefault();
  };
  return (
    <div class="segments" role="radiogroup" aria-label={label} ref={group} onKeyDown={go}>
      {options.map(([name, text]) => (
        <button
          type="button"
          key={name}
          class="segment"
          role="radio"
          aria-checked={name === value}
          tabIndex={name === value ? 0 : -1}
          onClick={() => onChoose(name)}
          data-testid={`${testid}-${name}`}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
