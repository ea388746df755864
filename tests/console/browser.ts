/**
 * Chromium as a panel runs it, without its windows (two thirds of the processor time of the whole browser): nothing of its own
 * goes to the network. `CONSOLE_CHROMIUM` names another one. Races of a suite are looked for on purpose with a slow panel:
 * `CONSOLE_SLOWDOWN=6 npm test -- console` gives its pages a sixth of the processor, and each answer comes late too
 * (`CONSOLE_LATENCY_MS`, 100 by default then). A suite that waits for what it asserts only takes longer, and gets that time.
 */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** How many times longer a suite may take. */
export const SLOWDOWN = Math.max(1, numberOf('CONSOLE_SLOWDOWN', 1));
const LATENCY_MS = numberOf('CONSOLE_LATENCY_MS', SLOWDOWN > 1 ? 100 : 0);

function numberOf(name: string, absent: number): number {
  const value = Number(process.env[name] ?? absent);
  if (!(value >= 0)) throw new Error(`${name} is '${process.env[name]}'; it is a number`);
  return value;
}

/** A box of a test has a host name, as passkeys need one. */
const NAMES = '--host-resolver-rules=MAP *.example 127.0.0.1';

export async function launchBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: process.env.CONSOLE_CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', NAMES],
  });
  if (SLOWDOWN > 1 || LATENCY_MS > 0) browser.on('context', (context) => context.on('page', (page) => void slowDown(context, page)));
  return browser;
}

async function slowDown(context: BrowserContext, page: Page): Promise<void> {
  try {
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', { offline: false, latency: LATENCY_MS, downloadThroughput: -1, uploadThroughput: -1 });
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
  } catch (fault) {
    if (!page.isClosed()) throw fault;
  }
}
