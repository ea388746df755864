/** What went wrong, said where the person looks and aloud to who cannot see it; nothing while nothing is wrong. */
import { t } from './strings.js';

export interface FaultProps {
  /** Empty: nothing is shown. */
  readonly text: string;
  /** Of a refusal: its place in the catalogue is linked, where it stands what to do. */
  readonly code?: string;
  readonly testid?: string;
  /** Over the whole width of the screen. */
  readonly strip?: boolean;
}

export function Fault({ text, code = '', testid, strip = false }: FaultProps) {
  if (text === '') return null;
  return (
    <p class={strip ? 'fault strip' : 'fault'} role="alert" data-testid={testid}>
      {text}
      {code !== '' && (
        <>
          {' '}
          <a href={`/docs/reference/refusals.html#${code}`} target="_blank" rel="noopener">
            {t.whatToDo}
          </a>
        </>
      )}
    </p>
  );
}

/** Why something could not be read; what is shown beside it may be old. */
export function ReadFault({ text, strip = false }: FaultProps) {
  return <Fault text={text === '' ? '' : t.readFailed(text)} strip={strip} />;
}
