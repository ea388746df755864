/** Native keys of age, and those that stand a quantum computer; others need a plugin. */
const RECIPIENT = /^age1(pq1)?[0-9a-z]{40,3000}$/;

export function isRecipient(text: string): boolean {
  return RECIPIENT.test(text);
}
