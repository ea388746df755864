/** Digits for gloved hands: a panel has no keyboard. */
import { decimalSign } from '../common/text.js';
import { t } from '../common/strings.js';

const KEYS = ['7', '8', '9', '4', '5', '6', '1', '2', '3', '±', '0'];

export function Keypad({ value, onInput }: { readonly value: string; readonly onInput: (value: string) => void }) {
  const sign = decimalSign();
  const press = (key: string): void => {
    if (key === '±') onInput(value.startsWith('-') ? value.slice(1) : `-${value}`);
    else if (key !== sign || !/[.,]/.test(value)) onInput(value + key);
  };
  return (
    <div class="keypad">
      {[...KEYS, sign].map((key) => (
        <button type="button" class="button number" key={key} aria-label={key === '±' ? t.sign : key} onClick={() => press(key)}>
          {key}
        </button>
      ))}
      <button type="button" class="button keypad-delete" onClick={() => onInput(value.slice(0, -1))}>
        {t.delete}
      </button>
    </div>
  );
}
