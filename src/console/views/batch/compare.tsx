/** Another batch of the same recipe beside this one: its curves dotted from the same beginning, and what each element took in both. */
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../data/api.js';
import { boxNowMs } from '../../data/box-clock.js';
import { batchesLike, type OtherBatch, readOther } from '../../data/other-batch.js';
import { timeline, tree } from '../../data/procedure.js';
import { runsOf, tookMs } from '../../data/run-rows.js';
import { can } from '../../data/session.js';
import type { BatchDetail, BatchItem } from '../../data/types.js';
import { narrow, view } from '../../data/view.js';
import { faultText } from '../../common/fault-text.js';
import { lengthText } from '../../common/length-text.js';
import { t, word, words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';

const said = words({
  en: {
    none: 'Compare with …',
    label: 'Compare with another batch of the recipe',
    title: 'Element by element',
    difference: 'Difference',
    element: 'Element',
    noBatch: (batch: string, why: string) => `${batch} could not be read: ${why}`,
    noTimes: (batch: string, why: string) => `Times of ${batch} could not be read: ${why}`,
  },
  de: {
    none: 'Vergleichen mit …',
    label: 'Mit einer anderen Charge des Rezepts vergleichen',
    title: 'Element für Element',
    difference: 'Unterschied',
    element: 'Element',
    noBatch: (batch: string, why: string) => `${batch} war nicht zu lesen: ${why}`,
    noTimes: (batch: string, why: string) => `Die Zeiten von ${batch} waren nicht zu lesen: ${why}`,
  },
});

interface Compared {
  readonly other: OtherBatch | undefined;
  /** Which part of it could not be read, and why; '' where all of it is there. */
  readonly fault: string;
}

/** The one that is named in the address. */
export function useCompared(): Compared {
  const { with: name = '' } = view.value.query;
  const [found, setFound] = useState<OtherBatch | undefined>(undefined);
  const [fault, setFault] = useState('');
  useEffect(() => {
    let isCurrent = true;
    setFound(undefined);
    setFault('');
    if (name === '') return;
    readOther(name).then(
      (other) => {
        if (!isCurrent) return;
        setFound(other);
        if (other.timelineFault !== undefined) setFault(said.noTimes(other.batch.batchID, faultText(other.timelineFault)));
      },
      (refused: unknown) => {
        if (!isCurrent) return;
        if (refused instanceof ApiError && refused.status === 404) return narrow({ with: '' }); // it is there no more
        setFault(said.noBatch(name, faultText(refused)));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [name]);
  return { other: found?.batch.name === name ? found : undefined, fault };
}

export function Compare({ batch }: { readonly batch: BatchDetail }) {
  const { with: name = '' } = view.value.query;
  const [others, setOthers] = useState<readonly BatchItem[]>([]);
  useEffect(() => {
    if (!can('batch:list')) return;
    let isCurrent = true;
    batchesLike(batch).then(
      (found) => isCurrent && setOthers(found),
      () => undefined, // asked again when the view is opened again
    );
    return () => {
      isCurrent = false;
    };
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
  if (!line || !compared.timeline) return null;
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
