/** Audit records as domains write them (decisions Q-TAG-16). Sequence, hash and chain are added by store and ledger. */
import { auditName } from '../base/audit-name.js';
import { asUnicodeText } from '../base/short-text.js';

export const AUDIT_RESULTS = ['Accepted', 'Success', 'Rejected', 'Failed'] as const;
export type AuditResult = (typeof AUDIT_RESULTS)[number];

export const AUDIT_ACTIONS = [
  'Create',
  'Update',
  'Delete',
  'Command',
  'Acknowledge',
  'Shelve',
  'Unshelve',
  'PromptAcknowledge',
  'ExternalResult',
  'Execute',
  'Sign',
  'Lifecycle',
  'Request',
  'Login',
  'Logout',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export interface AuditTarget {
  readonly kind: string;
  readonly name: string;
  readonly site: string;
}

export const ACTOR_TYPES = ['human', 'apiKey', 'component'] as const;

/** Who acts: a person, an API key, or a component of the product (`component` set). */
export interface Actor {
  readonly accountId: string;
  readonly displayName: string;
  readonly actorType: (typeof ACTOR_TYPES)[number];
  readonly component?: string | undefined;
  readonly sourceIP?: string | undefined;
}

/** What happened, as whoever did it tells it. */
interface AuditEvent {
  readonly site: string;
  readonly action: AuditAction;
  readonly category: string;
  readonly target: AuditTarget;
  readonly result: AuditResult;
  /** Code of a refusal, PascalCase. */
  readonly reason?: string | undefined;
  readonly operatorReason?: string | undefined;
  readonly rule?: string | undefined;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly signature?: Readonly<Record<string, unknown>> | undefined;
  readonly correlationID: string;
}

export interface AuditDraft extends AuditEvent {
  readonly actor: Actor;
}

type Writable<T> = { -readonly [Member in keyof T]: T[Member] };

/** The served form. */
export interface AuditRecord extends AuditEvent, Actor {
  readonly name: string;
  readonly sequence: number;
  readonly timestamp: string;
  readonly previousHash: string;
  readonly hash: string;
}

export { auditName };

/** A record before it is chained: the ledger adds previousHash and hash (SHA-256 over RFC 8785 JSON). */
export type UnchainedAudit = Omit<AuditRecord, 'previousHash' | 'hash'>;

/** An actor that is a part of the product, for example `batch-controller`. */
export function component(name: string): Actor {
  return { accountId: `component:${name}`, displayName: name, actorType: 'component', component: name };
}

/** The record of a draft; members that say nothing are left out. */
export function auditOf(draft: AuditDraft, sequence: number, timestamp: string, details: AuditDraft['details']): UnchainedAudit {
  const { actor, reason, operatorReason, rule, before, after, signature } = draft;
  const record: Writable<UnchainedAudit> = {
    name: auditName(sequence),
    sequence,
    timestamp,
    site: draft.site,
    accountId: actor.accountId,
    displayName: actor.displayName,
    actorType: actor.actorType,
    action: draft.action,
    category: draft.category,
    target: named(draft.target),
    result: draft.result,
    correlationID: draft.correlationID,
  };
  if (actor.component !== undefined) record.component = actor.component;
  if (actor.sourceIP !== undefined) record.sourceIP = actor.sourceIP;
  if (reason !== undefined) record.reason = reason;
  if (operatorReason !== undefined) record.operatorReason = operatorReason;
  if (rule !== undefined) record.rule = rule;
  if (before !== undefined) record.before = before;
  if (after !== undefined) record.after = after;
  if (details !== undefined) record.details = details;
  if (signature !== undefined) record.signature = signature;
  return record;
}

/** A name that is no Unicode text would be kept as another one than the chain tells of, and break it for good. */
function named(target: AuditTarget): AuditTarget {
  const name = asUnicodeText(target.name);
  return name === target.name ? target : { ...target, name };
}
