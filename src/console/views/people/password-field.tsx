/** A password that an administrator hands over: one is proposed, and it is typed by him where he wants another. */
import { Field } from '../../common/field.js';
import { t } from '../../common/strings.js';
import { config } from '../../data/session.js';
import { text } from './people-words.js';

/** Without letters and digits that are taken for each other; 32 of them, so that each is as likely. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const GROUP_LETTERS = 5;
const GROUPS = 4;

/** Of 100 random bits. */
export function proposedPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(GROUPS * GROUP_LETTERS));
  const letters = Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join('');
  return Array.from({ length: GROUPS }, (_, at) => letters.slice(at * GROUP_LETTERS, (at + 1) * GROUP_LETTERS)).join('-');
}

export function PasswordField({ label, value, onInput }: { readonly label: string; readonly value: string; readonly onInput: (value: string) => void }) {
  return (
    <div class="with-button">
      <Field id="person-password" label={label} value={value} onInput={onInput} hint={t.passwordRule(config.value?.passwordMinLength ?? 0)} mono />
      <button type="button" class="button" onClick={() => onInput(proposedPassword())}>
        {text.again}
      </button>
    </div>
  );
}
