/** Electronic signatures (contract 1, Authentication 7 and 8; decisions Q-AUTH-04): the password is entered for each of them. */
import { post } from './api.js';
import { site } from './plant.js';
import { config, reauthenticate } from './session.js';

export interface Signing {
  readonly kind: string;
  readonly name: string;
  readonly meaning: string;
  readonly reason: string;
}

/** With accounts of this box, who signs proves who he is; other issuers are asked by the gateway itself. */
export function needsPassword(): boolean {
  return config.value?.authMode === 'local';
}

export async function sign({ kind, name, meaning, reason }: Signing, password: string): Promise<void> {
  if (needsPassword()) await reauthenticate(password);
  await post('/api/v1/signatures', { target: { kind, name, site: site.peek() }, meaning, reason });
}
