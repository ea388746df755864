import type { ComponentChildren } from 'preact';
import { detail, messages, olderMessages, readOlderMessages } from '../data/batch.js';
import { refusedBy } from '../data/happened.js';
import { events, standing } from '../data/history.js';
import type { BatchDetail, BatchMessage } from '../data/types.js';
import { addressOf } from '../data/view.js';
import { FactList } from '../common/fact-list.js';
import { Fault } from '../common/fault.js';
import { t, word, words } from '../common/strings.js';
import { momentText, recordText, unitText } from '../common/text.js';
import { useSend } from '../common/use-send.js';
import { blockerText } from './blocker-words.js';
import { CommandBar, isStopped } from './command-bar.js';
import { ManualLevels } from './manual-levels.js';
import { endText } from './expected-end.js';
import { failureText, rejectionText, toldText } from './told-words.js';
import { PendingBatch } from './pending-batch.js';
import { StateBadge } from './state-badge.js';
import { Standing } from './what-happened.js';

const said = words({ en: { end: 'End' }, de: { end: 'Ende' } });

/** @param children what else can be shown in its place. */
export function BatchDetailView({ children }: { readonly children?: ComponentChildren }) {
  const batch = detail.value;
  return (
    <section class="panel batch-detail" aria-labelledby="batch-title" data-testid="batch-detail">
      {batch ? (
        <>
          <header class="detail-head">
            <h2 id="batch-title">
              {t.batch} {batch.batchID}
            </h2>
            <StateBadge state={batch.phase} testid="batch-state" />
            <a class="button" href={addressOf('batch', batch.name)} data-testid="open-batch">
              {t.open}
            </a>
            {children}
          </header>
          {/* its units are the tiles above; of one that stands the room is for why */}
          {!standing.value && <Facts batch={batch} hasUnits={false} />}
          <CommandBar batch={batch} />
          {/* commands stay where they are; what grows scrolls below them */}
          <div class="detail-scroll" tabIndex={0} role="group" aria-label={t.messages}>
            {batch.phase === 'Pending' && <PendingBatch key={batch.name} batch={batch} />}
            <ManualLevels key={batch.name} batch={batch} isShort />
            <Trouble batch={batch} />
            <Messages items={messages.value} />
          </div>
        </>
      ) : (
        <header class="detail-head">
          <h2 id="batch-title" class="empty">
            {t.chooseBatch}
          </h2>
          {children}
        </header>
      )}
    </section>
  );
}

export function Facts({ batch, hasUnits = true }: { readonly batch: BatchDetail; readonly hasUnits?: boolean }) {
  const facts: readonly (readonly [string, string])[] = [
    [t.recipe, `${batch.recipe.name} ${batch.recipe.version}`],
    [t.quantity, batch.quantity === '' ? '' : `${recordText(batch.quantity, true)} ${unitText(batch.engineeringUnit)}`],
    [t.units, hasUnits ? batch.units.map((unit) => unit.toUpperCase()).join(', ') : ''],
    [t.workOrder, batch.workOrderID],
    [t.started, momentText(batch.startedAt)],
    batch.endedAt === '' ? [said.end, endText(batch.name)] : [t.ended, momentText(batch.endedAt)],
  ];
  return <FactList facts={facts} />;
}

/** Why it does not go on, in one sentence each (decisions 3.9). */
export function Trouble({ batch }: { readonly batch: BatchDetail }) {
  const { failure, commandRejection, blockedBecause, blockedBy } = batch;
  const spell = standing.value;
  const commanded = batch.recovery?.commanded ?? [];
  // what does not stand any more is no failure now: that it held the batch says the cause
  const isTold = failure && (!failure.active || spell?.causes.some(({ text }) => text.includes(failure.message)));
  return (
    <div class="trouble">
      {spell && <Standing spell={spell} />}
      {commanded.length > 0 && (
        <p class="warning" data-testid="commanded">
          {t.commandedAgain(commanded.map(({ controlModule, value }) => `${controlModule.toUpperCase()}: ${word(value)}`).join(', '))}
        </p>
      )}
      {failure && !isTold && (
        <p class="fault">
          <strong>{t.failed}:</strong> {failureText(failure)}
        </p>
      )}
      {commandRejection && (
        <p class="warning" data-testid="rejection">
          <strong>{t.rejectedBy(word(commandRejection.command), refusedBy(events.value, commandRejection.command))}:</strong> {rejectionText(commandRejection)}
        </p>
      )}
      {blockedBecause !== '' && !failure && (
        <div class="note" data-testid="blocked">
          <strong>{t.blocked}:</strong>
          <ul class="blocked">
            {[...new Set(blockedBy.map((blocker) => blockerText(blocker, isStopped(batch))))].map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

export function Messages({ items }: { readonly items: readonly BatchMessage[] }) {
  const reading = useSend();
  return (
    <div class="messages">
      <h3>{t.messages}</h3>
      {items.length === 0 ? (
        <p class="empty">{t.noMessages}</p>
      ) : (
        <ul class="message-list" data-testid="messages">
          {items.map((message) => (
            <li key={message.id} class={`message message-${message.severity.toLowerCase()}`}>
              <time class="number hint">{momentText(message.ts)}</time>
              <span>
                {message.severity !== 'Info' && <strong>{word(message.severity)}: </strong>}
                {toldText({ message: message.text, told: message.told })}
                {message.element.path !== '' && <span class="hint"> {message.element.path}</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
      <Fault text={reading.fault} testid="messages-error" />
      {olderMessages.value !== null && (
        <button type="button" class="button" disabled={reading.busy} onClick={() => void reading.run(readOlderMessages)} data-testid="messages-more">
          {t.older}
        </button>
      )}
    </div>
  );
}
