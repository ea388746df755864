/** Which tags have a pen: searched over all units, and only the rows in sight are drawn. */
import { useState } from 'preact/hooks';
import { modules, tagList, units } from '../../data/plant.js';
import type { TagDescriptor } from '../../data/types.js';
import { Chips } from '../../common/chips.js';
import { Dialog } from '../../common/dialog.js';
import { t, words } from '../../common/strings.js';
import { unitText } from '../../common/text.js';
import { PENS_MAX } from './trend-address.js';

const said = words({
  en: {
    none: (text: string) => `No tag holds "${text}".`,
    full: `Six curves at most. Take one away first: `,
    found: (count: number) => `${count} tags`,
  },
  de: {
    none: (text: string) => `Keine Variable enthält „${text}“.`,
    full: `Höchstens sechs Kurven. Nehmen Sie zuerst eine weg: `,
    found: (count: number) => `${count} Variablen`,
  },
});
const ROW_PX = 52;
const ROWS = 12;

export const keyOf = ({ unit, address }: TagDescriptor): string => `${unit} ${address}`;

interface ChoiceProps {
  readonly keys: readonly string[];
  readonly onChoose: (keys: readonly string[]) => void;
  readonly onClose: () => void;
}

export function TagChoice({ keys, onChoose, onClose }: ChoiceProps) {
  const [unit, setUnit] = useState('');
  const [text, setText] = useState('');
  const [first, setFirst] = useState(0);
  const [refused, setRefused] = useState('');
  const wanted = text.trim().toLowerCase();
  const shown = tagList.value.filter(
    (tag) =>
      (unit === '' || tag.unit === unit) &&
      tag.dataType !== 'String' &&
      (wanted === '' || tag.address.toLowerCase().includes(wanted) || tag.unit.toLowerCase().includes(wanted) || descriptionOf(tag).toLowerCase().includes(wanted)),
  );
  const toggle = (tag: TagDescriptor): void => {
    const key = keyOf(tag);
    const isOn = keys.includes(key);
    setRefused(!isOn && keys.length >= PENS_MAX ? tag.address : '');
    if (isOn) onChoose(keys.filter((each) => each !== key));
    else if (keys.length < PENS_MAX) onChoose([...keys, key]);
  };
  const from = Math.max(0, Math.min(first, shown.length - ROWS));
  const rows = shown.slice(from, from + 2 * ROWS);
  return (
    <Dialog title={t.chooseTags} testid="tag-dialog" wide reads onClose={onClose}>
      <div class="stack">
        <Chips
          label={t.unit}
          value={unit}
          options={[['', t.everyUnit], ...units.value.map(({ name }) => [name, name.toUpperCase()] as const)]}
          onChoose={(chosen) => {
            setUnit(chosen);
            setFirst(0);
          }}
          testid="tag-unit"
        />
        <div class="field">
          <label for="tag-search">{t.search}</label>
          <input
            id="tag-search"
            value={text}
            autocomplete="off"
            onInput={(event) => {
              setText(event.currentTarget.value);
              setFirst(0);
            }}
            data-testid="tag-search"
          />
        </div>
        <p class="hint" role="status" data-testid="tag-found">
          {shown.length === 0 ? said.none(text.trim()) : said.found(shown.length)}
        </p>
        <ul class="tag-list" tabIndex={0} aria-label={t.chooseTags} onScroll={(event) => setFirst(Math.max(0, Math.floor(event.currentTarget.scrollTop / ROW_PX) - 3))}>
          <li style={{ height: `${from * ROW_PX}px` }} aria-hidden="true" />
          {rows.map((tag) => (
            <li key={keyOf(tag)} style={{ height: `${ROW_PX}px` }}>
              <button type="button" role="checkbox" class="row" aria-checked={keys.includes(keyOf(tag))} onClick={() => toggle(tag)} data-testid={`tag-${tag.address}`}>
                <span class="row-main">
                  <strong>
                    <span aria-hidden="true">{keys.includes(keyOf(tag)) ? '☑' : '☐'}</span> {tag.address}
                  </strong>
                </span>
                <span class="hint">
                  {tag.unit.toUpperCase()} · {descriptionOf(tag)} {unitText(tag.engUnits)}
                </span>
              </button>
            </li>
          ))}
          <li style={{ height: `${Math.max(0, shown.length - from - rows.length) * ROW_PX}px` }} aria-hidden="true" />
        </ul>
        {refused !== '' && (
          <p class="warning" role="alert" data-testid="tag-refused">
            {said.full}
            {refused}
          </p>
        )}
        <div class="dialog-actions">
          <span class="hint">{t.pensOf(keys.length, PENS_MAX)}</span>
          <button type="button" class="button primary" onClick={onClose} data-testid="tags-done">
            {t.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function descriptionOf({ controlModule }: TagDescriptor): string {
  return modules.value.get(controlModule)?.description ?? '';
}
