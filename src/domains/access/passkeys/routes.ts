/** A person's own passkeys: made in two steps, removed with a proof; they are listed with his second factor. */
import * as v from 'valibot';
import { conflict } from '../../../platform/base/refusal.js';
import { created, done, ok, type RequestContext, type Route, routesFor } from '../../../platform/http/route.js';
import type { Access, AccountResource, Proven } from '../access.js';
import { localOnly } from '../modes.js';
import { PROOF_CODES, ProofBody } from '../proof.js';
import { besides, ownerOf } from '../second-factor/second-step.js';
import { userTarget } from '../user-target.js';
import { Attestation, NewPasskey, PasskeyCreation } from './bodies.js';
import { idOf, invalidPasskey, refOf } from './passkeys.js';
import { NotProven } from './protocol.js';

export interface PasskeyDeps {
  readonly access: Access;
}

const route = routesFor<PasskeyDeps>();
const LISTED = '/api/v1/auth/second-factor';
const PATH = `${LISTED}/passkeys` as const;
const MINE = { tier: 'self', exists: localOnly, audit: { action: 'Update', category: 'auth' } } as const;
const UNPROVEN = { 401: [...PROOF_CODES, 'session_ended'], 404: ['not_in_auth_mode'] } as const;
const Name = v.pipe(v.string(), v.trim(), v.minLength(1, 'must not be empty'), v.maxLength(64, 'must have at most 64 characters'));

export const PASSKEY_ROUTES: readonly Route<PasskeyDeps>[] = [
  route({
    ...MINE,
    method: 'POST',
    path: `${PATH}/begin`,
    action: 'auth:begin-passkey',
    summary: 'What a browser makes a passkey of, for this session and two minutes',
    reply: { 200: PasskeyCreation },
    errors: { ...UNPROVEN, 409: ['passkeys_unavailable', 'passkey_limit'] },
    body: ProofBody,
    duringEnrolment: true,
    handle(context, { access }) {
      access.passkeys.checkRoom(ownerOf(access.own(context.caller).account));
      return access.proven(context, context.body, 'begin-passkey', true, async ({ session, account, also }) => {
        const options = access.passkeys.begin(ownerOf(account), account.spec, session.id);
        await access.store.write({ ...also, audits: [context.audit({ target: userTarget(account.spec), details: { changed: 'passkey', to: 'begun' } })] });
        return ok(options);
      });
    },
  }),
  route({
    ...MINE,
    method: 'POST',
    path: PATH,
    action: 'auth:register-passkey',
    summary: 'The passkey that the browser has made: it serves from now on; with the first second factor my other sessions end, and the recovery codes are in this answer only',
    reply: { 201: NewPasskey },
    errors: { 400: ['invalid_passkey'], 401: ['session_ended'], 404: ['not_in_auth_mode'], 409: ['passkeys_unavailable', 'passkey_limit', 'already_exists', 'passkey_registered'] },
    body: v.strictObject({ name: Name, credential: Attestation }),
    duringEnrolment: true,
    async handle(context, { access }) {
      return created(await register(access, context), LISTED);
    },
  }),
  route({
    ...MINE,
    method: 'POST',
    path: `${PATH}/{id}/remove`,
    action: 'auth:remove-passkey',
    summary: 'Remove a passkey of mine; my other sessions end. With the last one, where there is no app, the recovery codes go too',
    reply: { 204: 'Removed' },
    errors: { ...UNPROVEN, 409: ['second_factor_required_by_role'] },
    body: ProofBody,
    handle(context, { access }) {
      leaving(access, context, access.own(context.caller).account);
      return access.proven(context, context.body, 'remove-passkey', true, async ({ session, account, also }) => {
        await remove(access, context, { session, account, also });
        return done();
      });
    },
  }),
];

type Context<Params, Body> = Pick<RequestContext<Params, Body>, 'caller' | 'params' | 'body' | 'audit' | 'about'>;

async function register(access: Access, context: Context<unknown, { name: string; credential: Attestation }>): Promise<v.InferOutput<typeof NewPasskey>> {
  const { passkeys, secondFactors, sessions } = access;
  const { name: title, credential } = context.body;
  const before = access.own(context.caller);
  const made = await passkeys.make(ownerOf(before.account), before.session.id, title, credential).catch((fault: unknown) => {
    if (!(fault instanceof NotProven)) throw fault;
    context.about({ target: userTarget(before.account.spec), details: { changed: 'passkey', why: fault.why } });
    throw invalidPasskey(fault.why);
  });
  const { session, account } = access.own(context.caller); // it may have ended meanwhile
  const owner = ownerOf(account);
  const put = passkeys.put(owner, title, made, credential.transports);
  const first = secondFactors.first(owner.account, owner.accountId);
  const record = context.audit({
    target: userTarget(account.spec),
    details: { changed: 'passkey', to: 'registered', passkey: title, synced: made.synced, first: first !== undefined },
  });
  await sessions.end(first ? sessions.idsOf(owner.account, session.id) : [], 'administrator', [record], { puts: [put, ...(first ? [first.put] : [])] });
  return { passkey: passkeys.view(owner, idOf(made.credentialID)), recoveryCodes: first ? [...first.recoveryCodes] : null };
}

/** What goes with the passkey: with the last factor all that there is beside the password. @throws Refusal 404, 409. */
function leaving({ passkeys, secondFactors, second }: Access, { params }: Context<{ readonly id: string }, unknown>, account: AccountResource) {
  const owner = ownerOf(account);
  const { metadata, spec } = passkeys.get(owner, params.id);
  const hasApp = secondFactors.hasApp(owner.account);
  const isLast = passkeys.of(owner).length === 1 && !hasApp;
  const opensMore = passkeys.usable(owner).some(({ metadata: { name } }) => name !== metadata.name);
  if (!opensMore && !hasApp && second.isRequired(account.spec.groups))
    // as they are in this turn
    throw conflict('second_factor_required_by_role', 'your role requires a second factor: register another passkey, or set up an app, before you remove this one');
  return { title: spec.title, isLast, refs: isLast ? second.refsOf(owner.account) : [refOf(metadata.name)] };
}

/** The sessions that were opened with it may be somebody else's. */
async function remove(access: Access, context: Context<{ readonly id: string }, unknown>, { session, account, also }: Proven): Promise<void> {
  const { title, isLast, refs } = leaving(access, context, account); // others may have gone meanwhile
  const { name } = account.metadata;
  const audit = context.audit({ target: userTarget(account.spec), details: { changed: 'passkey', to: 'removed', passkey: title, last: isLast } });
  const change = { puts: besides(also.puts, refs), removes: [...(also.removes ?? []), ...refs] };
  await access.sessions.end(access.sessions.idsOf(name, session.id), 'administrator', [audit], change);
}
