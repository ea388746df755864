/** What the procedures of all units ask of people, in one place: choose a unit, or see them all. The address holds the unit, so that a label on it leads here. */
import { useState } from 'preact/hooks';
import { prompts, unitInfo } from '../../data/plant.js';
import { narrow, view } from '../../data/view.js';
import { Chips } from '../../common/chips.js';
import { t, words } from '../../common/strings.js';
import { PromptList } from '../../plant/prompt-inbox.js';
import { Notices } from './notices.js';
import { UnitLabel } from './unit-label.js';

const said = words({
  en: { label: 'Label for the unit', none: (unit: string) => `Nothing to answer for ${unit}.`, unknown: (unit: string) => `There is no unit ${unit} at this site.` },
  de: {
    label: 'Etikett für die Teilanlage',
    none: (unit: string) => `Für ${unit} ist nichts zu beantworten.`,
    unknown: (unit: string) => `Eine Teilanlage ${unit} gibt es hier nicht.`,
  },
});

export function PromptsView() {
  const [labels, setLabels] = useState(false);
  const { unit = '' } = view.value.query;
  const waiting = prompts.value;
  const offered = [...new Set([...unitInfo.value.keys(), ...(unit === '' ? [] : [unit])])].sort();
  const count = (name: string): string => {
    const asked = waiting.filter((prompt) => prompt.unit === name).length;
    return asked === 0 ? name.toUpperCase() : `${name.toUpperCase()} ${asked}`;
  };
  const none = unit === '' ? t.noPrompts : unitInfo.value.has(unit) ? said.none(unit.toUpperCase()) : said.unknown(unit.toUpperCase());
  return (
    <section class="panel page prompts-page" aria-labelledby="prompts-view-title" data-testid="prompts-view">
      <header class="page-head">
        <h2 id="prompts-view-title">{t.prompts}</h2>
        {offered.length > 0 && (
          <Chips
            label={t.units}
            value={unit}
            options={[['', `${t.everyUnit} ${waiting.length}`], ...offered.map((name) => [name, count(name)] as const)]}
            onChoose={(chosen) => narrow({ unit: chosen })}
            testid="prompts-unit"
          />
        )}
        <Notices unit={unit} />
        {unitInfo.value.has(unit) && (
          <button type="button" class="button" onClick={() => setLabels(true)} data-testid="unit-label">
            {said.label}
          </button>
        )}
      </header>
      <PromptList isOf={(prompt) => unit === '' || prompt.unit === unit} none={none} />
      {labels && <UnitLabel unit={unit} onClose={() => setLabels(false)} />}
    </section>
  );
}
