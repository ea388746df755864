/** One signature by its id or digest, and all over one thing, each as the trail tells of it and as it is worth now. */
import { missing } from '../../platform/base/refusal.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { SignatureDeps } from './deps.js';
import { SignatureRecord, type SignatureResource, type SignedRecord } from './kind.js';
import type { Subject } from './state.js';
import { kindOf, lendTarget, type Target } from './target.js';
import { isGiven, type JudgeParts, signedIn, storedSignature, type Told, toldSignatures, type ToldSignature, trailOf } from './told.js';

export interface FollowDeps extends Pick<SignatureDeps, 'store' | 'keys' | 'kinds'> {
  readonly queries: Pick<LedgerQueries, 'auditPage'>;
}

/** An id, or a digest. */
const NAME = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64})$/;
/** Records that name a signature: its own, and those that refer to it. */
const TEXT_HITS_MAX = 20;
/** Actions of the records of those that were given, and of their withdrawals; of the others something came, whose record is another. */
const actionsOf = ({ spec }: SignatureResource): readonly string[] => (isGiven(spec.record) ? ['Sign'] : ['Sign', 'Execute']);

/** @throws Refusal 404. */
export async function followed(deps: FollowDeps, named: string): Promise<ToldSignature> {
  if (!NAME.test(named)) throw missing('signature', named);
  const stored = deps.store.get(SignatureRecord, '', named);
  if (stored) return followStored(deps, stored);
  const { items } = await deps.queries.auditPage({ text: named, order: 'asc', limit: TEXT_HITS_MAX });
  const own = items.find((record) => {
    const signed = record.result === 'Success' ? signedIn(record) : undefined;
    return signed?.record.id === named || signed?.digest === named;
  });
  const id = own && signedIn(own)?.record.id;
  if (!own || id === undefined) throw missing('signature', named);
  const kept = deps.store.get(SignatureRecord, '', id);
  if (kept) return followStored(deps, kept);
  await lendTarget(deps, own.target);
  const [told] = toldSignatures({ items: [own], unreadable: [] }, judgeParts(deps));
  if (!told) throw missing('signature', named);
  return told;
}

/** As all that concerns its target tells of it: a withdrawal is told there. */
async function followStored(deps: FollowDeps, stored: SignatureResource): Promise<ToldSignature> {
  return asTold(deps, stored, await trailOf(deps.queries, stored.spec.target, actionsOf(stored)));
}

async function asTold(deps: FollowDeps, { metadata: { name: id }, spec }: SignatureResource, told: Told): Promise<ToldSignature> {
  const own = told.items.find((record) => signedIn(record)?.record.id === id);
  await lendTarget(deps, spec.target);
  return storedSignature(id, own, told, judgeParts(deps));
}

/** Some of those that are kept, in their order: the trail is asked once of each thing that is signed, however many have signed it. */
export async function followedTogether(deps: FollowDeps, ids: readonly string[]): Promise<ToldSignature[]> {
  const asked = new Map<string, Promise<Told>>();
  const signatures: ToldSignature[] = [];
  for (const id of ids) {
    const stored = deps.store.get(SignatureRecord, '', id);
    if (!stored) throw missing('signature', id);
    const key = JSON.stringify([stored.spec.target, actionsOf(stored)]);
    let telling = asked.get(key);
    if (!telling) asked.set(key, (telling = trailOf(deps.queries, stored.spec.target, actionsOf(stored))));
    signatures.push(await asTold(deps, stored, await telling));
  }
  return signatures;
}

/** Every signature over one thing, also those that its life cycle and its seal carry; oldest first. */
export async function signaturesOver(deps: FollowDeps, target: Target): Promise<ToldSignature[]> {
  const told = await trailOf(deps.queries, target);
  await lendTarget(deps, target);
  return toldSignatures(told, judgeParts(deps));
}

export function judgeParts({ store, keys, kinds }: Pick<FollowDeps, 'store' | 'keys' | 'kinds'>): JudgeParts {
  const subject = ({ kind, name, namespace }: SignedRecord['subject']): Subject | 'unjudged' => {
    const known = kindOf(kinds, kind);
    return known ? store.get(known, namespace.replace(/^site-/, ''), name) : 'unjudged';
  };
  return { read: store, keys, subject };
}
