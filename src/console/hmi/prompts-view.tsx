/** What the procedures of all units ask of people, in one place: choose a unit, or see them all. */
import { useState } from 'preact/hooks';
import { prompts } from '../data/plant.js';
import { Chips } from '../common/chips.js';
import { t, words } from '../common/strings.js';
import { PromptList } from './prompt-inbox.js';
import type { ViewDefinition } from './view-definition.js';

export const promptsView: ViewDefinition = {
  name: 'prompts',
  action: 'phase:list-prompts',
  title: () => words({ en: 'Prompts', de: 'Anfragen' }),
  waiting: { count: () => prompts.value.length, urgent: false },
  component: PromptsView,
};

function PromptsView() {
  const [unit, setUnit] = useState('');
  const waiting = prompts.value;
  const asking = [...new Set(waiting.map((prompt) => prompt.unit))].sort();
  const shown = unit === '' || !asking.includes(unit) ? waiting : waiting.filter((prompt) => prompt.unit === unit);
  return (
    <section class="panel page prompts-page" aria-labelledby="prompts-view-title" data-testid="prompts-view">
      <header class="page-head">
        <h2 id="prompts-view-title">{t.prompts}</h2>
        {asking.length > 0 && (
          <Chips
            label={t.units}
            value={asking.includes(unit) ? unit : ''}
            options={[
              ['', `${t.everyUnit} ${waiting.length}`],
              ...asking.map((name) => [name, `${name.toUpperCase()} ${waiting.filter((prompt) => prompt.unit === name).length}`] as const),
            ]}
            onChoose={setUnit}
            testid="prompts-unit"
          />
        )}
      </header>
      <PromptList waiting={shown} />
    </section>
  );
}
