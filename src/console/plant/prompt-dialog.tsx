/** The answer to a prompt. It is signed, so it takes a reason; the gateway checks it again (contract 3, Prompt rules). */
import { useState } from 'preact/hooks';
import { ApiError } from '../data/api.js';
import { stale } from '../data/plant.js';
import { answerPrompt, draftOf, keepDraft, outcomeOf } from '../data/prompt-answers.js';
import { config } from '../data/session.js';
import type { Prompt, SecondPerson as Person } from '../data/types.js';
import { Dialog } from '../common/dialog.js';
import { Fault } from '../common/fault.js';
import { ReasonField, reasonLength } from '../common/reason-field.js';
import { t, words } from '../common/strings.js';
import { recordText, typedNumber, unitText } from '../common/text.js';
import { useSend } from '../common/use-send.js';
import { GreyButton } from '../parts/grey-button.js';
import { Keypad } from './keypad.js';
import { PromptAsked } from './prompt-asked.js';
import { SecondPerson } from './second-person.js';

const text = words({
  en: {
    recorded: (answer: string, step: string) => `${answer === '' ? 'Your answer' : `Your answer ${answer}`} is recorded. The procedure still stands at step ${step}:`,
    forTwo: 'Two people stand for this answer: you give it, and somebody else confirms it here with an account of his own.',
    toSecond: 'To the second person',
    notHere:
      'Two people stand for this answer, and the second one proves himself with an account of this box. Here people sign in at the identity provider: a lead operator takes the phase past this step in Manual, or the recipe is changed.',
    noLink: 'No live data: nothing is sent, and nothing is kept to be sent later',
    unknown: 'The box did not answer, so it is not known whether the answer was recorded. When the link is back, this question is gone if it was.',
  },
  de: {
    recorded: (answer: string, step: string) => `${answer === '' ? 'Ihre Antwort' : `Ihre Antwort ${answer}`} ist aufgezeichnet. Die Prozedur steht noch im Schritt ${step}:`,
    forTwo: 'Für diese Antwort stehen zwei Personen ein: Sie geben sie, und jemand anderes bestätigt sie hier mit einem eigenen Konto.',
    toSecond: 'Zur zweiten Person',
    notHere:
      'Für diese Antwort stehen zwei Personen ein, und die zweite weist sich mit einem Konto dieser Box aus. Hier meldet man sich beim Identitätsanbieter an: Ein Schichtführer führt die Phase in Manuell über diesen Schritt hinweg, oder das Rezept wird geändert.',
    noLink: 'Keine Live-Daten: Es wird nichts gesendet und nichts zum späteren Senden aufgehoben',
    unknown: 'Die Box hat nicht geantwortet; ob die Antwort aufgezeichnet wurde, ist nicht bekannt. Ist die Verbindung wieder da, ist diese Frage fort, wenn sie es wurde.',
  },
});

export interface PromptDialogProps {
  readonly prompt: Prompt;
  /** Nobody asks any more. */
  readonly isGone: boolean;
  readonly onClose: () => void;
}

export function PromptDialog({ prompt, isGone, onClose }: PromptDialogProps) {
  const [answer, setAnswer] = useState(draftOf(prompt).answer);
  const [reason, setReason] = useState(draftOf(prompt).reason);
  const [waits, setWaits] = useState<readonly string[]>([]);
  /** The checked answer that a second person is looking at. */
  const [toConfirm, setToConfirm] = useState<string | null>(null);
  const sending = useSend();
  const isForTwo = prompt.secondSigner === true && config.value?.authMode !== 'none';
  const isElsewhere = isForTwo && config.value?.authMode === 'oidc';
  const noSending = stale.value ? text.noLink : isElsewhere ? text.notHere : '';
  const send = async (response: string, second?: Person): Promise<void> => {
    await answerPrompt(prompt, response, reason.trim(), second).catch((fault: unknown) => {
      throw fault instanceof ApiError && fault.status === 0 ? new Error(text.unknown) : fault;
    });
    const found = await outcomeOf(prompt).catch(() => []); // the answer is recorded, whatever cannot be read of it now
    if (found.length === 0) onClose();
    else setWaits(found);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (noSending !== '') return sending.refuse(noSending);
    const checked = check(prompt, answer);
    if (checked.fault !== '') return sending.refuse(checked.fault);
    if (reasonLength(reason) < 1) return sending.refuse(`${t.reason}: ${t.reasonNeeded(1)}`);
    if (isForTwo) {
      sending.refuse('');
      return setToConfirm(checked.text);
    }
    void sending.run(() => send(checked.text));
  };
  const type = (next: string): void => {
    setAnswer(next);
    keepDraft(prompt, { answer: next, reason });
  };
  const explain = (next: string): void => {
    setReason(next);
    keepDraft(prompt, { answer, reason: next });
  };
  const verb = isForTwo ? text.toSecond : prompt.type === 'acknowledge' ? t.acknowledge : t.send;
  if (waits.length > 0) return <Waiting prompt={prompt} answer={answer} waits={waits} onClose={onClose} />;
  const title = prompt.resultKey ? t.awaitsResult(prompt.resultKey) : prompt.text;
  if (toConfirm !== null)
    return (
      <Dialog key="second" title={title} testid="second-dialog" wide onClose={onClose}>
        <SecondPerson
          prompt={prompt}
          answer={toConfirm}
          reason={reason.trim()}
          isGone={isGone}
          noLink={text.noLink}
          onBack={() => setToConfirm(null)}
          onConfirm={(second) => send(toConfirm, second)}
        />
      </Dialog>
    );
  return (
    <Dialog key="answer" title={title} testid="prompt-dialog" wide onClose={onClose}>
      <form onSubmit={submit} noValidate>
        {prompt.resultKey && <p class="note">{t.manualResult}</p>}
        <PromptAsked prompt={prompt} />
        {isForTwo && <p class={isElsewhere ? 'warning' : 'note'}>{isElsewhere ? text.notHere : text.forTwo}</p>}
        <Fault text={isGone && !sending.busy ? t.gone : sending.fault} code={isGone ? '' : sending.code} testid="prompt-error" />
        <div class="answer">
          <div class="stack">
            {prompt.type === 'value' && <ValueInput prompt={prompt} value={answer} onInput={type} />}
            {prompt.type === 'choice' && <Choices prompt={prompt} value={answer} onInput={type} />}
            <ReasonField value={reason} onInput={explain} lengthMin={1} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={t.commonAnswers} />
          </div>
          {prompt.type === 'value' && <Keypad value={answer} onInput={type} />}
        </div>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.cancel}
          </button>
          {noSending !== '' ? (
            <GreyButton name={verb} missing={[{ text: noSending }]} testid="prompt-send" />
          ) : (
            <button type="submit" class="button primary" disabled={sending.busy || isGone} data-testid="prompt-send">
              {sending.busy ? t.sending : verb}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

/** The answer is recorded, and nothing comes of it yet. */
function Waiting({ prompt, answer, waits, onClose }: { readonly prompt: Prompt; readonly answer: string; readonly waits: readonly string[]; readonly onClose: () => void }) {
  return (
    <Dialog title={prompt.resultKey ? t.awaitsResult(prompt.resultKey) : prompt.text} testid="prompt-waits" wide onClose={onClose}>
      <div class="stack" role="status">
        <p>{text.recorded(answer, prompt.stepName)}</p>
        <ul class="warning blocked">
          {waits.map((wait) => (
            <li key={wait}>{wait}</li>
          ))}
        </ul>
        <div class="dialog-actions">
          <button type="button" class="button primary" onClick={onClose} data-testid="prompt-waits-close">
            {t.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

interface Checked {
  readonly text: string;
  readonly fault: string;
}

function check({ type, min, max }: Prompt, answer: string): Checked {
  if (type === 'acknowledge') return { text: '', fault: '' };
  if (type === 'choice') return { text: answer, fault: answer === '' ? t.choose : '' };
  const number = typedNumber(answer);
  if (number === undefined) return { text: '', fault: t.notNumber };
  const value = Number(number);
  if ((min !== undefined && value < Number(min)) || (max !== undefined && value > Number(max)))
    return { text: number, fault: t.outside(recordText(min ?? '', true), recordText(max ?? '', true)) };
  return { text: number, fault: '' };
}

interface InputProps {
  readonly prompt: Prompt;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

function ValueInput({ prompt, value, onInput }: InputProps) {
  return (
    <div class="field">
      <label for="answer-value">
        {t.value} {prompt.engUnits ? `(${unitText(prompt.engUnits)})` : ''}
      </label>
      <input
        id="answer-value"
        class="number answer-value"
        inputMode="decimal"
        autocomplete="off"
        autofocus
        value={value}
        aria-describedby="answer-hint"
        onInput={(event) => onInput(event.currentTarget.value)}
        data-testid="answer-value"
      />
      <p id="answer-hint" class="hint">
        {t.between(recordText(prompt.min ?? '', true), recordText(prompt.max ?? '', true), unitText(prompt.engUnits ?? ''))}
      </p>
    </div>
  );
}

function Choices({ prompt, value, onInput }: InputProps) {
  return (
    <div class="choices" role="radiogroup" aria-label={prompt.text}>
      {prompt.choices?.map((choice) => (
        <button type="button" role="radio" class="button choice" aria-checked={value === choice} key={choice} onClick={() => onInput(choice)} data-testid={`choice-${choice}`}>
          {choice}
        </button>
      ))}
    </div>
  );
}
