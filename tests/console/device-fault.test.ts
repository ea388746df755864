/** A device in latched fault, from the tile of its unit to the reset: what the panel says before, during and after it. */
import t from 'tap';
import { account, batch, firstAdmin, flawsOf, layoutFlaws, open, panelOf, phoneFlaws, says, signIn, SITE, startConsole } from './person.js';
import { wireOf } from './wire.js';

const VALVE = 'xv105';

t.test('a device in fault: the fault comes before the quality of its signals, and the reset says what it does', async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'operator');
  await account(admin, 'vera', 'viewer');
  const did = async (path: string, body: object): Promise<void> => {
    const { status, text } = await admin.post(`${SITE}/${path}`, body);
    if (status !== 200) throw new Error(text);
  };
  /** The limit switches say so, whatever the valve does. */
  const stuck = async (opened: boolean, closed: boolean): Promise<void> => {
    await did('iomodules/io-rx101/write', { channel: `${VALVE}.zso`, value: opened });
    await did('iomodules/io-rx101/write', { channel: `${VALVE}.zsc`, value: closed });
  };
  const page = await panelOf(browser);
  const wire = await wireOf(page);
  await page.goto(`${box.base}/hmi`);
  await signIn(page, 'olga');
  await stuck(false, true);
  await did('mode', { kind: 'ControlModule', name: VALVE, mode: 'Manual' });
  await did(`controlmodules/${VALVE}/tags/cmd`, { value: true });

  const chip = page.getByTestId(`device-${VALVE}`);
  await says(chip, /^XV105\s*Fault$/);
  await wire.only('state');
  await wire.send({ ...(await wire.told(`${VALVE}.state`)), quality: 'Bad' });
  await says(chip, /^XV105\s*Fault \(Bad\)$/, 'a device that has failed is no less failed when its signals are Bad');
  t.equal(await chip.getAttribute('data-look'), 'fault');
  t.strictSame(await phoneFlaws(page, 'overview-fault'), []);
  await page.getByTestId('open-rx101').click();
  await wire.send({ ...(await wire.told(`${VALVE}.fault`)), quality: 'Bad' });
  await wire.send({ ...(await wire.told(`${VALVE}.state`)), quality: 'Bad' });
  await says(page.getByTestId(`module-${VALVE}`), /Fault \(Bad\)/);
  await page.locator(`[data-testid="module-${VALVE}"] .symbol-fault`).waitFor();
  await wire.tellAll();

  await t.test('the reset says what it resets, that the cause is not mended by it, and what comes next', async (t) => {
    await page.getByTestId(`module-${VALVE}`).click();
    const place = page.getByTestId('reset-fault');
    await says(place, /XV105 did not follow its command, or has tripped/);
    await says(place, /Mend the cause first: as long as it stands, the reset is refused, or the fault comes back/);
    await says(place, /in every mode and on this device alone\. Interlocks, alarms and the batch stay as they are/);
    t.strictSame(await flawsOf(page, 'reset-fault'), []);

    await stuck(false, false); // somewhere on its way
    await page.getByTestId('reset-fault-send').click();
    await says(page.getByTestId('reset-fault-error'), /Nothing was reset: XV105 is not at its fail position/);
    await stuck(false, true);
    await page.getByTestId('reset-fault-send').click();
    await says(page.getByTestId('reset-fault-moves'), /Its command still stands: with the reset XV105 moves at once/);
    t.equal(await page.getByTestId('reset-fault-error').count(), 0, 'that it would move is asked, and is no refusal');
    t.strictSame(await flawsOf(page, 'reset-fault-moves'), []);
    t.strictSame(await phoneFlaws(page, 'reset-fault-moves'), []);
    await did(`controlmodules/${VALVE}/tags/cmd`, { value: false });
    await page.getByTestId('reset-fault-send').click();
    await says(page.getByTestId('reset-fault-done'), /The fault of XV105 is reset; whether the device follows shows with its next command/);
    t.equal(await page.getByTestId('reset-fault-done').getByRole('link').count(), 0, 'no batch is held on the unit');
  });

  await t.test('who may not reset is told so, and a batch that is held is named with what goes on with it', async (t) => {
    await did(`controlmodules/${VALVE}/tags/cmd`, { value: true });
    await page.getByTestId('reset-fault').waitFor();
    const vera = await open(browser, `${box.base}/hmi#/unit/rx101`);
    await signIn(vera, 'vera');
    await vera.getByTestId(`module-${VALVE}`).click();
    await says(vera.getByTestId('reset-fault'), /call an operator/);
    t.equal(await vera.getByTestId('reset-fault-send').count(), 0);
    t.strictSame(await layoutFlaws(vera, 'reset-fault-viewer'), []);
    await vera.context().close();

    const name = await batch(admin, 'F-1');
    await did('command', { kind: 'Batch', name, command: 'Start' });
    await page.locator('[data-testid="unit-view"] a', { hasText: 'F-1' }).waitFor();
    await did('command', { kind: 'Batch', name, command: 'Hold', reason: 'the drain is stuck' });
    await page.getByTestId('unit-state').filter({ hasText: 'Held' }).waitFor();
    await did(`controlmodules/${VALVE}/tags/cmd`, { value: false });
    await page.getByTestId('reset-fault-send').click();
    await says(page.getByTestId('reset-fault-done'), /Batch F-1 is still held\. It goes on with Restart\./);
    t.strictSame(await layoutFlaws(page, 'reset-fault-done'), []);
  });
});
