/** Routes of another authentication mode do not exist (decisions Q-AUTH-01). */
import { Refusal } from '../../platform/base/refusal.js';

interface ModeDeps {
  readonly access: { readonly settings: { readonly authMode: string } };
}

export function only(...modes: readonly string[]): (params: unknown, deps: ModeDeps) => void {
  return (_, { access }) => {
    if (!modes.includes(access.settings.authMode)) {
      throw new Refusal('missing', `this route does not exist in authentication mode ${access.settings.authMode}`, { code: 'not_in_auth_mode' });
    }
  };
}

export const localOnly = only('local');
export const withSessions = only('local', 'oidc');
