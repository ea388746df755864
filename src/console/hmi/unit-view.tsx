/** One unit: its equipment drawn from symbols and hierarchy with live values, and the faceplate of the module touched. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { deviceLook } from '../data/device-look.js';
import { graphicPatterns, isBlocked, type ModuleTags, moduleTags } from '../data/module-tags.js';
import { batches, keyTags, modules, site, tagList, tagValue, unitInfo, units, watchTags } from '../data/plant.js';
import type { OverviewUnit } from '../data/types.js';
import { addressOf } from '../data/view.js';
import { t, word } from '../common/strings.js';
import { tagText } from '../common/tag-text.js';
import { Faceplate } from './faceplate.js';
import { StateBadge } from './state-badge.js';
import { Symbol, Vessel } from './symbols.js';
import type { ViewDefinition } from './view-definition.js';

export const unitView: ViewDefinition = { name: 'unit', title: (id) => `${t.unit} ${id.toUpperCase()}`, component: ({ id }) => <UnitView key={id} name={id} /> };

function UnitView({ name }: { readonly name: string }) {
  const [chosen, setChosen] = useState('');
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
  const open = found.find(({ module }) => module.name === chosen);
  return (
    <div class="unit-page" data-testid="unit-view" data-unit={name}>
      <section class="panel unit-panel" aria-labelledby="unit-title">
        <UnitHead unit={unit} />
        <Graphic unit={name} found={found} chosen={chosen} onChoose={setChosen} />
      </section>
      {open ? (
        <Faceplate key={open.module.name} tags={open} onClose={() => setChosen('')} />
      ) : (
        <aside class="panel faceplate faceplate-none">
          <p class="empty">{t.chooseModule}</p>
        </aside>
      )}
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
      {unit.heldInside && <span class="state state-attention">{t.waitsInside}</span>}
      {!unit.runtimeReady && <span class="state state-bad">{t.unitDown}</span>}
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
  const batchID = batches.value.find(({ name }) => name === batch)?.batchID ?? batch;
  return capability === undefined ? batchID : `${batchID} (${t.unitClass(capability, candidates.map((name) => name.toUpperCase()).join(', '))})`;
}

interface GraphicProps {
  readonly unit: string;
  readonly found: readonly ModuleTags[];
  readonly chosen: string;
  readonly onChoose: (module: string) => void;
}

/** Equipment modules around the vessel; instruments of the unit itself beside its level. */
function Graphic({ unit, found, chosen, onChoose }: GraphicProps) {
  const groups = new Map<string, ModuleTags[]>();
  for (const tags of found) {
    const own = groups.get(tags.module.equipmentModule) ?? [];
    own.push(tags);
    groups.set(tags.module.equipmentModule, own);
  }
  const own = groups.get('') ?? [];
  groups.delete('');
  const list = (members: readonly ModuleTags[]) =>
    members.map((tags) => <ModuleButton key={tags.module.name} unit={unit} tags={tags} chosen={tags.module.name === chosen} onChoose={onChoose} />);
  return (
    <div class="graphic scroll" tabIndex={0} role="group" aria-label={t.equipment}>
      <div class="graphic-body">
        <UnitBody unit={unit} />
        <div class="graphic-own">{list(own)}</div>
      </div>
      <div class="graphic-groups">
        {[...groups].map(([name, members]) => (
          <section class="graphic-group" key={name} aria-label={name}>
            <h3>{name}</h3>
            <div class="graphic-modules">{list(members)}</div>
          </section>
        ))}
      </div>
    </div>
  );
}

/** The level of the unit is that of its first level measurement. */
function UnitBody({ unit }: { readonly unit: string }) {
  const level = keyTags.value.get(unit)?.measurements.find(({ variable }) => variable === 'Level');
  const held = level ? tagValue(unit, level.tag.address).value : undefined;
  const share = level?.range && held?.quality === 'Good' && typeof held.value === 'number' ? (held.value - level.range.min) / (level.range.max - level.range.min) : undefined;
  return <Vessel id={unitInfo.value.get(unit)?.symbolId ?? ''} level={share} />;
}

interface ModuleButtonProps {
  readonly unit: string;
  readonly tags: ModuleTags;
  readonly chosen: boolean;
  readonly onChoose: (module: string) => void;
}

function ModuleButton({ unit, tags, chosen, onChoose }: ModuleButtonProps) {
  const { module, main, setpoint, interlocks, faults } = tags;
  const held = main ? tagValue(unit, main.address).value : undefined;
  const target = setpoint ? tagValue(unit, setpoint.address).value : undefined;
  const blocked = interlocks.some((tag) => {
    const { value, quality } = tagValue(unit, tag.address).value;
    return quality === 'Good' && isBlocked(tag, value);
  });
  const faulted = faults.some((tag) => tagValue(unit, tag.address).value.value === true);
  return (
    <button
      type="button"
      class="module live"
      aria-pressed={chosen}
      onClick={() => onChoose(module.name)}
      title={module.description}
      data-testid={`module-${module.name}`}
      data-quality={held?.quality}
      data-mode={module.mode}
      data-blocked={String(blocked)}
      data-fault={String(faulted)}
      data-bypassed={String(module.interlockBypass.active)}
    >
      <Symbol id={module.symbolId} deviceClass={module.deviceClass} look={held ? deviceLook(held, faulted) : faulted ? 'fault' : 'unknown'} tag={module.name} />
      <span class="module-text">
        <span class="module-name">
          {module.name.toUpperCase()}
          {module.mode !== 'Automatic' && <span class="mode-other">{t.modeLetters[module.mode]}</span>}
          {blocked && (
            <span class="mark" title={t.interlocked}>
              ⊘<span class="visually-hidden"> {t.interlocked}</span>
            </span>
          )}
          {module.interlockBypass.active && <span class="quality">{t.bypassMark}</span>}
          {module.state !== 'Running' && <span class="quality">{word(module.state)}</span>}
        </span>
        <span class="module-value number">{main && held ? tagText(main, held) : '–'}</span>
        {target && setpoint && (
          <span class="hint number">
            {t.setpoint} {tagText(setpoint, target)}
          </span>
        )}
      </span>
    </button>
  );
}
