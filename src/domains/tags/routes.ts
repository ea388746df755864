/** Tag routes (contract 2, Tags). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { missing, Refusal } from '../../platform/base/refusal.js';
import { JsonText } from '../../platform/http/paged-list.js';
import { flag, LIST, parameters, text, texts } from '../../platform/http/parameters.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { type Query, rendered, type Reply, type RequestContext, routesFor } from '../../platform/http/route.js';
import { ControlModule } from '../control-modules/kind.js';
import { Unit } from '../plant/kind.js';
import { TagDescriptor, type TagEntry } from './catalog.js';
import { reachable, TagValue, tagList, tagValue, valueList } from './live.js';
import { checkTagBarriers, findTag, TAG_WRITE_CATEGORY, TAG_WRITE_ERRORS, type TagDeps, writeTag } from './write.js';

const TAG_FILTER = {
  unit: text(),
  moduleType: text(),
  role: text(),
  deviceFault: flag('tags that tell the latched fault of a device'),
  name: texts('parts of a name, in any case: tags whose name has one of them'),
};
const FILTERS = ['unit', 'moduleType', 'role', 'deviceFault', 'name'] as const;
const route = routesFor<TagDeps>();
const WriteBody = v.strictObject({ value: v.unknown() });
const Values = v.array(TagValue);
/** `recorded` false: written while the storage refused, so its audit record follows. */
const WrittenTag = v.strictObject({ ok: v.literal(true), address: v.string(), message: v.string(), recorded: v.optional(v.literal(false)) });

nameSchemas({ TagWriteBody: WriteBody, WrittenTag });

export const tagRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/tags',
    action: 'tag:browse',
    tier: 'read',
    query: parameters({ ...LIST, ...TAG_FILTER }),
    reply: v.array(TagDescriptor),
    summary: 'Tags of a site; query unit, moduleType, role, deviceFault, name (comma list of parts of it), limit, cursor',
    handle: (context, deps) => tagList(context, filtered(deps, context.params.site, context.query), ({ openJson }) => new JsonText(`${openJson}}`), FILTERS),
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/tags/browse',
    action: 'tag:browse',
    tier: 'read',
    query: parameters({ ...LIST, ...TAG_FILTER }),
    reply: Values,
    summary: 'Tags of a site with live values; tags of offline runtimes have none; query unit, moduleType, role, deviceFault, name (comma list of parts of it), limit, cursor',
    handle: (context, deps) => valueList(context, filtered(deps, context.params.site, context.query), deps.runtimes, FILTERS),
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/units/{unit}/tags',
    action: 'tag:browse',
    tier: 'read',
    query: parameters(LIST),
    reply: Values,
    errors: { 503: ['runtime_unreachable'] },
    summary: 'All live tag values of a unit runtime; query limit, cursor',
    exists: ({ site, unit }, { store }) => {
      if (!store.get(Unit, site, unit)) throw missing('unit', unit);
    },
    handle: (context, deps) => {
      const { site, unit } = context.params;
      reachable(deps.runtimes, site, unit);
      return valueList(context, deps.catalog.ofUnit(site, unit), deps.runtimes);
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/units/{unit}/tags/{address...}',
    action: 'tag:read',
    tier: 'read',
    reply: TagValue,
    errors: { 404: ['unknown_tag'], 503: ['runtime_unreachable'] },
    summary: 'One tag by its address',
    exists: ({ site, unit, address }, deps) => void findTag(deps, site, unit, address),
    handle: ({ params: { site, unit, address } }, deps) => readOne(deps, findTag(deps, site, unit, address)),
  }),
  route({
    method: 'POST',
    path: '/api/v1/sites/{site}/units/{unit}/tags/{address...}',
    action: 'tag:write',
    tier: 'operate',
    body: WriteBody,
    reply: WrittenTag,
    errors: TAG_WRITE_ERRORS,
    whileStorageRefuses: true, // the stop of a device; every other value is refused by the storage itself
    summary: 'Write one tag',
    audit: { action: 'Update', category: TAG_WRITE_CATEGORY, target: ({ site, address }) => ({ kind: 'Tag', name: address, site }) },
    exists: ({ site, unit, address }, deps) => void findTag(deps, site, unit, address),
    barrier: ({ site, unit, address }, deps) => checkTagBarriers(deps, findTag(deps, site, unit, address), address),
    handle: (context, deps) => {
      const { site, unit, address } = context.params;
      return writeOne(deps, context, findTag(deps, site, unit, address), address, false);
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/controlmodules/{cm}/tags',
    action: 'controlmodule:read-tag',
    tier: 'read',
    query: parameters(LIST),
    reply: Values,
    errors: { 503: ['runtime_unreachable'] },
    summary: 'Live tags of one control module; query limit, cursor',
    exists: ({ site, cm }, deps) => requireModule(deps, site, cm),
    handle: (context, deps) => {
      const { site, cm } = context.params;
      const entries = deps.catalog.ofModule(site, cm);
      const [first] = entries;
      if (first) reachable(deps.runtimes, site, first.descriptor.unit);
      return valueList(context, entries, deps.runtimes);
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/controlmodules/{cm}/tags/{tag}',
    action: 'controlmodule:read-tag',
    tier: 'read',
    reply: TagValue,
    errors: { 404: ['unknown_tag'], 503: ['runtime_unreachable'] },
    summary: 'One live tag of a control module, by name',
    exists: ({ site, cm, tag }, deps) => void moduleTag(deps, site, cm, tag),
    handle: ({ params: { site, cm, tag } }, deps) => readOne(deps, moduleTag(deps, site, cm, tag)),
  }),
  route({
    method: 'POST',
    path: '/api/v1/sites/{site}/controlmodules/{cm}/tags/{tag}',
    action: 'controlmodule:write-tag',
    tier: 'operate',
    body: WriteBody,
    reply: WrittenTag,
    errors: TAG_WRITE_ERRORS,
    whileStorageRefuses: true, // the stop of a device; every other value is refused by the storage itself
    summary: 'Write one tag of a control module, by name',
    audit: { action: 'Update', category: TAG_WRITE_CATEGORY, target: ({ site, cm, tag }) => ({ kind: 'Tag', name: `${cm}.${tag}`, site }) },
    exists: ({ site, cm, tag }, deps) => void moduleTag(deps, site, cm, tag),
    barrier: ({ site, cm, tag }, deps) => {
      const entry = moduleTag(deps, site, cm, tag);
      checkTagBarriers(deps, entry, entry.descriptor.address, true);
    },
    handle: (context, deps) => {
      const { site, cm, tag } = context.params;
      const entry = moduleTag(deps, site, cm, tag);
      return writeOne(deps, context, entry, entry.descriptor.address, true);
    },
  }),
];

function filtered({ catalog }: TagDeps, site: string, query: Query<keyof typeof TAG_FILTER>): readonly TagEntry[] {
  const [unit, moduleType, role] = [query.get('unit') ?? '', query.get('moduleType') ?? '', query.get('role') ?? ''];
  const entries = unit === '' ? catalog.ofSite(site) : catalog.ofUnit(site, unit);
  const parts = query
    .all('name')
    .flatMap((text) => text.toLowerCase().split(','))
    .flatMap((part) => part.trim() || []);
  const deviceFault = query.get('deviceFault');
  if (moduleType === '' && role === '' && deviceFault === undefined && parts.length === 0) return entries;
  return entries.filter(
    ({ descriptor }) =>
      (moduleType === '' || descriptor.moduleType === moduleType) &&
      (role === '' || descriptor.role === role) &&
      (deviceFault === undefined || (descriptor.deviceFault === true) === (deviceFault === 'true')) &&
      (parts.length === 0 || parts.some((part) => descriptor.name.toLowerCase().includes(part))),
  );
}

function requireModule({ store }: TagDeps, site: string, name: string): void {
  if (!store.get(ControlModule, site, name)) throw missing('control module', name);
}

/** By name among the module's tags (decisions Q-TAG-10). @throws Refusal `not_found`, `unknown_tag`. */
function moduleTag(deps: TagDeps, site: string, module: string, name: string): TagEntry {
  requireModule(deps, site, module);
  const tag = deps.catalog.ofModule(site, module).find(({ descriptor }) => descriptor.name === name);
  if (tag) return tag;
  throw new Refusal('missing', `control module ${module} has no tag ${name}`, { code: 'unknown_tag' });
}

function readOne(deps: TagDeps, tag: TagEntry): Reply<never> {
  const link = reachable(deps.runtimes, tag.site, tag.descriptor.unit);
  link.refresh();
  return rendered(tagValue(tag, link));
}

async function writeOne(
  deps: TagDeps,
  context: RequestContext<unknown, { value: unknown }>,
  tag: TagEntry,
  address: string,
  throughModule: boolean,
): Promise<ToldBy<typeof WrittenTag>> {
  const outcome = await writeTag(deps, { tag, address, value: context.body.value, throughModule, audit: (entry) => context.audit(entry) });
  if (outcome.refusal) throw outcome.refusal;
  return { ok: true, address, message: outcome.message, ...(outcome.recorded === false ? { recorded: false } : {}) };
}
