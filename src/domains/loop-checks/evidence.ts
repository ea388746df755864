/** How the sheets of loop checks and the pages of cable acceptances are found and served, and who may conduct one. */
import * as v from 'valibot';
import { missing } from '../../platform/base/refusal.js';
import { actorOf, type Caller } from '../../platform/http/caller.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { Kind, StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { IOModule } from '../io-modules/kind.js';
import type { SigningKeys } from '../signatures/signature.js';
import type { EvidenceStatus } from './evidence-kind.js';
import type { ModuleResource } from './permission.js';
import type { Conductor } from './run.js';
import { sheetProblems } from './sheet.js';
import { type SignedSheet, SheetSignature, signaturesOf } from './sheet-signatures.js';

/** Parameters of the routes. */
export type OfModule = { readonly site: string; readonly name: string };
export type OfSheet = OfModule & { readonly id: string };

export const MODULE = '/api/v1/sites/{site}/iomodules/{name}';
export const NOTE_CHARACTERS_MAX = 500;

type Evidence<Spec, Phase extends string> = Kind<Spec, EvidenceStatus<Phase>>;
type Aimed = { readonly module: string };

/** @throws Refusal 404. */
export function moduleOf(read: StoreReader, { site, name }: OfModule): ModuleResource {
  const module = read.get(IOModule, site, name);
  if (!module) throw missing('IOModule', name);
  return module;
}

/** They outlive their module. */
export function sheetsOf<Spec extends Aimed, Phase extends string>(
  read: StoreReader,
  kind: Evidence<Spec, Phase>,
  { site, name }: OfModule,
): Resource<Spec, EvidenceStatus<Phase>>[] {
  return read.list(kind, site).filter(({ spec }) => spec.module === name);
}

/** @throws Refusal 404 where there is no such module, and none was there that has left a sheet. */
export function refuseUnknownModule<Spec extends Aimed, Phase extends string>(read: StoreReader, kind: Evidence<Spec, Phase>, params: OfModule): void {
  if (sheetsOf(read, kind, params).length === 0) moduleOf(read, params);
}

/** @throws Refusal 404. */
export function sheetOf<Spec extends Aimed, Phase extends string>(
  read: StoreReader,
  kind: Evidence<Spec, Phase>,
  { site, name, id }: OfSheet,
): Resource<Spec, EvidenceStatus<Phase>> {
  const sheet = read.get(kind, site, id);
  if (!sheet || sheet.spec.module !== name) throw missing(kind.kind, id);
  return sheet;
}

/** Whoever asks, as he conducts and signs. */
export function conductorOf(caller: Caller, sourceIP: string): Conductor {
  const { accountId, displayName, groups, issuedAtMs } = caller;
  return { signatory: { accountId, displayName, groups, issuedAtMs }, actor: actorOf(caller, sourceIP), caller };
}

/** Members of a body that tell of its sealing. */
export const Sealing = v.strictObject({
  /** Of the whole sheet; '' until it is sealed. */
  digest: v.string(),
  sealedAt: v.string(),
  /** Id of the signature; '' until it is sealed. */
  signature: v.string(),
  signedBy: v.string(),
  /** All of them: whoever has sealed it, and witnesses. */
  signatures: v.array(SheetSignature),
  /** Whether it still is what was signed, and why not. */
  valid: v.boolean(),
  problems: v.array(v.string()),
});
export type Sealing = ToldBy<typeof Sealing>;

export function sealingOf(sheet: SignedSheet, read: StoreReader, keys: SigningKeys): Sealing {
  const { spec, status } = sheet;
  const isSealed = status.phase === 'Sealed';
  const problems = isSealed ? sheetProblems(sheet, keys) : [];
  return {
    digest: status.digest === '' ? '' : canonicalDigest(spec),
    sealedAt: status.sealedAt,
    signature: status.signature?.id ?? '',
    signedBy: status.signature?.signer.displayName ?? '',
    signatures: signaturesOf(sheet, read, keys),
    valid: isSealed && problems.length === 0,
    problems,
  };
}
