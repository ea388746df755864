/** Why an element failed, or is held by a failure of its own, as its status keeps it. */

export interface ElementFailure {
  readonly class: 'hold' | 'fail';
  readonly rule: string;
  readonly message: string;
  readonly step: string;
  readonly since: string;
  readonly active: boolean;
  readonly auditRecordRef: string;
  /** Of an `alarm-exception`: the alarms that have commanded the root since it was last started. */
  readonly alarms?: readonly string[];
}
