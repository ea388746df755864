/**
 * Probes, pages and their assets (contract 1, What the service does 1 and 3; decisions Q-TIER-09, D-GEN-01). The pages are
 * static files without plant data, read once at start from the built consoles; all data comes through the API.
 */
import { Reply, type Route, type RouteSet, routeSet, routesFor } from './route.js';
import { ASKED_EACH_TIME, KEPT, readFolder, serve, type StaticFile } from './static-files.js';
import { UwsReply } from './uws-reply.js';

/** Each with the folder of the built consoles that holds it. */
const PAGES = { login: 'login', hmi: 'hmi', data: 'desk' } as const;

export interface Pages {
  /** 503 on `/readyz` until true: `starting`, or what has gone wrong since. */
  ready(): boolean;
  started(): boolean;
  /** Why the storage refuses changes; '' while it does not. */
  refusedBecause(): string;
  page(name: string): StaticFile | undefined;
  asset(name: string): StaticFile | undefined;
}

const route = routesFor<Pages>();
const open = { action: '-', tier: 'none' } as const;

const STARTING = '{"status":"starting"}';
const refusing = (reason: string): string => {
  const message = `the storage refuses changes: nothing can be changed or recorded until it accepts them again; control goes on${reason === '' ? '' : `. Reason: ${reason}`}`;
  return JSON.stringify({ status: 'storage_unavailable', message });
};

export const PAGE_ROUTES: readonly Route<Pages>[] = [
  route({ method: 'GET', path: '/healthz', ...open, summary: 'Liveness', handle: () => ({ status: 'ok' }) }),
  route({
    method: 'GET',
    path: '/readyz',
    ...open,
    summary: 'Readiness',
    handle: (_, pages) => (pages.ready() ? { status: 'ok' } : new UwsReply(503, pages.started() ? refusing(pages.refusedBecause()) : STARTING, { 'Retry-After': '1' })),
  }),
  route({ method: 'GET', path: '/', ...open, summary: 'To the operator console', handle: () => new Reply('redirect', undefined, { Location: '/hmi' }) }),
  ...Object.entries(PAGES).map(([name, folder]) =>
    route({ method: 'GET', path: `/${name}`, ...open, summary: `Page ${name}`, handle: ({ header }, pages) => serve(pages.page(folder), `page ${name}`, ASKED_EACH_TIME, header) }),
  ),
  route({
    method: 'GET',
    path: '/assets/{file...}',
    ...open,
    summary: 'Assets of the pages',
    handle: ({ params, header }, pages) => serve(pages.asset(params.file), `asset ${params.file}`, KEPT, header),
  }),
];

/**
 * @param folder the built consoles: `login/index.html` or `login.html`, assets in any folder named `assets`.
 */
export function pageRoutes(folder: string, ready: () => boolean, started: () => boolean, refusedBecause: () => string): RouteSet {
  const files = readFolder(folder);
  const assets = new Map<string, StaticFile>();
  for (const [name, file] of files) {
    const at = name.lastIndexOf('assets/');
    if (at >= 0) assets.set(name.slice(at + 'assets/'.length), file);
  }
  const deps: Pages = {
    ready,
    started,
    refusedBecause,
    page: (name) => files.get(`${name}/index.html`) ?? files.get(`${name}.html`),
    asset: (name) => assets.get(name),
  };
  return routeSet(PAGE_ROUTES, deps);
}
