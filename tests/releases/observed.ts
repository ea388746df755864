/** What a release serves of its own data that must never change: read by the maker of a fixture and by the suite that opens it. */
import type { ApiClient } from '../support/api-client.js';
import { SITE } from '../support/plant.js';

export interface Observed {
  /** batchName -> phase. */
  readonly batches: Readonly<Record<string, string>>;
  /** Name of the record -> as it is served, JSON and BatchML. */
  readonly records: Readonly<Record<string, { readonly json: unknown; readonly xml: string }>>;
  readonly events: Readonly<Record<string, readonly unknown[]>>;
  readonly seals: unknown;
  readonly users: readonly string[];
  readonly keys: readonly string[];
  readonly audit: { readonly ok: boolean; readonly count: number; readonly newest: unknown };
  readonly archived: unknown;
  readonly recipes: readonly unknown[];
  readonly exported: unknown;
  /** Of the two definitions of the maker; absent in the first release. */
  readonly alarms?: readonly unknown[];
  /** What the rows are that cannot be used; absent in the first release. */
  readonly unfit?: unknown;
  /** Of one tag over the first minute; absent in the first release. */
  readonly history?: { readonly path: string; readonly items: readonly unknown[] };
}

/** The row of the maker that fits no kind. */
export const UNFIT = 'release-unfit';
const HISTORY_MS = 60_000;

/** BatchML without the times at which it was asked for. */
export function recorded(xml: string): string {
  return xml.replace(/<(TimeStamp|PublishedDate)>[^<]*<[/](TimeStamp|PublishedDate)>/g, '');
}

async function read(api: ApiClient, path: string): Promise<{ readonly body: any; readonly text: string }> {
  const answer = await api.get(path);
  if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
  return answer;
}

/** The rows of a list, which some routes serve bare and some as a page. */
function rows<Row>(body: readonly Row[] | { readonly items: readonly Row[] }): readonly Row[] {
  return 'items' in body ? body.items : body;
}

/** `then`: what was observed when the data was made, for what has to be asked in the same words. */
export async function observe(admin: ApiClient, then?: Observed): Promise<Observed> {
  const batches = rows<{ readonly name: string; readonly phase: string }>((await read(admin, `${SITE}/batches`)).body);
  const records: Record<string, { json: unknown; xml: string }> = {};
  for (const { name } of rows<{ readonly name: string }>((await read(admin, `${SITE}/batchrecords?limit=1000`)).body)) {
    const json = (await read(admin, `${SITE}/batchrecords/${name}`)).body;
    records[name] = { json, xml: (await read(admin, `${SITE}/batches/${name}/record?format=xml`)).text };
  }
  const events: Record<string, unknown[]> = {};
  for (const { name } of batches) events[name] = (await read(admin, `${SITE}/batches/${name}/events?limit=1000&order=asc`)).body.items;
  const verified = (await read(admin, '/api/v1/audit/verify')).body;
  const newest = (await read(admin, `${SITE}/audit?limit=50`)).body.items;
  return {
    batches: Object.fromEntries(batches.map(({ name, phase }) => [name, phase])),
    records,
    events,
    seals: (await read(admin, `${SITE}/batchrecord-seals`)).body,
    users: rows<{ username: string }>((await read(admin, '/api/v1/auth/users')).body)
      .map(({ username }) => username)
      .sort(),
    keys: rows<{ name: string }>((await read(admin, '/api/v1/mes/apikeys')).body)
      .map(({ name }) => name)
      .sort(),
    audit: { ok: verified.ok, count: verified.checked, newest },
    archived: (await read(admin, '/api/v1/audit/verify-archived')).body,
    recipes: rows<Record<string, unknown>>((await read(admin, `${SITE}/recipes/master`)).body).map(({ name, phase, digest }) => ({ name, phase, digest })),
    exported: (await read(admin, '/api/v1/export')).body,
    ...(then && !then.history ? {} : await observeSince(admin, then?.history?.path)),
  };
}

async function observeSince(admin: ApiClient, asked: string | undefined): Promise<Pick<Observed, 'alarms' | 'unfit' | 'history'>> {
  const alarms = rows<Record<string, unknown>>((await read(admin, `${SITE}/alarms`)).body).filter(({ definitionRef }) => String(definitionRef).startsWith('release-'));
  const path = asked ?? (await firstMinute(admin));
  return {
    alarms: alarms.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1)),
    unfit: (await read(admin, '/api/v1/system/health')).body.storage.unfit,
    history: { path, items: (await read(admin, path)).body.items },
  };
}

async function firstMinute(admin: ApiClient): Promise<string> {
  const tag = '/api/v1/historian/tags?address=li101.pv&order=asc&limit=1000';
  const [first] = (await read(admin, tag)).body.items as readonly { readonly ts: string }[];
  if (!first) throw new Error('the historian has nothing of li101.pv');
  return `${tag}&from=${first.ts}&to=${new Date(Date.parse(first.ts) + HISTORY_MS).toISOString()}`;
}
