/** What is signed: found among the kinds that are served, in a site that the caller may visit, as it is now. */
import { invalid, missing, Refusal } from '../../platform/base/refusal.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { absent } from '../../platform/store/absent.js';
import type { Kind } from '../../platform/store/kind.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Resource } from '../../platform/store/resource.js';
import type { SignatureDeps } from './deps.js';
import type { SignatureSubject } from './kind.js';

export interface Target {
  readonly kind: string;
  readonly name: string;
  readonly site?: string | undefined;
}

export interface Found {
  readonly kind: Kind;
  readonly resource: Resource;
}

export function kindOf(kinds: readonly Kind[], named: string): Kind | undefined {
  return kinds.find((known) => known.kind === named || known.aliases?.includes(named));
}

/** What has ended and is past is signed as what is present. */
export async function lent({ store, kinds }: Pick<SignatureDeps, 'store' | 'kinds'>, { kind, name, site = '' }: Target, caller: Caller): Promise<void> {
  if (site !== '' && !mayVisit(caller, site)) return; // he is refused without learning by the time it takes what is there
  const named = kindOf(kinds, kind);
  if (named) await pastRows(store).lend([{ kind: named.kind, site, name }]);
}

/** As `lent`, for what nobody asked for by its name. */
export async function lendTarget({ store, kinds }: Pick<SignatureDeps, 'store' | 'kinds'>, { kind, name, site = '' }: Target): Promise<void> {
  const known = kindOf(kinds, kind);
  if (known) await pastRows(store).lend([{ kind: known.kind, site, name }]);
}

/** The site is judged before existence, so that nobody learns what lies outside his sites. @throws Refusal 403, 404, 400. */
export function findTarget({ store, kinds }: Pick<SignatureDeps, 'store' | 'kinds'>, target: Target, caller: Caller): Found {
  requireSite(caller, siteOf(target));
  const kind = kindOf(kinds, target.kind);
  if (!kind) throw missing('kind', target.kind);
  const site = target.site ?? '';
  if (kind.scope === 'site' && site === '') throw invalid('missing_field', 'target.site', `field target.site is required: a ${kind.kind} belongs to a site`);
  if (kind.scope === 'cluster' && site !== '') throw invalid('invalid_field', 'target.site', `target.site must be left out: a ${kind.kind} belongs to no site`);
  const resource = store.get(kind, site, target.name);
  if (!resource) throw absent(store, kind, site, target.name);
  return { kind, resource };
}

export function requireSite(caller: Caller, site: string): void {
  if (site !== '' && !mayVisit(caller, site)) throw new Refusal('forbidden', `site ${site} is outside your scope`, { code: 'site_scope', site });
}

/** A site itself lies in its own scope. */
export function siteOf({ kind, name, site }: Target): string {
  return kind === 'Site' ? name : (site ?? '');
}

/** Nobody signs for what somebody has changed past the gateway. @throws Refusal 409 `evidence_mismatch`, `archive_unreadable`. */
export async function unchangedTarget(deps: SignatureDeps, target: Target, caller: Caller): Promise<Found> {
  for (;;) {
    await lent(deps, target, caller);
    const found = findTarget(deps, target, caller);
    const comparing = deps.refusalToSign(found.resource);
    if (!comparing) return found;
    const refusal = await comparing;
    await lent(deps, target, caller);
    if (findTarget(deps, target, caller).resource !== found.resource) continue; // written while the trail was read
    if (!refusal) return found;
    throw refusal;
  }
}

/** Kinds with revisions of their own (recipes) count those, the others every change of their spec. */
export function subjectOf(kind: Kind, { metadata, spec, status }: Resource): SignatureSubject {
  const counted = (status as { readonly revision?: unknown } | undefined)?.revision;
  return {
    apiVersion: `${kind.group}.lineside.io/v1alpha1`,
    kind: kind.kind,
    namespace: metadata.site === '' ? '' : `site-${metadata.site}`,
    name: metadata.name,
    revision: typeof counted === 'number' ? counted : metadata.generation,
    digest: canonicalDigest(spec),
  };
}
