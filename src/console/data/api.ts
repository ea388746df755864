/** The REST client of the console: one place for the credential, the anti-replay header and the form of errors. */
import { nonce } from './nonce.js';

const REQUEST_MS_MAX = 10_000;

/** An answer that is not 2xx, or none at all (`status` 0). The message is the gateway's sentence for a person. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body.error === 'string' ? body.error : `HTTP ${status}`);
    this.status = status;
    this.code = typeof body.code === 'string' ? body.code : '';
    this.body = body;
  }
}

/** Who answers for the credential: the HMI's session; the login page has none. */
export interface Credential {
  token(): string;
  /** A new token after a 401; false when the session is over. */
  renew(): Promise<boolean>;
}

let credential: Credential | undefined;

export function useCredential(given: Credential): void {
  credential = given;
}

export interface RequestOptions {
  /** Asked by a timer, not by a person: it must not keep an abandoned session alive (decisions Q-AUTH-21). */
  readonly background?: boolean;
  /** Sent without the access token, and a 401 is final: for the renewal itself. */
  readonly anonymous?: boolean;
}

export function get<T>(path: string, options?: RequestOptions): Promise<T> {
  return send<T>('GET', path, undefined, options);
}

/** A page of a list (decisions Q-MES-16). */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** Address of the next page; empty when there is none. */
  readonly next: string;
  /** Of all pages. */
  readonly total: number;
}

export async function getList<T>(path: string, options: RequestOptions = {}): Promise<ListPage<T>> {
  const answer = await asked('GET', path, undefined, options);
  const items = await read<readonly T[]>(answer);
  const next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('Link') ?? '')?.[1] ?? '';
  return { items, next, total: Number(answer.headers.get('X-Total-Count') ?? items.length) };
}

/** All pages of a list, one after the other: each is short, and packed. */
export async function getAll<T>(path: string, options: RequestOptions = {}): Promise<readonly T[]> {
  const found: T[] = [];
  for (let next = path; next !== ''; ) {
    const page: ListPage<T> = await getList<T>(next, options);
    found.push(...page.items);
    next = page.next;
  }
  return found;
}

export function post<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
  return send<T>('POST', path, body, options);
}

export function put<T>(path: string, body: unknown): Promise<T> {
  return send<T>('PUT', path, body);
}

/** Deletes; some deletions take a reason along. */
export function remove<T>(path: string, body?: unknown): Promise<T> {
  return send<T>('DELETE', path, body);
}

async function send<T>(method: string, path: string, body: unknown, options: RequestOptions = {}): Promise<T> {
  return read<T>(await asked(method, path, body, options));
}

/** Once more with a new token where the old one has ended. */
async function asked(method: string, path: string, body: unknown, options: RequestOptions): Promise<Response> {
  const answer = await attempt(method, path, body, options);
  if (answer.status !== 401 || options.anonymous === true || !credential || credential.token() === '' || !(await isStaleToken(answer))) return answer;
  return (await credential.renew()) ? attempt(method, path, body, options) : answer;
}

/** A 401 that a new token may mend; a wrong password is not one. */
async function isStaleToken(answer: Response): Promise<boolean> {
  const body = await bodyOf(answer.clone());
  return body.code !== 'invalid_credentials' && body.code !== 'account_locked' && body.code !== 'reauthentication_required';
}

async function attempt(method: string, path: string, body: unknown, { background = false, anonymous = false }: RequestOptions): Promise<Response> {
  const token = anonymous ? '' : (credential?.token() ?? '');
  try {
    return await fetch(path, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
      headers: {
        Accept: 'application/json',
        ...(token === '' ? {} : { Authorization: `Bearer ${token}` }),
        ...(method === 'GET' ? {} : { 'X-DCS-Nonce': nonce() }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(background ? { 'X-Lineside-Background': 'true' } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw new ApiError(0, { error: 'no answer', code: 'no_answer' });
  }
}

async function read<T>(answer: Response): Promise<T> {
  if (answer.status === 204) return undefined as T;
  const body = await bodyOf(answer);
  if (!answer.ok) throw new ApiError(answer.status, body);
  return body as T;
}

async function bodyOf(answer: Response): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await answer.json();
  } catch {
    return { error: `HTTP ${answer.status}` };
  }
}
