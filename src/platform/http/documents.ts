/**
 * The documents of the product at `/docs` (ADR 0049): pages that the build has made of docs/, packed. They say nothing of the plant, so
 * whoever stands before the box reads them without an account, also while it is in rescue.
 */
import { type Route, type RouteSet, routeSet, routesFor } from './route.js';
import { ASKED_EACH_TIME, KEPT, readPackedFolder, serve, type StaticFile } from './static-files.js';

export interface Documents {
  /** By its path below `/docs`, with or without `.html`; '' is the index. */
  file(name: string): StaticFile | undefined;
}

const route = routesFor<Documents>();
const open = { action: '-', tier: 'none' } as const;

export const DOCUMENT_ROUTES: readonly Route<Documents>[] = [
  route({ method: 'GET', path: '/docs', ...open, summary: 'Documents of the product', handle: ({ header }, documents) => document('', documents, header) }),
  route({
    method: 'GET',
    path: '/docs/{file...}',
    ...open,
    summary: 'A page of the documents',
    handle: ({ params, header }, documents) => document(params.file, documents, header),
  }),
];

function document(name: string, documents: Documents, header: (name: string) => string | undefined) {
  return serve(documents.file(name), `document ${name}`, cacheControlOf(name), header);
}

export function cacheControlOf(name: string): string {
  return name.startsWith('assets/') ? KEPT : ASKED_EACH_TIME;
}

/** @param folder the built documents; without it every address below `/docs` is 404. */
export function openDocuments(folder: string): Documents {
  const files = readPackedFolder(folder);
  return {
    file(asked) {
      const name = asked.replace(/\/$/, '');
      return files.get(name) ?? files.get(name === '' ? 'index.html' : `${name}.html`) ?? files.get(`${name}/index.html`);
    },
  };
}

export function documentRoutes(documents: Documents): RouteSet {
  return routeSet(DOCUMENT_ROUTES, documents);
}
