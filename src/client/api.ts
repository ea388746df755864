/**
 * The one client of the REST interface, of the consoles and of the command line alike: one place for the credential, the anti-replay
 * header and the form of errors. It runs in a browser as in Node, and imports nothing of the appliance.
 */
import { ANSWER_BYTES_MAX, jsonOf, refusalOf, textOf, whole } from './answer.js';
import { ApiError } from './api-error.js';
import { nonce } from './nonce.js';
import { nextPageOf, WholeList } from './pages.js';

export { ApiError } from './api-error.js';

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
  /** ETag of what was read: what has changed since is not written. */
  readonly ifMatch?: string | undefined;
  /** Of the anti-replay header: the same once more for what must not be done twice. Absent: a fresh one. */
  readonly nonce?: string;
  /** Of an answer that may be longer than others. */
  readonly bytesMax?: number;
}

/** A page of a list (decisions Q-MES-16). */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** Address of the next page; empty when there is none. */
  readonly next: string;
  /** Of all pages. */
  readonly total: number;
}

interface ReadPage<T> extends ListPage<T> {
  /** Of its text. */
  readonly characters: number;
}

export interface ApiPlace {
  /** `http://box:8090`; '' for the box that the page came from. */
  readonly base: string;
  /** How long an answer is waited for. */
  readonly withinMs: number;
  /** What sends a request, where it is not that of the platform: to a box whose certificate a person has compared. */
  readonly fetch?: typeof fetch | undefined;
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

  async getList<T>(path: string, options: RequestOptions = {}): Promise<ReadPage<T>> {
    const answer = await this.ask('GET', path, undefined, options);
    const { value: items, characters } = await jsonOf<readonly T[]>(answer, options.bytesMax ?? ANSWER_BYTES_MAX);
    if (!Array.isArray(items)) throw new ApiError(answer.status, { error: `${path} answers with something that is no list: is the address right?`, code: 'no_list' });
    return { items, next: nextPageOf(answer), total: Number(answer.headers.get('X-Total-Count') ?? items.length), characters };
  }

  /** All pages of a list, one after the other: each is short, and packed. */
  async getAll<T>(path: string, options: RequestOptions = {}): Promise<readonly T[]> {
    const list = new WholeList<T>(path);
    for (let next = path; next !== ''; ) {
      const page: ReadPage<T> = await this.getList<T>(next, options);
      list.add(page);
      next = page.next;
    }
    return list.items;
  }

  post<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.send<T>('POST', path, body, options);
  }

  put<T>(path: string, body: unknown, options?: RequestOptions): Promise<T> {
    return this.send<T>('PUT', path, body, options);
  }

  /** Deletes; some deletions take a reason along. */
  remove<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.send<T>('DELETE', path, body, options);
  }

  /** One resource with its ETag; undefined where nothing is read there. @throws ApiError. */
  async read<T>(path: string, options: RequestOptions = {}): Promise<{ readonly value: T; readonly etag: string | undefined } | undefined> {
    const answer = await this.ask('GET', path, undefined, options);
    if (answer.status === 404 || answer.status === 405) return void (await answer.body?.cancel());
    const { value } = await jsonOf<T>(answer, options.bytesMax ?? ANSWER_BYTES_MAX);
    return { value, etag: answer.headers.get('ETag') ?? undefined };
  }

  /** @throws ApiError. */
  async send<T>(method: string, path: string, body?: unknown, options: RequestOptions = {}): Promise<T> {
    const answer = await this.ask(method, path, body, options);
    return (await jsonOf<T>(answer, options.bytesMax ?? ANSWER_BYTES_MAX)).value;
  }

  /** As `send`, of an answer that is a text. */
  async text(path: string, options: RequestOptions = {}): Promise<string> {
    return textOf(await this.ask('GET', path, undefined, options), options.bytesMax ?? ANSWER_BYTES_MAX);
  }

  /** Once more with a new token where the old one has ended; whatever the answer is. */
  async ask(method: string, path: string, body: unknown, options: RequestOptions): Promise<Response> {
    const answer = await this.#attempt(method, path, body, options);
    const credential = this.#credential;
    if (answer.status !== 401 || options.anonymous === true || !credential || credential.token() === '') return answer;
    const refusal = await refusalOf(answer);
    const isRenewed = !FINAL_401.has(String(refusal.code)) && (await credential.renew());
    return isRenewed ? this.#attempt(method, path, body, options) : new Response(JSON.stringify(refusal), { status: 401 });
  }

  async #attempt(method: string, path: string, body: unknown, options: RequestOptions): Promise<Response> {
    const { base, withinMs, fetch: send = fetch } = this.place;
    const { background = false, anonymous = false, contentType, accept = 'application/json', ifMatch, signal = AbortSignal.timeout(withinMs) } = options;
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
        ...(method === 'GET' ? {} : { 'X-DCS-Nonce': options.nonce ?? nonce() }),
        ...(body === undefined ? {} : { 'Content-Type': contentType ?? 'application/json' }),
        ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
        ...(background ? { 'X-Lineside-Background': 'true' } : {}),
      },
      ...(body === undefined ? {} : { body: contentType === undefined ? JSON.stringify(body) : (body as string) }),
    } as const;
    const answer = await whole(() => send(base + path, init));
    const toldMs = Date.parse(answer.headers.get('Date') ?? '');
    if (!Number.isNaN(toldMs)) this.#aheadMs = toldMs - Date.now();
    if (answer.type === 'opaqueredirect' || REDIRECTS.has(answer.status)) throw redirected(answer);
    return answer;
  }
}

/** A 401 that no new token mends. */
const FINAL_401: ReadonlySet<string> = new Set(['invalid_credentials', 'account_locked', 'reauthentication_required', 'second_factor_required', 'second_factor_unreadable']);

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** A box sends nobody on: whoever does stands between, and gets neither the token nor the body a second time. A browser does not say where to. */
function redirected({ status, headers }: Response): ApiError {
  const location = headers.get('Location') ?? 'another address';
  return new ApiError(status, { error: `the request is sent on to ${location}, which is not followed`, code: 'redirected', location });
}
