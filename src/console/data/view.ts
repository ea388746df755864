/**
 * Which view is shown, kept in the fragment of the address: the back button works, and a view with its filters can be a bookmark of the
 * panel or be sent to a colleague: `/hmi#/alarms?severity=High&site=north`.
 */
import { signal } from '@preact/signals';

export type ConsolePath = '/hmi' | '/data';

/** What narrows a view: filters, a page of it, the site. Without the empty ones. */
export type ViewQuery = Readonly<Record<string, string>>;

export interface View {
  /** Of the views of the console, unless somebody typed another. */
  readonly name: string;
  /** Of the unit, batch or record; empty for the others. */
  readonly id: string;
  readonly query: ViewQuery;
}

/** Views that one console only has; the others are in both (views.ts of each, held by tests/tidy/console-views). */
const ONLY_IN: Readonly<Record<string, ConsolePath>> = {
  overview: '/hmi',
  alarms: '/hmi',
  prompts: '/hmi',
  unit: '/hmi',
  batch: '/hmi',
  production: '/data',
  records: '/data',
  record: '/data',
  history: '/data',
  alarmlog: '/data',
  gaps: '/data',
  people: '/data',
  roles: '/data',
  'all-sessions': '/data',
  'lock-outs': '/data',
  keys: '/data',
  panels: '/data',
  changes: '/data',
  signatures: '/data',
  integrity: '/data',
  backups: '/data',
  box: '/data',
};

export const view = signal<View>(read());

window.addEventListener('hashchange', () => {
  view.value = read();
});

function read(): View {
  const [place = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const [name = '', id = ''] = place.split('/');
  return { name, id: plain(id), query: Object.fromEntries(new URLSearchParams(query)) };
}

/** An address that somebody typed may hold anything. */
function plain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Goes into every address, once a box has several. */
let carriedSite = '';

/** @param site '' while the box has one site only. */
export function carrySite(site: string): void {
  carriedSite = site;
  if ((view.peek().query.site ?? '') !== site) narrow({ site });
}

/** @param query members that are empty are left out. */
export function addressOf(name: string, id = '', query: ViewQuery = {}): string {
  const there = ONLY_IN[name];
  return `${there === undefined || there === location.pathname ? '' : there}${hashOf({ name, id, query: { site: carriedSite, ...query } })}`;
}

function hashOf({ name, id, query }: View): string {
  const narrowed = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#/${name}${id === '' ? '' : `/${encodeURIComponent(id)}`}${narrowed === '' ? '' : `?${narrowed}`}`;
}

export function show(name: string, id = '', query: ViewQuery = {}): void {
  location.assign(addressOf(name, id, query));
}

/** Narrows what is shown: the address follows, and *back* leaves the view rather than undoing letter by letter. */
export function narrow(changes: ViewQuery): void {
  const { name, id, query } = view.peek();
  history.replaceState(history.state, '', `${location.pathname}${location.search}${hashOf({ name, id, query: { ...query, ...changes } })}`);
  view.value = read();
}
