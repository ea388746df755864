/** What was recorded of an answer, with the number of its audit record: it stands there until somebody has seen it or the next is sent, and is soon a line. */
import { recorded } from '../data/prompt-answers.js';
import type { Prompt } from '../data/types.js';
import { can } from '../data/session.js';
import { addressOf } from '../data/view.js';
import { nowMs } from '../common/clock.js';
import { t, words } from '../common/strings.js';
import { momentText, recordText, unitText } from '../common/text.js';

const said = words({
  en: { title: 'Recorded and signed', audit: 'audit record', open: 'In the trail', confirmed: (name: string) => `confirmed by ${name}` },
  de: { title: 'Aufgezeichnet und signiert', audit: 'Auditeintrag', open: 'Im Audit-Trail', confirmed: (name: string) => `bestätigt von ${name}` },
});

const WHOLE_MS = 30_000;

export interface PromptRecordedProps {
  /** What is shown there belongs to it. */
  readonly isOf: (prompt: Prompt) => boolean;
  /** Something waits for an answer: that has the room. */
  readonly waits: boolean;
}

export function PromptRecorded({ isOf, waits }: PromptRecordedProps) {
  const last = recorded.value;
  if (last === null || !isOf(last.prompt)) return null;
  const { prompt, answer } = last;
  const isShort = waits || nowMs.value - Date.parse(answer.recordedAt) > WHOLE_MS;
  const value = answer.response === '' ? '' : `: ${recordText(answer.response, prompt.type === 'value')} ${unitText(prompt.engUnits ?? '')}`.trimEnd();
  return (
    <div class={isShort ? 'note prompt-recorded prompt-recorded-short' : 'note prompt-recorded'} role="status" data-testid="prompt-recorded">
      <p>
        <span>
          <strong>{said.title}</strong> <span class="number">{momentText(answer.recordedAt)}</span>
        </span>{' '}
        <span>
          {prompt.resultKey ? t.awaitsResult(prompt.resultKey) : prompt.text}
          <strong>{value}</strong>
        </span>{' '}
        <span class="hint">
          {t.promptFor(prompt.unit.toUpperCase(), prompt.batchID)} · {`${said.audit} ${answer.auditRecordRef}`}
          {answer.confirmedBy && ` · ${said.confirmed(answer.confirmedBy.displayName)}`}
        </span>
      </p>
      {!isShort && can('audit:list') && (
        <a class="button" href={addressOf('audit', '', { name: prompt.phase })} data-testid="prompt-recorded-audit">
          {said.open}
        </a>
      )}
      <button
        type="button"
        class="button"
        onClick={() => {
          recorded.value = null;
        }}
        data-testid="prompt-recorded-close"
      >
        {t.close}
      </button>
    </div>
  );
}
