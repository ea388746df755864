/**
 * A person's tasks, played in the pages one after the other: each is a check by its own words, with a picture of what the person saw at its end.
 * A task that fails is told, and the next one begins: what cannot be done is found in one run.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type ApiClient, eventually } from '../support/api-client.js';
import type { ApplianceProcess } from '../support/appliance-process.js';
import { drawn, panelOf, PASSWORD } from '../console/person.js';

const PICTURES = fileURLToPath(new URL('../../../artifacts/persons/', import.meta.url));
export const PANEL = { viewport: { width: 1280, height: 800 } };
export const DESK = { viewport: { width: 1440, height: 900 } };
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };

export interface Stage {
  readonly box: ApplianceProcess;
  readonly browser: Browser;
  /** What a walk needs of the plant and no person of it does: an alarm that comes, an order of the MES. */
  readonly admin: ApiClient;
  readonly check: (what: string, is: boolean) => void;
}

export function expect(what: string, is: boolean): void {
  if (!is) throw new Error(`not so: ${what}`);
}

/** A row that has just moved by itself takes no touch: whoever touches it then does so again. */
export async function acknowledge(page: Page, definition: string): Promise<void> {
  const open = page.locator(`[data-testid^="acknowledge-${definition}"]`);
  await open.waitFor();
  await eventually(`${definition} is acknowledged`, async () => {
    if ((await open.count()) > 0) await open.click();
    return (await page.locator(`[data-testid^="alarm-${definition}"][data-state="ActiveAcknowledged"]`).count()) > 0;
  });
}

export class Walk {
  readonly page: Page;
  readonly #person: string;
  readonly #stage: Stage;
  #tasks = 0;

  private constructor(person: string, stage: Stage, page: Page) {
    [this.#person, this.#stage, this.page] = [person, stage, page];
    page.on('pageerror', (fault) => stage.check(`${person}: the page threw nothing: ${fault.message}`, false));
  }

  /** At an address of the box, signed in. */
  static async begin(person: string, stage: Stage, address: string, username: string, screen: BrowserContextOptions = PANEL): Promise<Walk> {
    const page = await panelOf(stage.browser, { ...screen, permissions: ['notifications'] });
    await page.goto(stage.box.base + address);
    await page.getByTestId('username').fill(username);
    await page.getByTestId('password').fill(PASSWORD);
    await page.getByTestId('login-submit').click();
    await page.getByTestId('hmi').waitFor();
    return new Walk(person, stage, page);
  }

  /** @param play ends when the page shows that it is done. */
  async task(what: string, play: (page: Page) => Promise<unknown>): Promise<void> {
    this.#tasks += 1;
    let fault = '';
    try {
      await play(this.page);
    } catch (refused) {
      fault = refused instanceof Error ? refused.message.split('\n').slice(0, 3).join(' ') : String(refused);
    }
    await this.#picture(`${String(this.#tasks).padStart(2, '0')}-${what}`);
    this.#stage.check(`${this.#person}: ${what}${fault === '' ? '' : ` (${fault})`}`, fault === '');
    if (fault !== '') await this.#again();
  }

  async go(view: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(`#/${view}`)}`);
  }

  async end(): Promise<void> {
    await this.page.context().close();
  }

  async #picture(name: string): Promise<void> {
    const folder = path.join(PICTURES, this.#person.replace(/\W+/g, '-'));
    mkdirSync(folder, { recursive: true });
    await drawn(this.page);
    await this.page.screenshot({ path: path.join(folder, `${name.replace(/\W+/g, '-').slice(0, 80)}.png`) });
    const isWide = await this.page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
    if (isWide === true) this.#stage.check(`${this.#person}: nothing sticks out of the screen: ${name}`, false);
  }

  /** A question that was left open is in the way of the next task. */
  async #again(): Promise<void> {
    await this.page.reload();
    await this.page.getByTestId('hmi').waitFor();
  }
}
