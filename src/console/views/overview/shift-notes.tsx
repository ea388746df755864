/** What the shifts tell each other. A note is never changed: what was wrong in one is put right by a further one. */
import { useEffect, useState } from 'preact/hooks';
import { Latest } from '../../data/latest.js';
import { Once } from '../../data/once.js';
import { site, units } from '../../data/plant.js';
import { can } from '../../data/session.js';
import { readNotes, writeNote } from '../../data/shift-notes.js';
import type { LogPage, ShiftNote } from '../../data/types.js';
import { Damaged } from '../../common/damaged.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { Field } from '../../common/field.js';
import { words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';
import { Confirm } from '../../parts/confirm.js';

const said = words({
  en: {
    add: 'Add note',
    handOver: 'Hand over',
    none: 'No shift notes yet.',
    text: 'Note',
    to: 'Handed over to',
    toHint: 'Who takes the shift over',
    unit: 'Unit',
    noUnit: 'None',
    send: 'Write it down',
    handed: (from: string, to: string) => `${from} handed over to ${to}`,
    corrects: (id: number) => `puts note ${id} right`,
    correct: 'Correct',
    older: 'Older',
    needed: 'What shall the next shift know?',
    toNeeded: 'Who takes the shift over?',
    stays: 'It is recorded with your name and stays as it is.',
  },
  de: {
    add: 'Notiz',
    handOver: 'Übergeben',
    none: 'Noch keine Schichtnotizen.',
    text: 'Notiz',
    to: 'Übergeben an',
    toHint: 'Wer die Schicht übernimmt',
    unit: 'Teilanlage',
    noUnit: 'Keine',
    send: 'Festhalten',
    handed: (from: string, to: string) => `${from} hat an ${to} übergeben`,
    corrects: (id: number) => `berichtigt Notiz ${id}`,
    correct: 'Berichtigen',
    older: 'Ältere',
    needed: 'Was soll die nächste Schicht wissen?',
    toNeeded: 'Wer übernimmt die Schicht?',
    stays: 'Es wird mit Ihrem Namen festgehalten und bleibt, wie es ist.',
  },
});

const EVERY_MS = 20_000;
interface Shown {
  /** The newest first. */
  readonly notes: readonly ShiftNote[];
  /** Cursor of what is older; null when nothing is. */
  readonly older: string | null;
  /** Numbers of those that are damaged on the box. */
  readonly damaged: readonly number[];
}
const NONE: Shown = { notes: [], older: null, damaged: [] };
type Asked = { readonly handOver: boolean; readonly corrects?: number };

export function ShiftNotes() {
  const [{ notes, older, damaged }, setShown] = useState<Shown>(NONE);
  const [fault, setFault] = useState('');
  const [asked, setAsked] = useState<Asked | null>(null);
  const [latest] = useState(() => ({ news: new Latest(), older: new Latest() }));
  const read = (of: keyof typeof latest, cursor: string, take: (before: Shown, page: LogPage<ShiftNote>) => Shown): void => {
    const taken = (page: LogPage<ShiftNote>): void => {
      setShown((before) => take(before, page));
      setFault('');
    };
    latest[of].read(() => readNotes(cursor), taken).catch((refused: unknown) => setFault(faultText(refused)));
  };
  const look = (): void => read('news', '', withNewest);
  useEffect(() => {
    setShown(NONE);
    setFault('');
    look();
    const timer = window.setInterval(() => !document.hidden && look(), EVERY_MS);
    return () => {
      clearInterval(timer);
      for (const each of Object.values(latest)) each.forget(); // notes of one site never stand among those of another
    };
  }, [site.value]);
  const more = (): void => {
    if (older !== null) read('older', older, (before, page) => withOlder(before, older, page));
  };
  return (
    <div class="shift-notes" data-testid="shift-notes">
      {can('shiftnote:create') && (
        <div class="shift-actions">
          <button type="button" class="button" onClick={() => setAsked({ handOver: false })} data-testid="note-add">
            {said.add}
          </button>
          <button type="button" class="button" onClick={() => setAsked({ handOver: true })} data-testid="hand-over">
            {said.handOver}
          </button>
        </div>
      )}
      <ReadFault text={fault} />
      <Damaged entries={damaged} />
      {notes.length === 0 && damaged.length === 0 && <p class="empty">{said.none}</p>}
      <ul class="note-list" data-testid="note-list">
        {notes.map((note) => (
          <Note key={note.id} note={note} onCorrect={can('shiftnote:create') ? () => setAsked({ handOver: false, corrects: note.id }) : undefined} />
        ))}
      </ul>
      {older !== null && (
        <button type="button" class="button" onClick={more} data-testid="notes-older">
          {said.older}
        </button>
      )}
      {asked && (
        <NoteDialog
          asked={asked}
          onClose={() => setAsked(null)}
          onWritten={() => {
            setAsked(null);
            look();
          }}
        />
      )}
    </div>
  );
}

/** What was read before stays below the newest, unless so many came meanwhile that some between would be left out unsaid. */
function withNewest(before: Shown, { items, nextCursor, damaged = [] }: LogPage<ShiftNote>): Shown {
  const found = damaged.map(Number);
  const last = items.at(-1)?.id ?? 0;
  const joins = (before.notes[0]?.id ?? -1) >= last - 1;
  if (!joins) return { notes: items, older: nextCursor, damaged: found };
  return { notes: [...items, ...before.notes.filter(({ id }) => id < last)], older: before.older, damaged: [...found, ...before.damaged.filter((id) => id < last)] };
}

/** @param cursor that was asked for: what is shown may end elsewhere by now. */
function withOlder(before: Shown, cursor: string, { items, nextCursor, damaged = [] }: LogPage<ShiftNote>): Shown {
  return before.older === cursor ? { notes: [...before.notes, ...items], older: nextCursor, damaged: [...before.damaged, ...damaged.map(Number)] } : before;
}

function Note({ note, onCorrect }: { readonly note: ShiftNote; readonly onCorrect: (() => void) | undefined }) {
  const { id, ts, author, text, unit, handOverTo, corrects } = note;
  return (
    <li class="shift-note" data-testid={`note-${id}`}>
      <p class="hint">
        <span class="number">
          {id} · {momentText(ts)}
        </span>{' '}
        {handOverTo === '' ? author.displayName : <strong>{said.handed(author.displayName, handOverTo)}</strong>}
        {unit !== '' && ` · ${unit.toUpperCase()}`}
        {corrects !== null && ` · ${said.corrects(corrects)}`}
      </p>
      <p class="note-text">{text}</p>
      {onCorrect && (
        <button type="button" class="button" onClick={onCorrect} data-testid={`note-correct-${id}`}>
          {said.correct}
        </button>
      )}
    </li>
  );
}

interface NoteDialogProps {
  readonly asked: Asked;
  readonly onClose: () => void;
  readonly onWritten: () => void;
}

function NoteDialog({ asked: { handOver, corrects }, onClose, onWritten }: NoteDialogProps) {
  const [text, setText] = useState('');
  const [to, setTo] = useState('');
  const [unit, setUnit] = useState('');
  const [once] = useState(() => new Once());
  const judge = (): string => {
    if (handOver && to.trim() === '') return said.toNeeded;
    return text.trim() === '' ? said.needed : '';
  };
  return (
    <Confirm
      title={handOver ? said.handOver : corrects === undefined ? said.add : said.corrects(corrects)}
      verb={said.send}
      testid="note"
      judge={judge}
      onSend={() => writeNote({ text: text.trim(), unit, ...(handOver ? { handOverTo: to.trim() } : {}), ...(corrects === undefined ? {} : { corrects }) }, once)}
      onSent={onWritten}
      onClose={onClose}
    >
      {handOver && <Field id="note-to" label={said.to} value={to} onInput={setTo} hint={said.toHint} autoFocus />}
      <div class="field">
        <label for="note-text">{said.text}</label>
        <textarea id="note-text" rows={4} maxLength={2000} value={text} onInput={(event) => setText(event.currentTarget.value)} data-testid="note-text" />
      </div>
      <div class="field">
        <label for="note-unit">{said.unit}</label>
        <select id="note-unit" class="select" value={unit} onChange={(event) => setUnit(event.currentTarget.value)} data-testid="note-unit">
          <option value="">{said.noUnit}</option>
          {units.value.map(({ name }) => (
            <option key={name} value={name}>
              {name.toUpperCase()}
            </option>
          ))}
        </select>
      </div>
      <p class="hint">{said.stays}</p>
    </Confirm>
  );
}
