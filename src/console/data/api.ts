/** The REST client of the console: that of the product, of the box that the page came from. */
import { Api, ApiError, type RequestOptions } from '../../client/api.js';
import { signInAsked, watching } from './watching.js';

export { Api, ApiError, type Credential, type ListPage, type RequestOptions } from '../../client/api.js';

const REQUEST_MS_MAX = 10_000;

const api = new Api({ base: '', withinMs: REQUEST_MS_MAX });

export const useCredential = api.useCredential.bind(api);
export const get: typeof api.get = api.get.bind(api);
export const getList: typeof api.getList = api.getList.bind(api);
export const getText: typeof api.text = api.text.bind(api);
export const getAll: typeof api.getAll = api.getAll.bind(api);
export const read: typeof api.read = api.read.bind(api);

export function post<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
  return asksFirst(options) ?? sent(api.post<T>(path, body, options), options);
}

/** A question that takes a body: it changes nothing, so a panel that watches asks it too. */
export function compute<T>(path: string, body: unknown, options?: RequestOptions): Promise<T> {
  return api.post<T>(path, body, options);
}

export function put<T>(path: string, body: unknown, options?: RequestOptions): Promise<T> {
  return asksFirst(options) ?? sent(api.put<T>(path, body, options), options);
}

export function remove<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
  return asksFirst(options) ?? sent(api.remove<T>(path, body, options), options);
}

/** Of a change that was sent and not answered: it may have been recorded. */
export const OUTCOME_UNKNOWN = 'outcome_unknown';

/** Whoever gets no answer to a change must not be told to try again as if nothing had been sent. Signing in changes nothing of the plant. */
function sent<T>(answer: Promise<T>, options: RequestOptions | undefined): Promise<T> {
  if (options?.anonymous === true) return answer;
  return answer.catch((fault: unknown) => {
    throw fault instanceof ApiError && fault.status === 0 ? new ApiError(0, { ...fault.body, code: OUTCOME_UNKNOWN }) : fault;
  });
}

/** A panel that watches sends nothing that changes something: it asks for a sign-in. */
function asksFirst(options: RequestOptions | undefined): Promise<never> | undefined {
  if (!watching.peek() || options?.anonymous === true) return undefined;
  signInAsked.value = true;
  return Promise.reject(new ApiError(403, { error: 'this panel watches: sign in to change something', code: 'panel_watches' }));
}
