/** What may speak for a change (decisions Q-CHANGE-01, ADR 0112): what is stored with a digest, and is what the request says it is. */
import { invalid } from '../../platform/base/refusal.js';
import type { Kind, StoreReader } from '../../platform/store/kind.js';
import type { Ref, Resource } from '../../platform/store/resource.js';
import { CableAcceptance } from '../loop-checks/cable-kind.js';
import { LoopCheck } from '../loop-checks/kind.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { BatchRecord } from '../records/kind.js';
import { RecipeRevision } from '../recipes/kind.js';
import { SignatureRecord } from '../signatures/kind.js';
import type { ChangeRequestSpec } from './kind.js';

interface EvidenceKind {
  readonly kind: string;
  /** '' where the kind belongs to no site. */
  place(site: string): string;
  /** '' of what is not sealed. */
  digestIn(read: StoreReader, site: string, name: string): string | undefined;
}

function evidence<Spec, Status>(kind: Kind<Spec, Status>, digestOf: (resource: Resource<Spec, Status>) => string): EvidenceKind {
  const place = (site: string): string => (kind.scope === 'site' ? site : '');
  return {
    kind: kind.kind,
    place,
    digestIn(read, site, name) {
      const found = read.get(kind, place(site), name);
      return found && digestOf(found);
    },
  };
}

export const EVIDENCE_KINDS: readonly EvidenceKind[] = [
  evidence(SignatureRecord, ({ spec }) => spec.digest),
  evidence(BatchRecord, ({ status }) => status.digest),
  evidence(LoopCheck, ({ status }) => status.digest),
  evidence(CableAcceptance, ({ status }) => status.digest),
  evidence(RecipeRevision, ({ spec }) => canonicalDigest(spec)),
];

/** What of it may be past, and is lent before it is looked at. */
export function pastEvidence({ evidence: named }: Pick<ChangeRequestSpec, 'evidence'>, site: string): readonly Ref[] {
  return named.filter(({ kind }) => kind === BatchRecord.kind).map(({ kind, name }) => ({ kind, site, name }));
}

/** @throws Refusal 400 naming the first that is not there, or is something else. */
export function checkEvidence({ evidence: named }: Pick<ChangeRequestSpec, 'evidence'>, site: string, read: StoreReader): void {
  named.forEach(({ kind, name, digest }, at) => {
    const field = `spec.evidence[${at}]`;
    const known = EVIDENCE_KINDS.find((each) => each.kind === kind);
    if (!known) {
      const allowed = EVIDENCE_KINDS.map((each) => each.kind);
      throw invalid('invalid_field', `${field}.kind`, `a ${kind} is not stored with a digest; what can speak for a change is ${allowed.join(', ')}`, { allowed });
    }
    const stored = known.digestIn(read, site, name);
    if (stored === undefined) throw invalid('unknown_reference', `${field}.name`, `${kind} ${name} does not exist in site ${site}`, { kind, name });
    if (stored === '') throw invalid('invalid_field', `${field}.name`, `${kind} ${name} is not sealed yet, and may still change; seal it first`);
    if (stored !== digest) throw invalid('invalid_field', `${field}.digest`, `${kind} ${name} has the digest ${stored}, and the request says ${digest}`);
  });
}
