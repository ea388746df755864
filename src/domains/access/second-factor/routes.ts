/**
 * A person's own second factor, and its reset by another administrator. Secret and recovery codes are each in one answer only, which nobody
 * may keep; whatever changes is proven by the password, and by the factor that is there.
 */
import * as v from 'valibot';
import { conflict } from '../../../platform/base/refusal.js';
import { created, done, ok, type Route, routesFor } from '../../../platform/http/route.js';
import type { Access } from '../access.js';
import { EnrolmentBody, RecoveryCodesBody, SecondFactorBody } from '../bodies.js';
import { localOnly } from '../modes.js';
import { PROOF_CODES, ProofBody } from '../proof.js';
import { userTarget } from '../user-target.js';
import { confirmFactor, ownFactor, resetFactor } from './changes.js';
import { besides, ownerOf } from './second-step.js';
import { noFactor } from './second-factors.js';

export interface SecondFactorDeps {
  readonly access: Access;
}

const route = routesFor<SecondFactorDeps>();
const PATH = '/api/v1/auth/second-factor';
const MINE = { tier: 'self', exists: localOnly } as const;
const PROVEN = { ...MINE, body: ProofBody, audit: { action: 'Update', category: 'auth' } } as const;
const UNPROVEN = { 401: [...PROOF_CODES, 'session_ended'], 404: ['not_in_auth_mode'] } as const;

export const SECOND_FACTOR_ROUTES: readonly Route<SecondFactorDeps>[] = [
  route({
    ...MINE,
    method: 'GET',
    path: PATH,
    action: 'auth:second-factor',
    summary: 'My second factor',
    reply: SecondFactorBody,
    errors: { 401: ['session_ended'], 404: ['not_in_auth_mode'] },
    duringEnrolment: true,
    handle: ({ caller }, { access }): SecondFactorBody => {
      const view = ownFactor(access, caller);
      const { app = false, enrolledAt = null, lastUsedAt = null, recoveryCodesLeft = 0 } = view ?? {};
      return {
        enrolled: view !== undefined,
        required: access.second.isRequired(caller.groups),
        app,
        enrolledAt,
        lastUsedAt,
        recoveryCodesLeft,
        passkeys: access.passkeys.views(ownerOf(access.own(caller).account)),
        passkeysOffered: access.passkeys.offered,
      };
    },
  }),
  route({
    ...PROVEN,
    method: 'POST',
    path: PATH,
    action: 'auth:enrol-second-factor',
    summary: 'A secret for an authenticator app, shown in this answer only; it holds from its first code on (confirm)',
    reply: { 201: EnrolmentBody },
    errors: UNPROVEN,
    duringEnrolment: true,
    handle: (context, { access }) =>
      access.proven(context, context.body, 'enrol-second-factor', true, async ({ session, account, also }) => {
        await access.store.write({ ...also, audits: [context.audit({ target: userTarget(account.spec), details: { changed: 'second-factor', to: 'begun' } })] });
        return created(access.secondFactors.begin(account.metadata.name, account.spec.username, session.id), PATH);
      }),
  }),
  route({
    ...MINE,
    method: 'POST',
    path: `${PATH}/confirm`,
    action: 'auth:confirm-second-factor',
    summary: 'The first code of the secret: the second factor holds, my other sessions end; the recovery codes are in this answer only',
    reply: RecoveryCodesBody,
    errors: { 400: ['invalid_code'], 401: ['session_ended'], 404: ['not_in_auth_mode'], 409: ['no_enrolment'] },
    body: v.strictObject({ code: v.string() }),
    audit: { action: 'Update', category: 'auth' },
    duringEnrolment: true,
    handle: async (context, { access }) => ok({ recoveryCodes: [...(await confirmFactor(access, context, context.body.code))] }),
  }),
  route({
    ...PROVEN,
    method: 'POST',
    path: `${PATH}/recovery-codes`,
    action: 'auth:renew-recovery-codes',
    summary: 'New recovery codes, in this answer only; those before are worth nothing',
    reply: RecoveryCodesBody,
    errors: { ...UNPROVEN, 409: ['no_second_factor'] },
    handle: (context, { access }) =>
      access.proven(context, context.body, 'renew-recovery-codes', true, async ({ account, also }) => {
        const { put, recoveryCodes } = access.secondFactors.renewRecoveryCodes(account.metadata.name);
        const audit = context.audit({ target: userTarget(account.spec), details: { changed: 'recovery-codes' } });
        const puts = [...besides(also.puts, access.secondFactors.refsOf(account.metadata.name)), put];
        await access.store.write({ puts, removes: also.removes ?? [], audits: [audit] });
        return ok({ recoveryCodes: [...recoveryCodes] });
      }),
  }),
  route({
    ...PROVEN,
    method: 'POST',
    path: `${PATH}/remove`,
    action: 'auth:remove-second-factor',
    summary: 'Sign in with the password alone from now on, passkeys go as well; refused where my role requires a second factor',
    reply: { 204: 'Removed' },
    errors: { ...UNPROVEN, 409: ['no_second_factor', 'second_factor_required_by_role'] },
    handle: (context, { access }) => {
      if (!ownFactor(access, context.caller)) throw noFactor();
      refuseRequired(access, context.caller.groups);
      return access.proven(context, context.body, 'remove-second-factor', true, async ({ account, also }) => {
        refuseRequired(access, account.spec.groups); // which may have been given to him while his password was looked at
        const { name } = account.metadata;
        const audit = context.audit({ target: userTarget(account.spec), details: { changed: 'second-factor', to: 'removed' } });
        const refs = access.second.refsOf(name);
        await access.store.write({ puts: besides(also.puts, refs), removes: [...(also.removes ?? []), ...refs], audits: [audit] });
        return done();
      });
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/auth/users/{username}/second-factor',
    action: 'user:reset-second-factor',
    tier: 'admin',
    summary: 'Take the second factor, passkeys as well, from somebody else who has lost it; all his sessions end',
    reply: { 204: 'Reset' },
    errors: { 404: ['not_in_auth_mode'], 409: ['no_second_factor', 'own_second_factor'] },
    audit: { action: 'Update', category: 'auth', target: ({ username }) => ({ kind: 'User', name: username, site: '' }) },
    exists(params, deps) {
      localOnly(params, deps);
      deps.access.user(params.username);
    },
    async handle(context, { access }) {
      await resetFactor(access, context, context.params.username);
      return done();
    },
  }),
];

/** @throws Refusal 409. */
function refuseRequired(access: Access, groups: readonly string[]): void {
  if (access.second.isRequired(groups)) throw conflict('second_factor_required_by_role', 'your role requires a second factor: replace it with POST auth/second-factor instead');
}
