/** What the batch runs with and what came of it, letter by letter as it is recorded. */
import { type BatchDetail, isNumeric } from '../../data/types.js';
import { t, word, words } from '../../common/strings.js';
import { recordText, unitText } from '../../common/text.js';

const said = words({ en: { parameters: 'Parameters', outputs: 'Results' }, de: { parameters: 'Parameter', outputs: 'Ergebnisse' } });

export function ValuesTab({ batch }: { readonly batch: BatchDetail }) {
  return (
    <div class="values-tab scroll" tabIndex={0} role="group" aria-label={t.batchTabs.values}>
      <section class="panel" aria-labelledby="parameters-title">
        <h3 id="parameters-title">{said.parameters}</h3>
        <Values rows={batch.parameterValues.map((each) => ({ ...each, isNumber: each.unit !== '', hint: word(each.source) }))} testid="parameters" />
      </section>
      <section class="panel" aria-labelledby="outputs-title">
        <h3 id="outputs-title">{said.outputs}</h3>
        <Values rows={batch.outputs.map((each) => ({ ...each, isNumber: isNumeric(each.type), hint: each.element }))} testid="outputs" />
      </section>
    </div>
  );
}

interface ValueRow {
  readonly name: string;
  readonly value: string;
  readonly unit: string;
  readonly isNumber: boolean;
  readonly hint: string;
}

function Values({ rows, testid }: { readonly rows: readonly ValueRow[]; readonly testid: string }) {
  if (rows.length === 0) return <p class="empty">{t.none}</p>;
  return (
    <ul class="lines" data-testid={testid}>
      {rows.map((row) => (
        <li class="line" key={`${row.hint} ${row.name}`}>
          <span class="line-name">
            {row.name} <span class="hint">{row.hint}</span>
          </span>
          <span class="line-value number">
            {recordText(row.value, row.isNumber)} {unitText(row.unit)}
          </span>
        </li>
      ))}
    </ul>
  );
}
