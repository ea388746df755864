/** Names of audit records (decisions Q-TAG-16): `audit-` and the 12-digit sequence. */
const NAME = /^audit-(\d{12,15})$/;

export function auditName(sequence: number): string {
  return `audit-${String(sequence).padStart(12, '0')}`;
}

/** The sequence of a name; undefined for any other text. */
export function auditSequence(name: string): number | undefined {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
