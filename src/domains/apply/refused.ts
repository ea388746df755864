/** One refusal of all manifests that are refused (D-C-03): the answer has a bound, whatever the request holds. */
import * as v from 'valibot';
import { inside } from '../../platform/base/assert.js';
import type { Clock } from '../../platform/base/clock.js';
import { eachOf, Refusal } from '../../platform/base/refusal.js';
import { Turns } from '../../platform/base/slices.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { statusOfRefusal } from '../../platform/http/status.js';
import type { Refused } from './judging.js';

export const ToldRefusal = v.strictObject({
  status: v.number(),
  code: v.optional(v.string()),
  error: v.string(),
  field: v.optional(v.string()),
  /** Of a text that does not compile. */
  diagnostics: v.optional(v.array(v.unknown())),
});
export type ToldRefusal = ToldBy<typeof ToldRefusal>;

export interface Told {
  readonly errors: number;
  /** UTF-16 units of the JSON of their rows: a field may have a name as long as a body. */
  readonly chars: number;
}

/** More, nobody mends before he asks again; and a client takes no answer longer than 16 MiB. */
export const TOLD_MAX: Told = { errors: 1000, chars: 2 * 1024 ** 2 };
export const TELLS_ALL: Told = { errors: Number.POSITIVE_INFINITY, chars: Number.POSITIVE_INFINITY };

/**
 * The refusal of the first in the order of the request; where more is wrong, `errors` names it, up to `max` and the first in any case, and
 * `errorsTotal` counts it.
 */
export async function refusalOfAll(refused: readonly Refused[], several: boolean, clock: Clock, max: Told): Promise<Refusal> {
  const inOrder = refused.toSorted((a, b) => a.index - b.index);
  const { index, refusal } = inside(inOrder, 0, 'somebody was refused');
  if (!several && refusal.beside.length === 0) return refusal;
  const errors: object[] = [];
  let errorsTotal = 0;
  let chars = 0;
  let isFull = false;
  const turns = new Turns(clock);
  for (const one of inOrder) {
    errorsTotal += 1 + one.refusal.beside.length;
    for (const row of isFull ? [] : rowsOf(one)) {
      chars += JSON.stringify(row).length;
      isFull ||= errors.length > 0 && (errors.length >= max.errors || chars > max.chars);
      if (isFull) break;
      errors.push(row);
    }
    if (turns.isOver) await turns.next();
  }
  const left = errorsTotal - errors.length;
  const message = `${several ? `manifest ${index}: ` : ''}${refusal.message}${left === 0 ? '' : `; the first ${errors.length} errors are told, and ${left} more are there`}`;
  return new Refusal(refusal.kind, message, { ...refusal.context, ...(several && { index }), errors, errorsTotal });
}

function rowsOf({ index, kind, name, refusal }: Refused): readonly object[] {
  return toldOf(refusal).map((told) => ({ index, kind, name, ...told }));
}

/** What is wrong, one by one. */
export function toldOf(refusal: Refusal): ToldRefusal[] {
  return eachOf(refusal).map((each) => ({
    status: statusOfRefusal(each),
    ...(each.context.code === undefined ? {} : { code: each.context.code }),
    error: each.message,
    ...(each.context.field === undefined ? {} : { field: each.context.field }),
    ...(Array.isArray(each.context.diagnostics) ? { diagnostics: each.context.diagnostics as unknown[] } : {}),
  }));
}
