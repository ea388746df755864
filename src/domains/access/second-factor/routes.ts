/**
 * A person's own second factor, and its reset by another administrator. Secret and recovery codes are each in one answer only, which nobody
 * may keep; whatever changes is proven by the password, and by the factor that is there.
 */
import * as v from 'valibot';
import { conflict } from '../../../platform/base/refusal.js';
import { NO_STORE } from '../../../platform/http/replies.js';
import { created, done, ok, type Route, routesFor } from '../../../platform/http/route.js';
import type { Access, Proven } from '../access.js';
import { EnrolmentBody, RecoveryCodesBody, SecondFactorBody } from '../bodies.js';
import { SecondFactor } from '../kind.js';
import { localOnly } from '../modes.js';
import { PROOF_CODES, ProofBody } from '../proof.js';
import { userTarget } from '../user-target.js';
import { confirmFactor, ownFactor, resetFactor } from './changes.js';
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
      const { enrolledAt = null, lastUsedAt = null, recoveryCodesLeft = 0 } = view ?? {};
      return { enrolled: view !== undefined, required: access.isSecondFactorRequired(caller.groups), enrolledAt, lastUsedAt, recoveryCodesLeft };
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
        return created(access.secondFactors.begin(account.metadata.name, account.spec.username, session.id), PATH, NO_STORE);
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
    handle: async (context, { access }) => ok({ recoveryCodes: [...(await confirmFactor(access, context, context.body.code))] }, NO_STORE),
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
        await access.store.write({ puts: [...otherPuts(also), put], removes: also.removes ?? [], audits: [audit] });
        return ok({ recoveryCodes: [...recoveryCodes] }, NO_STORE);
      }),
  }),
  route({
    ...PROVEN,
    method: 'POST',
    path: `${PATH}/remove`,
    action: 'auth:remove-second-factor',
    summary: 'Sign in with the password alone from now on; refused where my role requires a second factor',
    reply: { 204: 'Removed' },
    errors: { ...UNPROVEN, 409: ['no_second_factor', 'second_factor_required_by_role'] },
    handle: (context, { access }) => {
      if (!ownFactor(access, context.caller)) throw noFactor();
      if (access.isSecondFactorRequired(context.caller.groups))
        throw conflict('second_factor_required_by_role', 'your role requires a second factor: replace it with POST auth/second-factor instead');
      return access.proven(context, context.body, 'remove-second-factor', true, async ({ account, also }) => {
        const { name } = account.metadata;
        const audit = context.audit({ target: userTarget(account.spec), details: { changed: 'second-factor', to: 'removed' } });
        await access.store.write({ puts: otherPuts(also), removes: [...(also.removes ?? []), ...access.secondFactors.refsOf(name)], audits: [audit] });
        return done();
      });
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/auth/users/{username}/second-factor',
    action: 'user:reset-second-factor',
    tier: 'admin',
    summary: 'Take the second factor from somebody else who has lost it; all his sessions end',
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

/** Of the factor itself there is another one, which knows of the code that was taken, or it goes. */
function otherPuts({ puts = [] }: Proven['also']): NonNullable<Proven['also']['puts']> {
  return puts.filter(({ kind }) => kind.kind !== SecondFactor.kind);
}
