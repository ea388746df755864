/**
 * The one client of the REST interface, of the consoles and of the command line alike: one place for the credential, the anti-replay
 * header and the form of errors. It runs in a browser as in Node, and imports nothing of the appliance.
 */
import { nonce } from './nonce.js';

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

/** Who answers for the credential: the session of a person. */
export interface Credential {
  /** '' for nobody. */
  token(): string;
  /** A new token after a 401; false when the session is over. */
  renew(): Promise<boolean>;
}

export interface RequestOptions {
  /** Asked by a timer, not by a person: it must not keep an abandoned session alive (decisions Q-AUTH-21). */
  readonly background?: boolean;
  /** Sent without the access token, and a 401 is final: for the renewal itself. */
  readonly anonymous?: boolean;
  /** Media type of a body that is a text already, or of the answer that is wanted. */
  readonly contentType?: string;
  readonly accept?: string;
  /** In place of the time that an answer is waited for: of an answer that goes on. */
  readonly signal?: AbortSignal;
}

/** A page of a list (decisions Q-MES-16). */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** Address of the next page; empty when there is none. */
  readonly next: string;
  /** Of all pages. */
  readonly total: number;
}

export interface ApiPlace {
  /** `http://box:8090`; '' for the box that the page came from. */
  readonly base: string;
  /** How long an answer is waited for. */
  readonly withinMs: number;
}

export class Api {
  readonly place: ApiPlace;
  #credential: Credential | undefined;
  #aheadMs: number | undefined;

  constructor(place: ApiPlace, credential?: Credential) {
    this.place = place;
    this.#credential = credential;
  }

  /** The wall clock of the box as its last answer told it, to the second and never ahead of it; undefined before the first one. */
  get boxTimeMs(): number | undefined {
    return this.#aheadMs === undefined ? undefined : Date.now() + this.#aheadMs;
  }

  useCredential(given: Credential): void {
    this.#credential = given;
  }

  get<T>(path: string, options?: RequestOptions): Promise<T> {
    return this.send<T>('GET', path, undefined, options);
  }

  async getList<T>(path: string, options: RequestOptions = {}): Promise<ListPage<T>> {
    const answer = await this.ask('GET', path, undefined, options);
    const items = await read<readonly T[]>(answer);
    const next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('Link') ?? '')?.[1] ?? '';
    return { items, next, total: Number(answer.headers.get('X-Total-Count') ?? items.length) };
  }

  /** All pages of a list, one after the other: each is short, and packed. */
  async getAll<T>(path: string, options: RequestOptions = {}): Promise<readonly T[]> {
    const found: T[] = [];
    for (let next = path; next !== ''; ) {
      const page: ListPage<T> = await this.getList<T>(next, options);
      found.push(...page.items);
      next = page.next;
    }
    return found;
  }

  post<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.send<T>('POST', path, body, options);
  }

  put<T>(path: string, body: unknown): Promise<T> {
    return this.send<T>('PUT', path, body);
  }

  /** Deletes; some deletions take a reason along. */
  remove<T>(path: string, body?: unknown): Promise<T> {
    return this.send<T>('DELETE', path, body);
  }

  /** @throws ApiError. */
  async send<T>(method: string, path: string, body?: unknown, options: RequestOptions = {}): Promise<T> {
    return read<T>(await this.ask(method, path, body, options));
  }

  /** As `send`, of an answer that is a text. */
  async text(path: string, options: RequestOptions = {}): Promise<string> {
    const answer = await this.ask('GET', path, undefined, options);
    if (!answer.ok) throw new ApiError(answer.status, await bodyOf(answer));
    return whole(() => answer.text());
  }

  /** Once more with a new token where the old one has ended; whatever the answer is. */
  async ask(method: string, path: string, body: unknown, options: RequestOptions): Promise<Response> {
    const answer = await this.#attempt(method, path, body, options);
    const credential = this.#credential;
    if (answer.status !== 401 || options.anonymous === true || !credential || credential.token() === '' || !(await isStaleToken(answer))) return answer;
    return (await credential.renew()) ? this.#attempt(method, path, body, options) : answer;
  }

  async #attempt(method: string, path: string, body: unknown, options: RequestOptions): Promise<Response> {
    const { base, withinMs } = this.place;
    const { background = false, anonymous = false, contentType, accept = 'application/json', signal = AbortSignal.timeout(withinMs) } = options;
    const token = anonymous ? '' : (this.#credential?.token() ?? '');
    const init = {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'manual',
      signal,
      headers: {
        Accept: accept,
        ...(token === '' ? {} : { Authorization: `Bearer ${token}` }),
        ...(method === 'GET' ? {} : { 'X-DCS-Nonce': nonce() }),
        ...(body === undefined ? {} : { 'Content-Type': contentType ?? 'application/json' }),
        ...(background ? { 'X-Lineside-Background': 'true' } : {}),
      },
      ...(body === undefined ? {} : { body: contentType === undefined ? JSON.stringify(body) : (body as string) }),
    } as const;
    const answer = await whole(() => fetch(base + path, init));
    const toldMs = Date.parse(answer.headers.get('Date') ?? '');
    if (!Number.isNaN(toldMs)) this.#aheadMs = toldMs - Date.now();
    if (answer.type === 'opaqueredirect' || REDIRECTS.has(answer.status)) throw redirected(answer);
    return answer;
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** A box sends nobody on: whoever does stands between, and gets neither the token nor the body a second time. A browser does not say where to. */
function redirected({ status, headers }: Response): ApiError {
  const location = headers.get('Location') ?? 'another address';
  return new ApiError(status, { error: `the request is sent on to ${location}, which is not followed`, code: 'redirected', location });
}

/** @throws ApiError where an answer does not come, or not to its end. */
async function whole<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (fault) {
    throw new ApiError(0, { error: 'no answer', code: 'no_answer', cause: causeOf(fault) });
  }
}

/** Node says in `cause` why nobody could be reached. */
function causeOf(fault: unknown): string {
  const { name, message, cause } = fault as { readonly name?: string; readonly message?: string; readonly cause?: { readonly code?: string; readonly message?: string } };
  if (name === 'SyntaxError') return 'what came is no JSON, or was cut off';
  return name === 'TimeoutError' ? 'timeout' : (cause?.code ?? cause?.message ?? message ?? '');
}

/** A 401 that a new token may mend; a wrong password is not one. */
async function isStaleToken(answer: Response): Promise<boolean> {
  const body = await bodyOf(answer.clone());
  return body.code !== 'invalid_credentials' && body.code !== 'account_locked' && body.code !== 'reauthentication_required';
}

async function read<T>(answer: Response): Promise<T> {
  if (!answer.ok) throw new ApiError(answer.status, await bodyOf(answer));
  if (answer.status === 204 || answer.headers.get('Content-Length') === '0') return undefined as T;
  return whole(() => answer.json() as Promise<T>);
}

/** Of a refusal: what stands between may answer with a page of its own. */
async function bodyOf(answer: Response): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await answer.json()) as Readonly<Record<string, unknown>>;
  } catch {
    return { error: `HTTP ${answer.status}` };
  }
}
