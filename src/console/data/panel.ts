/** What a panel asks of the gateway (D-C-18): a code to be enrolled by, and tokens from then on. */
import { Api, ApiError, post } from './api.js';
import { forgetPanelKey, loadPanelKey, makePanelKey, savePanelKey, signWith } from './panel-key.js';
import type { Second, Session, Site } from './types.js';

const OWN = '/api/v1/auth/panel';
const ALONE = { background: true, anonymous: true };

/** Whether an administrator has enrolled this browser, as far as it knows. */
export async function isPanel(): Promise<boolean> {
  return (await loadPanelKey())?.enrolled === true;
}

/**
 * A token of this panel; undefined where this browser is none, or is none any more.
 * @throws ApiError while the box does not answer.
 */
export async function panelSession(): Promise<Session | undefined> {
  const key = await loadPanelKey();
  if (!key) return undefined;
  const { keyID } = key;
  try {
    const { challenge } = await post<{ readonly challenge: string }>(`${OWN}/challenge`, { keyID }, ALONE);
    const session = await post<Session>(`${OWN}/token`, { keyID, challenge, signature: await signWith(key, challenge) }, ALONE);
    if (!key.enrolled) await savePanelKey({ ...key, enrolled: true });
    return session;
  } catch (fault) {
    if (!(fault instanceof ApiError) || fault.code !== 'panel_not_enrolled') throw fault;
    if (key.enrolled) await forgetPanelKey(); // revoked
    return undefined;
  }
}

/** The code that this screen shows; its key stays the same until it is enrolled. */
export async function showCode(): Promise<{ readonly code: string; readonly validForSeconds: number }> {
  const kept = await loadPanelKey();
  const key = kept && !kept.enrolled ? kept : await makePanelKey();
  const { code, keyID, validForSeconds } = await post<{ readonly code: string; readonly keyID: string; readonly validForSeconds: number }>(
    `${OWN}/code`,
    { publicKey: key.publicKey },
    ALONE,
  );
  await savePanelKey({ ...key, keyID, enrolled: false });
  return { code, validForSeconds };
}

const WITHIN_MS = 10_000;

/** Signed in to enrol this screen, beside whatever the page is otherwise. */
export class Administrator {
  readonly #api: Api;

  constructor({ accessToken }: Session) {
    this.#api = new Api({ base: '', withinMs: WITHIN_MS }, { token: () => accessToken, renew: () => Promise.resolve(false) });
  }

  /** Without a cookie: the browser keeps nothing of him. */
  static signIn(this: void, username: string, password: string, second: Second = {}): Promise<Session> {
    return post<Session>('/api/v1/auth/login', { username, password, ...second }, { anonymous: true });
  }

  async sites(): Promise<readonly string[]> {
    return (await this.#api.getAll<Site>('/api/v1/sites')).map(({ name }) => name);
  }

  async enrol(panel: { readonly code: string; readonly name: string; readonly site: string }): Promise<void> {
    await this.#api.post('/api/v1/auth/panels', panel);
    await this.leave(); // before the page goes on by itself
  }

  /** One that has ended already has left. */
  async leave(): Promise<void> {
    await this.#api.post('/api/v1/auth/logout').catch(() => undefined);
  }
}
