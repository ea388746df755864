/** A panel that is open while somebody engineers: it shows what is there now, without a reload and without asking more than it must. */
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { type ApiClient, eventually } from '../support/api-client.js';
import { account, firstAdmin, flawsOf, hasFocus, layoutFlaws, open, panelOf, phoneFlaws, says, signIn, SITE, startConsole, type Watched } from './person.js';
import { BREWHOUSE, manifestsOf, SKID } from './unit-fixtures.js';
import { wireOf } from './wire.js';

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
  await page.getByTestId('part-values').click(); // there was none but the one above
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

  await account(admin, 'lea', 'lead-operator');
  await account(admin, 'egon', 'engineer');
  await unitPicture(t, { box, browser, admin, page, processCellName, controllerRef });
});

interface Engineered extends Watched {
  readonly admin: ApiClient;
  /** An operator, somewhere in the console. */
  readonly page: Page;
  readonly processCellName: string;
  readonly controllerRef: string;
}

const EDITED = [
  { item: 'xv101', column: 13, row: 2 },
  { item: 'xv102', column: 14, row: 6 },
];

/** The unit as it is piped, what can be touched on it, and what an engineer changes of it. */
async function unitPicture(t: Test, { box, browser, admin, page, processCellName, controllerRef }: Engineered): Promise<void> {
  const did = async (answer: Promise<{ readonly status: number; readonly text: string }>): Promise<void> => {
    const { status, text } = await answer;
    if (status >= 300) throw new Error(text);
  };
  const flows = (target: Page, pipe: number, isSo: boolean): Promise<void> => target.locator(`[data-testid="pipe-${pipe}"][data-flows="${isSo}"]`).waitFor({ state: 'attached' });

  await t.test('a unit is drawn from its connections: a pipe is thick while something flows in it, and leads to the next unit', async (t) => {
    await page.getByTestId('open-rx101').click();
    await page.locator('[data-testid="module-xv101"][data-quality="Good"]').waitFor();
    await flows(page, 0, false);
    await did(admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'xv101', mode: 'Manual' }));
    await did(admin.post(`${SITE}/controlmodules/xv101/tags/cmd`, { value: true }));
    await flows(page, 0, true); // monomer
    await flows(page, 3, true); // behind the junction, through the meter
    await flows(page, 1, false); // and nothing comes from the premix vessel
    t.strictSame(await flawsOf(page, 'unit-picture'), []);
    t.strictSame(await phoneFlaws(page, 'unit-picture-phone'), []);
    await did(admin.post(`${SITE}/controlmodules/xv101/tags/cmd`, { value: false }));
    await flows(page, 0, false);
    await did(admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'xv101', mode: 'Automatic' }));
    await page.getByTestId('end-to-tk201').getByRole('link').click();
    await page.locator('[data-testid="unit-view"][data-unit="tk201"]').waitFor();
    await page.getByTestId('unit-as-list').click();
    await page.getByTestId('picture').waitFor({ state: 'detached' });
    await page.getByTestId('module-xv201').waitFor(); // the list has the same modules
    await page.getByTestId('unit-as-picture').click();
    await page.getByTestId('picture').waitFor();
  });

  await t.test('a brewhouse and a skid without a vessel are drawn as well', async (t) => {
    await did(admin.post('/api/v1/apply', manifestsOf([...BREWHOUSE, SKID], { processCellName, controllerRef })));
    for (const { name, modules } of [...BREWHOUSE, SKID]) {
      await page.evaluate(`location.hash = '#/unit/${name}'`);
      await page.locator(`[data-testid="unit-view"][data-unit="${name}"]`).waitFor();
      for (const module of modules) await page.getByTestId('picture').getByTestId(`module-${module.name}`).waitFor();
      t.strictSame(await layoutFlaws(page, `unit-${name}`), [], name);
    }
  });

  await t.test('the faceplate has one truth about the mode, its limits, and who changed what', async (t) => {
    await did(admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode: 'Manual' }));
    const desk = await open(browser, `${box.base}/hmi#/unit/rx101`);
    await signIn(desk, 'egon');
    await desk.getByTestId('module-tic101').click();
    await desk.locator('[data-testid="mode-Manual"][aria-pressed="true"]').waitFor();
    await desk.getByTestId('part-values').click();
    await desk.getByTestId('line-man').waitFor();
    for (const tag of ['auto', 'mode']) t.equal(await desk.getByTestId(`line-${tag}`).count(), 0, `the tag ${tag} does not say another mode beside it`);
    await desk.getByTestId('part-limits').click();
    await says(desk.getByTestId('limit-tic101-high'), /above.*95 °C/);
    await desk.getByTestId('limit-change-tic101-high').click();
    await desk.getByTestId('limit-value').fill('93,5');
    await desk.getByTestId('limit-send').click();
    await says(desk.getByTestId('limit-confirm'), /95 °C\s*→\s*93\.5 °C/);
    await desk.getByTestId('limit-send').click();
    await says(desk.getByTestId('limit-tic101-high'), /93\.5 °C/);
    t.equal((await admin.get(`${SITE}/alarmdefinitions/tic101-high`)).body.threshold, '93.5');
    await desk.getByTestId('part-changes').click();
    await says(desk.getByTestId('module-changes'), /Automatic → Manual/);
    for (const part of ['limits', 'alarms', 'changes', 'tune']) {
      await desk.getByTestId(`part-${part}`).click();
      t.strictSame(await flawsOf(desk, `faceplate-${part}`), [], part);
    }
    await desk.context().close();
  });

  await t.test('commands wait for the link: without live data a button that commands is grey and says why', async (t) => {
    const lost = await panelOf(browser);
    const wire = await wireOf(lost);
    await lost.goto(`${box.base}/hmi#/unit/rx101`);
    await signIn(lost, 'lea');
    await lost.getByTestId('module-tic101').click();
    await lost.locator('[data-testid="write-sp"]:not([aria-disabled])').waitFor();
    await wire.lose(true);
    await lost.locator('[data-testid="write-sp"][aria-disabled="true"]').click({ force: true }); // it is no disabled button: it answers a touch
    await says(lost.getByTestId('write-sp-why'), /commands wait for the link/);
    await lost.keyboard.press('Escape');
    await lost.locator('[data-testid="run-by-hand"][aria-disabled="true"]').waitFor();
    await lost.locator('[data-testid="mode-Automatic"]:disabled').waitFor();
    t.equal(await lost.getByTestId('write-dialog').count(), 0, 'no dialog takes a value first and refuses it then');
    t.equal(await lost.locator('[data-flows="true"]').count(), 0, 'and nothing is shown to flow');
    await wire.lose(false);
    await lost.context().close();
    await did(admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode: 'Automatic' }));
  });

  await t.test('a phase is run by hand, held, gone on with, stopped and reset from its unit', async (t) => {
    const lea = await open(browser, `${box.base}/hmi#/unit/mx101`);
    await signIn(lea, 'lea');
    await lea.locator('[data-testid="module-p111"][data-blocked="true"]').click();
    await says(
      lea.getByTestId('condition-words'),
      /Premix level LI111: now -?0\.\d %, blocks while below 1\.0 % \(LL\)/,
      'an interlock that ends at a limit says value and limit of what is measured',
    );
    await lea.getByTestId('faceplate-close').click();
    await lea.getByTestId('run-by-hand').click();
    await lea.getByTestId('run-template').selectOption('mix');
    t.equal(await lea.getByTestId('run-template').locator('option[value="heat"]').count(), 0, 'what the unit has no modules for is not offered');
    await lea.getByTestId('run-send').click();
    await says(lea.getByTestId('run-error'), /duration needs a value/);
    await lea.getByTestId('run-value-duration').fill('600');
    await says(lea.getByTestId('run-against'), /Nothing stands against it/);
    await lea.getByTestId('run-send').click();
    await says(lea.getByTestId('run-confirm'), /mix will run on MX101 at once, without a batch.*duration: 600/s);
    t.strictSame(await flawsOf(lea, 'run-confirm'), []);
    await lea.getByTestId('run-send').click();
    await says(lea.getByTestId('run-strip'), /mix.*Running/);
    const told = async (command: string, state: RegExp, reason = ''): Promise<void> => {
      await lea.getByTestId(`run-${command}`).click();
      if (reason !== '') await lea.getByTestId('reason').fill(reason);
      await lea.getByTestId('run-command-send').click();
      await lea.getByTestId('run-command-dialog').waitFor({ state: 'detached' });
      await says(lea.getByTestId('run-strip'), state, command);
    };
    await told('Hold', /Held/, 'a look at the agitator');
    await lea.getByTestId('run-by-hand').click();
    await says(lea.getByTestId('run-against'), /Stands against it.*MX101 works for/s);
    await lea.locator('[data-testid="run-send"]:disabled').waitFor();
    await lea.getByTestId('run-back').click();
    await told('Restart', /Running/);
    await lea.getByTestId('run-Stop').click();
    await lea.getByTestId('reason').fill('the trial is over');
    await lea.getByTestId('run-command-send').click();
    await eventually('it is stopped', async () => (await admin.get(`${SITE}/units/mx101`)).body.state === 'Stopped');
    await lea.getByTestId('run-by-hand').click();
    await says(lea.getByTestId('run-earlier'), /mix.*Stopped/s, 'what was run on it');
    await lea.getByTestId('run-earlier-reset').click();
    await lea.getByTestId('run-command-dialog').getByTestId('reason').fill('the unit is wanted again');
    await lea.getByTestId('run-command-send').click();
    await says(lea.getByTestId('run-against'), /Nothing stands against it/, 'the unit is Idle again');
    await lea.context().close();
  });

  await t.test('an engineer moves things with mouse and keys, takes a move back, and saves what he has seen beside what was', async (t) => {
    const desk = await open(browser, `${box.base}/hmi#/unit/rx101`);
    await signIn(desk, 'egon');
    await page.evaluate("location.hash = '#/unit/rx101'");
    await page.locator('[data-testid="unit-view"][data-unit="rx101"]').waitFor();
    t.equal(await page.getByTestId('layout-edit').count(), 0, 'an operator moves nothing');
    await desk.getByTestId('layout-edit').click();
    const place = (item: string) => desk.getByTestId(`place-${item}`);
    const standsAt = (item: string, at: string): Promise<void> => desk.locator(`[data-testid="place-${item}"][data-place="${at}"]`).waitFor();
    const [column = 0, row = 0] = ((await place('xv101').getAttribute('data-place')) ?? '').split(' ').map(Number);
    await place('xv101').focus();
    await desk.keyboard.press('ArrowRight');
    await standsAt('xv101', `${column + 1} ${row}`);
    await hasFocus(desk, 'place-xv101');
    await desk.keyboard.press('ArrowRight');
    await standsAt('xv101', `${column + 2} ${row}`);
    await desk.keyboard.press('Control+z');
    await standsAt('xv101', `${column + 1} ${row}`);
    await desk.getByTestId('layout-redo').click();
    await standsAt('xv101', `${column + 2} ${row}`);
    t.strictSame(await flawsOf(desk, 'layout-editor'), []);

    const from = await place('xv102').boundingBox();
    if (!from) throw new Error('xv102 stands nowhere');
    await desk.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
    await desk.mouse.down();
    await desk.mouse.move(from.x + from.width / 2 + 60, from.y + from.height / 2 + 40, { steps: 4 });
    await desk.mouse.up();
    await desk.getByTestId('layout-save').click();
    await says(desk.getByTestId('layout-moved'), /XV101\s*automatic\s*column/, 'old beside new');
    await says(desk.getByTestId('layout-moved'), /XV102\s*automatic\s*column/);
    await did(admin.put(`${SITE}/units/rx101`, { layout: [{ item: 'xv101', column: 2, row: 2 }] }));
    await desk.getByTestId('layout-send').click();
    await says(desk.getByTestId('layout-error'), /changed since it was opened here/, 'what somebody else has saved meanwhile is not written over');
    await did(admin.put(`${SITE}/units/rx101`, { layout: [] }));
    await desk.getByTestId('layout-send').click();
    await desk.getByTestId('layout-editor').waitFor({ state: 'detached' });
    const { layout, connections } = (await admin.get(`${SITE}/units/rx101`)).body as { layout: typeof EDITED; connections: readonly object[] };
    t.strictSame(
      layout.map(({ item }) => item).sort(),
      EDITED.map(({ item }) => item),
    );
    t.match(
      layout.find(({ item }) => item === 'xv101'),
      { column: column + 2, row },
    );
    t.equal(connections.length, 10, 'and nothing else of the unit has changed');
    await did(admin.put(`${SITE}/units/rx101`, { layout: EDITED }));
    await eventually('another panel shows it so', async () => ((await page.getByTestId('module-xv101').getAttribute('style')) ?? '').includes(await widthShare(page, 13)));
    t.match(await admin.put(`${SITE}/units/rx101`, { layout: [{ item: 'from Steam', column: 1, row: 1 }] }), { status: 400, body: { field: 'layout[0].item' } });
    await did(admin.put(`${SITE}/units/rx101`, { layout: [] }));
    await desk.context().close();
  });
}

/** Where a column of the grid stands, as the picture says it. */
async function widthShare(page: Page, column: number): Promise<string> {
  const width = Number(await page.evaluate("getComputedStyle(document.querySelector('.picture')).getPropertyValue('--w')"));
  return `left: ${String(((column * 20) / width) * 100).slice(0, 5)}`;
}
