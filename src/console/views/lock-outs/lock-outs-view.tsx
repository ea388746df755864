/** User names that are locked after failed passwords, until when and by whose tries; an administrator lifts a lock-out. */
import { useState } from 'preact/hooks';
import { hasAccounts, LOCK_OUTS, unlock } from '../../data/access.js';
import { listPage } from '../../data/listed.js';
import { can } from '../../data/session.js';
import type { LockOut } from '../../data/types.js';
import { words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';
import { useLog } from '../../common/use-log.js';
import { Confirm } from '../../parts/confirm.js';
import { type Column, Table } from '../../parts/table.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { administration } from '../administration.js';

const text = words({
  en: {
    title: 'Lock-outs',
    hint: 'Wrong passwords lock a user name for the address that they came from, and many from everywhere. A lock-out ends by itself; many at once may be somebody who guesses.',
    elsewhere: 'Passwords are not judged by this box, so it locks nobody out.',
    username: 'User name',
    attempts: 'Wrong tries',
    first: 'First',
    last: 'Last',
    until: 'Locked until',
    from: 'Tried from',
    reach: 'Locked',
    everywhere: 'from everywhere',
    there: 'from these addresses',
    lift: 'Lift',
    liftText: (who: string) => `${who} may try to sign in again at once, and so may whoever guessed. Ask first whether it was the person who typed the wrong passwords.`,
    none: 'No user name is locked.',
  },
  de: {
    title: 'Sperren',
    hint: 'Falsche Kennwörter sperren einen Benutzernamen für die Adresse, von der sie kamen, und viele von überall. Eine Sperre endet von selbst; viele auf einmal können jemand sein, der rät.',
    elsewhere: 'Kennwörter prüft nicht diese Box; sie sperrt deshalb niemanden.',
    username: 'Benutzername',
    attempts: 'Falsche Versuche',
    first: 'Erster',
    last: 'Letzter',
    until: 'Gesperrt bis',
    from: 'Versucht von',
    reach: 'Gesperrt',
    everywhere: 'von überall',
    there: 'von diesen Adressen',
    lift: 'Aufheben',
    liftText: (who) =>
      `${who} kann sofort wieder versuchen, sich anzumelden, und wer geraten hat, auch. Fragen Sie zuerst, ob die Person selbst die falschen Kennwörter eingegeben hat.`,
    none: 'Kein Benutzername ist gesperrt.',
  },
});

export const lockOutsView: ViewDefinition = { name: 'lock-outs', action: 'lockout:list', section: administration, title: () => text.title, component: LockOutsView };

function LockOutsView() {
  const [lifting, setLifting] = useState('');
  const rows = useLog((cursor) => listPage<LockOut>(LOCK_OUTS, {}, cursor), []);
  const columns: readonly Column<LockOut>[] = [
    { key: 'username', title: text.username, cell: ({ username }) => username },
    { key: 'attempts', title: text.attempts, cell: ({ failedAttempts }) => String(failedAttempts), isNumber: true },
    { key: 'first', title: text.first, cell: ({ firstFailedAt }) => momentText(firstFailedAt), isNumber: true },
    { key: 'last', title: text.last, cell: ({ lastFailedAt }) => momentText(lastFailedAt), isNumber: true },
    { key: 'until', title: text.until, cell: ({ lockedUntil }) => momentText(lockedUntil), isNumber: true },
    { key: 'from', title: text.from, cell: ({ sourceIPs }) => sourceIPs.join(', ') },
    { key: 'reach', title: text.reach, cell: ({ everywhere }) => (everywhere ? text.everywhere : text.there) },
    { key: 'lift', title: text.lift, cell: ({ username }) => <LiftButton username={username} onAsk={setLifting} /> },
  ];
  return (
    <section class="panel page" aria-labelledby="lock-outs-title" data-testid="lock-outs-view">
      <header class="page-head">
        <h2 id="lock-outs-title">{text.title}</h2>
      </header>
      <p class="hint">{hasAccounts() ? text.hint : text.elsewhere}</p>
      <Table label={text.title} columns={columns} rows={rows} keyOf={({ username }) => username} empty={text.none} testid="lock-outs" />
      {lifting !== '' && (
        <Confirm
          title={`${text.lift}: ${lifting}`}
          text={text.liftText(lifting)}
          verb={text.lift}
          testid="lift"
          onSend={async () => {
            await unlock(lifting);
            rows.again();
          }}
          onClose={() => setLifting('')}
        />
      )}
    </section>
  );
}

function LiftButton({ username, onAsk }: { readonly username: string; readonly onAsk: (username: string) => void }) {
  if (!can('lockout:delete')) return null;
  return (
    <button type="button" class="button" aria-label={`${text.lift}: ${username}`} onClick={() => onAsk(username)} data-testid={`lift-${username}`}>
      {text.lift}
    </button>
  );
}
