/** The reference pages are what the appliance does: a changed action name is a promise to a customer. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { REFERENCE_PAGES, routesText } from '../../src/cli/reference.js';
import { TIERS } from '../../src/platform/http/caller.js';
import { environmentName, SETTINGS } from '../../src/settings.js';

for (const [name, print] of Object.entries(REFERENCE_PAGES)) {
  t.test(`docs/reference/${name} is what the code says; after a wanted change run node scripts/reference.mjs and read the diff`, async (t) => {
    t.equal(print(), readFileSync(path.join(process.cwd(), 'docs/reference', name), 'utf8'));
  });
}

t.test('Q-AUTH-12, corrections to the route table: every API row names an action and a tier, and one action has one tier', async (t) => {
  const tierOf = new Map<string, string>();
  for (const line of routesText().trimEnd().split('\n')) {
    const [method, path, action, tier] = line.split('\t');
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

t.test('D-CFG: every setting has its own key and environment variable', async (t) => {
  const keys = Object.values(SETTINGS).map(({ key }) => key);
  t.equal(new Set(keys).size, keys.length);
  t.equal(new Set(keys.map(environmentName)).size, keys.length);
});
