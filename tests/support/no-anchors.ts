import type { AuditAnchors } from '../../src/domains/audit/anchors.js';

/** A box that keeps no ends of its trail elsewhere. */
export const NO_ANCHORS: Pick<AuditAnchors, 'check'> = { check: async () => ({ configured: false, checked: 0, newest: null, problems: [], note: 'none are kept' }) };
