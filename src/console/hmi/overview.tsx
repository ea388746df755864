/** The site at one glance: its units, its batches, and what they ask of people. */
import { units } from '../data/plant.js';
import { t, words } from '../common/strings.js';
import { BatchDetailView } from './batch-detail.js';
import { BatchList } from './batch-list.js';
import { PromptInbox } from './prompt-inbox.js';
import { UnitTile } from './unit-tile.js';
import type { ViewDefinition } from './view-definition.js';

export const overviewView: ViewDefinition = {
  name: 'overview',
  action: 'overview:read',
  title: () => words({ en: 'Overview', de: 'Übersicht' }),
  component: Overview,
};

function Overview() {
  return (
    <div class="work">
      <section class="tiles" aria-label={t.units} data-testid="units">
        {units.value.length === 0 && <p class="empty">{t.noSite}</p>}
        {units.value.map((unit) => (
          <UnitTile key={unit.name} unit={unit} />
        ))}
      </section>
      <div class="desk">
        <BatchList />
        <BatchDetailView />
        <PromptInbox />
      </div>
    </div>
  );
}
