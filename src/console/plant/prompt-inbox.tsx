/** What the procedure asks of people, oldest first: it waits for nobody else. */
import { useState } from 'preact/hooks';
import { prompts } from '../data/plant.js';
import { can } from '../data/session.js';
import type { Prompt } from '../data/types.js';
import { nowMs } from '../common/clock.js';
import { t } from '../common/strings.js';
import { ageText } from '../common/text.js';
import { PromptDialog } from './prompt-dialog.js';
import { PromptRecorded } from './prompt-recorded.js';

export function PromptInbox() {
  const waiting = prompts.value;
  return (
    <section class={waiting.length > 0 ? 'panel inbox inbox-waiting' : 'panel inbox'} aria-labelledby="prompts-title">
      <h2 id="prompts-title">
        {t.prompts} {waiting.length > 0 && <span class="count">{waiting.length}</span>}
      </h2>
      <PromptList />
    </section>
  );
}

export interface PromptListProps {
  /** Said when nothing waits. */
  readonly none?: string;
  /** Of which batch or unit it is; without it of all. */
  readonly isOf?: (prompt: Prompt) => boolean;
}

export function PromptList({ none = t.noPrompts, isOf = () => true }: PromptListProps) {
  /** Stays open when the prompt is answered elsewhere: what somebody is typing does not vanish unsaid. */
  const [open, setOpen] = useState<Prompt | null>(null);
  const waiting = prompts.value.filter(isOf);
  return (
    <>
      {waiting.length === 0 && none !== '' && <p class="empty">{none}</p>}
      <ul class="prompts" data-testid="prompts">
        {waiting.map((prompt) => (
          <li key={prompt.id}>
            <Card prompt={prompt} onAnswer={() => setOpen(prompt)} />
          </li>
        ))}
      </ul>
      <PromptRecorded isOf={isOf} waits={waiting.length > 0} />
      {waiting.length > 0 && !can('phase:prompt-response') && (
        <p class="hint" data-testid="prompt-not-allowed">
          {t.promptNotAllowed}
        </p>
      )}
      {open && <PromptDialog key={open.id} prompt={open} isGone={!prompts.value.some(({ id }) => id === open.id)} onClose={() => setOpen(null)} />}
    </>
  );
}

function Card({ prompt, onAnswer }: { readonly prompt: Prompt; readonly onAnswer: () => void }) {
  return (
    <div class="prompt" data-testid={`prompt-${prompt.type}`}>
      <p class="hint prompt-from">
        <span>{t.promptFor(prompt.unit.toUpperCase(), prompt.batchID)}</span>
        <span class="number">{ageText(Date.parse(prompt.timestamp), nowMs.value)}</span>
      </p>
      <p class="prompt-text">{prompt.resultKey ? t.awaitsResult(prompt.resultKey) : prompt.text}</p>
      <button type="button" class="button primary" disabled={!can('phase:prompt-response')} onClick={onAnswer} data-testid="prompt-answer">
        {t.answer}
      </button>
    </div>
  );
}
