/**
 * The import of a module type package (decisions Q-CHANGE-11): the package is read apart, planned, and applied in one transaction by the admission
 * of apply, with the permissions that apply asks for. A dry run does the same and stores nothing.
 */
import * as v from 'valibot';
import type { Clock } from '../../platform/base/clock.js';
import { invalid, Refusal } from '../../platform/base/refusal.js';
import { checkResourceName } from '../../platform/base/resource-name.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { Required } from '../../platform/store/fields.js';
import { type Applied, applyManifests } from '../apply/apply.js';
import type { ApplyActor, ApplyDeps } from '../apply/context.js';
import type { PackageReader } from './package-reader.js';
import { planImport } from './plan.js';
import { plain, type ReportRow, SEVERITIES } from './report.js';

export const FILE_NAME_LENGTH_MAX = 255;

export const ImportBody = v.strictObject({
  site: Required,
  /** Of the unit that the module becomes; the names of its control modules begin with it. */
  name: Required,
  fileName: v.pipe(v.string(), v.minLength(1), v.maxLength(FILE_NAME_LENGTH_MAX)),
  /** The `.aml` or `.mtp`, in base64. */
  content: Required,
  /** I/O module that is made, or gets what it does not have yet; left out: `name`. */
  ioModule: v.optional(v.string()),
  dryRun: v.optional(v.boolean(), true),
});
export type ImportBody = v.InferOutput<typeof ImportBody>;

export const ImportAnswer = v.strictObject({
  dryRun: v.boolean(),
  module: v.strictObject({ name: v.string(), version: v.string() }),
  services: v.array(v.strictObject({ name: v.string(), procedures: v.array(v.strictObject({ id: v.number(), name: v.string() })) })),
  /** `<controlModule>.<tag>` of what is made. */
  tags: v.array(v.string()),
  created: v.array(v.strictObject({ kind: v.string(), name: v.string() })),
  report: v.array(v.strictObject({ severity: v.picklist(SEVERITIES), path: v.string(), message: v.string() })),
});
export type ImportAnswer = ToldBy<typeof ImportAnswer>;

nameSchemas({ MtpImportBody: ImportBody, MtpImport: ImportAnswer });

export interface ImportDeps extends ApplyDeps {
  readonly clock: Clock;
  readonly packages: PackageReader;
}

/** `onRead`: is told the sum of the package, before it is judged. @throws Refusal 400 `package_unreadable` with `report`, 503 `import_busy`, `plant_changing`, and what apply refuses. */
export async function importPackage(body: ImportBody, actor: ApplyActor, deps: ImportDeps, onRead: (sha256: string) => void): Promise<ImportAnswer> {
  const { site, name, dryRun } = body;
  const ioModule = body.ioModule ?? name;
  checkResourceName(name, 'name');
  checkResourceName(ioModule, 'ioModule');
  const fileName = plain(body.fileName, FILE_NAME_LENGTH_MAX);
  const read = await deps.packages.read({ content: body.content, fileName });
  const { sha256 } = read;
  if (sha256 !== '') onRead(sha256);
  if ('faults' in read) throw unreadable(read.faults);
  const { module } = read;
  const plan = await planImport(module, { site, name, ioModule }, deps.store, deps.clock);
  const importing: ApplyActor = {
    displayName: actor.displayName,
    get sites() {
      return actor.sites;
    },
    may: (action) => actor.may(action),
    judgeAgain() {
      actor.judgeAgain?.();
      // what stands in the plan was read before the waits of apply
      if (!plan.isTrueOf(deps.store)) throw new Refusal('unavailable', 'what the import rests on has changed meanwhile; nothing was stored', { code: 'plant_changing' });
    },
    audit: (entry) =>
      actor.audit({ ...entry, details: { ...(entry.details as object | undefined), via: 'import/mtp', fileName, sha256, module: module.name, version: module.version } }),
  };
  const applied = await applyManifests(plan.manifests, importing, deps, { site, dryRun, tellsChanges: false, inArray: true });
  return {
    dryRun,
    module: { name: module.name, version: module.version },
    services: plan.services.map((service) => ({ name: service.name, procedures: service.procedures.map((procedure) => ({ ...procedure })) })),
    tags: [...plan.tags],
    created: applied.filter(({ operation }) => operation === 'created').map(({ kind, name: created }) => ({ kind, name: created })),
    report: [...plan.report, ...applied.flatMap(warningsOf)],
  };
}

/** What apply says of a manifest, at the name of what it is about. */
function warningsOf({ kind, name, warnings }: Applied): readonly ReportRow[] {
  return warnings.map((message) => ({ severity: 'warning' as const, path: `${kind}/${name}`, message }));
}

function unreadable(report: readonly ReportRow[]): Refusal {
  const { path = '', message = '' } = report.at(-1) ?? {};
  return invalid('package_unreadable', 'content', `the package cannot be read: ${path === '' ? '' : `${path}: `}${message}`, { report });
}
