/**
 * An audit record as a message: its text is the canonical record whose SHA-256 is `hash`, so a receiver can check one by itself and the chain by
 * `previousHash`. One that is longer than a receiver takes is cut to what it is about, and says so: its hash stands for the whole of it.
 */
import { recordOf } from '../ledger/archive-format.js';
import { framed, type Severity, type SyslogSource } from './message.js';

export interface RecordMessage {
  readonly sequence: number;
  /** Wall ms. */
  readonly at: number;
  readonly result: string;
  /** Canonical JSON without `hash`. */
  readonly body: string;
  readonly hash: Buffer;
}

export interface RecordFormat {
  readonly source: SyslogSource;
  /** Of one message, without its octet count. */
  readonly messageBytesMax: number;
}

const MSG_ID = 'AUDIT';
const SEVERITY_OF: Readonly<Record<string, Severity>> = { Rejected: 'notice', Failed: 'warning' };
const SHORT = ['sequence', 'timestamp', 'site', 'action', 'category', 'result', 'accountId', 'actorType', 'correlationID', 'previousHash'] as const;
/** Ten of them and a target leave room for the head of the message in the 2048 octets that every receiver takes. */
const SHORT_TEXT_MAX = 64;
/** Octets before the message itself: the count and a space. */
const COUNT_OCTETS = 8;

export function recordFrame(row: RecordMessage, { source, messageBytesMax }: RecordFormat): string {
  const whole = frame(row, source, row.body, {});
  if (whole.length <= messageBytesMax + COUNT_OCTETS) return whole;
  return frame(row, source, shortened(row.body), { cut: 'true', octets: Buffer.byteLength(row.body) });
}

function frame({ sequence, at, result, hash }: RecordMessage, source: SyslogSource, text: string, more: Readonly<Record<string, string | number>>): string {
  return framed(source, {
    severity: SEVERITY_OF[result] ?? 'informational',
    at: instantOf(at),
    msgId: MSG_ID,
    data: { sequence, hash: hash.toString('hex'), ...more },
    text,
  });
}

function shortened(body: string): string {
  const record = recordOf(body) ?? {};
  const target = (record.target ?? {}) as Readonly<Record<string, unknown>>;
  const members = SHORT.flatMap((name) => (record[name] === undefined ? [] : [[name, short(record[name])] as const]));
  return JSON.stringify({ ...Object.fromEntries(members), target: { kind: short(target.kind), name: short(target.name), site: short(target.site) } });
}

function short(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll(/[^ -~]/g, '?').slice(0, SHORT_TEXT_MAX) : value;
}

function instantOf(at: number): string {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? new Date(at).toISOString() : '';
}
