/** Refusals on the wire (decisions Q-ERR-01): the only place that knows which status a kind of refusal becomes. */
import { Refusal, type RefusalContext, type RefusalKind } from '../base/refusal.js';

const STATUS: Readonly<Record<RefusalKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  missing: 404,
  'not-acceptable': 406,
  conflict: 409,
  precondition: 412,
  'too-large': 413,
  'unsupported-media': 415,
  unprocessable: 422,
  limited: 429,
  'bad-gateway': 502,
  unavailable: 503,
};

/** For a body that tells of several refusals. */
export function statusOfRefusal({ kind }: Refusal): number {
  return STATUS[kind];
}

const STATUS_LINES: Readonly<Record<number, string>> = {
  101: '101 Switching Protocols',
  200: '200 OK',
  201: '201 Created',
  204: '204 No Content',
  302: '302 Found',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  406: '406 Not Acceptable',
  408: '408 Request Timeout',
  409: '409 Conflict',
  412: '412 Precondition Failed',
  413: '413 Payload Too Large',
  415: '415 Unsupported Media Type',
  422: '422 Unprocessable Content',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  502: '502 Bad Gateway',
  503: '503 Service Unavailable',
};

export function statusLine(status: number): string {
  return STATUS_LINES[status] ?? String(status);
}

/** A refusal of the transport itself, whose status or headers no domain would name (405, bare nonce errors). */
export class WireRefusal extends Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, kind: RefusalKind, message: string, context: RefusalContext = {}, headers: Readonly<Record<string, string>> = {}) {
    super(kind, message, context);
    this.status = status;
    this.headers = headers;
  }
}

export function statusOf(refusal: Refusal): number {
  return refusal instanceof WireRefusal ? refusal.status : STATUS[refusal.kind];
}

/** `{error, status, code?, field?, ...context}`. */
export function errorBody(refusal: Refusal): Record<string, unknown> {
  return { error: refusal.message, status: statusOf(refusal), ...refusal.context };
}

export const INTERNAL_ERROR = { error: 'internal error', status: 500, code: 'internal' } as const;

export function headersOf(refusal: Refusal): Readonly<Record<string, string>> {
  const headers: Record<string, string> = refusal instanceof WireRefusal ? { ...refusal.headers } : {};
  const status = statusOf(refusal);
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer realm="lineside"'; // D-AUTH-05
  const seconds = refusal.context.retryAfterSeconds;
  if (status === 429 || status === 503) headers['Retry-After'] = String(typeof seconds === 'number' ? Math.max(1, Math.ceil(seconds)) : 1);
  return headers;
}
