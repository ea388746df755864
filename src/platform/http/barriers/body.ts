/**
 * Step 11: size, media type, query form, JSON syntax, fields, reason policy (decisions Q-ERR-06 to Q-ERR-08). A route
 * without a defined body accepts an empty body or `{}`.
 */
import * as v from 'valibot';
import { Refusal } from '../../base/refusal.js';
import type { Exchange } from '../exchange.js';
import { decode, parseJson } from '../json-body.js';
import { checkReason } from '../reason.js';
import { authentication } from './authentication.js';
import type { Barrier, Guard } from './barrier.js';
import { existence } from './existence.js';
import { fence } from './fence.js';
import { requireFreshToken } from './fresh-token.js';
import { permission } from './permission.js';
import { siteScope } from './site-scope.js';

const NOTHING = v.strictObject({});
const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

export const body: Barrier = (exchange, guard) => {
  const { headers } = exchange.incoming;
  if (!exchange.row.mutating) {
    if (exchange.row.bound.row.formats) void exchange.format; // refuses an unknown form before the handler works
    return undefined;
  }
  const { row } = exchange.row.bound;
  const limitBytes = row.bodyBytesMax ?? guard.bodyBytesMax;
  const tooLarge = () => new Refusal('too-large', `the body is larger than ${limitBytes} bytes`, { code: 'payload_too_large', limitBytes });
  const announced = headers.get('content-length');
  const chunked = headers.get('transfer-encoding') !== undefined;
  if (announced !== undefined && Number(announced) > limitBytes) throw tooLarge();
  if (!chunked && (announced === undefined || Number(announced) === 0)) {
    row.queryRule?.(exchange.query);
    accept(exchange, guard, new Uint8Array(0));
    return undefined;
  }
  checkMediaType(headers.get('content-type'), row.bodyMedia);
  row.queryRule?.(exchange.query);
  return exchange.incoming.collect(limitBytes, tooLarge, (bytes) => {
    judgeAgain(exchange, guard);
    accept(exchange, guard, bytes);
  });
};

/** The client decides how long its body takes: whoever was dismissed meanwhile does nothing any more. */
function judgeAgain(exchange: Exchange, guard: Guard): void {
  if (exchange.judgedAt === guard.authenticator.changes) return;
  for (const barrier of [authentication, fence, siteScope, permission, existence]) {
    if (barrier(exchange, guard) instanceof Promise) throw new Error('a barrier that is passed again must not wait: nobody would hear its refusal');
  }
}

function checkMediaType(type: string | undefined, allowed: readonly string[] | undefined): void {
  if (allowed) {
    const bare = type?.split(';')[0].trim().toLowerCase() ?? '';
    if (allowed.includes(bare)) return;
    throw new Refusal('unsupported-media', `the body must be ${allowed.join(' or ')}`, { code: 'unsupported_media_type' });
  }
  if (type !== undefined && JSON_TYPE.test(type)) return;
  throw new Refusal('unsupported-media', 'the body must be application/json in UTF-8', { code: 'unsupported_media_type' });
}

function accept(exchange: Exchange, guard: Guard, bytes: Uint8Array): void {
  const { row } = exchange.row.bound;
  if (row.bodyMedia) {
    exchange.body = new Uint8Array(bytes); // a copy: they are only lent
    return;
  }
  const parsed = parseJson(bytes);
  if (typeof row.freshToken === 'function' && row.freshToken({ body: parsed, query: exchange.query })) requireFreshToken(exchange, guard);
  const decoded = decode(row.body ?? NOTHING, parsed);
  exchange.body = row.body ? decoded : undefined;
  if (row.reason) {
    const reason = checkReason((decoded as { reason?: unknown }).reason, row.reason === 'policy' ? guard.reasonLengthMin : 1);
    exchange.body = { ...(decoded as object), reason };
  }
}
