/** The procedure as it runs: the tree with the chart of the element chosen, the whole as one picture, or all elements as a table; beside it what waits for somebody. */
import { messages } from '../../data/batch.js';
import type { BatchDetail } from '../../data/types.js';
import { narrow, view } from '../../data/view.js';
import { t, words } from '../../common/strings.js';
import { Segments } from '../../parts/segments.js';
import { Messages, Trouble } from '../../plant/batch-detail.js';
import { PromptList } from '../../plant/prompt-inbox.js';
import { ElementView } from './element-view.js';
import { ProcedurePicture } from './procedure-picture.js';
import { ProcedureTable } from './procedure-table.js';
import { ProcedureTree } from './procedure-tree.js';

const said = words({ en: { tree: 'Tree', picture: 'Picture', table: 'Table' }, de: { tree: 'Baum', picture: 'Bild', table: 'Tabelle' } });

const SHAPES = ['tree', 'picture', 'table'] as const;

export function ProcedureTab({ batch }: { readonly batch: BatchDetail }) {
  const shape = SHAPES.find((each) => each === view.value.query.as) ?? 'tree';
  const choice = (
    <Segments
      label={t.show}
      value={shape}
      options={SHAPES.map((each) => [each, said[each]])}
      onChoose={(chosen) => narrow({ as: chosen === 'tree' ? '' : chosen })}
      testid="procedure-as"
    />
  );
  return (
    <>
      {shape === 'tree' && (
        <section class="panel" aria-label={t.procedure}>
          {choice}
          <ProcedureTree />
        </section>
      )}
      {shape === 'picture' && <ProcedurePicture choice={choice} />}
      {shape === 'table' && <ProcedureTable choice={choice} />}
      {shape === 'tree' && <ElementView />}
      <section class="panel batch-side" aria-label={t.messages}>
        <div class="batch-side-scroll scroll" tabIndex={0} role="group" aria-label={t.messages}>
          <Trouble batch={batch} />
          <PromptList isOf={(prompt) => prompt.batch === batch.name} none="" />
          <Messages items={messages.value} />
        </div>
      </section>
    </>
  );
}
