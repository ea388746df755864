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
}

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

export async function observe(admin: ApiClient): Promise<Observed> {
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
  };
}
