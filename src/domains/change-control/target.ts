/** What a change request speaks of: its kind, where it stands, and the digest by which one sees whether it has changed since. */
import { MODES } from '../../../runtime/vocabulary/modes.js';
import { invalid, Refusal } from '../../platform/base/refusal.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { Alarm } from '../alarms/kind.js';
import type { AnyKind, AppliedKinds } from '../apply/kinds.js';
import { ChangeRequest, type ChangeRequestSpec } from './kind.js';

export interface TargetPlace {
  readonly kind: AnyKind;
  /** '' of what belongs to no site. */
  readonly site: string;
  readonly name: string;
}

/** What is configured; what runs, what has happened and a request itself are nobody's to ask for. */
export function isChangeable(kind: AnyKind): boolean {
  return !kind.runs && kind.kind !== Alarm.kind && kind.kind !== ChangeRequest.kind;
}

/** @throws Refusal 400 for a kind that no change request can name. */
export function targetOf({ target }: Pick<ChangeRequestSpec, 'target'>, site: string, kinds: AppliedKinds): TargetPlace {
  const kind = kinds.named(target.kind);
  if (!kind || !isChangeable(kind)) {
    const allowed = kinds.all.filter(isChangeable).map((each) => each.kind);
    throw invalid('invalid_field', 'spec.target.kind', `a change request cannot name a ${target.kind}; it can name what is configured: ${allowed.join(', ')}`, { allowed });
  }
  return { kind, site: kind.scope === 'site' ? site : '', name: target.name };
}

export function present({ kind, site, name }: TargetPlace, read: StoreReader): Resource<unknown, unknown> | undefined {
  return read.get(kind, site, name) as Resource<unknown, unknown> | undefined;
}

/**
 * D(spec) as it is shown; '' where there is none. The equipment mode stands in the spec, and an operator who sets it changes nothing that
 * was asked for; a secret is never told, so that no digest tells whether it was guessed.
 */
export function digestOf(kind: AnyKind, spec: unknown): string {
  return spec === undefined ? '' : shownDigest(kind.redact?.(spec) ?? spec);
}

/** '' stands in a spec whose mode nobody has set yet. */
const OF_OPERATORS: readonly unknown[] = ['', ...MODES];

/** Of a spec as an audit record shows it. */
export function shownDigest(spec: unknown): string {
  const { mode, ...rest } = spec as { readonly mode?: unknown };
  return canonicalDigest(OF_OPERATORS.includes(mode) ? rest : spec);
}

/** Where it lies for whoever is confined to sites: a site lies in itself. */
export function scopeOf({ kind, site, name }: TargetPlace): string {
  return kind.kind === 'Site' ? name : site;
}

/** @throws Refusal 403 `action_missing`. */
export function requireAction(caller: { may(action: string): boolean }, action: string, what: string): void {
  if (!caller.may(action)) throw new Refusal('forbidden', `${what} needs the action ${action}`, { code: 'action_missing', action });
}
