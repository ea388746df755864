/** Another batch of the same recipe beside this one: its curves dotted from the same beginning, and what each element took in both. */
import { useEffect, useState } from 'preact/hooks';
import { boxNowMs } from '../../data/box-clock.js';
import { batchesLike, type OtherBatch, readOther } from '../../data/other-batch.js';
import { timeline, tree } from '../../data/procedure.js';
import { runsOf, tookMs } from '../../data/run-rows.js';
import { can } from '../../data/session.js';
import type { BatchDetail, BatchItem } from '../../data/types.js';
import { narrow, view } from '../../data/view.js';
import { lengthText } from '../../common/length-text.js';
import { t, word, words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';

const said = words({
  en: { none: 'Compare with …', label: 'Compare with another batch of the recipe', title: 'Element by element', difference: 'Difference', element: 'Element' },
  de: { none: 'Vergleichen mit …', label: 'Mit einer anderen Charge des Rezepts vergleichen', title: 'Element für Element', difference: 'Unterschied', element: 'Element' },
});

/** The one that is named in the address. */
export function useCompared(): OtherBatch | undefined {
  const { with: name = '' } = view.value.query;
  const [found, setFound] = useState<OtherBatch | undefined>(undefined);
  useEffect(() => {
    setFound(undefined);
    if (name !== '') readOther(name).then(setFound, () => narrow({ with: '' })); // it is there no more
  }, [name]);
  return found?.batch.name === name ? found : undefined;
}

export function Compare({ batch }: { readonly batch: BatchDetail }) {
  const { with: name = '' } = view.value.query;
  const [others, setOthers] = useState<readonly BatchItem[]>([]);
  useEffect(() => {
    if (can('batch:list')) batchesLike(batch).then(setOthers, () => undefined); // asked again when the view is opened again
  }, [batch.name, batch.recipe.name]);
  if (others.length === 0) return null;
  return (
    <select class="select" aria-label={said.label} value={name} onChange={(event) => narrow({ with: event.currentTarget.value })} data-testid="compare">
      <option value="">{said.none}</option>
      {others.map((each) => (
        <option key={each.name} value={each.name}>
          {each.batchID} {momentText(each.startedAt)} {word(each.phase)}
        </option>
      ))}
    </select>
  );
}

export function Durations({ batch, compared }: { readonly batch: BatchDetail; readonly compared: OtherBatch }) {
  const line = timeline.value;
  if (!line) return null;
  const nowMs = boxNowMs();
  const [own, other] = [runsOf(line, nowMs), runsOf(compared.timeline, nowMs)];
  return (
    <section class="panel" aria-labelledby="durations-title">
      <h3 id="durations-title">{said.title}</h3>
      <div class="durations" tabIndex={0} role="group" aria-label={said.title}>
        <table class="table run-table" data-testid="durations">
          <thead>
            <tr>
              <th scope="col">{said.element}</th>
              <th scope="col" class="number">
                {batch.batchID}
              </th>
              <th scope="col" class="number">
                {compared.batch.batchID}
              </th>
              <th scope="col" class="number">
                {said.difference}
              </th>
            </tr>
          </thead>
          <tbody>
            {tree.value.map(({ path, stepName, level }) => {
              const [here, there] = [own.get(path), other.get(path)].map((run) => run && tookMs(run, nowMs));
              return (
                <tr key={path}>
                  <th scope="row" class={`tree-${level}`}>
                    {stepName || t.procedure}
                  </th>
                  <td class="number">{lengthText(here)}</td>
                  <td class="number">{lengthText(there)}</td>
                  <td class="number">{here === undefined || there === undefined ? '' : `${here < there ? '−' : '+'}${lengthText(Math.abs(here - there))}`}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
