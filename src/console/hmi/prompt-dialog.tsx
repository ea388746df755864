/** The answer to a prompt. It is signed, so it takes a reason; the gateway checks it again (contract 3, Prompt rules). */
import { useEffect, useState } from 'preact/hooks';
import { answerPrompt, outcomeOf, readAsked, type RecipeValue } from '../data/prompt-answers.js';
import { config } from '../data/session.js';
import type { Prompt } from '../data/types.js';
import { Dialog } from '../common/dialog.js';
import { FactList } from '../common/fact-list.js';
import { Fault } from '../common/fault.js';
import { ReasonField, reasonLength } from '../common/reason-field.js';
import { t, words } from '../common/strings.js';
import { momentText, recordText, typedNumber, unitText } from '../common/text.js';
import { useSend } from '../common/use-send.js';
import { Keypad } from './keypad.js';

const text = words({
  en: { recorded: (answer: string, step: string) => `${answer === '' ? 'Your answer' : `Your answer ${answer}`} is recorded. The procedure still stands at step ${step}:` },
  de: { recorded: (answer: string, step: string) => `${answer === '' ? 'Ihre Antwort' : `Ihre Antwort ${answer}`} ist aufgezeichnet. Die Prozedur steht noch im Schritt ${step}:` },
});

export interface PromptDialogProps {
  readonly prompt: Prompt;
  /** Nobody asks any more. */
  readonly isGone: boolean;
  readonly onClose: () => void;
}

export function PromptDialog({ prompt, isGone, onClose }: PromptDialogProps) {
  const [answer, setAnswer] = useState('');
  const [reason, setReason] = useState('');
  const [waits, setWaits] = useState<readonly string[]>([]);
  const sending = useSend();
  const submit = (event: Event): void => {
    event.preventDefault();
    const checked = check(prompt, answer);
    if (checked.fault !== '') return sending.refuse(checked.fault);
    if (reasonLength(reason) < 1) return sending.refuse(`${t.reason}: ${t.reasonNeeded(1)}`);
    void sending.run(async () => {
      await answerPrompt(prompt, checked.text, reason.trim());
      const found = await outcomeOf(prompt).catch(() => []); // the answer is recorded, whatever cannot be read of it now
      if (found.length === 0) onClose();
      else setWaits(found);
    });
  };
  if (waits.length > 0) return <Waiting prompt={prompt} answer={answer} waits={waits} onClose={onClose} />;
  return (
    <Dialog title={prompt.resultKey ? t.awaitsResult(prompt.resultKey) : prompt.text} testid="prompt-dialog" wide onClose={onClose}>
      <form onSubmit={submit} noValidate>
        {prompt.resultKey && <p class="note">{t.manualResult}</p>}
        <Asked prompt={prompt} />
        <Fault text={isGone && !sending.busy ? t.gone : sending.fault} code={isGone ? '' : sending.code} testid="prompt-error" />
        <div class="answer">
          <div class="stack">
            {prompt.type === 'value' && <ValueInput prompt={prompt} value={answer} onInput={setAnswer} />}
            {prompt.type === 'choice' && <Choices prompt={prompt} value={answer} onInput={setAnswer} />}
            <ReasonField value={reason} onInput={setReason} lengthMin={1} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={t.commonAnswers} />
          </div>
          {prompt.type === 'value' && <Keypad value={answer} onInput={setAnswer} />}
        </div>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy || isGone} data-testid="prompt-send">
            {sending.busy ? t.sending : prompt.type === 'acknowledge' ? t.acknowledge : t.send}
          </button>
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

/** Which unit, batch and step is answered for: with one recipe on two trains the question alone does not say. */
function Asked({ prompt }: { readonly prompt: Prompt }) {
  const [path, setPath] = useState('');
  const [limits, setLimits] = useState<readonly RecipeValue[]>([]);
  useEffect(() => {
    readAsked(prompt).then(
      (asked) => {
        setPath(asked.path);
        setLimits(asked.limits);
      },
      () => undefined, // what the prompt itself says stands there anyway
    );
  }, [prompt.id]);
  const step = [path, prompt.stepName].filter((part) => part !== '').join(' / ');
  const facts: readonly (readonly [string, string])[] = [
    [t.unit, prompt.unit.toUpperCase()],
    [t.batch, prompt.batchID || prompt.batch],
    [t.step, step],
    [t.askedAt, momentText(prompt.timestamp)],
    ...limits.map(({ name, value, unit }): readonly [string, string] => [name, `${recordText(value, unit !== '')} ${unitText(unit)}`.trim()]),
  ];
  return (
    <div class="asked" data-testid="prompt-asked">
      <FactList facts={facts} />
    </div>
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
