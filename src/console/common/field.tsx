/** One labelled input with its rule below it; what is wrong is said next to the field. */
import { takeFocus } from './take-focus.js';

export interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: 'text' | 'password';
  readonly autoComplete?: string;
  readonly autoFocus?: boolean;
  readonly hint?: string;
  readonly mono?: boolean;
}

export function Field({ id, label, value, onInput, type = 'text', autoComplete = 'off', autoFocus = false, hint = '', mono = false }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        type={type as 'text'}
        id={id}
        name={id}
        value={value}
        class={mono ? 'mono' : ''}
        autocomplete={autoComplete}
        autocapitalize="none"
        spellcheck={false}
        autofocus={autoFocus}
        ref={autoFocus ? takeFocus : null}
        aria-describedby={hint === '' ? undefined : `${id}-hint`}
        data-testid={id}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint !== '' && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}
