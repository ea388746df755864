/**
 * The operator's story in a browser: a wrong password, the right one, three live units, the batches. Nothing is loaded
 * from elsewhere and nothing is complained of in the browser's console.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../console/browser.js';

const UNITS = ['mx101', 'rx101', 'tk201'];
const LEVELS = ['li101.pv', 'li111.pv', 'li201.pv'];

export async function consoleStory(base: string, username: string, password: string, artifacts: string): Promise<void> {
  mkdirSync(artifacts, { recursive: true });
  const shot = (page: Page, name: string): Promise<unknown> => page.screenshot({ path: path.join(artifacts, `console-${name}.png`) });
  const browser = await launchBrowser();
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
    const page = await context.newPage();
    const strangers: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => {
      if (!isOwn(request.url(), base)) strangers.push(request.url());
    });
    page.on('websocket', (socket) => {
      if (!isOwn(socket.url().replace(/^ws/, 'http'), base)) strangers.push(socket.url());
    });
    page.on('pageerror', (fault) => complaints.push(String(fault)));
    page.on('console', (message) => {
      // a refused sign-in is part of the story; Chromium reports every 401 by itself
      if (message.type() === 'error' && !/\/api\/v1\/auth\/(login|refresh)$/.test(message.location().url)) complaints.push(message.text());
    });

    await page.goto(`${base}/hmi`);
    await page.getByTestId('username').fill(username);
    await page.getByTestId('password').fill(`${password} not`);
    await page.getByTestId('login-submit').click();
    await page.getByTestId('login-error').waitFor();
    await shot(page, 'wrong-password');
    await page.getByTestId('password').fill(password);
    await page.getByTestId('login-submit').click();
    await page.getByTestId('hmi').waitFor();
    assert.equal(new URL(page.url()).pathname, '/hmi');

    for (const unit of UNITS) await page.getByTestId(`unit-${unit}`).waitFor();
    for (const level of LEVELS) await page.locator(`[data-testid="value-${level}"][data-quality="Good"]`).waitFor();
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    await page.locator('[data-testid="batches"] button').first().waitFor();
    await page.getByTestId('batch-state').waitFor();
    await shot(page, 'overview');

    assert.deepEqual(strangers, [], 'every request stays at the box');
    assert.deepEqual(complaints, [], 'no error in the console of the browser');
  } finally {
    await browser.close();
  }
}

function isOwn(address: string, base: string): boolean {
  return address.startsWith('data:') || address.startsWith('blob:') || new URL(address).origin === new URL(base).origin;
}
