/**
 * The codes of refusals by status (decisions Q-ERR-01): those that the gateway gives by itself, whatever the row does, and those that
 * the row says it gives (column `errors`). openapi.json tells both, so that a client knows every code that it can meet.
 */
import type { RefusalStatus, RouteColumns } from './route.js';

/** 405 is of no row; 408 and 500 no handler gives by intent. */
export type ToldStatus = RefusalStatus | 408 | 500;

interface GatewaySet {
  readonly status: ToldStatus;
  /** Behind the name of its component, where a status has several. */
  readonly suffix: string;
  readonly codes: readonly string[];
  readonly when: (row: RouteColumns) => boolean;
}

const every = (): boolean => true;
const writes = ({ method }: RouteColumns): boolean => method !== 'GET';
const reads = (row: RouteColumns): boolean => !writes(row);
const known = ({ tier }: RouteColumns): boolean => tier !== 'none';

const OF_THE_REQUEST = ['malformed_request', 'invalid_path', 'unknown_parameter', 'invalid_query'];
const OF_THE_BODY = ['body_incomplete', 'invalid_json', 'unknown_field', 'missing_field', 'invalid_field', 'read_only_field'];
const FORBIDDEN = ['action_missing', 'site_scope', 'api_key_fence', 'password_change_required', 'second_factor_enrolment_required'];
const NOT_NOW = ['starting', 'rescue', 'storage_unavailable', 'storage_damaged', 'no_answer', 'past_busy'];

/** One set at most of a status is a row's. */
const GATEWAY: readonly GatewaySet[] = [
  { status: 400, suffix: '', codes: OF_THE_REQUEST, when: reads },
  { status: 400, suffix: 'Write', codes: [...OF_THE_REQUEST, ...OF_THE_BODY], when: writes },
  { status: 401, suffix: '', codes: ['unauthenticated', 'invalid_token', 'token_expired', 'session_ended', 'session_inactive'], when: known },
  { status: 403, suffix: '', codes: FORBIDDEN, when: (row) => known(row) && reads(row) },
  { status: 403, suffix: 'Write', codes: [...FORBIDDEN, 'panel_watches'], when: (row) => known(row) && writes(row) },
  { status: 403, suffix: 'Public', codes: ['api_key_fence'], when: (row) => !known(row) },
  { status: 404, suffix: '', codes: ['not_found', 'unreadable_row'], when: ({ path }) => path.includes('{') },
  { status: 406, suffix: '', codes: ['not_acceptable'], when: ({ formats }) => formats !== undefined },
  { status: 408, suffix: '', codes: ['body_timeout'], when: writes },
  { status: 409, suffix: '', codes: [], when: writes }, // of a nonce, which has no code
  { status: 412, suffix: '', codes: ['precondition_failed'], when: ({ method }) => method === 'PUT' || method === 'DELETE' },
  { status: 413, suffix: '', codes: ['payload_too_large'], when: writes },
  { status: 415, suffix: '', codes: ['unsupported_media_type'], when: writes },
  { status: 429, suffix: '', codes: ['rate_limited'], when: every },
  { status: 500, suffix: '', codes: ['internal'], when: every },
  { status: 503, suffix: '', codes: NOT_NOW, when: reads },
  { status: 503, suffix: 'Write', codes: [...NOT_NOW, 'nonce_store_full'], when: writes },
];

interface ColumnCodes {
  readonly status: RefusalStatus;
  readonly codes: readonly string[];
  readonly when: (row: RouteColumns) => boolean;
}

/** What a column of a row brings with it. */
const OF_COLUMNS: readonly ColumnCodes[] = [
  { status: 400, codes: ['reason_too_short', 'reason_too_long'], when: ({ reason }) => reason !== undefined },
  { status: 400, codes: ['invalid_yaml'], when: ({ yaml }) => yaml === true },
  { status: 503, codes: ['yaml_busy'], when: ({ yaml }) => yaml === true },
  { status: 503, codes: ['bodies_busy'], when: ({ bodyMembers }) => bodyMembers !== undefined },
  { status: 400, codes: ['upgrade_required'], when: ({ stream }) => stream === 'websocket' },
  { status: 401, codes: ['reauthentication_required'], when: ({ freshToken }) => freshToken !== undefined },
  { status: 401, codes: ['token_in_query_off'], when: ({ stream }) => stream !== undefined },
  { status: 403, codes: ['human_role'], when: ({ apiKey }) => apiKey === 'only' },
  { status: 403, codes: ['foreign_origin'], when: ({ ownPagesOnly }) => ownPagesOnly === true },
  { status: 409, codes: ['run_ended'], when: (row) => writes(row) && row.past !== undefined },
  { status: 429, codes: ['too_many_streams'], when: ({ stream }) => stream !== undefined },
];

export interface CodesOfStatus {
  readonly status: ToldStatus;
  /** The set of the gateway, by the name that it has in openapi.json; absent where the gateway does not give the status. */
  readonly set?: string;
  /** Beyond that set: those of the row. */
  readonly own: readonly string[];
  /** Whether it may come without a code: the refusal of a nonce (D-NONCE-02). */
  readonly bare: boolean;
}

/** Name of a set -> its codes. */
export const GATEWAY_SETS: Readonly<Record<string, { readonly status: ToldStatus; readonly codes: readonly string[] }>> = Object.fromEntries(
  GATEWAY.map(({ status, suffix, codes }) => [`${status}${suffix}`, { status, codes }]),
);

/** What a row may answer that is a refusal, in the order of the statuses. */
export function codesOf(row: RouteColumns): readonly CodesOfStatus[] {
  const sets = GATEWAY.filter(({ when }) => when(row));
  const columns = OF_COLUMNS.filter(({ when }) => when(row));
  const errors = Object.entries(row.errors ?? {}).map(([status, codes]) => ({ status: Number(status) as ToldStatus, codes }));
  const statuses = new Set([...sets, ...columns, ...errors].map(({ status }) => status));
  return [...statuses]
    .sort((a, b) => a - b)
    .map((status) => {
      const set = sets.find((each) => each.status === status);
      const own = new Set([...columns, ...errors].filter((each) => each.status === status).flatMap(({ codes }) => codes));
      for (const code of set?.codes ?? []) own.delete(code);
      const bare = writes(row) && (status === 400 || status === 409);
      return { status, ...(set ? { set: `${status}${set.suffix}` } : {}), own: [...own], bare };
    });
}
