/** The routes of panels (D-C-18): what a panel does itself, and what administrators do with panels. */
import * as v from 'valibot';
import { timestamp } from '../../../platform/base/clock.js';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import { listReply } from '../../../platform/http/paged-list.js';
import { LIST, parameters } from '../../../platform/http/parameters.js';
import type { ToldBy } from '../../../platform/http/replies.js';
import { created, done, ok, type Route, routesFor } from '../../../platform/http/route.js';
import type { Access } from '../access.js';
import { SessionBody } from '../bodies.js';
import { DisplayName } from '../display-name.js';
import { withSessions } from '../modes.js';
import { DeviceKey } from './device-key.js';
import { CODE_WITHIN_MS } from './enrolments.js';
import { CHALLENGE_WITHIN_MS, type PanelResource } from './panels.js';

export interface PanelDeps {
  readonly access: Access;
  readonly streamsOf: (sessionId: string) => number;
}

const route = routesFor<PanelDeps>();
const PATH = '/api/v1/auth/panels';
const OWN = '/api/v1/auth/panel';

const Text = v.string();
const KeyID = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be the key id that the enrolment told'));
const Proof = v.pipe(v.string(), v.maxLength(256, 'must have at most 256 characters'));

export const PanelBody = v.strictObject({
  name: v.string(),
  accountId: v.string(),
  displayName: v.string(),
  site: v.string(),
  keyID: v.string(),
  createdAt: v.string(),
  enrolledBy: v.string(),
  enrolledFrom: v.string(),
  lastContactAt: v.nullable(v.string()),
  lastContactFrom: v.string(),
  streams: v.number(),
});
export type PanelBody = ToldBy<typeof PanelBody>;
const PanelCode = v.strictObject({ code: v.string(), keyID: v.string(), validForSeconds: v.number() });
const PanelChallenge = v.strictObject({ challenge: v.string(), validForSeconds: v.number() });
nameSchemas({ PanelBody, PanelCode, PanelChallenge });

const exists = ({ name }: { readonly name: string }, { access }: PanelDeps): void => void access.panels.get(name);

export const PANEL_ROUTES: readonly Route<PanelDeps>[] = [
  route({
    method: 'POST',
    path: `${OWN}/code`,
    action: 'panel:code',
    tier: 'none',
    summary: 'A code that a screen shows until an administrator enrols it',
    reply: { 200: PanelCode },
    errors: { 403: ['insecure_context'], 404: ['not_in_auth_mode'], 409: ['panel_enrolled'] },
    body: v.strictObject({ publicKey: DeviceKey }),
    computes: true,
    exists: withSessions,
    handle: (context, { access }) => ok({ ...access.panels.begin(context, context.body.publicKey), validForSeconds: CODE_WITHIN_MS / 1000 }),
  }),
  route({
    method: 'POST',
    path: `${OWN}/challenge`,
    action: 'panel:challenge',
    tier: 'none',
    summary: 'What an enrolled panel signs with its device key, once',
    reply: { 200: PanelChallenge },
    errors: { 401: ['panel_not_enrolled'], 404: ['not_in_auth_mode'] },
    body: v.strictObject({ keyID: KeyID }),
    computes: true,
    exists: withSessions,
    handle: ({ body }, { access }) => ok({ challenge: access.panels.challenge(body.keyID), validForSeconds: CHALLENGE_WITHIN_MS / 1000 }),
  }),
  route({
    method: 'POST',
    path: `${OWN}/token`,
    whileStorageRefuses: true,
    action: 'panel:token',
    tier: 'none',
    summary: 'An access token for the panel that has signed the challenge; it reads its site',
    reply: { 200: SessionBody },
    errors: { 401: ['panel_refused', 'account_locked'], 404: ['not_in_auth_mode'] },
    body: v.strictObject({ keyID: KeyID, challenge: Proof, signature: Proof }),
    audit: { action: 'Request', category: 'auth' },
    exists: withSessions,
    handle: async (context, { access }) => ok(await sessionOf(access, context)),
  }),
  route({
    method: 'GET',
    path: PATH,
    action: 'panel:list',
    tier: 'admin',
    summary: 'Enrolled panels with their last contact; query limit, cursor',
    query: parameters(LIST),
    reply: v.array(PanelBody),
    handle: (context, deps) =>
      listReply(context, { list: 'panels', items: deps.access.panels.list(), keyOf: ({ metadata }) => [metadata.name], render: (panel) => panelDto(panel, deps) }),
  }),
  route({
    method: 'POST',
    path: PATH,
    action: 'panel:create',
    tier: 'admin',
    summary: 'Enrol the panel that shows the code: it watches the site',
    reply: PanelBody,
    errors: { 400: ['invalid_name', 'unknown_reference', 'unknown_panel_code'], 401: ['account_locked'], 404: ['not_in_auth_mode'], 409: ['already_exists', 'panel_enrolled'] },
    body: v.strictObject({ code: Text, name: Text, site: Text, displayName: v.optional(DisplayName) }),
    audit: { action: 'Create', category: 'auth' },
    exists: withSessions,
    async handle(context, deps) {
      const panel = await deps.access.panels.enrol(context, context.body);
      return created(panelDto(panel, deps), `${PATH}/${panel.metadata.name}`);
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/{name}`,
    action: 'panel:read',
    tier: 'admin',
    summary: 'One panel',
    reply: PanelBody,
    exists,
    handle: ({ params }, deps) => panelDto(deps.access.panels.get(params.name), deps),
  }),
  route({
    method: 'DELETE',
    path: `${PATH}/{name}`,
    action: 'panel:delete',
    tier: 'admin',
    summary: 'Revoke a panel: its tokens and streams end at once',
    audit: { action: 'Delete', category: 'auth', target: ({ name }) => ({ kind: 'Panel', name, site: '' }) },
    exists,
    async handle(context, { access }) {
      await access.panels.revoke(context, context.params.name);
      return done();
    },
  }),
];

async function sessionOf(access: Access, context: Parameters<Access['panels']['renew']>[0] & { readonly body: Parameters<Access['panels']['renew']>[1] }): Promise<SessionBody> {
  const { panel, token, claims, lifeMs } = await access.panels.renew(context, context.body);
  const caller = access.authenticator.issued(token, claims);
  return {
    accessToken: token,
    tokenType: 'Bearer',
    expiresIn: Math.floor(lifeMs / 1000),
    expiresAt: timestamp(claims.exp * 1000),
    sessionId: access.panels.sessionOf(panel),
    user: access.me(caller),
  };
}

function panelDto(panel: PanelResource, { access, streamsOf }: PanelDeps): PanelBody {
  const { metadata, spec, status } = panel;
  const { accountId, displayName, site, keyID, enrolledBy, enrolledFrom } = spec;
  const { lastContactAt, lastContactFrom } = status;
  const known = { name: metadata.name, accountId, displayName, site, keyID, createdAt: metadata.createdAt, enrolledBy, enrolledFrom };
  return { ...known, lastContactAt, lastContactFrom, streams: streamsOf(access.panels.sessionOf(panel)) };
}
