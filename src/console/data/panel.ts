/** What a panel asks of the gateway (D-C-18): a code to be enrolled by, and tokens from then on. */
import { ApiError, post } from './api.js';
import { forgetPanelKey, loadPanelKey, makePanelKey, savePanelKey, signWith } from './panel-key.js';
import type { Session } from './types.js';

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
