/** A new change request, by whichever way it comes: judged, signed by who sends it, and given its time (CHANGE-01 to 03, APPLY-06 to 08). */
import { timestamp, type Clock } from '../../platform/base/clock.js';
import { assert } from '../../platform/base/assert.js';
import { conflict, invalid, Refusal, refusalsOf } from '../../platform/base/refusal.js';
import type { Terms } from '../../platform/base/term.js';
import { canonicalText } from '../../platform/ledger/canonical-json.js';
import { isDeepStrictEqual } from 'node:util';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import { checkApiVersion } from '../../platform/store/envelope.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { decodeSpec } from '../apply/judging.js';
import { ROUTELESS_KINDS, type AppliedKinds } from '../apply/kinds.js';
import { readManifest, siteOfManifest } from '../apply/manifest.js';
import type { Signatory, SigningKeys } from '../signatures/signature.js';
import { checkEvidence } from './evidence.js';
import { type ChangeMove, ChangeRequest, type ChangeRequestSpec, type ChangeRequestStatus } from './kind.js';
import { createdContent, stampSignature } from './signing.js';
import { digestOf, present, targetOf, type TargetPlace } from './target.js';
import { CHANGE_CATEGORY } from './trail.js';

/** Of one site: more wait for nobody, and each may hold a manifest. */
export const OPEN_MAX = 1000;
/** Canonical text of the proposed resource: it stays in memory as long as the request waits, and a day longer. */
export const MANIFEST_CHARACTERS_MAX = 256 * 1024;

export interface RequestDeps {
  readonly clock: Clock;
  readonly keys: SigningKeys;
  readonly kinds: AppliedKinds;
  readonly terms: Terms;
  /** Setting `changeControl.expiryHours`. */
  readonly lifeMs: number;
  /** Name that the record of the request will have, among those of its change. */
  readonly nextAuditName: (offset: number) => string;
}

export interface Asked {
  readonly site: string;
  readonly name: string;
  readonly spec: ChangeRequestSpec;
  readonly read: StoreReader;
}

export interface NewRequest {
  readonly spec: ChangeRequestSpec;
  readonly status: ChangeRequestStatus;
  readonly audit: Partial<AuditDraft>;
}

/** @throws Refusal 400 of what cannot be asked for, 404 of a target that is not there, 409 of one that is, or of too many that wait. */
export function newRequest({ site, name, spec: asked, read }: Asked, signatory: Signatory, deps: RequestDeps): NewRequest {
  const { clock, keys, kinds, terms, lifeMs } = deps;
  const target = targetOf(asked, site, kinds);
  judgeAsked(asked, target, site, read, kinds);
  const open = read.list(ChangeRequest, site).filter(({ status }) => status.phase === 'Pending').length;
  if (open >= OPEN_MAX) throw conflict('too_many_open', `site ${site} has ${open} change requests that wait for a decision; decide or withdraw some of them`, { limit: OPEN_MAX });
  const at = timestamp(clock.wallMs());
  const spec: ChangeRequestSpec = { ...asked, target: { ...asked.target, kind: target.kind.kind }, signatures: [] };
  const baseDigest = digestOf(target.kind, present(target, read)?.spec);
  const { until, term } = terms.begin(lifeMs);
  assert(term, 'what begins now has its time');
  const move: ChangeMove = {
    ts: at,
    phase: 'Pending',
    by: signatory.displayName,
    reason: asked.reason,
    digestBefore: baseDigest,
    digestAfter: baseDigest,
    auditRecordRef: deps.nextAuditName(0),
  };
  const status: ChangeRequestStatus = {
    phase: 'Pending',
    author: signatory.displayName,
    createdAt: at,
    decidedBy: '',
    decidedAt: '',
    decisionReason: '',
    appliedAt: '',
    error: '',
    baseDigest,
    appliedDigest: '',
    until,
    term: { ...term, from: { ...term.from } },
    moves: [move],
  };
  const signature = stampSignature({ site, name, meaning: 'change-create', signatory, reason: asked.reason, at, spec, content: createdContent({ spec, status }) }, keys);
  const { signatures: _none, ...shown } = spec;
  return {
    spec: { ...spec, signatures: [signature] },
    status,
    audit: {
      site,
      action: 'Create',
      category: CHANGE_CATEGORY,
      target: { kind: ChangeRequest.kind, name, site },
      result: 'Success',
      operatorReason: asked.reason,
      after: shown,
      details: { phase: 'Pending', baseDigest, until },
      signature,
    },
  };
}

function judgeAsked(asked: ChangeRequestSpec, target: TargetPlace, site: string, read: StoreReader, kinds: AppliedKinds): void {
  const { operation, manifest } = asked;
  const { kind, name } = target;
  checkApiVersionOf(asked);
  const isThere = present(target, read) !== undefined;
  if (operation === 'Create' && isThere) throw conflict('already_exists', `${kind.kind} ${name} exists already; ask for an Update`, { kind: kind.kind, name });
  if (operation !== 'Create' && !isThere) {
    const message = `${kind.kind} ${name} does not exist${target.site === '' ? '' : ` in site ${site}`}, so it cannot be ${operation === 'Update' ? 'changed; ask for a Create' : 'deleted'}`;
    throw new Refusal('missing', message, { code: 'not_found', field: 'spec.target.name' });
  }
  if (operation === 'Delete' && manifest !== undefined)
    throw invalid('invalid_field', 'spec.manifest', 'spec.manifest must be left out of a Delete: the approval removes the target');
  if (operation === 'Delete' && (kind.path === undefined || ROUTELESS_KINDS.includes(kind.kind)))
    throw invalid('invalid_field', 'spec.operation', `a ${kind.kind} is not deleted by any route, nor by an approval`);
  if (manifest !== undefined) judgeManifest(manifest, target, site, kinds);
  checkEvidence(asked, site, read);
}

function checkApiVersionOf({ target: { apiVersion } }: ChangeRequestSpec): void {
  const [wrong] = refusalsOf(() => checkApiVersion(apiVersion));
  if (wrong) throw invalid('invalid_field', 'spec.target.apiVersion', wrong.message);
}

/** It says what apply would take, of the target and of nothing else; what it means for others is judged when it is applied. */
function judgeManifest(manifest: unknown, target: TargetPlace, site: string, kinds: AppliedKinds): void {
  const length = canonicalText(manifest).length;
  if (length > MANIFEST_CHARACTERS_MAX)
    throw invalid(
      'invalid_field',
      'spec.manifest',
      `spec.manifest has ${length} characters, and a change request takes ${MANIFEST_CHARACTERS_MAX}; apply large resources in parts`,
    );
  const [refused] = refusalsOf(() => {
    const read = readManifest(manifest, kinds);
    if (read.kind !== target.kind) throw invalid('invalid_field', 'kind', `the manifest is a ${read.kind.kind}, and the target a ${target.kind.kind}`);
    if (read.name !== target.name) throw invalid('invalid_field', 'metadata.name', `the manifest is of ${read.name}, and the target is ${target.name}`);
    if (read.kind.scope === 'site' && siteOfManifest(read, site, null) !== site)
      throw invalid('invalid_field', 'metadata.namespace', `the manifest is of namespace ${read.namespace ?? ''}, and the request of site-${site}`);
    const { spec } = decodeSpec(read.kind, read.spec);
    const shown: unknown = read.kind.redact?.(spec) ?? spec;
    if (!isDeepStrictEqual(shown, spec))
      throw invalid(
        'invalid_field',
        'spec',
        'the manifest holds a secret, and everybody who reads the request would read it: leave it out, and set it at the resource or as a secret of the box',
      );
  });
  if (refused) throw withPrefix(refused);
}

function withPrefix(refusal: Refusal): Refusal {
  const { field } = refusal.context;
  const at = field === undefined ? 'spec.manifest' : `spec.manifest.${field}`;
  return new Refusal(refusal.kind, `${at}: ${refusal.message}`, { ...refusal.context, field: at });
}

/** One that the box gives: behind the highest number that a request of the site has, of those that leave room; what people named so is passed over. */
export function nextName(read: StoreReader, site: string): string {
  let next = 1;
  const names = new Set([...read.list(ChangeRequest, site).map(({ metadata }) => metadata.name), ...read.pastIndex(ChangeRequest, site).map(({ name }) => name)]);
  for (const name of names) next = Math.max(next, 1 + Number(/^change-(\d{1,8})$/.exec(name)?.[1] ?? 0));
  while (names.has(`change-${next}`)) next += 1;
  return `change-${next}`;
}
