/** How a write that did not end well is told in the audit trail: refused by the device, never sent, or nobody knows. Pure. */
import type { HoldRefusal, ProbeOutbound } from '../../../runtime/port.js';

type Answer = Pick<Extract<ProbeOutbound, { type: 'write-result' | 'hold-result' }>, 'message'> & {
  readonly code?: WriteCode;
  readonly isUnknown?: boolean;
};
type WriteCode = HoldRefusal | NonNullable<Extract<ProbeOutbound, { type: 'write-result' }>['code']>;

export interface WriteFailure {
  readonly verdict: { readonly result: 'Rejected' | 'Failed'; readonly reason: string };
  readonly details: { readonly code: WriteCode; readonly message: string };
}

/** A probe that was asked and says nothing may still have written. */
export const SILENT_PROBE = 'the probe of the module does not answer';

const REJECTED: Readonly<Partial<Record<WriteCode, string>>> = { outputs_withheld: 'OutputsWithheld', not_held: 'OutputsWithheld', fail_safe_taken: 'FailSafeTaken' };
const FAILED: Readonly<Partial<Record<WriteCode, string>>> = { device_unreachable: 'DeviceUnreachable', invalid_value: 'InvalidValue', unknown_channel: 'UnknownChannel' };

/** Of an answer that is not `ok`, or did not come. */
export function failureOf(answer: Answer | undefined): WriteFailure {
  const code = answer?.code ?? (answer ? 'device_write_failed' : 'device_unreachable');
  const details = { code, message: answer?.message ?? SILENT_PROBE };
  const rejected = REJECTED[code];
  if (rejected !== undefined) return { verdict: { result: 'Rejected', reason: rejected }, details };
  const isUnknown = answer ? answer.isUnknown === true : true;
  return { verdict: { result: 'Failed', reason: isUnknown ? 'OutcomeUnknown' : (FAILED[code] ?? 'DeviceRefused') }, details };
}
