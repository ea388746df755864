/** What a manifest changes of what stands, value by value, as a dry run tells it (D-C-03). Pure. */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { type WholeDifference, wholeDifferences } from '../../platform/base/differences.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { AnyKind } from './kinds.js';

const Value = v.union([v.string(), v.number(), v.boolean(), v.null(), v.array(v.unknown()), v.record(v.string(), v.unknown())]);

export const ManifestChange = v.strictObject({
  /** `spec.blocks[pid].params.kp`: members by name, items of a list by what they are called, else by their number from 0. */
  path: v.string(),
  /** Null where there was nothing; of a list or object that holds others each value has a row of its own. */
  from: Value,
  /** Null where there is nothing any more. */
  to: Value,
});
export type ManifestChange = ToldBy<typeof ManifestChange>;

const SECRET = '(secret)';

/** Secrets are told to differ, and not what they are. */
export function specChanges(kind: AnyKind, before: unknown, after: unknown): readonly ManifestChange[] {
  const shown = (spec: unknown): unknown => (spec === undefined ? undefined : (kind.redact?.(spec) ?? spec));
  const told = new Map(wholeDifferences(shown(before), shown(after)).map((each) => [each.place, each] as const));
  const changes = wholeDifferences(before, after).map(({ place, from, to }) => {
    const open = told.get(place);
    return open && isDeepStrictEqual([open.from, open.to], [from, to])
      ? row('spec', open)
      : row('spec', { place, from: from === null ? null : SECRET, to: to === null ? null : SECRET });
  });
  // items that have names are compared by them, wherever they stand
  if (changes.length > 0 || before === undefined || isDeepStrictEqual(before, after)) return changes;
  return [{ path: 'spec', from: 'the same items', to: 'in another order' }];
}

export function keyChanges(path: string, before: Readonly<Record<string, string>> = {}, after: Readonly<Record<string, string>> | undefined): readonly ManifestChange[] {
  return after === undefined ? [] : wholeDifferences(before, after).map((each) => row(path, each));
}

function row(path: string, { place, from, to }: WholeDifference): ManifestChange {
  const whole = place === '' ? path : place.startsWith('[') ? `${path}${place}` : `${path}.${place}`;
  return { path: whole, from: from as ManifestChange['from'], to: to as ManifestChange['to'] };
}
