/**
 * Writers of many kinds at once. Each notes what was acknowledged, and afterwards looks for it: a write that was answered with
 * 2xx has its audit record and its effect, once; one that was cut off may have happened or not; a nonce that was used is refused.
 */
import { randomUUID } from 'node:crypto';
import type { ApiAnswer, ApiClient } from '../support/api-client.js';
import { MES, type Story } from '../support/batch-story.js';
import { SITE } from '../support/plant.js';

interface Acknowledged {
  readonly what: string;
  readonly correlation: string;
  readonly nonce: string;
  readonly send: (nonce: string) => Promise<ApiAnswer>;
  /** A sentence when the effect is not there. */
  readonly missing: () => Promise<string | undefined>;
}

type Writer = (story: Story, id: string) => Omit<Acknowledged, 'correlation' | 'nonce'>;

const thereAs = async (answer: Promise<ApiAnswer>, what: string, holds: (body: any) => boolean): Promise<string | undefined> => {
  const { status, body } = await answer;
  if (status !== 200) return `${what}: ${status}`;
  return holds(body) ? undefined : `${what} reads otherwise: ${JSON.stringify(body).slice(0, 200)}`;
};
/** By whoever is signed in at the time: a session need not outlive what was done to the box. */
const posting =
  (api: () => ApiClient, path: string, body: unknown) =>
  (nonce: string): Promise<ApiAnswer> =>
    api().post(path, body, { 'x-dcs-nonce': nonce });

const WRITERS: readonly Writer[] = [
  (story, id) => ({
    what: `area ${id}`,
    send: posting(() => story.admin, `${SITE}/areas`, { name: `a-${id}`, description: id }),
    missing: () => thereAs(story.admin.get(`${SITE}/areas/a-${id}`), `area a-${id}`, (body) => body.description === id),
  }),
  (story, id) => ({
    what: `order ${id}`,
    send: posting(() => story.mes, `${MES}/work-orders?dispatch=immediate`, { workOrderID: `T-${id}`, productDefinition: 'clean-train' }),
    missing: () =>
      thereAs(story.admin.get(`${SITE}/batches`), `order T-${id}`, (body: { workOrderID: string }[]) => body.filter(({ workOrderID }) => workOrderID === `T-${id}`).length === 1),
  }),
  (story, id) => ({
    what: `recipe ${id}`,
    send: posting(() => story.admin, `${SITE}/recipes/master`, { name: `r-${id}`, spec: { productID: id } }),
    missing: () => thereAs(story.admin.get(`${SITE}/recipes/master/r-${id}`), `recipe r-${id}`, (body) => body.phase === 'Draft'),
  }),
  (story, id) => ({
    what: `alarm definition ${id}`,
    send: posting(() => story.admin, `${SITE}/alarmdefinitions`, {
      name: `d-${id}`,
      sourceKind: 'Unit',
      sourceName: 'mx101',
      conditionType: 'StateEquals',
      stateValue: 'Aborted',
      type: 'System',
      severity: 'Low',
      message: id,
    }),
    missing: () => thereAs(story.admin.get(`${SITE}/alarmdefinitions/d-${id}`), `alarm definition d-${id}`, (body) => body.message === id),
  }),
];

export class MixedLoad {
  readonly #story: Story;
  readonly #acknowledged: Acknowledged[] = [];
  #running = false;
  #writers: readonly Promise<void>[] = [];
  /** All that was ever acknowledged. */
  total = 0;

  constructor(story: Story) {
    this.#story = story;
  }

  start(writers = 4): void {
    this.#running = true;
    this.#writers = Array.from({ length: writers }, (_, index) => this.#write(index));
  }

  /** The appliance is gone, or was asked enough. */
  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#writers);
  }

  async #write(offset: number): Promise<void> {
    for (let count = offset; this.#running; count += 1) {
      const id = randomUUID().slice(0, 13);
      const writer = WRITERS[count % WRITERS.length];
      if (writer === undefined) return;
      const write = writer(this.#story, id);
      const nonce = randomUUID();
      try {
        const answer = await write.send(nonce);
        if (answer.status >= 300) continue; // refused: nothing was promised
        this.#acknowledged.push({ ...write, nonce, correlation: answer.headers.get('x-correlation-id') ?? '' });
        this.total += 1;
      } catch {
        return; // cut off in the middle: it may have happened or not
      }
    }
  }

  /** Looks for everything that was acknowledged since the last time; sentences of what is not as it was told. */
  async lost(): Promise<readonly string[]> {
    const problems: string[] = [];
    const { admin } = this.#story;
    for (const { what, correlation, missing } of this.#acknowledged) {
      const lost = await missing();
      if (lost !== undefined) problems.push(`acknowledged and lost: ${what}: ${lost}`);
      const trail = await admin.get(`${SITE}/audit/correlation/${correlation}`);
      if (trail.status !== 200 || trail.body.length === 0) problems.push(`acknowledged without an audit record: ${what} (${trail.status})`);
    }
    for (const { what, nonce, send } of this.#acknowledged.slice(-10)) {
      const again = await send(nonce);
      if (again.status !== 409) problems.push(`a spent nonce was answered ${again.status}: ${what}`);
    }
    this.#acknowledged.length = 0;
    return problems;
  }
}
