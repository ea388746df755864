/** A reason by touch or keyboard: common texts to tap, and the policy's length said before it is missed. */
import { t } from './strings.js';

export interface ReasonFieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Characters the policy asks for; 0 when a reason is optional. */
  readonly lengthMin: number;
  readonly lengthMax: number;
  readonly suggestions: readonly string[];
}

/** The gateway trims and counts code points (decisions D-ERR-03). */
export function reasonLength(text: string): number {
  return [...text.trim()].length;
}

export function ReasonField({ value, onInput, lengthMin, lengthMax, suggestions }: ReasonFieldProps) {
  return (
    <div class="field">
      <label for="reason">{t.reason}</label>
      <textarea
        id="reason"
        rows={2}
        maxLength={lengthMax}
        value={value}
        aria-describedby="reason-hint"
        data-testid="reason"
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <p id="reason-hint" class="hint">
        {lengthMin > 0 ? t.reasonNeeded(lengthMin) : t.reasonOptional}
      </p>
      <div class="chips">
        {suggestions.map((text) => (
          <button type="button" class="chip" key={text} onClick={() => onInput(text)}>
            {text}
          </button>
        ))}
      </div>
    </div>
  );
}
