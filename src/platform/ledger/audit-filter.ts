/** Filters of the audit lists (decisions Q-TAG-16), as SQL with bound values. */
import type { WallMs } from '../base/times.js';

export interface AuditFilter {
  /** Inclusive. */
  readonly fromMs?: WallMs;
  /** Exclusive. */
  readonly toMs?: WallMs;
  readonly action?: string;
  readonly category?: string;
  readonly result?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly accountId?: string;
  readonly correlationID?: string;
  readonly site?: string;
  /** What somebody wrote or a value says, anywhere in the record; capitals of ASCII are as small letters. */
  readonly text?: string;
  /** Sites of a confined caller: records of other sites, and those without a site, are left out. */
  readonly sites?: readonly string[] | null;
}

export interface Condition {
  readonly text: string;
  readonly values: readonly (string | number)[];
}

const EQUALITIES: readonly (readonly [keyof AuditFilter, string])[] = [
  ['action', 'action'],
  ['category', 'category'],
  ['result', 'result'],
  ['kind', 'kind'],
  ['name', 'name'],
  ['accountId', 'account'],
  ['correlationID', 'correlation'],
  ['site', 'site'],
];

export function auditCondition(filter: AuditFilter): Condition {
  const texts: string[] = [];
  const values: (string | number)[] = [];
  const add = (text: string, value: string | number): void => {
    texts.push(text);
    values.push(value);
  };
  for (const [member, column] of EQUALITIES) {
    const value = filter[member];
    if (typeof value === 'string') add(`${column} = ?`, value);
  }
  if (filter.fromMs !== undefined) add('at >= ?', filter.fromMs);
  if (filter.toMs !== undefined) add('at < ?', filter.toMs);
  if (filter.text !== undefined) {
    // the first look is at the record as it is stored: 0.25 us a record against 2.9 us for taking it apart (200,000 records in memory)
    add(`body LIKE ? ESCAPE '\\'`, containing(JSON.stringify(filter.text).slice(1, -1)));
    add(`EXISTS (SELECT 1 FROM json_tree(body) WHERE type = 'text' AND key <> 'previousHash' AND atom LIKE ? ESCAPE '\\')`, containing(filter.text));
  }
  if (filter.sites) add('site IN (SELECT value FROM json_each(?))', JSON.stringify(filter.sites));
  return { text: texts.length === 0 ? '1' : texts.join(' AND '), values };
}

function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
