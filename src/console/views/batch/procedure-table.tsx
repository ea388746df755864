/** All elements of the procedure in the order of the recipe, with when they began and ended and what they took. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { boxNowMs } from '../../data/box-clock.js';
import { detail } from '../../data/batch.js';
import { choosePath, chosenPath, timeline, tree } from '../../data/procedure.js';
import { runsOf, tookMs } from '../../data/run-rows.js';
import { isFinal } from '../../data/states.js';
import { lengthText } from '../../common/length-text.js';
import { t, words } from '../../common/strings.js';
import { momentText, zoneText } from '../../common/text.js';
import { StateBadge } from '../../plant/state-badge.js';

const said = words({
  en: { element: 'Element', unit: 'Unit', state: 'State', began: 'Began', ended: 'Ended', took: 'Took', stood: 'of it held', notYet: 'not yet' },
  de: { element: 'Element', unit: 'Teilanlage', state: 'Zustand', began: 'Beginn', ended: 'Ende', took: 'Dauer', stood: 'davon angehalten', notYet: 'noch nicht' },
});

export function ProcedureTable({ choice }: { readonly choice: ComponentChildren }) {
  const [nowMs, setNowMs] = useState(boxNowMs);
  const isOver = isFinal(detail.value?.phase ?? '');
  useEffect(() => {
    if (isOver) return;
    const timer = window.setInterval(() => !document.hidden && setNowMs(boxNowMs()), 1000);
    return () => clearInterval(timer);
  }, [isOver]);
  const runs = timeline.value ? runsOf(timeline.value, nowMs) : new Map();
  return (
    <section class="panel procedure-whole" aria-label={t.procedure}>
      <header class="page-head">
        {choice}
        <span class="hint">{zoneText(new Date(nowMs).toISOString())}</span>
      </header>
      <div class="scroll" tabIndex={0} role="group" aria-label={t.procedure}>
        <table class="table run-table" data-testid="procedure-table">
          <thead>
            <tr>
              {[said.element, said.unit, said.state, said.began, said.ended, said.took, said.stood].map((head, at) => (
                <th key={head} scope="col" class={at >= 3 ? 'number' : ''}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {tree.value.map(({ path, stepName, level }) => {
              const run = runs.get(path);
              const took = run && tookMs(run, nowMs);
              return (
                <tr key={path} class={path === chosenPath.value ? 'run-chosen' : ''} data-testid={`row-${path === '' ? 'root' : path}`}>
                  <th scope="row" class={`tree-${level}`}>
                    <button type="button" class="run-open" aria-pressed={path === chosenPath.value} onClick={() => choosePath(path)}>
                      {stepName || t.procedure}
                    </button>
                  </th>
                  <td>{run?.unit.toUpperCase()}</td>
                  <td>{run ? <StateBadge state={run.state} /> : <span class="hint">{said.notYet}</span>}</td>
                  <td class="number">{run && run.from !== '' ? momentText(run.from) : ''}</td>
                  <td class="number">{run && run.to !== '' ? momentText(run.to) : ''}</td>
                  <td class="number">{lengthText(took)}</td>
                  <td class="number">{run && run.stoodMs > 0 ? lengthText(run.stoodMs) : ''}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
