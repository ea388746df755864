/** Administrators that were made at the box, and that somebody has seen it. */
import * as v from 'valibot';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import type { ToldBy } from '../../../platform/http/replies.js';
import { type Route, routesFor } from '../../../platform/http/route.js';
import { localOnly } from '../modes.js';
import type { AdminRecoveries, AdminRecoveryResource } from './recoveries.js';

export interface RecoveryDeps {
  readonly access: { readonly settings: { readonly authMode: string }; readonly recoveries: AdminRecoveries };
}

const RecoveryBody = v.strictObject({
  id: v.string(),
  username: v.string(),
  madeAt: v.string(),
  /** Of the system, who typed the command. */
  systemUser: v.string(),
  /** Enabled administrators that there were. */
  administratorsBefore: v.array(v.string()),
  acknowledged: v.nullable(v.strictObject({ by: v.string(), accountId: v.string(), at: v.string(), reason: v.string() })),
});
type RecoveryBody = ToldBy<typeof RecoveryBody>;
const RecoveriesBody = v.strictObject({ items: v.array(RecoveryBody) });
nameSchemas({ AdminRecoveryBody: RecoveryBody });

const route = routesFor<RecoveryDeps>();
const PATH = '/api/v1/auth/recoveries';

export const RECOVERY_ROUTES: readonly Route<RecoveryDeps>[] = [
  route({
    method: 'GET',
    path: PATH,
    action: 'recovery:list',
    tier: 'admin',
    summary: 'Administrators that were made at the box (lineside recover-admin), newest first',
    reply: RecoveriesBody,
    errors: { 404: ['not_in_auth_mode'] },
    exists: localOnly,
    handle: (_, { access }) => told(access.recoveries.all()),
  }),
  route({
    method: 'POST',
    path: `${PATH}/acknowledge`,
    action: 'recovery:acknowledge',
    tier: 'admin',
    reason: 'policy',
    summary: 'I have seen that an administrator was made at the box: the alarm goes; it stays in the audit trail',
    reply: RecoveriesBody,
    errors: { 404: ['not_in_auth_mode'], 409: ['no_recovery', 'own_recovery'] },
    body: v.strictObject({ reason: v.string() }),
    audit: { action: 'Acknowledge', category: 'auth', target: () => ({ kind: 'AdminRecovery', name: '', site: '' }) },
    exists: localOnly,
    handle: async ({ body, caller, audit }, { access }) => told(await access.recoveries.acknowledge(caller, body.reason.trim(), audit)),
  }),
];

function told(recoveries: readonly AdminRecoveryResource[]): ToldBy<typeof RecoveriesBody> {
  return {
    items: recoveries.map(({ metadata, spec: { username, at, systemUser, administrators }, status }) => ({
      id: metadata.name,
      username,
      madeAt: at,
      systemUser,
      administratorsBefore: administrators,
      acknowledged: status.acknowledged,
    })),
  };
}
