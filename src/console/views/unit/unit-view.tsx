/** One unit: its equipment drawn from symbols and hierarchy with live values, and the faceplate of the module touched. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { graphicPatterns, moduleTags } from '../../data/module-tags.js';
import { batches, modules, site, tagList, unitInfo, units, watchTags } from '../../data/plant.js';
import { batchNumber } from '../../plant/batch-number.js';
import { can } from '../../data/session.js';
import type { OverviewUnit } from '../../data/types.js';
import { addressOf, narrow, view } from '../../data/view.js';
import { t, word, words } from '../../common/strings.js';
import { Faceplate } from './faceplate.js';
import { StateBadge } from '../../plant/state-badge.js';
import { Badge } from '../../parts/badge.js';
import { Segments } from '../../parts/segments.js';
import { ActivePhases } from './active-phases.js';
import { CommandButton } from '../../plant/command-button.js';
import { EquipmentList } from './equipment-list.js';
import { LayoutEditor } from './layout-editor.js';
import { Picture } from './picture.js';
import { mayRun, RunDialog, runWords } from './run-dialog.js';
import { RunStrip } from './run-strip.js';

const said = words({
  en: { shown: 'Shown as', picture: 'Picture', list: 'List', edit: 'Edit the layout' },
  de: { shown: 'Dargestellt als', picture: 'Bild', list: 'Liste', edit: 'Anordnung ändern' },
});

type ShownAs = 'picture' | 'list';
const SHOWN: readonly (readonly [ShownAs, string])[] = [
  ['picture', said.picture],
  ['list', said.list],
];

/** A picture is drawn from connections: a unit without any opens as its list. */
function shownAs(asked: string | undefined, connections: readonly unknown[] | undefined): ShownAs {
  return asked === 'picture' || asked === 'list' ? asked : (connections?.length ?? 0) > 0 ? 'picture' : 'list';
}

/** Of another unit nothing stays that was chosen or begun at this one. */
export function UnitView({ id }: { readonly id: string }) {
  return <OneUnit key={id} name={id} />;
}

function OneUnit({ name }: { readonly name: string }) {
  // it stands in the address: what is named as being in the way opens with its faceplate
  const chosen = view.value.query.module ?? '';
  const setChosen = (module: string): void => narrow({ module });
  const [isRunning, setRunning] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const unit = units.value.find((each) => each.name === name);
  const found = useMemo(
    () =>
      [...modules.value.values()]
        .filter((module) => module.unit === name)
        .map((module) => moduleTags(module, tagList.value))
        .sort((a, b) => a.module.name.localeCompare(b.module.name)),
    [name, modules.value, tagList.value],
  );
  const patterns = graphicPatterns(found).join('\n');
  useEffect(() => (patterns === '' ? undefined : watchTags(name, patterns.split('\n'))), [name, patterns, site.value]);
  if (!unit) return <p class="panel page empty">{t.noUnit(name)}</p>;
  const shown = shownAs(view.value.query.as, unitInfo.value.get(name)?.connections);
  const open = found.find(({ module }) => module.name === chosen);
  return (
    <div class="unit-page" data-testid="unit-view" data-unit={name}>
      <section class="panel unit-panel" aria-labelledby="unit-title">
        <UnitHead unit={unit} />
        <ActivePhases unit={name} />
        {isEditing ? (
          <LayoutEditor unit={name} found={found} onClose={() => setEditing(false)} />
        ) : (
          <>
            {shown === 'picture' ? (
              <Picture unit={name} found={found} chosen={chosen} onChoose={setChosen} />
            ) : (
              <EquipmentList unit={name} found={found} chosen={chosen} onChoose={setChosen} />
            )}
            <footer class="unit-foot">
              <Segments label={said.shown} value={shown} options={SHOWN} onChoose={(as) => narrow({ as })} testid="unit-as" />
              <CommandButton name={runWords.verb} disabled={mayRun().length === 0} onClick={() => setRunning(true)} testid="run-by-hand" />
              {shown === 'picture' && can('unit:update') && (
                <button type="button" class="button" onClick={() => setEditing(true)} data-testid="layout-edit">
                  {said.edit}
                </button>
              )}
              <RunStrip unit={unit} />
            </footer>
          </>
        )}
      </section>
      {open ? (
        <Faceplate key={open.module.name} tags={open} onClose={() => setChosen('')} />
      ) : (
        <aside class="panel faceplate faceplate-none">
          <p class="empty">{t.chooseModule}</p>
        </aside>
      )}
      {isRunning && <RunDialog unit={name} onClose={() => setRunning(false)} />}
    </div>
  );
}

function UnitHead({ unit }: { readonly unit: OverviewUnit }) {
  const batch = unit.allocatedTo || unit.activeWork?.batchRef || '';
  const batchID = batches.value.find(({ name }) => name === batch)?.batchID;
  return (
    <header class="page-head">
      <div>
        <h2 id="unit-title">{unit.name.toUpperCase()}</h2>
        <p class="hint unit-description">{unitInfo.value.get(unit.name)?.description}</p>
        {unit.allocationQueue.length > 0 && (
          <p class="hint" data-testid="unit-queue">
            {t.waitForIt}: {unit.allocationQueue.map(waiterText).join('; ')}
          </p>
        )}
      </div>
      <StateBadge state={unit.state} testid="unit-state" />
      <span class={unit.mode === 'Automatic' ? 'hint' : 'mode-other'}>{word(unit.mode)}</span>
      {unit.heldInside && <Badge look="soft">{t.waitsInside}</Badge>}
      {!unit.runtimeReady && <Badge look="critical">{t.unitDown}</Badge>}
      {batchID !== undefined && (
        <a class="button" href={addressOf('batch', batch)}>
          <span class="unit-batch">{t.batch} </span>
          {batchID}
        </a>
      )}
      <nav class="page-filters" aria-label={t.units}>
        {units.value.map(({ name }) => (
          <a key={name} class="place" href={addressOf('unit', name)} aria-current={name === unit.name ? 'page' : undefined}>
            {name.toUpperCase()}
          </a>
        ))}
      </nav>
    </header>
  );
}

/** Who waits for any unit of a class, with the units that would do. */
function waiterText({ batch, capability, candidates = [] }: OverviewUnit['allocationQueue'][number]): string {
  const batchID = batchNumber(batch);
  return capability === undefined ? batchID : `${batchID} (${t.unitClass(capability, candidates.map((name) => name.toUpperCase()).join(', '))})`;
}
