/** One unit: what it is, what it does, and the values that tell whether it goes well. */
import { alarms, batches, keyTags, modules, phases, unitInfo } from '../data/plant.js';
import type { OverviewUnit, PhaseAtWork } from '../data/types.js';
import { addressOf } from '../data/view.js';
import { nowMs } from '../common/clock.js';
import { t, word } from '../common/strings.js';
import { ageText } from '../common/text.js';
import { annunciated, SeverityMark } from './alarm.js';
import { DeviceRow } from './device-row.js';
import { MeasuredValue } from './measured-value.js';
import { StateBadge } from './state-badge.js';

export function UnitTile({ unit }: { readonly unit: OverviewUnit }) {
  const keys = keyTags.value.get(unit.name);
  const bypassed = [...modules.value.values()].filter((module) => module.unit === unit.name && module.interlockBypass.active);
  const worst = annunciated(alarms.value).find((alarm) => alarm.unit === unit.name && alarm.state.startsWith('Active'));
  const description = unitInfo.value.get(unit.name)?.description ?? '';
  return (
    <article class="tile" aria-labelledby={`unit-${unit.name}`} data-testid={`unit-${unit.name}`}>
      <header class="tile-head">
        <div class="tile-name">
          <h2 id={`unit-${unit.name}`}>
            <a class="tile-link" href={addressOf('unit', unit.name)} data-testid={`open-${unit.name}`}>
              {unit.name.toUpperCase()}
            </a>
          </h2>
          <p class="hint">{description}</p>
        </div>
        <div class="tile-state">
          <StateBadge state={unit.state} testid={`state-${unit.name}`} />
          <span class={unit.mode === 'Automatic' ? 'hint' : 'mode-other'}>{word(unit.mode)}</span>
          {worst && <SeverityMark severity={worst.severity} />}
          {bypassed.length > 0 && (
            <span class="quality tile-bypass" data-testid={`bypassed-${unit.name}`}>
              {t.bypassMarks(bypassed.map((module) => module.name.toUpperCase()).join(', '))}
            </span>
          )}
        </div>
      </header>
      {!unit.runtimeReady && <p class="fault">{t.unitDown}</p>}
      <Work unit={unit} />
      <div class="values">
        {keys?.measurements.map((measurement) => (
          <MeasuredValue key={measurement.tag.address} unit={unit.name} measurement={measurement} inBatch={unit.allocatedTo !== ''} />
        ))}
      </div>
      {keys && <DeviceRow unit={unit.name} devices={keys.devices} />}
    </article>
  );
}

function Work({ unit }: { readonly unit: OverviewUnit }) {
  const work = unit.activeWork;
  const running = [...phases.value.values()].filter((phase) => phase.unit === unit.name);
  if (!work && running.length === 0) return <p class="tile-work hint">{unit.allocatedTo === '' ? t.noWork : batchName(unit.allocatedTo)}</p>;
  return (
    <div class="tile-work" data-testid={`work-${unit.name}`}>
      <p class="tile-batch">
        <strong>{work ? batchName(work.batchRef || work.name) : batchName(unit.allocatedTo)}</strong>
        {work?.since && <span class="hint number">{ageText(Date.parse(work.since), nowMs.value)}</span>}
        {unit.heldInside && <span class="state state-attention">{t.waitsInside}</span>}
      </p>
      {running.map((phase) => (
        <PhaseLine key={phase.name} phase={phase} unitState={unit.state} />
      ))}
    </div>
  );
}

/** A state that the head of the tile shows already is not said twice: the room is for the path. */
function PhaseLine({ phase, unitState }: { readonly phase: PhaseAtWork; readonly unitState: string }) {
  const steps = phase.activeSteps ?? [];
  return (
    <p class="phase-line">
      <span class="phase-path">{phase.stepPath || phase.templateRef}</span>
      {steps.length > 0 && (
        <span class="hint phase-step">
          {t.step} {steps.join(', ')}
        </span>
      )}
      {phase.state !== 'Running' && phase.state !== unitState && <StateBadge state={phase.state} />}
    </p>
  );
}

/** The number people know a batch by, not the resource's name. */
function batchName(name: string): string {
  return batches.value.find((batch) => batch.name === name)?.batchID ?? name;
}
