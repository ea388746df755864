/**
 * Step 6: the anti-replay header (contract 1, Anti-replay header; decisions NONCE). The nonce is recorded when the request
 * is admitted; a later refusal still spends it. Its hash goes to the ledger no later than whatever the handler commits, and
 * the ledger commits in order: nothing a handler made durable can outlive the memory of its nonce (D-NONCE-01).
 */
import { Refusal } from '../../base/refusal.js';
import { Nonces } from '../nonces.js';
import { WireRefusal } from '../status.js';
import type { Barrier } from './barrier.js';

const HEADER = 'x-dcs-nonce';
const WELL_FORMED = /^[\x21-\x7e]{8,128}$/; // decisions Q-NONCE-01

export const antiReplay: Barrier = (exchange, { nonces, clock, store }) => {
  if (!exchange.row.mutating) return undefined;
  if (nonces) {
    const { headers } = exchange.incoming;
    const nonce = headers.get(HEADER);
    if (nonce === undefined || nonce.trim() === '') throw nonceRefusal(400, 'missing required X-DCS-Nonce header');
    if (headers.repeats(HEADER) || !WELL_FORMED.test(nonce)) throw nonceRefusal(400, 'invalid X-DCS-Nonce header');
    const hash = Nonces.hash(nonce);
    const admission = nonces.admit(hash, exchange.row.public);
    if (admission === 'duplicate') throw nonceRefusal(409, 'duplicate request nonce');
    if (admission === 'full') throw new Refusal('unavailable', 'the memory of request nonces is full', { code: 'nonce_store_full', retryAfterSeconds: 1 });
    store.admit({ hash, atMs: clock.wallMs() }, exchange.row.bound.row.whileStorageRefuses);
  }
  exchange.admitted = true;
  return undefined;
};

/** D-NONCE-02: these bodies carry exactly `error` and `status`. */
function nonceRefusal(status: 400 | 409, message: string): WireRefusal {
  return new WireRefusal(status, status === 400 ? 'invalid' : 'conflict', message);
}
