/** A panel that is open while somebody engineers: it shows what is there now, without a reload and without asking more than it must. */
import type { Page } from 'playwright-core';
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { account, firstAdmin, open, says, signIn, SITE, startConsole } from './person.js';

const CONTROL = 'control.lineside.io/v1alpha1';
const PHYSICAL = 'physical.lineside.io/v1alpha1';
const UNIT = { description: 'Wash vessel' };

function manifest(apiVersion: string, kind: string, name: string, spec: object): object {
  return { apiVersion, kind, metadata: { name, namespace: 'site-demo' }, spec };
}

/** How often the page asked for whole lists of the plant since. */
function listsOf(page: Page): () => number {
  let count = 0;
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname === `${SITE}/tags` || pathname === `${SITE}/units`) count += 1;
  });
  return () => count;
}

t.test('a panel that is open follows what is engineered: new units and modules, descriptions, templates, and what is taken away', async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'operator');
  const page = await open(browser, `${box.base}/hmi`);
  await signIn(page, 'olga');
  await page.getByTestId('value-tic101.pv').waitFor();
  const read = listsOf(page);
  const apply = async (...manifests: object[]): Promise<void> => {
    const answer = await admin.post('/api/v1/apply', manifests);
    if (answer.status !== 200) throw new Error(answer.text);
  };

  const { processCell: processCellName, controllerRef } = (await admin.get(`${SITE}/units/rx101`)).body;
  const template = (unit: string, more: readonly object[] = []) => ({
    moduleType: 'sensor',
    deviceClass: 'sensor',
    measuredVariable: 'Weight',
    tags: [{ name: 'pv', dataType: 'Float', engUnits: unit, engMin: '0', engMax: '500' }, ...more],
  });
  await apply(
    manifest(PHYSICAL, 'Unit', 'wv900', { ...UNIT, processCellName, controllerRef }),
    { ...manifest(CONTROL, 'ControlModuleTemplate', 'scale', template('kg')), metadata: { name: 'scale' } },
    manifest(CONTROL, 'ControlModule', 'wi900', { templateRef: 'scale', parentName: 'wv900', parentKind: 'Unit', description: 'Scale' }),
  );
  await says(page.getByTestId('unit-wv900'), /Wash vessel/, 'a unit that was not there when the page was opened');
  await says(page.getByTestId('value-wi900.pv'), /kg/, 'with the values of its modules');
  await page.locator('[data-testid="value-wi900.pv"][data-quality]:not([data-quality=""])').waitFor(); // which are told live from now on

  await page.getByTestId('open-wv900').click();
  await page.getByTestId('module-wi900').click();
  await says(page.getByTestId('faceplate-wi900'), /Scale/);
  await apply(
    manifest(PHYSICAL, 'Unit', 'wv900', { ...UNIT, processCellName, controllerRef, description: 'Rinse vessel' }),
    { ...manifest(CONTROL, 'ControlModuleTemplate', 'scale', template('t', [{ name: 'tare', dataType: 'Float', engUnits: 't' }])), metadata: { name: 'scale' } },
    manifest(CONTROL, 'ControlModule', 'wi900', { templateRef: 'scale', parentName: 'wv900', parentKind: 'Unit', description: 'Weigh cell' }),
  );
  await says(page.getByTestId('unit-view'), /Rinse vessel/, 'a description that was changed');
  await says(page.getByTestId('faceplate-wi900'), /Weigh cell/, 'of a module whose faceplate is open');
  await page.getByTestId('line-tare').waitFor(); // a tag that its template has now

  const before = read();
  const many = Array.from({ length: 40 }, (_, at) => manifest(CONTROL, 'ControlModule', `wi${901 + at}`, { templateRef: 'scale', parentName: 'wv900', parentKind: 'Unit' }));
  await apply(...many);
  await page.getByTestId('module-wi940').waitFor();
  t.ok(read() - before <= 10, `${read() - before} lists were read for forty modules`);

  const { modelRevision } = (await admin.get(`${SITE}/overview`)).body;
  await admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'wi940', mode: 'Manual' });
  await page.locator('[data-testid="module-wi940"][data-mode="Manual"]').waitFor();
  t.equal((await admin.get(`${SITE}/overview`)).body.modelRevision, modelRevision, 'a mode is no engineering: no list is read for it');

  for (const module of ['wi900', ...many.map((_, at) => `wi${901 + at}`)]) t.equal((await admin.delete(`${SITE}/controlmodules/${module}`)).status, 204);
  t.equal((await admin.delete(`${SITE}/units/wv900`)).status, 204);
  await page.getByText('There is no unit wv900').waitFor();
  await eventually('the overview has it no more', async () => {
    await page.goto(`${box.base}/hmi#/`);
    return (await page.getByTestId('unit-rx101').count()) === 1 && (await page.getByTestId('unit-wv900').count()) === 0;
  });
});
