/** One unit: what it is, what it does, and the values that tell whether it goes well. */
import { plan, plannedOf } from '../../data/plan.js';
import { alarms, batches, keyTags, modules, phases, unitInfo } from '../../data/plant.js';
import type { Alarm, OverviewUnit, PhaseAtWork } from '../../data/types.js';
import { addressOf } from '../../data/view.js';
import { nowMs } from '../../common/clock.js';
import { t, word, words } from '../../common/strings.js';
import { ageText, minuteText, momentText } from '../../common/text.js';
import { annunciated } from '../../plant/alarm.js';
import { Badge, SeverityBadge } from '../../parts/badge.js';
import { Mark } from '../../parts/mark.js';
import { Progress } from '../../parts/progress.js';
import { batchNumber } from '../../plant/batch-number.js';
import { DeviceRow } from '../../plant/device-row.js';
import { endText } from '../../plant/expected-end.js';
import { MeasuredValue } from '../../plant/measured-value.js';
import { holdText } from '../../plant/hold-text.js';
import { StateBadge } from '../../plant/state-badge.js';
import { Conditions } from './conditions.js';

const said = words({
  en: {
    progress: (batch: string) => `Progress of ${batch}`,
    startedAt: (at: string) => `started ${at}`,
    runsFor: (age: string) => `for ${age}`,
    next: (batch: string) => `Next ${batch}`,
    about: (at: string) => `about ${at}`,
    held: (cause: string) => `Held: ${cause}`,
    happened: 'What happened, what is open',
  },
  de: {
    progress: (batch: string) => `Fortschritt von ${batch}`,
    startedAt: (at: string) => `begonnen ${at}`,
    runsFor: (age: string) => `seit ${age}`,
    next: (batch: string) => `Als Nächstes ${batch}`,
    about: (at: string) => `etwa ${at}`,
    held: (cause: string) => `Angehalten: ${cause}`,
    happened: 'Was geschah, was offen ist',
  },
});

export function UnitTile({ unit }: { readonly unit: OverviewUnit }) {
  const keys = keyTags.value.get(unit.name);
  const bypassed = [...modules.value.values()].filter((module) => module.unit === unit.name && module.interlockBypass.active);
  const worst = annunciated(alarms.value).find((alarm) => alarm.unit === unit.name && alarm.state.startsWith('Active'));
  const description = unitInfo.value.get(unit.name)?.description ?? '';
  return (
    <article class="tile" data-abnormal={isAbnormal(unit, worst)} aria-labelledby={`unit-${unit.name}`} data-testid={`unit-${unit.name}`}>
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
        </div>
      </header>
      {!unit.runtimeReady && <p class="fault">{t.unitDown}</p>}
      <Work unit={unit} />
      <div class="tile-known">
        <Known unit={unit} worst={worst} />
      </div>
      <div class="values">
        {keys?.measurements.map((measurement) => (
          <MeasuredValue key={measurement.tag.address} unit={unit.name} measurement={measurement} inBatch={unit.allocatedTo !== ''} />
        ))}
      </div>
      {bypassed.length > 0 && (
        <p class="tile-condition" data-testid={`bypassed-${unit.name}`}>
          <Mark kind="bypassed" />
          {t.bypassMarks(bypassed.map((module) => module.name.toUpperCase()).join(', '))}
        </p>
      )}
      <Conditions unit={unit} keys={keys} />
      {keys && <DeviceRow unit={unit.name} devices={keys.devices} />}
    </article>
  );
}

/** Where one column has to do, such a unit stands before the others. */
function isAbnormal({ state, heldInside, runtimeReady }: OverviewUnit, worst: Alarm | undefined): boolean {
  return worst !== undefined || heldInside || !runtimeReady || ABNORMAL.includes(state);
}

const ABNORMAL: readonly string[] = ['Holding', 'Held', 'Pausing', 'Paused', 'Stopping', 'Stopped', 'Aborting', 'Aborted'];

/** What to know first: why the batch is held, and the worst alarm. One that came of the hold does not stand in the place of its cause. */
function Known({ unit, worst }: { readonly unit: OverviewUnit; readonly worst: Alarm | undefined }) {
  const batch = batches.value.find(({ name }) => name === unit.allocatedTo);
  const { heldBy } = batch ?? {};
  const isCause = worst !== undefined && worst.name === heldBy?.alarm;
  const isOwn = worst !== undefined && !isCause && (!heldBy || worst.activatedAt < heldBy.since || GRAVE.includes(worst.severity));
  return (
    <>
      {batch && heldBy && (
        <a class="tile-worst tile-held" href={addressOf('batch', batch.name, { tab: 'happened' })} data-testid={`held-${unit.name}`} title={said.happened}>
          {isCause && <SeverityBadge severity={worst.severity} hasWord={false} />}
          <strong>{said.held(holdText(batch))}</strong>
        </a>
      )}
      {isOwn && (
        <a class="tile-worst" href={addressOf('unit', unit.name)} data-testid={`worst-${unit.name}`}>
          <SeverityBadge severity={worst.severity} hasWord={false} />
          <strong>{worst.message || worst.name}</strong>
        </a>
      )}
    </>
  );
}

const GRAVE: readonly string[] = ['Critical', 'High'];

function Work({ unit }: { readonly unit: OverviewUnit }) {
  const work = unit.activeWork;
  const running = [...phases.value.values()].filter((phase) => phase.unit === unit.name);
  if (!work && running.length === 0) return <Rests unit={unit} />;
  const name = unit.allocatedTo || work?.batchRef || work?.name || '';
  const batch = batches.value.find((each) => each.name === name);
  return (
    <div class="tile-work" data-testid={`work-${unit.name}`}>
      <p class="tile-batch">
        <strong>{batchNumber(name)}</strong>
        {batch && batch.startedAt !== '' && (
          <span class="hint number" title={said.startedAt(momentText(batch.startedAt))} data-testid={`age-${unit.name}`}>
            {said.runsFor(ageText(Date.parse(batch.startedAt), nowMs.value))}
          </span>
        )}
        {unit.heldInside && <Badge look="soft">{t.waitsInside}</Badge>}
        <End batch={name} />
      </p>
      {running.map((phase) => (
        <PhaseLine key={phase.name} phase={phase} unitState={unit.state} />
      ))}
      <HowFar batch={name} />
    </div>
  );
}

/** Of a unit without work: what comes next, by the plan. */
function Rests({ unit }: { readonly unit: OverviewUnit }) {
  const next = plan.value?.units.find((each) => each.unit === unit.name)?.spans.find(({ state }) => state === 'Planned');
  const has = unit.allocatedTo === '' ? undefined : unit.allocatedTo;
  return (
    <div class="tile-work hint">
      <p class="tile-batch">
        <span>{has === undefined ? t.noWork : batchNumber(has)}</span>
        {has !== undefined && <End batch={has} />}
      </p>
      {has === undefined && next && (
        <p data-testid={`next-${unit.name}`}>
          {said.next(next.batchID)} {said.about(minuteText(next.from))}
        </p>
      )}
    </div>
  );
}

function End({ batch }: { readonly batch: string }) {
  const text = endText(batch);
  if (text === '') return null;
  return (
    <span class="hint tile-end" data-testid="expected-end">
      {text}
    </span>
  );
}

function HowFar({ batch }: { readonly batch: string }) {
  const planned = plannedOf(batch);
  if (!planned || planned.expectedSeconds === null || planned.expectedSeconds === 0) return null;
  return <Progress share={planned.elapsedSeconds / planned.expectedSeconds} label={said.progress(planned.batchID)} />;
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
