/** What became of the change requests of a site, step by step (CHANGE-05; decisions Q-CHANGE-04). */
import * as v from 'valibot';
import type { Clock } from '../../platform/base/clock.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { Turns } from '../../platform/base/slices.js';
import type { LogQuery } from '../../platform/http/log-query.js';
import { logPage, type ToldBy } from '../../platform/http/replies.js';
import { type Entry, timePage } from '../../platform/http/time-page.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { ChangeHistoryRow, ChangeRequest, historyRowsOf, type PastRequest } from './kind.js';

export const ChangeHistory = logPage(ChangeHistoryRow);

nameSchemas({ ChangeHistoryRow, ChangeHistory });

/** Of one moment; what is past is looked at in slices. @throws Refusal `invalid_query` for a cursor that the log did not hand out. */
export async function historyOf(read: StoreReader, site: string, { fromMs, toMs, ...paging }: LogQuery, clock: Clock): Promise<ToldBy<typeof ChangeHistory>> {
  const told = read.list(ChangeRequest, site).flatMap(historyRowsOf);
  const turns = new Turns(clock);
  for (const { entry } of read.pastIndex<PastRequest>(ChangeRequest, site)) {
    told.push(...pastRowsOf(entry));
    if (turns.isOver) await turns.next();
  }
  const rows = told
    .map((item): Entry<ChangeHistoryRow> => ({ atMs: Date.parse(item.ts), name: item.auditRecordRef, item }))
    .filter(({ atMs }) => (fromMs === undefined || atMs >= fromMs) && (toMs === undefined || atMs < toMs))
    .sort((a, b) => b.atMs - a.atMs || (a.name < b.name ? -1 : 1));
  return timePage('change history', rows, paging);
}

/** An entry that somebody has edited tells nothing: the verification finds it. */
function pastRowsOf({ history }: Partial<PastRequest>): readonly ChangeHistoryRow[] {
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), v.array(ChangeHistoryRow)), history);
  return read.success ? read.output : [];
}
