/**
 * The value of the anti-replay header (contract 1, Anti-replay): fresh for every mutation. `crypto.randomUUID` exists only
 * in a secure context, and a panel may reach the box by plain HTTP in the plant network.
 */
export function nonce(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
