/**
 * Calls of the interface with the types of openapi.json (`npm run check` makes them of the rows): a path that there is not, a member that
 * is not told and a parameter that is not taken do not compile.
 */
import type { paths } from 'lineside-interface';
import type { Api, ListPage, RequestOptions } from './api.js';

type Method = 'get' | 'post' | 'put' | 'delete';
type JsonOf<Content> = Content extends { content: { 'application/json': infer Body } } ? Body : undefined;

/** Paths with such a method. */
export type PathOf<M extends Method> = { [P in keyof paths]: paths[P][M] extends undefined ? never : P }[keyof paths];
type Operation<P extends keyof paths, M extends Method> = NonNullable<paths[P][M]>;

type ResponsesOf<O> = O extends { responses: infer Responses } ? Responses : never;
export type Answered<P extends keyof paths, M extends Method> =
  ResponsesOf<Operation<P, M>> extends infer Responses ? JsonOf<Responses[keyof Responses & (200 | 201 | 202)]> : never;

type ParametersOf<O> = O extends { parameters: infer Parameters } ? Parameters : never;
type InPath<O> = ParametersOf<O> extends { path: infer Names } ? { readonly path: Names } : { readonly path?: never };
type InQuery<O> = ParametersOf<O> extends { query?: infer Query } ? { readonly query?: Query } : { readonly query?: never };
/** A row without a body says `requestBody?: never`. */
type InBody<O> = O extends { requestBody?: infer Body } ? ([Body] extends [never] ? { readonly body?: never } : { readonly body?: JsonOf<Body> }) : { readonly body?: never };

export type Call<P extends keyof paths, M extends Method> = InPath<Operation<P, M>> & InQuery<Operation<P, M>> & InBody<Operation<P, M>> & { readonly options?: RequestOptions };

interface LooseCall {
  readonly path?: object;
  readonly query?: object;
  readonly body?: unknown;
  readonly options?: RequestOptions;
}

export class TypedApi {
  readonly api: Api;

  constructor(api: Api) {
    this.api = api;
  }

  /** @throws ApiError. */
  get<P extends PathOf<'get'>>(path: P, call: Call<P, 'get'>): Promise<Answered<P, 'get'>> {
    return this.api.get(addressOf(path, loose(call)), loose(call).options);
  }

  /** All pages of a list. */
  all<P extends PathOf<'get'>>(path: P, call: Call<P, 'get'>): Promise<Answered<P, 'get'>> {
    return this.api.getAll(addressOf(path, loose(call)), loose(call).options) as Promise<Answered<P, 'get'>>;
  }

  /** One page of a list. */
  page<P extends PathOf<'get'>>(path: P, call: Call<P, 'get'>): Promise<ListPage<Answered<P, 'get'> extends readonly (infer Item)[] ? Item : never>> {
    return this.api.getList(addressOf(path, loose(call)), loose(call).options);
  }

  post<P extends PathOf<'post'>>(path: P, call: Call<P, 'post'>): Promise<Answered<P, 'post'>> {
    const { body, options } = loose(call);
    return this.api.post(addressOf(path, loose(call)), body, options);
  }

  put<P extends PathOf<'put'>>(path: P, call: Call<P, 'put'>): Promise<Answered<P, 'put'>> {
    const { body, options } = loose(call);
    return this.api.put(addressOf(path, loose(call)), body, options);
  }

  remove<P extends PathOf<'delete'>>(path: P, call: Call<P, 'delete'>): Promise<Answered<P, 'delete'>> {
    return this.api.remove(addressOf(path, loose(call)), loose(call).body);
  }
}

/** A call has the shape that its path and method give it; here it is sent, whatever it is. */
function loose(call: unknown): LooseCall {
  return call as LooseCall;
}

/** `{site}` is one segment; a parameter that is undefined is left out. */
export function addressOf(path: string, { path: names = {}, query = {} }: LooseCall): string {
  const filled = path.replace(/\{(\w+)(\.\.\.)?\}/g, (_, name: string, rest: string | undefined) => {
    const value = String((names as Readonly<Record<string, unknown>>)[name]);
    return rest === undefined ? encodeURIComponent(value) : value.split('/').map(encodeURIComponent).join('/');
  });
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])) as [string, string][];
  return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given).toString()}`;
}
