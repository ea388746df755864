/** The chart of the element that was chosen in the tree, with its active step and the transitions it waits for. */
import { choosePath, chosenPath, element, states, tree } from '../data/procedure.js';
import { severityOf } from '../data/states.js';
import type { ElementDetail, ProceduralChart, SfcStatus, TransitionState } from '../data/types.js';
import { stale } from '../data/plant.js';
import { t, word } from '../common/strings.js';
import { ChartView, type StepMark } from './chart-view.js';
import { StateBadge } from './state-badge.js';

export function ElementView() {
  const path = chosenPath.value;
  const node = tree.value.find((each) => each.path === path);
  const found = element.value;
  if (!node) return <section class="panel" aria-label={t.chart} />;
  const running = found?.chartStatus?.chart;
  const chart = running ? (found.spec.charts?.[running] ?? node.chart) : node.chart;
  const sfc = running ? found?.chartStatus : found?.sfcStatus;
  return (
    <section class="panel element" aria-label={t.chart} data-testid="element" data-path={path}>
      <header class="page-head">
        <h3>{path === '' ? t.procedure : path}</h3>
        {found && <StateBadge state={found.state} />}
        {running && <span class="hint">{running}</span>}
      </header>
      <div class={stale.value ? 'element-scroll scroll live' : 'element-scroll scroll'} tabIndex={0} role="group" aria-label={t.chart}>
        {node.isPhase ? <PhaseChart chart={chart} sfc={sfc} /> : <Children chart={chart} path={path} />}
        {sfc && <Transitions items={sfc.transitionStates} />}
        {found && found.blockedBecause !== '' && !sfc && <Because element={found} />}
      </div>
    </section>
  );
}

function PhaseChart({ chart, sfc }: { readonly chart: ProceduralChart; readonly sfc: SfcStatus | undefined }) {
  const mark = (step: string): StepMark => (sfc?.activeSteps.includes(step) ? 'active' : sfc?.completedSteps.includes(step) ? 'done' : 'waiting');
  const looked = new Map(sfc?.transitionStates.map(({ index, met }) => [index, met]) ?? []);
  return <ChartView chart={chart} markOf={mark} noteOf={(step) => (sfc?.activeSteps.includes(step) ? t.stepActive : '')} looked={looked} onChoose={undefined} />;
}

/** The steps of the levels above are elements: they show their states and open at a touch. */
function Children({ chart, path }: { readonly chart: ProceduralChart; readonly path: string }) {
  const known = states.value;
  const below = (step: string): string => (path === '' ? step : `${path}/${step}`);
  const stateOf = (step: string): string => known.get(below(step))?.state ?? '';
  const mark = (step: string): StepMark => {
    const state = stateOf(step);
    if (state === '' || state === 'Idle') return 'waiting';
    if (state === 'Complete') return 'done';
    const severity = severityOf(state);
    return severity === 'normal' ? 'active' : severity;
  };
  return (
    <ChartView chart={chart} markOf={mark} noteOf={(step) => (stateOf(step) === '' ? '' : word(stateOf(step)))} looked={new Map()} onChoose={(step) => choosePath(below(step))} />
  );
}

/** What each transition waits for, condition by condition (decisions 3.9). */
function Transitions({ items }: { readonly items: readonly TransitionState[] }) {
  if (items.length === 0) return null;
  return (
    <ul class="transitions" data-testid="transitions">
      {items.map((item) => (
        <li key={item.index} data-met={String(item.met)}>
          <p>
            <strong>
              {item.index + 1}: {item.fromStep} → {item.toStep}
            </strong>{' '}
            <code class="mono">{item.conditionST}</code> {item.reason !== undefined && item.reason !== '' && <span class="hint">{item.reason}</span>}
          </p>
          <ul>
            {item.subConditions.map(({ expression, met }) => (
              <li key={expression} data-testid="sub-condition" data-met={String(met)}>
                <span aria-hidden="true">{met ? '✓' : '✗'}</span>
                <span class="visually-hidden">{met ? t.met : t.notMet}: </span> <code class="mono">{expression}</code>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function Because({ element: { blockedBecause } }: { readonly element: ElementDetail }) {
  return (
    <p class="note">
      <strong>{t.blocked}:</strong> {blockedBecause}
    </p>
  );
}
