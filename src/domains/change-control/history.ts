/** What became of the change requests of a site, step by step (CHANGE-05; decisions Q-CHANGE-04). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { LogQuery } from '../../platform/http/log-query.js';
import { logPage, type ToldBy } from '../../platform/http/replies.js';
import { type Entry, timePage } from '../../platform/http/time-page.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { CHANGE_PHASES, ChangeRequest, type ChangeRequestResource, OPERATIONS } from './kind.js';

export const ChangeHistoryRow = v.strictObject({
  ts: v.string(),
  changeRequest: v.string(),
  namespace: v.string(),
  target: v.strictObject({ apiVersion: v.string(), kind: v.string(), name: v.string() }),
  operation: v.picklist(OPERATIONS),
  /** That it came to. */
  phase: v.picklist(CHANGE_PHASES),
  author: v.string(),
  /** Of this step; '' of the first, and where its time was over. */
  decidedBy: v.string(),
  reason: v.string(),
  /** Of the target; '' where there is none. */
  digestBefore: v.string(),
  digestAfter: v.string(),
  auditRecordRef: v.string(),
});
export type ChangeHistoryRow = ToldBy<typeof ChangeHistoryRow>;

export const ChangeHistory = logPage(ChangeHistoryRow);

nameSchemas({ ChangeHistoryRow, ChangeHistory });

/** @throws Refusal `invalid_query` for a cursor that the log did not hand out. */
export function historyOf(read: StoreReader, site: string, { fromMs, toMs, ...paging }: LogQuery): ToldBy<typeof ChangeHistory> {
  const rows = read
    .list(ChangeRequest, site)
    .flatMap(entriesOf)
    .filter(({ atMs }) => (fromMs === undefined || atMs >= fromMs) && (toMs === undefined || atMs < toMs))
    .sort((a, b) => b.atMs - a.atMs || (a.name < b.name ? -1 : 1));
  return timePage('change history', rows, paging);
}

function entriesOf({ metadata: { site, name }, spec, status }: ChangeRequestResource): readonly Entry<ChangeHistoryRow>[] {
  return status.moves.map(({ ts, phase, by, reason, digestBefore, digestAfter, auditRecordRef }, at) => ({
    atMs: Date.parse(ts),
    name: auditRecordRef,
    item: {
      ts,
      changeRequest: name,
      namespace: `site-${site}`,
      target: spec.target,
      operation: spec.operation,
      phase,
      author: status.author,
      decidedBy: at === 0 ? '' : by,
      reason,
      digestBefore,
      digestAfter,
      auditRecordRef,
    },
  }));
}
