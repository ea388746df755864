/** What may still be changed of a batch that has not been started: its place in the queue, and whether it is there at all. */
import { useState } from 'preact/hooks';
import { mayWithdraw, setPriority, withdrawBatch } from '../data/new-batch.js';
import { can } from '../data/session.js';
import type { BatchDetail } from '../data/types.js';
import { Field } from '../common/field.js';
import { words } from '../common/strings.js';
import { Confirm } from '../parts/confirm.js';
import { ChangeBatch } from './change-batch.js';

const said = words({
  en: {
    priority: 'Priority',
    hint: '0 to 1000; the larger goes first',
    needed: 'Priority: a whole number from 0 to 1000 is needed',
    change: 'Change priority',
    set: (text: string) => `Set priority ${text}`,
    withdraw: 'Withdraw',
    withdrawOf: (batch: string) => `Withdraw ${batch}`,
    sure: 'It has not been started. It goes from the queue, and the audit trail keeps that it was there.',
  },
  de: {
    priority: 'Priorität',
    hint: '0 bis 1000; die größere geht vor',
    needed: 'Priorität: eine ganze Zahl von 0 bis 1000 wird gebraucht',
    change: 'Priorität ändern',
    set: (text: string) => `Priorität ${text} setzen`,
    withdraw: 'Zurückziehen',
    withdrawOf: (batch: string) => `${batch} zurückziehen`,
    sure: 'Sie wurde nicht gestartet. Sie geht aus der Warteschlange, und der Audit-Trail behält, dass sie da war.',
  },
});

export function PendingBatch({ batch }: { readonly batch: BatchDetail }) {
  const [asked, setAsked] = useState<'priority' | 'withdraw' | null>(null);
  return (
    <div class="pending-batch">
      <span data-testid="batch-priority">
        {said.priority} {batch.priority}
      </span>
      {can('batch:update') && (
        <button type="button" class="button" onClick={() => setAsked('priority')} data-testid="change-priority">
          {said.change}
        </button>
      )}
      <ChangeBatch batch={batch} />
      {mayWithdraw(batch) && (
        <button type="button" class="button" onClick={() => setAsked('withdraw')} data-testid="withdraw">
          {said.withdraw}
        </button>
      )}
      {asked === 'priority' && <PriorityDialog batch={batch} onClose={() => setAsked(null)} />}
      {asked === 'withdraw' && <WithdrawDialog batch={batch} onClose={() => setAsked(null)} />}
    </div>
  );
}

interface AskedProps {
  readonly batch: BatchDetail;
  readonly onClose: () => void;
}

function PriorityDialog({ batch, onClose }: AskedProps) {
  const [text, setText] = useState(String(batch.priority));
  const judge = (): string => (/^\d+$/.test(text.trim()) && Number(text.trim()) <= 1000 ? '' : said.needed);
  return (
    <Confirm
      title={`${said.priority}: ${batch.batchID}`}
      verb={said.set(text.trim())}
      testid="priority"
      judge={judge}
      onSend={() => setPriority(batch.name, Number(text.trim()))}
      onClose={onClose}
    >
      <Field id="priority" label={said.priority} value={text} onInput={setText} hint={said.hint} autoFocus />
    </Confirm>
  );
}

function WithdrawDialog({ batch, onClose }: AskedProps) {
  const title = said.withdrawOf(batch.batchID);
  return <Confirm title={title} text={said.sure} verb={title} testid="withdraw" onSend={() => withdrawBatch(batch)} onClose={onClose} />;
}
