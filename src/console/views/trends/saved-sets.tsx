/** Sets of curves that are kept on the box: everybody sees them, and who changed one is on record. */
import { useState } from 'preact/hooks';
import { readSets, removeSet, saveSet, type TrendSet } from '../../data/trend-sets.js';
import { can } from '../../data/session.js';
import { addressOf, type ViewQuery } from '../../data/view.js';
import { Confirm } from '../../parts/confirm.js';
import { Dialog } from '../../common/dialog.js';
import { Fault } from '../../common/fault.js';
import { t, words } from '../../common/strings.js';
import { useLog } from '../../common/use-log.js';
import { useSend } from '../../common/use-send.js';
import { PENS_MAX } from './trend-address.js';

const said = words({
  en: {
    title: 'Saved sets',
    name: 'Name',
    save: 'Save what is shown',
    none: 'Nothing is saved yet.',
    remove: 'Delete',
    exists: 'A set of this name is replaced.',
    removeText: (title: string) => `“${title}” is deleted for everybody. Who deleted it is on record.`,
  },
  de: {
    title: 'Gespeicherte Zusammenstellungen',
    name: 'Name',
    save: 'Gezeigtes speichern',
    none: 'Noch ist nichts gespeichert.',
    remove: 'Löschen',
    exists: 'Die Zusammenstellung dieses Namens wird ersetzt.',
    removeText: (title: string) => `„${title}“ wird für alle gelöscht. Wer sie gelöscht hat, ist aufgezeichnet.`,
  },
});

interface SetsProps {
  readonly keys: readonly string[];
  readonly query: ViewQuery;
  readonly onClose: () => void;
}

export function SavedSets({ keys, query, onClose }: SetsProps) {
  const [title, setTitle] = useState('');
  const [count, setCount] = useState(0);
  const [going, setGoing] = useState<TrendSet | null>(null);
  const sets = useLog<TrendSet>(readSets, [count]);
  const sending = useSend();
  const known = sets.items.find((set) => set.title === title.trim());
  const submit = (event: Event): void => {
    event.preventDefault();
    void sending.run(async () => {
      await saveSet(title.trim(), keys, query.window ?? '', known);
      setTitle('');
      setCount(count + 1);
    });
  };
  if (going)
    return (
      <Confirm
        title={`${said.remove}: ${going.title}`}
        text={said.removeText(going.title)}
        verb={said.remove}
        testid="set-remove"
        onSend={() => removeSet(going)}
        onSent={() => {
          setGoing(null);
          setCount(count + 1);
        }}
        onClose={() => setGoing(null)}
      />
    );
  return (
    <Dialog title={said.title} testid="sets-dialog" reads onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Fault text={sending.fault || sets.fault} code={sending.code} testid="sets-error" />
        {sets.items.length === 0 && !sets.busy && <p class="empty">{said.none}</p>}
        <ul class="tag-list" tabIndex={0} aria-label={said.title}>
          {sets.items.map((set) => (
            <li key={set.name} class="set-row">
              <a
                class="row"
                href={addressOf('trends', '', {
                  tags: set.tags
                    .slice(0, PENS_MAX)
                    .map(({ unit, address }) => `${unit} ${address}`)
                    .join(','),
                  window: set.window,
                })}
                onClick={onClose}
                data-testid={`set-${set.name}`}
              >
                <span class="row-main">
                  <strong>{set.title}</strong>
                </span>
                <span class="hint">{set.tags.map(({ address }) => address).join(', ')}</span>
              </a>
              {can('trendset:delete') && (
                <button type="button" class="button" disabled={sending.busy} onClick={() => setGoing(set)} data-testid={`set-remove-${set.name}`}>
                  {said.remove}
                </button>
              )}
            </li>
          ))}
        </ul>
        {can('trendset:create') && keys.length > 0 && (
          <div class="field">
            <label for="set-title">{said.name}</label>
            <input id="set-title" value={title} maxLength={100} autocomplete="off" onInput={(event) => setTitle(event.currentTarget.value)} data-testid="set-title" />
            {known && <p class="hint">{said.exists}</p>}
          </div>
        )}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose} data-testid="sets-done">
            {t.close}
          </button>
          {can('trendset:create') && keys.length > 0 && (
            <button type="submit" class="button primary" disabled={sending.busy || title.trim() === ''} data-testid="set-save">
              {said.save}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
