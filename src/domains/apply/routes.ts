/** Routes of apply and export (contract 3, Generic apply and export; decisions Q-CHANGE-06, Q-CHANGE-10). */
import * as v from 'valibot';
import { inside } from '../../platform/base/assert.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { oneOf } from '../../platform/http/alternatives.js';
import { timestamp } from '../../platform/base/clock.js';
import { invalid, type Refusal } from '../../platform/base/refusal.js';
import { shortText } from '../../platform/base/short-text.js';
import { mayVisit } from '../../platform/http/caller.js';
import { flag, parameters, text, texts } from '../../platform/http/parameters.js';
import { inPieces, routesFor } from '../../platform/http/route.js';
import { freeMap } from '../../platform/store/free-map.js';
import { parseSelector, type Selector } from '../../platform/store/selector.js';
import { Applied, applyManifests } from './apply.js';
import { CONFLICT_CODES } from './conflicts.js';
import { applyActorOf } from './actor-of-request.js';
import type { ApplyDeps } from './context.js';
import { Backup, backupJson, ExportedManifest, exportedJson } from './export.js';
import { MANIFESTS_MAX } from './manifest.js';

const BODY_BYTES_MAX = 16 * 1024 ** 2;
/** Of one manifest, as of every other body; a manifest has a handful of fields. */
const MANIFEST = { max: MANIFESTS_MAX, bytesMax: 1024 ** 2, namesMax: 100 } as const;

export interface ApplyRouteDeps extends ApplyDeps {
  readonly production: boolean;
  /** Product version, for the header of a backup. */
  readonly version?: string;
}

const route = routesFor<ApplyRouteDeps>();

/** A manifest is judged by apply itself, which names the first wrong member and, in an array, its index. */
const One = freeMap(v.unknown());
const Several = v.pipe(v.array(One), v.minLength(1, 'must hold at least one manifest'), v.maxLength(MANIFESTS_MAX, `must hold at most ${MANIFESTS_MAX} manifests`));
const Body = oneOf<v.GenericSchema>([One, Several], (input) => (Array.isArray(input) ? Several : One)) as v.GenericSchema<
  unknown,
  Record<string, unknown> | Record<string, unknown>[]
>;

nameSchemas({ Manifest: One });

function isChangeRequest(body: unknown): boolean {
  const manifests = Array.isArray(body) ? body : [body];
  return manifests.some((manifest: unknown) => (manifest as { kind?: unknown } | null)?.kind === 'ChangeRequest');
}

/** Of a query, in an answer that refuses it. */
const TEXT_TOLD_MAX = 200;

/** @throws Refusal 400 where it is none, or would choose what nobody has labelled. */
function selectorIn(text: string | undefined): Selector | undefined {
  if (text === undefined) return undefined;
  const wrong = (what: string): Refusal => invalid('invalid_query', 'toPrune', `query toPrune ${shortText(text, TEXT_TOLD_MAX)}: ${what}`);
  const selector = parseSelector(text, wrong);
  if (!selector.isPositive) throw wrong('it would choose what carries no label of yours; name a label with key=value');
  return selector;
}

/** What the rules of all kinds refuse, and what apply itself does. */
export const APPLY_ERRORS = {
  403: ['change_request_required'],
  400: ['unsupported_kind', 'invalid_name', 'reserved_key', 'unknown_reference', 'inherited_tag', 'invalid_network', 'label_prefix', 'out_of_range', 'st_invalid'],
  404: ['not_found'],
  409: CONFLICT_CODES,
  422: ['kind_not_applied', 'address_map_incomplete', 'too_many_past_runs', 'unprocessable'],
  503: ['plant_changing'],
} as const;

/** Needs ApplyRouteDeps. */
export const applyRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/apply',
    action: 'apply:create',
    tier: 'engineer',
    query: parameters({
      site: text('where manifests name none'),
      dryRun: flag('judge everything, tell `changes`, store nothing'),
      diff: flag('as dryRun, and what is refused for what the plant does now is told with its changes, as `refused`'),
      toPrune: text('labels: what carries them and stands in no manifest will be removed afterwards, by a DELETE of each; judged by a dry run, and gone where warnings are judged'),
    }),
    summary: `Create or update resources from one manifest or an array of 1 to ${MANIFESTS_MAX}, in one transaction; YAML takes several documents`,
    body: Body,
    bodyBytesMax: BODY_BYTES_MAX,
    bodyMembers: MANIFEST,
    yaml: true,
    computes: (_body, query) => query.get('dryRun') === 'true' || query.get('diff') === 'true',
    reply: { 200: v.union([Applied, v.array(Applied)]) },
    errors: APPLY_ERRORS,
    freshToken: ({ body }) => isChangeRequest(body),
    audit: { action: 'Update', category: 'apply', target: () => ({ kind: 'Manifest', name: '*', site: '' }) },
    async handle(context, deps) {
      const { body } = context;
      const actor = applyActorOf(context);
      const { query } = context;
      const toPrune = selectorIn(query.get('toPrune'));
      const inArray = Array.isArray(body);
      const applied = await applyManifests(inArray ? body : [body], actor, deps, {
        site: query.get('site'),
        dryRun: query.get('dryRun') === 'true',
        diff: query.get('diff') === 'true',
        toPrune,
        inArray,
      });
      return inArray || toPrune ? applied : inside(applied, 0, 'what was applied answers each manifest');
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/export',
    action: 'export:read',
    tier: 'engineer',
    query: parameters({ site: text(), kinds: texts(), status: flag('with the status') }),
    summary: 'Manifests in an order that apply accepts; query site, kinds (comma list), status (true)',
    reply: v.array(ExportedManifest),
    handle({ query, caller }, { store, deviceId, clock, kinds: applied }) {
      const kinds = query
        .get('kinds')
        ?.split(',')
        .map((kind) => kind.trim())
        .filter((kind) => kind !== '');
      for (const kind of kinds ?? []) if (!applied.named(kind)) throw invalid('invalid_query', 'kinds', `there is no kind ${kind} that can be exported`);
      const wish = { deviceId, site: query.get('site'), kinds, status: query.get('status') === 'true', visible: (site: string) => mayVisit(caller, site) };
      return inPieces(exportedJson(store, applied, wish, clock));
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/backup/crds',
    action: 'backup:crds',
    tier: 'admin',
    summary: 'Every configured resource with uid and status',
    reply: Backup,
    handle: (_context, { store, kinds, clock, version = '', production, deviceId = '' }) => {
      const facts = { createdAt: timestamp(clock.wallMs()), version, deviceId, operatingMode: production ? 'production' : 'development' } as const;
      return inPieces(backupJson(store, kinds, facts, clock));
    },
  }),
];
