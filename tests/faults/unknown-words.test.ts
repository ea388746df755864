/**
 * D-C-02 for the words of lists: what was stored with a word that this version does not know (damaged, or of another version) is
 * kept and named, so everything that looks a stored word up has to hold. All such words of the plant are changed at once.
 */
import path from 'node:path';
import t from 'tap';
import * as v from 'valibot';
import { STORED_KINDS } from '../../src/domains/index.js';
import Database from '../../src/platform/base/sqlite.js';
import { unfitRow } from '../../src/platform/store/read-row.js';
import type { Resource } from '../../src/platform/store/resource.js';
import { eventually } from '../support/api-client.js';
import { applianceProcess } from '../support/appliance-process.js';
import { SITE } from '../support/plant.js';

const ENVIRONMENT = {
  LINESIDE_AUTH__MODE: 'none',
  LINESIDE_DEMO__ENABLED: 'true',
  LINESIDE_GATEWAY__OPERATINGMODE: 'development',
  LINESIDE_LOG_LEVEL: 'error',
};
const UNKNOWN = 'zzword';
const LISTS = [
  ...['overview', 'units', 'batches', 'alarms', 'alarmdefinitions', 'phases', 'prompts', 'controlmodules', 'controlmoduletemplates'],
  ...['iomodules', 'controlprograms', 'tags', 'recipes/master', 'recipes/phases', 'recipes/operations', 'coordinationblocks', 'processcells'],
];

type Step = string | number;
interface Row {
  readonly kind: string;
  readonly site: string;
  readonly name: string;
  readonly body: string;
}

/** Places of all texts in a value. */
function texts(value: unknown, at: readonly Step[] = []): (readonly Step[])[] {
  if (typeof value === 'string') return [at];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => texts(member, [...at, Array.isArray(value) ? Number(key) : key]));
}

function withUnknown(body: string, at: readonly Step[]): Resource {
  const resource = JSON.parse(body) as Resource;
  let holder = resource.spec as Record<Step, unknown>;
  for (const step of at.slice(0, -1)) holder = holder[step] as Record<Step, unknown>;
  holder[at.at(-1) as Step] = UNKNOWN;
  return resource;
}

/** Whether the text there is a word of a list: then the resource is kept with any other word, and named. */
function isWord(body: string, at: readonly Step[]): boolean {
  const resource = withUnknown(body, at);
  const kind = STORED_KINDS.find((each) => each.kind === resource.kind);
  if (!kind || !unfitRow(resource, kind)?.kept) return false;
  return v.safeParse(kind.spec, resource.spec).issues?.some(({ type }) => type === 'picklist' || type === 'literal') === true;
}

/** The plant that is watched goes without the words of its modules, so the alarms are looked at with modules that are whole. */
for (const isOfAlarms of [true, false]) {
  t.test(
    `D-C-02: a word of a list that nobody knows in ${isOfAlarms ? 'an alarm definition' : 'anything else'} keeps no unit from running and no list from being served`,
    async (t) => {
      const box = await applianceProcess({ environment: ENVIRONMENT });
      t.teardown(async () => {
        await box.end('SIGKILL');
        box.remove();
      });
      await box.start();
      await box.end();
      const database = new Database(path.join(box.dataDir, 'state.db'));
      const rows = database.prepare('SELECT kind, site, name, body FROM resources ORDER BY kind, name').all() as Row[];
      const seen = new Set<string>();
      for (const row of rows.filter(({ kind }) => (kind === 'AlarmDefinition') === isOfAlarms)) {
        let { body } = row;
        for (const at of texts((JSON.parse(row.body) as Resource).spec)) {
          const word = [row.kind, ...at.map((step) => (typeof step === 'number' ? '[]' : step))].join('.');
          if (seen.has(word) || !isWord(row.body, at)) continue;
          seen.add(word);
          body = JSON.stringify(withUnknown(body, at));
        }
        if (body !== row.body) database.prepare('UPDATE resources SET body = ? WHERE kind = ? AND site = ? AND name = ?').run(body, row.kind, row.site, row.name);
      }
      database.close();
      t.ok(seen.has(isOfAlarms ? 'AlarmDefinition.conditionType' : 'MasterRecipe.procedure.chart.steps.[].templateKind'), `${seen.size} words`);
      await box.start();
      const units = async () => (await box.api.get(`${SITE}/units`)).body as { name: string; runtimeReady: boolean }[];
      await eventually('all units run', async () => (await units()).every((unit) => unit.runtimeReady));
      for (const list of LISTS) t.not((await box.api.get(`${SITE}/${list}`)).status, 500, list);
      const { unfit } = (await box.api.get('/api/v1/system/health')).body.storage as { unfit: { kind: string; kept: boolean }[] };
      t.ok(unfit.length > 0 && unfit.every(({ kept }) => kept), 'all are named');
    },
  );
}
