/** The route that imports a module type package (contract 3, Additional routes; decisions Q-CHANGE-11). */
import { Refusal } from '../../platform/base/refusal.js';
import { mayVisit } from '../../platform/http/caller.js';
import { type RequestContext, routesFor } from '../../platform/http/route.js';
import { applyActorOf } from '../apply/actor-of-request.js';
import { CONFLICT_CODES } from '../apply/conflicts.js';
import { FILE_NAME_LENGTH_MAX, ImportAnswer, ImportBody, type ImportDeps, importPackage } from './import.js';
import { plain } from './report.js';

/** The package in base64, and what stands beside it. */
const BODY_BYTES_MAX = 12 * 1024 ** 2;
/** One is read; the next may arrive meanwhile, and a client that sends its own slowly holds nobody else up. */
const BODY_TURNS = { max: 2, code: 'import_busy', message: 'other packages are being read: try again in a moment' } as const;

const route = routesFor<ImportDeps>();

/** Needs ImportDeps. */
export const mtpImportRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/import/mtp',
    action: 'import:mtp',
    tier: 'engineer',
    summary: 'Import a module type package (VDI/VDE/NAMUR 2658): its unit, I/O module, services and tags; by itself a dry run',
    body: ImportBody,
    bodyBytesMax: BODY_BYTES_MAX,
    bodyTurns: BODY_TURNS,
    reply: ImportAnswer,
    computes: (body) => (body as { readonly dryRun?: unknown } | null)?.dryRun !== false,
    errors: {
      400: ['package_unreadable', 'invalid_name', 'unknown_reference', 'invalid_network', 'out_of_range'],
      403: ['site_scope', 'action_missing', 'change_request_required'],
      404: ['not_found'],
      409: CONFLICT_CODES,
      422: ['unprocessable'],
      503: ['import_busy', 'plant_changing'],
    },
    audit: { action: 'Create', category: 'import', target: (_params) => ({ kind: 'Manifest', name: '*', site: '' }) },
    handle(context, deps) {
      const { body } = context;
      tell(context);
      if (!mayVisit(context.caller, body.site)) throw new Refusal('forbidden', `site ${body.site} is outside your scope`, { code: 'site_scope', site: body.site });
      return importPackage(body, applyActorOf(context), deps, (sha256) => tell(context, sha256));
    },
  }),
];

/** What a record of a refusal says; the package has a sum once it was read. */
function tell({ body, about }: Pick<RequestContext<unknown, ImportBody>, 'body' | 'about'>, sha256?: string): void {
  const { site, name, ioModule } = body;
  const details = {
    via: 'import/mtp',
    name,
    ...(ioModule === undefined ? {} : { ioModule }),
    fileName: plain(body.fileName, FILE_NAME_LENGTH_MAX),
    ...(sha256 === undefined ? {} : { sha256 }),
  };
  about({ site, target: { kind: 'Manifest', name: '*', site }, details });
}
