/** What happened to the batch: its interruptions with their causes, what is to be put right to go on, the time line, and the journal. */
import { useEffect, useState } from 'preact/hooks';
import { watchBatchAlarms } from '../../data/batch-alarms.js';
import { spells, standing } from '../../data/history.js';
import type { BatchDetail } from '../../data/types.js';
import { narrow, view } from '../../data/view.js';
import { Fault } from '../../common/fault.js';
import { t } from '../../common/strings.js';
import { Interruptions } from './causes.js';
import { Durations, useCompared } from './compare.js';
import { Journal } from './journal.js';
import { type Moment, TimeLine } from './time-line.js';
import { ToGoOn } from './to-go-on.js';

export function HappenedTab({ batch }: { readonly batch: BatchDetail }) {
  useEffect(() => watchBatchAlarms(), []);
  const [moment, setMoment] = useState<Moment | undefined>(undefined);
  const { other: compared, fault } = useCompared();
  const { spell: named } = view.value.query;
  const open = spells.value.find(({ from }) => from === named) ?? standing.value ?? spells.value.at(-1);
  return (
    <div class="happened scroll" data-testid="happened" tabIndex={0} role="group" aria-label={t.batchTabs.happened}>
      <section class="panel happened-why" aria-label={t.interruptions}>
        <div class="happened-causes">
          <Interruptions spells={spells.value} open={open} onOpen={({ from }) => narrow({ spell: from })} onMoment={(atMs) => setMoment({ atMs })} />
        </div>
        <ToGoOn batch={batch} />
      </section>
      <TimeLine batch={batch} spell={open} moment={moment} compared={compared} />
      <Fault text={fault} testid="compare-error" />
      {compared && <Durations batch={batch} compared={compared} />}
      <Journal batch={batch} />
    </div>
  );
}
