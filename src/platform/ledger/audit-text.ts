/**
 * The canonical text (RFC 8785) of an audit record, in two parts: `previousHash`, which only the ledger knows, stands
 * between them. Whoever numbers a record writes its text once; the ledger puts the parts together, hashes and stores them.
 *
 * The members of a record are known (decisions Q-TAG-16), so their order is written here instead of being found by
 * sorting: UTF-16 code units, as `canonicalJson` has it. Words of ours, names and times hold nothing that JSON escapes. What a caller put into a member is written by `canonicalText`.
 */
import { canonicalText, quoted } from './canonical-json.js';
import type { UnchainedAudit } from '../store/audit-record.js';
import type { WrittenAhead } from './written-ahead.js';

export interface AuditText {
  /** Up to and with the opening quote of `previousHash`. */
  readonly head: string;
  /** From the closing quote on. */
  readonly tail: string;
}

export function auditText(record: UnchainedAudit, ahead?: WrittenAhead): AuditText {
  return { head: headOf(record, ahead), tail: tailOf(record) };
}

function headOf(record: UnchainedAudit, ahead: WrittenAhead | undefined): string {
  const { after, before, component, details, operatorReason } = record;
  let text = `{"accountId":${quoted(record.accountId)},"action":"${record.action}","actorType":"${record.actorType}"`;
  if (after !== undefined) text += `,"after":${ahead?.canonical(after) ?? canonicalText(after)}`;
  if (before !== undefined) text += `,"before":${ahead?.canonical(before) ?? canonicalText(before)}`;
  text += `,"category":${quoted(record.category)}`;
  if (component !== undefined) text += `,"component":${quoted(component)}`;
  text += `,"correlationID":${quoted(record.correlationID)}`;
  if (details !== undefined) text += `,"details":${canonicalText(details)}`;
  text += `,"displayName":${quoted(record.displayName)},"name":"${record.name}"`;
  if (operatorReason !== undefined) text += `,"operatorReason":${quoted(operatorReason)}`;
  return `${text},"previousHash":"`;
}

function tailOf(record: UnchainedAudit): string {
  const { reason, rule, signature, sourceIP, target } = record;
  let text = '"';
  if (reason !== undefined) text += `,"reason":${quoted(reason)}`;
  text += `,"result":"${record.result}"`;
  if (rule !== undefined) text += `,"rule":${quoted(rule)}`;
  text += `,"sequence":${record.sequence}`;
  if (signature !== undefined) text += `,"signature":${canonicalText(signature)}`;
  text += `,"site":${quoted(record.site)}`;
  if (sourceIP !== undefined) text += `,"sourceIP":${quoted(sourceIP)}`;
  return `${text},"target":{"kind":${quoted(target.kind)},"name":${quoted(target.name)},"site":${quoted(target.site)}},"timestamp":"${record.timestamp}"}`;
}
