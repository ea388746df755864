/** The archive of the audit trail in the console: what is wrong with it is said in words, and a list that is short of records says so. */
import type { Page } from 'playwright-core';
import t from 'tap';
import { account, firstAdmin, flawsOf, open, signIn, startConsole, SITE } from './person.js';

const FILES = [1, 2, 3, 4].map((at) => `audit-00000000${at}001-00000000${at + 1}000.ndjson.gz`);
const LATEST = '**/api/v1/audit/archive-integrity/history?*';
const LIST = `**${SITE}/audit?*`;

/** The last run found these, beside a file that is good. */
async function found(page: Page, ...problems: readonly object[]): Promise<void> {
  const archives = [{ file: 'good', ok: true }, ...problems.map((problem, at) => ({ ...problem, file: FILES[at], ok: false }))];
  await page.unroute(LATEST);
  await page.route(LATEST, (route) => route.fulfill({ json: { items: [{ finishedAt: new Date().toISOString(), ok: false, checked: 10, archives }], nextCursor: null } }));
}

/** A page of the list that could not look into these files. */
async function listWithout(page: Page, unreadable: readonly string[], nextCursor: string | null): Promise<void> {
  await page.unroute(LIST);
  await page.route(LIST, (route) => route.fulfill({ json: { items: [], nextCursor, ...(unreadable.length > 0 ? { unreadable } : {}) } }));
}

const RUNS: readonly [readonly object[], string][] = [
  [[{ problem: 'absent' }], 'File is missing in FILE.'],
  [[{ problem: 'unreadable' }], 'File is damaged in FILE.'],
  [[{ problem: 'repacked', repacked: true }], 'Packed again, not searchable in FILE.'],
  [
    [{ problem: 'hash', sequence: 7, repacked: true }, { problem: 'absent' }],
    'Changed record at record 7 in FILE. The file was unpacked and packed again. One more file is not as it should be.',
  ],
  [[{ problem: 'of-tomorrow' }, { problem: 'absent' }, { problem: 'absent' }], 'of-tomorrow in FILE. 2 more files are not as they should be.'],
];

t.test('AUDIT-02: a person reads what is wrong with the audit archive', async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'lead-operator');

  await t.test('what the last run found is said in words', async (t) => {
    const page = await open(browser, `${box.base}/login`, { locale: 'en-US' });
    await signIn(page, 'olga');
    for (const [problems, words] of RUNS) {
      await found(page, ...problems);
      await page.getByTestId('nav-alarms').click();
      await page.getByTestId('nav-audit').click();
      await page.locator('[data-testid="archive-integrity"][data-ok="false"]', { hasText: `10 records. ${words.replace('FILE', FILES[0] ?? '')}` }).waitFor();
    }
    t.equal(await page.getByTestId('archive-unreadable').count(), 0, 'the list has every record');
    await listWithout(page, FILES.slice(0, 2), 'older');
    await page.getByTestId('log-again').click();
    const short = page.getByTestId('archive-unreadable');
    await short.getByText(`these files cannot be read: ${FILES[0]}, ${FILES[1]}.`).waitFor();
    await listWithout(page, FILES.slice(1), null);
    await page.getByTestId('log-more').click();
    await short.getByText(`${FILES.slice(0, 3).join(', ')}. And one more file.`).waitFor();
    t.strictSame(await flawsOf(page, 'audit-unreadable'), []);
    await listWithout(page, [], null);
    await page.getByTestId('log-again').click();
    await short.waitFor({ state: 'detached' });
    await page.context().close();
  });

  await t.test('in German too', async () => {
    const page = await open(browser, `${box.base}/login`, { locale: 'de-DE' });
    await found(page, { problem: 'repacked', repacked: true });
    await listWithout(page, ['a.gz'], null);
    await signIn(page, 'olga');
    await page.getByTestId('nav-audit').click();
    await page.getByTestId('archive-integrity').getByText(`Neu gepackt, nicht durchsuchbar in ${FILES[0]}.`).waitFor();
    await page.getByTestId('archive-unreadable').getByText('diese Dateien sind nicht lesbar: a.gz.').waitFor();
    await page.context().close();
  });
});
