/**
 * The routes of API keys (contract 1, API key; decisions KEY). A key is replaced with an overlap, in which both open the same, so that
 * no order is refused while the MES is given the new one; its expiry is changed in place (ADR 0119).
 */
import * as v from 'valibot';
import { readDuration } from '../../platform/base/duration-text.js';
import { parseInstant } from '../../platform/base/instant.js';
import { conflict, invalid, missing } from '../../platform/base/refusal.js';
import { checkResourceName } from '../../platform/base/resource-name.js';
import { listReply } from '../../platform/http/paged-list.js';
import { LIST, parameters } from '../../platform/http/parameters.js';
import { checkIfMatch, etagOf } from '../../platform/http/revision.js';
import { created, done, ok, type Reply, type RequestContext, type Route, routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import { type ApiKeyResource, ApiKeys } from './api-keys.js';
import { KeyBody, NewKey, RotatedKey } from './bodies.js';
import { keyDto } from './dto.js';
import { ApiKey, type ApiKeySpec } from './kind.js';

export interface KeyDeps {
  readonly access: { readonly store: Store; readonly keys: ApiKeys };
  readonly siteExists: (site: string) => boolean;
}

const route = routesFor<KeyDeps>();
const PATH = '/api/v1/mes/apikeys';
const HOUR_MS = 3_600_000;
const OVERLAP_MS = 24 * HOUR_MS;
const OVERLAP_MAX_MS = 30 * 24 * HOUR_MS;

const Text = v.string();
const ExpiresAt = v.nullable(Text);

const exists = ({ name }: { readonly name: string }, deps: KeyDeps): void => void find(deps, name);
const target = ({ name }: { readonly name: string }) => ({ kind: 'ApiKey', name, site: '' });

export const KEY_ROUTES: readonly Route<KeyDeps>[] = [
  route({
    method: 'GET',
    path: PATH,
    action: 'apikey:list',
    tier: 'admin',
    summary: 'API keys, never the key itself; query limit, cursor',
    query: parameters(LIST),
    reply: v.array(KeyBody),
    handle: (context, { access }) =>
      listReply(context, {
        list: 'apikeys',
        items: access.store.list(ApiKey, ''),
        keyOf: ({ metadata }) => [metadata.name],
        render: (key) => keyDto(key, access.keys),
      }),
  }),
  route({
    method: 'POST',
    path: PATH,
    action: 'apikey:create',
    tier: 'admin',
    summary: 'Create an API key; the key is shown in this answer only. With test: true it starts nothing',
    reply: NewKey,
    errors: { 400: ['invalid_name', 'unknown_reference'], 409: ['already_exists'] },
    body: v.strictObject({ name: Text, site: Text, expiresAt: v.optional(ExpiresAt), test: v.optional(v.boolean(), false) }),
    audit: { action: 'Create', category: 'auth' },
    async handle(context, { access, siteExists }) {
      const { name, site, expiresAt = null, test } = context.body;
      checkResourceName(name);
      const expiresAtMs = expiryOf(expiresAt);
      if (!siteExists(site)) throw invalid('unknown_reference', 'site', `site ${site} does not exist`);
      if (access.store.get(ApiKey, '', name)) throw conflict('already_exists', `API key ${name} exists already`, { kind: 'ApiKey', name });
      const { key, hash, keyPrefix } = ApiKeys.make();
      const spec: ApiKeySpec = { site, hash, keyPrefix, createdBy: context.caller.username, expiresAtMs, ...(test ? { test } : {}) };
      const audit = context.audit({ site, target: { kind: 'ApiKey', name, site }, after: { name, ...shown(spec), ...(test ? { test } : {}) } });
      const { resources } = await access.store.write({ puts: [{ kind: ApiKey, site: '', name, spec }], audits: [audit] });
      const { lastUsedAt: _used, previous: _none, ...told } = keyDto(resources[0] as ApiKeyResource, access.keys);
      return created({ ...told, key }, `${PATH}/${name}`);
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/{name}`,
    action: 'apikey:read',
    tier: 'admin',
    summary: 'One API key, never the key itself',
    reply: KeyBody,
    exists,
    handle: ({ params }, deps) => served(find(deps, params.name), deps),
  }),
  route({
    method: 'PUT',
    path: `${PATH}/{name}`,
    action: 'apikey:update',
    tier: 'admin',
    summary: 'Change when an API key expires, null for never; the key stays the same',
    reply: KeyBody,
    body: v.strictObject({ expiresAt: v.optional(ExpiresAt) }),
    audit: { action: 'Update', category: 'auth', target },
    exists,
    served: ({ name }, deps) => {
      const key = find(deps, name);
      return { body: keyDto(key, deps.access.keys), checkRead: (ifMatch) => checkIfMatch(ifMatch, key.metadata.resourceVersion) };
    },
    async handle(context, deps) {
      const { metadata, spec } = find(deps, context.params.name);
      checkIfMatch(context.header('if-match'), metadata.resourceVersion);
      const { expiresAt } = context.body;
      return served(await change(context, deps, expiresAt === undefined ? spec : { ...spec, expiresAtMs: expiryOf(expiresAt) }), deps);
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/{name}/rotate`,
    action: 'apikey:rotate',
    tier: 'admin',
    summary: 'Replace an API key; both are accepted for the overlap (24h, at most 30d; 0s: at once). The new key is shown in this answer only',
    reply: RotatedKey,
    errors: { 409: ['rotation_open'] },
    body: v.strictObject({ overlap: v.optional(Text), expiresAt: v.optional(ExpiresAt) }),
    audit: { action: 'Update', category: 'auth', target },
    exists,
    async handle(context, deps) {
      const { spec } = find(deps, context.params.name);
      const { overlap, expiresAt } = context.body;
      const overlapMs = overlap === undefined ? OVERLAP_MS : readDuration(overlap, 'overlap');
      if (overlapMs > OVERLAP_MAX_MS) throw invalid('invalid_field', 'overlap', 'overlap must be from 0s to 30d');
      const expiresAtMs = expiresAt === undefined ? spec.expiresAtMs : expiryOf(expiresAt);
      if (spec.previous && deps.access.keys.isAccepted(spec.previous)) {
        const message = `the key that ${context.params.name} replaced is accepted until ${spec.previous.until}: end it first, with DELETE …/previous, when no program uses it any more`;
        throw conflict('rotation_open', message, { validUntil: spec.previous.until });
      }
      const { key, hash, keyPrefix } = ApiKeys.make();
      const { previous: _ended, ...kept } = spec;
      const bothMs = Math.min(overlapMs, deps.access.keys.leftMs(spec)); // no key lives longer by being replaced
      const previous = bothMs > 0 ? { previous: { hash: spec.hash, keyPrefix: spec.keyPrefix, ...deps.access.store.terms.begin(bothMs) } } : {};
      const rotated = await change(context, deps, { ...kept, hash, keyPrefix, expiresAtMs, ...previous });
      return ok({ ...keyDto(rotated, deps.access.keys), key });
    },
  }),
  route({
    method: 'DELETE',
    path: `${PATH}/{name}/previous`,
    action: 'apikey:end-previous',
    tier: 'admin',
    summary: 'End the overlap of a rotation: the key that was replaced is refused from now on',
    errors: { 409: ['no_rotation_open'] },
    audit: { action: 'Update', category: 'auth', target },
    exists,
    async handle(context, deps) {
      const { spec } = find(deps, context.params.name);
      const { previous, ...kept } = spec;
      if (!previous || !deps.access.keys.isAccepted(previous)) throw conflict('no_rotation_open', `no key that ${context.params.name} replaced is accepted any more`);
      await change(context, deps, kept);
      return done();
    },
  }),
  route({
    method: 'DELETE',
    path: `${PATH}/{name}`,
    action: 'apikey:delete',
    tier: 'admin',
    summary: 'Revoke an API key, and the one that it replaced; the next request with it is refused',
    audit: { action: 'Delete', category: 'auth', target },
    exists,
    async handle(context, deps) {
      const { name } = context.params;
      const { spec } = find(deps, name);
      const audit = context.audit({ site: spec.site, before: { name, site: spec.site, keyPrefix: spec.keyPrefix } });
      await deps.access.store.write({ removes: [{ kind: ApiKey.kind, site: '', name }], audits: [audit] });
      return done();
    },
  }),
];

function find({ access }: KeyDeps, name: string): ApiKeyResource {
  const key = access.store.get(ApiKey, '', name);
  if (!key) throw missing('API key', name);
  return key;
}

function served(key: ApiKeyResource, { access }: KeyDeps): Reply<KeyBody> {
  return ok(keyDto(key, access.keys), { ETag: etagOf(key.metadata.resourceVersion) });
}

async function change(
  { params: { name }, audit }: Pick<RequestContext<{ readonly name: string }, unknown>, 'params' | 'audit'>,
  deps: KeyDeps,
  spec: ApiKeySpec,
): Promise<ApiKeyResource> {
  const before = find(deps, name);
  // how often each was used goes with it
  const isRotated = spec.previous !== undefined && spec.previous.hash === before.spec.hash;
  const { lastUsedAtMs, previousUsedAtMs } = deps.access.keys.lastUsedAtMs(before);
  const status = isRotated ? { lastUsedAtMs: null, previousUsedAtMs: lastUsedAtMs } : { lastUsedAtMs: spec.hash === before.spec.hash ? lastUsedAtMs : null, previousUsedAtMs };
  const { resources } = await deps.access.store.write({
    puts: [{ kind: ApiKey, site: '', name, spec, status }],
    audits: [audit({ site: spec.site, before: shown(before.spec), after: shown(spec) })],
  });
  return resources[0] as ApiKeyResource;
}

/** As it is audited: never a hash. */
function shown({ site, keyPrefix, expiresAtMs, previous }: ApiKeySpec) {
  const expiresAt = expiresAtMs === null ? null : new Date(expiresAtMs).toISOString();
  return { site, keyPrefix, expiresAt, ...(previous ? { previous: { keyPrefix: previous.keyPrefix, validUntil: previous.until } } : {}) };
}

function expiryOf(text: string | null): number | null {
  if (text === null) return null;
  const ms = parseInstant(text);
  if (Number.isNaN(ms)) throw invalid('invalid_field', 'expiresAt', 'expiresAt must be an RFC 3339 time');
  return ms;
}
