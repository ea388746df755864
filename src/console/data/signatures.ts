/** Electronic signatures (contract 1, Authentication 7 and 8; decisions Q-AUTH-04): the password is entered for each of them. */
import { post } from './api.js';
import { site } from './plant.js';
import { config, reauthenticate } from './session.js';

/** With accounts of this box, who signs proves who he is; other issuers are asked by the gateway itself. */
export function needsPassword(): boolean {
  return config.value?.authMode === 'local';
}

/** Proves who signs, then sends what is signed. */
export async function signed(password: string, send: () => Promise<void>): Promise<void> {
  if (needsPassword()) await reauthenticate(password);
  await send();
}

export async function signResource(kind: string, name: string, meaning: string, reason: string): Promise<void> {
  await post('/api/v1/signatures', { target: { kind, name, site: site.peek() }, meaning, reason });
}

/** A person fires a transition of a chart in Manual (ADR 0007). */
export async function forceTransition(collection: string, name: string, transition: string, reason: string): Promise<void> {
  await post(`/api/v1/sites/${encodeURIComponent(site.peek())}/${collection}/${encodeURIComponent(name)}/active-step`, { change: 'force', transition, reason });
}
