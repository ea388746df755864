/** The chart of the element that was chosen in the tree, with its active step and the transitions it waits for. */
import { useState } from 'preact/hooks';
import { setMode } from '../../data/modules.js';
import { detail, readSoon } from '../../data/batch.js';
import { choosePath, chosenPath, element, readElement, states, tree } from '../../data/procedure.js';
import { can } from '../../data/session.js';
import type { ElementDetail, ProceduralChart, SfcStatus, TransitionState } from '../../data/types.js';
import { stale } from '../../data/plant.js';
import { t, word } from '../../common/strings.js';
import { ChartView, markOf, type StepMark } from './chart-view.js';
import { blockerText } from '../../plant/blocker-words.js';
import { isStopped } from '../../plant/command-bar.js';
import { PartLine } from '../../plant/condition-words.js';
import { ModeChoice } from '../../plant/mode-choice.js';
import { StateBadge } from '../../plant/state-badge.js';
import { type Steering, SteeringDialog } from './step-dialog.js';

export function ElementView() {
  const [steering, setSteering] = useState(false);
  /** What somebody is about to change by hand; its dialog outlives the step it leaves. */
  const [changing, setChanging] = useState<Steering | null>(null);
  const path = chosenPath.value;
  const node = tree.value.find((each) => each.path === path);
  const found = element.value;
  const kind = states.value.get(path)?.kind;
  if (!node) return <section class="panel" aria-label={t.chart} />;
  const running = found?.chartStatus?.chart;
  const chart = running ? (found.spec.charts?.[running] ?? node.chart) : node.chart;
  const sfc = running ? found?.chartStatus : found?.sfcStatus;
  const active = sfc?.activeSteps ?? [];
  const steered = found && kind && sfc && !running && isSteerable(kind, found) ? { kind, name: found.name } : undefined;
  return (
    <section class="panel element" aria-label={t.chart} data-testid="element" data-path={path}>
      <header class="page-head">
        <h3 title={path}>
          {path.includes('/') && <span class="hint">{path.slice(0, path.lastIndexOf('/')).replaceAll('/', ' / ')} / </span>}
          {path === '' ? t.procedure : path.slice(path.lastIndexOf('/') + 1)}
        </h3>
        {found && <StateBadge state={found.state} />}
        {found && found.mode !== 'Automatic' && <span class="mode-other">{word(found.mode)}</span>}
        {running && <span class="hint">{running}</span>}
        {found && (
          <button type="button" class="button page-filters" aria-expanded={steering} onClick={() => setSteering(!steering)} data-testid="steer">
            {t.mode}
          </button>
        )}
      </header>
      {found && kind && steering && (
        <ModeChoice
          title={path || t.procedure}
          mode={found.mode}
          meanings={t.elementModes}
          above={found.levelsAbove}
          onSet={async (mode, also) => {
            await setMode(kind, found.name, mode, also);
            readSoon();
            await readElement();
          }}
        />
      )}
      <div class={stale.value ? 'element-scroll scroll live' : 'element-scroll scroll'} tabIndex={0} role="group" aria-label={t.chart}>
        {steered && node.isPhase && <p class="hint">{t.stepTouch}</p>}
        {node.isPhase ? (
          <PhaseChart chart={chart} sfc={sfc} onTouch={steered && ((step) => setChanging({ element: steered, step, active }))} />
        ) : (
          <Children chart={chart} path={path} />
        )}
        {steered && !node.isPhase && <StepsByHand chart={chart} active={active} onTouch={(step) => setChanging({ element: steered, step, active })} />}
        {sfc && <Transitions items={sfc.transitionStates} onForce={steered && ((item) => setChanging({ element: steered, item }))} />}
        {found && found.blockedBecause !== '' && !sfc && <Because element={found} />}
      </div>
      {changing && <SteeringDialog steering={changing} onClose={() => setChanging(null)} />}
    </section>
  );
}

/** States in which a chart can be changed by hand; in all others another chart has the equipment (ADR 0007). */
const STEERABLE: readonly string[] = ['Running', 'Paused', 'Held'];

function isSteerable(kind: string, { mode, state }: ElementDetail): boolean {
  return mode === 'Manual' && STEERABLE.includes(state) && can(`${kind.toLowerCase()}:active-step`);
}

interface PhaseChartProps {
  readonly chart: ProceduralChart;
  readonly sfc: SfcStatus | undefined;
  /** For a phase whose steps may be changed by hand. */
  readonly onTouch: ((step: string) => void) | undefined;
}

function PhaseChart({ chart, sfc, onTouch }: PhaseChartProps) {
  const mark = (step: string): StepMark => (sfc?.activeSteps.includes(step) ? 'active' : sfc?.completedSteps.includes(step) ? 'done' : 'waiting');
  const looked = new Map(sfc?.transitionStates.map(({ index, met }) => [index, met]) ?? []);
  return <ChartView chart={chart} markOf={mark} noteOf={(step) => (sfc?.activeSteps.includes(step) ? t.stepActive : '')} looked={looked} onChoose={onTouch} />;
}

/** The steps of the levels above are elements: they show their states and open at a touch. */
function Children({ chart, path }: { readonly chart: ProceduralChart; readonly path: string }) {
  const known = states.value;
  const below = (step: string): string => (path === '' ? step : `${path}/${step}`);
  const stateOf = (step: string): string => known.get(below(step))?.state ?? '';
  return (
    <ChartView
      chart={chart}
      markOf={(step) => markOf(stateOf(step))}
      noteOf={(step) => (stateOf(step) === '' ? '' : word(stateOf(step)))}
      looked={new Map()}
      onChoose={(step) => choosePath(below(step))}
    />
  );
}

interface StepsByHandProps {
  readonly chart: ProceduralChart;
  readonly active: readonly string[];
  readonly onTouch: (step: string) => void;
}

/** Above the phase a touch on the chart opens an element, so the steps to skip to or go back to are chosen here. */
function StepsByHand({ chart, active, onTouch }: StepsByHandProps) {
  return (
    <div class="note" role="group" aria-label={t.stepsByHand} data-testid="steps-by-hand">
      <p>{t.stepsByHand}</p>
      <div class="chips">
        {chart.steps?.map(({ name }) => (
          <button type="button" class="chip" key={name} onClick={() => onTouch(name)} data-testid={`by-hand-${name}`} data-active={String(active.includes(name))}>
            {name}
            {active.includes(name) && ` (${t.stepActive})`} …
          </button>
        ))}
      </div>
    </div>
  );
}

/** What each transition waits for, condition by condition (decisions 3.9). @param onForce for an element in Manual. */
export function Transitions({ items, onForce }: { readonly items: readonly TransitionState[]; readonly onForce: ((item: TransitionState) => void) | undefined }) {
  if (items.length === 0) return null;
  return (
    <ul class="transitions" data-testid="transitions">
      {items.map((item) => (
        <li key={item.index} data-met={String(item.met)}>
          <p>
            <strong>
              {item.index + 1}: {item.fromStep} → {item.toStep}
            </strong>{' '}
            {item.subConditions.length !== 1 && <code class="mono hint">{item.conditionST}</code>}{' '}
            {item.reason !== undefined && item.reason !== '' && <span class="hint">{item.reason}</span>}
            {item.asTold !== undefined && (
              <span class="hint" data-testid="as-told">
                {t.asTold(item.asTold)}
              </span>
            )}
          </p>
          <ul>
            {item.subConditions.map((part) => (
              <PartLine key={part.expression} part={part} />
            ))}
          </ul>
          {onForce && (
            <button type="button" class="button" onClick={() => onForce(item)} data-testid={`force-${item.fromStep}-${item.toStep}`}>
              {t.force}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function Because({ element: { blockedBy } }: { readonly element: ElementDetail }) {
  const stops = detail.value !== null && isStopped(detail.value);
  return (
    <p class="note">
      <strong>{t.blocked}:</strong> {[...new Set(blockedBy.map((blocker) => blockerText(blocker, stops)))].join('; ')}
    </p>
  );
}
