/** A person's own sessions: where he is signed in, when each was used last, and its end. Of those of others nothing is told here. */
import * as v from 'valibot';
import { missing } from '../../platform/base/refusal.js';
import { listReply, sortedBy } from '../../platform/http/paged-list.js';
import { LIST, parameters } from '../../platform/http/parameters.js';
import type { Caller } from '../../platform/http/caller.js';
import { done, type Route, routesFor } from '../../platform/http/route.js';
import type { Access } from './access.js';
import { OpenSession } from './bodies.js';
import { issuerSessionDto, sessionDto } from './dto.js';
import { withSessions } from './modes.js';

export interface OwnSessionDeps {
  readonly access: Access;
  /** Open streams of a session. */
  readonly streamsOf: (sessionId: string) => number;
}

const route = routesFor<OwnSessionDeps>();
const PATH = '/api/v1/auth/me/sessions';

export const OWN_SESSION_ROUTES: readonly Route<OwnSessionDeps>[] = [
  route({
    method: 'GET',
    path: PATH,
    action: 'auth:own-sessions',
    tier: 'self',
    summary: 'My open sessions, newest first; query limit, cursor',
    query: parameters(LIST),
    reply: v.array(OpenSession),
    errors: { 404: ['not_in_auth_mode'] },
    exists: withSessions,
    handle: (context, deps) => {
      const keyOf = ({ createdAt, id }: OpenSession): [number, string] => [-Date.parse(createdAt), id];
      return listReply(context, { list: 'own-sessions', items: sortedBy(ownSessions(context.caller, deps), keyOf), keyOf, render: (session) => session });
    },
  }),
  route({
    method: 'DELETE',
    path: `${PATH}/{id}`,
    action: 'auth:end-own-session',
    tier: 'self',
    summary: 'End a session of mine and its streams',
    errors: { 404: ['not_in_auth_mode'] },
    audit: { action: 'Delete', category: 'auth', target: ({ id }) => ({ kind: 'Session', name: id, site: '' }) },
    exists: withSessions,
    async handle(context, deps) {
      const { id } = context.params;
      if (!ownSessions(context.caller, deps).some((session) => session.id === id)) throw missing('session', id); // somebody else's is none
      await deps.access.leaveSession(id, context.audit({}));
      return done();
    },
  }),
];

function ownSessions({ accountId, sessionId }: Caller, { access, streamsOf }: OwnSessionDeps): OpenSession[] {
  const kept = access.sessions.resources().filter(({ spec }) => spec.accountId === accountId);
  const seen = (access.issuer?.sessions.open ?? []).filter(({ identity }) => identity.person.accountId === accountId);
  return [
    ...kept.map((session) => sessionDto(session, access, streamsOf(session.metadata.name), sessionId)),
    ...seen.map((session) => issuerSessionDto(session, streamsOf(session.id), sessionId)),
  ];
}
