/**
 * Requests whose credential a browser adds by itself, or that no CORS rule stops (the cookie of `auth/refresh`, a WebSocket
 * upgrade), are taken from our own pages and from `gateway.cors.allowedOrigins` only. Programs send no Origin.
 */
import { Refusal } from '../../base/refusal.js';
import type { Barrier } from './barrier.js';

export const origin: Barrier = (exchange, { allowedOrigins }) => {
  const { row } = exchange.row.bound;
  if (row.stream !== 'websocket' && row.ownPagesOnly !== true) return undefined;
  const { headers, host } = exchange.incoming;
  const given = headers.get('origin');
  if (given === undefined || allowedOrigins.includes(given) || (host !== undefined && isOrigin(given, host))) return undefined;
  throw new Refusal('forbidden', 'pages of another origin may not do this; gateway.cors.allowedOrigins lists those that may', { code: 'foreign_origin' });
};

/** The scheme is left out: behind a proxy that ends TLS the gateway does not know it. */
function isOrigin(given: string, host: string): boolean {
  const [, authority] = /^https?:\/\/([^/]+)$/i.exec(given) ?? [];
  return authority !== undefined && bare(authority) === bare(host);
}

function bare(host: string): string {
  return host.toLowerCase().replace(/:(80|443)$/, '');
}
