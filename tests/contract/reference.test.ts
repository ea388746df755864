/** The reference pages are what the appliance does: a changed action name is a promise to a customer. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { REFERENCE_PAGES, routesText } from '../../src/cli/reference.js';
import { TIERS } from '../../src/platform/http/tiers.js';
import { environmentName, SETTINGS } from '../../src/settings.js';
import { leading } from '../support/at.js';

for (const [name, print] of Object.entries(REFERENCE_PAGES)) {
  t.test(`docs/reference/${name} is what the code says; after a wanted change run node scripts/reference.mjs and read the diff`, async (t) => {
    t.equal(print(), readFileSync(path.join(process.cwd(), 'docs/reference', name), 'utf8'));
  });
}

t.test('Q-AUTH-12, corrections to the route table: every API row names an action and a tier, and one action has one tier', async (t) => {
  const tierOf = new Map<string, string>();
  for (const line of routesText().trimEnd().split('\n')) {
    const [method, path, action, tier] = leading(line.split('\t'), 4);
    if (!path.startsWith('/api/')) {
      t.match({ method, action, tier }, { method: 'GET', action: '-', tier: 'none' }, path);
      continue;
    }
    t.match(action, /^[a-z]+:[a-z-]+$/, path);
    t.ok([...TIERS, 'self', 'none', 'custom'].includes(tier), `${path}: ${tier}`);
    t.equal(tierOf.get(action) ?? tier, tier, `${action} has one tier`);
    tierOf.set(action, tier);
  }
  t.equal(tierOf.get('stream:connect'), 'read', 'Q-AUTH-18');
});

const RELEASES = path.join(process.cwd(), 'tests/fixtures/releases');
for (const version of readdirSync(RELEASES)) {
  t.test(`VER-04 AUTH-11 HIER-14: every route of ${version} carries the action and the tier it had: role tables of deployments name them`, async (t) => {
    const rows = new Set(routesText().trimEnd().split('\n'));
    const then = readFileSync(path.join(RELEASES, version, 'routes.txt'), 'utf8')
      .trimEnd()
      .split('\n');
    t.ok(then.length > 200);
    t.same(
      then.filter((row) => !rows.has(row)),
      [],
    );
  });
}

/** Of what has come since, in the words of the changelog: the action, and the end of the path, which may be written with `…` before it. */
function untold(since: readonly string[], now: readonly string[], changelog: string): string[] {
  const parts = (row: string): string[] => row.split('\t');
  const actions = new Set(since.map((row) => parts(row)[2]));
  const routes = new Set(since.map((row) => parts(row).slice(0, 2).join(' ')));
  return now.flatMap((row) => {
    const [method, route, action] = parts(row) as [string, string, string];
    const end = route.split('/').slice(-2).join('/');
    return [
      ...(actions.has(action) || changelog.includes(`\`${action}\``) ? [] : [`action ${action}`]),
      ...(routes.has(`${method} ${route}`) || changelog.includes(end.replace('v1/', '')) ? [] : [`route ${method} ${route}`]),
    ];
  });
}

t.test('VER-04: every action and every route that a release did not have is named in the changelog', async (t) => {
  const changelog = readFileSync(path.join(process.cwd(), 'CHANGELOG.md'), 'utf8');
  const now = routesText().trimEnd().split('\n');
  for (const version of readdirSync(RELEASES)) {
    const then = readFileSync(path.join(RELEASES, version, 'routes.txt'), 'utf8')
      .trimEnd()
      .split('\n');
    t.same(untold(then, now, changelog), [], `since ${version}: add a line to CHANGELOG.md`);
    const silent = ['POST\t/api/v1/sites/{site}/silent/{name}/begin\tsilent:begin\toperate'];
    t.same(untold(then, [...now, ...silent], changelog), ['action silent:begin', 'route POST /api/v1/sites/{site}/silent/{name}/begin'], 'and one that is not is found');
  }
});

/** Parts of the contract that this version does not serve yet; the list only gets shorter. */
const LATER = /^\/api\/v1\/(servers|qualify|admin|system\/(power-capabilities|services\/\{component\}\/(events|logs))|sites\/\{site\}\/(outage|return|units\/\{name\}\/failover))/;

t.test('GEN-09 GEN-20 GEN-21 GEN-22 GEN-27 GEN-28 HIER-14 ROUTE-01: the families of the contract are served where it says, with actions of one form', async (t) => {
  const rows = routesText()
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t') as [string, string, string, string]);
  const at = new Map(rows.map(([method, route, action, tier]) => [`${method} ${route}`, `${action} ${tier}`]));
  const site = '/api/v1/sites/{site}';
  for (const [collection, resource, tier] of [
    ['/api/v1/enterprises', 'enterprise', 'engineer'],
    ['/api/v1/sites', 'site', 'engineer'],
    [`${site}/areas`, 'area', 'engineer'],
    [`${site}/processcells`, 'processcell', 'engineer'],
    [`${site}/units`, 'unit', 'engineer'],
    [`${site}/controlmodules`, 'controlmodule', 'engineer'],
    [`${site}/iomodules`, 'iomodule', 'admin'],
    [`${site}/controllers`, 'controller', 'admin'],
    [`${site}/fbnetworks`, 'controlprogram', 'engineer'],
    ['/api/v1/controlmoduletemplates', 'controlmoduletemplate', 'engineer'],
    ['/api/v1/fbblocktypes', 'functionblocktype', 'engineer'],
    [`${site}/recipes/master`, 'masterrecipe', 'engineer'],
    [`${site}/phasetemplates`, 'phasetemplate', 'engineer'],
  ] as const) {
    const served = (method: string, one: boolean): string | undefined => at.get(`${method} ${collection}${one ? '/{name}' : ''}`);
    t.same(
      [served('GET', false), served('POST', false), served('GET', true), served('PUT', true), served('DELETE', true)],
      [`${resource}:list read`, `${resource}:create ${tier}`, `${resource}:read read`, `${resource}:update ${tier}`, `${resource}:delete ${tier}`],
      collection,
    );
  }
  for (const [, route, action] of rows) {
    if (route.startsWith('/api/')) t.match(route, /^\/api\/v1\//, 'GEN-27 VER-01');
    if (action.startsWith('mes:')) t.match(route, /^\/api\/v1\/mes\/sites\/\{site\}\//, 'GEN-28 MES-41');
    t.notMatch(route, LATER, 'what is served leaves the list of what is not');
  }
});

t.test('D-CFG: every setting has its own key and environment variable', async (t) => {
  const keys = Object.values(SETTINGS).map(({ key }) => key);
  t.equal(new Set(keys).size, keys.length);
  t.equal(new Set(keys.map(environmentName)).size, keys.length);
});
