import { select, selected } from '../data/batch.js';
import { batches } from '../data/plant.js';
import type { BatchItem } from '../data/types.js';
import { t } from '../common/strings.js';
import { momentText } from '../common/text.js';
import { StateBadge } from './state-badge.js';

/** Older ones are in the batch records. */
const ROWS_MAX = 60;

export function BatchList() {
  return (
    <section class="panel batch-list" aria-labelledby="batches-title">
      <h2 id="batches-title">{t.batches}</h2>
      {batches.value.length === 0 && <p class="empty">{t.noBatches}</p>}
      <ul class="rows" data-testid="batches">
        {batches.value.slice(0, ROWS_MAX).map((batch) => (
          <li key={batch.name}>
            <Row batch={batch} chosen={batch.name === selected.value} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Row({ batch, chosen }: { readonly batch: BatchItem; readonly chosen: boolean }) {
  const time = batch.endedAt || batch.startedAt || batch.createdAt;
  return (
    <button type="button" class="row" aria-pressed={chosen} onClick={() => select(batch.name)} data-testid={`batch-${batch.batchID}`}>
      <span class="row-main">
        <strong>{batch.batchID}</strong>
        <span class="row-below">
          <span class="hint">
            {momentText(time)} · {batch.masterRecipeRef}
          </span>
          <StateBadge state={batch.phase} />
        </span>
      </span>
    </button>
  );
}
