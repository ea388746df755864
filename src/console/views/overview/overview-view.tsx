/** The site at one glance: its units, its batches, and what they ask of people. */
import { useEffect, useState } from 'preact/hooks';
import { watchPlan } from '../../data/plan.js';
import { units } from '../../data/plant.js';
import { can } from '../../data/session.js';
import { t, words } from '../../common/strings.js';
import { BatchDetailView } from '../../plant/batch-detail.js';
import { BatchList } from './batch-list.js';
import { FirstOut } from './first-out.js';
import { NextHours } from './next-hours.js';
import { ShiftNotes } from './shift-notes.js';
import { InTurn } from '../../parts/in-turn.js';
import { Segments } from '../../parts/segments.js';
import { PromptInbox } from '../../plant/prompt-inbox.js';
import { UnitTile } from './unit-tile.js';
import type { ViewDefinition } from '../../frame/view-definition.js';

export const overviewView: ViewDefinition = {
  name: 'overview',
  action: 'overview:read',
  title: () => words({ en: 'Overview', de: 'Übersicht' }),
  component: Overview,
};

type Part = 'batch' | 'ahead' | 'notes';

const said = words({
  en: { shown: 'Shown below', batch: 'Batch', ahead: 'Plan', notes: 'Notes', aheadTitle: 'Next four hours', notesTitle: 'Shift notes' },
  de: { shown: 'Darunter gezeigt', batch: 'Charge', ahead: 'Plan', notes: 'Notizen', aheadTitle: 'Nächste vier Stunden', notesTitle: 'Schichtnotizen' },
});

function Overview() {
  const [part, setPart] = useState<Part>('batch');
  useEffect(watchPlan, []);
  const parts: readonly (readonly [Part, string])[] = [
    ['batch', said.batch],
    ...(can('plan:read') ? ([['ahead', said.ahead]] as const) : []),
    ...(can('shiftnote:list') ? ([['notes', said.notes]] as const) : []),
  ];
  const titles = { batch: said.batch, ahead: said.aheadTitle, notes: said.notesTitle };
  const choice = parts.length > 1 && <Segments label={said.shown} value={part} options={parts} onChoose={setPart} testid="part" />;
  return (
    <div class="work">
      <div class="work-top">
        <InTurn>
          <FirstOut />
        </InTurn>
        <section class="tiles" aria-label={t.units} data-testid="units">
          {units.value.length === 0 && <p class="empty">{t.noSite}</p>}
          {units.value.map((unit) => (
            <InTurn key={unit.name}>
              <UnitTile unit={unit} />
            </InTurn>
          ))}
        </section>
      </div>
      <div class="desk">
        <InTurn>
          <BatchList onChosen={() => setPart('batch')} />
        </InTurn>
        <div class="desk-middle">
          {part === 'batch' && (
            <InTurn>
              <BatchDetailView>{choice}</BatchDetailView>
            </InTurn>
          )}
          {part !== 'batch' && (
            <section class="panel" aria-label={titles[part]}>
              <header class="detail-head">
                <h2>{titles[part]}</h2>
                {choice}
              </header>
              <div class="detail-scroll" tabIndex={0} role="group" aria-label={titles[part]}>
                {part === 'ahead' ? <NextHours /> : <ShiftNotes />}
              </div>
            </section>
          )}
        </div>
        <InTurn>
          <PromptInbox />
        </InTurn>
      </div>
    </div>
  );
}
