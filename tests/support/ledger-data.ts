/** Small transactions for tests of ledger, store and queries. */
import type { LedgerTransaction } from '../../src/platform/ledger/protocol.js';
import type { UnchainedAudit } from '../../src/platform/store/audit-record.js';
import { auditName } from '../../src/platform/store/audit-record.js';
import type { Resource } from '../../src/platform/store/resource.js';

export function transaction(parts: Partial<LedgerTransaction>): LedgerTransaction {
  return { puts: [], removes: [], audits: [], facts: [], nonces: [], ...parts };
}

export function auditDraft(sequence: number, more: Partial<UnchainedAudit> = {}): UnchainedAudit {
  return {
    name: auditName(sequence),
    sequence,
    timestamp: new Date(Date.UTC(2026, 0, 31, 9, 0, 0) + sequence * 1000).toISOString(),
    site: 'north',
    accountId: 'acc-1',
    displayName: 'Ann Op',
    actorType: 'human',
    action: 'Update',
    category: 'unit',
    target: { kind: 'Unit', name: `u${sequence % 10}`, site: 'north' },
    result: 'Success',
    correlationID: `corr-${Math.floor(sequence / 2)}`,
    ...more,
  };
}

export function resource(kind: string, site: string, name: string, version: number, spec: unknown = { a: version }): Resource {
  return {
    kind,
    metadata: {
      name,
      site,
      uid: `uid-${name}`,
      labels: {},
      annotations: {},
      ownerReferences: [],
      generation: 1,
      resourceVersion: version,
      createdAt: '2026-01-31T09:00:00.000Z',
      updatedAt: '2026-01-31T09:00:00.000Z',
    },
    spec,
    status: {},
  };
}
