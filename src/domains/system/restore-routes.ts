/** A restored box: what it was restored from, and the signature that lets it drive outputs again (D-C-06). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { type Route, routesFor } from '../../platform/http/route.js';
import { RESTORE_KIND, type Restoration } from './restoration.js';

export const RestoredBody = v.strictObject({
  id: v.string(),
  restoredAt: v.string(),
  deviceId: v.string(),
  withKeys: v.boolean(),
  backup: v.strictObject({
    id: v.string(),
    createdAt: v.string(),
    version: v.string(),
    deviceId: v.string(),
    head: v.strictObject({ sequence: v.number(), hash: v.string() }),
  }),
  unverified: v.array(v.string()),
});

nameSchemas({ RestoredBody });

export interface RestoreDeps {
  readonly restoration: Pick<Restoration, 'waits' | 'mark' | 'confirm'>;
}

const PATH = '/api/v1/system/restore';
const route = routesFor<RestoreDeps>();

export const RESTORE_ROUTES: readonly Route<RestoreDeps>[] = [
  route({
    method: 'GET',
    path: PATH,
    action: 'system:restore',
    tier: 'read',
    summary: 'Whether this box was restored from a backup and withholds its outputs until somebody confirms; restored tells from which, null where nothing is known of it',
    reply: v.strictObject({ waits: v.boolean(), restored: v.nullable(RestoredBody) }),
    handle: (_, { restoration }) => {
      const { waits, mark } = restoration;
      return { waits, restored: mark && { ...mark, backup: { ...mark.backup, head: { ...mark.backup.head } }, unverified: [...mark.unverified] } };
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/confirm`,
    action: 'system:confirm-restore',
    tier: 'supervise',
    freshToken: true,
    reason: 'policy',
    body: v.strictObject({ reason: v.string() }),
    audit: { action: 'Sign', category: 'backup', target: () => ({ kind: RESTORE_KIND, name: '', site: '' }) },
    summary: 'Confirms, with a signature, that the box this one was restored from is off: outputs are driven from then on',
    reply: v.strictObject({ waits: v.literal(false), signature: v.string() }),
    errors: { 409: ['already_running', 'not_restored'] },
    handle: async ({ body, caller, audit }, { restoration }) => ({ waits: false as const, signature: await restoration.confirm(caller, body.reason.trim(), audit) }),
  }),
];
