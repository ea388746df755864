/** What was recorded of an answer, with the number of its audit record: it stands there until somebody has seen it or the next is sent. */
import { recorded } from '../data/prompt-answers.js';
import { can } from '../data/session.js';
import { addressOf } from '../data/view.js';
import { t, words } from '../common/strings.js';
import { momentText, recordText, unitText } from '../common/text.js';

const said = words({
  en: { title: 'Recorded and signed', audit: 'audit record', open: 'In the trail', confirmed: (name: string) => `confirmed by ${name}` },
  de: { title: 'Aufgezeichnet und signiert', audit: 'Auditeintrag', open: 'Im Audit-Trail', confirmed: (name: string) => `bestätigt von ${name}` },
});

export function PromptRecorded() {
  const last = recorded.value;
  if (last === null) return null;
  const { prompt, answer } = last;
  const value = answer.response === '' ? '' : `: ${recordText(answer.response, prompt.type === 'value')} ${unitText(prompt.engUnits ?? '')}`.trimEnd();
  return (
    <div class="note prompt-recorded" role="status" data-testid="prompt-recorded">
      <p>
        <strong>{said.title}</strong> <span class="number">{momentText(answer.recordedAt)}</span>
        <br />
        {prompt.resultKey ? t.awaitsResult(prompt.resultKey) : prompt.text}
        <strong>{value}</strong>
        <br />
        <span class="hint">
          {t.promptFor(prompt.unit.toUpperCase(), prompt.batchID)} · {`${said.audit} ${answer.auditRecordRef}`}
          {answer.confirmedBy && ` · ${said.confirmed(answer.confirmedBy.displayName)}`}
        </span>
      </p>
      {can('audit:list') && (
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
