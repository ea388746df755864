/** Changes of a second factor that no password proves: its first code, and the reset by another administrator. */
import { conflict } from '../../../platform/base/refusal.js';
import type { Caller } from '../../../platform/http/caller.js';
import type { RequestContext } from '../../../platform/http/route.js';
import type { Access } from '../access.js';
import { type FactorView, noFactor } from './second-factors.js';
import { userTarget } from '../user-target.js';

type Context = Pick<RequestContext<unknown, unknown>, 'caller' | 'audit'>;

/** Of the caller. @returns undefined where he has none. */
export function ownFactor(access: Access, caller: Caller): FactorView | undefined {
  return access.secondFactors.view(access.own(caller).account.metadata.name);
}

/** The first code of what `begin` has shown. His other sessions end: they were opened with less. */
export async function confirmFactor(access: Access, { caller, audit }: Context, code: string): Promise<readonly string[]> {
  const { secondFactors, sessions } = access;
  const { session, account } = access.own(caller);
  const { name } = account.metadata;
  const replaced = secondFactors.has(name);
  const { put, recoveryCodes } = secondFactors.confirm(name, account.spec.accountId, session.id, code);
  const record = audit({ target: userTarget(account.spec), details: { changed: 'second-factor', to: 'on', replaced } });
  await sessions.end(sessions.idsOf(name, session.id), 'administrator', [record], { puts: [put] });
  return recoveryCodes;
}

/** By another administrator: nobody takes away what he would have to prove himself. @throws Refusal 409. */
export async function resetFactor(access: Access, { caller, audit }: Context, username: string): Promise<void> {
  const { second, sessions } = access;
  const { metadata, spec } = access.user(username);
  if (spec.accountId === caller.accountId)
    throw conflict(
      'own_second_factor',
      'another administrator resets yours; you yourself replace it with POST auth/second-factor, or remove it with POST auth/second-factor/remove',
    );
  const removes = second.refsOf(metadata.name);
  if (removes.length === 0) throw noFactor();
  await sessions.end(sessions.idsOf(metadata.name), 'administrator', [audit({ target: userTarget(spec), details: { changed: 'second-factor', to: 'reset' } })], { removes });
}
