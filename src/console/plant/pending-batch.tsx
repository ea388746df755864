/** What may still be changed of a batch that has not been started: its place in the queue, and whether it is there at all. */
import { useState } from 'preact/hooks';
import { mayWithdraw, setPriority, withdrawBatch } from '../data/new-batch.js';
import { can } from '../data/session.js';
import type { BatchDetail } from '../data/types.js';
import { Dialog } from '../common/dialog.js';
import { Fault } from '../common/fault.js';
import { Field } from '../common/field.js';
import { t, words } from '../common/strings.js';
import { useSend } from '../common/use-send.js';
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
  const sending = useSend();
  const submit = (event: Event): void => {
    event.preventDefault();
    const priority = Number(text.trim());
    if (!/^\d+$/.test(text.trim()) || priority > 1000) return sending.refuse(said.needed);
    void sending.run(async () => {
      await setPriority(batch.name, priority);
      onClose();
    });
  };
  return (
    <Dialog title={`${said.priority}: ${batch.batchID}`} testid="priority-dialog" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Fault text={sending.fault} code={sending.code} testid="priority-error" />
        <Field id="priority" label={said.priority} value={text} onInput={setText} hint={said.hint} autoFocus />
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy} data-testid="priority-send">
            {said.set(text.trim())}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function WithdrawDialog({ batch, onClose }: AskedProps) {
  const sending = useSend();
  const submit = (event: Event): void => {
    event.preventDefault();
    void sending.run(async () => {
      await withdrawBatch(batch);
      onClose();
    });
  };
  return (
    <Dialog title={said.withdrawOf(batch.batchID)} testid="withdraw-dialog" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Fault text={sending.fault} code={sending.code} testid="withdraw-error" />
        <p>{said.sure}</p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy} data-testid="withdraw-send">
            {said.withdrawOf(batch.batchID)}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
