/** The field for a second factor that is typed: a code of the authenticator app, or one of those that were kept for the day without it. */
import { Field } from './field.js';
import { passkeyWords } from './passkey.js';
import { t } from './strings.js';

export interface CodeFieldProps {
  readonly id: string;
  /** Without an app it is a recovery code. */
  readonly hasApp: boolean;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly autoFocus?: boolean;
}

export function CodeField({ hasApp, ...field }: CodeFieldProps) {
  const asked = hasApp ? { label: t.secondCode, hint: t.secondCodeRule } : { label: passkeyWords.recoveryCode };
  return <Field {...field} {...asked} autoComplete="one-time-code" mono />;
}
