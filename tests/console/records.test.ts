/** Records and history at a desk: found, read letter by letter, judged, signed, sealed, handed out and printed (GEN-05). */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import t, { type Test as Tap } from 'tap';
import { type ApiClient, eventually } from '../support/api-client.js';
import { ANSWERS, answerTo, type Prompt, SMALL, unitsReady } from '../support/plant.js';
import { account, AGAIN, batch, firstAdmin, flawsOf, hasFocus, open, orWhy, PASSWORD, phoneFlaws, says, signIn, SITE, startConsole } from './person.js';

const DESK = { viewport: { width: 1440, height: 900 } };
/** Numbers of lots are texts, however much they look like numbers. */
const LOTS = [
  { name: 'monomerLot', value: '20261122007' },
  { name: 'solventLot', value: '000123' },
];

/** Of a batch that runs to its end, its answers given. */
async function endedBatch(admin: ApiClient, batchID: string): Promise<string> {
  const name = await batch(admin, batchID, [...SMALL.parameters, ...LOTS]);
  const started = await admin.post(`${SITE}/command`, { kind: 'Batch', name, command: 'Start', reason: 'order of the shift' });
  if (started.status !== 200) throw new Error(started.text);
  const ended = eventually('the batch has ended and its record has settled', async () => {
    for (const prompt of (await admin.get(`${SITE}/prompts`)).body as Prompt[])
      if (prompt.batch === name)
        await admin.post(`${SITE}/phases/${prompt.phase}/prompt-response`, { promptID: prompt.id, response: answerTo(prompt, ANSWERS), reason: 'measured at the bench' });
    return (await admin.get(`${SITE}/batchrecords?search=${batchID}`)).body.items[0]?.settled === true;
  });
  await orWhy(admin, name, ended);
  return name;
}

const row = (page: Page, table: string, text: string) => page.getByTestId(table).locator('tbody tr', { hasText: text });
const download = async (page: Page, testid: string): Promise<string> => {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByTestId(testid).click()]);
  return readFileSync(await file.path(), 'utf8');
};

async function prove(page: Page, reason: string, password = PASSWORD): Promise<void> {
  await page.getByTestId('reason').fill(reason);
  await page.getByTestId('sign-password').fill(password);
  await page.getByTestId('sign-send').click();
}

async function proved(page: Page, words: RegExp): Promise<void> {
  await says(page.getByTestId('signed'), words);
  await page.getByTestId('sign-close').click();
  await page.getByTestId('sign-dialog').waitFor({ state: 'detached' });
}

/** What the browser would print when the page asks for it, drawn as on paper. */
async function printed(page: Page, testid: string) {
  await page.evaluate(`window.print = () => { window.asked = document.body.innerText; }`);
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(`document.querySelector('[data-testid="${testid}"]').click()`);
  await eventually('the page has asked for the printer', () => page.evaluate('window.asked !== undefined'));
  const paper = (await page.evaluate(`({
    text: window.asked,
    buttons: [...document.querySelectorAll('button, input, select, a.button')].filter((each) => each.checkVisibility() && !each.closest('th')).map((each) => each.outerHTML),
    cut: [...document.querySelectorAll('td, p, li')].filter((each) => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflow === 'hidden' && getComputedStyle(each).textOverflow === 'ellipsis').map((each) => each.textContent),
    rows: Object.fromEntries([...document.querySelectorAll('table')].map((each) => [each.dataset.testid, each.querySelectorAll('tbody tr').length])),
  })`)) as { readonly text: string; readonly buttons: string[]; readonly cut: string[]; readonly rows: Record<string, number> };
  const pages = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  await page.evaluate(`window.dispatchEvent(new Event('afterprint')), delete window.asked`);
  await page.emulateMedia({ media: 'screen' });
  return { ...paper, pages };
}

/** The list answers as a site with so many records does. */
async function manyRecords(page: Page, count: number, shape: object): Promise<void> {
  await page.route(`**${SITE}/batchrecords?**`, (route) => {
    const query = new URL(route.request().url()).searchParams;
    const [limit, from] = [Number(query.get('limit')), Number(query.get('cursor') ?? 0)];
    const items = Array.from({ length: Math.min(limit, count - from) }, (_, at) => ({ ...shape, name: `b-${from + at}`, batch: `b-${from + at}`, batchID: `WO-${from + at}` }));
    const next = from + items.length;
    return route.fulfill({ json: { items, nextCursor: next < count ? String(next) : null, total: count } });
  });
}

async function comments(t: Tap, page: Page): Promise<void> {
  await page.getByTestId('record-comment').click();
  await says(page.getByTestId('comment-dialog'), /with your name\. It cannot be taken back/, 'it says before what it does');
  await page.getByTestId('comment-send').click();
  await says(page.getByTestId('comment-fault'), /fill in/);
  await page.getByTestId('comment-text').fill('Sample slip 7781 seen');
  await page.getByTestId('comment-about').fill('viscosity');
  t.strictSame(await flawsOf(page, 'record-comment'), []);
  await page.getByTestId('comment-send').click();
  await says(page.getByTestId('record-comments'), /quinn of the shift \(viscosity\).*Sample slip 7781 seen/);
}

t.test('GEN-05: records and history in the data console', async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'quinn', 'supervisor');
  await account(admin, 'vera', 'viewer');
  await unitsReady(admin);
  const alarm = { sourceKind: 'ControlModule', sourceName: 'li101', conditionType: 'TagLow', tagName: 'pv', threshold: '5', type: 'Process', severity: 'Medium', priority: 600 };
  t.equal((await admin.post(`${SITE}/alarmdefinitions`, { ...alarm, enabled: true, name: 'li101-low', message: 'Reactor is empty' })).status, 201);
  const name = await endedBatch(admin, 'WO-41');
  const page = await open(browser, `${box.base}/data`, DESK);
  await signIn(page, 'quinn');

  await t.test('RECORD-12: QA finds the record of a batch that has ended, and the list says how many are open', async (t) => {
    await says(page.getByTestId('records-phase-Open'), /^Open 1$/);
    await page.getByTestId('records-search').fill('nobody');
    await page.getByTestId('records-search').press('Enter');
    await says(page.getByTestId('records-view'), /No record fits this choice/);
    await page.getByTestId('records-search').fill('wo-41');
    await page.getByTestId('records-search').press('Enter');
    await row(page, 'records', 'WO-41').waitFor();
    t.strictSame(await flawsOf(page, 'records'), []);
    await row(page, 'records', 'WO-41').getByRole('link').focus();
    await page.keyboard.press('Enter');
    await page.getByTestId('record-view').waitFor();
    t.match(page.url(), new RegExp(`#/record/${name}`));
  });

  await t.test('RECORD-03: its values are read letter by letter, with where they come from', async (t) => {
    for (const lot of LOTS)
      t.strictSame(await row(page, 'record-parameters', lot.name).first().locator('td').allInnerTexts(), [lot.name, lot.value, 'the batch', 'given for the batch, batch']);
    await says(page.getByTestId('record-view'), /Resin A.*resin-a 1\.0\.0/);
    await says(page.getByTestId('record-proof'), /agrees with the audit trail/);
    t.strictSame(await flawsOf(page, 'record'), []);
    for (const part of ['materials', 'outputs', 'actions', 'results', 'phases', 'events', 'alarms', 'equipment']) {
      await page.getByTestId(`record-part-${part}`).click();
      await page.getByTestId(`record-${part}`).waitFor();
    }
    await page.getByTestId('record-part-materials').click();
    for (const { value } of LOTS) await row(page, 'record-materials', value).waitFor();
  });

  await t.test('RECORD-15: it is commented and reviewed, with the password again; a wrong one reviews nothing', async (t) => {
    await comments(t, page);
    await page.getByTestId('record-review').click();
    await says(page.getByTestId('sign-dialog'), /marked as reviewed with this outcome and your name/);
    await page.getByTestId('meaning-Accepted').click();
    await prove(page, 'complete and as planned', 'not the password');
    await says(page.getByTestId('sign-error'), /wrong/);
    t.strictSame(await flawsOf(page, 'record-review'), []);
    await prove(page, 'complete and as planned');
    await proved(page, /Reviewed by quinn of the shift: Accepted/);
    await page.locator('[data-testid="record-phase"][data-phase="Reviewed"]').waitFor();
    await says(page.getByTestId('record-phase'), /Accepted by quinn of the shift.*complete and as planned/);
  });

  await t.test('it is signed, and each signature is verified check by check, those of the answers too', async (t) => {
    await page.getByTestId('record-sign').click();
    await page.getByTestId('meaning-Approved').click();
    await prove(page, 'agrees with the order');
    await proved(page, /Signed by quinn of the shift: Approved/);
    const signature = page.locator('[data-testid="record-signatures"] [data-meaning="Approved"][data-state="Valid"]');
    await signature.getByRole('button').click();
    await says(page.locator('[data-testid="verify-verdict"][data-valid="true"]'), /genuine\. It stands/);
    t.ok((await page.getByTestId('verify-checks').locator('li[data-ok="true"]').count()) >= 5);
    t.strictSame(await flawsOf(page, 'record-verify'), []);
    await page.getByTestId('verify-close').click();
    await page.getByTestId('record-part-actions').click();
    await row(page, 'record-actions', '7.2').getByRole('button').click();
    await says(page.locator('[data-testid="verify-verdict"][data-valid="true"]'), /genuine/);
    await page.getByTestId('verify-close').click();
  });

  await t.test('BATCH-04: it is handed out in both forms', async (t) => {
    const json = JSON.parse(await download(page, 'record-json'));
    t.match(json, { provisional: false, record: { name }, integrity: { ok: true } });
    t.ok(LOTS.every(({ name: lot, value }) => json.parameters.some((each: { name: string; value: string }) => each.name === lot && each.value === value)));
    const xml = await download(page, 'record-xml');
    t.match(xml, /<BatchProductionRecord xmlns="urn:wbf:b2mml:v0700"/);
    for (const { value } of LOTS) t.match(xml, `>${value}<`);
  });

  await t.test('it is printed whole: every table, no button, nothing cut', async (t) => {
    const { body } = await admin.get(`${SITE}/batchrecords/${name}`);
    const paper = await printed(page, 'record-print');
    t.strictSame([paper.buttons, paper.cut], [[], []]);
    t.match(paper.rows, { 'record-parameters': body.spec.parameterValues.length, 'record-events': body.spec.executionEvents.length, 'record-outputs': body.spec.outputs.length });
    for (const said of [...LOTS.map(({ value }) => value), 'Printed', body.digest, 'Sample slip 7781 seen', 'Approved', 'li101']) t.match(paper.text, said);
    t.ok(paper.pages > 2, `${paper.pages} pages`);
    await page.getByTestId('record-part-actions').waitFor();
    t.equal(await page.getByTestId('record-events').count(), 0, 'afterwards one table is there again');
  });

  await t.test('RECORD-11, RECORD-14: it is finalized after it has said what that does; whoever comes later is refused in words', async (t) => {
    const late = await open(browser, `${box.base}/data#/record/${name}`, DESK);
    await signIn(late, 'quinn');
    await late.getByTestId('record-review').click();
    await page.getByTestId('record-finalize').click();
    await says(page.getByTestId('sign-dialog'), /sealed\. Nothing of it can be changed afterwards/);
    t.equal(await page.getByTestId('finalize-against').count(), 0, 'it was reviewed, and has settled');
    await prove(page, 'released by QA');
    await proved(page, /Signed by quinn of the shift: Sealed/);
    await page.locator('[data-testid="record-phase"][data-phase="Finalized"]').waitFor();
    await says(page.locator('[data-testid="record-proof"][data-ok="true"]'), /agrees with its seal/);
    for (const deed of ['comment', 'review', 'finalize']) t.equal(await page.getByTestId(`record-${deed}`).count(), 0, deed);
    t.strictSame(await flawsOf(page, 'record-sealed'), []);
    await late.getByTestId('meaning-Rejected').click();
    await prove(late, 'too late');
    await says(late.getByTestId('sign-error'), /was sealed by quinn of the shift/);
    await late.context().close();
  });

  await t.test('one that was changed past the gateway says so, and one that is held by which hold', async (t) => {
    const hold = { name: 'claim-7', reason: 'a claim of a customer', scope: { site: 'demo', batchRecords: [name] } };
    t.equal((await admin.post('/api/v1/legal-holds', hold)).status, 201);
    await page.route(`**${SITE}/batchrecords/${name}`, async (route) => {
      const answer = await route.fetch(AGAIN);
      await route.fulfill({ response: answer, json: { ...(await answer.json()), seal: { ok: false, problems: ['its content is not what was signed'] } } });
    });
    await page.reload();
    await says(page.locator('[data-testid="record-proof"][data-ok="false"]'), /Changed past the gateway:\s*its content is not what was signed/);
    await says(page.getByTestId('record-holds'), /claim-7/);
    t.strictSame(await flawsOf(page, 'record-changed'), []);
    await page.unroute(`**${SITE}/batchrecords/${name}`);
  });

  await t.test('from the record to what was recorded meanwhile: a tag sample by sample, and the events of the alarms', async (t) => {
    await page.getByTestId('to-history').click();
    await page.getByTestId('history-search').fill('rx101 li101.pv');
    await row(page, 'history-tags', 'li101.pv').waitFor();
    t.strictSame(await flawsOf(page, 'history'), []);
    await row(page, 'history-tags', 'li101.pv').getByRole('link').click();
    await row(page, 'history-samples', 'Good').first().waitFor();
    t.match(page.url(), /#\/history\/li101\.pv\?.*unit=rx101/);
    t.strictSame(await flawsOf(page, 'history-samples'), []);
    const lines = (await download(page, 'history-csv')).trimEnd().split('\r\n');
    t.equal(lines[0], 'timestamp,value,quality,note');
    const { startedAt, endedAt } = (await admin.get(`${SITE}/batchrecords/${name}`)).body.spec.batch as { startedAt: string; endedAt: string };
    const { items } = (await admin.get(`/api/v1/historian/tags?site=demo&unit=rx101&address=li101.pv&order=asc&limit=1000&from=${startedAt}&to=${endedAt}`)).body;
    for (const { ts, value, quality } of items as { ts: string; value: number; quality: string }[])
      t.ok(lines.includes([ts, value, quality, ''].join(',')), `${ts} as it was recorded`);
    const paper = await printed(page, 'history-print');
    t.strictSame([paper.buttons, paper.cut], [[], []]);

    await page.goBack();
    await page.goBack();
    await page.getByTestId('to-alarms').click();
    await row(page, 'alarmlog', 'Reactor is empty').first().waitFor();
    t.strictSame(await flawsOf(page, 'alarmlog'), []);
    await page.getByTestId('alarmlog-event').selectOption('Cleared');
    await row(page, 'alarmlog', 'Activated').first().waitFor({ state: 'detached' });
    await page.getByTestId('alarmlog-event').selectOption('');
    await row(page, 'alarmlog', 'Reactor is empty').first().getByRole('link').click();
    await says(page.getByTestId('alarmlog-only'), /Only li101-low/);
    await page.getByTestId('to-records').click();
    await row(page, 'records', 'WO-41').getByRole('link').click();
    await page.getByTestId('to-batch').click();
    await page.getByTestId('batch-view').getByTestId('to-record').click();
    await page.getByTestId('record-view').waitFor();
    t.match(page.url(), new RegExp(`/data#/record/${name}`), 'from the batch back to its record');
  });

  await t.test('a time of which the historian has nothing is said in words', async (t) => {
    const gap = { site: 'demo', unit: 'rx101', address: '', from: '2026-01-01T10:00:00.000Z', to: '2026-01-01T10:05:00.000Z', cause: 'StorageFull', bounds: 'Exact' };
    await page.route('**/api/v1/historian/gaps?**', (route) => route.fulfill({ json: { configured: true, items: [gap], nextCursor: null } }));
    await page.evaluate(`location.hash = '#/history/li101.pv?unit=rx101&to=2026-01-02T00:00:00'`);
    await says(page.getByTestId('history-samples'), /Nothing was recorded until .*: the disk was full/);
    await page.evaluate(`location.hash = '#/gaps?unit=rx101'`);
    await says(row(page, 'gaps', 'RX101').first(), /5 min.*RX101.*every tag.*the disk was full/s, 'all that is missing, in one list');
    t.strictSame(await flawsOf(page, 'gaps'), []);
    t.strictSame(await phoneFlaws(page, 'gaps'), []);
    await page.unroute('**/api/v1/historian/gaps?**');
    await page.getByTestId('gaps-unit').selectOption('tk201');
    await says(page.getByTestId('gaps-view'), /Nothing is missing in this span/);
  });

  await t.test('a list of thousands stays fluent: only rows in sight are drawn, and the keyboard goes from row to row to its end', async (t) => {
    const [shape] = (await admin.get(`${SITE}/batchrecords`)).body.items as object[];
    await manyRecords(page, 3000, shape ?? {});
    await page.evaluate(`location.hash = '#/records'`);
    await page.getByTestId('list-count').getByText('of 3000').waitFor();
    const drawnRows = () => page.getByTestId('records').locator('tr[data-row]').count();
    t.ok((await drawnRows()) < 60, 'a screen and a margin');
    const isAt = (at: number) => eventually(`the focus is in row ${at}`, async () => (await page.evaluate(`document.activeElement?.closest('tr')?.dataset.row`)) === String(at));
    await page.getByTestId('records').getByRole('link').first().focus();
    await page.keyboard.press('ArrowDown');
    await isAt(1);
    await page.keyboard.press('PageDown');
    await isAt(11);
    await page.keyboard.press('ArrowUp');
    await isAt(10);
    await eventually('the end of the list is reached by key', async () => {
      await page.keyboard.press('End');
      return (await page.evaluate(`document.activeElement?.closest('tr')?.dataset.row`)) === '2999';
    });
    t.ok((await drawnRows()) < 60, 'there too');
    await page.keyboard.press('Home');
    await isAt(0);
    await page.unroute(`**${SITE}/batchrecords?**`);
  });

  await t.test('what was made in a day is added up by product, told batch by batch, exported and printed; all sites stand on one page', async (t) => {
    await page.getByTestId('nav-history').click();
    await page.getByTestId('nav-production').click();
    await says(row(page, 'production-products', 'RESIN-A').first(), /^\S+ 1\.0\.0\d+\d+0[\d.,]+ kg\d+ (s|min) \/ \d+ (s|min) \/ \d+ (s|min)$/);
    const [made] = (await admin.get(`/api/v1/mes${SITE.replace('/api/v1', '')}/production-performance`)).body as { batchID: string; recordName: string }[];
    await says(row(page, 'production-batches', made?.batchID ?? '').first(), /RESIN-A 1\.0\.0.*kg.*complete/i);
    t.strictSame(await flawsOf(page, 'production'), []);
    const [head = '', ...lines] = (await download(page, 'production-csv')).trimEnd().split('\r\n');
    t.equal(head, 'batchID,workOrderID,productID,productDefinition,version,quantity,engineeringUnit,startedAt,finishedAt,state,recordPhase');
    t.ok(lines.some((line) => line.startsWith(`"${made?.batchID}"`)));
    const paper = await printed(page, 'production-print');
    t.strictSame([paper.buttons, paper.cut], [[], []]);
    t.equal(paper.rows['production-batches'], lines.length);
    await page.getByTestId('span-to').fill('2020-01-01T00:00:00');
    await says(page.getByTestId('production-view'), /Nothing was finished in this span/);
    await page.getByTestId('production-span-8').click();
    await row(page, 'production-batches', made?.batchID ?? '')
      .first()
      .waitFor();
    const next = await batch(admin, 'WO-NEXT', SMALL.parameters);
    const { batches: planned, units } = (await admin.get(`${SITE}/plan`)).body as {
      batches: { batch: string; expectedSeconds: number; runs: number; startsAt: string; endsAt: string }[];
      units: { unit: string; spans: { batch: string; state: string; from: string; to: string }[] }[];
    };
    const own = planned.find((each) => each.batch === next);
    t.ok(own && own.expectedSeconds > 0 && own.runs > 0 && own.startsAt < own.endsAt, 'what has been completed tells how long the next one takes');
    const spans = units.flatMap(({ spans }) => spans.filter((span) => span.batch === next));
    t.ok(spans.length >= 3 && spans.every(({ state, from, to }) => state === 'Planned' && from < to), `${spans.length} spans on its units`);
    t.equal((await admin.delete(`${SITE}/batches/${next}`)).status, 204);
    await page.getByTestId('nav-sites').click();
    await says(row(page, 'sites', 'demo'), /^demo3 \d+ running.*\d+ active, \d+ unacknowledged/);
    t.strictSame(await flawsOf(page, 'sites'), []);
    await page.getByTestId('sites').getByRole('link').first().click();
    await page.waitForURL(/\/hmi#\/overview\?site=demo$/);
    await page.goBack();
    await page.getByTestId('nav-records').click();
  });

  await t.test('who may only read sees the record and no deed; in German too', async (t) => {
    const reader = await open(browser, `${box.base}/data#/record/${name}`, { ...DESK, locale: 'de-DE' });
    await signIn(reader, 'vera');
    await says(reader.getByTestId('record-phase'), /Abgeschlossen.*Angenommen von quinn of the shift/);
    await says(row(reader, 'record-parameters', 'phMin').first(), /6,5\s*pH/, 'a number has the sign of its reader');
    for (const { name: lot, value } of LOTS) await says(row(reader, 'record-parameters', lot).first(), new RegExp(value));
    for (const deed of ['comment', 'review', 'finalize']) t.equal(await reader.getByTestId(`record-${deed}`).count(), 0, deed);
    t.strictSame(await flawsOf(reader, 'record-german'), []);
    for (const [place, view] of [
      ['nav-records', 'records-view'],
      ['nav-history', 'history-view'],
      ['nav-alarmlog', 'alarmlog-view'],
    ] as const) {
      await reader.getByTestId(place).focus();
      await hasFocus(reader, place);
      await reader.keyboard.press('Enter');
      await reader.getByTestId(view).waitFor();
      t.strictSame(await flawsOf(reader, `${view}-german`), []);
    }
    await says(reader.getByTestId('alarmlog-view'), /Alarmereignisse.*gekommen/);
    await reader.context().close();
  });
});
