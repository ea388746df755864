/** What a batch record says of its own completeness (contract 3, Batch record; decisions 3.3, 8.1). Pure. */
import type { BatchStatus } from '../batches/kind.js';
import { type BatchRecordSpec, type FailoverEvent, SETTLED } from './kind.js';
import type { Condition } from '../../platform/store/resource.js';

/** The condition stays readable. */
const NAMED_MAX = 20;

/** A batch that has reached its final state because its elements had not followed in time says so (decisions 3.3). */
export function settledCondition(
  settled: boolean,
  { settleBy, endedAt, settleExceeded = settleBy !== '' && endedAt >= settleBy }: Pick<BatchStatus, 'settleBy' | 'endedAt' | 'settleExceeded'>,
): Condition {
  if (settled) return { type: SETTLED, status: 'True', reason: 'AllPhasesAtRest', message: 'every element has come to rest' };
  if (settleExceeded) {
    return { type: SETTLED, status: 'False', reason: 'SettleDeadlineExceeded', message: `elements were still moving at ${settleBy}, when they had to be at rest` };
  }
  return { type: SETTLED, status: 'False', reason: 'PhasesStillTransitional', message: 'elements are still moving' };
}

export function unrepaired(lost: string): Condition {
  return { type: SETTLED, status: 'False', reason: 'RepairWouldLoseEntries', message: `the record stays as it was made: a repair would lose ${lost}` };
}

/**
 * A bound of a gap that no audit record evidences stays empty, and is flagged (contract 3, Batch record); so is what could not be read of what was recorded.
 * @param unreadable `events 17`: stream and number of the entry.
 */
export function partialData(failovers: readonly FailoverEvent[], unreadable: readonly string[]): Condition {
  if (unreadable.length > 0) {
    const more = unreadable.length > NAMED_MAX ? `, and ${unreadable.length - NAMED_MAX} more` : '';
    const message = `of what was recorded of the batch these entries are damaged and left out: ${unreadable.slice(0, NAMED_MAX).join(', ')}${more}`;
    return { type: 'PartialData', status: 'True', reason: 'UnreadableEntries', message };
  }
  const open = failovers.filter(({ controlGap, dataGap }) =>
    [controlGap.from, controlGap.to, dataGap.from, dataGap.to].some(({ at, auditRecordRef }) => at === '' || auditRecordRef === ''),
  );
  if (open.length === 0) return { type: 'PartialData', status: 'False', reason: 'AllBoundsEvidenced', message: '' };
  const units = [...new Set(open.map(({ unit }) => unit))].join(', ');
  return { type: 'PartialData', status: 'True', reason: 'UnevidencedBound', message: `a gap of ${units} has a bound that no audit record evidences` };
}

/** What a record would not have any more after a repair; '' when nothing. Events are frozen and never repaired. */
export function lostBy(known: BatchRecordSpec, repaired: BatchRecordSpec): string {
  const lost: string[] = [];
  for (const part of ['operatorActions', 'externalResults', 'outputs', 'parameterValues', 'failoverEvents', 'alarms'] as const)
    if (repaired[part].length < known[part].length) lost.push(part);
  for (const side of ['inputs', 'outputs'] as const) if (repaired.materials[side].length < known.materials[side].length) lost.push(`materials.${side}`);
  const runs = new Map(repaired.phaseHistory.map((entry) => [`${entry.kind}/${entry.name}/${entry.run}`, entry.states.length]));
  if (known.phaseHistory.some(({ kind, name, run, states }) => (runs.get(`${kind}/${name}/${run}`) ?? 0) < states.length)) lost.push('phaseHistory');
  return lost.join(', ');
}
