/**
 * Things of the picture are put where they stand in the plant: dragged, or moved by the arrow keys, always onto the grid. Nothing is kept before it is
 * saved; the question before shows old beside new. Undo and redo go through all that was moved since the editor was opened.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ModuleTags } from '../../data/module-tags.js';
import { stale, unitInfo } from '../../data/plant.js';
import { type Layout, movedItems, placed, saveLayout } from '../../data/unit-layout.js';
import { CELL, moduleItem, pictureOf, type UnitPicture, VESSEL_ITEM } from '../../data/unit-picture.js';
import { Dialog } from '../../common/dialog.js';
import { Fault } from '../../common/fault.js';
import { t, words } from '../../common/strings.js';
import { useSend } from '../../common/use-send.js';
import { FromTo, Symbol } from '../../parts/symbols.js';
import { VesselBody } from '../../parts/vessel.js';
import { CommandButton } from '../../plant/command-button.js';
import { lineOf } from './picture-line.js';

const said = words({
  en: {
    how: 'Drag things, or choose one and move it with the arrow keys. It is saved for every panel.',
    area: 'Layout of the picture',
    undo: 'Undo',
    redo: 'Redo',
    automatic: 'Automatic',
    save: 'Save',
    leave: 'Leave',
    title: (unit: string) => `Save the layout of ${unit}`,
    place: (column: number, row: number) => `column ${column}, row ${row}`,
    reckoned: 'automatic',
    nothing: 'Nothing was moved.',
    item: 'Thing',
    vessel: 'Vessel',
    ends: { from: 'from', to: 'to', junction: 'junction' } as Readonly<Record<string, string>>,
    before: 'Before',
    after: 'After',
  },
  de: {
    how: 'Dinge ziehen, oder eines wählen und mit den Pfeiltasten verschieben. Es wird für alle Panels gespeichert.',
    area: 'Anordnung des Bildes',
    undo: 'Zurück',
    redo: 'Wieder vor',
    automatic: 'Automatisch',
    save: 'Speichern',
    leave: 'Verlassen',
    title: (unit: string) => `Anordnung von ${unit} speichern`,
    place: (column: number, row: number) => `Spalte ${column}, Zeile ${row}`,
    reckoned: 'automatisch',
    nothing: 'Nichts wurde verschoben.',
    item: 'Ding',
    vessel: 'Behälter',
    ends: { from: 'von', to: 'nach', junction: 'Verzweigung' } as Readonly<Record<string, string>>,
    before: 'Vorher',
    after: 'Nachher',
  },
});

const NONE: Layout = [];
const GRID_MAX = 200;

interface Drag {
  readonly item: string;
  readonly column: number;
  readonly row: number;
  readonly fromColumn: number;
  readonly fromRow: number;
}

/** Who only touches a thing moves nothing. */
function isMoved({ column, row, fromColumn, fromRow }: Drag): boolean {
  return column !== fromColumn || row !== fromRow;
}

interface LayoutEditorProps {
  readonly unit: string;
  readonly found: readonly ModuleTags[];
  readonly onClose: () => void;
}

export function LayoutEditor({ unit, found, onClose }: LayoutEditorProps) {
  const info = unitInfo.value.get(unit);
  const [opened] = useState<Layout>(info?.layout ?? NONE);
  const [steps, setSteps] = useState<readonly Layout[]>([opened]);
  const [at, setAt] = useState(0);
  const [drag, setDrag] = useState<Drag | null>(null);
  const [isAsked, setAsked] = useState(false);
  const kept = steps[at] ?? opened;
  const layout = drag && isMoved(drag) ? placed(kept, drag.item, drag.column, drag.row) : kept;
  const picture = useMemo(
    () =>
      pictureOf(
        { symbolId: info?.symbolId ?? '', connections: info?.connections ?? [], layout },
        found.map(({ module }) => module),
      ),
    [info, found, layout],
  );
  const area = useRef<HTMLDivElement>(null);
  const take = (next: Layout): void => {
    setSteps([...steps.slice(0, at + 1), next]);
    setAt(at + 1);
  };
  const onKeys = (event: KeyboardEvent): void => {
    if (!(event.ctrlKey || event.metaKey) || !['z', 'y'].includes(event.key.toLowerCase())) return;
    const isRedo = event.key.toLowerCase() === 'y' || event.shiftKey;
    setAt(Math.min(steps.length - 1, Math.max(0, at + (isRedo ? 1 : -1))));
    event.preventDefault();
  };
  const cellAt = ({ clientX, clientY }: PointerEvent): { readonly column: number; readonly row: number } => {
    const box = area.current?.getBoundingClientRect();
    const [x, y] = box ? [((clientX - box.left) / box.width) * picture.width, ((clientY - box.top) / box.height) * picture.height] : [0, 0];
    return { column: inGrid(x), row: inGrid(y) };
  };
  const handles = itemsOf(picture, found);
  return (
    <>
      <p class="hint">{said.how}</p>
      <div class="picture-place scroll" tabIndex={0} role="group" aria-label={said.area} onKeyDown={onKeys} data-testid="layout-editor">
        <div class="picture picture-grid" style={{ '--w': picture.width, '--h': picture.height }} ref={area}>
          <svg class="picture-lines" viewBox={`0 0 ${picture.width} ${picture.height}`} aria-hidden="true">
            {picture.pipes.map(({ at: index, points }) => (
              <path key={index} class="pipe-line" d={lineOf(points)} />
            ))}
            {picture.vessel && <VesselBody id={picture.vessel.shape} box={picture.vessel} level={undefined} hasJacket={picture.vessel.hasJacket} />}
          </svg>
          {handles.map(({ item, x, y, label, tags }) => (
            <button
              type="button"
              key={item}
              class={`picture-handle picture-handle-${item.startsWith('from ') ? 'from' : item.startsWith('to ') ? 'to' : 'thing'}`}
              aria-label={`${label}: ${said.place(Math.round(x / CELL), Math.round(y / CELL))}`}
              style={{ left: `${(x / picture.width) * 100}%`, top: `${(y / picture.height) * 100}%` }}
              onPointerDown={(event) => {
                event.currentTarget.setPointerCapture(event.pointerId);
                event.currentTarget.focus();
                setDrag({ item, column: inGrid(x), row: inGrid(y), fromColumn: inGrid(x), fromRow: inGrid(y) });
              }}
              onPointerMove={(event) => {
                if (drag?.item !== item) return;
                const cell = cellAt(event);
                if (cell.column !== drag.column || cell.row !== drag.row) setDrag({ ...drag, ...cell });
              }}
              onPointerUp={() => {
                if (drag && isMoved(drag)) take(layout);
                setDrag(null);
              }}
              onPointerCancel={() => setDrag(null)}
              onKeyDown={(event) => {
                const step = ARROWS[event.key];
                if (!step) return;
                take(placed(kept, item, inGrid(x + step.x * CELL), inGrid(y + step.y * CELL)));
                event.preventDefault();
              }}
              data-testid={`place-${item.replaceAll(' ', '-')}`}
              data-place={`${Math.round(x / CELL)} ${Math.round(y / CELL)}`}
            >
              {tags ? (
                <Symbol id={tags.module.symbolId} deviceClass={tags.module.deviceClass} look="rest" tag={tags.module.name} />
              ) : item.startsWith('from ') || item.startsWith('to ') ? (
                <FromTo name={label} />
              ) : (
                <span class="picture-dot">{item === VESSEL_ITEM ? '⤢' : '●'}</span>
              )}
            </button>
          ))}
        </div>
      </div>
      <div class="unit-foot">
        <button type="button" class="button" disabled={at === 0} onClick={() => setAt(at - 1)} data-testid="layout-undo">
          {said.undo}
        </button>
        <button type="button" class="button" disabled={at === steps.length - 1} onClick={() => setAt(at + 1)} data-testid="layout-redo">
          {said.redo}
        </button>
        <button type="button" class="button" disabled={kept.length === 0} onClick={() => take(NONE)} data-testid="layout-automatic">
          {said.automatic}
        </button>
        <CommandButton name={said.save} look="button primary" disabled={movedItems(opened, kept).length === 0} onClick={() => setAsked(true)} testid="layout-save" />
        <button type="button" class="button" onClick={onClose} data-testid="layout-leave">
          {said.leave}
        </button>
      </div>
      {isAsked && <SaveDialog unit={unit} before={opened} after={kept} onClose={() => setAsked(false)} onSaved={onClose} />}
    </>
  );
}

const ARROWS: Readonly<Record<string, { readonly x: number; readonly y: number }>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

function inGrid(pixels: number): number {
  return Math.min(GRID_MAX, Math.max(0, Math.round(pixels / CELL)));
}

interface Handle {
  readonly item: string;
  readonly x: number;
  readonly y: number;
  readonly label: string;
  readonly tags: ModuleTags | undefined;
}

function itemsOf({ vessel, modules, ends, junctions }: UnitPicture, found: readonly ModuleTags[]): Handle[] {
  return [
    ...(vessel ? [{ item: VESSEL_ITEM, x: vessel.x, y: vessel.y, label: said.vessel, tags: undefined }] : []),
    ...ends.map(({ item, x, y, text }) => ({ item, x, y, label: text, tags: undefined })),
    ...junctions.map(({ item, x, y }) => ({ item, x, y, label: itemText(item), tags: undefined })),
    ...modules.map(({ name, x, y }) => ({ item: moduleItem(name), x, y, label: name.toUpperCase(), tags: found.find(({ module }) => module.name === name) })),
  ];
}

/** `from mx101`, `junction a`, the name of a module, or the vessel itself, as the layout keeps it. */
function itemText(item: string): string {
  if (item === VESSEL_ITEM) return said.vessel;
  const [way = '', ...name] = item.split(' ');
  return name.length > 0 && said.ends[way] !== undefined ? `${said.ends[way]} ${name.join(' ').toUpperCase()}` : item.toUpperCase();
}

interface SaveDialogProps {
  readonly unit: string;
  readonly before: Layout;
  readonly after: Layout;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

function SaveDialog({ unit, before, after, onClose, onSaved }: SaveDialogProps) {
  const sending = useSend();
  const moved = movedItems(before, after);
  const isOpen = useRef(true);
  useEffect(() => () => void (isOpen.current = false), []);
  const submit = (event: Event): void => {
    event.preventDefault();
    void sending.run(async () => {
      await saveLayout(unit, before, after);
      if (isOpen.current) onSaved();
    });
  };
  const text = (place: Layout[number] | undefined): string => (place ? said.place(place.column, place.row) : said.reckoned);
  return (
    <Dialog title={said.title(unit.toUpperCase())} testid="layout-dialog" wide onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Fault text={sending.fault} code={sending.code} testid="layout-error" />
        {moved.length === 0 && <p>{said.nothing}</p>}
        <div class="scroll" tabIndex={0} role="region" aria-label={said.item}>
          <table class="table" data-testid="layout-moved">
            <thead>
              <tr>
                <th scope="col">{said.item}</th>
                <th scope="col">{said.before}</th>
                <th scope="col">{said.after}</th>
              </tr>
            </thead>
            <tbody>
              {moved.map(({ item, from, to }) => (
                <tr key={item}>
                  <td>{itemText(item)}</td>
                  <td>{text(from)}</td>
                  <td>{text(to)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy || stale.value} data-testid="layout-send">
            {sending.busy ? t.sending : said.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
