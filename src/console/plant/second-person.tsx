/** The second person of an answer (ADR 0144): sees what the first has answered, and confirms it at the same panel with a password of his own. */
import { useState } from 'preact/hooks';
import { ApiError } from '../data/api.js';
import { stale } from '../data/plant.js';
import { config, me } from '../data/session.js';
import type { Prompt, SecondPerson as Person } from '../data/types.js';
import { CodeField } from '../common/code-field.js';
import { Fault } from '../common/fault.js';
import { FactList } from '../common/fact-list.js';
import { Field } from '../common/field.js';
import { codeGiven, passkeyWords, waysAsked, whyNoPasskeys, withPasskey } from '../common/passkey.js';
import { t, words } from '../common/strings.js';
import { recordText, unitText } from '../common/text.js';
import { useSend } from '../common/use-send.js';

const text = words({
  en: {
    ask: 'A second person confirms this answer. Let somebody else look at it and enter user name and password; nobody is signed out.',
    answer: 'Answer',
    answeredBy: 'Answered by',
    name: 'User name of the second person',
    password: 'Password of the second person',
    confirm: 'Confirm and send',
    back: 'Back to the answer',
    same: (name: string) => `${name} has answered: somebody else confirms it.`,
  },
  de: {
    ask: 'Eine zweite Person bestätigt diese Antwort. Lassen Sie jemand anderen sie ansehen und Benutzernamen und Kennwort eingeben; niemand wird abgemeldet.',
    answer: 'Antwort',
    answeredBy: 'Beantwortet von',
    name: 'Benutzername der zweiten Person',
    password: 'Kennwort der zweiten Person',
    confirm: 'Bestätigen und senden',
    back: 'Zurück zur Antwort',
    same: (name: string) => `${name} hat geantwortet: Jemand anderes bestätigt.`,
  },
});

export interface SecondPersonProps {
  readonly prompt: Prompt;
  readonly answer: string;
  readonly reason: string;
  /** Nobody asks any more. */
  readonly isGone: boolean;
  readonly noLink: string;
  readonly onBack: () => void;
  readonly onConfirm: (person: Person) => Promise<void>;
}

export function SecondPerson({ prompt, answer, reason, isGone, noLink, onBack, onConfirm }: SecondPersonProps) {
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [ways, setWays] = useState<readonly unknown[] | null>(null);
  const sending = useSend();
  const hasPasskey = ways?.includes('passkey') === true && whyNoPasskeys(config.value) === '';
  const missing = (needsCode: boolean): string => {
    if (stale.peek()) return noLink;
    if (username.trim() === '' || password === '' || (needsCode && code.trim() === '')) return t.fillIn;
    return username.trim().toLowerCase() === me.peek()?.username.toLowerCase() ? text.same(me.peek()?.displayName ?? '') : '';
  };
  const confirm = (second: Omit<Person, 'username' | 'password'>): Promise<void> => onConfirm({ username: username.trim(), password, ...second });
  /** Whoever has a second factor is asked for it once his password was right, which stands there until then. */
  const send = (way: () => Promise<void>): void => {
    void sending.run(async () => {
      try {
        await way();
      } catch (refused) {
        const asked = waysAsked(refused);
        if (asked && !ways) return setWays(asked);
        setPassword('');
        setCode('');
        throw refused instanceof ApiError && refused.code === 'invalid_credentials' ? new Error(ways ? t.wrongWithCode : t.wrongCredentials) : refused;
      }
    });
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const lacks = missing(ways !== null);
    if (lacks !== '') return sending.refuse(lacks);
    send(() => confirm(codeGiven(code)));
  };
  const usePasskey = (): void => {
    const lacks = missing(false);
    if (lacks !== '') return sending.refuse(lacks);
    send(() => withPasskey(confirm));
  };
  const given = prompt.type === 'acknowledge' ? t.acknowledge : recordText(answer, prompt.type === 'value');
  const facts: readonly (readonly [string, string])[] = [
    [t.unit, prompt.unit.toUpperCase()],
    [t.batch, prompt.batchID || prompt.batch],
    [text.answer, `${given} ${unitText(prompt.engUnits ?? '')}`.trim()],
    [t.reason, reason],
    [text.answeredBy, me.value?.displayName ?? ''],
  ];
  return (
    <form onSubmit={submit} noValidate data-testid="second-person">
      <FactList facts={facts} />
      <p class="note" role="status">
        {text.ask}
      </p>
      <Fault text={isGone && !sending.busy ? t.gone : sending.fault} code={isGone ? '' : sending.code} testid="second-error" />
      <Field id="second-username" label={text.name} value={username} onInput={setUsername} autoFocus />
      <Field id="second-password" label={text.password} type="password" value={password} onInput={setPassword} />
      {ways && <CodeField id="second-code" hasApp={ways.includes('app')} value={code} onInput={setCode} autoFocus={!hasPasskey} />}
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onBack} data-testid="second-back">
          {text.back}
        </button>
        {hasPasskey && (
          <button type="button" class="button" disabled={sending.busy || isGone} onClick={usePasskey} data-testid="second-passkey">
            {passkeyWords.use}
          </button>
        )}
        <button type="submit" class="button primary" disabled={sending.busy || isGone} data-testid="second-send">
          {sending.busy ? t.sending : text.confirm}
        </button>
      </div>
    </form>
  );
}
