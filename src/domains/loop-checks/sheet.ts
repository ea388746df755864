/** How a sheet is judged, sealed and verified (decisions 8.6): what it holds is signed as it is, and is never written again. Pure. */
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import { isSignatureValid, sign, type Signatory, type SigningKeys } from '../signatures/signature.js';
import type { SignedRecord } from '../signatures/kind.js';
import { judgeLoop, judgeReadings, type Judged, type Trace } from './judge.js';
import type { LoopChannel, LoopReading, LoopSheet } from './kind.js';
import { toleranceOf } from './loop-observer.js';

/** Readings of one follower over the steps of an output. */
function rowsOf(channel: LoopChannel): ReadonlyMap<string, LoopReading[]> {
  const rows = new Map<string, LoopReading[]>();
  for (const { readings } of channel.steps) {
    for (const reading of readings) {
      const key = `${reading.source} ${reading.channel}`;
      rows.set(key, [...(rows.get(key) ?? []), reading]);
    }
  }
  return rows;
}

/** An output that shows nothing of itself is judged by its input alone. */
function judgedRows(channel: LoopChannel, settleMs: number, tolerance: number): Judged[] {
  const rows = [...rowsOf(channel).values()];
  const isSilent = (readings: readonly LoopReading[]): boolean => readings.every(({ source, value }) => source === 'output' && value === null);
  const speaking = rows.length > 1 ? rows.filter((readings) => !isSilent(readings)) : rows;
  const isBool = channel.dataType === 'bool';
  return speaking.map((readings) =>
    judgeReadings(readings, { settleMs, isBool, tolerance: toleranceOf(channel, tolerance, readings[0]?.source === 'input' ? (channel.input?.gain ?? 1) : 1) }),
  );
}

/** A register that gives back what was written to it shows nothing of the loop behind it. */
function seenByOthers({ channel, steps }: LoopChannel, judged: Judged): Judged {
  const isEcho = judged.outcome === 'pass' && steps.every(({ readings }) => readings.every(({ source }) => source === 'output'));
  return isEcho
    ? { ...judged, outcome: 'no-readback', message: `only the register of ${channel} itself shows it: give it a readbackAddress, or name the input that is wired to it` }
    : judged;
}

/** The output with its outcome; all of its steps were taken. */
export function judged(channel: LoopChannel, { settleMs, tolerance }: Pick<LoopSheet, 'settleMs' | 'tolerance'>, others: readonly Trace[]): LoopChannel {
  const commanded = channel.steps.map((step) => Number(step.commanded));
  const { outcome, message, moved, factor, offset } = seenByOthers(channel, judgeLoop(commanded, judgedRows(channel, settleMs, tolerance), others));
  return { ...channel, outcome, message, moved: [...moved], ...(factor === undefined ? {} : { factor }), ...(offset === undefined ? {} : { offset }) };
}

export function outcomeOf({ channels, end }: Pick<LoopSheet, 'channels' | 'end'>): LoopSheet['outcome'] {
  if (channels.some(({ outcome }) => outcome !== 'pass' && outcome !== 'not-checked')) return 'fault';
  return end?.reason === 'complete' && channels.every(({ outcome }) => outcome === 'pass') ? 'pass' : 'incomplete';
}

/** What is sealed: a sheet of a loop check, or the page of an acceptance. */
export interface Sealing {
  readonly kind: string;
  readonly name: string;
  readonly site: string;
  readonly revision: number;
  readonly spec: { readonly reason: string; readonly module: string; readonly outcome: string; readonly end: { readonly reason: string } | null };
  /** What it has found, in short. */
  readonly found: Readonly<Record<string, unknown>>;
  readonly by: Signatory;
  readonly at: string;
}

export function sealed({ kind, name, site, revision, spec, found, by, at }: Sealing, keys: SigningKeys): { readonly record: SignedRecord; readonly digest: string } {
  const { module, outcome, end, reason } = spec;
  return sign(
    {
      meaning: 'qualification',
      signatory: by,
      reason,
      signedAt: at,
      subject: { apiVersion: 'record.lineside.io/v1alpha1', kind, namespace: `site-${site}`, name, revision, digest: canonicalDigest(spec) },
      content: { action: 'seal', ioModule: module, outcome, end: end?.reason ?? '', ...found },
    },
    keys,
  );
}

/** What both kinds of sheets have of a sealing. */
export interface SealedSheet {
  readonly metadata: { readonly name: string };
  readonly spec: unknown;
  readonly status: { readonly phase: string; readonly digest: string; readonly signature: SignedRecord | null };
}

/** Of a sheet that nothing was driven out of and nobody has signed. */
function alteredBecause(spec: unknown): string | undefined {
  const { end } = spec as { readonly end?: { readonly reason: string; readonly message: string } | null };
  return end?.reason === 'altered' ? end.message : undefined;
}

/** Why a sealed sheet is not what was signed, one sentence each; none when it is. */
export function sheetProblems({ metadata, spec, status }: SealedSheet, keys: SigningKeys): string[] {
  const { signature, digest } = status;
  if (status.phase !== 'Sealed') return ['it is not sealed yet'];
  if (!signature) return [alteredBecause(spec) ?? 'it has no signature'];
  const found = canonicalDigest(spec);
  return [
    ...(found === digest ? [] : ['its content does not have its digest']),
    ...(isSignatureValid(signature, keys) ? [] : ['its signature is not one of this appliance']),
    ...(signature.subject.digest === found && signature.subject.name === metadata.name ? [] : ['its content is not what was signed']),
  ];
}
