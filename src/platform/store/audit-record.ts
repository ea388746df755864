/** Audit records as domains write them (decisions Q-TAG-16). Sequence, hash and chain are added by store and ledger. */
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

/** The served form. */
export interface AuditRecord extends AuditEvent, Actor {
  readonly name: string;
  readonly sequence: number;
  readonly timestamp: string;
  readonly previousHash: string;
  readonly hash: string;
}

export { auditName } from '../base/audit-name.js';

/** An actor that is a part of the product, for example `batch-controller`. */
export function component(name: string): Actor {
  return { accountId: `component:${name}`, displayName: name, actorType: 'component', component: name };
}
