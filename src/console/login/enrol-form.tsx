/** A role that requires a second factor opens nothing but this form to who has none. */
import { useEffect } from 'preact/hooks';
import { EnrolFactor } from '../common/enrol-factor.js';
import { t } from '../common/strings.js';
import type { Session } from '../data/types.js';
import { keepSignedIn } from './sign-in.js';

export interface EnrolFormProps {
  readonly session: Session;
  readonly password: string;
  readonly onDone: () => void;
  readonly onEnded: (why: string) => void;
}

export function EnrolForm({ session, password, onDone, onEnded }: EnrolFormProps) {
  useEffect(() => keepSignedIn(session, onEnded), [session]);
  return (
    <>
      <h2>{t.secondFactor}</h2>
      <p class="note">{t.factorRequired}</p>
      <EnrolFactor password={password} onDone={onDone} />
    </>
  );
}
