/**
 * Secrets of devices from outside (decisions 7.5; ADR 0075): set, rotated and removed without a restart. Write-only: whatever is asked,
 * names and members are told, and no content.
 */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { conflict, invalid, missing } from '../../platform/base/refusal.js';
import { checkResourceName } from '../../platform/base/resource-name.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { merge } from '../../platform/http/clearing.js';
import { listReply } from '../../platform/http/paged-list.js';
import { LIST, parameters } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { done, type Route, routesFor } from '../../platform/http/route.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import { secretNames } from './credentials.js';
import { SECRET_WORDS } from './field-words.js';
import { IOModule } from './kind.js';
import { checkContent } from './secret-content.js';
import { Secret, SECRET_MEMBERS } from './secret-kind.js';
import { type DeviceSecrets, MEMBER_BYTES_MAX, type SecretContent, type SecretView } from './secrets.js';

export interface SecretDeps {
  readonly store: Store;
  readonly secrets: DeviceSecrets;
}

const route = routesFor<SecretDeps>();
const LIST_PATH = '/api/v1/sites/{site}/secrets';
const PATH = `${LIST_PATH}/{name}` as const;
const NAMED_MAX = 20;

const member = (max: number) =>
  v.optional(v.nullable(v.pipe(v.string(), v.minLength(1, 'must not be empty; null removes it'), v.maxLength(max, `must have at most ${max} characters`))));

/** A member that is left out stays as it is, null removes it. */
const SecretChange = v.strictObject({ username: member(256), password: member(1024), certificate: member(MEMBER_BYTES_MAX), key: member(MEMBER_BYTES_MAX) });

export const SecretBody = v.strictObject({
  name: v.string(),
  /** Those that are set. */
  members: v.array(v.picklist(SECRET_MEMBERS)),
  /** `files`: below `secrets.dir`; they are changed there. */
  storedIn: v.picklist(['box', 'files']),
  /** False: it was sealed by another box, or its files cannot be read. */
  isReadable: v.boolean(),
  /** Empty of files. */
  changedAt: v.string(),
  /** I/O modules that name it. */
  usedBy: v.array(v.string()),
});
export type SecretBody = ToldBy<typeof SecretBody>;

describeFields(SecretChange, SECRET_WORDS);
nameSchemas({ SecretChange, SecretBody });

const AUDIT = { category: 'secret', target: ({ site, name }: { readonly site: string; readonly name: string }) => ({ kind: 'Secret', name, site }) } as const;

function usersOf(read: StoreReader, site: string, name: string): string[] {
  return read.list(IOModule, site).flatMap(({ metadata, spec }) => (secretNames(spec).includes(name) ? [metadata.name] : []));
}

const body = (view: SecretView, site: string, read: StoreReader): SecretBody => ({ ...view, members: [...view.members], usedBy: usersOf(read, site, view.name) });

export const secretRoutes: readonly Route<SecretDeps>[] = [
  route({
    method: 'GET',
    path: LIST_PATH,
    action: 'secret:list',
    tier: 'admin',
    query: parameters(LIST),
    reply: v.array(SecretBody),
    summary: 'Secrets of the devices of the site, by name and members; no content; query limit, cursor',
    async handle(context, { store, secrets }) {
      const { site } = context.params;
      const items = await secrets.list(site);
      return listReply(context, { list: 'secrets', items, keyOf: ({ name }) => [name], render: (view) => body(view, site, store) });
    },
  }),
  route({
    method: 'GET',
    path: PATH,
    action: 'secret:read',
    tier: 'admin',
    reply: SecretBody,
    summary: 'One secret by name: its members and who uses it; no content',
    async handle({ params: { site, name } }, { store, secrets }) {
      const view = await secrets.view(site, name);
      if (!view) throw missing('Secret', name);
      return body(view, site, store);
    },
  }),
  route({
    method: 'PUT',
    path: PATH,
    action: 'secret:update',
    tier: 'admin',
    freshToken: true,
    body: SecretChange,
    reply: SecretBody,
    errors: { 400: ['invalid_name'], 409: ['secret_unreadable'] },
    summary: 'Set or rotate a secret: members that are left out stay, null removes one; modules that name it connect anew',
    audit: { action: 'Update', ...AUDIT },
    async handle({ params: { site, name }, body: change, audit }, { store, secrets }) {
      checkResourceName(name);
      const changed = SECRET_MEMBERS.filter((each) => change[each] !== undefined);
      if (changed.length === 0) throw invalid('missing_field', 'password', `say at least one of ${SECRET_MEMBERS.join(', ')}`);
      const before = secrets.stored(site, name);
      const isWhole = SECRET_MEMBERS.every((each) => change[each] !== undefined);
      if (before === 'unreadable' && !isWhole)
        throw conflict(
          'secret_unreadable',
          `secret ${name} was sealed by another box, so nothing of it can be kept; send all of ${SECRET_MEMBERS.join(', ')}, null for those it shall not have`,
        );
      const content: SecretContent = merge(before === 'unreadable' ? {} : (before ?? {}), change);
      if (Object.keys(content).length === 0) throw invalid('invalid_field', changed[0] ?? 'password', `secret ${name} would have no member; DELETE removes it`);
      checkContent(content);
      const set = changed.filter((each) => change[each] !== null);
      const details = { set, removed: changed.filter((each) => change[each] === null), usedBy: usersOf(store, site, name) };
      await store.write({
        puts: [{ kind: Secret, site, name, spec: secrets.sealed(site, name, content) }],
        audits: [audit({ action: before === undefined ? 'Create' : 'Update', details })],
      });
      const view = await secrets.view(site, name);
      if (!view) throw missing('Secret', name);
      return body(view, site, store);
    },
  }),
  route({
    method: 'DELETE',
    path: PATH,
    action: 'secret:delete',
    tier: 'admin',
    freshToken: true,
    reply: { 204: 'Removed' },
    errors: { 409: ['has_dependents', 'secret_in_files', 'legal_hold'] },
    summary: 'Remove a stored secret that no I/O module names',
    audit: { action: 'Delete', ...AUDIT },
    async handle({ params: { site, name }, audit }, { store, secrets }) {
      const files = await secrets.inFiles(site, name);
      if (!store.get(Secret, site, name)) {
        if (files === undefined) throw missing('Secret', name);
        throw conflict('secret_in_files', `secret ${name} lies in site-${site}/${name} of secrets.dir and is removed there`);
      }
      const users = usersOf(store, site, name);
      // behind the stored one stand files of its name: then the modules go on with them
      if (users.length > 0 && files === undefined) {
        const dependents = users.slice(0, NAMED_MAX).map((each) => ({ kind: IOModule.kind, name: each }));
        throw conflict(
          'has_dependents',
          `secret ${name} is still used by ${users
            .slice(0, NAMED_MAX)
            .map((each) => `IOModule ${each}`)
            .join(', ')}`,
          { dependents },
        );
      }
      await store.write({ removes: [{ kind: Secret.kind, site, name }], audits: [audit({ details: { usedBy: users } })] });
      return done();
    },
  }),
];
