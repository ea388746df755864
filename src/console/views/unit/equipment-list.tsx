/** The modules of a unit by equipment module, beside its vessel: where no connections are engineered, and for whoever looks for a name. */
import { unitInfo } from '../../data/plant.js';
import type { ModuleTags } from '../../data/module-tags.js';
import { t, word } from '../../common/strings.js';
import { Symbol } from '../../parts/symbols.js';
import { Vessel } from '../../parts/vessel.js';
import { levelOf } from './level.js';
import { lookOf } from './module-look.js';
import { UnitTags } from './unit-tags.js';

interface GraphicProps {
  readonly unit: string;
  readonly found: readonly ModuleTags[];
  readonly chosen: string;
  readonly onChoose: (module: string) => void;
}

/** Equipment modules around the vessel; instruments of the unit itself beside its level. */
export function EquipmentList({ unit, found, chosen, onChoose }: GraphicProps) {
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
        <UnitTags unit={unit} />
      </div>
    </div>
  );
}

function UnitBody({ unit }: { readonly unit: string }) {
  return <Vessel id={unitInfo.value.get(unit)?.symbolId ?? ''} level={levelOf(unit)?.share} />;
}

interface ModuleButtonProps {
  readonly unit: string;
  readonly tags: ModuleTags;
  readonly chosen: boolean;
  readonly onChoose: (module: string) => void;
}

function ModuleButton({ unit, tags, chosen, onChoose }: ModuleButtonProps) {
  const { module } = tags;
  const { look, marks, quietMarks, value, target, attributes } = lookOf(unit, tags);
  return (
    <button type="button" class="module live" aria-pressed={chosen} onClick={() => onChoose(module.name)} {...attributes}>
      <Symbol id={module.symbolId} deviceClass={module.deviceClass} look={look} tag={module.name} marks={marks} quietMarks={quietMarks} />
      <span class="module-text">
        <span class="module-name">
          {module.name.toUpperCase()}
          {module.mode === 'Semi-Automatic' && <span class="mode-other">{t.modeLetters[module.mode]}</span>}
          {module.state !== 'Running' && <span class="quality">{word(module.state)}</span>}
        </span>
        <span class="module-value number">{value}</span>
        {target !== '' && (
          <span class="hint number">
            {t.setpoint} {target}
          </span>
        )}
      </span>
    </button>
  );
}
